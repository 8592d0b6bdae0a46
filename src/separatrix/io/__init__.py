"""Reading data files, and saving models without pickle."""

from separatrix.io.data.formats import read_table
from separatrix.io.data.prepare import preparation
from separatrix.io.data.table import Table
from separatrix.io.model.files import ModelFile, load, read_model, save

__all__ = ["ModelFile", "Table", "load", "preparation", "read_model", "read_table", "save"]
