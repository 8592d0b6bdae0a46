"""What the drop-in classes share: what they say of who solved a problem, and how they leave it to scikit-learn."""

from collections.abc import Callable, Sequence
from typing import Any

from separatrix.proof.certificate import Certificate
from separatrix.proof.certify import joint_certificate

PROVED = ("certificate_", "certificates_", "dual_gap_")


class BeyondError(Exception):
    """This combination is not one that separatrix solves; the message says why."""


class HandoverMixin:
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
