"""What is said of a table before anything is fitted: the first lines, for which no fitting code is imported."""

import numpy as np

from separatrix.app.tables.table import Table

MOST_NAMES, MOST_SIZES = 4, 6  # classes that are listed one by one


def title(table: Table) -> str:
    """The file, its size and the question."""
    classes = list(class_sizes(table))
    question = " or ".join(classes) if len(classes) <= MOST_NAMES else f"{len(classes)} classes"
    return f"{file_name(table.source)} ({table.n:,} rows, {counted(table.d, 'feature')}): {question}?"


def class_sizes(table: Table) -> dict[str, int | None]:
    """The rows of each class; None for tables that stay in their files, of which only the classes are known."""
    if table.y is None:
        return {str(name): None for name in table.X.classes.tolist()}
    values, counts = np.unique(table.y, return_counts=True)
    return {str(v): int(c) for v, c in zip(values, counts, strict=True)}


def table_rows(table: Table) -> list[tuple[str, str]]:
    """The classes, as a row of the report."""
    sizes = [name if count is None else f"{name} {count:,}" for name, count in class_sizes(table).items()]
    return [("Classes", ", ".join(sizes[:MOST_SIZES]) + (", ..." if len(sizes) > MOST_SIZES else ""))]


def counted(n: int, word: str, plural: str = "s") -> str:
    return f"{n:,} {word}{'' if n == 1 else plural}"


def file_name(source: str) -> str:
    name = source.replace("\\", "/").rsplit("/", 1)[-1]
    return name[:1].upper() + name[1:] if name == "breast cancer" else name
