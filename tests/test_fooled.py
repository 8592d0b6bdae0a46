"""What two reviewers made `Certificate.verify`, `separatrix verify` and checker.py accept, or end on: each refused."""

import math
import os
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from separatrix import Certificate, DataError, KernelMaxMargin, MaxMargin, VotedPerceptron, fewest_errors, separability
from separatrix.certificates import checker, verification
from separatrix.certificates.checker import check
from separatrix.data import from_blocks, open_files
from separatrix.passes.kernel_patterns import Kernel
from separatrix.theory import Space

INF = math.inf
LINE, SIDES = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
TRUE = Certificate(0.4, INF, True, Space(), 17**0.5, direction=np.array([1.0, -2.0]))
BIG = 2**53
LINEAR = Kernel("linear")


def claim(**fields):
    return Certificate(**{"lower": None, "upper": INF, "separable": None, "space": Space(), "radius": None, **fields})


def refuses(certificate, X, y=None, weight=None):
    """It does not hold: refused, failed or not checkable, but never accepted and never an error of another family."""
    try:
        return not certificate.verify(X, y, weight)
    except DataError:
        return True


def stored(folder, X, y, weight=None):
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    if weight is not None:
        np.save(folder / "w.npy", weight)
    return open_files(folder / "X.npy", target=folder / "y.npy", weight=None if weight is None else folder / "w.npy")


# Data that are not what they are taken for

ROUNDED = {
    "ints and floats": [[BIG, 0.5], [BIG + 1, 0.5]],
    "integers that become floats": [[2**63, -1], [2**63 + 1, -1]],
    "a frame": pd.DataFrame({"id": np.array([BIG, BIG + 1]), "v": [0.5, 0.5]}),
    "a frame of integers": pd.DataFrame({"id": np.array([BIG, BIG + 1])}),
    "nullable integers": pd.DataFrame({"id": pd.array([BIG, BIG + 1], dtype="Int64"), "v": [0.5, 0.5]}),
    "polars": pl.DataFrame({"id": [BIG, BIG + 1], "v": [0.5, 0.5]}),
    "decimals of polars": pl.DataFrame({"id": pl.Series([Decimal(BIG), Decimal(BIG + 1)], dtype=pl.Decimal(20, 0))}),
    "text": np.array([[str(BIG)], [str(BIG + 1)]]),
    "fractions": np.array([[Fraction(1, 3)], [Fraction(1, 3) + Fraction(1, 10**30)]]),
    "decimals": np.array([[Decimal(1)], [Decimal(1) + Decimal(10) ** -25]]),
    "wide floats": np.array([[np.longdouble(1)], [np.longdouble(1) + np.finfo(np.longdouble).eps]]),
    "huge integers": [[2**64 + 1], [2**64]],
    "lists of lists": sp.lil_matrix(np.array([[BIG], [BIG + 1]])),
    "keys": sp.dok_matrix(np.array([[BIG], [BIG + 1]])),
    "times": np.array([["2020-01-01T00:00:00.000000000"], ["2020-01-01T00:00:00.000000001"]], dtype="M8[ns]"),
    "no time": np.array([["2020-01-01"], ["NaT"]], dtype="M8[s]"),
}


@pytest.mark.parametrize("name", ROUNDED)
def test_data_that_float64_does_not_hold(name):
    X = ROUNDED[name]
    if name == "wide floats" and np.finfo(np.longdouble).eps == np.finfo(np.float64).eps:
        pytest.skip("no wide floats here")
    for question in (separability, MaxMargin(C=INF).fit, fewest_errors):
        with pytest.raises(DataError):
            question(X, [0, 1])
    for kernel in (None, LINEAR):
        false = claim(separable=False, alpha_index=np.arange(2), alpha=np.ones(2), kernel=kernel)
        assert refuses(false, X, [0, 1])


def test_masked_and_complex_data():
    masked = np.ma.masked_array(LINE, LINE > 2)
    for X, y, weight in (
        (masked, SIDES, None),
        (LINE, np.ma.masked_array(SIDES, [0, 0, 0, 1]), None),
        (LINE, SIDES, np.ma.masked_array(np.ones(4), [0, 0, 0, 1])),
        (LINE + 1j, SIDES, None),
        (sp.csr_array(LINE + 1j), SIDES, None),
        (LINE, SIDES, np.array([1, 1j, 1, 1])),
        (LINE, SIDES, ["1", "1", "1", "1"]),
        (LINE, SIDES, [1, 1, 1, -1]),
        (LINE, SIDES, [1, 1, 1, math.nan]),
    ):
        assert TRUE.verify(LINE, SIDES)
        assert refuses(TRUE, X, y, weight)
        assert refuses(replace(TRUE, kernel=LINEAR), X, y, weight)
        plain = (X.data, X.indices, X.indptr, 1) if sp.issparse(X) else X
        assert not check(plain, y, TRUE.as_plain(), weight)["checked"]
    with pytest.raises(DataError, match="masked"):
        MaxMargin().fit(masked, SIDES)
    parts = sp.csr_array(LINE)
    hidden = np.ma.masked_array(parts.data, [0, 1, 0])
    assert not check((hidden, parts.indices, parts.indptr, 1), SIDES, TRUE.as_plain())["checked"]


@pytest.mark.parametrize("y", [[BIG, BIG + 1, 0.5], [2**63, 2**63 + 1, -1], ["a", "a\0", "b"], [1, "1", 2]])
def test_labels_that_numpy_takes_for_one(y):
    X, direction = [[0.0], [1.0], [3.0]], np.array([-1.0, 2.0])
    for sign in (1, -1):
        true = claim(separable=True, direction=sign * direction)
        assert refuses(true, X, y)
        assert not check(X, y, true.as_plain())["checked"]
    with pytest.raises(DataError):
        separability(X, y)


def test_repeated_places_of_small_integers():
    X = sp.csr_matrix((np.array([100, 100, -56], np.int8), [0, 0, 0], [0, 2, 3]), (2, 1))
    assert separability(X, [0, 1]).separable
    assert refuses(claim(separable=False, alpha_index=np.arange(2), alpha=np.ones(2)), X, [0, 1])


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (LINE, 5),
        ([[0.0], [1.0, 2.0]], [0, 1]),
        ([["a"], ["b"]], [0, 1]),
        ([[10**400], [1]], [0, 1]),
        (LINE, [None, 1, "a", 2]),
        (LINE, [1, 1, 1, 1]),
        (LINE, [0, 0, 1, math.nan]),
        (np.zeros((0, 1)), []),
        (LINE, None),
    ],
)
def test_malformed_data_are_errors_of_the_family(X, y):
    for certificate in (TRUE, replace(TRUE, kernel=LINEAR)):
        with pytest.raises(DataError):
            certificate.verify(X, y)


# The checker


def test_the_checker_ends_on_nothing():
    deep = []
    for _ in range(200_000):
        deep = [deep]
    ordinary = {"direction": [1.0, -2.0], "separable": True}
    for found in (
        check(LINE, SIDES, {**ordinary, "lower": 10**5000}),
        check(LINE, SIDES, {**ordinary, "lower": deep}),
        check((np.ones(1), np.zeros(1, int), np.array([0, 10**15, 1]), 1), [0, 1], {"radius": 1.0}),
        check(np.zeros((300_000, 1)), np.arange(300_000), {"n_classes": 300_000, "radius": 1.0}),
        check((np.ones(1), np.zeros(1, int), np.array([0, 1, 1]), 1.9), [0, 1], {"radius": 1.0}),
        check((np.ones(1), np.zeros(1, int), np.array([0, 1, 1]), "1"), [0, 1], {"radius": 1.0}),
    ):
        assert found["failed"]
    with np.errstate(all="raise"):
        assert check(np.array([[1e300], [1e-320]]), [1, 0], {"radius": 1.0})["failed"]
    assert refuses(replace(TRUE, lower=10**5000), LINE, SIDES)


def test_the_checker_keeps_nothing(monkeypatch):
    import gc
    import weakref

    kept = []
    made = checker._Patterns.__init__
    monkeypatch.setattr(
        checker._Patterns, "__init__", lambda self, *a: (kept.append(weakref.ref(self)), made(self, *a))[1]
    )
    assert check(LINE, SIDES, TRUE.as_plain())["checked"]
    gc.collect()
    assert kept[0]() is None


def test_lists_that_change_while_they_are_read():
    class Flip(list):
        seen = 0

        def __iter__(self):
            self.seen += 1
            return iter([abs(self[i]) if self.seen == 1 else self[i] for i in range(len(self))])

    X, y, proof = np.array([[1.0], [-2.0]]), [1, 0], {"rho": 0.0, "alpha_index": [0, 1], "alpha": Flip([1.0, -0.5])}
    assert check(X, y, {"separable": False, **proof})["failed"]
    assert check(X, y, {"upper": 1e-9, **proof})["failed"]


def test_weights_that_float64_does_not_hold():
    weight = np.array([2**59 + 1, 2**59 + 1])
    soft = {"hinge": 0.5, "weighted": True, "lower": 2.0**-30, "direction": [0.0, 0.0]}
    assert check(np.array([[1.0], [-1.0]]), [1, 0], soft, weight)["failed"]


FLUSHED = """
import ctypes, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import checker
code = [0x0F, 0xAE, 0x5C, 0x24, 0xFC, 0x81, 0x4C, 0x24, 0xFC, 0x40, 0x80, 0, 0, 0x0F, 0xAE, 0x54, 0x24, 0xFC, 0xC3]
import mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes(code))
s = 2.0 ** -515
claim = {"free": True, "upper": s / 1024, "alpha_index": [0, 1], "alpha": [1.0, 1.0]}
X = np.array([[s], [-s]])
ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
print(checker.check(X, [1, 0], claim)["failed"])
"""


@pytest.mark.skipif(
    os.uname().machine != "x86_64" if hasattr(os, "uname") else True, reason="code of another processor"
)
def test_a_processor_that_takes_subnormal_numbers_for_zero():
    """As any library that was built with -ffast-math may tell it to, for the whole thread."""
    folder = os.path.dirname(checker.__file__)
    done = subprocess.run([sys.executable, "-c", FLUSHED, folder], capture_output=True, text=True)
    if done.returncode:
        pytest.skip("pages cannot be made to run here")
    assert "subnormal" in done.stdout


@pytest.mark.parametrize(
    "how", ["a CSC matrix", "two matrices", "a misspelt word", "another height", "no labels", "digits"]
)
def test_the_program_reads_strictly(tmp_path, how):
    A = sp.csc_array([[1.0, -5.0], [2.0, -1.0]])
    data, text = tmp_path / "d.npz", tmp_path / "c.json"
    sp.save_npz(data, A if how == "a CSC matrix" else A.tocsr())
    parts = {**np.load(data), "y": np.array([1, 0])}
    parts |= {"X": np.array([[1.0, 0], [-1.0, 0]])} if how == "two matrices" else {}
    parts |= {"shape": np.array([3, 2])} if how == "another height" else {}
    if how == "no labels":
        del parts["y"]
    np.savez(data, **parts)
    text.write_text("9" * 5001 if how == "digits" else '{"rho": 0, "separable": true, "direction": [1, 0, 0]}')
    command = [sys.executable, checker.__file__, str(data), str(text), "--all" if how == "a misspelt word" else "all"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


# The text form


TEXTS = [
    '{"separable": true, "direction": [18014398509481987, -18014398509481984, -3], "radius": 1.7320508075688772}',
    '{"lower": 0.4, "direction": [1.0, -2.0], "weak": [-1.0, 2.0]}',
    '{"lower": 0.4, "direction": [1.0, -2.0], "kernel": "rbf"}',
    '{"lower": 0.4, "direction": [1.0, -2.0], "theory": 5}',
    '{"direction": ["1.0", "-2.0"]}',
    '{"direction": [true, -2]}',
    '{"direction": {"a": 1}}',
    '{"alpha_index": [1.9, 2.9]}',
    '{"alpha_index": ["1", "2"]}',
    '{"alpha_index": [1180591620717411303424]}',
    '{"alpha": [9007199254740993]}',
    '{"rho": null}',
    '{"free": null}',
    '{"class_pair": 3}',
    '{"class_pair": [0]}',
    '{"n_classes": "3"}',
    '{"sample_weight": [1' + 400 * "0" + "]}",
    '{"radius": 1' + 5000 * "0" + "}",
    "[" * 100_000,
    "",
    "[]",
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_text_means_what_it_says(text):
    with pytest.raises(DataError):
        Certificate.from_json(text)


def test_what_is_absent_from_a_text_is_not_claimed():
    found = Certificate.from_json('{"separable": true, "direction": [1, -2], "class_pair": null, "alpha_index": null}')
    assert found.verify(LINE, SIDES).checked == ("separable (True)",)


# Rows elsewhere


def test_margins_that_are_no_numbers_are_doubtful(tmp_path):
    a = np.array([1e200, -1e200, 1e200, -1e200, 0.0])
    home = stored(tmp_path, np.ones((4, 4)) * 1e200, np.array([0, 1, 0, 1]))
    assert refuses(claim(separable=True, space=Space(rho=0.0), direction=a), home)
    home = stored(tmp_path, np.array([[1.0], [1.0], [1e200]]), np.array([0, 1, 1]))
    assert refuses(claim(separable=True, direction=np.zeros(2)), home)
    home = stored(tmp_path, np.full((3, 2), 4.0), np.arange(3))
    three = claim(separable=True, n_classes=3, direction=np.array([1e308, -1e308, 0.0] * 3))
    assert refuses(three, home)
    home = stored(tmp_path, LINE, SIDES)
    assert claim(separable=True, direction=np.array([1.0, -2.0]) * 1e300).verify(home)


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_a_radius_that_overflows_or_vanishes(tmp_path, size):
    for R in (5.0, 0.0):
        assert refuses(claim(radius=R, space=Space(rho=0.0)), stored(tmp_path, LINE * size, SIDES))
        assert refuses(claim(radius=R, space=Space(rho=0.0), kernel=LINEAR), LINE * size, SIDES)


def test_squares_that_vanish(tmp_path):
    p, q, a, s = 1 / 3, 0.7777, 1 - 3 * 2.0**-53, 2.0**-670
    home = stored(tmp_path, np.array([[p, q], [a * p, a * q]]) * s, np.array([1, 0]))
    none = Space(rho=0.0)
    assert refuses(claim(upper=1e-300, space=none, alpha_index=np.arange(2), alpha=np.array([a, 1.0])), home)
    X = np.array([[1.0], [2.0], [-1.0], [-2.0]]) * 1e-170
    assert refuses(claim(lower=0.0, space=none, direction=np.array([1.0, 0, 0, 0, 0]), kernel=LINEAR), X, SIDES)
    tiny = claim(lower=1e300, space=Space(rho=0.0, hinge=5e-324, weighted=True), direction=np.zeros(5), kernel=LINEAR)
    assert refuses(tiny, LINE, SIDES, np.full(4, 0.05))


def test_integers_in_files_and_blocks(tmp_path):
    X, y = np.array([[BIG], [BIG + 1]]), np.array([0, 1])
    with pytest.raises(DataError, match="float64 cannot hold"):
        separability(stored(tmp_path, X, y))
    with pytest.raises(DataError, match="float64 cannot hold"):
        separability(from_blocks([(X, y)]))
    np.savez(tmp_path / "both.npz", X=X, y=y)
    with pytest.raises(DataError, match="float64 cannot hold"):
        separability(open_files(tmp_path / "both.npz"))


def test_spaces_of_rows_elsewhere(tmp_path):
    twins, labels = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 1, 0, 1])
    home = stored(tmp_path, twins, labels)
    direction = np.array([1e-3, 0.0])
    for space in (Space(hinge=0.1), Space(delta=-1.0), Space(rho=-1.0), Space(rho=math.nan), Space(delta=1e200)):
        assert refuses(claim(upper=0.05, space=space, slack_vector=np.zeros(2)), home)
        assert refuses(claim(lower=0.05, space=space, direction=direction), home)
        assert refuses(claim(upper=0.05, space=space, alpha_index=np.arange(2), alpha=np.ones(2)), home)
    assert refuses(claim(upper=9.0, alpha_index=np.zeros((1, 1), int), alpha=np.ones(1)), home)
    assert refuses(claim(upper=9.0, alpha_index=np.arange(2), alpha=np.array(["1", "1"])), home)
    assert refuses(claim(lower="0.1", direction=direction), home)
    assert refuses(claim(separable="yes", direction=np.array([1.0, -2.0])), stored(tmp_path, LINE, SIDES))
    assert refuses(replace(TRUE, direction=np.array([1 + 5j, -2])), stored(tmp_path, LINE, SIDES))
    assert refuses(replace(TRUE, sample_weight=np.zeros(4)), stored(tmp_path, LINE, SIDES))
    weighted = stored(tmp_path, twins, labels, np.full(4, 1e-6))
    assert refuses(claim(lower=50.0, space=Space(delta=1.0), direction=direction), weighted)
    weighted = stored(tmp_path, twins, labels, np.full(4, 1e6))
    assert refuses(claim(upper=0.01, space=Space(delta=1.0), slack_vector=np.zeros(2)), weighted)
    weighted = stored(tmp_path, np.array([[7e59], [-7e59]]), np.array([1, 0]), np.full(2, 5e-324))
    cheap = Space(rho=0.0, delta=1e-155, weighted=True)
    assert refuses(claim(lower=9e59, space=cheap, direction=np.array([1e-60, 0.0])), weighted)
    weighted = stored(tmp_path, np.array([[1.0], [3.0]]), np.array([1, 0]), np.full(2, 1e-150))
    free = Space(rho=1e-200, free=True)
    assert refuses(claim(upper=1e-3, space=free, slack_vector=np.array([-0.2, 0.0])), weighted)


def test_a_copy_of_other_rows_is_not_read(tmp_path):
    path, cache = tmp_path / "d.npz", tmp_path / "copy"
    np.savez(path, X=LINE, y=SIDES)
    status = path.stat()
    assert separability(open_files(path, cache=cache)).separable
    np.savez(path, X=LINE, y=np.array([0, 1, 0, 1]))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    assert separability(open_files(path, cache=cache)).separable is False


# Kernels


def test_spaces_and_parameters_of_kernels():
    mixed, zero = [0, 1, 0, 1], np.zeros(5)
    small, large = np.full(4, 1e-6), np.full(2, 1e6)
    assert refuses(
        claim(lower=100.0, space=Space(hinge=1.0), direction=zero, sample_weight=small, kernel=LINEAR), LINE, mixed
    )
    cap = claim(
        upper=0.02, space=Space(rho=0.0, hinge=1.0), alpha_index=np.arange(2), alpha=np.full(2, 5000.0), kernel=LINEAR
    )
    assert refuses(replace(cap, sample_weight=large), [[0.01], [-0.01]], [1, 0])
    free = Space(1, 0, free=True)
    negative = claim(separable=True, space=free, direction=np.array([1.0, 0, -1]), kernel=Kernel("rbf", -1e9))
    assert refuses(negative, [[1.0], [1.0]], [0, 1])
    X, y = [[0, 1], [0.5, 1], [1.5, 0.5], [1, 0], [0.5, 1.5]], [0, 1, 0, 0, 0]
    inverse = Kernel("poly", 1.0, -2.0, 1.0)
    none = Space(rho=0.0)
    assert not inverse.mercer
    bound = claim(upper=0.00797, space=none, alpha_index=np.arange(5), alpha=np.ones(5), kernel=inverse)
    assert refuses(bound, X, y)
    indefinite = np.array([[1, -1e6], [-1e6, 1]])
    far = claim(lower=700.0, space=none, direction=np.array([-1.0, 1, 0]), kernel=Kernel("precomputed"))
    assert refuses(far, indefinite, [0, 1])
    for kernel in (Kernel("poly", 1.0, 2000.0), Kernel("rbf", "x"), Kernel(["rbf"])):
        assert refuses(claim(lower=0.1, direction=zero, kernel=kernel), LINE, SIDES)
    assert refuses(claim(lower=0.1, n_classes=3, direction=zero, kernel=LINEAR), LINE, [0, 1, 2, 2])


def test_rows_without_weight_in_a_kernel_are_told():
    X, y = np.append(LINE, [[0.0]], axis=0), np.append(SIDES, 1)
    certificate = KernelMaxMargin(C=INF, kernel="rbf").fit(X, y, np.array([1, 1, 1, 1, 0])).certificate_
    found = certificate.verify(X, y)
    assert found
    assert "1 of 5 rows" in str(found)
    assert refuses(replace(certificate, sample_weight=np.array([1, 1, 1, 1, -1.0])), X, y)


def test_the_search_for_multipliers_ends(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 59)) * 2.0 ** rng.integers(-1000, 1000, (60, 59))
    monkeypatch.setattr(verification, "SEARCH", 0.2)
    wrong = claim(separable=False, alpha_index=np.arange(60), alpha=np.ones(60))
    assert refuses(wrong, X, np.arange(60) % 2)


# Of the review of release 0.1.0, what had no test


@pytest.mark.parametrize(
    "matrix", [1.0 / (np.arange(12)[:, None] + np.arange(12) + 1), np.vander(np.linspace(-1, 1, 20))]
)
def test_matrices_that_floats_take_for_singular(matrix):
    """Hilbert's and Vandermonde's: rows that are independent, so that any labels are separable."""
    y = np.arange(len(matrix)) % 2
    found = separability(matrix, y)
    assert found.separable
    assert found.certificate.verify(matrix, y)


def test_points_on_a_line_far_away():
    line = 2.0**26 * np.arange(4)[:, None] + np.array([0.0, 1.0]) * np.arange(4)[:, None]
    assert separability(line, [0, 0, 1, 1]).kind == "complete"
    assert separability(line, [0, 1, 1, 0]).kind == "none"
    assert separability(line[[0, 1, 1, 2]], [0, 0, 1, 1]).kind == "quasi-complete"


def test_voters_that_no_memory_holds():
    X = sp.csr_matrix((np.ones(4), ([0, 1, 2, 3], [0, 1, 4_999_999, 7])), (4, 5_000_000))
    with pytest.raises(DataError, match="lower max_voters"):
        VotedPerceptron(max_voters=10**9).fit(X, [0, 1, 0, 1])
