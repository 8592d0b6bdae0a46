"""Linear machines: the loop in Kesler's space against the procedures of two categories, and what it proves."""

import tracemalloc
import warnings

import numpy as np
import oracle
import oracle_kesler
import pytest
import scipy.sparse as sp
from cases import ADDITIVE, ALL_LAYOUTS, Case, Setting, clouds
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from separatrix import (
    AROW,
    CRAMMA,
    LMS,
    MICRA,
    BalancedWinnow,
    DynamicMargin,
    FixedMargin,
    FuzzyPerceptron,
    GreedyPerceptron,
    LeastSquares,
    MarginFuzzyPerceptron,
    MaxMargin,
    PassiveAggressive,
    Pegasos,
    Perceptron,
    PerceptronLike,
    PNormALMA,
    PNormPerceptron,
    Pocket,
    RecursiveLeastSquares,
    Relaxation,
    VotedPerceptron,
    separability,
)
from separatrix.online import joint_training as machine
from separatrix.passes.kesler_patterns import KeslerPatterns
from separatrix.space import Space

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

MACHINES = [*ADDITIVE, Case(PerceptronLike, {}, lambda Y, s, **how: oracle.perceptron(Y, **how))]
# Each compiles a loop of its own, like one that is there.
COSTLY = [c for c in MACHINES if c.estimator in (MICRA, FixedMargin) or c.parameters.get("gamma_guess") or c.table]


@quiet
@pytest.mark.nojit
@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=pytest.mark.slow) if c in COSTLY else c for c in MACHINES], ids=str
)
@pytest.mark.parametrize("rivals", ["strongest", "all"])
@pytest.mark.parametrize("delta", [0.0, 0.8])
def test_every_rule_is_that_of_two_categories_on_keslers_patterns(case, rivals, delta):
    X, y = clouds(spread=1.0, n=24)
    model = case.estimator(
        **case.parameters, multi_class="joint", joint_update=rivals, delta=delta, shuffle=False, max_iter=6
    )
    Y = oracle_kesler.patterns(X, y, 1.0, delta)
    with oracle_kesler.strongest_rival(3) if rivals == "strongest" else oracle_kesler.every_rival():
        expected = case.oracle(Y, Setting(X, y, delta), max_iter=6)
    model.fit(X, y)
    found = np.column_stack([model.coef_, model.intercept_]).ravel()
    np.testing.assert_allclose(found, expected.a[: len(found)], rtol=1e-8, atol=1e-10 * np.abs(found).max())
    assert (model.n_updates_, model.converged_) == (expected.updates, expected.converged)
    assert model.certificate_.verify(X, y)
    assert model.certificate_.n_classes == 4


@quiet
@pytest.mark.parametrize("rivals", ["strongest", "all"])
def test_averages_votes_and_pockets(rivals):
    X, y = clouds(spread=1.5, n=30, seed=3)
    how = {"multi_class": "joint", "joint_update": rivals, "shuffle": False, "max_iter": 4, "until": "separated"}
    Y, c = oracle_kesler.patterns(X, y), 4
    with oracle_kesler.strongest_rival(c - 1) if rivals == "strongest" else oracle_kesler.every_rival():
        run = oracle.perceptron(Y, max_iter=4)
    path = run.path if rivals == "strongest" else run.path[c - 2 :: c - 1]
    if rivals == "strongest":
        model = Perceptron(average=True, **how).fit(X, y)
        found = np.column_stack([model.coef_, model.intercept_]).ravel()
        np.testing.assert_allclose(found, np.mean(path, axis=0), rtol=1e-9, atol=1e-12)
        vectors, votes = oracle.voted(run)
        voted = VotedPerceptron(**how).fit(X, y)
        machines = vectors.reshape(len(vectors), c, -1)
        ballots = np.zeros((len(X), c))
        for machine_, count in zip(machines, votes, strict=True):
            winner = (X @ machine_[:, :-1].T + machine_[:, -1]).argmax(axis=1)
            ballots[np.arange(len(X)), winner] += count
        np.testing.assert_allclose(voted.decision_function(X), ballots / votes.sum())
        assert voted.voters_[0].shape[1:] == (c, 3)
    for variant in ("run", "ratchet"):
        pocket = Pocket(variant, **how).fit(X, y)
        errors = np.count_nonzero(pocket.predict(X) != y)
        assert errors <= np.count_nonzero(Perceptron(**how).fit(X, y).predict(X) != y)
        assert pocket.certificate_.verify(X, y)
    fuzzy = MarginFuzzyPerceptron(0.3, **how).fit(X, y)
    assert fuzzy.certificate_.verify(X, y)


@pytest.mark.parametrize(
    ("cls", "layout"),
    [
        *((Perceptron, layout) for layout in ALL_LAYOUTS.values()),
        *((cls, np.asarray) for cls in (DynamicMargin, CRAMMA, Relaxation)),
    ],
)
def test_what_a_machine_proves(cls, layout):
    X, y = clouds()
    model = cls(multi_class="joint", max_iter=5000).fit(layout(X), y)
    certificate = model.certificate_
    assert model.multi_class_ == "joint"
    assert certificate.separable is True
    assert certificate.verify(layout(X), y, exact=True)
    assert model.score(layout(X), y) == 1.0
    best, _ = oracle.max_margin(oracle_kesler.patterns(X, y))
    assert certificate.lower <= best * (1 + 1e-9)
    assert best <= certificate.upper * (1 + 1e-9)
    assert model.directional_margin_ == pytest.approx(certificate.lower, rel=1e-5)
    assert not model.is_ambiguous(layout(X)).any()
    assert len(model.certificates_) == 1
    if cls is DynamicMargin:
        assert certificate.ratio >= 0.5
    # the distance from the nearest boundary, by hand
    g, codes = X @ model.coef_.T + model.intercept_, np.searchsorted(model.classes_, y)
    gaps = [
        (g[k, i] - g[k, j]) / np.linalg.norm(model.coef_[i] - model.coef_[j])
        for k, i in enumerate(codes)
        for j in range(4)
        if j != i
    ]
    assert model.geometric_margin_ == pytest.approx(min(gaps), rel=1e-5)


def test_a_false_machine_is_refused():
    X, y = clouds()
    certificate = Perceptron(multi_class="joint").fit(X, y).certificate_
    swapped = np.where(y == "a", "b", np.where(y == "b", "a", y))
    assert not certificate.verify(X, swapped)
    assert not certificate.verify(X[::-1], y)
    with pytest.raises(ValueError, match="4 classes, y has 3"):
        certificate.verify(X[y != "a"], y[y != "a"])
    with pytest.raises(ValueError, match="about 3 features"):
        certificate.verify(X[:, :2], y)


@given(st.integers(0, 10_000), st.integers(3, 5), st.booleans(), st.sampled_from([0.0, 1.0, 2.5]))
@settings(max_examples=25)
def test_patterns_are_those_of_the_construction(seed, c, sparse, rho):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (9, 3)).astype(float)
    codes = np.concatenate([np.arange(c), rng.integers(0, c, 9 - c)])
    joint = KeslerPatterns(sp.csr_matrix(X) if sparse else X, codes, c, Space(rho))
    Y = oracle_kesler.patterns(X, codes, rho)
    a, index = rng.normal(size=Y.shape[1]), np.sort(rng.choice(len(Y), 7, replace=False))
    alpha = rng.random(7)
    assert joint.n == len(Y)
    np.testing.assert_allclose(joint.margins(a), Y @ a, atol=1e-13)
    assert np.abs(joint.margins(a) - Y @ a).max() <= joint.margin_error(a)
    np.testing.assert_allclose(joint.margins_of(index, a), Y[index] @ a, atol=1e-13)
    np.testing.assert_array_equal(joint.dense_rows(index), Y[index])
    narrow, columns = joint.narrow_rows(index)
    np.testing.assert_array_equal(narrow, Y[index][:, columns])
    assert not np.any(np.delete(Y[index], columns, axis=1))
    assert not sparse or np.all(np.any(narrow, axis=0))
    w = a.reshape(c, -1)[:, :-1]
    rivals = [j for i in codes for j in range(c) if j != i]
    lengths = np.linalg.norm(w[np.repeat(codes, c - 1)] - w[rivals], axis=1)
    assert joint.distance(a) == pytest.approx((Y @ a / lengths).min(), rel=1e-12)
    assert joint.radius2 == pytest.approx((Y**2).sum(axis=1).max())
    assert "norms2" not in vars(joint)  # so many numbers for each row
    np.testing.assert_allclose(joint.combine(index, alpha), alpha @ Y[index], atol=1e-13)
    assert np.linalg.norm(joint.combine(index, alpha) - alpha @ Y[index]) <= joint.combination_error(alpha)
    np.testing.assert_allclose(joint.norms2, (Y**2).sum(axis=1))
    assert joint.errors(a) == sum((Y @ a).reshape(9, c - 1).min(axis=1) <= 0)


@quiet
@pytest.mark.parametrize("rivals", ["strongest", "all"])
@pytest.mark.parametrize("options", [{}, {"delta": 0.5}, {"eta": lambda k: 1 / k}, {"average": True}])
def test_resuming_is_exact_within_a_row_too(rivals, options):
    X, y = clouds(spread=2.0)
    how = {"multi_class": "joint", "joint_update": rivals, "margin": 0.5, **options}
    whole = Perceptron(max_iter=1000, max_updates=57, **how).fit(X, y)
    parts = Perceptron(max_iter=1000, warm_start=True, **how)
    for stop in (1, 2, 3, 11, 30, 57):
        parts.set_params(max_updates=stop).fit(X, y)
    np.testing.assert_array_equal(parts.coef_, whole.coef_)
    assert parts.n_updates_ == whole.n_updates_
    assert parts.n_visits_ == whole.n_visits_
    assert parts.certificate_.upper == whole.certificate_.upper
    np.testing.assert_array_equal(parts.certificate_.alpha, whole.certificate_.alpha)


@quiet
def test_weight_0_is_the_row_removed():
    X, y = clouds(spread=1.5)
    weight = np.ones(len(y))
    weight[3:20:4] = 0
    model = DynamicMargin(multi_class="joint", max_iter=30).fit(X, y, weight)
    without = DynamicMargin(multi_class="joint", max_iter=30).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_array_equal(model.coef_, without.coef_)
    assert model.certificate_.verify(X, y)
    assert without.certificate_.verify(X[weight > 0], y[weight > 0])


def test_blocks():
    X, y = clouds(n=80)
    model = Perceptron(multi_class="joint")
    for first in range(0, 80, 20):
        model.partial_fit(X[first : first + 20], y[first : first + 20], classes=np.unique(y))
    best, _ = oracle.max_margin(oracle_kesler.patterns(X, y))
    assert model.certificate_.upper >= best
    assert model.coef_.shape == (4, 3)
    certificate = model.certify(X, y)
    assert certificate.n_classes == 4
    assert certificate.lower <= certificate.upper
    with pytest.raises(ValueError, match="multi_class='joint' and cannot go on with 'ovr'"):
        model.set_params(multi_class="ovr").partial_fit(X, y)


def test_multipliers_are_left_out_above_a_limit(monkeypatch):
    X, y = clouds()
    kept = Perceptron(multi_class="joint").fit(X, y)
    monkeypatch.setattr(machine, "MOST_MULTIPLIERS", 10)
    model = Perceptron(multi_class="joint").fit(X, y)
    assert model.certificate_.alpha is None
    assert model.certificate_.upper == pytest.approx(kept.certificate_.upper, rel=1e-9)
    assert model.certificate_.upper >= kept.certificate_.upper * (1 - 1e-12)
    assert Perceptron(multi_class="joint", delta=1.0).fit(X, y).certificate_.alpha is not None


def letters(return_X_y):
    """26 classes of 16 integer features from 0 to 15, as in the letter recognition data."""
    X, y = make_blobs(2600, 16, centers=26, center_box=(3, 12), cluster_std=1.5, random_state=0)
    return np.clip(np.round(X), 0, 15), np.array([*"ABCDEFGHIJKLMNOPQRSTUVWXYZ"])[y]


@quiet
@pytest.mark.parametrize(
    ("load", "least"),
    [
        (load_iris, 0.95),
        (load_wine, 0.99),
        pytest.param(load_digits, 0.98, marks=pytest.mark.slow),
        pytest.param(letters, 0.98, marks=pytest.mark.slow),
    ],
)
def test_real_data(load, least):
    X, y = load(return_X_y=True)
    X = scale(X)
    for layout in (np.asarray, sp.csr_matrix):
        for mode in ("joint", "ovr", "ovo"):
            model = Perceptron(average=True, multi_class=mode, max_iter=60).fit(layout(X), y)
            assert model.score(layout(X), y) >= least - 0.02 * (mode == "ovr")
            assert all(
                c.verify(layout(X), y == model.classes_[k] if mode == "ovr" else y)
                for k, c in enumerate(model.certificates_)
            )


def test_two_classes_are_one_hyperplane():
    X, y = clouds(c=2)
    a, b = (Perceptron(multi_class=mode).fit(X, y) for mode in ("joint", "ovr"))
    np.testing.assert_array_equal(a.coef_, b.coef_)
    assert a.coef_.shape == (1, 3)


def test_who_has_no_machine_says_so():
    X, y = clouds()
    for cls in (
        GreedyPerceptron,
        FuzzyPerceptron,
        BalancedWinnow,
        LMS,
        RecursiveLeastSquares,
        AROW,
        PNormALMA,
        PNormPerceptron,
        Pegasos,
    ):
        with pytest.raises(ValueError, match=f'{cls.__name__} .* Use multi_class="ovr" or "ovo"'):
            cls(multi_class="joint").fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            assert cls(multi_class="ovo").fit(X, y).score(X, y) > 0.9


@quiet
def test_starting_from_a_machine():
    X, y = clouds()
    first = Perceptron(multi_class="joint").fit(X, y)
    again = Perceptron(multi_class="joint").fit(X, y, coef_init=first.coef_, intercept_init=first.intercept_)
    assert again.n_updates_ == 0
    np.testing.assert_allclose(again.coef_, first.coef_)
    warm = Perceptron(multi_class="joint", warm_start=True).fit(X, y).fit(X[:30], y[:30])
    assert warm.n_updates_ == 0
    with pytest.raises(ValueError, match="last fit had multi_class='joint'"):
        warm.set_params(multi_class="ovo").fit(X, y)


@quiet
def test_early_stopping():
    X, y = clouds(spread=2.5, n=200)
    model = Perceptron(multi_class="joint", early_stopping=True).fit(X, y)
    assert model.stop_reason_ in ("early_stopping", "converged")
    assert len(model.validation_rows_) == 20
    assert model.certificate_.verify(X, y)


def test_pairs_of_many_categories_take_little_memory():
    c, d = 400, 300
    rng = np.random.default_rng(0)
    joint = KeslerPatterns(rng.normal(size=(c, d)), np.arange(c), c, Space(1.0))
    a = rng.normal(size=joint.d + 1)
    joint.margins(a)  # compiled
    tracemalloc.start()
    joint.distance(a)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * c * c * d / 20


@quiet
@pytest.mark.parametrize("layout", ALL_LAYOUTS.values(), ids=ALL_LAYOUTS)
def test_distances_from_the_borders_of_a_machine(layout):
    X, y = clouds()
    for model in (MaxMargin(multi_class="joint"), Perceptron(multi_class="joint"), LeastSquares("indicator")):
        model.fit(layout(X), y)
        distances = model.signed_distance(layout(X))
        g, w = model.decision_function(layout(X)), model.coef_
        for i in range(4):
            rivals = [(g[:, i] - g[:, j]) / np.linalg.norm(w[i] - w[j]) for j in range(4) if j != i]
            np.testing.assert_allclose(distances[:, i], np.min(rivals, axis=0), rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(distances.argmax(axis=1), g.argmax(axis=1))
        assert np.all((distances > 0).sum(axis=1) <= 1)
        if not isinstance(model, LeastSquares):
            own = distances[np.arange(len(y)), np.searchsorted(model.classes_, y)]
            assert own.min() == pytest.approx(model.geometric_margin_, rel=1e-6)


@pytest.mark.parametrize("separable", [True, False])
def test_wide_sparse_data_are_never_written_out(separable, monkeypatch):
    def refuse(self, index):
        raise AssertionError("dense rows of a machine in Kesler's space")

    monkeypatch.setattr(KeslerPatterns, "dense_rows", refuse)
    rng = np.random.default_rng(0)
    X = sp.random(30, 20_000, density=5e-4, format="csr", rng=rng)
    y = np.arange(30) % 3
    X = X if separable else sp.vstack([X, X[:2]], format="csr")
    answer = separability(X, y if separable else np.append(y, [1, 2]))
    assert answer.separable is separable
    assert separable or separability(X, np.append(y, [1, 2]) > 0).kind == "quasi-complete"


@quiet
@pytest.mark.parametrize(("variant", "C"), [("I", 0.05), ("II", 0.3), ("I", np.inf)])
def test_multiclass_passive_aggressive(variant, C):
    """Crammer et al. 2006, section 8, with the strongest rival; C = inf is MIRA with one constraint at a time."""
    X, y = clouds(spread=1.0, n=30)
    names, codes = np.unique(y, return_inverse=True)
    W = np.zeros((len(names), X.shape[1] + 1))
    for x, right in [(np.append(x, 1.0), k) for x, k in zip(X, codes, strict=True)] * 5:
        scores = W @ x
        rival = max((j for j in range(len(names)) if j != right), key=lambda j: scores[j])
        loss, square = 1 - scores[right] + scores[rival], 2 * (x @ x)
        if loss > 1e-3:
            tau = min(C, loss / square) if variant == "I" else loss / (square + 1 / (2 * C))
            W[right] += tau * x
            W[rival] -= tau * x
    model = PassiveAggressive(C, variant, multi_class="joint", shuffle=False, max_iter=5, until="separated").fit(X, y)
    np.testing.assert_allclose(np.column_stack([model.coef_, model.intercept_]), W, atol=1e-12)
