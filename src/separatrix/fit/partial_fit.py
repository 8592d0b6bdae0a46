"""Online estimators over blocks of data, and what can be proved afterwards."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from separatrix.certificates.certificate import Certificate
from separatrix.certificates.certify import accumulated, certify, joint_certificate
from separatrix.compile_cache import at_once
from separatrix.errors import DataError, UnavailableError
from separatrix.fit.recipe import Before, Recipe, Record, begin_call
from separatrix.fit.result import UNKNOWN, Result, joined
from separatrix.fit.separator import LinearSeparator, of_pairs
from separatrix.fit.sklearn_api import fit_method
from separatrix.fit.training_data import Data
from separatrix.online.training import Training
from separatrix.passes.binary_problems import pairs
from separatrix.rules.base import attribute
from separatrix.space import default_errstate


def _offers_partial_fit(owner: Any) -> bool:
    why_not = owner._refuses.get("partial_fit")
    if why_not:
        raise UnavailableError(f"{type(owner).__name__} {why_not}, so it has no partial_fit: use fit.")
    return True


class PartialFitMixin(LinearSeparator):
    """`partial_fit` and `certify` of an online estimator."""

    _records_: list[Record]

    @available_if(_offers_partial_fit)
    @fit_method
    @at_once()
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """One pass over a block of data, continuing from the blocks before.

        The multipliers of the patterns are not kept, only their sum: the upper bound stays valid, because more
        patterns can only lower the optimum, but it can no longer be checked. ``certificate_.lower`` is None until
        `certify` measures it on data. The last vector predicts, whatever ``until`` says, or the mean over all visits if
        ``average=True``.

        With ``shuffle=False`` several blocks give the vector of one epoch over all rows. The exceptions need numbers of
        all rows before the first update, and use those of the first block, or of the blocks so far:

        - R = max ``|y_k|`` of the first block: `ALMA`, `CRAMMA`, `FixedMargin`, `MICRA`, `MarginPerceptron`. A first
          block with the longest row makes no difference.
        - R and the number of rows of the first block: `LMS`, unless ``eta`` is a function.
        - The largest value in the first block: `BalancedWinnow`, `PNormALMA`.
        - The class means of all blocks so far: `FuzzyPerceptron`.

        Parameters
        ----------
        X, y, sample_weight : array-like
            The block: rows, labels and weights, as in `fit`.
        classes : array-like, default=None
            All labels that will ever occur; required in the first call.

        Returns
        -------
        self
            The fitted estimator.
        """
        if self.early_stopping:
            raise UnavailableError("partial_fit cannot hold out data: early_stopping must be False.")
        if self._space().delta > 0:
            raise UnavailableError("partial_fit keeps no multipliers, which delta > 0 needs: use delta=0 or fit.")
        first = not hasattr(self, "_records_")
        if first:
            if classes is None:
                raise ValueError("The first call of partial_fit needs classes: all labels that will ever occur.")
            classes = np.unique(classes)
            if len(classes) < 2:
                raise DataError(f"{type(self).__name__} needs at least 2 classes; classes holds only {classes!r}.")
            self._seed_ = self._draw_seed()
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes={classes!r} is not what the first call of partial_fit had: {self.classes_!r}.")
        data = self._check_training_data(X, y, sample_weight, reset=first, classes=classes if first else self.classes_)
        if not data.here:
            raise UnavailableError("partial_fit takes one block in memory; fit takes all out-of-core rows.")
        if not first:
            self._check_going_on(data)
        before = Before(self._seed_, None if first else self._records_)
        results = (self._block_of_pairs if self._mode(data.classes) == "ovo" else self._block)(data, before)
        self._set({"classes_": data.classes, "multi_class_": self._mode(data.classes)})
        self._set(self._attributes(results, data))
        return self

    def _check_going_on(self, data: Data) -> None:
        before = self._records_[0].space
        if before != self._space():
            raise ValueError(
                f"partial_fit cannot go on in another space: {before.describe()} before, now "
                f"{self._space().describe()}. Use a new estimator for other values of intercept_scaling, delta or "
                "fit_intercept."
            )
        if self.multi_class_ != self._mode(data.classes):
            raise ValueError(
                f"partial_fit began with multi_class={self.multi_class_!r} and cannot go on with {self.multi_class!r}. "
                "Use a new estimator."
            )

    def _block(self, data: Data, before: Before) -> list[Result]:
        """What the problems come to on a block."""
        patterns = self._problems(data)
        records = before.records or [self._record(p) for p in patterns]
        recipe = self._full_recipe(records[0])
        trainings = self._trainings(patterns, data, recipe, before.seed, records, block=True)
        results = []
        for p, training, record in zip(patterns, trainings, records, strict=True):
            begin_call(self, training)
            radius = max(record.radius, training.patterns.radius)
            reason = training.train(training.rows, self._update_limit(recipe))
            record = record.stands(training, reason, radius=radius, mark=None)
            vector = self._vector(training, recipe)
            certificate = accumulated(p, vector, self._accumulated_upper(record, recipe), radius)
            predicting = self._attributes_of(p, vector, data, training)
            results.append(self._result(predicting, certificate, UNKNOWN, training, record, recipe))
        return results

    def _block_of_pairs(self, data: Data, before: Before) -> list[Result]:
        """What the pairs come to on a block; those that it has no rows of stand where they stood."""
        missing = np.flatnonzero(np.bincount(data.codes, minlength=len(data.classes)) == 0)
        if before.records is None and len(missing) > 1:
            raise DataError(
                f"The first block of partial_fit has no rows of the classes {data.classes[missing].tolist()!r}, so "
                'there is nothing to start their problem from. Use multi_class="ovr" or "joint", or a larger block.'
            )
        results = []
        for p, pair in enumerate(pairs(len(data.classes))):
            part = data.pair(*pair)
            results += self._block(part, before.pair(p)) if len(part.codes) else [self._standing(p)]
        return of_pairs(results, data.classes)

    def _standing(self, p: int) -> Result:
        """The result of pair p as it was."""
        recipe, record = self._recipe(self._records_[p]), self._records_[p]
        predicting = {name: getattr(self, name)[p : p + 1] for name in self._predicting}
        found = self._result(predicting, self.certificates_[p], UNKNOWN, None, record, recipe)
        lines = {k: getattr(self, k)[p : p + 1] for k, join in self._joins.items() if join is joined and k[0] != "_"}
        return found._replace(own=found.own | lines)

    def _accumulated_upper(self, record: Record, recipe: Recipe) -> float:
        """|a| / sum alpha without the multipliers, rounded up by what the additions may have lost."""
        if not record.from_zero or not attribute(recipe.rule, "additive"):
            return float("inf")
        return Training.accumulated_upper(record.state, recipe.rule, record.radius2, record.radius)

    @default_errstate()
    def certify(self, X: Any, y: Any) -> Certificate:
        """Measure the margin of a fitted separator on data; the certificate becomes ``certificate_``.

        The upper bound of `partial_fit` is kept and holds for data that contain all rows seen; that of `fit`, which
        speaks of the data of the fit, is not.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            The rows.
        y : array-like of shape (n,)
            Their labels.

        Returns
        -------
        Certificate
            Of these data.
        """
        check_is_fitted(self)
        data = self._check_training_data(X, y, None, reset=False, classes=self.classes_)
        pairwise = self.multi_class_ == "ovo"
        parts = [data.pair(i, j) for i, j in pairs(len(self.classes_))] if pairwise else [data]
        problems = [p for part in parts for p in self._problems(part, mode="ovr" if pairwise else self.multi_class_)]
        certificates, predicts = [], self._recipe(self._records_[0]).predicts
        for kept, p in zip(self.certificates_, problems, strict=True):
            assert kept.direction is not None
            measured = certify(p, kept.direction, None, predicts=predicts)
            upper = measured.upper if kept.alpha is not None else kept.upper
            if measured.lower is not None and measured.lower > upper:
                raise DataError(
                    f"These data have a margin of {measured.lower:g}, above the upper bound {upper:g} of the data of "
                    "the fit: certify needs all of those."
                )
            certificates.append(replace(measured, upper=upper, class_pair=kept.class_pair))
        self._set({"certificates_": certificates, "certificate_": joint_certificate(certificates)})
        return self.certificate_
