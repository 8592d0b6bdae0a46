"""scikit-learn's SVC."""

import sklearn.svm

from separatrix.dropin.handover import BeyondError, HandoverMixin


class SVC(HandoverMixin, sklearn.svm.SVC):
    """scikit-learn's ``SVC`` with the same parameters and attributes.

    Its slack is not squared, which separatrix does not solve yet: every fit is left to scikit-learn.

    Attributes
    ----------
    solver_ : str
        Who solved the problem: "scikit-learn: ..." with the reason.

    See Also
    --------
    separatrix.KernelMaxMargin : The problem with squared slack, with a certificate.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix.dropin import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> SVC().fit(X, y).solver_
    'scikit-learn: slack that is not squared'
    """

    def fit(self, X, y, sample_weight=None):
        """Fit the model to data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features) or (n_samples, n_samples)
            The rows, or the values of a precomputed kernel.
        y : array-like of shape (n_samples,)
            The labels of the rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        why = BeyondError("slack that is not squared")
        return self._leave(lambda: super(SVC, self).fit(X, y, sample_weight), why)
