"""Numbers as people write them: with thousands separators, percent signs, and dates."""

import re
from datetime import datetime
from typing import Any

ENGLISH = r"^[-+]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?$"  # 1,234.5
CONTINENTAL = r"^[-+]?(\d{1,3}([.' ]\d{3})+|\d+)(,\d+)?$"  # 1.234,5
PERCENT = r"^.*\d\s*%$"
DATE = re.compile(r"^\s*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}")
DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y")
TIMES = ("", " %H:%M", " %H:%M:%S", "T%H:%M:%S", "T%H:%M", " %H:%M:%S%.f", "T%H:%M:%S%.f")
ORIGIN = datetime(2000, 1, 1)  # from which days are counted


def as_number(column: Any) -> tuple[Any, str]:
    """A column of texts as floats, and in words what they were; as it is and "" where they are no numbers."""
    import polars as pl

    text = column.str.strip_chars()
    values = text.drop_nulls()
    if not len(values):
        return column, ""
    if DATE.match(values[0]):
        for format in (day + time for day in DAYS for time in TIMES):
            parsed = text.str.strptime(pl.Datetime, format, strict=False)
            if parsed.null_count() == text.null_count():
                return days(parsed), f"dates, as {_shown(format)}"
        return column, ""
    percent = bool(values.str.contains(PERCENT).all())
    if percent:
        text = text.str.replace(r"\s*%$", "")
        values = text.drop_nulls()
    if values.str.contains(ENGLISH).all():
        plain, how = text.str.replace_all(",", "", literal=True), "thousands separated by commas"
    elif values.str.contains(CONTINENTAL).all():
        plain = text.str.replace_all(r"[.' ]", "").str.replace(",", ".", literal=True)
        how = "numbers with decimal commas"
    elif percent:
        plain, how = text, "percent"
    else:
        return column, ""
    numbers = plain.cast(pl.Float64, strict=False)
    if numbers.null_count() > text.null_count():
        return column, ""
    return (numbers / 100.0, "percent, divided by 100") if percent else (numbers, how)


def days(column: Any) -> Any:
    """Dates, times and durations as days; dates from the ORIGIN."""
    import polars as pl

    day = 86_400_000_000  # microseconds
    if column.dtype == pl.Time:
        return column.cast(pl.Int64).cast(pl.Float64) / (1000 * day)
    if column.dtype == pl.Duration:
        return column.dt.total_microseconds().cast(pl.Float64) / day
    moments = column.cast(pl.Datetime("us")).dt.replace_time_zone(None)
    return (moments - ORIGIN).dt.total_microseconds().cast(pl.Float64) / day


def _shown(format: str) -> str:
    words = {"%Y": "year", "%m": "month", "%d": "day", "%H": "hour", "%M": "minute", "%S": "second", "%.f": ""}
    for code, word in words.items():
        format = format.replace(code, word)
    return format
