"""Reading data files, and saving models without pickle."""

from separatrix.io.models import ModelFile, load, read_model, save
from separatrix.io.prepare import preparation
from separatrix.io.table import Table, read_table

__all__ = ["ModelFile", "Table", "load", "preparation", "read_model", "read_table", "save"]
