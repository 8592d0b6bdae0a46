"""Callbacks for ``estimator.set_callbacks(...)``; scikit-learn's own, such as its ProgressBar, work as well."""

from separatrix.estimators.callbacks import MarginTrace

__all__ = ["MarginTrace"]
