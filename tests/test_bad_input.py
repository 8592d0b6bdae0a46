"""What users pass by mistake, or by habit: a clear error, or the same answer as clean dense float64 data give."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from cases import ESTIMATORS, everyone, online
from fits import vectors
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from separatrix import (
    LMS,
    BalancedWinnow,
    FuzzyPerceptron,
    MarginFuzzyPerceptron,
    MaxMargin,
    Perceptron,
    RecursiveLeastSquares,
)
from separatrix.data.validate import check_structure
from separatrix.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

rng = np.random.default_rng(11)
Y = np.repeat([0, 1], 20)
# Multiples of 1/8 below 16: float16, float32 and integers/8 hold them exactly.
X = np.round((rng.normal(size=(40, 3)) + 2.5 * (2 * Y[:, None] - 1) * np.array([1.0, -0.5, 0.25])) * 8) / 8
names = ["a", "b", "c"]


def make(cls, **params):
    """An estimator that stops soon."""
    model = cls()
    if getattr(model, "max_iter", 0) > 50:
        params.setdefault("max_iter", 50)
    return model.set_params(**params)


def assert_same(model, clean, X=X, given=None, rtol=0.0):
    """Same vectors, counts and certificate, bit for bit unless ``rtol`` says otherwise, and the same scores."""
    np.testing.assert_allclose(vectors(model), vectors(clean), rtol=rtol, atol=rtol)
    scores = model.decision_function(X if given is None else given)
    np.testing.assert_allclose(scores, clean.decision_function(X), rtol=1e-9, atol=1e-12)
    assert getattr(model, "n_updates_", None) == getattr(clean, "n_updates_", None)
    np.testing.assert_allclose(model.certificate_.upper, clean.certificate_.upper, rtol=rtol)


def assert_sound(model, X, y, **weights):
    """Finite numbers, and nothing claimed that does not hold."""
    assert np.all(np.isfinite(model.decision_function(X)))
    assert np.all(np.isfinite(getattr(model, "coef_", 0.0)))
    assert model.certificate_.verify(X, y, **weights)
    assert model.certificate_.lower is None or model.certificate_.lower <= model.certificate_.upper
    assert set(model.predict(X)) <= set(model.classes_)


@everyone
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_not_a_number(cls, value):
    broken = X.copy()
    broken[5, 1] = value
    for bad in (broken, sp.csr_matrix(broken), broken.astype(np.float32)):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            make(cls).fit(bad, Y)
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            make(cls).fit(X, Y).predict(bad)


@everyone
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_weight_of_zero_hides_no_infinity(cls, value):
    """Finite scores stand for finite rows, except where a weight is 0."""
    wide = np.column_stack([X, np.zeros(40)])
    model = make(cls).fit(wide, Y)
    wide[5, 3] = value
    for bad in (wide, sp.csr_matrix(wide)):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            model.predict(bad)


@everyone
@pytest.mark.parametrize(
    ("bad", "y", "message"),
    [
        (X, np.zeros(40), "class"),
        (X[:0], Y[:0], "0 sample"),
        (X[:, :0], Y, "0 feature"),
        (sp.csr_matrix((40, 0)), Y, "0 feature"),
        (X[:, 0], Y, "2D"),
        (X[None], Y, "dim 3"),
        (X, Y[:-1], "inconsistent"),
        (X, np.column_stack([Y, Y]), "1d"),
        (X, X[:, 0] + 0.001, "continuous"),
        (X, np.where(Y, np.nan, 1.0), "NaN"),
        (X, np.array([0, "a"] * 20, dtype=object), "label type"),
        (X, np.array([None, "a"] * 20, dtype=object), "label type"),
        (X, Y + 1j, "[Cc]omplex"),
        (X + 1j, Y, "[Cc]omplex"),
        (X, None, "y"),
        (np.array([["x", "y", "z"]] * 40, dtype=object), Y, "could not convert"),
        (np.array([["x", "y", "z"]] * 40), Y, "could not convert|numeric"),
    ],
)
def test_unusable(cls, bad, y, message):
    with pytest.raises(ValueError, match=message):
        make(cls).fit(bad, y)


@everyone
def test_wrong_width_in_predict(cls):
    model = make(cls).fit(X, Y)
    for wrong in (X[:, :2], np.column_stack([X, X]), sp.csr_matrix(X[:, :2]), X.astype(np.float32)[:, :2]):
        for method in (model.predict, model.decision_function):
            with pytest.raises(ValueError, match="features"):
                method(wrong)


def strided():
    wide = np.zeros((80, 6))
    wide[::2, ::2] = X
    return wide[::2, ::2]


def memmap(tmp_path):
    np.save(tmp_path / "X.npy", X)
    return np.load(tmp_path / "X.npy", mmap_mode="r")


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


DENSE = {
    "float16": lambda _: X.astype(np.float16),
    "longdouble": lambda _: X.astype(np.longdouble),
    "big endian": lambda _: X.astype(">f8"),
    "object": lambda _: X.astype(object),
    "list": lambda _: X.tolist(),
    "fortran": lambda _: np.asfortranarray(X),
    "strided": lambda _: strided(),
    "backwards": lambda _: X[::-1].copy()[::-1],
    "read-only": lambda _: read_only(X),
    "memmap": memmap,
    "pandas": lambda _: pd.DataFrame(X, columns=names),
    "polars": lambda _: pl.DataFrame(X, schema=names),
}


@everyone
@pytest.mark.parametrize("kind", DENSE)
def test_every_dense_layout_is_the_same_data(cls, kind, tmp_path):
    given = DENSE[kind](tmp_path)
    before = np.array(given, dtype=float)
    model = make(cls).fit(given, Y)
    assert_same(model, make(cls).fit(X, Y), given=given)
    if kind in ("pandas", "polars"):
        assert list(model.feature_names_in_) == names
        with pytest.raises(ValueError, match="feature names"):
            model.predict(pd.DataFrame(X, columns=[*"xyz"]))
    np.testing.assert_array_equal(np.array(given, dtype=float), before)  # the user's data are left alone


@everyone
def test_integers_are_numbers(cls):
    assert_same(make(cls).fit((X * 8).astype(np.int32), Y), make(cls).fit(X * 8, Y), X * 8)


def with_int64(C):
    C.indices, C.indptr = C.indices.astype(np.int64), C.indptr.astype(np.int64)
    return C


def unsorted():
    C = sp.csr_matrix(X)
    for a, b in zip(C.indptr[:-1], C.indptr[1:], strict=True):
        C.indices[a:b], C.data[a:b] = C.indices[a:b][::-1].copy(), C.data[a:b][::-1].copy()
    return sp.csr_matrix((C.data, C.indices, C.indptr), shape=C.shape)


def duplicates():
    C = sp.csr_matrix(X)
    return sp.csr_matrix((np.repeat(C.data / 2, 2), np.repeat(C.indices, 2), 2 * C.indptr), shape=C.shape)


def unsorted_duplicates():
    C = duplicates()
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in zip(C.indptr[:-1], C.indptr[1:], strict=True)])
    return sp.csr_matrix((C.data[order], C.indices[order], C.indptr), shape=C.shape)


def frozen_csr():
    C = sp.csr_matrix(X)
    C.data, C.indices, C.indptr = read_only(C.data), read_only(C.indices), read_only(C.indptr)
    return C


SPARSE = {
    "int64": lambda: with_int64(sp.csr_matrix(X)),
    "unsorted": unsorted,
    "duplicates": duplicates,
    "unsorted duplicates": unsorted_duplicates,
    "read-only": frozen_csr,
    "csc": lambda: sp.csc_matrix(X),
    "coo": lambda: sp.coo_matrix(X),
    "lil": lambda: sp.lil_matrix(X),
    "array": lambda: sp.csr_array(X),
}


def layouts_of_everyone():
    """Wide indices compile every kernel once more: on every run those of one rule, a solver and a loop of its own."""
    for cls in ESTIMATORS:
        for kind in SPARSE:
            seldom = kind == "int64" and cls not in (Perceptron, MaxMargin, BalancedWinnow)
            yield pytest.param(cls, kind, marks=[pytest.mark.slow] if seldom else [])


@pytest.mark.parametrize(("cls", "kind"), list(layouts_of_everyone()))
def test_every_sparse_layout_is_the_same_data(cls, kind):
    given = SPARSE[kind]()
    model, clean = make(cls).fit(given, Y), make(cls).fit(sp.csr_matrix(X), Y)
    assert_same(model, clean, rtol=1e-9 if kind == "unsorted" else 0)  # columns are summed in the order they come
    np.testing.assert_allclose(model.decision_function(SPARSE[kind]()), clean.decision_function(X), rtol=1e-12)
    np.testing.assert_array_equal(given.toarray(), X)
    assert model.certificate_.verify(SPARSE[kind](), Y)
    assert_same(clean, make(cls).fit(X, Y), rtol=1e-9)


BROKEN = """
    import sys, warnings
    import numpy as np, scipy.sparse as sp
    sys.path.insert(0, {tests!r})
    from cases import ESTIMATORS
    from test_bad_input import X, Y, make
    warnings.simplefilter("ignore")

    def breakage(kind, dtype, form):
        C = getattr(sp, form + "_matrix")(X.astype(dtype))
        if kind == "beyond": C.indices[7] = 100_000
        if kind == "negative": C.indices[7] = -100_000
        if kind == "jump": C.indptr[2] = 100_000
        if kind == "jump, empty at the end": C.indptr[-1] = 0
        if kind == "too long": C.indptr[-1] = 100_000
        if kind == "short data": C.data = C.data[:-5]
        return C

    weight = np.ones(40)
    weight[3] = 0
    kinds = ["beyond", "negative", "jump", "jump, empty at the end", "too long", "short data"]
    cases = [(k, t, f) for k in kinds for t in ("f8", "f4") for f in ("csr", "csc")]
    for cls in ESTIMATORS:
        model = make(cls).fit(X, Y)
        for case in cases:
            for what, use in {{
                "fit": lambda C: make(cls).fit(C, Y),
                "weighted fit": lambda C: make(cls).fit(C, Y, sample_weight=weight),
                "predict": lambda C: model.predict(C),
                "verify": lambda C: model.certificate_.verify(C, Y),
                "weighted verify": lambda C: model.certificate_.verify(C, Y, weight),
            }}.items():
                try:
                    use(breakage(*case))
                    print("ACCEPTED", cls.__name__, case, what)
                except ValueError:
                    pass
    row = sp.coo_matrix(X)
    row.coords[0][3] = 100_000
    try:
        make(ESTIMATORS[0]).fit(row, Y)
        print("ACCEPTED coo")
    except ValueError:
        pass
    print("done")
"""


@given(
    st.sampled_from(["data", "indices", "indptr", "nothing"]),
    st.integers(0, 12),
    st.one_of(st.integers(-3, 14), st.sampled_from([-(2**31), 2**31 - 1])),
    st.sampled_from(["other", "cut", "longer", "in a table"]),
    st.sampled_from(["i4", "i4", "i8", ">i4"]),
    st.sampled_from([(4, 3), (1, 3), (4, 1), (0, 3), (4, 0)]),
)
@example("indptr", 0, 1, "other", "i4", (4, 3))
@example("indices", 0, 3, "other", "i4", (4, 3))
@settings(max_examples=150, deadline=None)
def test_broken_csr_matrices_are_those_that_scipy_refuses(part, place, value, how, kind, shape):
    C = sp.csr_matrix(np.arange(shape[0] * shape[1], dtype=float).reshape(shape) % 3)
    C.indices, C.indptr = C.indices.astype(kind), C.indptr.astype(kind)
    if part != "nothing":
        numbers = getattr(C, part)
        if how == "other" and len(numbers):
            numbers[place % len(numbers)] = np.array(value).astype(numbers.dtype)
        changed = {"other": numbers, "cut": numbers[:-1], "longer": np.append(numbers, numbers[:1])}
        setattr(C, part, changed.get(how, numbers.reshape(1, -1)))
    copy = sp.csr_matrix(shape)
    copy.data, copy.indices, copy.indptr = C.data.copy(), C.indices.copy(), C.indptr.copy()
    try:
        copy.check_format(full_check=True)
        refused = bool(np.any(np.diff(copy.indptr) < 0))
    except ValueError:
        refused = True
    if refused:
        with pytest.raises(DataError, match="not a valid CSR matrix"):
            check_structure(C)
    else:
        check_structure(C)


def run(script, **environment):
    """A script in a process of its own; returns what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_a_matrix_with_room_behind_its_last_row_stays_as_it_is():
    rng = np.random.default_rng(0)
    X = sp.random_array((40, 6), density=0.5, format="csr", rng=rng)
    X.data, X.indices = np.append(X.data, [7.0, 7.0]), np.append(X.indices, [0, 0]).astype(np.int32)
    stored = len(X.data)
    model = MaxMargin().fit(X, np.arange(40) % 2)
    model.certificate_.verify(X, np.arange(40) % 2)
    assert len(X.data) == stored


def test_broken_sparse_matrices_are_refused_before_they_are_read():
    assert run(BROKEN.format(tests=os.path.dirname(__file__))) == "done\n"


@everyone
@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-1.0, 1.0], [10, 300], ["b", "a"]])
def test_labels_of_every_kind(cls, labels):
    y = np.array(labels)[Y]
    model = make(cls).fit(X, y)
    assert model.predict(X).dtype == y.dtype
    assert list(model.classes_) == sorted(labels)
    clean = make(cls).fit(X, Y if labels == sorted(labels) else 1 - Y)
    assert_same(model, clean)


@everyone
def test_y_as_a_column(cls):
    with pytest.warns(DataConversionWarning):
        model = make(cls).fit(X, Y[:, None])
    assert_same(model, make(cls).fit(X, Y))


@online
def test_rows_of_zeros(cls):
    nothing = np.zeros((6, 3))
    for zeros in (nothing, sp.csr_matrix(nothing)):
        with pytest.raises(ValueError, match="zero"):
            make(cls, fit_intercept=False).fit(zeros, [0, 1, 0, 1, 0, 1])
        if cls is FuzzyPerceptron:
            with pytest.raises(ValueError, match="same mean"):
                make(cls).fit(zeros, [0, 1, 0, 1, 0, 1])
            continue
        model = make(cls).fit(zeros, [0, 1, 0, 1, 0, 1])
        assert_sound(model, zeros, [0, 1, 0, 1, 0, 1])
        assert model.certificate_.separable is not True
        assert np.all(getattr(model, "coef_", 0.0) == 0)
    some = X.copy()
    some[3] = 0
    model = make(cls, fit_intercept=False).fit(some, Y)  # nothing separates 0 from the origin
    assert_sound(model, some, Y)
    assert model.certificate_.separable is not True
    assert not model.converged_ or cls in (RecursiveLeastSquares, LMS, FuzzyPerceptron, MarginFuzzyPerceptron)


@everyone
def test_constant_columns(cls):
    constant = np.column_stack([X, np.full(40, 3.0), np.zeros(40)])
    model = make(cls).fit(constant, Y)
    assert_sound(model, constant, Y)
    assert model.score(constant, Y) > 0.9
    assert getattr(model, "coef_", np.zeros((1, 5)))[0, 4] == 0


@online
def test_too_large_and_too_small(cls):
    huge = X.copy()
    huge[7] = 1e300
    with pytest.raises(ValueError, match="row 7 overflows"):
        make(cls).fit(huge, Y, sample_weight=np.arange(40) != 2)
    with pytest.raises(ValueError, match="underflows"):
        make(cls, fit_intercept=False).fit(X * 1e-300, Y)
    for scale in (2.0**300, 2.0**-300):
        model = make(cls, fit_intercept=False).fit(X * scale, Y)
        assert_sound(model, X * scale, Y)
    try:
        assert_sound(make(cls).fit(X * 1e-300, Y), X * 1e-300, Y)
    except ValueError as error:
        assert "same mean" in str(error)  # noqa: PT017  FuzzyPerceptron may refuse, the others have a bias to learn


@everyone
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (-np.ones(40), "[Nn]egative"),
        (np.where(Y, 1.0, -1e-9), "[Nn]egative"),
        (np.full(40, np.nan), "NaN"),
        (np.full(40, np.inf), "infinity"),
        (np.zeros(40), "non-zero"),
        (Y.astype(float), "1 class"),
        (np.ones(39), "shape"),
        (np.ones((40, 2)), "1D|1d"),
        (["a"] * 40, "could not convert"),
    ],
)
def test_unusable_weights(cls, weight, message):
    with pytest.raises(ValueError, match=message):
        make(cls).fit(X, Y, sample_weight=weight)


@online
@pytest.mark.parametrize("size", [1e-300, 1e-100, 1e100, 1e150])
def test_weights_of_any_size(cls, size):
    weight = np.full(40, size)
    model = make(cls).fit(X, Y, sample_weight=weight)
    assert_sound(model, X, Y, sample_weight=weight)
    assert not np.isnan(getattr(model, "directional_margin_", 0.0)) or not np.any(vectors(model))


@everyone
def test_weights_whose_squares_overflow(cls):
    for size in (1e200, 1e308):
        with pytest.raises(ValueError, match="overflows"):
            make(cls).fit(X, Y, sample_weight=np.full(40, size))


@online
def test_a_start_that_does_not_fit(cls):
    for start in (np.ones(2), np.ones((2, 3)), np.ones((3, 1)), [np.nan, 0, 0], ["a", "b", "c"]):
        with pytest.raises(ValueError, match=r"coef_init|convert"):
            make(cls).fit(X, Y, coef_init=start)
    with pytest.raises(ValueError, match="intercept_init"):
        make(cls).fit(X, Y, intercept_init=[1.0, 2.0])
    with pytest.raises(ValueError, match="without bias"):
        make(cls, fit_intercept=False).fit(X, Y, intercept_init=1.0)
