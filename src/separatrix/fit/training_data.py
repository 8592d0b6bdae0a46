"""The data of a fit: checked rows, the numbers of their classes, and their weights."""

import hashlib
import math
from collections.abc import Iterator
from dataclasses import KW_ONLY
from math import isfinite
from typing import Annotated, Any, NamedTuple

import numpy as np
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, validate_data

from separatrix.data.access import CSR, Dense
from separatrix.data.base import RowSource
from separatrix.data.device import stays_there
from separatrix.data.memory import MemoryRows, as_rows, take_rows
from separatrix.data.out_of_core import is_dask, row_source_of
from separatrix.data.validate import check_numbers, check_structure, is_plain
from separatrix.errors import DataError, UnavailableError
from separatrix.fit.declare import estimator, one_of
from separatrix.fit.prediction import DTYPES, LinearPredictor
from separatrix.fit.sklearn_api import check_sample_weight
from separatrix.fit.watch import threads_of_passes
from separatrix.passes.plain_patterns import squares_of
from separatrix.passes.preparation import weighted
from separatrix.space import Vector

TABLE_SPAN = 1 << 16  # integers between the smallest and the largest label up to which a table finds their numbers
EXACT_IN_FLOAT32 = 2.0**24  # integers up to which floats of either type are exact
SUSPICIOUS = (
    20  # labels; of more, as many classes as half of them may be numbers to predict: scikit-learn looks at them
)
A_FEW = 1000  # labels, among which a third class shows as a rule
LABELS_AT_A_TIME = 1 << 16  # labels that are looked up at a time


class Data(NamedTuple):
    """Checked data, without the rows of weight 0. Of out-of-core rows only home, classes and size are known."""

    rows: Any  # what compiled code reads, or a row source
    codes: Any  # number of the class of each row
    classes: np.ndarray
    weight: Any
    kept: Any  # row numbers in the user's data
    size: int  # rows in the user's data
    width: int  # features
    given_weight: Vector | None
    squares: Any = None  # |x|^2 of each row
    threads: int = 1  # that a pass over them may take
    at_once: int = 1  # problems that are at work at a time and share a cache, if these are the rows of a pair
    kernel: Any = None  # of the space of all problems

    @property
    def here(self) -> bool:
        """Do the rows live in this process?"""
        return isinstance(self.rows, (Dense, CSR))

    @property
    def planes(self) -> int:
        """Number of hyperplanes if each class has its own; two classes share one."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    def take(self, index: np.ndarray) -> "Data":
        """The same with some of the rows."""
        return self._replace(
            rows=take_rows(self.rows, index),
            codes=self.codes[index],
            weight=self.weight[index],
            kept=self.kept[index],
            squares=self.squares[index],
        )

    def pair(self, i: int, j: int, rows: np.ndarray | None = None, at_once: int = 1) -> "Data":
        """The rows of two classes, whose numbers may be known."""
        part = self.take(np.flatnonzero((self.codes == i) | (self.codes == j)) if rows is None else rows)
        codes = (part.codes == j).astype(np.int64)
        # each pair has its thread
        return part._replace(codes=codes, classes=self.classes[[i, j]], threads=1, at_once=at_once)


class CheckedData(LinearPredictor):
    """Base of the estimators: the data of a fit, checked."""

    _accepts_row_sources = False  # whether a fit needs no more than passes

    def _check_training_data(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True, classes: Any = None
    ) -> Data:
        if is_dask(X) and not self._accepts_row_sources:
            raise self._needs_memory()
        home = None if stays_there(X) and not self._accepts_row_sources else row_source_of(X, y, sample_weight)
        if home is not None:
            return self._check_home(home)
        usual = is_plain(X)
        if not (usual and type(X) is np.ndarray):  # in which these two find nothing
            check_structure(X)  # before anything reads it
            check_numbers(X)
        plain = reset and usual and is_plain_vector(y, X.shape[0])
        if plain:
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
        else:  # whether values are finite is asked with their squares, which are needed anyway: one pass for both
            X, y = validate_data(
                self, X, y, accept_sparse="csr", dtype=DTYPES, order="C", reset=reset, ensure_all_finite=False
            )
        rows = MemoryRows(as_rows(X, checked=plain))
        rows.n_jobs = threads = threads_of_passes(getattr(self, "n_jobs", None), rows.stored)
        squares = squares_of(rows)
        if not isfinite(squares.max()):
            assert_all_finite(X, input_name="X", estimator_name=type(self).__name__)
        found, codes = classes_and_codes(y, plain)
        given = None
        size, weight, kept = len(y), np.ones(len(y)), np.arange(len(y))
        if sample_weight is not None:
            given = weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            if weight.max() > np.sqrt(np.finfo(np.float64).max) / len(weight):
                raise DataError(f"A sample weight of {weight.max():g} overflows float64 in squared sums. Scale them.")
            kept = np.flatnonzero(weight > 0)
            if len(kept) < len(y):
                rows, squares, y, weight = rows.take(kept), squares[kept], y[kept], weight[kept]
                found, codes = classes_and_codes(y, plain)
        if classes is None:
            classes = found
            if len(classes) < 2:
                raise self._one_class(classes)
        else:
            codes = codes_among(classes, y)
        data = Data(rows.storage, codes, classes, weight, kept, size, X.shape[1], given, squares, threads)
        return self._weighted(data, classes is not found)

    def _weighted(self, data: Data, block: bool) -> Data:
        """The data with weights times the factors of their classes, if the estimator has any. ``block``: of more."""
        return data

    def _check_home(self, home: RowSource) -> Data:
        if not self._accepts_row_sources:
            raise self._needs_memory()
        if len(home.classes) < 2:
            raise self._one_class(home.classes)
        self.n_features_in_ = home.width
        self.__dict__.pop("feature_names_in_", None)
        if home.names is not None:
            self.feature_names_in_ = np.array(home.names, dtype=object)
        return self._weighted(Data(home, None, home.classes, None, None, home.n, home.width, None), False)

    def _needs_memory(self) -> UnavailableError:
        return UnavailableError(
            f"{type(self).__name__} visits rows in the memory of this process. MaxMargin, LeastSquares, HoKashyap, the "
            "batch estimators, separability and predict take out-of-core rows."
        )

    def _one_class(self, classes: np.ndarray) -> DataError:
        return DataError(
            f"{type(self).__name__} needs rows of at least 2 classes; these data have 1 class: all rows that "
            f"take part have the label {classes.tolist()[0]!r}."
        )


@estimator
class ClassWeightMixin(CheckedData):
    """The parameter ``class_weight`` of a separator.

    Parameters
    ----------
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the rows, by class; "balanced": n / (classes * rows of the class). They multiply
        ``sample_weight``.
    """

    _: KW_ONLY
    class_weight: Annotated[dict | str | None, one_of("balanced")] = None

    def _weighted(self, data: Data, block: bool) -> Data:
        if self.class_weight is None:
            return data
        if block and isinstance(self.class_weight, str):
            raise UnavailableError(
                f"class_weight={self.class_weight!r} counts the rows of all blocks, and partial_fit sees one. Give the "
                "factors as a dict, for example by sklearn.utils.compute_class_weight."
            )
        return weighted_by_class(data, self.class_weight)


def weighted_by_class(data: "Data", class_weight: Any) -> "Data":
    """Return the data with weights times the factors of their classes."""
    if not data.here:
        return data._replace(rows=weighted(data.rows, class_weight))
    factors = compute_class_weight(class_weight, classes=data.classes, y=data.classes[data.codes])
    if not np.all((factors > 0) & np.isfinite(factors)):
        raise ValueError(f"class_weight={class_weight!r} must give every class a positive, finite factor.")
    weight = data.weight * factors[data.codes]
    given_weight = np.zeros(data.size)
    given_weight[data.kept] = weight
    return data._replace(weight=weight, given_weight=given_weight)


def is_plain_vector(y: Any, n: int) -> bool:
    """Are these n labels of which scikit-learn's checks would have nothing to say?"""
    return type(y) is np.ndarray and y.shape == (n,) and (y.dtype.kind in "biu" or _are_whole(y))


def _are_whole(y: np.ndarray) -> bool:
    """Are these floats integers near each other? Neither nan nor infinity is."""
    if y.dtype.char not in "fd" or not len(y):
        return False
    low, high = math.inf, -math.inf
    for piece in _pieces(y):
        low, high = min(low, float(piece.min())), max(high, float(piece.max()))
        if not (high - low < TABLE_SPAN and abs(low) < EXACT_IN_FLOAT32 and (np.trunc(piece) == piece).all()):
            return False
    return True


def _pieces(y: np.ndarray) -> Iterator[np.ndarray]:
    """All labels, as many at a time as fit into the cache."""
    return (y[first : first + LABELS_AT_A_TIME] for first in range(0, len(y), LABELS_AT_A_TIME))


def classes_and_codes(y: np.ndarray, plain: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The classes in order, and the number of the class of each row. What holds no classes is refused.

    ``plain``: whether `is_plain_vector` has been asked and said so.
    """
    if len(y) and (plain or y.dtype.kind in "iub" or _are_whole(y)):
        low, high = int(y.min()), int(y.max())
        if high - low < TABLE_SPAN and high < 2**63:
            classes, codes = _of_two(y, low, high) or _by_table(
                y.view(np.uint8) if y.dtype.kind == "b" else y, low, high, y.dtype
            )
            if len(y) > SUSPICIOUS and 2 * len(classes) >= len(y):
                check_classification_targets(y)
            return classes, codes
    check_classification_targets(y)
    classes = np.unique(y)
    return classes, np.searchsorted(classes, y)  # return_inverse would sort all labels


def _of_two(y: np.ndarray, low: int, high: int) -> tuple[np.ndarray, np.ndarray] | None:
    """The same where all labels are one of these two, the smallest and the largest, and these differ."""
    if len(y) > A_FEW and _of_two(y[:A_FEW], low, high) is None:
        return None
    upper = y == high
    if low == high or np.count_nonzero(upper) + np.count_nonzero(y == low) < len(y):
        return None
    return np.array([low, high], dtype=y.dtype), upper.astype(np.int64)


def _by_table(y: np.ndarray, low: int, high: int, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """The same for integers between two that are near each other, a piece at a time."""
    occurs, codes = np.zeros(high - low + 1, dtype=bool), np.empty(len(y), dtype=np.int64)
    pieces = [slice(first, first + LABELS_AT_A_TIME) for first in range(0, len(y), LABELS_AT_A_TIME)]
    for piece in pieces:
        codes[piece] = place = y[piece].astype(np.int64) - low
        occurs[place] = True
    classes = (occurs.nonzero()[0] + low).astype(dtype)
    if len(classes) < len(occurs):
        number = occurs.cumsum() - 1
        for piece in pieces:
            codes[piece] = number[codes[piece]]
    return classes, codes


def codes_among(classes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The numbers of labels that have to be among given classes."""
    try:
        codes: Any = np.searchsorted(classes, y)
    except TypeError as error:
        raise DataError(f"y holds labels of another type than the classes {classes!r}.") from error
    known = codes < len(classes)
    known[known] = classes[codes[known]] == y[known]
    if not np.all(known):
        raise DataError(f"y holds the label {y[~known][0]!r}, which is not among the classes {classes!r}.")
    return codes


def fingerprint(data: Data) -> str:
    """Tells whether two fits saw the same data."""
    digest = hashlib.blake2b(digest_size=16)
    for array in (*(part for part in data.rows if isinstance(part, np.ndarray)), data.codes, data.weight):
        digest.update(repr((array.dtype, array.shape)).encode())
        digest.update(np.ascontiguousarray(array).data)
    digest.update(repr(data.classes.tolist()).encode())
    return digest.hexdigest()
