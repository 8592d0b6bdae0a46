"""The course of every fit: data, problems of the classes, a result for each, and attributes."""

import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from math import isfinite
from operator import itemgetter
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from separatrix.cancellation import limited
from separatrix.certificates.certificate import Certificate
from separatrix.certificates.certify import joint_certificate, measured_multiple
from separatrix.data.device import DeviceRows, beside, stays_there
from separatrix.data.memory import MemoryRows
from separatrix.errors import DataError, UnavailableError
from separatrix.fit.checkpointed import checkpointed
from separatrix.fit.class_means import ClassMeans, class_means
from separatrix.fit.result import Result, joined, why_stopped
from separatrix.fit.training_data import CheckedData, Data
from separatrix.fit.watch import Watch, threads_for
from separatrix.passes.binary_problems import binary_labels, pairs
from separatrix.passes.device_patterns import passed
from separatrix.passes.kesler_patterns import KeslerPatterns
from separatrix.passes.patterns import TINY
from separatrix.passes.plain_patterns import Patterns
from separatrix.space import Space, Vector, norm, per_length

REQUESTED = ("epochs", "early_stopping", "callback", "interrupted")  # ends that were requested: no limit was reached


class LinearSeparator(CheckedData):
    """Base of the estimators: what a fit does, whatever the algorithm.

    A subclass says in `_results` what its problems come to; with a watch that is stopped it only sets up. One-vs-one is
    `_results` for each pair of classes.
    """

    fit_intercept: Any
    intercept_scaling: float
    multi_class: str
    _leaves_columns_out = False  # whether a fit is made in the columns that occur, where these are few
    _predicting: tuple[str, ...] = ("coef_", "intercept_")  # the attributes that scores are computed from
    _joins: ClassVar[dict[str, Any]] = {}  # how attributes of its own follow from those of all problems

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _space(self) -> Space:
        return Space(float(self.intercept_scaling) if self.fit_intercept else 0.0, float(getattr(self, "delta", 0.0)))

    def _mode(self, classes: np.ndarray) -> str:
        """How several classes are distinguished."""
        return self.multi_class if len(classes) > 2 else "ovr"

    # A fit from its beginning to its end.

    def _fit(self, X: Any, y: Any, sample_weight: Any, **start: Any) -> Any:
        with limited(getattr(self, "max_time", None)):
            watch = Watch(self, X, y, sample_weight)
            data = self._check_training_data(X, y, sample_weight)
            kept = getattr(self, "checkpoint", None) is not None
            with checkpointed(self, data, watch, start) if kept else nullcontext(data) as rows:
                self._fit_checked(rows, watch, start)
            watch.end()
        if isinstance(data.rows, DeviceRows) and stays_there(X):  # as scikit-learn's estimators do
            self._set({name: beside(getattr(self, name), X) for name in ("coef_", "intercept_", "classes_")})
        if not self.converged_:
            self._warn_not_converged(data.size if data.codes is None else len(data.codes))
        return self

    def _fit_checked(self, data: Data, watch: Watch, start: dict[str, Any]) -> None:
        data, before, mode = self._prepare_data(data), self._resume_from(data), self._mode(data.classes)
        self._set({"classes_": data.classes, "multi_class_": mode})  # callbacks may predict before the end
        watch = watch.of(partial(self._join_predicting, data=data))
        results = (self._pairs if mode == "ovo" else self._results)(data, watch, before, **start)
        self._set(self._attributes(results, data))

    def _prepare_data(self, data: Data) -> Data:
        """The data with what is the same for all problems."""
        return data

    def _resume_from(self, data: Data) -> Any:
        """What an earlier fit left, if this one is to go on from it."""
        return None

    def _results(self, data: Data, watch: Watch, before: Any) -> list[Result]:
        """What each problem comes to."""
        raise NotImplementedError

    def _pairs(
        self, data: Data, watch: Watch, before: Any, coef_init: Any = None, intercept_init: Any = None
    ) -> list[Result]:
        """One-vs-one: the results of all pairs of classes. After a stop, those that have not begun get vectors between
        the means of their classes, or what their start comes to."""
        if not data.here:
            raise UnavailableError(
                'multi_class="ovo" needs the rows in the memory of this process: use "ovr" or "joint".'
            )
        which = pairs(len(data.classes))
        starts = starts_of_pairs(len(which), data.width, coef_init, intercept_init)
        of_class = np.split(np.argsort(data.codes, kind="stable"), np.cumsum(np.bincount(data.codes))[:-1])
        found: dict[int, Result] = {}
        at_once = threads_for(self.n_jobs, len(which))

        def fit(p: int) -> None:
            def whole(now: list[dict[str, Any]]) -> dict[str, Any]:
                """The attributes of all pairs, from those of pair p as they are now; pairs to come have no say."""
                ended = {k: result.predicting for k, result in found.items()}
                return self._join_predicting(
                    [{**ended, p: now[0]}.get(k) or _silent(now[0]) for k in range(len(which))], data
                )

            rows = np.sort(np.concatenate([of_class[k] for k in which[p]]))
            part, left = data.pair(*which[p], rows, at_once), None if before is None else before.pair(p)
            (found[p],) = self._results(part, watch.of(whole, p), left, **starts[p])

        watch.run_each(fit, len(which), self.n_jobs)
        means: ClassMeans | None = None
        for p in sorted(set(range(len(which))) - set(found)):
            if self._unbegun is None:
                fit(p)
            else:
                means = means or class_means(self, data)
                found[p] = self._between_means(means, *which[p], data, watch.stop.reason)
        return of_pairs([found[p] for p in range(len(which))], data.classes)

    _unbegun: ClassVar[dict[str, Any] | None] = None  # attributes of its own of a pair that has not begun

    def _between_means(self, means: ClassMeans, i: int, j: int, data: Data, reason: str) -> Result:
        """The result of a pair that has not begun."""
        a, certificate = means.unmeasured_pair(i, j, data)
        return Result(self._attributes_of(means.patterns, a, data), reason, certificate, own=self._unbegun or {})

    def _warn_not_converged(self, n: int) -> None:
        """Warn about every fit that ended at a limit; ``n``: the number of rows that took part."""
        if self.stop_reason_ in REQUESTED:
            return
        reason, advice = self._doubt(n)  # the fifth frame from here is the user's line
        words = f"{type(self).__name__} stopped before it converged ({reason}). {advice}"
        warnings.warn(words, ConvergenceWarning, stacklevel=6)

    def _doubt(self, n: int) -> tuple[str, str]:
        """Return why a fit stopped before it converged, and what helps."""
        raise NotImplementedError

    # Problems.

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
            joint = KeslerPatterns(rows, data.codes, len(data.classes), space, weight)
            joint.one.squares = data.squares
            first: Patterns = joint
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

    def _attributes(self, results: list[Result], data: Data) -> dict[str, Any]:
        """The attributes of a fit, from the results of its problems."""
        predicting, reasons, certificates, margins, own = zip(*results, strict=True)
        found = self._join_predicting(predicting, data)
        if certificates[0] is not None:
            found |= {"certificates_": [*certificates], "certificate_": joint_certificate(certificates)}
        if margins[0] is not None:  # the smallest of all problems; nan if that of a problem is unknown
            found["directional_margin_"], found["geometric_margin_"] = map(float, np.min(margins, axis=0))
        found |= {"converged_": {*reasons} == {"converged"}, "stop_reason_": why_stopped(reasons)}
        for name in own[0]:
            if name in self._joins:
                found[name] = self._joins[name]([*map(itemgetter(name), own)])
        return found

    def _join_predicting(self, parts: Sequence[dict[str, Any]], data: Data) -> dict[str, Any]:
        """The attributes that predict, from those of the problems."""
        return {name: joined([*map(itemgetter(name), parts)]) for name in parts[0]}

    def _attributes_of(self, patterns: Any, vector: Vector, data: Data, training: Any = None) -> dict[str, Any]:
        """The attributes that predict, of one problem: ``coef_`` and ``intercept_``; the vector of a linear machine
        holds those of its classes."""
        table = vector.reshape(-1, patterns.features + 1)
        return {"coef_": table[:, :-1].copy(), "intercept_": table[:, -1] * self._space().rho}

    def _rows_of(self, data: Data, numbers: np.ndarray) -> Any:
        """Rows of the data, by their numbers among those of the user."""
        return MemoryRows(data.rows).values(np.searchsorted(data.kept, numbers))

    def _margins_of(self, patterns: Any, a: Vector, measured: tuple[Vector, Any] | None = None) -> tuple[float, float]:
        """The directional and the geometric margin of a vector; nan for a zero vector. ``measured``: its multiple that
        is measured, and the margins of that, if they are known."""
        a, m = measured or (measured_multiple(patterns, a) if patterns.here else (a, None))
        smallest = float(patterns.smallest(a) if m is None else m.min())
        return per_length(smallest, norm(a)), float(patterns.distance(a, m))


def of_pairs(results: list[Result], classes: np.ndarray) -> list[Result]:
    """The results of all pairs, with certificates that name their classes."""
    names, found = classes.tolist(), []
    for (i, j), result in zip(pairs(len(names)), results, strict=True):
        certificate: Certificate | None = result.certificate
        assert certificate is not None
        found.append(result._replace(certificate=replace(certificate, class_pair=(names[i], names[j]))))
    return found


def _silent(part: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a pair whose scores are 0."""
    zeros: dict[str, Any] = {
        name: np.zeros_like(part[name]) for name in ("coef_", "intercept_", "dual_coef_") if name in part
    }
    votes = {"votes_": [np.zeros_like(votes) for votes in part["votes_"]]} if "votes_" in part else {}
    return {**part, **zeros, **votes}


def is_complete(fitted: Any) -> bool:
    """Did a fit do all that it was to do?"""
    return bool(getattr(fitted, "converged_", True) or getattr(fitted, "stop_reason_", "") == "epochs")


def starting_planes(planes: int, d: int, coef_init: Any, intercept_init: Any) -> list[tuple[Vector, float]]:
    """Coefficients and bias of each hyperplane; what is not given is 0."""
    coef = np.zeros((planes, d)) if coef_init is None else np.asarray(coef_init, dtype=np.float64)
    intercept = np.zeros(planes) if intercept_init is None else np.asarray(intercept_init, dtype=np.float64)
    shaped = coef.shape == (planes, d) or (planes == 1 and coef.shape == (d,))
    if not shaped or intercept.size != planes:
        raise ValueError(
            f"coef_init has shape {coef.shape} and intercept_init {intercept.shape}; expected {(planes, d)} and "
            f"{(planes,)}."
        )
    if not (np.all(np.isfinite(coef)) and np.all(np.isfinite(intercept))):
        raise ValueError("coef_init and intercept_init must be finite numbers.")
    return list(zip(coef.reshape(planes, d), intercept.ravel().tolist(), strict=True))


def starts_of_pairs(count: int, d: int, coef_init: Any, intercept_init: Any) -> list[dict[str, Any]]:
    """What the fit of each pair is given of them."""
    if coef_init is None and intercept_init is None:
        return [{} for _ in range(count)]
    planes = starting_planes(count, d, coef_init, intercept_init)
    return [{"coef_init": w, "intercept_init": b} for w, b in planes]


def starting_vectors(space: Space, data: Any, mode: str, coef_init: Any, intercept_init: Any) -> list[Vector | None]:
    """The augmented vector of each problem; that of a linear machine holds those of all classes."""
    if coef_init is None and intercept_init is None:
        return [None] * (1 if mode == "joint" else data.planes)
    vectors = [space.join(w, b) for w, b in starting_planes(data.planes, data.width, coef_init, intercept_init)]
    return [np.concatenate(vectors)] if mode == "joint" else [*vectors]
