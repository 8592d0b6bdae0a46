"""out-of-core rows: a home of thirty lines, on which solvers, certificates and answers are those of memory."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

import separatrix
from separatrix import (
    ALMA,
    LMS,
    MICRA,
    BalancedWinnow,
    BatchPerceptron,
    BatchRelaxation,
    DataError,
    GradientDescent,
    HoKashyap,
    KernelPerceptron,
    LeastSquares,
    MaxMargin,
    NotSeparableError,
    PassiveAggressive,
    Perceptron,
    Pocket,
    RecursiveLeastSquares,
    UnavailableError,
    VotedPerceptron,
)
from separatrix.certificates.certify import certify
from separatrix.certificates.decision import decide
from separatrix.data.base import RowSource
from separatrix.data.memory import MemoryRows
from separatrix.passes.kesler_patterns import KeslerPatterns
from separatrix.passes.patterns import PassedPatterns
from separatrix.passes.plain_patterns import Patterns
from separatrix.rules import WeightShrinkingRule
from separatrix.solvers import choice as solvers
from separatrix.solvers.problem import Problem
from separatrix.space import Space
from separatrix.theory import SquaredErrorCriterion


class GeneratedRows(RowSource):
    """Rows from a function that makes blocks: block b of so many, again in every pass."""

    def __init__(self, make, borders, width, classes):
        self.make, self.borders, self.width, self.classes = make, borders, width, np.asarray(classes)
        self.n, self.passes = borders[-1], 0

    def blocks(self):
        self.passes += 1
        for b, first in enumerate(self.borders[:-1]):
            yield MemoryRows(*self.make(b), first=first)

    def take(self, index):
        block = np.searchsorted(self.borders, index, side="right") - 1
        parts, order = [], np.argsort(block, kind="stable")
        for b in np.unique(block):
            X, codes = self.make(b)
            here = index[order][block[order] == b] - self.borders[b]
            parts.append((X[here], codes[here]))
        X = (
            sp.vstack([x for x, _ in parts], format="csr")
            if sp.issparse(parts[0][0])
            else np.vstack([x for x, _ in parts])
        )
        back = np.argsort(order)
        return MemoryRows(X[back], np.concatenate([c for _, c in parts])[back])


def generated(n=3000, d=5, gap=0.05, noise=0.0, classes=2, layout=np.asarray, blocks=(0, 700, 701, 1900, 3000), seed=0):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(classes, d))
    X = rng.normal(size=(n, d))
    scores = X @ W.T
    codes = scores.argmax(axis=1)
    rival = np.sort(scores, axis=1)
    X = X[(rival[:, -1] - rival[:, -2]) > gap * np.linalg.norm(W)]
    codes = (X @ W.T).argmax(axis=1)
    n = len(X)
    flipped = rng.random(n) < noise
    codes = np.where(flipped, (codes + 1) % classes, codes)
    borders = np.unique(np.minimum(blocks, n))
    borders = np.append(borders, n) if borders[-1] < n else borders
    X = layout(X)

    def make(b):
        rows = slice(borders[b], borders[b + 1])
        return X[rows], codes[rows]

    return X, codes, GeneratedRows(make, borders, d, np.arange(classes))


LAYOUTS = [np.asarray, sp.csr_matrix, lambda X: X.astype(np.float32)]


def pair(space, classes=2, **options):
    """The same patterns in memory and elsewhere."""
    X, codes, home = generated(classes=classes, **options)
    if classes > 2:
        return KeslerPatterns(X, codes, classes, space), PassedPatterns(home, None, space)
    return Patterns(X, np.where(codes == 1, 1.0, -1.0), space), PassedPatterns(home, 1, space)


def solved(patterns, C, tol=1e-9):
    problem = Problem(patterns, C, tol=tol)
    solvers.solve(problem)
    return problem


def test_an_extreme_price_of_slack_is_the_hard_margin():
    X, codes, home = generated(gap=0.5)
    model = MaxMargin(1e12).fit(home)
    assert model.converged_
    assert model.certificate_.verify(home)
    assert model.certificate_.upper == pytest.approx(MaxMargin(np.inf).fit(X, codes).certificate_.upper, rel=1e-6)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("classes", [2, 3])
def test_summaries_are_those_of_memory(layout, classes):
    here, there = pair(Space(1.0, 0.3), classes, layout=layout, noise=0.1)
    a = np.random.default_rng(1).normal(size=here.d + 1)
    assert (here.n, here.d, here.features) == (there.n, there.d, there.features)
    assert there.radius == pytest.approx(here.radius)
    m = here.margins(a)
    worst = there.extremes(a, 40)
    assert worst.minimum == m.min()
    assert worst.errors == np.count_nonzero(m <= 0)
    np.testing.assert_array_equal(np.sort(worst.margins), np.sort(m)[:40])
    np.testing.assert_array_equal(m[worst.numbers], worst.margins)
    np.testing.assert_allclose(there.dense_rows(worst.numbers), here.dense_rows(worst.numbers))
    alpha = np.random.default_rng(2).random(40)
    np.testing.assert_allclose(there.combine(worst.numbers, alpha), here.combine(worst.numbers, alpha), rtol=1e-12)
    np.testing.assert_allclose(there.piece(a).matrix, here.piece(a).matrix, rtol=1e-12)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_hard_margin_is_that_of_memory(layout, free):
    here, there = pair(Space(1.0, free=free), layout=layout)
    one, two = solved(here, np.inf), solved(there, np.inf)
    assert two.lower == pytest.approx(one.lower, rel=1e-8)
    assert two.upper == pytest.approx(one.upper, rel=1e-8)
    certificate = certify(there, two.a, None)
    assert certificate.separable
    assert certificate.lower == pytest.approx(one.lower, rel=1e-8)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_soft_margin_is_that_of_memory(layout, free, C):
    space = Space(1.0, (2 * C) ** -0.5, free, weighted=True)
    here, there = pair(space, layout=layout, noise=0.1)
    one, two = solved(here, C), solved(there, C)
    assert two.gap < 1e-9
    assert two.lower == pytest.approx(one.lower, rel=1e-8)
    certificate = certify(there, two.a, None, slack_vector=two.slack_vector)
    assert certificate.lower == pytest.approx(one.lower, rel=1e-8)
    assert certificate.upper == pytest.approx(one.upper, rel=1e-8)
    assert certificate.lower <= certificate.upper


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_a_linear_machine_is_that_of_memory(C):
    space = Space(1.0) if np.isinf(C) else Space(1.0, (2 * C) ** -0.5, weighted=True)
    here, there = pair(space, classes=3, noise=0.0 if np.isinf(C) else 0.1)
    one, two = solved(here, C), solved(there, C)
    assert two.lower == pytest.approx(one.lower, rel=1e-8)
    assert two.upper == pytest.approx(one.upper, rel=1e-8)


@pytest.mark.parametrize("noise", [0.0, 0.001, 0.2])
@pytest.mark.parametrize("classes", [2, 3])
def test_separability_is_decided_as_in_memory(classes, noise):
    here, there = pair(Space(1.0), classes, noise=noise)
    one, two = decide(here), decide(there)
    assert (two.separable, two.exact) == (one.separable, one.exact)
    assert two.certificate.separable == one.certificate.separable


def test_the_result_does_not_depend_on_threads():
    X, codes, _ = generated(n=40_000, d=60, noise=0.05)
    labels = np.where(codes == 1, 1.0, -1.0)
    a = np.random.default_rng(0).normal(size=61)
    one, many = (Patterns(MemoryRows(X, n_jobs=k), labels, Space(1.0, 0.5)) for k in (1, 3))
    assert len(one.home.borders) > 1
    for name, *args in (("margins", a), ("extremes", a, 50), ("piece", a), ("sum",), ("shape",)):
        first, second = (getattr(p, name) if name == "shape" else getattr(p, name)(*args) for p in (one, many))
        for x, y in (
            zip(np.atleast_1d(first), np.atleast_1d(second), strict=True)
            if name == "margins"
            else zip(first, second, strict=True)
        ):
            np.testing.assert_array_equal(x, y)
    index = np.arange(len(labels))
    np.testing.assert_array_equal(one.combine(index, one.squares), many.combine(index, one.squares))
    np.testing.assert_array_equal(one.outer_products(index, one.squares), many.outer_products(index, one.squares))


# By the doors that users take.


@pytest.mark.parametrize("options", [{"C": np.inf}, {"C": 1.0}, {"C": 1.0, "fit_intercept": "unpenalized"}])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_fit_to_a_home_is_the_fit_to_its_rows(layout, options):
    X, y, home = generated(noise=0.0 if np.isinf(options["C"]) else 0.05, layout=layout)
    here, there = MaxMargin(tol=1e-9, **options).fit(X, y), MaxMargin(tol=1e-9, **options).fit(home)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-4, atol=1e-6)
    for name in ("lower", "upper"):
        assert getattr(there.certificate_, name) == pytest.approx(getattr(here.certificate_, name), rel=1e-8)
    assert there.certificate_.separable == here.certificate_.separable
    assert there.converged_
    assert there.geometric_margin_ == pytest.approx(here.geometric_margin_, rel=1e-4)
    assert home.passes < 12
    np.testing.assert_array_equal(there.predict(home), here.predict(X))


@pytest.mark.parametrize("mode", ["ovr", "joint"])
def test_several_classes_from_a_home(mode):
    X, y, home = generated(classes=3, noise=0.05)
    here, there = (MaxMargin(tol=1e-9, multi_class=mode).fit(*data) for data in ((X, y), (home,)))
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-3, atol=1e-5)
    assert there.certificate_.lower == pytest.approx(here.certificate_.lower, rel=1e-7)
    np.testing.assert_array_equal(there.predict(home), here.predict(X))


def test_a_home_that_is_not_separable_is_refused_with_a_proof():
    X, y, home = generated(noise=0.01)
    with pytest.raises(NotSeparableError) as raised:
        MaxMargin(np.inf).fit(home)
    assert raised.value.certificate.separable is False
    assert raised.value.certificate.verify(X, y)


@pytest.mark.parametrize("bad", [[3], [3, 41], [41]])
def test_the_message_names_the_first_row_that_overflows(bad):
    """Blocks are merged in their order, whichever of them hold such rows."""
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    X[bad] = 1e200
    rows = separatrix.data.from_blocks([(X[i : i + 20], y[i : i + 20]) for i in (0, 20, 40)])
    with pytest.raises(DataError, match=rf"\b{bad[0]}\b.*overflows"):
        MaxMargin().fit(rows)


def test_what_a_home_is_asked_for():
    _, y, home = generated()
    with pytest.raises(DataError, match="X is a row source with labels"):
        MaxMargin().fit(home, y)
    for model in (Pocket(), Perceptron(delta=1.0), Perceptron(early_stopping=True), KernelPerceptron()):
        with pytest.raises(UnavailableError, match=r"memory of this process|forbid"):
            model.fit(home)
    with pytest.raises(UnavailableError, match="partial_fit takes one block"):
        Perceptron().partial_fit(home, None, classes=[0, 1])
    with pytest.raises(UnavailableError, match="keeps more than a vector"):
        Perceptron(average=True, mix=True).fit(home)
    with pytest.raises(UnavailableError, match="ovo"):
        MaxMargin(multi_class="ovo").fit(generated(classes=3)[2])
    with pytest.raises(ValueError, match="needs rows in memory"):
        MaxMargin(solver="dual").fit(home)


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_n_jobs_changes_no_bit(C):
    X, y, _ = generated(n=60_000, d=60, gap=0.002, noise=0.0 if np.isinf(C) else 0.05)
    one, two = (MaxMargin(C, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert (one.certificate_.lower, one.certificate_.upper) == (two.certificate_.lower, two.certificate_.upper)


@pytest.mark.parametrize(("C", "classes"), [(1.0, 2), (np.inf, 2), (1.0, 3), (np.inf, 3)])
def test_certificates_are_verified_where_the_rows_live(C, classes):
    X, y, home = generated(classes=classes, noise=0.0 if np.isinf(C) else 0.05)
    claim = MaxMargin(C, multi_class="joint").fit(home).certificate_
    outcome = claim.verify(home)
    assert outcome, outcome
    assert not outcome.unchecked
    assert claim.verify(X, y)
    assert MaxMargin(C, multi_class="joint").fit(X, y).certificate_.verify(home)
    assert not replace(claim, lower=claim.lower * 1.001).verify(home)
    assert not replace(claim, upper=claim.upper * 0.999).verify(home)


def test_a_proof_that_nothing_separates_is_verified_where_the_rows_live():
    _, y, home = generated(noise=0.01)
    claim = decide(PassedPatterns(home, 1, Space(1.0))).certificate
    assert claim.separable is False
    assert claim.verify(home)
    assert not replace(claim, alpha_index=claim.alpha_index + 1).verify(home)
    with pytest.raises(DataError, match="X is a row source with labels"):
        claim.verify(home, y)
    with pytest.raises(DataError, match="3 classes"):
        claim.verify(generated(classes=3)[2])


# Batch procedures


def alike(one, other, rtol=1e-8):
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=rtol, atol=rtol * np.abs(one.coef_).max())
    np.testing.assert_allclose(other.intercept_, one.intercept_, rtol=rtol, atol=rtol * np.abs(one.coef_).max())
    assert (other.converged_, other.n_updates_, other.n_epochs_) == (one.converged_, one.n_updates_, one.n_epochs_)
    for mine, theirs in zip(one.certificates_, other.certificates_, strict=True):
        assert mine.separable in (None, theirs.separable)  # a home has no multipliers of its own: more is looked for


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    ("model", "noise"),
    [
        (BatchPerceptron(margin=0.5), 0.0),
        (BatchPerceptron(eta="1/k", max_iter=20), 0.1),
        (BatchRelaxation(eta=1e-3, max_iter=50), 0.0),
        (GradientDescent("quadratic", method="newton"), 0.1),
        (GradientDescent("relaxation", method="optimal-step", max_iter=30), 0.1),
        (GradientDescent("squared-error", method="newton"), 0.1),
    ],
)
def test_a_batch_procedure_takes_the_same_steps(model, noise, classes):
    X, y, home = generated(n=800, noise=noise, classes=classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        alike(clone(model).fit(X, y), clone(model).fit(home))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("target", ["ones", "indicator", "fisher"])
@pytest.mark.parametrize("classes", [2, 3])
def test_least_squares_of_a_home(layout, target, classes):
    X, y, home = generated(n=800, noise=0.1, classes=classes, layout=layout)
    one, other = LeastSquares(target).fit(X, y), LeastSquares(target).fit(home)
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(other.intercept_, one.intercept_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        [np.ravel(v)[-1] for v in other.criterion_values_], [np.ravel(v)[-1] for v in one.criterion_values_], rtol=1e-9
    )
    np.testing.assert_array_equal(other.predict(home), one.predict(X))
    assert home.passes <= 1 + len(other.coef_) * 10


def test_least_squares_of_a_badly_conditioned_home_is_corrected():
    """Normal equations alone would lose half of the digits."""
    X, y, _ = generated(n=800, noise=0.1)
    X = X @ np.diag(10.0 ** np.arange(X.shape[1])) + 1e3 * np.ones(X.shape[1])
    home = separatrix.data.from_blocks([(X[:300], y[:300]), (X[300:], y[300:])])
    one, other = LeastSquares().fit(X, y), LeastSquares().fit(home)
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-7)


def test_losses_weigh_a_home():
    X, y, home = generated(n=800, noise=0.1)
    losses = [[0.0, 1.0], [5.0, 0.0]]
    one, other = LeastSquares(loss=losses).fit(X, y), LeastSquares(loss=losses).fit(home)
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-9)
    np.testing.assert_allclose(other.predict_proba(X), one.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_ho_kashyap_decides_about_a_home(noise):
    X, y, home = generated(n=800, gap=0.3, noise=noise)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = HoKashyap("descent", max_iter=200).fit(home)
    assert model.outcome_ == ("separable" if noise == 0 else "not separable")
    assert model.certificate_.verify(X, y)
    assert model.certificate_.verify(home)
    assert model.margin_vector_ is None
    assert (np.diff(model.criterion_values_) <= 1e-9).all()
    with pytest.raises(DataError, match='variant="descent"'):
        HoKashyap().fit(home)


def test_weights_of_a_home_are_copies():
    X, y, _ = generated(n=300, noise=0.1)
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    home = separatrix.data.from_blocks([(X[:100], y[:100], weight[:100]), (X[100:], y[100:], weight[100:])])
    for model in (LeastSquares("fisher"), BatchPerceptron(max_iter=10), GradientDescent(eta=1e-3, max_iter=5)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            one, other = clone(model).fit(X, y, weight), clone(model).fit(home)
        np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-9)


def test_the_automatic_rate_of_a_home_is_that_of_memory():
    """There it is exact, in memory the power method finds it to a few digits."""
    X, y, home = generated(n=800)
    one, other = BatchRelaxation(max_iter=50).fit(X, y), BatchRelaxation(max_iter=50).fit(home)
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-3)
    with pytest.raises(DataError, match="one number as margin"):
        GradientDescent(SquaredErrorCriterion(np.ones(len(y)))).fit(home)
    with pytest.raises(DataError, match="one target per class"):
        LeastSquares(np.ones(len(y))).fit(home)


# Online rules


ONLINE = [
    Perceptron(margin=0.1),
    Perceptron(average=True),
    Perceptron(eta=lambda k: 1.0 / k**0.5),
    VotedPerceptron(),
    BalancedWinnow(),
    MICRA(),
    ALMA(),
    PassiveAggressive(),
    LMS(),
    RecursiveLeastSquares(),
]


@pytest.mark.parametrize("model", ONLINE, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("classes", [2, 3])
def test_an_online_rule_visits_a_home_as_it_visits_memory(model, classes):
    """Block after block, with the same bits; convergence is that of an epoch over all of them."""
    X, y, home = generated(n=800, gap=0.2, classes=classes)
    model = clone(model).set_params(shuffle=False, max_iter=7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        one, other = clone(model).fit(X, y), clone(model).fit(home)
    for name in ("n_updates_", "n_visits_", "n_epochs_", "converged_", "stop_reason_"):
        assert getattr(one, name) == getattr(other, name), name
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    if one.certificate_.lower is not None:
        assert other.certificate_.lower == pytest.approx(one.certificate_.lower, rel=1e-9)
    np.testing.assert_array_equal(other.predict(home), one.predict(X))


@pytest.mark.parametrize("options", [{"multi_class": "joint"}, {"max_updates": 20}, {"shuffle": True}])
def test_the_ways_of_an_online_rule_over_a_home(options):
    X, y, home = generated(n=800, gap=0.2, classes=3)
    model = Perceptron(shuffle=False, max_iter=5).set_params(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        one, other = clone(model).fit(X, y), clone(model).fit(home)
    if not model.shuffle:
        np.testing.assert_array_equal(one.coef_, other.coef_)
    assert other.score(X, y) > (0.3 if model.max_updates else 0.8)


@pytest.mark.parametrize("classes", [2, 3])
def test_mixed_vectors_separate_what_is_separable(classes):
    """McDonald, Hall & Mann (2010): the mistakes, each divided by the blocks, are at most (R/gamma)^2."""
    X, y, home = generated(n=800, gap=0.2, classes=classes, blocks=(0, 100, 250, 600, 800))
    mode = "joint" if classes > 2 else "ovr"
    model = Perceptron(mix=True, multi_class=mode, max_iter=3000).fit(home)
    assert model.converged_
    assert (model.predict(X) == y).all()
    assert model.certificate_.separable
    best = MaxMargin(np.inf, multi_class=mode).fit(X, y).certificate_
    assert model.certificate_.lower <= best.upper
    assert model.certificate_.upper >= best.lower
    blocks = len(home.borders) - 1
    assert model.n_updates_ / blocks <= (best.radius / best.lower) ** 2
    again = Perceptron(mix=True, multi_class=mode, max_iter=3000).fit(home)
    np.testing.assert_array_equal(again.coef_, model.coef_)


SHRINKING = [
    separatrix.Pegasos(),
    separatrix.PerceptronLike(WeightShrinkingRule(1.0, 0.1)),
    separatrix.DynamicMargin(),
    separatrix.ALMA(),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", SHRINKING, ids=lambda model: type(model).__name__)
def test_mixed_vectors_that_shrink_prove_no_false_bound(model):
    """The multipliers of earlier epochs shrink with the vector."""
    X, y, home = generated(n=800, gap=0.4, blocks=(0, 100, 250, 600, 800))
    best = MaxMargin(np.inf).fit(X, y).certificate_.lower
    for epochs in (1, 2, 30):
        claim = clone(model).set_params(mix=True, max_iter=epochs).fit(home).certificate_
        assert best <= claim.upper < np.inf
        assert claim.upper < 20.0 * best or epochs < 30


# Preparation


@pytest.mark.parametrize("layout", LAYOUTS)
def test_columns_are_standardised_in_one_pass(layout):
    X, y, home = generated(layout=lambda X: layout(X * [1.0, 10.0, 0.0, 1.0, 1e-3] + [0.0, 1e3, 7.0, 0.0, 0.0]))
    home.sparse = sp.issparse(X)
    scaler = StandardScaler(with_mean=not sp.issparse(X)).fit(X.astype(np.float64))
    scaled = separatrix.data.standardized(home)
    assert home.passes == 1
    np.testing.assert_allclose(scaled.size, scaler.scale_, rtol=1e-9)
    expected = scaler.transform(X.astype(np.float64))
    few = np.array([5, 1, 5])
    np.testing.assert_allclose(
        scaled.take(few).dense(np.arange(3)), expected[few].toarray() if sp.issparse(X) else expected[few], atol=1e-9
    )
    one, other = MaxMargin(tol=1e-6).fit(expected, y), MaxMargin(tol=1e-6).fit(scaled)
    assert other.certificate_.lower == pytest.approx(one.certificate_.lower, rel=1e-5)
    again = separatrix.data.standardized(home, like=scaled)
    np.testing.assert_array_equal(again.centre, scaled.centre)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0}])
def test_classes_are_weighted_where_they_live(class_weight):
    X, y, home = generated(noise=0.05)
    one, other = (MaxMargin(class_weight=class_weight, tol=1e-9).fit(*data) for data in ((X, y), (home,)))
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-4, atol=1e-6)
    assert other.certificate_.lower == pytest.approx(one.certificate_.lower, rel=1e-8)
    assert other.certificate_.verify(separatrix.data.weighted(home, class_weight))
    assert not other.certificate_.verify(home)
    with pytest.raises(DataError, match="no class"):
        MaxMargin(class_weight={"x": 1.0}).fit(home)
