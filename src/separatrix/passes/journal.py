"""Runs that survive: a journal of the passes over rows, from which a run that was broken off goes on.

Between two passes a solver only computes, and computes the same again. So the summaries of the passes are all that has
to be kept: a run that is started again is given those of the passes that are done, and the sum so far of the one that
was on its way. It ends with the same bits, whatever the algorithm.
"""

import hashlib
import json
import os
import pickle
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from separatrix.data.base import RowSource, S
from separatrix.data.memory import MemoryRows
from separatrix.errors import DataError, SeparatrixError
from separatrix.passes import summaries

EVERY = 10.0  # seconds of a pass that may be lost
FORMAT = "separatrix checkpoint 1"
LENGTHS = 12  # bytes before a record: its length, and its checksum


class JournaledRows(RowSource):
    """Rows of a source whose passes are kept in a file. ``guard``: what else the run depends on, such as parameters.

    A file of another run that is not finished is left alone, with an error.
    """

    def __init__(self, home: RowSource, path: str | Path, guard: str = ""):
        self.home = home
        self.n, self.width, self.classes, self.names = home.n, home.width, home.classes, home.names
        self.block_count, self.prefers_mixing = home.block_count, home.prefers_mixing
        self.journal = Journal(Path(path), hashlib.sha256(f"{home.fingerprint} {guard}".encode()).hexdigest())

    @property
    def fingerprint(self) -> str:
        return self.home.fingerprint

    def blocks(self) -> Iterator[MemoryRows]:
        return self.home.blocks()

    def blocks_from(self, number: int) -> Iterator[MemoryRows]:
        return self.home.blocks_from(number)

    def take(self, index: np.ndarray) -> MemoryRows:
        return self.home.take(index)

    def run(self, work: Callable[[MemoryRows], S]) -> S:
        key = hashlib.sha256(pickle.dumps(work)).hexdigest()[:32]  # only ever written, never read
        known = self.journal.passes.get(key)
        if known is not None:
            return known
        done, whole = self.journal.on_its_way(key)
        last = time.monotonic()
        for done, whole in self.home.merged(work, done, whole):  # noqa: B020
            if time.monotonic() - last >= EVERY:
                self.journal.note(key, done, whole)
                last = time.monotonic()
        if whole is None:
            raise ValueError("The data have no blocks to note in a checkpoint.")
        self.journal.add(key, whole)
        return whole

    def finish(self) -> None:
        """The run has its result: another one may take the file."""
        self.journal.finish()

    def __enter__(self) -> "JournaledRows":
        return self

    def __exit__(self, *error: Any) -> None:
        self.journal.file.close()


class Journal:
    """The file: records that are only ever appended, each with its checksum. What a kill has left of the last one is
    cut off. The sum so far of a pass stands in a file of its own beside it."""

    def __init__(self, path: Path, fingerprint: str):
        self.path, self.lock = path, Lock()
        self.passes: dict[str, Any] = {}
        try:
            # open as long as the run; without a buffer, which closing would try to write where there is no room
            self.file = open(path, "ab", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise SeparatrixError(f"The checkpoint {path} cannot be written: {error.strerror}.") from error
        try:
            self._open(fingerprint)
        except BaseException:
            self.file.close()
            raise

    def _open(self, fingerprint: str) -> None:
        """Read what is there, and cut off or replace what is of no use."""
        self._take_alone()
        path = self.path
        finished, good, owner = False, 0, None
        with path.open("rb") as content:
            for end, record in _records(content):
                good = end
                if record.get("format") == FORMAT:
                    owner = record["fingerprint"]
                elif record.get("finished"):
                    finished = True
                else:
                    self.passes[record["key"]] = record["summary"]
        if owner is None and os.path.getsize(path) > len(_encoded({"format": FORMAT, "fingerprint": fingerprint})):
            raise DataError(f"{path} is not a checkpoint of separatrix, or is damaged from its beginning. Remove it.")
        if owner is not None and owner != fingerprint and not finished:
            raise DataError(
                f"The checkpoint {path} belongs to a run on other data or with other parameters, which is not "
                "finished. Finish that one, remove the file, or name another."
            )
        if owner != fingerprint:
            good, self.passes = 0, {}
        self.file.truncate(good)
        if good == 0:
            self._append({"format": FORMAT, "fingerprint": fingerprint})

    def _take_alone(self) -> None:
        try:
            import fcntl
        except ImportError:
            return
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise DataError(f"The checkpoint {self.path} is in use by another process.") from error

    def add(self, key: str, summary: Any) -> None:
        """A pass that is done."""
        with self.lock:
            self.passes[key] = summary
            self._append({"key": key, "summary": summary})
        self._beside(key).unlink(missing_ok=True)

    def note(self, key: str, done: int, summary: Any) -> None:
        """The sum so far of a pass, behind so many blocks."""
        path = self._beside(key)
        new = path.with_name(path.name + ".new")
        with self._told(), new.open("wb") as file:
            file.write(_encoded({"key": key, "done": done, "summary": summary}))
            file.flush()
            os.fsync(file.fileno())
            os.replace(new, path)

    def on_its_way(self, key: str) -> tuple[int, Any]:
        try:
            with self._beside(key).open("rb") as file:
                for _, record in _records(file):
                    if record["key"] == key:
                        return record["done"], record["summary"]
        except OSError:
            pass
        return 0, None

    def finish(self) -> None:
        with self.lock:
            self._append({"finished": True})

    def _beside(self, key: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{key[:8]}")

    def _append(self, record: dict[str, Any]) -> None:
        with self._told():
            content = memoryview(_encoded(record))
            while content:
                content = content[self.file.write(content) :]
            os.fsync(self.file.fileno())

    def _told(self) -> "_Told":
        return _Told(self.path)


class _Told:
    """Errors of writing, in the family."""

    def __init__(self, path: Path):
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, OSError):
            raise SeparatrixError(
                f"The checkpoint {self.path} cannot be written: {error.strerror}. What it holds is good: make room, "
                "and call the same again."
            ) from error


# Records: a line of JSON, then the bytes of arrays. Nothing that is read can run anything.


def _encoded(record: dict[str, Any]) -> bytes:
    arrays: list[np.ndarray] = []
    head = json.dumps({name: _plain(value, arrays) for name, value in record.items()}).encode()
    content = b"\n".join([head, b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)])
    return len(content).to_bytes(8, "little") + zlib.crc32(content).to_bytes(4, "little") + content


def _plain(value: Any, arrays: list[np.ndarray]) -> Any:
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"tuple": type(value).__name__, "fields": [_plain(part, arrays) for part in value]}
    if isinstance(value, list):
        return {"list": [_plain(part, arrays) for part in value]}
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        arrays.append(array)
        return {"dtype": array.dtype.str, "shape": array.shape}
    return {"float": value.hex()} if isinstance(value, float) else value


def _records(file: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Where each whole record ends, and what it holds."""
    end = 0
    while True:
        lengths = file.read(LENGTHS)
        size = int.from_bytes(lengths[:8], "little")
        content = file.read(size) if len(lengths) == LENGTHS and size < 1 << 40 else b""
        if len(content) < max(size, 1) or zlib.crc32(content) != int.from_bytes(lengths[8:], "little"):
            return
        end += LENGTHS + size
        head, _, rest = content.partition(b"\n")
        reader = _Reader(rest)
        yield end, {name: reader.value(value) for name, value in json.loads(head).items()}


class _Reader:
    def __init__(self, content: bytes):
        self.content, self.place = content, 0

    def value(self, parts: Any) -> Any:
        if not isinstance(parts, dict):
            return parts
        if "float" in parts:
            return float.fromhex(parts["float"])
        if "list" in parts:
            return [self.value(part) for part in parts["list"]]
        if "tuple" in parts:
            return getattr(summaries, parts["tuple"])(*(self.value(part) for part in parts["fields"]))
        dtype = np.dtype(parts["dtype"])
        count = int(np.prod(parts["shape"]))
        array = np.frombuffer(self.content, dtype, count, self.place).reshape(parts["shape"])
        self.place += array.nbytes
        return array.copy() if array.shape else array[()]
