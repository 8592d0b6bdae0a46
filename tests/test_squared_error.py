"""Least squares and Ho-Kashyap against the book's numbers, the pseudo-inverse and Fisher's discriminant."""

import numpy as np
import oracle
import oracle_batch
import pytest
import scipy.sparse as sp
from cases import (
    EXAMPLE_1,
    LAYOUTS,
    PAIRS,
    PROBLEM_25,
    PROBLEMS,
    as_seen,
    categories,
    each_layout,
    each_problem,
    weights,
)
from fits import vector
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning

from separatrix import DataError, HoKashyap, LeastSquares, UnavailableError, separability
from separatrix.estimators.least_squares_classifier import as_probabilities
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import factor
from separatrix.space import Space

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def rank_deficient():
    """Seven columns of rank three, tall."""
    rng = np.random.default_rng(8)
    X = (rng.integers(-3, 4, (40, 3)) @ rng.integers(-2, 3, (3, 7))).astype(float)
    return X, (X[:, 0] + 0.5 * rng.normal(size=40) > 0).astype(int)


def contradictory():
    """Wide, with a row that is in both classes."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(6, 12))
    X[4] = X[0]
    return X, np.array([0, 1, 0, 1, 1, 1])


EVERY = [*PROBLEMS, rank_deficient, contradictory]


# Least squares


def test_example_1():
    model = LeastSquares().fit(*EXAMPLE_1)
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_), [11 / 3, -4 / 3, -2 / 3], rtol=1e-13)
    assert model.certificate_.separable
    assert model.certificate_.verify(*EXAMPLE_1)
    wide = LeastSquares(intercept_scaling=5.0).fit(*EXAMPLE_1)  # rho is no part of a full-rank solution
    np.testing.assert_allclose(wide.intercept_, 11 / 3, rtol=1e-13)


@pytest.mark.parametrize("problem", EVERY)
@each_layout
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("how", ["direct", "products"])
def test_the_pseudo_inverse(problem, layout, intercept, how, monkeypatch):
    if how == "products":
        monkeypatch.setattr(factor, "LARGEST_FACTOR", 0)
    X, y = problem()
    c = weights(y)
    Y = oracle.patterns(as_seen(X, layout), y, 1.5 if intercept else 0.0)
    for target, b in (("ones", np.ones(len(y))), (np.linspace(-1, 2, len(y)), np.linspace(-1, 2, len(y)))):
        model = LeastSquares(target, fit_intercept=intercept, intercept_scaling=1.5)
        model.fit(LAYOUTS[layout](X), y, sample_weight=c)
        a = np.linalg.pinv(np.sqrt(c)[:, None] * Y, rcond=1e-10) @ (np.sqrt(c) * b)
        np.testing.assert_allclose(vector(model), a, rtol=1e-7, atol=1e-9 * np.abs(a).max())
        assert model.criterion_values_[0] == pytest.approx(c @ (Y @ a - b) ** 2, rel=1e-7, abs=1e-9)
        assert model.certificate_.verify(LAYOUTS[layout](X), y, sample_weight=c)
        assert model.converged_


def test_blocks_of_rows(monkeypatch):
    """The triangle does not depend on how the rows are cut."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(500, 7)), np.arange(500) % 2
    whole = LeastSquares().fit(X, y)
    monkeypatch.setattr(factor, "CHUNK", 8)  # blocks of 36 rows
    np.testing.assert_allclose(LeastSquares().fit(X, y).coef_, whole.coef_, rtol=1e-10)
    np.testing.assert_allclose(LeastSquares().fit(sp.csr_matrix(X), y).coef_, whole.coef_, rtol=1e-10)


def test_ill_conditioned_columns():
    """A pseudo-inverse through Y^t Y would lose all digits here."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(300, 4))
    X[:, 3] = X[:, 0] + 1e-7 * rng.normal(size=300)
    y = (X[:, 1] > 0).astype(int)
    model = LeastSquares().fit(X, y)
    a = np.linalg.lstsq(oracle.patterns(X, y), np.ones(300))[0]
    np.testing.assert_allclose(vector(model), a, rtol=1e-6)


@pytest.mark.parametrize("target", ["ones", "fisher"])
def test_fisher(target):
    for X, y in (categories(1, 3), categories(2, 4)):
        X, y = X[:-2], y[:-2]  # classes of different sizes
        c = weights(y)
        model = LeastSquares(target).fit(X, y, sample_weight=c)
        direction, mean = oracle_batch.fisher(X, y == model.classes_[1], c)
        np.testing.assert_allclose(model.fisher_direction_[0], direction / np.linalg.norm(direction), rtol=1e-9)
        if target == "fisher":  # eq. 52: w_0 = -m.w
            assert model.intercept_[0] == pytest.approx(-mean @ model.coef_[0], rel=1e-9, abs=1e-12)
        lda = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y).coef_[0]
        plain = LeastSquares(target).fit(X, y).fisher_direction_[0]
        np.testing.assert_allclose(plain, lda / np.linalg.norm(lda), rtol=1e-9)
    assert not hasattr(LeastSquares(target, fit_intercept=False).fit(X, y), "fisher_direction_")


def test_fisher_for_several_classes():
    X, y = categories(1, 2, 3, 4)
    model = LeastSquares("fisher").fit(X, y)
    for k, name in enumerate(model.classes_):
        direction, _ = oracle_batch.fisher(X, y == name, np.ones(len(y)))
        np.testing.assert_allclose(model.fisher_direction_[k], direction / np.linalg.norm(direction), rtol=1e-9)


def test_probabilities():
    rng = np.random.default_rng(12)
    X = rng.uniform(-1, 1, size=(40_000, 2))
    posterior = 0.5 + 0.3 * X[:, 0] - 0.15 * X[:, 1]  # linear, so that the approximation can be exact
    y = (rng.random(40_000) < posterior).astype(int)
    model = LeastSquares().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], posterior, atol=0.03)
    far = model.predict_proba([[50.0, 0.0], [-50.0, 0.0]])
    np.testing.assert_allclose(far, [[0.0, 1.0], [1.0, 0.0]], atol=1e-4)
    np.testing.assert_array_equal(model.predict_log_proba(X[:9]), np.log(model.predict_proba(X[:9])))


def test_probabilities_keep_the_order_of_scores():
    """A curve over thresholds is the same from probabilities and from scores: nothing is cut off at 0 and 1."""
    X, y = load_breast_cancer(return_X_y=True)
    model = LeastSquares().fit(X, y)
    scores, P = model.decision_function(X), model.predict_proba(X)
    order = np.argsort(scores, kind="stable")
    assert np.all(np.diff(P[order, 1]) >= 0)
    assert len(np.unique(P[:, 1])) == len(np.unique(scores))
    assert np.any(np.abs(scores) > 1)
    assert 0 < P.min() < P.max() < 1
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-15)
    far = as_probabilities(np.array([[-1e9, 0.5, 1e9], [-1e9, -1e8, 0.0]]))
    assert np.all(np.diff(far, axis=1) > 0)


def test_probabilities_of_several_classes():
    X, y = categories(1, 2, 3, 4)
    model = LeastSquares().fit(X, y)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    assert np.all(P >= 0)
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    inside = np.all(np.abs(model.decision_function(X)) <= 0.98, axis=1)  # (1 + g)/2 add up to 1 as they are
    assert inside.any()
    np.testing.assert_allclose(P[inside], (1 + model.decision_function(X[inside])) / 2, atol=1e-12)


def test_targets_without_probabilities():
    X, y = categories(1, 2)
    for target in ("fisher", np.ones(20)):
        model = LeastSquares(target).fit(X, y)
        assert not hasattr(model, "predict_proba")
        with pytest.raises(AttributeError) as caught:
            _ = model.predict_proba
        assert isinstance(caught.value.__cause__, UnavailableError)
        assert "target" in str(caught.value.__cause__)
    for target, message in ((np.ones(3), "expected a number or one per row"), ([np.nan] * 20, "row 0 is nan")):
        with pytest.raises(DataError, match=message):
            LeastSquares(target).fit(X, y)


def test_least_squares_need_not_separate():
    """DHS fig. 5.17: the table holds five separable pairs; least squares separates none of them."""
    for pair in PAIRS:
        X, y = categories(*pair)
        model = LeastSquares().fit(X, y)
        assert model.score(X, y) < 1
        assert model.certificate_.separable is None  # the fit does not look for a proof
        assert model.certificate_.verify(X, y)
        if separability(X, y):
            assert 0 < MARGINS[pair] <= model.certificate_.upper < model.certificate_.radius


MARGINS = {pair: oracle.max_margin(oracle.patterns(*categories(*pair)))[0] for pair in PAIRS if pair != (1, 3)}


# Ho-Kashyap


@pytest.mark.nojit
@pytest.mark.parametrize("variant", ["standard", "modified", "descent"])
@pytest.mark.parametrize("pair", PAIRS)
def test_the_table(variant, pair):
    X, y = categories(*pair)
    model = HoKashyap(variant, max_iter=5000).fit(X, y)
    separable = pair != (1, 3)
    assert model.outcome_ == ("separable" if separable else "not separable")
    assert model.certificate_.separable is separable
    assert separability(X, y).separable is separable
    assert model.certificate_.verify(X, y)
    assert model.converged_
    assert model.stop_reason_ == "converged"


@pytest.mark.parametrize("pair", PAIRS)
def test_the_two_forms_are_one_iteration(pair):
    """Algorithm 12 is algorithm 11: Y^dagger e = 0."""
    X, y = categories(*pair)
    Y, ones = oracle.patterns(X, y), np.ones(20)
    runs = [oracle_batch.ho_kashyap(Y, ones, ones, 0.9, modified) for modified in (False, True)]
    assert runs[0].steps == runs[1].steps
    np.testing.assert_allclose(runs[0].b, runs[1].b, rtol=1e-9)
    for variant in ("standard", "modified"):
        model = HoKashyap(variant, bound_tol=0.0).fit(X, y)
        assert model.outcome_ == runs[0].outcome
        if model.outcome_ == "separable":
            assert model.n_epochs_ == runs[0].steps
        np.testing.assert_allclose(vector(model), runs[0].a, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(model.margin_vector_, runs[0].b, rtol=1e-8)


def test_how_soon_it_is_proved():
    """e <= 0 takes about 108 steps on categories 1 and 3, rounding decides exactly how many; the proof comes sooner."""
    X, y = categories(1, 3)
    run = oracle_batch.ho_kashyap(oracle.patterns(X, y), np.ones(20), np.ones(20), 0.9, enough=1e-15)
    patient = HoKashyap(eta=0.9, bound_tol=0.0).fit(X, y)
    assert 103 <= run.steps <= 113
    assert 103 <= patient.n_epochs_ <= 113
    assert HoKashyap(eta=0.9).fit(X, y).n_epochs_ < 100
    e = oracle.patterns(X, y) @ vector(patient) - patient.margin_vector_
    assert np.all(e <= 1e-12)
    assert np.abs(oracle.patterns(X, y).T @ e).max() < 1e-10  # -e is the Gordan vector


@quiet
@pytest.mark.parametrize("problem", EVERY)
@each_layout
@pytest.mark.parametrize("eta", [0.5, 0.9])
def test_ho_kashyap(problem, layout, eta):
    X, y = problem()
    c = weights(y)
    b = 0.5 + np.random.default_rng(2).random(len(y))
    Y = oracle.patterns(as_seen(X, layout), y)
    model = HoKashyap(eta=eta, margin=b, bound_tol=0.0, max_iter=30).fit(LAYOUTS[layout](X), y, sample_weight=c)
    run = oracle_batch.ho_kashyap(Y, c, b, eta, max_iter=30)
    if run.outcome != "undecided":
        assert model.outcome_ == run.outcome
    if model.n_epochs_ == run.steps:
        np.testing.assert_allclose(model.decision_function(as_seen(X, layout)) * oracle.labels(y), Y @ run.a, atol=1e-7)
        np.testing.assert_allclose(model.margin_vector_, run.b, rtol=1e-7)
    else:
        assert model.outcome_ == "not separable"  # where rounding decides when e <= 0
    assert model.certificate_.verify(LAYOUTS[layout](X), y, sample_weight=c)
    values = model.criterion_values_
    assert np.all(np.diff(values) <= 1e-12 * values[0])  # eq. 87: |e| never grows


@quiet
@pytest.mark.parametrize("problem", EVERY)
@each_layout
def test_the_form_without_pseudo_inverse(problem, layout):
    X, y = problem()
    c, d = weights(y), X.shape[1]
    Y = oracle.patterns(as_seen(X, layout), y)
    M = np.random.default_rng(7).normal(size=(d + 1, d + 1))
    R = M @ M.T + np.eye(d + 1)
    largest = np.linalg.eigvalsh(Y.T @ (c[:, None] * Y))[-1]
    for options, eta, matrix in (({}, None, None), ({"eta": 1.5 / largest}, 1.5 / largest, None), ({"R": R}, None, R)):
        model = HoKashyap("descent", bound_tol=0.0, max_iter=40, **options).fit(LAYOUTS[layout](X), y, sample_weight=c)
        run = oracle_batch.ho_kashyap_descent(Y, c, np.ones(len(y)), eta, matrix, max_iter=40)
        assert model.n_epochs_ == run.steps
        np.testing.assert_allclose(vector(model), run.a, rtol=1e-6, atol=1e-8)
        assert model.certificate_.verify(LAYOUTS[layout](X), y, sample_weight=c)
        assert np.all(np.diff(model.criterion_values_) <= 1e-12 * model.criterion_values_[0])
        assert model.outcome_ in ("undecided", "separable" if separability(X, y) else "not separable")


def test_problem_25():
    """The six points are not separable; the first optimal step with R = I by eq. 95."""
    X, y = PROBLEM_25
    Y = oracle.patterns(X, y)
    e = np.ones(6)  # |e| at a = 0, b = 1
    eta = np.linalg.norm(Y.T @ e) ** 2 / np.linalg.norm(Y @ Y.T @ e) ** 2
    one = HoKashyap("descent", bound_tol=0.0, max_iter=1).fit(X, y)
    np.testing.assert_allclose(vector(one), eta * Y.T @ e, rtol=1e-12)
    for variant in ("standard", "modified", "descent"):
        model = HoKashyap(variant).fit(X, y)
        assert model.outcome_ == "not separable"
        assert model.certificate_.verify(X, y)
    assert separability(X, y).separable is False


def test_several_classes_share_a_factorisation(monkeypatch):
    X, y = categories(1, 2, 3, 4)
    made = []
    original = factor.PseudoInverse.__init__
    monkeypatch.setattr(
        factor.PseudoInverse, "__init__", lambda self, *given: (made.append(1), original(self, *given))[0]
    )
    model = HoKashyap().fit(X, y)
    assert len(made) == 1
    for k, name in enumerate(model.classes_):
        alone = HoKashyap().fit(X, y == name)
        assert model.outcomes_[k] == alone.outcome_ == ("separable" if separability(X, y == name) else "not separable")
        np.testing.assert_allclose(model.coef_[k], alone.coef_[0], rtol=1e-9)
        assert model.certificates_[k].verify(X, y == name)
        np.testing.assert_allclose(model.margin_vector_[k], alone.margin_vector_, rtol=1e-9)
    assert model.outcome_ == "not separable"
    wide, z = contradictory()
    z = z + np.array([0, 0, 2, 0, 0, 0])
    several = HoKashyap().fit(wide, z)
    for k, name in enumerate(several.classes_):
        np.testing.assert_allclose(several.coef_[k], HoKashyap().fit(wide, z == name).coef_[0], rtol=1e-8, atol=1e-10)


def test_undecided():
    X, y = categories(1, 4)
    with pytest.warns(ConvergenceWarning, match=r"HoKashyap stopped before .*max_iter.* separability") as caught:
        model = HoKashyap(max_iter=3).fit(X, y)
    assert caught[0].filename == __file__
    assert (model.outcome_, model.converged_, model.stop_reason_) == ("undecided", False, "max_iter")
    assert model.certificate_.separable is None
    assert model.certificate_.verify(X, y)
    assert 0 < MARGINS[1, 4] <= model.certificate_.upper


@pytest.mark.slow
def test_a_proof_of_many_rows():
    """A combination of more than 300 rows is 0."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(1500, 310))
    y = (X[:, 0] + 1.0 * rng.normal(size=1500) > 0).astype(int)
    model = HoKashyap(max_iter=3000).fit(X, y)
    assert model.outcome_ == "not separable"
    assert len(model.certificate_.alpha_index) > 300
    assert model.certificate_.verify(X, y)
    answer = separability(X, y)
    assert (answer.separable, answer.kind, answer.exact) == (False, "none", True)
    assert len(answer.infeasibility_proof.rows) > 300


def test_many_columns():
    """Above 1000 columns the upper bound comes from coordinate descent; it is nearly as tight."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(24, 1010)), np.arange(24) % 2
    best = oracle.max_margin(oracle.patterns(X, y))[0]
    for data in (X, sp.csr_matrix(X)):
        for model in (HoKashyap(), HoKashyap("descent")):
            certificate = model.fit(data, y).certificate_
            assert certificate.separable
            assert best * (1 - 1e-9) <= certificate.upper <= 1.01 * best
            assert certificate.verify(data, y)


def test_what_ho_kashyap_refuses(monkeypatch):
    X, y = categories(1, 2)
    for options, message in (
        ({"eta": 1.0}, "0 < eta < 1"),
        ({"eta": "optimal"}, "0 < eta < 1"),
        ({"R": np.eye(3)}, "descent"),
        ({"variant": "descent", "R": np.eye(2)}, r"shape \(2, 2\); expected"),
        ({"variant": "descent", "R": np.diag([1.0, -1.0, 1.0])}, "positive definite"),
        ({"variant": "descent", "R": np.triu(np.ones((3, 3)))}, "symmetric"),
        ({"margin": np.zeros(20)}, "row 0 is 0; it must be positive"),
        ({"margin": np.ones(5)}, "expected a number or one per row"),
        ({"variant": "descent", "eta": 1e3}, "smaller rate"),
    ):
        with pytest.raises(ValueError, match=message):
            HoKashyap(**options).fit(X, y)
    with pytest.raises(ValueError, match="coef_init"):
        HoKashyap().fit(X, y, coef_init=np.zeros(2))
    slow = categories(1, 4)
    for rate in (lambda k: 0.0, lambda k: 1.5):
        with pytest.raises(ValueError, match=r"eta\(1\) = .* needs 0 < eta < 1"):
            HoKashyap(eta=rate).fit(*slow)
    assert HoKashyap(eta=lambda k: 0.9).fit(*slow).n_epochs_ == HoKashyap().fit(*slow).n_epochs_
    HoKashyap("descent").fit(X, y, coef_init=np.ones(2))
    monkeypatch.setattr(factor, "LARGEST_FACTOR", 2)
    with pytest.raises(DataError, match="descent"):
        HoKashyap().fit(X, y)


@each_problem
def test_the_gram_matrix_of_large_sparse_data(problem, monkeypatch):
    X, y = problem()
    patterns = Patterns(sp.csr_matrix(X), oracle.labels(y), Space(1.0))
    exact = factor.PseudoInverse(patterns, weights(y))
    monkeypatch.setattr(factor, "QR_WORK", 0)
    cheap = factor.PseudoInverse(patterns, weights(y))
    b = 1 + np.random.default_rng(0).random(len(y))
    np.testing.assert_allclose(cheap.solve(b), exact.solve(b), rtol=1e-6, atol=1e-8)
    Y = oracle.patterns(X, y)
    root = np.sqrt(weights(y))
    np.testing.assert_allclose(exact.solve(b), np.linalg.pinv(root[:, None] * Y) @ (root * b), rtol=1e-8, atol=1e-10)
