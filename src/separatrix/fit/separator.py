"""What all fits share: checked data, the problems that they make, a fit from its beginning to its end, and margins."""

import hashlib
import warnings
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import assert_all_finite, validate_data

from separatrix.cancellation import limited
from separatrix.certificates.certificate import Certificate
from separatrix.certificates.certify import joint_certificate, measured_multiple
from separatrix.data.access import CSR, Dense
from separatrix.data.base import RowSource
from separatrix.data.device import DeviceRows, beside, stays_there
from separatrix.data.memory import MemoryRows, as_rows, take_rows
from separatrix.data.out_of_core import is_dask, row_source_of
from separatrix.data.validate import check_numbers, check_structure, is_plain
from separatrix.errors import DataError, UnavailableError
from separatrix.fit.checkpointed import checkpointed
from separatrix.fit.labels import classes_and_codes, codes_among, is_plain_vector
from separatrix.fit.one_vs_one import fit_pairs, members_of
from separatrix.fit.prediction import DTYPES, LinearPredictor
from separatrix.fit.sklearn_api import check_sample_weight
from separatrix.fit.watch import Watch, threads_of_passes
from separatrix.passes.binary_problems import binary_labels
from separatrix.passes.device_patterns import passed
from separatrix.passes.kesler_patterns import KeslerPatterns
from separatrix.passes.patterns import TINY
from separatrix.passes.plain_patterns import Patterns, squares_of
from separatrix.space import Space, Vector, norm, per_length


class Data(NamedTuple):
    """Checked data, without the rows of weight 0. Of rows that live elsewhere only home, classes and size are known."""

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

    def pair(self, i: int, j: int, rows: np.ndarray | None = None) -> "Data":
        """The rows of two classes, whose numbers may be known."""
        part = self.take(np.flatnonzero((self.codes == i) | (self.codes == j)) if rows is None else rows)
        codes = (part.codes == j).astype(np.int64)
        return part._replace(codes=codes, classes=self.classes[[i, j]], threads=1)  # each pair has its thread


class LinearSeparator(LinearPredictor):
    """Base of the estimators: what a fit does, whatever the algorithm.

    A subclass says in `_fit_data` what it does with checked data; with a watch that is stopped it only sets up.
    """

    fit_intercept: Any
    intercept_scaling: float
    multi_class: str
    _takes_homes = False  # whether a fit needs no more than passes
    _leaves_columns_out = False  # whether it is made in the columns that occur, where these are few
    _predicting: tuple[str, ...] = ("coef_", "intercept_")  # the attributes that scores are computed from

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _space(self) -> Space:
        return Space(float(self.intercept_scaling) if self.fit_intercept else 0.0, float(getattr(self, "delta", 0.0)))

    def _mode(self, classes: np.ndarray) -> str:
        """How several classes are told apart."""
        return self.multi_class if len(classes) > 2 else "ovr"

    # A fit from its beginning to its end.

    def _fit(self, X: Any, y: Any, sample_weight: Any, **start: Any) -> Any:
        with limited(getattr(self, "max_time", None)):
            watch = Watch(self, X, y, sample_weight)
            data = self._check_training_data(X, y, sample_weight)
            if getattr(self, "checkpoint", None) is None:
                self._fit_checked(data, watch, start)
            else:
                with checkpointed(self, data, watch, start) as journaled:
                    self._fit_checked(journaled, watch, start)
            watch.end()
        if isinstance(data.rows, DeviceRows) and stays_there(X):  # as scikit-learn's estimators do
            self._set({name: beside(getattr(self, name), X) for name in ("coef_", "intercept_", "classes_")})
        if not self.converged_:
            self._warn_not_converged(data.size if data.codes is None else len(data.codes))
        return self

    def _fit_checked(self, data: Data, watch: Watch, start: dict[str, Any]) -> None:
        if self._mode(data.classes) == "ovo":
            fit_pairs(self, data, watch, **start)
        else:
            self._fit_data(data, watch, **start)

    def _fit_data(self, data: Data, watch: Watch) -> None:
        raise NotImplementedError

    def _members(self, data: Data) -> list[Any]:
        """One-vs-one: an estimator for each pair of classes."""
        return members_of(self, data, **self._member_params(data))

    def _member_params(self, data: Data) -> dict[str, Any]:
        """Parameters in which the estimators of pairs differ from this one."""
        return {}

    def _of_pairs(self, parts: list[dict[str, Any]]) -> dict[str, Any]:
        """One-vs-one: the attributes that predict, from those of all pairs."""
        return {name: np.concatenate([part[name] for part in parts]) for name in self._predicting}

    def _rows_of(self, data: Data, numbers: np.ndarray) -> Any:
        """Rows of the data, by their numbers among those of the user."""
        return MemoryRows(data.rows).values(np.searchsorted(data.kept, numbers))

    def _gather(self, members: list[Any]) -> None:
        """One-vs-one: what `one_vs_one.gather` leaves to the estimator."""
        raise NotImplementedError

    def _warn_not_converged(self, n: int) -> None:
        """``n``: the number of rows that took part."""
        reason, advice = self._doubt(n)
        if advice:  # the fifth frame from here is the user's line
            words = f"{type(self).__name__} ended by {reason} before it converged. {advice}"
            warnings.warn(words, ConvergenceWarning, stacklevel=6)

    def _doubt(self, n: int) -> tuple[str, str]:
        """Why a fit has not converged, and advice; none where there is nothing to say."""
        raise NotImplementedError

    # Data and problems.

    def _check_training_data(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True, classes: Any = None
    ) -> Data:
        if is_dask(X) and not self._takes_homes:
            raise self._needs_memory()
        home = None if stays_there(X) and not self._takes_homes else row_source_of(X, y, sample_weight)
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
        return Data(rows.storage, codes, classes, weight, kept, size, X.shape[1], given, squares, threads)

    def _check_home(self, home: RowSource) -> Data:
        if not self._takes_homes:
            raise self._needs_memory()
        if len(home.classes) < 2:
            raise self._one_class(home.classes)
        self.n_features_in_ = home.width
        self.__dict__.pop("feature_names_in_", None)
        if home.names is not None:
            self.feature_names_in_ = np.array(home.names, dtype=object)
        return Data(home, None, home.classes, None, None, home.n, home.width, None)

    def _needs_memory(self) -> UnavailableError:
        return UnavailableError(
            f"{type(self).__name__} visits rows in the memory of this process. MaxMargin, LeastSquares, HoKashyap, the "
            "batch estimators, separability and predict take rows that live elsewhere."
        )

    def _one_class(self, classes: np.ndarray) -> DataError:
        return DataError(
            f"{type(self).__name__} needs rows of at least 2 classes; these data have 1 class: all rows that "
            f"take part have the label {classes.tolist()[0]!r}."
        )

    def _problems(self, data: Data, weight: Vector | None = None, mode: str = "") -> list[Patterns]:
        """One linear machine, or a binary problem for each class. ``weight``: of slack, where the space has it."""
        space, machine = self._space(), (mode or self._mode(data.classes)) == "joint"
        if not data.here:
            positives = [None] if machine else [1] if data.planes == 1 else range(data.planes)
            elsewhere: list[Any] = [passed(data.rows, k, space) for k in positives]
            return elsewhere  # their scale is checked by `_solve`, when a pass has brought it
        # one problem: its passes are shared by threads; several: each has its thread
        threads = data.threads if machine or data.planes == 1 else 1
        rows = MemoryRows(data.rows, n_jobs=threads)
        rows = rows.without_empty_columns() if self._leaves_columns_out and not space.signs else rows
        if machine:
            kesler = KeslerPatterns(rows, data.codes, len(data.classes), space, weight)
            kesler.one.squares = data.squares
            first: Patterns = kesler
            labels = []
        else:
            labels = binary_labels(data.codes, len(data.classes))
            unweighted = data.given_weight is None
            first = Patterns(rows, labels[0], space, None if unweighted else weight)
            first.squares = data.squares
            if unweighted:
                first.prices = data.weight  # all of them 1
        self._check_scale(first, data.kept)
        return [first, *(first.relabelled(l) for l in labels[1:])]

    def _check_scale(self, patterns: Any, kept: np.ndarray | None) -> None:
        """Squares of the data must be representable: bounds and rates are made of them."""
        rho, delta = patterns.space.rho, patterns.space.delta
        if not isfinite(rho * rho + delta * delta):
            raise DataError(
                f"The square of intercept_scaling = {rho:g} or delta = {delta:g} overflows float64: use a smaller one."
            )
        if delta > 0 and delta * delta < TINY:
            raise DataError(f"The square of delta = {delta:g} underflows: use a larger one, or 0 for the hard margin.")
        if not isfinite(patterns.radius2):
            row = patterns.shape.bad * patterns.rows_in_all // patterns.n
            row = row if kept is None else int(kept[row])
            if isfinite(2.0 * (patterns.largest_square + rho * rho + delta * delta)):  # 2: of Kesler's construction
                raise DataError(
                    f"The sample weight of row {row} is so small that 1 / (2 C weight) overflows float64. Scale the "
                    "sample weights, or give the row the weight 0 to leave it out."
                )
            raise DataError(f"The squared norm of row {row} overflows float64. Scale your features.")
        if patterns.radius2 < TINY:
            nothing = patterns.here and not np.any(patterns.rows.data)
            if nothing and patterns.space.free and patterns.space.hinge:
                return  # the solution is an intercept alone
            what = "All rows are zero" if nothing else "The largest squared norm of a row underflows"
            raise DataError(f"{what}, and there is no bias that could tell them apart. Scale your features.")

    # Attributes.

    def _set(self, attributes: dict[str, Any]) -> None:
        self.__dict__.update(attributes)

    def _planes(self, vectors: list[Vector], features: int | None = None) -> dict[str, Any]:
        """``coef_`` and ``intercept_``; the vector of a linear machine holds those of its categories."""
        width = (self.n_features_in_ if features is None else features) + 1
        tables = [vector.reshape(-1, width) for vector in vectors]
        table = tables[0] if len(tables) == 1 else np.concatenate(tables)
        return {"coef_": table[:, :-1].copy(), "intercept_": table[:, -1] * self._space().rho}

    def _set_margins(self, certificates: list[Certificate]) -> None:
        self.certificates_ = certificates
        self.certificate_ = joint_certificate(certificates)

    def _measure_margins(self, patterns: list[Patterns], vectors: list[Vector]) -> None:
        """The two margins of the vectors that predict, smallest over the problems; nan for a zero vector."""
        self._set_smallest_margins([self._margins_of(*each) for each in zip(patterns, vectors, strict=True)])

    def _margins_of(self, patterns: Any, a: Vector, measured: tuple[Vector, Any] | None = None) -> tuple[float, float]:
        """The directional and the geometric margin of a vector. ``measured``: its multiple that is measured, and the
        margins of that, if they are known."""
        a, m = measured or (measured_multiple(patterns, a) if patterns.here else (a, None))
        smallest = float(patterns.smallest(a) if m is None else m.min())
        return per_length(smallest, norm(a)), float(patterns.distance(a, m))

    def _set_smallest_margins(self, margins: list[tuple[float, float]]) -> None:
        """Of all problems; nan if that of a problem is unknown."""
        self.directional_margin_, self.geometric_margin_ = (float(np.min(each)) for each in zip(*margins, strict=True))


def fingerprint(data: Data) -> str:
    """Tells whether two fits saw the same data."""
    digest = hashlib.blake2b(digest_size=16)
    for array in (*(part for part in data.rows if isinstance(part, np.ndarray)), data.codes, data.weight):
        digest.update(repr((array.dtype, array.shape)).encode())
        digest.update(np.ascontiguousarray(array).data)
    digest.update(repr(data.classes.tolist()).encode())
    return digest.hexdigest()


def is_complete(fitted: Any) -> bool:
    """Did a fit do all that it was to do?"""
    return bool(getattr(fitted, "converged_", True) or getattr(fitted, "stop_reason_", "") == "epochs")


def why_stopped(reasons: list[str]) -> str:
    """How a fit of several problems ended: as the one that ended worst."""
    order = {"interrupted": 0, "callback": 1, "max_time": 2, "converged": 4}
    return min(reasons, key=lambda r: order.get(r, 3))
