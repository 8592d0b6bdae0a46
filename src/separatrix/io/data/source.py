"""Where data come from: a file or standard input, compressed or not, and which format its content is in."""

import csv
import gzip
import hashlib
import io
import re
import sys
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from separatrix.errors import DataError
from separatrix.io.data.limits import check_unpacked

FORMATS = ("csv", "tsv", "parquet", "ndjson", "json", "libsvm", "arff", "npy", "npz")
HEAD = 1 << 16  # bytes that tell the format
PIECE = 1 << 22  # bytes that are unpacked at a time
SEPARATORS = (",", "\t", ";", "|")
LIBSVM_LINE = re.compile(r"^[-+]?[\w.+-]+(\s+(qid|\d+):\S+)+\s*(#.*)?$")
FOREIGN = {
    b"\xff\xfe": "UTF-16 text: convert it, for example with `iconv -f UTF-16 -t UTF-8`",
    b"\xfe\xff": "UTF-16 text: convert it, for example with `iconv -f UTF-16 -t UTF-8`",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"\x89HDF": "HDF5, which is not read: convert it to Parquet",
    b"SQLite format": "an SQLite database: export the table as CSV",
    b"BZh": "bzip2: unpack it, or compress with gzip",
    b"\xfd7zXZ": "xz: unpack it, or compress with gzip",
    b"(\xb5/\xfd": "zstandard: unpack it, or compress with gzip",
    b"\x80\x04\x95": "a pickle, which is never read: it could run anything",
    b"\x80\x05\x95": "a pickle, which is never read: it could run anything",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook: export the sheet as CSV",
}


@dataclass(frozen=True)
class Source:
    """Bytes with a name: ``content`` where they are in memory, else ``path``."""

    name: str
    path: Path | None
    content: bytes | None
    digest: str  # SHA-256 of the bytes as they were given, before unpacking

    @property
    def polars(self) -> Any:
        """What polars reads from."""
        return self.path if self.content is None else self.content

    @property
    def size(self) -> int:
        """Number of bytes."""
        if self.content is not None:
            return len(self.content)
        assert self.path is not None
        return self.path.stat().st_size

    def open(self) -> io.BufferedReader | io.BytesIO:
        if self.content is not None:
            return io.BytesIO(self.content)
        assert self.path is not None
        return self.path.open("rb")

    def head(self) -> bytes:
        with self.open() as file:
            return file.read(HEAD)

    @classmethod
    def of(cls, where: str | Path) -> "Source":
        """Open a file, or standard input for "-"."""
        if str(where) == "-":
            content = sys.stdin.buffer.read()
            source = cls("standard input", None, content, hashlib.sha256(content).hexdigest())
        else:
            path = Path(where)
            if path.is_dir():
                raise DataError(f"{path} is a folder; a data file is needed.")
            try:
                with path.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
            except FileNotFoundError:
                raise DataError(_not_found(path)) from None
            except OSError as error:
                raise DataError(f"{path} cannot be read: {error.strerror}.") from error
            source = cls(str(path), path, None, digest)
        return source._unpacked()

    def _unpacked(self) -> "Source":
        if not self.head().startswith(b"\x1f\x8b"):
            return self
        try:
            with self.open() as file, gzip.open(file) as unpacked:
                content = io.BytesIO()
                while piece := unpacked.read(PIECE):
                    content.write(piece)
                    check_unpacked(self.name, content.tell(), self.size)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{self.name}: the gzip file is damaged or cut off ({error}).") from error
        return Source(self.name, None, content.getvalue(), self.digest)


def _not_found(path: Path) -> str:
    from difflib import get_close_matches

    beside = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    near = get_close_matches(path.name, beside, 1)
    return f"There is no file {path}." + (f" Did you mean {path.parent / near[0]}?" if near else "")


def lines_of(head: bytes, name: str, complete: bool) -> list[str]:
    """The lines of the head of a text file; the last one only if it is known to be complete."""
    for start, what in FOREIGN.items():
        if head.startswith(start):
            raise DataError(f"{name} is not a table but {what}.")
    if b"\0" in head or sum(byte < 9 or 13 < byte < 32 for byte in head) > len(head) // 50:
        raise DataError(
            f"{name} is a binary file of an unknown kind. Known are CSV, TSV, Parquet, NDJSON, LIBSVM, ARFF, npy and "
            "npz, each also with gzip."
        )
    if not complete:
        head = head[: head.rfind(b"\n") + 1] or head
    try:
        text = head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if not complete and error.start > len(head) - 4:
            text = head[: error.start].decode("utf-8-sig")
        else:
            line = head.count(b"\n", 0, error.start) + 1
            raise DataError(
                f"{name}, line {line}: this is not UTF-8 text. Convert it, for example with `iconv -f LATIN1 -t UTF-8`."
            ) from error
    return text.splitlines()


def sniff(source: Source) -> str:
    """The format of the content; text that looks like nothing else is CSV."""
    head = source.head()
    if not head.strip():
        raise DataError(f"{source.name} is empty.")
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"\x93NUMPY"):
        return "npy"
    if head.startswith(b"PK\x03\x04"):
        return _kind_of_archive(source)
    lines = [line for line in lines_of(head, source.name, len(head) < HEAD) if line.strip()]
    first = lines[0].lstrip()
    if first.startswith("{"):
        return "ndjson"
    if first.startswith("["):
        return "json"
    if any(line.lower().startswith("@relation") for line in lines[:200]):
        return "arff"
    telling = [line for line in lines if not line.startswith("#")][:20]
    if telling and all(LIBSVM_LINE.match(line) for line in telling):
        return "libsvm"
    return "csv"


def _kind_of_archive(source: Source) -> str:
    try:
        with source.open() as file, zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
        raise DataError(f"{source.name}: the archive is damaged or cut off ({error}).") from error
    if names and all(name.endswith(".npy") for name in names):
        return "npz"
    if "[Content_Types].xml" in names:
        raise DataError(f"{source.name} is an Excel workbook or a similar document: export the sheet as CSV.")
    raise DataError(f"{source.name} is a zip archive, not a table: unpack it.")


def separator_of(lines: list[str]) -> str:
    """The separator that cuts the most lines into the same number of fields, and those into the most fields."""
    best, found = (0.0, 1), " "  # spaces also stand within fields: they separate where nothing else does
    for separator in SEPARATORS:
        widths = [len(row) for row in csv.reader(lines, delimiter=separator) if row]
        usual = max(set(widths), key=widths.count, default=1)
        score = (round(widths.count(usual) / len(widths), 1), usual) if usual > 1 else (0.0, 1)
        if score > best:
            best, found = score, separator
    return found if found != " " or any(" " in line.strip() for line in lines) else ","
