"""Sparse rows in text: ``label index:value ...``, as LIBSVM writes them."""

import gzip
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from separatrix.data.row_source import Part, PartSource, joined, regrouped
from separatrix.errors import DataError

BYTES_AT_A_TIME = 1 << 22  # bytes of text that are parsed at a time
NOISE = re.compile(rb"#[^\n]*|\bqid:\S+|\r")
BLANK = re.compile(rb"(?m)^[ \t]*\n")
LONGEST_INDEX = 18  # digits


class LibsvmFile(PartSource):
    """Columns are counted from 1, or from 0 if a 0 occurs; `based` says so once all files have been read.

    Before ``width`` is set, parts are as wide as their largest index. ``open_text`` opens the bytes.
    """

    sparse = True

    def __init__(self, name: str, open_text: Callable[[], IO[bytes]], paths: Sequence[Path] = ()):
        super().__init__(name, list(paths))
        self.open_text, self.based, self.smallest = open_text, 0, np.iinfo(np.int64).max

    @classmethod
    def of(cls, path: Path) -> "LibsvmFile":
        """A file on disk, packed if its name ends with .gz."""
        opener: Any = gzip.open if path.suffix == ".gz" else open
        return cls(str(path), partial(opener, path, "rb"), [path])

    def all_rows(self) -> Part:
        """Every part in one, of equal width."""
        parts = list(self.parts(0))
        if not parts:
            raise DataError(f"{self.name} has no rows.")
        for part in parts:
            part.X.resize(part.n, max(part.X.shape[1] for part in parts))
        return joined(parts)

    def parts(self, step: int, first: int = 0) -> Iterator[Part]:
        done = 0
        pieces = self._pieces()  # before the width is known, they cannot be joined
        for part in pieces if self.width is None else regrouped(pieces, step):
            if done >= first:
                yield part
            done += part.n

    def _pieces(self) -> Iterator[Part]:
        line, rest = 1, b""
        with self.open_text() as file:
            while True:
                read = file.read(BYTES_AT_A_TIME)
                text = rest + read
                if read:
                    end = text.rfind(b"\n") + 1
                    text, rest = text[:end], text[end:]
                if text.strip():
                    yield self._parsed(text, line)
                line += text.count(b"\n")
                if not read:
                    return

    def _parsed(self, text: bytes, line: int) -> Part:
        """Rows of a text that ends with a line. One call reads all numbers; colons say how many a line has."""
        clean = NOISE.sub(b"", text) if b"#" in text or b"qid:" in text or b"\r" in text else text
        clean = BLANK.sub(b"", clean if clean.endswith(b"\n") else clean + b"\n")
        codes = np.frombuffer(clean, np.uint8)
        ends, colons = np.flatnonzero(codes == ord("\n")), np.flatnonzero(codes == ord(":"))
        counts = np.diff(np.searchsorted(colons, ends), prepend=0)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", DeprecationWarning)
                values = np.fromstring(clean.replace(b":", b" ").decode("latin-1"), dtype=np.float64, sep=" ")
        except (ValueError, DeprecationWarning):  # as different versions of numpy say that something is no number
            raise self._fault(text, line) from None
        if len(values) != len(ends) + 2 * len(colons):
            raise self._fault(text, line)
        starts = np.concatenate([[0], np.cumsum(1 + 2 * counts)[:-1]])
        rest = np.ones(len(values), dtype=bool)
        rest[starts] = False
        pairs = values[rest].reshape(-1, 2)
        with np.errstate(invalid="ignore"):  # the comparison below finds what no integer holds
            columns = pairs[:, 0].astype(np.int64)
        same_row = np.diff(np.repeat(np.arange(len(ends)), counts)) == 0
        if np.any(same_row & (np.diff(columns) <= 0)) or np.any(columns != pairs[:, 0]) or np.any(columns < self.based):
            raise self._fault(text, line)
        self.smallest = min(self.smallest, int(columns.min(initial=self.smallest)))
        columns -= self.based
        width = max(int(columns.max(initial=-1)) + 1, self.width or 0)
        if self.width is not None and width > self.width:
            raise self._fault(text, line)
        indptr = np.concatenate([[0], np.cumsum(counts)])
        X = sp.csr_matrix((np.ascontiguousarray(pairs[:, 1]), columns, indptr), shape=(len(ends), width))
        return Part(X, values[starts])

    def _fault(self, text: bytes, line: int) -> DataError:
        """What is wrong, with its line: read again, slowly."""
        for number, row in enumerate(text.decode("utf-8", "replace").split("\n"), line):
            last = -1
            for place, word in enumerate(row.split("#")[0].split()):
                index, _, value = word.partition(":")
                good, expected = _is_number(word), "a label that is a number"
                if place and index != "qid":
                    good = index.isdecimal() and len(index) <= LONGEST_INDEX and _is_number(value)
                    expected = "index:value"
                    if good:
                        good, expected, last = int(index) > last, f"an index above {last}", int(index)
                if not good and index != "qid":
                    return DataError(f"{self.name}, line {number}: expected {expected}, found {word[:60]!r}.")
        return DataError(f"{self.name}: from line {line} on, columns are not counted from {self.based}.")


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return "_" not in word
