"""The objective of the vector that predicts lies between the bounds of its certificate: random fits of every estimator
that certifies an objective, judged by formulas that share nothing with the package."""

from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from oracle_objective import (
    factors_of,
    labels,
    of_kernel,
    of_machine,
    of_plane,
    problems_of,
    settings,
    source,
    table,
    weights,
)
from scipy.optimize import linprog
from sklearn.metrics.pairwise import pairwise_kernels

from separatrix import (
    DataError,
    KernelMaxMargin,
    LinearProgram,
    MaxMargin,
    MaxMarginCV,
    NotSeparableError,
    data,
    load,
    max_margin_path,
    save,
)
from separatrix.app.workflows import verifying
from separatrix.dropin import SVC, LinearSVC

FITS, EACH = 60, 200
REFUSALS = (DataError, NotSeparableError)


class Stopper:
    """A callback that stops the fit at some piece."""

    def __init__(self, pieces):
        self.pieces = pieces

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, **shown):
        self.pieces -= hasattr(context, "measures")
        return self.pieces <= 0


# Fits: each returns the certificates, the gaps, and the objectives of the vectors that predict


def max_margin(X, codes, classes, weight, rng, folder):
    case = settings(rng)
    mode = str(rng.choice(["ovr", "ovo", "joint"]))
    class_weight = ["balanced", dict.fromkeys(range(classes), 1.0) | {0: 3.0}, None, None][rng.integers(4)]
    kind, data, y, more, seen = source(X, codes, weight, rng, folder)
    if y is None:
        case["loss"] = "squared_hinge"
        mode = "ovr" if mode == "ovo" else mode
    if classes > 2 and mode == "joint" and case["fit_intercept"] == "unpenalized":
        case["fit_intercept"] = True
    params = {**case, "multi_class": mode, "class_weight": class_weight}
    if rng.random() < 0.3:
        params["max_passes"] = int(rng.integers(1, 6))
    if rng.random() < 0.05:
        params["max_time"] = 1e-5
    if rng.random() < 0.15 and case["loss"] == "squared_hinge":
        possible = y is not None and case["fit_intercept"] != "unpenalized" and not (classes > 2 and mode == "joint")
        params["solver"] = str(rng.choice(["newton", "dual"])) if possible else "newton"
    if rng.random() < 0.1 and y is not None and mode != "ovo" and weight is None:
        C = params.pop("C")
        model = max_margin_path(data, y, [C / 100.0, C], **params)[1]
    elif rng.random() < 0.08 and y is not None:
        params = {k: v for k, v in params.items() if k not in ("C", "solver", "max_passes")}
        model = MaxMarginCV([case["C"] / 100.0, case["C"]], cv=2, **params).fit(data, y, **more)
        case["C"], kind = model.C_, f"CV {kind}"
    else:
        model = MaxMargin(**params)
        if rng.random() < 0.1:
            model.set_callbacks(Stopper(int(rng.integers(1, 4))))
        planes = 1 if classes == 2 else {"ovo": classes * (classes - 1) // 2}.get(mode, classes)
        if rng.random() < 0.15:
            more["coef_init"] = rng.normal(size=(planes, X.shape[1])) * 10.0 ** rng.integers(-3, 4)
        model.fit(data, y, **more)
    if rng.random() < 0.05 and getattr(model, "_skl_callbacks", None) is None:
        save(model, folder / "model.sx")
        model = load(folder / "model.sx")
    kept = np.arange(len(codes)) if weight is None else np.flatnonzero(weight > 0)
    c = (np.ones(len(codes)) if weight is None else weight)[kept]
    part, codes = seen[kept], codes[kept]
    c = c * factors_of(class_weight, codes, classes)[codes]
    if classes > 2 and mode == "joint":
        reached = [of_machine(model.coef_, model.intercept_, part, codes, c, case)]
    else:
        planes = zip(problems_of(codes, classes, mode), model.coef_, model.intercept_, strict=True)
        reached = [of_plane(w, b, part[r], l, c[r], case) for (r, l), w, b in planes]
    return model, reached, np.atleast_1d(model.dual_gap_), f"MaxMargin {kind} {mode if classes > 2 else ''}"


def kernel_of(X, rng):
    """A kernel's parameters, and its matrix as scikit-learn computes it."""
    name = str(rng.choice(["linear", "rbf", "poly", "precomputed"]))
    gamma, degree, coef0 = 10.0 ** rng.uniform(-2, 1), rng.integers(1, 4), rng.integers(0, 2)
    given = {"gamma": float(gamma), "degree": int(degree), "coef0": float(coef0)}
    used = {"linear": [], "rbf": ["gamma"], "poly": ["gamma", "degree", "coef0"], "precomputed": []}[name]
    if name == "precomputed":
        K = pairwise_kernels(X, metric="rbf", gamma=given["gamma"])
        return name, {}, K, K
    return name, given, pairwise_kernels(X, metric=name, **{k: given[k] for k in used}), X


def kernel_machine(X, codes, classes, weight, rng, folder):
    case, mode = settings(rng), str(rng.choice(["ovr", "ovo"]))
    name, more, K, data = kernel_of(X, rng)
    class_weight = "balanced" if rng.random() < 0.2 else None
    params = {**case, **more, "kernel": name, "multi_class": mode, "class_weight": class_weight}
    params["max_time"] = 1e-5 if rng.random() < 0.1 else 2.0
    data = sp.csr_matrix(data) if name != "precomputed" and rng.random() < 0.3 else data
    model = KernelMaxMargin(**params).fit(data, codes, weight)
    kept = np.arange(len(codes)) if weight is None else np.flatnonzero(weight > 0)
    c = (np.ones(len(codes)) if weight is None else weight)[kept]
    codes = codes[kept]
    c = c * factors_of(class_weight, codes, classes)[codes]
    beta = np.zeros((len(model.dual_coef_), len(K)))
    beta[:, model.support_] = model.dual_coef_
    reached = []
    for (r, l), line, b in zip(problems_of(codes, classes, mode), beta, model.intercept_, strict=True):
        part = kept[r]
        assert np.all(line[np.setdiff1d(np.arange(len(K)), part)] == 0)
        reached.append(of_kernel(line[part], b, K[np.ix_(part, part)], l, c[r], case))
    return model, reached, np.atleast_1d(model.dual_gap_), f"KernelMaxMargin {name}"


def linear_svc(X, codes, classes, weight, rng, folder):
    case = settings(rng, hard=0.0)
    case["fit_intercept"] = case["fit_intercept"] is not False
    class_weight = ["balanced", {k: 0.5 + k for k in range(classes)}, None, None][rng.integers(4)]
    model = LinearSVC(
        C=case["C"], loss=case["loss"], tol=case["tol"], fit_intercept=case["fit_intercept"],
        intercept_scaling=case["intercept_scaling"], class_weight=class_weight, max_iter=int(rng.choice([1, 2, 1000])),
    )  # fmt: skip
    model.fit(sp.csr_matrix(X) if rng.random() < 0.3 else X, codes, weight)
    if not model.solver_.startswith("separatrix"):
        return None
    c = np.ones(len(codes)) if weight is None else weight
    factors = factors_of(class_weight, codes, classes)
    if class_weight == "balanced" and weight is not None:
        factors = weight.sum() / (classes * np.bincount(codes, weight, classes))
    reached, intercepts = [], np.broadcast_to(model.intercept_, len(model.coef_))
    for k, (w, b) in enumerate(zip(model.coef_, intercepts, strict=True)):
        positive = codes == (1 if classes == 2 else k)
        own = factors[codes] if classes == 2 else np.where(positive, factors[k], 1.0)  # as LIBLINEAR weighs classes
        reached.append(of_plane(w, b, X, np.where(positive, 1.0, -1.0), c * own, case))
    return model, reached, np.full(len(reached), model.dual_gap_), f"LinearSVC {classes > 2}"


class LeftError(Exception):
    """Here starts scikit-learn's own fit."""


class OwnSVC(SVC):
    """Not left to LIBSVM, which takes hours where C is large."""

    def _leave(self, fit, why):
        raise LeftError from why


def svc(X, codes, classes, weight, rng, folder):
    case = settings(rng) | {"loss": "hinge", "fit_intercept": "unpenalized"}
    name, more, K, data = kernel_of(X / max(1.0, np.abs(X).max()), rng)
    case["C"] = case["C"] if name == "linear" else min(case["C"], 1e3)  # SVC has no limit in time
    weight = None if weight is None else np.maximum(weight, 0.5)  # rows of weight 0 are left to LIBSVM
    class_weight = ["balanced", {k: 0.5 + k for k in range(classes)}, None, None][rng.integers(4)]
    model = OwnSVC(C=case["C"], kernel=name, tol=case["tol"], class_weight=class_weight, **more)
    model.fit(sp.csr_matrix(data) if name != "precomputed" and rng.random() < 0.3 else data, codes, weight)
    c = (np.ones(len(codes)) if weight is None else weight) * factors_of(class_weight, codes, classes)[codes]
    dual = model.dual_coef_.toarray() if sp.issparse(model.dual_coef_) else model.dual_coef_
    reached = []
    for number, (i, j) in enumerate(combinations(range(classes), 2)):
        beta = np.zeros(len(K))
        mine = codes[model.support_]
        beta[model.support_[mine == i]] = dual[j - 1, mine == i]
        beta[model.support_[mine == j]] = dual[i, mine == j]
        b, part = model.intercept_[number], np.flatnonzero((codes == i) | (codes == j))
        sign = 1.0 if classes == 2 else -1.0  # scikit-learn turns the signs of two classes
        l = np.where(codes[part] == j, 1.0, -1.0)
        reached.append(of_kernel(sign * beta[part], sign * b, K[np.ix_(part, part)], l, c[part], case))
    return model, reached, np.full(len(reached), model.dual_gap_), f"SVC {name}"


def linear_program(X, codes, classes, weight, rng, folder):
    """The 1-norm: no certificate has its objective, so its gap is compared with a program solved here."""
    C, rho = float(10.0 ** rng.uniform(-2, 2)), float(rng.choice([1.0, 7.0]))
    model = LinearProgram("l1", C=C, intercept_scaling=rho).fit(X, codes)
    gaps, reached = np.atleast_1d(model.dual_gap_), []
    for (r, l), w, b, gap in zip(problems_of(codes, classes, "ovr"), model.coef_, model.intercept_, gaps, strict=True):
        Y = l[:, None] * np.column_stack([X[r], np.full(len(r), rho)])
        n, width = Y.shape
        cost = np.concatenate([np.ones(2 * width), np.full(n, C)])
        best = linprog(cost, -np.hstack([Y, -Y, np.eye(n)]), -np.ones(n))
        a = np.append(w, b / rho)
        P = np.abs(a).sum() + C * np.maximum(0.0, 1.0 - Y @ a).sum()
        reached.append((P, best.fun, gap))
        if best.status == 0 and np.abs(X).max() < 100:
            assert P <= best.fun + gap + 1e-6 * (1.0 + abs(best.fun)), (P, best.fun, gap)
    return None


KINDS = [max_margin, max_margin, max_margin, max_margin, kernel_machine, linear_svc, svc, linear_program]


def assert_fit(number, folder):
    """One fit; returns what it was, or that it was refused or left to scikit-learn."""
    rng = np.random.default_rng([number, 7])
    kind = KINDS[number % len(KINDS)]
    X = table(rng)
    classes = int(rng.choice([2, 2, 3, 4])) if len(X) >= 8 else 2
    codes = labels(X, classes, rng)
    weight = weights(codes, classes, rng) if kind is not linear_program else None
    try:
        found = kind(X, codes, classes, weight, rng, folder)
    except REFUSALS:
        return "refused"
    except LeftError:
        return "left"
    if found is None:
        return kind.__name__ if kind is linear_program else "left"
    model, reached, gaps, name = found
    assert len(model.certificates_) == len(reached) == len(gaps)
    for claim, (P, rounding), gap in zip(model.certificates_, reached, gaps, strict=True):
        where = (number, name, P, claim.value, claim.bound, gap, rounding)
        if claim.value is None:  # a problem that a limit in time or a callback left out
            assert model.stop_reason_ in ("max_time", "callback"), where
            assert not model.converged_, where
            continue
        assert claim.bound - rounding <= P, where
        assert P <= claim.value + rounding or not np.isfinite(claim.value), where
        assert P - claim.bound <= gap + rounding or not np.isfinite(gap), where
    return name


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("part", range(2))
def test_what_is_returned_is_what_is_certified(part, tmp_path):
    outcomes = Counter(assert_fit(number, tmp_path) for number in range(part * FITS, (part + 1) * FITS))
    assert outcomes["refused"] + outcomes["left"] < FITS // 2, outcomes


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("part", range(100))
def test_what_is_returned_is_what_is_certified_of_20_000(part, tmp_path):
    for number in range(part * EACH, (part + 1) * EACH):
        assert_fit(number, tmp_path)


# The optimum is w = 0: every direction reaches it by shrinking

SAME = np.array([[0.3, 0.7], [0.3, 0.7], [0.1, 0.2], [0.1, 0.2]])
MIXED = np.array([0, 1, 0, 1])


@pytest.mark.parametrize("intercept", [True, False, "unpenalized"])
@pytest.mark.parametrize("given", [np.asarray, sp.csr_matrix, np.float32])
@pytest.mark.parametrize("solver", ["auto", "newton", "dual"])
def test_a_best_multiple_of_0_is_returned(intercept, given, solver):
    if solver == "dual" and intercept == "unpenalized":
        return
    model = MaxMargin(C=1000.0, fit_intercept=intercept, solver=solver).fit(given(SAME), MIXED)
    assert np.abs(model.coef_).max() < 1e-6
    assert np.abs(model.intercept_).max() < 1e-6
    assert model.certificate_.value == pytest.approx(4000.0, rel=1e-9)
    assert model.dual_gap_ < 1e-4
    if solver == "auto" and given is not np.float32:
        assert not model.coef_.any()
        assert not model.intercept_.any()


def test_a_best_multiple_of_0_leaves_the_intercept_of_the_optimum():
    X, y = np.vstack([SAME, SAME[1::2]]), np.array([*MIXED, 1, 1])  # both classes have the same mean
    model = MaxMargin(C=1000.0, fit_intercept="unpenalized").fit(X, y)
    assert np.abs(model.coef_).max() < 1e-6
    assert model.intercept_[0] == pytest.approx(1.0 / 3.0, rel=1e-6)
    model = MaxMargin(C=1000.0).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), 1.0 / 3.0, atol=1e-3)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_kernel_with_a_best_multiple_of_0(kernel, tmp_path):
    model = KernelMaxMargin(C=1000.0, kernel=kernel).fit(SAME, MIXED)
    assert len(model.support_) == 0
    assert model.certificate_.value == pytest.approx(4000.0, rel=1e-9)
    np.testing.assert_array_equal(model.decision_function(SAME), 0.0)
    assert model.certificate_.verify(SAME, MIXED)
    save(model, tmp_path / "model.sx")
    np.testing.assert_array_equal(load(tmp_path / "model.sx").decision_function(SAME), 0.0)


# Verifying


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("factor", [0.5, 1.01, 2.0])
def test_a_model_of_another_length_does_not_verify(tmp_path, rng, factor, apart):
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
    np.savez(tmp_path / "data.npz", X=X, y=y)
    for model in (
        MaxMargin(0.1),
        MaxMargin(0.1, loss="hinge"),
        KernelMaxMargin(0.1),
        KernelMaxMargin(0.1, intercept_scaling=2.0),
    ):
        if apart and isinstance(model, KernelMaxMargin):
            continue
        save(model.fit(X, y), tmp_path / "model.sx")
        assert verifying.verify(tmp_path / "model.sx", tmp_path / "data.npz", independent=apart).holds
        for name in ("coef_", "dual_coef_", "intercept_"):
            if name in vars(model):
                setattr(model, name, factor * getattr(model, name))
        save(model, tmp_path / "model.sx")
        assert not verifying.verify(tmp_path / "model.sx", tmp_path / "data.npz", independent=apart).holds


@pytest.mark.parametrize("model", [MaxMargin(0.1), MaxMargin(0.1, loss="hinge"), KernelMaxMargin(0.1)])
def test_a_certificate_of_another_length_does_not_verify(rng, model):
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
    claim = model.fit(X, y).certificate_
    assert claim.verify(X, y)
    assert not replace(claim, direction=2.0 * claim.direction).verify(X, y)
    if isinstance(model, MaxMargin):
        np.testing.assert_allclose(claim.direction, np.append(model.coef_[0], model.intercept_[0]), rtol=1e-12)
        elsewhere = data.from_blocks([(X[:20], y[:20]), (X[20:], y[20:])])
        if model.loss == "squared_hinge":
            assert claim.verify(elsewhere)
            assert not replace(claim, direction=2.0 * claim.direction).verify(elsewhere)


# SVC predicts by its multipliers


def test_svc_certifies_what_its_multipliers_make(rng):
    for C in (1e3, 1e6):
        X, y = rng.normal(size=(40, 6)), np.arange(40) % 2
        model = SVC(kernel="linear", C=C).fit(X, y)
        case = {"C": C, "loss": "hinge", "fit_intercept": "unpenalized"}
        P, _ = of_plane(model.coef_[0], model.intercept_[0], X, 2.0 * y - 1.0, np.ones(40), case)
        # coef_ is the same sum of multiples of rows in another order: margins differ by its rounding errors
        lengths, sizes = np.abs(model.dual_coef_[0]), np.linalg.norm(X, axis=1)
        rounding = 4 * np.finfo(float).eps * float(lengths @ sizes[model.support_]) * C * float(sizes.sum())
        assert rounding < 1e-6 * P
        assert model.certificate_.bound - rounding <= P <= model.certificate_.value + rounding
        assert model.certificate_.verify(X, y)
