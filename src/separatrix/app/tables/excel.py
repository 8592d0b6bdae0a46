"""Workbooks of Excel and LibreOffice: one of their sheets, which polars reads with fastexcel."""

import zipfile
from contextlib import suppress
from importlib.util import find_spec

from separatrix.app.tables.source import Source
from separatrix.app.tables.table import Asked, Format, Table, read_natively
from separatrix.errors import DataError, MissingExtraError
from separatrix.persistence.limits import check_unpacked

OLD = b"\xd0\xcf\x11\xe0"  # how files of Excel before 2007 begin
CELL = 8  # bytes in memory for each byte of a workbook: cells take 20 there at least, and 150 here
DAMAGED = (zipfile.BadZipFile, NotImplementedError, ValueError, OSError)
SHEETS = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")  # parts of archives that are workbooks


def read_excel(source: Source, asked: Asked) -> Table:
    if find_spec("fastexcel") is None:
        raise MissingExtraError.of("fastexcel", "excel", f"{source.name} is a workbook: to read it")
    size = source.size
    if not source.head.startswith(OLD):
        try:
            with source.open() as file, zipfile.ZipFile(file) as archive:
                size = sum(entry.file_size for entry in archive.infolist())
        except DAMAGED as error:
            raise DataError(f"{source.name} cannot be read as a workbook ({error}).") from error
        check_unpacked(source.name, size, source.size)
    # One cell far away makes a sheet large: its reader keeps every cell between.
    how = {"sheet": asked.sheet, "target": asked.target}
    frame, names, above = read_natively(source, "excel", "a workbook", CELL * size, **how)
    others = ", ".join(map(repr, names[1:6])) + (", ..." if len(names) > 6 else "")
    if frame.width == 0:
        raise DataError(f"{source.name}: the sheet {names[0]!r} is empty. Choose another one with --sheet.")
    notes: tuple[str, ...] = (f"The sheet {names[0]!r} was read; there are also {others} (--sheet).",) if others else ()
    notes += (f"What stands above the table is left out: {above} rows.",) if above else ()
    return Table(source.name, "excel", source.digest, frame, named=True, notes=notes, sheet=names[0])


def _is_workbook(source: Source) -> bool:
    if source.head.startswith(OLD):
        return True
    if source.head.startswith(b"PK\x03\x04"):
        with suppress(*DAMAGED), source.open() as file, zipfile.ZipFile(file) as archive:
            return any(name in SHEETS for name in archive.namelist())
    return False


EXCEL = Format("excel", _is_workbook, read_excel, binary=True)
