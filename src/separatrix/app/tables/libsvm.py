"""LIBSVM's format: a label, then ``index:value`` for what is not zero."""

import re

from separatrix.app.tables.source import Source
from separatrix.app.tables.table import Asked, Format, Table
from separatrix.data.libsvm_files import LibsvmFile
from separatrix.errors import DataError
from separatrix.persistence.limits import check_extent

LINE = re.compile(r"^[-+]?[\w.+-]+(\s+(qid|\d+):\S+)+\s*(#.*)?$")


def read_libsvm(source: Source, asked: Asked) -> Table:
    file = LibsvmFile(source.name, source.open)
    X, y, _ = file.all_rows()
    check_extent(source.name, "features", X.shape[1], X.nnz)
    base = int(file.smallest > 0) if asked.base is None else asked.base
    if base > file.smallest:
        raise DataError(f"{source.name} has a feature with the index 0, the data of the model count from 1.")
    return Table(source.name, "libsvm", source.digest, X[:, base:], y, "label", base=base)


def _looks_like_libsvm(source: Source) -> bool:
    telling = [line for line in source.lines if not line.startswith("#")][:20]
    return bool(telling) and all(LINE.match(line) for line in telling)


LIBSVM = Format("libsvm", _looks_like_libsvm, read_libsvm, apart=True)
