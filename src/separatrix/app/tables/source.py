"""Where data come from: a file or standard input, compressed or not, and its first bytes and lines."""

import codecs
import gzip
import hashlib
import io
import os
import select
import sys
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from separatrix.errors import DataError
from separatrix.persistence.limits import check_unpacked

MARK = b"\xef\xbb\xbf"  # of UTF-8, at the beginning of a file
MARKS = {  # of other encodings; that of UTF-32 begins with that of UTF-16
    b"\xff\xfe\0\0": "utf-32",
    b"\0\0\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
NOT_UTF8 = (
    "this is not UTF-8 text. Tell how it was written with --encoding: cp1252 for most files of Windows in Western "
    "languages, else for example latin-1, mac-roman, cp1251, shift_jis or gb18030."
)
HEAD = 1 << 16  # bytes that tell the format, and more where lines are longer
TELLING = 2  # lines that are read whole, however long: names, and a row
LONGEST_LINES = 1 << 28  # bytes in which they have to end
PATIENCE = 10.0  # seconds until something has to come through a pipe
BYTES_AT_A_TIME = 1 << 22  # bytes that are unpacked at a time
FOREIGN = {
    b"%PDF": "a PDF document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"\x89HDF": "HDF5, for which polars has no reader. Export it: to Parquet, in pandas by "
    "read_hdf(...).to_parquet(...), or an array to .npy, by numpy.save(..., h5py.File(...)[name][:])",
    b"SQLite format": "an SQLite database: export the table as CSV",
    b"BZh": "bzip2: unpack it, or compress with gzip",
    b"\xfd7zXZ": "xz: unpack it, or compress with gzip",
    b"(\xb5/\xfd": "zstandard: unpack it, or compress with gzip",
    b"\x80\x04\x95": "a pickle, which is never read: it could run anything",
    b"\x80\x05\x95": "a pickle, which is never read: it could run anything",
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

    @cached_property
    def head(self) -> bytes:
        with self.open() as file:
            return file.read(HEAD)

    @cached_property
    def lines(self) -> list[str]:
        """The first lines of a text that are not blank; an error if it is no text."""
        for start, what in FOREIGN.items():
            if self.head.startswith(start):
                raise DataError(f"{self.name} is not a table but {what}.")
        if b"\0" in self.head or sum(byte < 9 or 13 < byte < 32 for byte in self.head) > len(self.head) // 50:
            raise DataError(
                f"{self.name} is a binary file of an unknown kind. `separatrix fit --help` tells what is read."
            )
        with self.open() as file:
            start = file.read(HEAD)
            while _whole_lines(start) < TELLING and len(start) < LONGEST_LINES and (more := file.read(len(start))):
                start += more
            if file.read(1):
                start = start[: start.rfind(b"\n") + 1] or start
        try:
            text = start.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = start.count(b"\n", 0, error.start) + 1
            raise DataError(f"{self.name}, line {line}: {NOT_UTF8}") from error
        return [line for line in text.splitlines() if line.strip()]

    @property
    def marked(self) -> str | None:
        """The encoding whose mark stands at the beginning, where it is another than UTF-8."""
        return next((name for mark, name in MARKS.items() if self.head.startswith(mark)), None)

    @property
    def is_utf8(self) -> bool:
        """Whether the whole content is UTF-8 text."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        with self.open() as file:
            try:
                while piece := file.read(BYTES_AT_A_TIME):
                    decoder.decode(piece)
                decoder.decode(b"", final=True)
            except UnicodeDecodeError:
                return False
        return True

    def in_utf8(self, encoding: str) -> "Source":
        """The same text in UTF-8, in memory; the digest stays that of the bytes as they were given."""
        with self.open() as file:
            content = file.read()
        try:
            text = content.decode(encoding).removeprefix("\ufeff").encode()
        except LookupError as error:
            raise DataError(
                f"The encoding {encoding!r} is not known. Names are, for example, utf-8, utf-16, latin-1, cp1252, "
                "mac-roman, shift_jis and gb18030."
            ) from error
        except UnicodeError as error:
            line = content.count(b"\n", 0, getattr(error, "start", 0)) + 1
            raise DataError(f"{self.name}, line {line}: this is not text in the encoding {encoding}.") from error
        return Source(self.name, None, text, self.digest)

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
            if path.is_char_device() or path.is_block_device():
                raise DataError(f"{path} is a device; a data file is needed.")
            if path.is_fifo():
                content = _piped(path)
                return cls(str(path), None, content, hashlib.sha256(content).hexdigest())._unpacked()
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
        if not self.head.startswith(b"\x1f\x8b"):
            return self
        try:
            with self.open() as file, gzip.open(file) as unpacked:
                content = io.BytesIO()
                while piece := unpacked.read(BYTES_AT_A_TIME):
                    content.write(piece)
                    check_unpacked(self.name, content.tell(), self.size)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{self.name}: the gzip file is damaged or cut off ({error}).") from error
        return Source(self.name, None, content.getvalue(), self.digest)


def _piped(path: Path) -> bytes:
    """All that comes through a named pipe, once something comes."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as pipe:
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        if not poll.poll(1000 * PATIENCE):
            raise DataError(f"{path} is a pipe, and nothing was written to it for {PATIENCE:g} s.")
        os.set_blocking(pipe.fileno(), True)
        return pipe.read()


def _not_found(path: Path) -> str:
    from difflib import get_close_matches

    beside = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    near = get_close_matches(path.name, beside, 1)
    return f"There is no file {path}." + (f" Did you mean {path.parent / near[0]}?" if near else "")


def _whole_lines(start: bytes) -> int:
    """Complete lines that say something: neither blank nor a comment."""
    return sum(1 for line in start.split(b"\n")[:-1] if line.strip() and not line.startswith(b"#"))
