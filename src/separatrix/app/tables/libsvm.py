"""LIBSVM's format: a label, then ``index:value`` for what is not zero."""

import re

import numpy as np

from separatrix.app.tables.source import Source
from separatrix.app.tables.table import Asked, Format, Table
from separatrix.errors import DataError
from separatrix.persistence.limits import check_extent

LINE = re.compile(r"^[-+]?[\w.+-]+(\s+(qid|\d+):\S+)+\s*(#.*)?$")


def read_libsvm(source: Source, asked: Asked) -> Table:
    from sklearn.datasets import load_svmlight_file

    try:
        with source.open() as file:
            X, y = load_svmlight_file(file, dtype=np.float64, zero_based=True)
    except (ValueError, TypeError, OverflowError) as error:
        _find_bad_pair(source)
        raise DataError(f"{source.name} cannot be read as LIBSVM: {error}.") from error
    check_extent(source.name, "features", X.shape[1], X.nnz)
    has_zero = bool((X.indices == 0).any())
    base = (0 if has_zero else 1) if asked.base is None else asked.base
    if base and has_zero:
        raise DataError(f"{source.name} has a feature with the index 0, the data of the model count from 1.")
    X = X[:, 1:] if base else X
    return Table(source.name, "libsvm", source.digest, X, y, "label", base=base)


def _looks_like_libsvm(source: Source) -> bool:
    telling = [line for line in source.lines if not line.startswith("#")][:20]
    return bool(telling) and all(LINE.match(line) for line in telling)


LIBSVM = Format("libsvm", _looks_like_libsvm, read_libsvm, apart=True)


def _find_bad_pair(source: Source) -> None:
    with source.open() as file:
        for number, raw in enumerate(file, 1):
            words = raw.decode("utf-8", "replace").split("#")[0].split()
            last = 0
            for place, word in enumerate(words):
                if place == 0:
                    good, expected = _is_number(word), "a label that is a number"
                else:
                    index, _, value = word.partition(":")
                    good, expected = index == "qid" or (index.isdigit() and _is_number(value)), "index:value"
                    if good and index != "qid":
                        good, expected = int(index) > last or int(index) == 0, f"an index above {last}"
                        last = int(index)
                if not good:
                    raise DataError(f"{source.name}, line {number}: expected {expected}, found {word!r}.")


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
