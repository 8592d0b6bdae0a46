"""scikit-learn's SVC."""

from typing import Any

import sklearn.svm

from separatrix.dropin.handover import Beyond, HandoverMixin


class SVC(HandoverMixin, sklearn.svm.SVC):
    """scikit-learn's SVC."""

    def fit(self, X, y, sample_weight=None):
        """Fit."""
        return self._leave(lambda: super(SVC, self).fit(X, y, sample_weight), Beyond("the plain hinge"))
