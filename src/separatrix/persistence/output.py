"""Files that are written: completely or not at all, never over what is read, and never over what is no file."""

import glob
import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

from separatrix.errors import ModelError

PARTIAL = ".partial"  # how the name of a file ends that is not complete yet


def check_outputs(outputs: Iterable[str | Path | None], inputs: Iterable[str | Path | None] = ()) -> list[str]:
    """The outputs that are asked for; an error before the work, not after it, where one of them must not be written."""
    asked = [str(path) for path in outputs if path]
    read = {_identity(path): str(path) for path in inputs if path}
    written: dict[Any, str] = {}
    for path in asked:
        check_writable(path)
        same = _identity(path)
        if same in read:
            raise ModelError(f"{path} is {read[same]}, which is read: and would be overwritten. Name another.")
        if same in written:
            raise ModelError(f"{path} would be written twice, also as {written[same]}. Name another.")
        written[same] = path
    return asked


def _identity(path: str | Path) -> Any:
    """What is the same for all names of a file, links among them; "-" is the file behind standard input."""
    try:
        found = os.fstat(0) if str(path) == "-" else os.stat(path)
    except OSError:
        return os.path.realpath(path)
    return found.st_dev, found.st_ino


def check_writable(path: str | Path) -> None:
    """Raise where a file cannot be written."""
    path = Path(path)
    if path.is_dir():
        raise ModelError(f"{path} is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise ModelError(f"There is no folder {path.parent} to write {path.name} to.")
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        raise ModelError(f"{path} is a device or a pipe, which would be replaced. Name a file.")
    if not os.access(path.parent, os.W_OK):
        raise ModelError(f"{path} cannot be written: the folder {path.parent.resolve()} is read-only.")


def write_atomically(path: str | Path, content: bytes) -> None:
    """Write a file completely or not at all, and remove what an interrupted attempt at the same file has left."""
    path = Path(path)
    check_writable(path)
    _remove_abandoned(path)
    file, name = _begin(path)
    try:
        with file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)
            if os.name == "nt":
                file.close()  # Windows replaces no open file, and has no locks of this kind
            os.replace(name, path)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise ModelError(f"{path} cannot be written: {error.strerror or error}. It is as it was before.") from error
        raise


def _begin(path: Path) -> tuple[BinaryIO, str]:
    """A new file beside the path, locked for as long as it is open."""
    while True:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=PARTIAL, dir=path.parent)
        file = os.fdopen(handle, "wb")
        _lock(file, wait=True)
        if os.path.exists(name):  # nobody took it for an abandoned one before it was locked
            return file, name
        file.close()


def _remove_abandoned(path: Path) -> None:
    """Remove what no process is writing to this place any more."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.????????{PARTIAL}"):
        try:
            with left.open("rb") as file:
                if _lock(file, wait=False):
                    left.unlink()
        except OSError:  # it is gone, or somebody else's
            continue


def _lock(file: BinaryIO, wait: bool) -> bool:
    """Whether the file is locked now; the lock ends with the process. Without locks nothing is taken for abandoned."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
