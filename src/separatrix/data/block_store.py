"""A decoded copy of rows on disk: blocks as files of numpy, complete or not there at all.

A folder ``<fingerprint>`` of the user's cache holds one copy. It is written under another name and renamed when it is
complete, so that a writer that is killed leaves no half copy under that name; what it leaves is swept up by the next
one. Checksums tell damage.
"""

import json
import os
import shutil
import socket
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from separatrix.data.access import CSR
from separatrix.data.memory import MemoryRows
from separatrix.data.npy_array import NpyArray
from separatrix.errors import DataError

VERSION = 1
MANIFEST = "manifest.json"


class DamagedError(Exception):
    """A block of the copy is not what was written."""


class BlockStore:
    """A complete copy. ``about``: what its writer noted of the rows."""

    def __init__(self, folder: Path, manifest: dict[str, Any]):
        self.folder, self.blocks, self.about = folder, manifest["blocks"], manifest["about"]
        self.classes = np.load(folder / "classes.npy", allow_pickle=False)
        self.seen = np.zeros(len(self.blocks), dtype=bool)  # whose checksums have been looked at

    @classmethod
    def find(cls, cache: Path, fingerprint: str) -> "BlockStore | None":
        """The copy with this fingerprint, None where there is none that is whole."""
        folder = cache / fingerprint
        try:
            manifest = json.loads((folder / MANIFEST).read_text())
            if manifest["version"] != VERSION or manifest["fingerprint"] != fingerprint:
                return None
            for block in manifest["blocks"]:
                for name, (size, _) in block["files"].items():
                    if (folder / name).stat().st_size != size:
                        return None
            return cls(folder, manifest)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @classmethod
    def write(
        cls, cache: Path, fingerprint: str, blocks: Iterable[MemoryRows], classes: np.ndarray, about: dict[str, Any]
    ) -> "BlockStore":
        """A new copy of these blocks, in the place of one that may be there."""
        _sweep(cache)
        folder = cache / fingerprint
        partial = cache / f"{fingerprint}.partial-{socket.gethostname()}-{os.getpid()}"
        try:
            partial.mkdir(parents=True)
            manifest: dict[str, Any] = {"version": VERSION, "fingerprint": fingerprint, "about": about}
            manifest["blocks"] = [_write_block(partial, b, block, len(classes)) for b, block in enumerate(blocks)]
            np.save(partial / "classes.npy", classes, allow_pickle=False)
            with (partial / MANIFEST).open("w") as file:
                json.dump(manifest, file)
                file.flush()
                os.fsync(file.fileno())
            shutil.rmtree(folder, ignore_errors=True)
            try:
                partial.rename(folder)
            except OSError:  # another process has finished the same copy in between
                found = cls.find(cache, fingerprint)
                if found is None:
                    raise
                return found
        except OSError as error:
            raise DataError(
                f"The cache folder {cache} cannot be written: {error.strerror or error}. The rows themselves are as "
                "they were; make room, or leave cache= away."
            ) from error
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        return cls(folder, manifest)

    def read(self, number: int) -> MemoryRows:
        """A block; its checksums are looked at the first time."""
        block = self.blocks[number]
        try:
            arrays = {name: NpyArray.of(self.folder / name) for name in block["files"]}
            content = {name: array.read(0, array.n) for name, array in arrays.items()}
        except (OSError, DataError) as error:
            raise DamagedError from error
        if not self.seen[number]:
            if any(zlib.crc32(content[name].data) != crc for name, (_, crc) in block["files"].items()):
                raise DamagedError
            self.seen[number] = True
        parts = {name.split(".")[1]: array for name, array in content.items()}
        return self._rows(parts, block["first"])

    def take(self, number: int, index: np.ndarray) -> MemoryRows:
        """Some rows of a block."""
        files = self.blocks[number]["files"]
        if self.about["sparse"] or not self.seen[number]:
            return self.read(number).take(index)
        try:
            parts = {name.split(".")[1]: NpyArray.of(self.folder / name).take(index) for name in files}
        except (OSError, DataError) as error:
            raise DamagedError from error
        return self._rows(parts, 0)

    def _rows(self, parts: dict[str, np.ndarray], first: int) -> MemoryRows:
        X: Any = parts.get("X")
        if X is None:
            width = self.about["width"]
            X = CSR(parts["data"], parts["indices"], parts["indptr"], width)
        return MemoryRows(X, parts["codes"].astype(np.int64), parts.get("weight"), first=first)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def _write_block(folder: Path, number: int, block: MemoryRows, classes: int) -> dict[str, Any]:
    assert block.codes is not None
    arrays = {"codes": block.codes.astype(np.min_scalar_type(max(classes - 1, 0)))}
    if isinstance(block.storage, CSR):
        matrix = sp.csr_matrix(block.matrix(np.arange(block.n)))
        arrays["data"] = matrix.data.astype(block.storage.data.dtype)
        arrays["indices"], arrays["indptr"] = matrix.indices.astype(np.uint32), matrix.indptr.astype(np.int64)
    else:
        arrays["X"] = block.storage.data
    if block.weight is not None:
        arrays["weight"] = block.weight
    files = {}
    for kind, array in arrays.items():
        path = folder / f"{number:06}.{kind}.npy"
        np.save(path, array, allow_pickle=False)
        files[path.name] = (path.stat().st_size, zlib.crc32(np.ascontiguousarray(array).data))
    return {"first": block.first, "n": block.n, "files": files}


def _sweep(cache: Path) -> None:
    """Remove what writers of this machine left behind who are no more."""
    for partial in cache.glob("*.partial-*"):
        host, _, process = partial.name.partition(".partial-")[2].rpartition("-")
        if host == socket.gethostname() and process.isdigit() and not _alive(int(process)):
            shutil.rmtree(partial, ignore_errors=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
