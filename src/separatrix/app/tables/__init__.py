"""Tables of users: files of many formats as features and labels, and the preparation of their columns."""

from separatrix.app.tables.formats import read_table
from separatrix.app.tables.prepare import preparation
from separatrix.app.tables.table import Table

__all__ = ["Table", "preparation", "read_table"]
