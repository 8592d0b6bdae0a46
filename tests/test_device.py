"""Rows on a device: passes of the array API and fused kernels agree with memory, and proofs hold on the host."""

import os
import sys

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.utils._array_api import move_estimator_to

from separatrix import BatchPerceptron, GradientDescent, LeastSquares, MaxMargin, load, save
from separatrix.certificates.certify import certify
from separatrix.certificates.decision import decide
from separatrix.certificates.separability import separability
from separatrix.data import device
from separatrix.data.changed_rows import ScaledRows
from separatrix.data.device import DeviceRows, to_numpy
from separatrix.errors import DataError, MissingExtraError
from separatrix.passes import device_patterns, in_memory
from separatrix.passes.device_patterns import FusedPatterns, passed
from separatrix.passes.kesler_patterns import KeslerPatterns
from separatrix.passes.on_device import Block
from separatrix.passes.patterns import PassedPatterns
from separatrix.passes.plain_patterns import Patterns
from separatrix.solvers import choice as solvers
from separatrix.solvers.problem import Problem
from separatrix.space import Space

INTERPRETED = os.environ.setdefault("TRITON_INTERPRET", "1") == "1"  # Triton asks when it is imported


def library(name):
    """The function that makes arrays of a library."""
    if name == "numpy":
        return np.asarray
    module = pytest.importorskip(name, reason=f"{name} is not installed")
    return module.from_numpy if name == "torch" else module.asarray


NAMES = ["numpy", "array_api_strict", "torch"]


def data(n=3000, d=5, gap=0.05, noise=0.0, offset=0.0, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(n, d))
    X = X[np.abs(X @ w) > gap]
    y = (X @ w > 0).astype(np.int64)
    y = np.where(rng.random(len(y)) < noise, 1 - y, y)
    return (X + offset).astype(dtype), y


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(device, "BLOCK_VALUES", 4000)


@pytest.fixture(params=NAMES)
def make(request, small_blocks):
    return library(request.param)


def pair(make, space, weight=None, **options):
    """The same patterns in memory and on the device."""
    X, y = data(**options)
    home = DeviceRows.of(make(X), make(y), weight)
    assert len(home.borders) > 1
    return Patterns(X, np.where(y == 1, 1.0, -1.0), space, weight), PassedPatterns(home, 1, space)


def solved(patterns, C, tol=1e-9):
    problem = Problem(patterns, C, tol=tol)
    solvers.solve(problem)
    return problem


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_summaries_are_those_of_memory(make, dtype, weighted):
    weight = np.random.default_rng(5).random(3000) + 0.5 if weighted else None
    X, _ = data(dtype=dtype)
    weight = None if weight is None else weight[: len(X)]
    here, there = pair(make, Space(1.5, 0.3, weighted=weighted), weight, dtype=dtype, noise=0.1)
    a = np.random.default_rng(1).normal(size=here.d + 1)
    np.testing.assert_allclose(there.shape, here.shape, rtol=1e-14)
    for ours, memory in (
        (there.extremes(a, 40), here.extremes(a, 40)),
        *zip(there.sides(a, 7), here.sides(a, 7), strict=True),
    ):
        assert (ours.errors, ours.minimum) == (memory.errors, pytest.approx(memory.minimum, rel=1e-12))
        np.testing.assert_array_equal(np.sort(ours.numbers), np.sort(memory.numbers))
    for name, *args in (("piece", a), ("piece", -a, False), ("sum",), ("column_range",)):
        there_all, here_all = getattr(there, name)(*args), getattr(here, name)(*args)
        for ours, memory in zip(there_all, here_all, strict=True):
            if np.ndim(memory) == 2:  # of a symmetric matrix the lower triangle is asked for
                ours, memory = np.tril(ours), np.tril(memory)
            np.testing.assert_allclose(ours, memory, rtol=1e-12, atol=1e-12)
    worst = there.extremes(a, 40).numbers
    np.testing.assert_array_equal(there.dense_rows(worst), here.dense_rows(worst))


@pytest.mark.parametrize("offset", [0.0, 3000.0])
def test_a_hard_margin_is_proved_on_the_host(make, offset):
    """With an offset of 3000 margins in float32 would be wrong by more than the best one."""
    here, there = pair(make, Space(1.0), offset=offset, dtype=np.float32, gap=0.1)
    X, y = data(offset=offset, dtype=np.float32, gap=0.1)
    one, two = solved(here, np.inf, 1e-6), solved(there, np.inf, 1e-6)
    assert two.gap <= 1e-6
    assert two.lower == pytest.approx(one.lower, rel=1e-6)
    assert np.finfo(np.float32).eps * there.radius > 1e-2 * two.lower or offset == 0.0
    certificate = certify(there, two.a, None)
    assert certificate.separable
    assert certificate.lower == pytest.approx(one.lower, rel=1e-6)
    assert certificate.verify(X, y)


@pytest.mark.parametrize("C", [0.01, 100.0])
@pytest.mark.parametrize("free", [False, True])
def test_a_soft_margin_is_proved_on_the_host(make, free, C):
    here, there = pair(make, Space(1.0, (2 * C) ** -0.5, free, weighted=True), dtype=np.float32, noise=0.1)
    one, two = solved(here, C), solved(there, C)
    assert two.gap < 1e-9
    certificate = certify(there, two.a, None, slack_vector=two.slack_vector)
    assert certificate.lower == pytest.approx(one.lower, rel=1e-8)
    assert certificate.upper == pytest.approx(one.upper, rel=1e-8)
    assert certificate.lower <= certificate.upper
    found = here_lower = certify(here, two.a, None).lower
    assert certificate.lower == pytest.approx(here_lower, rel=1e-12)
    assert found <= certificate.upper


def test_nearly_tied_margins(make):
    """Margins that differ by less than float32 can tell: the smallest is still found."""
    rng = np.random.default_rng(3)
    X = np.column_stack([np.float32(1.0) + rng.random(3000) * 1e-6, rng.normal(size=3000)]).astype(np.float32)
    X[1234, 0] = 1.0
    X[:, 0] += 1000.0
    a = np.array([1.0, 1e-9, -1000.0])
    there = PassedPatterns(DeviceRows.of(make(X), make(np.r_[0, np.ones(2999, int)])), 1, Space(1.0))
    m = X.astype(np.float64) @ a[:2] - 1000.0
    m[0] *= -1.0
    worst = there.extremes(a, 25)
    np.testing.assert_array_equal(np.sort(worst.margins)[1:], np.sort(m)[1:25])


def test_passes_are_not_repeated(make):
    _, there = pair(make, Space(1.0, 0.5, weighted=True), noise=0.1)
    problem = solved(there, 2.0, 1e-6)
    passes, run = [], there.home.run
    there.home.run = lambda work: passes.append(work) or run(work)
    certify(there, problem.a, None, slack_vector=problem.slack_vector)
    assert len(passes) <= 1  # the shape


@pytest.mark.parametrize("noise", [0.0, 0.001, 0.2])
def test_separability(make, noise):
    X, y = data(noise=noise, dtype=np.float32)
    here, there = separability(X, y), separability(DeviceRows.of(make(X), make(y)))
    assert (there.separable, there.exact) == (here.separable, here.exact)
    assert there.certificate.verify(X, y)


def test_an_array_stays_on_its_device_where_scikit_learn_is_told_so(monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    X, y = data(noise=0.2)
    config = {**sklearn.get_config(), "array_api_dispatch": True}  # its context asks scipy for more than is needed here
    monkeypatch.setattr(sklearn, "get_config", lambda: config)
    blocks = []
    monkeypatch.setattr(DeviceRows, "blocks", lambda rows: blocks.append(rows) or iter([rows.part(0, rows.n)]))
    there = separability(torch.from_numpy(X), torch.from_numpy(y))
    assert blocks
    assert there.separable is False
    assert there.certificate.verify(X, y)


def test_a_linear_machine_is_brought_here(make):
    X, y = data()
    y = y + (X[:, 0] > 0.5)
    home = DeviceRows.of(make(X), make(y))
    a = np.random.default_rng(0).normal(size=3 * 6)
    memory = KeslerPatterns(X, y, 3, Space(1.0))
    np.testing.assert_array_equal(
        PassedPatterns(home, None, Space(1.0)).extremes(a, 9).margins.min(), memory.margins(a).min()
    )


def test_scaled_rows_stay_on_the_device(make):
    X, y = data(offset=5.0)
    there = PassedPatterns(DeviceRows.of(make(X), make(y)), 1, Space(1.0))
    centre, size = X.mean(axis=0), np.arange(1.0, 6.0)
    scaled = there.through(lambda home: ScaledRows(home, centre, size))
    a = np.random.default_rng(0).normal(size=6)
    memory = Patterns((X - centre) / size, np.where(y == 1, 1.0, -1.0), Space(1.0))
    assert scaled.smallest(a) == pytest.approx(memory.smallest(a), rel=1e-12)
    assert all(isinstance(block, DeviceRows) for block in scaled.home.blocks())


@pytest.fixture
def interpreted(monkeypatch):
    """The fused kernels in Triton's interpreter, on rows of this process; compiled where TRITON_INTERPRET=0."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("triton", reason="Triton is not installed")
    from separatrix.passes import triton_kernels

    monkeypatch.setattr(DeviceRows, "one_piece", property(lambda rows: rows.X.is_contiguous()))
    monkeypatch.setattr(device_patterns, "TRIFLE", 100)
    monkeypatch.setattr(triton_kernels, "CURVATURE_PROGRAMS", 5)
    monkeypatch.setattr(triton_kernels, "TILES", 2)
    return lambda X: torch.from_numpy(X).to("cpu" if INTERPRETED else "cuda")


def fused(make, space, weight=None, **options):
    here, there = pair(make, space, weight, **options)
    patterns = passed(there.home, 1, space)
    assert isinstance(patterns, FusedPatterns)
    return here, patterns


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("d", [5, 40])
def test_kernels_are_the_passes_of_memory(interpreted, small_blocks, d, dtype, weighted):
    weight = np.random.default_rng(5).random(len(data(d=d)[0])) + 0.5 if weighted else None
    here, there = fused(interpreted, Space(1.5, 0.3, weighted=weighted), weight, d=d, dtype=dtype, noise=0.1)
    a = np.random.default_rng(1).normal(size=here.d + 1)
    np.testing.assert_allclose(there.shape, here.shape, rtol=1e-14)
    for k in (1, 40, here.n):
        ours, memory = there.extremes(a, k), here.extremes(a, k)
        assert (ours.errors, ours.minimum) == (memory.errors, pytest.approx(memory.minimum, rel=1e-12))
        np.testing.assert_array_equal(np.sort(ours.numbers), np.sort(memory.numbers))
    ours, memory = there.piece(a), here.piece(a)
    for name in ("squares", "slack", "pull", "active", "minimum"):
        np.testing.assert_allclose(getattr(ours, name), getattr(memory, name), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.tril(ours.matrix), np.tril(memory.matrix), rtol=1e-4, atol=1e-3)


def test_a_hessian_of_a_part_of_the_rows_leads_there(interpreted, small_blocks, monkeypatch):
    from separatrix.passes import triton_kernels

    monkeypatch.setattr(triton_kernels, "ENOUGH", 500)
    C = 1e-3
    _, there = fused(interpreted, Space(1.0, (2 * C) ** -0.5), noise=0.1, dtype=np.float32)
    exact = PassedPatterns(there.home, 1, there.space)
    a = np.append(np.full(5, 0.1), 0.0)
    part, whole = there.piece(a), exact.piece(a)
    assert 1e-6 < np.abs(np.diag(part.matrix) / np.diag(whole.matrix) - 1).max() < 0.2
    np.testing.assert_allclose(part.pull, whole.pull, rtol=1e-12)
    assert solved(there, C, 1e-8).gap <= 1e-8


def test_kernels_find_a_limit_where_margins_are_equal(interpreted, small_blocks):
    X = np.ones((3000, 2), np.float32)
    X[7] = 0.5
    there = passed(DeviceRows.of(interpreted(X), np.r_[0, np.ones(2999, int)]), 1, Space(0.0))
    worst = there.extremes(np.array([1.0, 1.0, 0.0]), 10)
    assert worst.minimum == -2.0
    assert {0, 7} <= set(worst.numbers)
    assert len(worst.numbers) == 10


def test_a_hessian_that_float32_would_spoil_is_made_in_float64(interpreted, small_blocks):
    C = 1.0
    here, there = fused(interpreted, Space(1.0, (2 * C) ** -0.5), offset=1000.0, noise=0.1)
    a = np.append(np.full(5, 1e-4), 0.0)
    np.testing.assert_allclose(np.tril(there.piece(a).matrix), np.tril(here.piece(a).matrix), rtol=1e-12)
    assert solved(there, C, 1e-6).gap <= 1e-6


def test_solvers_on_kernels(interpreted, small_blocks):
    here, there = fused(interpreted, Space(1.0), dtype=np.float32)
    one, two = solved(here, np.inf, 1e-6), solved(there, np.inf, 1e-6)
    assert two.lower == pytest.approx(one.lower, rel=1e-6)
    X, y = data(dtype=np.float32)
    assert certify(there, two.a, None).verify(X, y)
    assert decide(there).separable


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X, y: (X[0], y), "2 dimensions|must have 2"),
        (lambda X, y: (X[:0], y[:0]), "nothing to separate"),
        (lambda X, y: (X.astype(np.int64), y), "float32 or float64"),
        (lambda X, y: (X, y[:-1]), "do not belong together"),
        (lambda X, y: (X, np.arange(len(y))), "classes"),
    ],
)
def test_what_is_refused(make, change, words):
    X, y = change(*data())
    with pytest.raises(DataError, match=words):
        DeviceRows.of(make(X), make(y))


def test_labels_on_another_device_are_refused():
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    X, y = data()
    elsewhere = strict.asarray(y, device=strict.Device("device1"))
    with pytest.raises(DataError, match="bring both to one device"):
        DeviceRows.of(strict.asarray(X), elsewhere)
    there = strict.asarray(X, device=strict.Device("device1"))
    with pytest.raises(DataError, match="bring both to one device"):
        DeviceRows.of(there, strict.asarray(y))
    home = DeviceRows.of(there, y)  # labels of this process are brought there
    assert home.codes.device == there.device
    here = Patterns(X, np.where(y == 1, 1.0, -1.0), Space(1.0))
    a = np.arange(6.0)
    assert PassedPatterns(home, 1, Space(1.0)).smallest(a) == pytest.approx(here.smallest(a), rel=1e-12)


def test_a_device_without_float64_is_refused():
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    X, y = data(dtype=np.float32)
    with pytest.raises(DataError, match="no float64"):
        DeviceRows.of(strict.asarray(X, device=strict.Device("no_float64")), y)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_row_that_is_not_finite_is_named(make, bad):
    X, y = data(dtype=np.float32)
    X[2001, 3] = bad
    with pytest.raises(DataError, match="Row 2001"):
        separability(DeviceRows.of(make(X), make(y)))


def test_an_array_that_is_not_contiguous(make):
    X, y = data()
    home = DeviceRows.of(make(np.repeat(X, 2, axis=1))[:, ::2], make(y))
    here = Patterns(X, np.where(y == 1, 1.0, -1.0), Space(1.0))
    assert PassedPatterns(home, 1, Space(1.0)).shape == pytest.approx(here.shape, rel=1e-12)


def test_more_rows_than_32_bits_count():
    """2^31 + 10 rows that are one: nothing of this length is made."""
    n, d = 2**31 + 10, 3
    X = np.broadcast_to(np.arange(1.0, d + 1, dtype=np.float32), (n, d))
    home = DeviceRows(X, np.broadcast_to(np.int8(1), n), classes=np.arange(2))
    assert home.borders[-1][1] == n
    last = home.part(n - 5, n)
    assert last.first == n - 5
    np.testing.assert_array_equal(last.take(np.array([4, 1])).dense(np.arange(2)), X[:2])
    worst = PassedPatterns(home, 1, Space(1.0)).seen.work(in_memory.extremes, (np.ones(d + 1), 3), last)
    assert worst.numbers.dtype == np.int64
    assert worst.numbers.max() == n - 3
    assert passed(home, 1, Space(1.0)).n == n


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")])
def test_a_device_without_memory_says_so(make, monkeypatch, error):
    _, there = pair(make, Space(1.0))

    def fail(*args):
        raise error

    monkeypatch.setattr(Block, "__init__", fail)
    with pytest.raises(DataError, match="ran out of memory in a pass over"):
        there.smallest(np.ones(6))


def test_without_the_compatibility_layer_the_install_line_is_told(monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[gpu\]'"):
        DeviceRows.of(torch.zeros(3, 2), [0, 1, 1])


@pytest.fixture
def strict(monkeypatch):
    """The strict library, with scikit-learn configured to leave its arrays where they are."""
    module = pytest.importorskip("array_api_strict")
    config = {**sklearn.get_config(), "array_api_dispatch": True}  # its context asks scipy for more than is needed here
    monkeypatch.setattr(sklearn, "get_config", lambda: config)
    return module


def on_both_sides(n=3000):
    X = np.random.default_rng(0).normal(size=(n, 5))
    X[:, 0] += np.where(X[:, 0] > 0, 0.2, -0.2)
    return X, (X[:, 0] > 0).astype(np.int64)


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_the_door_of_an_estimator(strict, C, tmp_path):
    X, y = on_both_sides()
    there = MaxMargin(C, tol=1e-8).fit(strict.asarray(X), strict.asarray(y))
    here = MaxMargin(C, tol=1e-8).fit(X, y)
    assert there.certificate_.lower == pytest.approx(here.certificate_.lower, rel=1e-7)
    assert there.certificate_.verify(strict.asarray(X), strict.asarray(y))
    assert there.certificate_.verify(X, y)
    for array in (there.coef_, there.intercept_, there.classes_, there.predict(strict.asarray(X))):
        assert array.__array_namespace__() is strict
    np.testing.assert_array_equal(to_numpy(there.predict(strict.asarray(X))), y)
    np.testing.assert_array_equal(there.predict(X), y)
    scores = there.decision_function(strict.asarray(X))
    np.testing.assert_allclose(to_numpy(scores), there.decision_function(X), rtol=1e-10, atol=1e-12)
    assert there.score(strict.asarray(X), strict.asarray(y)) == 1.0
    back = move_estimator_to(there, np, "cpu")
    assert isinstance(back.coef_, np.ndarray)
    save(there, tmp_path / "there.sep")
    loaded = load(tmp_path / "there.sep")
    np.testing.assert_array_equal(loaded.coef_, back.coef_)
    assert loaded.certificate_.verify(X, y)


def test_several_classes_and_names_on_a_device(strict):
    X, y = on_both_sides(300)
    codes = y + (X[:, 1] > 0)
    there = MaxMargin().fit(strict.asarray(X), strict.asarray(codes))
    found = there.predict(strict.asarray(X))
    np.testing.assert_array_equal(to_numpy(found), there.predict(X))
    names = np.array(["low", "high"])[y]
    named = MaxMargin().fit(strict.asarray(X), names)
    assert set(named.predict(strict.asarray(X)).tolist()) == {"low", "high"}


def test_rows_to_predict_are_looked_at(strict):
    X, y = on_both_sides(300)
    model = MaxMargin().fit(strict.asarray(X), strict.asarray(y))
    with pytest.raises(DataError, match="for 5 features"):
        model.predict(strict.asarray(X[:, :4]))
    X[7, 2] = np.nan
    with pytest.raises(DataError, match="NaN"):
        model.predict(strict.asarray(X))


@pytest.mark.parametrize(
    "model",
    [LeastSquares("fisher"), BatchPerceptron(margin=0.1), GradientDescent("quadratic", method="newton")],
)
def test_batch_procedures_on_a_device_are_those_of_memory(make, model):
    X, y = data(n=800, gap=0.2)
    one, other = clone(model).fit(X, y), clone(model).fit(DeviceRows.of(make(X), make(y)))
    np.testing.assert_allclose(other.coef_, one.coef_, rtol=1e-8)
    assert other.certificate_.verify(X, y)
