"""The public family of errors: all are `SeparatrixError`, those about data or parameters `ValueError` as well."""

from typing import Any


class SeparatrixError(Exception):
    """Base of everything that separatrix raises on purpose."""


class DataError(SeparatrixError, ValueError):
    """The data cannot be used as they are; the message says what is wrong, where, and what to do."""


class NotSeparableError(SeparatrixError, ValueError):
    """No hyperplane separates the classes; ``certificate`` proves it."""

    def __init__(self, message: str, certificate: Any = None):
        super().__init__(message, certificate)
        self.certificate = certificate

    def __str__(self) -> str:
        return str(self.args[0])


class UnavailableError(SeparatrixError, AttributeError, ValueError):
    """This estimator, or this setting of it, does not offer the method; the message says what to use instead."""


class ModelError(SeparatrixError, ValueError):
    """A model cannot be saved, or a file holds none that can be loaded; nothing of such a file has been run."""


class MissingExtraError(SeparatrixError, ImportError):
    """An optional dependency is not installed; the message holds the line that installs it."""

    @classmethod
    def of(cls, package: str, extra: str, purpose: str) -> "MissingExtraError":
        return cls(
            f"{purpose} needs {package}, which is not installed: pip install '.[{extra}]' in a clone of the repository"
        )
