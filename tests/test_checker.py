"""The checker on its own: every comparison right to the last bit, at any scale, in any layout; and what it refuses."""

import ast
import json
import math
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_exact import meaning
from typer.testing import CliRunner

from separatrix import Certificate, DataError, KernelMaxMargin, MaxMargin, Perceptron, save, separability
from separatrix.app.cli import app
from separatrix.certificates import checker
from separatrix.certificates.checker import CLAIMS, check
from separatrix.certificates.verification import verify_apart
from separatrix.passes.kernel_patterns import Kernel
from separatrix.theory import Space

INF, NAN = math.inf, math.nan
LINES = 450  # signs of coefficients and the l1 penalty are among its claims
XOR, PARITY = [[0, 0], [1, 1], [0, 1], [1, 0.0]], [0, 0, 1, 1]
LINE, SIDES = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])


def csr(X):
    matrix = sp.csr_array(np.asarray(X))
    return matrix.data, matrix.indices, matrix.indptr, matrix.shape[1]


def verdict(X, y, claim, **more):
    """Of a certificate with one claim."""
    found = check(X, y, claim, **more)
    (place,) = [place for place in ("checked", "failed", "unchecked") if found[place]]
    return {"checked": True, "failed": False, "unchecked": None}[place]


# It stands alone


def test_it_is_short_enough_to_be_read():
    text = Path(checker.__file__).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LINES


def test_it_imports_numpy_and_the_standard_library_only():
    tree = ast.parse(Path(checker.__file__).read_text(encoding="utf-8"))
    names = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} - {"numpy"} <= sys.stdlib_module_names


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_the_file_alone_as_a_program(tmp_path, layout):
    program = tmp_path / "checker.py"
    program.write_bytes(Path(checker.__file__).read_bytes())
    data, _, indptr, width = csr(LINE)
    parts = (
        {"X": LINE}
        if layout == "dense"
        else {"data": data, "indices": csr(LINE)[1], "indptr": indptr, "shape": (4, width)}
    )
    np.savez(tmp_path / "data.npz", y=SIDES, **parts)
    certificate = Perceptron().fit(LINE, SIDES).certificate_

    def run(text):
        (tmp_path / "c.json").write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-I", program, "data.npz", "c.json", "all"], cwd=tmp_path, capture_output=True
        )
        return done.returncode, json.loads(done.stdout)

    code, (found,) = run(certificate.to_json())
    assert code == 0
    assert [said.split()[0] for said in found["checked"]] == ["lower", "upper", "separable", "radius"]
    assert run(replace(certificate, lower=2 * certificate.lower).to_json())[0] == 1
    assert run("[]")[0] == 1
    assert run('{"separable": true, "direction": [NaN, 1.0], "radius": 4.123105625617661}')[0] == 1


# Non-finite numbers are no claims


@pytest.mark.parametrize("bad", [NAN, INF, -INF, 10**400, 2**53 + 1, "1", None, True, [1.0]])
def test_what_is_no_float64_is_no_claim(bad):
    claim = {"separable": True, "direction": [1.0, -2.0], "lower": 0.4, "radius": 17.0**0.5}
    assert not check(LINE, SIDES, claim)["failed"]
    for field in ("lower", "radius", "rho", "delta"):
        found = check(LINE, SIDES, {**claim, field: bad})
        assert found["failed"] or (bad is None and field in CLAIMS), (field, found)
    for field in ("direction", "sample_weight"):
        found = check(
            LINE,
            SIDES,
            {**claim, "sample_weight": [1.0] * 4, field: [bad] + [1.0] * (1 if field == "direction" else 3)},
        )
        assert found["failed"]


def test_a_direction_of_nan_separates_nothing():
    claim = Certificate(None, INF, True, Space(1.0), 3**0.5, direction=np.full(3, NAN))
    assert any("direction" in said for said in claim.verify(XOR, PARITY).failed)
    assert any("separable" in said for said in check(XOR, PARITY, claim.as_plain())["failed"])
    kernel = replace(claim, kernel=Kernel("linear"), direction=np.full(5, NAN))
    assert not kernel.verify(XOR, PARITY)


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_data_that_are_not_finite_are_refused(bad):
    X = LINE.copy()
    X[2] = bad
    claim = {"separable": True, "direction": [1.0, -2.0]}
    for data in (X, csr(X)):
        assert check(data, SIDES, claim)["failed"] == ["refused: X is not finite"]
    assert "refused" in check(LINE, SIDES, claim, sample_weight=[1.0, 1.0, 1.0, bad])["failed"][0]
    assert "refused" in check(LINE, np.array([0, 0, 1, bad]), claim)["failed"][0]


@pytest.mark.parametrize("dtype", [object, np.longdouble, complex, "U3"])
def test_other_numbers_are_refused(dtype):
    assert "refused" in check(LINE.astype(dtype), SIDES, {"separable": True, "direction": [1.0, -2.0]})["failed"][0]


@pytest.mark.parametrize(
    "parts",
    [
        ([1.0, 2.0], [0, 0], [0, 2], 2),  # a column twice
        ([1.0, 2.0], [1, 0], [0, 2], 2),  # columns that fall
        ([1.0, 2.0], [0, 2], [0, 2], 2),  # a column that is not there
        ([1.0, 2.0], [-1, 0], [0, 2], 2),
        ([1.0, 2.0], [0, 1], [0, 3], 2),
        ([1.0, 2.0], [0, 1], [1, 2], 2),
        ([1.0, 2.0], [0, 1], [0, 2, 1, 2], 2),
        ([1.0], [0, 1], [0, 2], 2),
    ],
)
def test_csr_that_is_not_in_order_is_refused(parts):
    X = (*(np.array(part) for part in parts[:3]), parts[3])
    y = np.arange(len(parts[2]) - 1)
    assert "refused: " in check(X, y, {"radius": 1.0})["failed"][0]


def test_unknown_fields_are_refused():
    assert "unknown" in check(LINE, SIDES, {"seperable": True})["failed"][0]
    assert check(LINE, SIDES, [1])["failed"]


ONE = np.ones(2)
PLAIN = {"separable": True, "direction": [1.0, -2.0], "lower": 0.4, "radius": 17.0**0.5}
BOTH = {"upper": 2.0, "alpha_index": [1, 2], "alpha": [1.0, 1.0]}
GORDAN = {"separable": False, "alpha_index": [1, 2]}


class Yes(float):
    """A number that says yes to every comparison."""

    __le__ = __ge__ = __eq__ = lambda self, other: True
    __hash__ = float.__hash__


@pytest.mark.parametrize(
    ("X", "y", "claim"),
    [
        (np.ma.masked_array(LINE, [[0], [0], [1], [0]]), SIDES, PLAIN),
        (LINE, SIDES[:, None], PLAIN),
        (LINE, np.array([0, "a", None, 1], dtype=object), PLAIN),
        (LINE, np.array([0, 0, NAN, 1], dtype=object), PLAIN),
        (LINE, np.array([0, 0, 1j, 1j * NAN]), PLAIN),
        ((ONE, np.array([0.0, 0.0]), np.array([0, 1, 2]), 1), [0, 1], {"radius": 2**0.5}),
        ((ONE, np.array([0, 0]), np.array([0, 1, 2]), 2**62), [0, 1], {"radius": 2**0.5}),
        ((ONE, np.array([0, 2**64 - 1], dtype=np.uint64), np.array([0, 1, 2]), 1), [0, 1], {"radius": 2**0.5}),
        ((np.zeros(0), np.zeros(0, int), np.zeros(3, int), -1), [0, 1], {"radius": 1.0}),
        ((ONE, np.array([0, 0])), [0, 1], {"radius": 2**0.5}),
        ([[1.0], [1.0, 2.0]], [0, 1], {"radius": 2**0.5}),
        (LINE, SIDES, {**PLAIN, "n_classes": True}),
        (LINE, SIDES, {**PLAIN, "n_classes": 2.0}),
        (LINE, SIDES, {**PLAIN, "free": 1}),
        (LINE, SIDES, {**PLAIN, "class_pair": [0, False]}),
        (LINE, SIDES, {**PLAIN, "class_pair": [[0], {}]}),
        (LINE, SIDES, {"separable": 1, "direction": [1.0, -2.0]}),
        (LINE, SIDES, {"lower": Yes(9.0), "direction": [1.0, -2.0]}),
        (LINE, SIDES, {"separable": True, "direction": [Yes(NAN)] * 2}),
        (LINE, SIDES, {"separable": True, "direction": {0: 1.0, 1: -2.0}}),
        (LINE, SIDES, {**BOTH, "alpha_index": [True, 2]}),
        (LINE, SIDES, {**BOTH, "alpha_index": [1.0, 2.0]}),
        (LINE, SIDES, {**BOTH, "alpha_index": [2, 2]}),
        (LINE, SIDES, {**BOTH, "alpha_index": [-1, 1]}),
        (LINE, SIDES, {**BOTH, "alpha_index": [10**30, 1]}),
        (LINE, SIDES, {"upper": 0.0, "alpha_index": [], "alpha": []}),
        (LINE, SIDES, {**GORDAN, "alpha_exact": ["-0x1", "0x1"]}),
        (LINE, SIDES, {**GORDAN, "alpha_exact": ["0x-1", "0x1"]}),
        (LINE, SIDES, {**GORDAN, "alpha_exact": ["-512", "0x1"]}),
        (LINE, SIDES, {**GORDAN, "alpha_exact": ["0x0", "0x0"]}),
        (LINE, SIDES, {"separable": False, "alpha_index": [], "alpha_exact": []}),
    ],
)
def test_structure_that_is_no_claim(X, y, claim):
    """Types, shapes and row numbers that stand for something else: never accepted, and never another exception."""
    found = check(X, np.asarray(y), claim)
    assert not found["checked"]
    assert found["failed"] or found["unchecked"]


def test_a_field_that_stands_twice(tmp_path):
    text = '{"separable": false, "separable": true, "direction": [1.0, -2.0], "radius": 4.123105625617661}'
    with pytest.raises(DataError, match="twice"):
        Certificate.from_json(text)
    np.savez(tmp_path / "data.npz", X=LINE, y=SIDES)
    (tmp_path / "c.json").write_text(text, encoding="utf-8")
    command = [sys.executable, "-I", checker.__file__, tmp_path / "data.npz", tmp_path / "c.json"]
    done = subprocess.run(command, capture_output=True)
    assert done.returncode == 1
    assert not done.stdout


# Right to the last bit


@pytest.mark.parametrize("layout", [np.asarray, csr])
@pytest.mark.parametrize("scale", [1.0, 2.0**-1040, 2.0**-560, 2.0**1000])
def test_a_direction_of_any_scale(layout, scale):
    """3 * 0.1 > 0.3 in the exact arithmetic of these floats, by less than a unit in the last place."""
    X, claim = np.array([[0.1, 0.3], [-0.1, -0.3]]), {"rho": 0.0, "separable": True}
    assert verdict(layout(X), [1, 0], {**claim, "direction": [3 * scale, -scale, 0.0]}) is (scale > 2.0**-1050)
    assert verdict(layout(X), [0, 1], {**claim, "direction": [3 * scale, -scale, 0.0]}) is False
    assert verdict(layout(X), [1, 0], {**claim, "direction": [2.9 * scale, -scale, 0.0]}) is False


@pytest.mark.parametrize("size", [1e-320, 1e-300, 1e-160, 1.0, 1e150, 1e300])
def test_data_of_any_scale(size):
    X, y = np.array([[3.0, 1.0], [-3.0, 1.0]]) * size, [1, 0]
    claim = {"rho": 0.0, "direction": [1.0, 1e-3, 0.0], "separable": True}
    assert verdict(X, y, claim) is True
    for lower in (2.9 * size, 3.1 * size):
        assert verdict(X, y, {"rho": 0.0, "direction": [1.0, 0.0, 0.0], "lower": lower}) is (lower < 3 * size)
    multipliers = {"rho": 0.0, "alpha_index": [0, 1], "alpha": [1.0, 1.0]}
    assert verdict(X, y, {**multipliers, "upper": float(X[0, 0])}) is True
    assert verdict(X, y, {**multipliers, "upper": math.nextafter(float(X[0, 0]), 0)}) is False
    assert verdict(X, y, {"rho": 0.0, "radius": float(np.hypot(*X[0]))}) is (size > 1e-310 or None) or size < 1e-310


@given(st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_the_last_bit_of_every_bound(seed):
    """Claims within a unit in the last place of the truth, in spaces and data of all kinds, agree with the meaning."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    sizes = 2.0 ** rng.integers(*[(-3, 4), (-60, 60), (-540, 500), (-1060, -1000)][rng.integers(4)], (n, d))
    X = (rng.integers(-5, 6, (n, d)) if rng.random() < 0.5 else rng.normal(size=(n, d))) * sizes
    y = rng.permutation(np.arange(n) % 2)
    peak = float(np.abs(X).max()) or 1.0
    space = {"rho": float(rng.choice([0.0, 1.0, peak])), "delta": float(rng.choice([0.0, 0.0, peak, 1e-3 * peak]))}
    space |= {"free": bool(rng.random() < 0.3), "weighted": bool(rng.random() < 0.3)}
    space["fixed_length"] = bool(rng.random() < 0.3)
    weight = rng.choice([1.0, 1e-12, 1e12, 3.0], n).tolist()
    a = (rng.normal(size=d + 1) * 2.0 ** rng.integers(-30, 30)).tolist()
    alpha = rng.integers(0, 4, n).astype(float)
    if space["free"]:
        alpha = np.where(y == 1, (y == 0).sum(), (y == 1).sum()).astype(float)
    claim = {**space, "sample_weight": weight, "direction": a, "alpha_index": list(range(n)), "alpha": alpha.tolist()}
    rows = X.tolist()
    for name in ("lower", "upper", "radius"):
        low, high = -1e-300, 1e308  # bisection on the floats for the last one that is true
        for _ in range(45):
            middle = float(np.sqrt(abs(low) * high)) if rng.random() < 0.5 else low / 2 + high / 2
            middle = min(max(middle, low), high)
            true = meaning(rows, y.tolist(), {**claim, name: middle}, name)
            found = verdict(X if rng.random() < 0.5 else csr(X), y, {**claim, name: middle})
            assert found is bool(true), (name, middle, claim, rows, y)
            smaller = bool(true) == (name == "lower") if name != "radius" else middle * middle < 1e-300
            low, high = (middle, high) if smaller else (low, middle)
    assert verdict(X, y, {**claim, "separable": True}) is meaning(
        rows, y.tolist(), {**claim, "separable": True}, "separable"
    )


def test_entries_far_apart_are_all_there():
    """The second entry vanishes beside the first in floats of any scale; on the rows with x = 0 it decides."""
    X, y, claim = np.array([[0.0, 1.0], [-1.0, 0.0]]), [1, 0], {"rho": 0.0}
    assert verdict(X, y, {**claim, "direction": [1e300, 1e-170, 0.0], "separable": True}) is True
    for claimed in ({"separable": True}, {"lower": 0.0}, {"lower": -5e-324}):
        found = verdict(X, y, {**claim, **claimed, "direction": [1e300, -1e-170, 0.0]})
        assert found is (claimed == {"lower": -5e-324})
    multipliers = {**claim, "alpha_index": [0, 1], "alpha": [1e-170, 1e300]}
    rows = np.array([[-1.0, 0.0], [-1.0, 0.0]])
    assert verdict(rows, y, {**multipliers, "upper": 1.0}) is True
    assert verdict(rows, y, {**multipliers, "upper": math.nextafter(1.0, 0.0)}) is False


def test_a_float16_direction_is_what_its_bits_say():
    a = np.array([1.0, 1e-3, -2.0], dtype=np.float16)
    X = np.array([[3.0, 1.0], [1.0, 1.0]])
    length = Fraction(0)
    for v in a.tolist():
        length += Fraction(v) ** 2
    margins = [
        sign * sum(Fraction(v) * w for v, w in zip(map(float, a), row, strict=True))
        for sign, row in ((1, [3, 1, 1]), (-1, [1, 1, 1]))
    ]
    reached = float(min(margins)) / math.sqrt(length)
    certificate = Certificate(reached * (1 - 1e-9), INF, None, Space(), 11**0.5, direction=a)
    assert certificate.verify(X, [1, 0])
    assert not replace(certificate, lower=reached * (1 + 1e-9)).verify(X, [1, 0])


def test_integers_beyond_the_floats_are_exact():
    X, y = np.array([[2**53], [2**53 + 1]]), [0, 1]
    apart = {"direction": [1.0, -float(2**53)], "separable": True}
    assert verdict(X, y, apart) is False  # the first row lies on the plane
    assert verdict(2 * X, y, {"direction": [1.0, -float(2**54)], "weak": [1.0, -float(2**54)]}) is True
    together = {"separable": False, "alpha_index": [0, 1], "alpha": [0.5, 0.5]}
    assert verdict(X, y, together) is None  # rounded to floats the rows are the same
    assert verdict(X, y, {**together, "alpha_exact": ["0x1", "0x1"]}) is False
    assert verdict(np.array([[2**53], [2**53]]), y, together) is True
    unsigned = np.array([[2**64 - 1], [2**64 - 2]], dtype=np.uint64)
    assert verdict(unsigned, y, {"direction": [-1.0, float(2**64)], "weak": [-1.0, float(2**64)]}) is False
    assert verdict(unsigned, [1, 0], {"weak": [1.0, 2 - float(2**64)]}) is False
    assert verdict(unsigned, y, {**together, "alpha_exact": ["0x1", "0x1"]}) is False


def test_underflow_settles_nothing():
    """Products that vanish in floats: of 200 planes through a point, those that have it on the wrong side are found."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        a, x = rng.normal(size=2), rng.normal(size=2)
        x = (x - (x @ a) / (a @ a) * a) * 2.0**-560
        a = a * 2.0**-560
        side = sum(Fraction(float(p)) * Fraction(float(q)) for p, q in zip(x, a, strict=True))
        claim = {"rho": 0.0, "separable": True, "direction": [*a.tolist(), 0.0]}
        assert verdict(np.array([x, -x]), [1, 0], claim) is (side > 0)


def test_an_extension_that_underflows_before_a_small_weight_divides_it():
    """delta^2 is 0 in floats and its neighbour is not; divided by the weight, that would be of the size of the data."""
    X, y = np.array([[1.0], [-1.0]]), [1, 0]
    claim = {"rho": 0.0, "delta": 1e-300, "weighted": True, "sample_weight": [5e-324, 5e-324]}
    for radius in (1.0, 2**0.5, 5**0.5):
        assert verdict(X, y, {**claim, "radius": radius}) is (radius == 1.0)


# Claims one by one


def test_multipliers_as_the_slacks_of_a_vector():
    X, y = np.array([[0.0], [1.0], [0.8], [2.0]]), np.array([0, 0, 1, 1])
    model = MaxMargin(1.0, fit_intercept=True, intercept_scaling=1.0).fit(X, y)
    certificate = model.certificate_
    claim = certificate.as_plain()
    del claim["alpha"], claim["alpha_index"]
    a = [model.coef_[0, 0], model.intercept_[0]]
    claim["slack_vector"] = [float(v) for v in a]
    found = check(X, y, claim)
    assert not found["unchecked"] + found["failed"], found
    assert check(X, y, {**claim, "upper": 0.999 * claim["upper"]})["failed"]
    assert check(X, y, {**claim, "slack_vector": [1e300, -1e300]})["failed"]


def test_weak_separation():
    X, y = [[0, 0], [-2, 4], [0, 0], [-3, 9], [2, 4], [-3, 9]], [1, 1, 0, 1, 0, 0]
    rows = np.array(X, dtype=float)
    assert verdict(rows, y, {"weak": [-3.0, -1.0, 0.0]}) is True
    assert verdict(rows, y, {"weak": [0.0, 0.0, 0.0]}) is False
    assert verdict(rows, y, {"weak": [-3.0, -1.0000001, 0.0]}) is False
    assert verdict(rows, y, {"weak": [3.0, 1.0, 0.0]}) is False


def test_exact_weights_that_no_float_holds():
    """Row 2 belongs with a weight of 5e-324 / 8."""
    X, y = [[0, -1, -5e-324], [-1, -1, 0], [0, 1, 1], [-1, -2, 1], [-2, 1, -2]], [0, 1, 0, 0, 0]
    answer = separability(X, y)
    assert answer.separable is False
    assert len(answer.infeasibility_proof.rows) == 5
    assert answer.certificate.verify(X, y)
    text = answer.certificate.to_json(X, y)
    assert verdict(np.array(X), y, {k: v for k, v in json.loads(text).items() if k not in ("upper", "radius")}) is True
    rounded = {k: v for k, v in answer.certificate.as_plain().items() if k not in ("upper", "radius")}
    assert verdict(np.array(X), y, rounded) is None


def test_rows_that_take_no_part_are_told():
    """A certificate whose own weights hide half of XOR."""
    X, y = np.array(XOR), np.array(PARITY)
    weight = np.array([1.0, 0.0, 1.0, 0.0])
    certificate = MaxMargin(INF).fit(X, y, sample_weight=weight).certificate_
    said = certificate.verify(X, y)
    assert said
    assert "2 of 4 rows have weight 0" in str(said)
    assert check(X, y, certificate.as_plain(), all_rows=True)["failed"]
    assert not certificate.verify(X, y, sample_weight=np.ones(4))


def test_too_much_is_not_checkable(monkeypatch):
    monkeypatch.setattr(checker, "MOST_EXACT", 10)
    X = np.tile([[0.1, 0.3], [-0.1, -0.3]], (10, 1))
    claim = {"rho": 0.0, "separable": True, "direction": [3.0, -1.0, 0.0]}
    assert verdict(X, np.arange(20) % 2 == 0, claim) is None
    assert verdict(X, np.arange(20) % 2 == 1, claim) is not True


# Own certificates


def test_own_certificates_of_hard_cases_hold():
    X, y = [[1.0000000000000002], [1.0000000000000004]], [1, 0]
    answer = separability(X, y)
    assert answer.separable
    assert answer.certificate.verify(X, y)
    X, y = [[-2.0], [-3.0]], [0, 1]
    certificate = MaxMargin(1e12, fit_intercept=False).fit(X, y, sample_weight=[1e30, 1]).certificate_
    assert certificate.verify(X, y)
    X, y = [[-5.0], [4], [-3], [-1], [2]], [1, 1, 0, 0, 0]
    said = KernelMaxMargin(C=100, kernel="linear").fit(X, y).certificate_.verify(X, y)
    assert said
    assert "floating point" in str(said)


def test_subnormal_rows_of_three_classes():
    """Rows 0 and 2 are the same and of different classes."""
    X = [[-2.0, -1e-323], [-2, 1e-323], [-2, -1e-323], [0, 1e-323]]
    answer = separability(X, [0, 0, 2, 1])
    assert answer.separable is not True
    claim = replace(answer.certificate, separable=True, direction=np.ones(9), alpha=None, alpha_index=None, upper=INF)
    assert not claim.verify(X, [0, 0, 2, 1])


# JSON, and the command


def test_json_keeps_every_bit():
    X, y = np.array([[0.1, 7.0], [1e-3, 2.0], [3.0, 1 / 3]]), ["a", "b", "b"]
    certificate = MaxMargin(2.0).fit(X, y, sample_weight=[1.0, 0.1, 2.0]).certificate_
    again = Certificate.from_json(certificate.to_json())
    assert again.as_plain() == certificate.as_plain()
    assert again.verify(X, y)
    pairs = Perceptron(multi_class="ovo").fit([[0.0], [1], [2], [3]], [0, 1, 1, 2]).certificates_[0]
    assert Certificate.from_json(pairs.to_json()).class_pair == (0, 1)
    for text in ('{"lowest": 1}', "[]"):
        with pytest.raises(DataError):
            Certificate.from_json(text)
    with pytest.raises(DataError, match="kernel"):
        replace(certificate, kernel=Kernel("rbf")).to_json()
    with pytest.raises(DataError, match="JSON"):
        replace(certificate, lower=NAN).to_json()


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
def test_a_process_of_its_own(layout):
    X, y = layout(np.array([[0.0, 1.0], [1.0, 0.0], [3.0, 0.0], [4.0, 2.0]])), np.array(["a", "b", "c", "c"])
    for certificate in Perceptron(multi_class="ovo").fit(X, y).certificates_:
        said = verify_apart(certificate, X, y)
        assert said
        assert "take no part" in said.notes[0]
    assert not verify_apart(replace(certificate, lower=certificate.lower + 1), X, y)


def test_forged_models_do_not_pass(tmp_path):
    table, path = tmp_path / "line.csv", tmp_path / "model.sx"
    table.write_text("x,y,label\n" + "".join(f"{i},{i % 3},{'b' if i > 4 else 'a'}\n" for i in range(10)))
    rows = np.array([[i, i % 3] for i in range(10)], dtype=float)
    labels = np.where(np.arange(10) > 4, "b", "a")

    def run(change, *options):
        model = Perceptron().fit(rows, labels)
        change(model)
        save(model, path)
        return CliRunner().invoke(app, ["verify", str(path), str(table), "-t", "label", *options]).exit_code

    def negate(model):
        model.coef_, model.intercept_ = -model.coef_, -model.intercept_

    assert run(lambda model: None) == 0
    assert run(lambda model: None, "--independent") == 0
    assert run(negate) == 1
    assert run(negate, "--independent") == 1
    assert run(lambda model: setattr(model, "certificates_", [])) not in (0, None)


def test_a_kernels_direction_has_a_bias_only_where_its_space_has():
    """With one, rows far from the origin would be separated by a plane through it."""
    X, y = [[1.0], [2.0]], [0, 1]
    model = KernelMaxMargin(1.0, kernel="linear", fit_intercept=False).fit(X, y)
    claim = replace(model.certificate_, lower=None, upper=INF, separable=True, direction=np.array([-2.0, 2.0, -3.0]))
    assert not claim.verify(X, y)
    assert any("bias" in said for said in claim.verify(X, y).failed)
