"""Kernels as Python and compiled: when which, and the same answers."""

from pathlib import Path

import numba
import numpy as np
import pytest
from processes import run

from separatrix import compile_cache as cache


@pytest.fixture
def made(monkeypatch, tmp_path):
    """Makes a kernel that no process has compiled."""
    monkeypatch.setenv("SEPARATRIX_COMPILE", "auto")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    return cache.compiled


def cumulate(values, rounds):
    for _ in range(rounds):
        for k in range(1, values.shape[0]):
            values[k] += values[k - 1]
    return values[-1]


def cumulated(rounds):
    values = np.ones(4)
    return cumulate(values, rounds), values.tolist()


def test_small_work_runs_as_python_until_it_is_as_much_as_compiling(made):
    """The count of earlier calls with the same types counts, and each combination of types has its own."""
    kernel = made(cumulate)
    calls = 0
    while not kernel.signatures:
        assert kernel(np.ones(4), 100) == cumulated(100)[0]
        calls += 1
    size = len(cumulate.__code__.co_code)
    assert calls == pytest.approx(cache.ROUNDS_PER_BYTE * size / 500, rel=0.05)
    assert kernel(np.ones(4, np.float32), 1) == 4.0
    assert len(kernel.signatures) == 1


def test_work_that_turns_out_to_be_large_begins_again_in_compiled_code(made):
    kernel, values = made(cumulate), np.ones(4)
    many = 100_000  # of which Python would make a part, and change the values
    assert kernel(values, many) == cumulated(many)[0]
    assert values.tolist() == cumulated(many)[1]
    assert len(kernel.signatures) == 1


def test_large_arrays_are_for_compiled_code_at_once(made):
    kernel = made(cumulate)
    kernel(np.ones(1_000_000), 0)
    assert len(kernel.signatures) == 1


def test_what_is_in_the_cache_is_loaded(made):
    with cache.at_once():
        assert made(cumulate)(np.ones(4), 1) == 4.0
    second = made(cumulate)
    assert second(np.ones(4), 1) == 4.0
    assert sum(second.stats.cache_hits.values()) == 1


@pytest.mark.parametrize("mode", ["always", "never"])
def test_modes(made, mode, monkeypatch):
    monkeypatch.setenv("SEPARATRIX_COMPILE", mode)
    kernel = made(cumulate, at_once=True)
    assert kernel(np.ones(4), 3) == cumulated(3)[0]
    assert len(kernel.signatures) == (mode == "always")


def test_an_unknown_mode_is_named(made, monkeypatch):
    monkeypatch.setenv("SEPARATRIX_COMPILE", "sometimes")
    with pytest.raises(ValueError, match=r"SEPARATRIX_COMPILE: unknown value 'sometimes'\. Set it to 'always', 'auto'"):
        made(cumulate)(np.ones(4), 1)


def test_what_the_path_of_a_rule_depends_on_is_compiled_at_once(made):
    kernel = made(cumulate)
    with cache.at_once():
        kernel(np.ones(4), 1)
        with cache.at_once(False):
            kernel(np.ones(4, np.float32), 1)
    assert len(kernel.signatures) == 1
    assert len(made(cumulate, at_once=True).signatures) == 0


def divide(values):
    values[0] = 5.0
    return 1.0 / (values.shape[0] - 1)


def test_arithmetic_is_that_of_compiled_code(made):
    """A division by zero is infinite, and nobody is warned of overflow."""
    values = np.ones(1)
    assert made(divide)(values) == np.inf
    assert values[0] == 5.0
    assert made(lambda values: values[0] * values[0])(np.full(1, 1e300)) == np.inf


def interrupted(values, when):
    values[0] += 1.0
    if when:
        raise KeyboardInterrupt
    return values[0]


def test_an_interrupt_leaves_arrays_as_they_were(made):
    kernel, values = made(interrupted), np.zeros(3)
    assert kernel(values, False) == 1.0
    with pytest.raises(KeyboardInterrupt):
        kernel(values, True)
    assert values[0] == 1.0


PRECOMPILED = """
    import os
    from separatrix import LeastSquares
    from separatrix.app.workflows.precompiling import precompile

    made = precompile(["LeastSquares"])
    before = kernels()
    os.environ["SEPARATRIX_COMPILE"] = "always"
    for table in (X, sp.csr_matrix(X)):
        LeastSquares().fit(table, y).predict(table)
    print(json.dumps([made, before[1], kernels()[1]]))
"""


def test_precompiled_estimators_do_not_compile(tmp_path):
    first, made, after = run(PRECOMPILED, NUMBA_CACHE_DIR=str(tmp_path))
    loaded, compiled, folder = first
    assert compiled > loaded == 0
    assert Path(folder).parent == tmp_path
    assert made == after
    assert run(PRECOMPILED, NUMBA_CACHE_DIR=str(tmp_path)) == [[compiled, 0, folder], 0, 0]


FULL_DISK = """
    import resource
    from separatrix.app.workflows.precompiling import precompile
    from separatrix.errors import SeparatrixError

    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    try:
        precompile(["LeastSquares"])
    except SeparatrixError as error:
        print(json.dumps(str(error)))
"""


def test_precompiling_is_an_error_if_nothing_can_be_written(tmp_path):
    assert "separatrix cannot write compiled code" in run(FULL_DISK, NUMBA_CACHE_DIR=str(tmp_path))


CERTIFIED = """
    import os
    import separatrix
    from separatrix import dropin
    from sklearn.datasets import load_iris, load_wine

    warnings.simplefilter("error", RuntimeWarning)
    C = float("inf")
    fits = {
        "soft": separatrix.MaxMargin(C=2.0),
        "hinge": separatrix.MaxMargin(C=2.0, loss="hinge"),
        "unpenalized": separatrix.MaxMargin(C=2.0, loss="hinge", fit_intercept="unpenalized"),
        "joint": separatrix.MaxMargin(C=2.0, multi_class="joint"),
        "joint hinge": separatrix.MaxMargin(C=2.0, loss="hinge", multi_class="joint"),
        "pairs": separatrix.MaxMargin(C=2.0, multi_class="ovo"),
        "kernel": separatrix.KernelMaxMargin(C=2.0, gamma=0.5),
        "kernel hinge": separatrix.KernelMaxMargin(C=2.0, gamma=0.5, loss="hinge"),
        "least squares": separatrix.LeastSquares(),
        "LinearSVC": dropin.LinearSVC(),
        "SVC": dropin.SVC(gamma=0.5),
        "linear SVC": dropin.SVC(kernel="linear"),
    }
    hard = {"hard": separatrix.MaxMargin(C=C), "hard kernel": separatrix.KernelMaxMargin(C=C, gamma=0.5)}
    rules = {
        "Perceptron": separatrix.Perceptron(max_iter=4),
        "joint Perceptron": separatrix.Perceptron(max_iter=4, multi_class="joint"),
        "AROW": separatrix.AROW(max_iter=4),
        "BalancedWinnow": separatrix.BalancedWinnow(max_iter=4),
    }
    rules = {} if "no rules" in sys.argv else rules  # they are compiled at once, some seconds each
    few = {name: fits[name] for name in ("soft", "hinge", "joint", "least squares", "kernel hinge", "SVC")}
    X, y = load_iris(return_X_y=True)
    wine, kinds = load_wine(return_X_y=True)
    wine = (wine - wine.mean(axis=0)) / wine.std(axis=0)
    wide = rng.normal(size=(12, 40)) * (rng.random((12, 40)) < 0.3)
    tables = {
        "iris": (X, y, few | rules),
        "wine": (wine[::2], kinds[::2], fits),
        "narrow floats": (wine.astype(np.float32)[::3], kinds[::3], few),
        "sparse": (sp.csr_matrix(X), y, few),
        "separable": (wine, kinds == 0, hard),
        "sparse separable": (sp.csr_matrix(wine), kinds == 0, hard),
        "wide": (wide, np.arange(12) % 2, {"hard": hard["hard"], "soft": fits["soft"]}),
    }
    found = {}
    for table, (X, y, models) in tables.items():
        for name, model in models.items():
            model.fit(X, y)
            support = getattr(model, "support_", [])
            certificate = getattr(model, "certificate_", None)
            found[f"{name}, {table}"] = {
                "predictions": np.asarray(model.predict(X)).tolist(),
                "scores": np.asarray(model.decision_function(X)).ravel().tolist(),
                "support": np.sort(np.asarray(support).ravel()).tolist(),
                "gap": float(np.max(getattr(model, "dual_gap_", 0.0))),
                "margins": [] if certificate is None else [certificate.lower, certificate.upper],
                "separable": None if certificate is None else certificate.separable,
                "verified": certificate is None or len(np.unique(y)) > 2 or bool(certificate.verify(X, y)),
            }
        found[f"separability, {table}"] = {"kind": separatrix.separability(X, y).kind}
    print(json.dumps([found, kernels()[1]]))
"""


@pytest.fixture(scope="module")
def compiled_answers():
    return run(CERTIFIED, SEPARATRIX_COMPILE="always")[0]


@pytest.mark.parametrize("mode", ["never", "auto"])
def test_answers_of_both_tiers_agree(mode, compiled_answers, tmp_path):
    """Support vectors, predictions, verdicts and certificates; with an empty cache, without a warning."""
    what = ["no rules"] if mode == "auto" else []
    found, compiled = run(CERTIFIED, *what, SEPARATRIX_COMPILE=mode, NUMBA_CACHE_DIR=str(tmp_path))
    assert (compiled > 0) == (mode == "auto")
    assert len(found) == len(compiled_answers) - 4 * len(what)
    for case, answer in found.items():
        expected = compiled_answers[case]
        for what in expected.keys() - {"scores", "margins", "gap"}:
            assert answer[what] == expected[what], (case, what)
        if "scores" in expected:
            scale = 1.0 + np.abs(expected["scores"]).max()
            np.testing.assert_allclose(answer["scores"], expected["scores"], rtol=1e-3, atol=1e-3 * scale, err_msg=case)
            assert answer["verified"], case
        for ours, theirs in zip(answer.get("margins", []), expected.get("margins", []), strict=True):
            assert (ours is None) == (theirs is None), case
            if ours is not None:
                assert ours == pytest.approx(theirs, rel=1e-3, abs=1e-6), case
