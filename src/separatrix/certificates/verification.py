"""Every claim of a certificate, from the data alone: what `separatrix.certificates.checker` is given, and kernels.

The values of a kernel are not rational in general, so claims in its space are checked in floating point, with bounds on
rounding errors; the outcome says so.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from separatrix.cancellation import Clock, OutOfTimeError
from separatrix.certificates import checker
from separatrix.certificates.certificate import Certificate, Verification
from separatrix.certificates.verification_in_floats import (
    SEARCH,
    TOO_LARGE,
    TOO_SMALL,
    verify_in_floats,
    weights_that_vanish,
)
from separatrix.data.base import RowSource
from separatrix.data.memory import as_rows
from separatrix.data.out_of_core import row_source_of
from separatrix.data.validate import check_labels, check_numbers, check_structure
from separatrix.errors import DataError
from separatrix.passes.device_patterns import passed
from separatrix.passes.kernel_patterns import KernelPatterns
from separatrix.passes.kesler_patterns import KeslerPatterns
from separatrix.passes.plain_patterns import Patterns
from separatrix.space import Vector, signs

IN_FLOATS = "Claims in a kernel's space are checked in floating point, with bounds on rounding errors, not exactly"
OTHER_WEIGHTS = (
    "the weights given are not those of the fit, which are sample_weight times class_weight: verify(X, y) knows its own"
)
VECTORS = ("direction", "alpha", "sample_weight", "slack_vector")
FLOAT_MAX = sys.float_info.max
OUT_OF_CORE = "Claims about out-of-core rows are checked in floating point, with bounds on rounding errors"


def verify(claim: Certificate, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None) -> Verification:
    """The outcome of `Certificate.verify`."""
    wrong = malformed(claim)
    if wrong:
        return Verification((), (f"refused: {wrong}",), ())
    home = row_source_of(X, y, sample_weight)
    if home is not None:
        return _verify_out_of_core(claim, home)
    if y is None:
        raise DataError("The labels are missing: call verify(X, y).")
    X, y, weight, kept = _data(claim, X, y, sample_weight)
    given = None if sample_weight is None else _weights(sample_weight, len(y))
    if claim.kernel is not None:
        found = _verify_kernel(claim, X[kept], y[kept], weight, kept)
        left = len(y) - len(kept)
        note = (f"{left} of {len(y)} rows have weight 0 or other labels and take no part",) if left else ()
        found = replace(found, notes=found.notes + note)
    else:
        found = _outcome(checker.check(_plain_rows(X), y, {**claim.as_plain(), **_exact(claim, X, y, kept)}, given))
    if found or given is None or not _differ(claim, given):
        return found
    return replace(found, notes=(*found.notes, OTHER_WEIGHTS))


def _differ(claim: Certificate, weight: Vector) -> bool:
    """Are these other weights than those of the fit? Of most claims it only matters which are 0."""
    own = np.ones(len(weight)) if claim.sample_weight is None else np.asarray(claim.sample_weight)
    if claim.space.weighted:
        return not np.array_equal(own, weight)
    return not np.array_equal(own > 0, weight > 0)


def _outcome(found: dict[str, list[str]]) -> Verification:
    return Verification(**{name: tuple(said) for name, said in found.items()})


def verify_apart(claim: Certificate, X: Any, y: ArrayLike) -> Verification:
    """The same by a process of its own that runs checker.py on two files and has nothing else of this library.

    Labels are written as their numbers in order, so that they may be of any type.
    """
    X, y, _, _ = _data(claim, X, y, None)
    classes, codes = np.unique(y, return_inverse=True)
    named = None if claim.class_pair is None else tuple(np.searchsorted(classes, list(claim.class_pair)).tolist())
    rows = _plain_rows(X)
    arrays = {"X": rows} if rows is X else {"data": rows[0], "indices": rows[1], "indptr": rows[2], "shape": X.shape}
    with TemporaryDirectory() as folder:
        data, text = Path(folder, "data.npz"), Path(folder, "certificate.json")
        np.savez(data, y=codes, **arrays)
        text.write_text(replace(claim, class_pair=named).to_json(X, codes), encoding="utf-8")
        command = [sys.executable, "-I", checker.__file__, str(data), str(text)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout:
        raise DataError(f"The checker ended with an error: {done.stderr[-500:]}")
    return _outcome(json.loads(done.stdout)[0])


def exact_weights(claim: Certificate, X: Any, y: ArrayLike) -> dict[str, list[str]]:
    """The field ``alpha_exact`` of the plain form, where the claim needs one and it is found."""
    X, y, _, kept = _data(claim, X, y, None)
    return _exact(claim, X, y, kept)


def _data(
    claim: Certificate, X: Any, y: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Any, np.ndarray, Vector | None, np.ndarray]:
    """X as a matrix of numbers, y, the weights, and the numbers of the rows that take part."""
    check_structure(X)
    check_numbers(X)
    y = check_labels(y)
    try:
        if hasattr(X, "tocsr"):  # repeated places are added up, which small integers would not hold
            X = (X.astype(np.float64) if X.dtype.kind in "iub" else X).tocsr()
        else:
            X = np.asarray(X)
            wide = X.dtype.kind == "f" and X.dtype.itemsize > 8
            X = X.astype(np.float64) if X.dtype.kind == "O" or wide else X
    except (TypeError, ValueError) as error:
        raise DataError(f"X is no matrix of numbers: {error}.") from error
    if X.dtype.kind not in "fiub":
        raise DataError(f"X holds {X.dtype.name}, not real numbers.")
    if X.ndim != 2 or X.shape[0] != len(y):
        raise DataError(f"X has shape {X.shape} and y has {len(y)} labels: they do not belong together.")
    weight = _weights(claim.sample_weight if sample_weight is None else sample_weight, len(y))
    vectors = claim.n_classes if claim.n_classes > 2 else 1
    _check_signs(claim, X.shape[1])
    if claim.direction is not None and claim.kernel is None and np.size(claim.direction) != vectors * (X.shape[1] + 1):
        about = np.size(claim.direction) // vectors - 1
        raise DataError(f"The certificate is about {about} features, X has {X.shape[1]}.")
    takes_part = np.ones(len(y), dtype=bool) if weight is None else weight > 0
    if claim.class_pair is not None:
        takes_part &= (y == claim.class_pair[0]) | (y == claim.class_pair[1])
    kept = np.flatnonzero(takes_part)
    if claim.n_classes == 2:
        signs(y[kept])  # an error, where there are not two classes
    elif len(classes := np.unique(y[kept])) != claim.n_classes:
        raise DataError(f"The certificate is about {claim.n_classes} classes, y has {len(classes)}.")
    return X, y, None if weight is None else weight[kept], kept


def _check_signs(claim: Certificate, columns: int) -> None:
    if claim.space.signs and len(claim.space.signs) != columns:
        raise DataError(f"The certificate is about {len(claim.space.signs)} features, X has {columns}.")


def _weights(given: Any, n: int) -> Vector | None:
    if given is None:
        return None
    if isinstance(given, np.ma.MaskedArray) or np.asarray(given).dtype.kind not in "fiub":
        raise DataError("The weights have to be real numbers, and none of them masked.")
    weight = np.asarray(given, dtype=np.float64)
    if weight.shape != (n,):
        raise DataError(f"There are {n} rows and {weight.size} weights: this is not the data of the certificate.")
    if not np.all((weight >= 0) & (weight < np.inf)):
        raise DataError("The weights have to be finite and not negative.")
    return weight


def _is_number(value: Any) -> bool:
    real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    return real and abs(value) <= FLOAT_MAX


def malformed(claim: Certificate) -> str:
    """Return why this is no claim, "" if it is one: numbers that are finite, vectors of them, and a possible space."""
    return _wrong_numbers(claim) or _wrong_vectors(claim) or _wrong_space(claim) or _wrong_kernel(claim)


def _wrong_numbers(claim: Certificate) -> str:
    numbers: dict[str, Any] = {"lower": claim.lower, "radius": claim.radius, **claim.space._asdict()}
    numbers |= {"upper": None if claim.upper == np.inf else claim.upper}
    if claim.kernel is not None:
        numbers |= {name: getattr(claim.kernel, name, "none") for name in ("gamma", "degree", "coef0")}
    switches = {name: numbers.pop(name) for name in ("free", "weighted", "fixed_length", "l1")}
    del numbers["signs"]
    switches["separable"] = claim.separable
    for name, value in numbers.items():
        if not _is_number(value) and (value is not None or name in claim.space._fields):
            return f"{name} is no finite number"
    for name, switch in switches.items():
        if not isinstance(switch, (bool, np.bool_)) and (name != "separable" or switch is not None):
            return f"{name} is neither true nor false"
    return ""


def _wrong_vectors(claim: Certificate) -> str:
    for name, kinds in (*((v, "fiu") for v in VECTORS), ("alpha_index", "iu")):
        vector = getattr(claim, name)
        plain = isinstance(vector, (np.ndarray, list, tuple)) and not isinstance(vector, np.ma.MaskedArray)
        array = np.asarray(vector) if plain else np.zeros(())
        fits = array.ndim == 1 and array.dtype.kind in kinds and array.dtype.itemsize <= 8
        if vector is not None and not (fits and np.isfinite(array).all()):
            return f"{name} is no vector of finite numbers"
    return ""


def _wrong_space(claim: Certificate) -> str:
    space, pair = claim.space, claim.class_pair
    if not (isinstance(space.signs, str) and {*space.signs} <= {*"+-0"}):
        return "signs are not made of + - 0"
    if space.signs and (claim.n_classes > 2 or claim.kernel is not None):
        return "signs are of two classes, without a kernel"
    if space.l1 and (claim.n_classes > 2 or claim.kernel is not None or space.signs):
        return "an l1 penalty has two classes, no kernel and no signs"
    if min(space.rho, space.delta, space.hinge) < 0 or (space.hinge and space.delta):
        return "rho, delta or hinge is negative, or slack is both plain and squared"
    if type(claim.n_classes) is not int or claim.n_classes < 2:
        return "the number of classes is none"
    if (space.free or claim.kernel is not None) and claim.n_classes > 2:
        return "an unpenalized intercept and kernels are of two classes"
    if pair is not None and not (isinstance(pair, (tuple, list)) and len(pair) == 2):
        return "between does not name two classes"
    return ""


def _wrong_kernel(claim: Certificate) -> str:
    kernel = claim.kernel
    if kernel is not None and not (callable(kernel.name) or isinstance(kernel.name, str)):
        return "the kernel has no name"
    return "gamma is negative" if kernel is not None and kernel.name == "rbf" and kernel.gamma < 0 else ""


def _plain_rows(X: Any) -> Any:
    if not hasattr(X, "indptr"):
        return X
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X.data, X.indices, X.indptr, X.shape[1]


def _exact(claim: Certificate, X: Any, y: np.ndarray, kept: np.ndarray) -> dict[str, list[str]]:
    """Integers in the ratio of the exact multipliers that combine the listed patterns to 0.

    Nothing of it is trusted: the checker multiplies and adds them up.
    """
    if claim.separable is not False or claim.alpha_index is None:
        return {}
    rows = X[kept].astype(np.float64)
    patterns: Patterns
    if claim.n_classes > 2:
        codes = np.unique(y[kept], return_inverse=True)[1]
        patterns = KeslerPatterns(rows, codes, claim.n_classes, claim.space._replace(free=False))
    else:
        patterns = Patterns(rows, signs(y[kept]), claim.space)
    numbers, index = patterns.numbering(kept), np.asarray(claim.alpha_index)
    if index.ndim != 1 or not np.all(np.isin(index, numbers)):
        return {}
    places, clock = np.searchsorted(numbers, index), Clock(SEARCH)
    alpha = np.asarray(claim.alpha, dtype=np.float64)  # where there is none, NaN
    try:
        weight = weights_that_vanish(patterns, places, alpha, clock)
    except OutOfTimeError:
        return {}
    return {} if weight is None else {"alpha_exact": [hex(w) for w in weight]}


def _verify_kernel(claim: Certificate, X: Any, y: np.ndarray, weight: Vector | None, kept: np.ndarray) -> Verification:
    """The claims of a kernel's certificate, of the rows that take part."""
    assert claim.kernel is not None
    if claim.direction is not None and len(claim.direction) != len(kept) + 1:
        raise DataError(f"The certificate is about {len(claim.direction) - 1} rows, here {len(kept)} take part.")
    if claim.direction is not None and claim.direction[-1] != 0 and not claim.space.free:
        return Verification((), ("refused: the direction has a bias, which its space has not",), ())
    values = X.data if hasattr(X, "indptr") else X
    if not np.all(np.isfinite(values)):
        return Verification((), ("refused: X is not finite",), ())
    if not float(np.abs(values).max(initial=0)) < TOO_LARGE:
        return Verification((), (), (f"every claim (X holds numbers above {TOO_LARGE:g})",), (IN_FLOATS,))
    if claim.kernel.name == "precomputed" and X.shape[1] <= kept.max():
        raise DataError(f"A precomputed kernel has a column for every row; X has {X.shape[1]}, and row {kept.max()}.")
    price = weight if claim.space.weighted else None
    patterns = KernelPatterns(as_rows(X), signs(y), claim.space, claim.kernel, price, kept)
    return verify_in_floats(claim, patterns, kept, IN_FLOATS)


def _verify_out_of_core(claim: Certificate, home: RowSource) -> Verification:
    """The claims about out-of-core rows, by passes over them."""
    if claim.kernel is not None or claim.class_pair is not None or len(home.classes) != claim.n_classes:
        raise DataError(
            f"The certificate is about {claim.n_classes} classes, the rows have {len(home.classes)} classes."
        )
    if claim.sample_weight is not None:
        raise DataError("The row source contains the weights: verify(X) without sample_weight.")
    vectors = claim.n_classes if claim.n_classes > 2 else 1
    _check_signs(claim, home.width)
    for vector in (claim.direction, claim.slack_vector):
        if vector is not None and np.size(vector) != vectors * (home.width + 1):
            about = np.size(vector) // vectors - 1
            raise DataError(f"The certificate is about {about} features, the rows have {home.width}.")
    patterns = passed(home, 1 if claim.n_classes == 2 else None, claim.space)
    sound = claim.space.hinge == 0
    if sound and claim.space.delta:
        ranges = _weight_ranges(home)
        sound = all(claim.space.weighted and TOO_SMALL < low and high < TOO_LARGE for low, high in ranges)
    return verify_in_floats(claim, patterns, None, OUT_OF_CORE, sound)


def _weight_ranges(home: RowSource) -> Iterator[tuple[float, float]]:
    """Of each block, if rows have weights."""
    if home.take(np.zeros(1, dtype=np.int64)).weight is None:
        return
    for block in home.blocks():
        weight: Any = block.weight
        xp = getattr(block, "xp", np)
        yield float(xp.min(weight)), float(xp.max(weight))
