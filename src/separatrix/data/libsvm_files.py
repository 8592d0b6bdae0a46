"""Sparse rows in text: ``label column:value ...``, as LIBSVM writes them."""

import gzip
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from separatrix.data.row_source import Part, PartSource, regrouped
from separatrix.errors import DataError

BYTES_AT_A_TIME = 1 << 22  # bytes of text that are parsed at a time
NOISE = re.compile(rb"#[^\n]*|\bqid:\S+|\r")
BLANK = re.compile(rb"(?m)^[ \t]*\n")
VALUE = re.compile(rb"^\d+:[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$|^\d+:[-+]?(nan|inf(inity)?)$", re.I)


class LibsvmFile(PartSource):
    """Columns are counted from 1, or from 0 where a 0 occurs; `based` says so once all files have been read."""

    sparse = True

    def __init__(self, path: Path):
        super().__init__(str(path), [path])
        self.path, self.based, self.smallest = path, 0, np.iinfo(np.int64).max

    def parts(self, step: int, first: int = 0) -> Iterator[Part]:
        done = 0
        pieces = self._pieces()  # before the width is known, they cannot be joined
        for part in pieces if self.width is None else regrouped(pieces, step):
            if done >= first:
                yield part
            done += part.n

    def _pieces(self) -> Iterator[Part]:
        line, rest = 1, b""
        opener: Any = gzip.open if self.path.suffix == ".gz" else open
        with opener(self.path, "rb") as file:
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
        columns = pairs[:, 0].astype(np.int64)
        if np.any(columns != pairs[:, 0]) or np.any(columns < self.based):
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
        for number, row in enumerate(NOISE.sub(b"", text).split(b"\n"), line):
            fields = row.split()
            try:
                wrong = not all(VALUE.match(field) for field in fields[1:])
                float(fields[0] if fields else b"0")
            except ValueError:
                wrong = True
            if wrong:
                shown = row[:60].decode("utf-8", "replace")
                return DataError(
                    f"{self.name}, line {number}: expected 'label column:value ...' with a number as label, "
                    f"found {shown!r}."
                )
        return DataError(f"{self.name}: from line {line} on, columns are not counted from {self.based}.")
