"""Models in files, without pickle: `save`, `load`, and what a file says about its model."""

from separatrix.persistence.files import ModelFile, load, read_model, save

__all__ = ["ModelFile", "load", "read_model", "save"]
