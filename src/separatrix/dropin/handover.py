"""What the drop-in classes share: what they say of who solved a problem, and how they leave it to scikit-learn."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from separatrix.certificates.certificate import Certificate
from separatrix.certificates.certify import joint_certificate
from separatrix.fit.sklearn_api import KnownParametersMixin

LARGEST_SEED = np.iinfo(np.int32).max
PROVED = ("certificate_", "certificates_", "dual_gap_")


class BeyondError(Exception):
    """This combination is not one that separatrix solves; the message says why."""


def gap(certificate: Certificate) -> float:
    """P - D, certified."""
    return np.inf if certificate.value is None else certificate.value - certificate.bound


def plain_classes(y: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """The classes and the number of each row's, if y is a vector of whole numbers of which scikit-learn's checks, which
    take longer than a small fit, would have nothing to say."""
    if type(y) is not np.ndarray or y.ndim != 1 or y.dtype.kind not in "biuf":
        return None
    classes, codes = np.unique(y, return_inverse=True)
    whole = y.dtype.kind != "f" or bool(np.all(np.isfinite(classes) & (classes == np.rint(classes))))
    return (classes, codes) if whole and 2 <= len(classes) <= len(y) // 2 else None


def plain_rows(X: Any) -> bool:
    """Likewise of X: finite numbers of the type and order that compiled code wants."""
    fits = type(X) is np.ndarray and X.ndim == 2 and X.dtype == np.float64 and X.flags.c_contiguous and X.size > 0
    if not fits:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(X.sum()))


class HandoverMixin(KnownParametersMixin):
    """Attributes of a fit by separatrix, and the way to scikit-learn's own."""

    solver_: str

    def _forget(self) -> None:
        """Nothing that an earlier fit proved holds for this one."""
        for name in PROVED:
            vars(self).pop(name, None)

    def _prove(self, certificates: Sequence[Certificate], solver: str) -> None:
        self.certificates_ = list(certificates)
        self.certificate_ = joint_certificate(self.certificates_)
        self.solver_ = f"separatrix: {solver}"

    def _leave(self, fit: Callable[[], Any], why: BeyondError) -> Any:
        """scikit-learn's own fit."""
        self._forget()
        result = fit()
        self.solver_ = f"scikit-learn: {why}"
        return result
