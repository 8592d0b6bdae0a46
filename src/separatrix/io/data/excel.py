"""Workbooks of Excel and LibreOffice: the first sheet, which polars reads with fastexcel."""

import io
import zipfile
from contextlib import suppress

from separatrix.errors import DataError, MissingExtraError
from separatrix.io.data.limits import check_unpacked
from separatrix.io.data.source import Source
from separatrix.io.data.table import Asked, Format, Table, unreadable

OLD = b"\xd0\xcf\x11\xe0"  # how files of Excel before 2007 begin
SHEETS = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")  # parts of archives that are workbooks


def read_excel(source: Source, asked: Asked) -> Table:
    import polars as pl

    try:
        import fastexcel
    except ImportError as error:
        raise MissingExtraError.of("fastexcel", "excel", f"{source.name} is a workbook: to read it") from error
    with source.open() as file:
        content = file.read()
    if not content.startswith(OLD):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            check_unpacked(source.name, sum(entry.file_size for entry in archive.infolist()), source.size)
    try:
        names = fastexcel.read_excel(content).sheet_names
        frame = pl.read_excel(io.BytesIO(content), sheet_name=names[0], engine="calamine", infer_schema_length=None)
    except (Exception, pl.exceptions.PanicException) as error:  # whatever a damaged workbook leads to
        raise unreadable(source, "a workbook", error) from error
    others = f"{names[0]!r}, the first of {len(names)} sheets, was read." if len(names) > 1 else ""
    if frame.width == 0:
        raise DataError(f"{source.name}: the sheet {names[0]!r} is empty.")
    notes = (others,) if others else ()
    return Table(source.name, "excel", source.digest, frame, named=True, notes=notes)


def _is_workbook(source: Source) -> bool:
    if source.head.startswith(OLD):
        return True
    if source.head.startswith(b"PK\x03\x04"):
        damaged = (zipfile.BadZipFile, NotImplementedError, ValueError, OSError)
        with suppress(*damaged), source.open() as file, zipfile.ZipFile(file) as archive:
            return any(name in SHEETS for name in archive.namelist())
    return False


EXCEL = Format("excel", _is_workbook, read_excel, binary=True)
