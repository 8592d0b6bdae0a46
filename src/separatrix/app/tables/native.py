"""Parquet, Arrow (Feather) and workbooks: formats whose readers are compiled code that gives way under some damage.

Such a reader may ask for memory that no machine has, which ends the process, or wait for ever for a thread of its own
that failed. So every file is first read by a process of its own, `rehearse`, and what ends or stops there is an error
here. This module is the program of that process as well: it imports polars and starts in 0.2 s.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

VALUE, TEXT = 8, 16  # bytes that a value takes in memory, at least
ROOM = 2 << 30  # bytes that a rehearsal may use, and twice as many as a table may have
TOP = 20  # rows of a sheet in which the names of the columns are looked for
GRACE = 3.0  # seconds that a reader with a failed thread gets to end
LONGEST, SLOWEST = 60.0, 1e6  # seconds that a rehearsal may take, and one more for each so many bytes
READY = {"ready": True}

Limit = Callable[[int], None]  # refuses a table of so many bytes
Read = tuple[Any, list[str], int]  # a frame, the sheets of a workbook, the one that was read first, rows above it


def parquet(file: Any, limit: Limit, **_: Any) -> Read:
    import polars as pl

    scan = pl.scan_parquet(file, glob=False)
    types = scan.collect_schema()
    count = scan.select(pl.len()).collect().item()  # from the metadata: nothing is unpacked
    limit(count * sum(TEXT if kind in (pl.String, pl.Binary) else VALUE for kind in types.values()))
    # Values with parts are no features, and what they unpack to is not known: only their type is kept.
    nested = [pl.lit(None, dtype=kind).alias(name) for name, kind in types.items() if kind.is_nested()]
    return scan.with_columns(nested).collect(engine="streaming"), [], 0


def arrow(file: Any, limit: Limit, **_: Any) -> Read:
    import polars as pl

    return pl.read_ipc(_content(file)), [], 0


def excel(file: Any, limit: Limit, sheet: str | None = None, target: str | None = None) -> Read:
    """Read the sheet with that name or number, else the first one that has the target; its name comes first."""
    import fastexcel
    import polars as pl

    content = _content(file)
    book = fastexcel.read_excel(content)
    names = book.sheet_names
    if sheet is not None and sheet not in names:
        if not (sheet.isdecimal() and 1 <= int(sheet) <= len(names)):
            listed = ", ".join(map(repr, names))
            raise ValueError(f"it has no sheet {sheet!r}; its sheets are {listed}")
        sheet = names[int(sheet) - 1]
    elif sheet is None:
        heads = {name: _head(book, name)[1] for name in names} if len(names) > 1 else {}
        widest = max(names, key=lambda name: len(heads.get(name, ())))  # the first one if they are equally wide
        sheet = next((name for name, head in heads.items() if target in head), widest)
    above = {"header_row": row} if (row := _head(book, sheet)[0]) else {}
    frame = pl.read_excel(content, sheet_name=sheet, engine="calamine", infer_schema_length=None, read_options=above)
    return frame, [sheet, *(name for name in names if name != sheet)], row


def _head(book: Any, sheet: str) -> tuple[int, list[str]]:
    """The first row of a sheet with two cells or more, else the first one, and its cells: names of the columns."""
    try:
        top = book.load_sheet(sheet, header_row=None, n_rows=TOP, dtypes="string").to_polars()
    except Exception:  # an empty sheet, or a chart
        return 0, []
    rows = [[str(cell) for cell in row if cell is not None and str(cell).strip()] for row in top.iter_rows()]
    row = next((k for k, cells in enumerate(rows) if len(cells) > 1), 0)
    return row, rows[row] if rows else []


READERS: dict[str, Callable[..., Read]] = {"parquet": parquet, "arrow": arrow, "excel": excel}


def _content(file: Any) -> bytes:
    """Not the name of a file, in which polars would look for wildcards."""
    if isinstance(file, bytes):
        return file
    with open(file, "rb") as opened:
        return opened.read()


def rehearse(kind: str, file: Any, size: int, most: int, how: dict[str, Any]) -> dict[str, Any]:
    """What reading a path or bytes comes to: {"size": bytes in memory}, or {"error": why it cannot be read}.

    ``most``: bytes that the table may have; ``how``: options of the reader. {} if no interpreter with polars starts.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        return {}
    threads = os.environ.get("POLARS_MAX_THREADS", str(min(4, os.cpu_count() or 1)))
    environment = {**os.environ, "POLARS_MAX_THREADS": threads, "RUST_BACKTRACE": "0"}
    where = [] if isinstance(file, bytes) else [os.path.abspath(file)]
    command = [
        sys.executable,
        "-I",
        "-W",
        "ignore",
        __file__,
        json.dumps(sys.path),
        kind,
        str(most),
        json.dumps(how),
        *where,
    ]
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as trouble:
        if not where:
            given.write(file)
            given.seek(0)
        process = subprocess.Popen(command, stdin=given, stdout=said, stderr=trouble, env=environment)
        try:
            _wait(process, trouble.fileno(), LONGEST + size / SLOWEST)
        finally:
            process.kill()
            process.wait()
        said.seek(0)
        trouble.seek(0)
        *_, last = [{}, *map(json.loads, said.read().splitlines())]
        return {"error": _why(process.returncode, trouble.read().decode(errors="replace"))} if last == READY else last


def _wait(process: Any, trouble: int, longest: float) -> None:
    """Until it ends, or does not although one of its threads failed."""
    end, failed = time.monotonic() + longest, False
    while time.monotonic() < end:
        try:
            process.wait(0.1)
            return
        except subprocess.TimeoutExpired:
            if not failed and hasattr(os, "pread") and b"panicked at" in os.pread(trouble, 1 << 16, 0):
                end, failed = time.monotonic() + GRACE, True


def _why(status: int, text: str) -> str:
    """The first that Rust said about memory, or below the place where it panicked."""
    lines = text.splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if "panicked at" in line or "memory allocation of" in line:
            return f"its reader failed ({below if 'panicked' in line else line}): it is damaged, or far larger inside"
    return f"its reader ended with status {status}, or did not end"


class _TooLargeError(Exception):
    pass


def _perform(kind: str, most: int, how: dict[str, Any], *where: str) -> dict[str, Any]:
    """In the process of its own: what came of reading."""
    from polars.exceptions import PanicException

    def limit(size: int) -> None:
        if size > most:
            raise _TooLargeError(size)

    _bounded(ROOM + 2 * most)
    print(json.dumps(READY), flush=True)
    try:
        frame, *_ = READERS[kind](where[0] if where else sys.stdin.buffer.read(), limit, **how)
        return {"size": frame.estimated_size()}
    except _TooLargeError as error:
        return {"size": error.args[0]}
    except (Exception, PanicException) as error:  # whatever the damage leads to
        return {"error": str(error).strip() or type(error).__name__}


def _bounded(room: int) -> None:
    """No more memory than that, and no image of it on disk when it is not enough."""
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    room = room if hard == resource.RLIM_INFINITY else min(room, hard)
    resource.setrlimit(resource.RLIMIT_AS, (room, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    sys.path[:] = json.loads(sys.argv[1])
    print(json.dumps(_perform(sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4]), *sys.argv[5:])), flush=True)
    os._exit(0)  # threads that failed are not waited for
