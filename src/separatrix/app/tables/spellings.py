"""Numbers as people write them: with thousands separators, percent signs, currencies and units, and dates."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from unicodedata import category

from separatrix.errors import DataError

ENGLISH = r"^[-+]?([1-9][0-9]{0,2}(,[0-9]{3})+|[0-9]*)(\.[0-9]*)?([eE][-+]?[0-9]+)?$"  # 1,234.5
CONTINENTAL = r"^[-+]?([1-9][0-9]{0,2}(\.[0-9]{3})+|[0-9]*)(,[0-9]*)?([eE][-+]?[0-9]+)?$"  # 1.234,5
APOSTROPHES = r"^[-+]?([0-9]{1,3}(['\x{2019}][0-9]{3})+|[0-9]*)([.,][0-9]*)?$"  # 1'234.5
SPACES = r"^[-+]?([0-9]{1,3}([ \x{a0}\x{202f}][0-9]{3})+|[0-9]*)([.,][0-9]*)?$"  # 1 234,5
TWO_WAYS = r"^[-+]?[1-9][0-9]{0,2}[.,][0-9]{3}$"  # 1.234 and 1,234: thousands or a fraction
CLOCK = r"^[0-9]{1,3}:[0-5][0-9](:[0-5][0-9])?$"
DATE = re.compile(
    r"^\s*\d{1,4}([-/.]\d{1,2}[-/.]\d{1,4}|[-/. ]+[A-Za-z]{3,9}[-/., ]+\d{2,4})|^[A-Z][a-z]{2,8}\.? \d{1,2},? \d{4}"
)
DAYS = (  # years of two digits first: 21 would be the year 21
    *("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y"),
    *("%d %b %y", "%d-%b-%y", "%d %b %Y", "%d-%b-%Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y"),
)
TIMES = ("", " %H:%M", " %H:%M:%S", "T%H:%M:%S", "T%H:%M", " %H:%M:%S%.f", "T%H:%M:%S%.f")
ORIGIN = datetime(2000, 1, 1)  # from which days are counted

MARKS = r"^['~\x{2248}<>\x{2264}\x{2265}]\s*", r"\s*[*\x{2020}\x{2021}]+$"  # about, at most; footnotes
MINUS = (  # a minus sign or a dash before the number, accountants' parentheses, a sign behind the number
    (r"^[\x{2212}\x{2013}]", "-"),
    (r"^\((.*[0-9].*)\)$", "-$1"),
    (r"^([^-]*[0-9])-$", "-$1"),
)

MISSING = frozenset(  # in lower case
    re.split(
        r" \| ",
        ". | - | -- | --- | ? | ?? | na | n/a | n.a. | #n/a | nan | null | nil | none | missing | unknown | unk | "
        "undefined | empty | blank | not available | not applicable | no data | k.a. | keine angabe | unbekannt | "
        "inconnu",
    )
)
MOSTLY = 0.9  # a text column with this share of numbers is a column of numbers with mistakes
FEW_WORDS = 3  # different words that are no known ones, and still mean missing
REPEATED = 2  # rows in which each of them occurs at least
MEASURED = 20  # different numbers from which one word after some of them is a unit

CURRENCIES = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "US$": "USD", "R$": "BRL", "zł": "PLN"}
CURRENCIES |= {"A$": "AUD", "C$": "CAD", "kr": "kr", "Kč": "CZK", "Ft": "HUF", "Rs": "Rs", "Fr": "Fr", "Fr.": "Fr"}
CURRENCIES |= {
    code: code
    for code in re.split(
        " ",
        "USD EUR GBP JPY INR CHF CNY SEK NOK DKK PLN CZK HUF RON BGN TRY RUB UAH ILS AED SAR EGP NGN KES ZAR AUD NZD "
        "CAD MXN BRL ARS CLP COP PEN KRW TWD HKD SGD MYR THB IDR PHP VND PKR",
    )
}
MULTIPLES = {"k": 1e3, "K": 1e3, "M": 1e6, "Mio": 1e6, "Mio.": 1e6, "bn": 1e9, "B": 1e9}
UNITS = frozenset(
    re.split(
        " ",
        "kg g mg µg t lb lbs oz km m cm mm µm mi yd ft in l L ml dl cl gal h min s ms µs ns d days °C °F K W kW MW Wh "
        "kWh V mV A mA Hz kHz MHz GHz Pa hPa kPa bar psi J kJ cal kcal B kB KB MB GB TB bit px pt m² m2 m³ m3 ft² "
        "sqft km² km/h mph m/s rpm dB ppm ppb mol mmol mmHg bpm ha ° years yrs months weeks hours minutes seconds",
    )
)
PARTS = (  # sign, currency, number, unit or currency
    r"^(?P<sign>[-+]?)(?P<before>[A-Z]{0,3}\p{Sc}|\p{L}{2,3}\.?)?\s*"
    r"(?P<number>[-+]?[0-9.,][0-9.,'\x{2019} \x{a0}\x{202f}]*?(?:[eE][-+]?[0-9]+)?)"
    r"\s*(?P<after>(?:[A-Z]{0,3}\p{Sc}|\p{L}|[°%µ])[\p{L}/.²³]{0,11}[23]?)?$"
)


@dataclass
class Reading:
    """How a column of texts is read: its numbers, None if it is text; what was done, and which words mean missing."""

    numbers: Any = None
    how: str = ""
    words: dict[str, int] = field(default_factory=dict)
    unit: str = ""

    @property
    def is_date(self) -> bool:
        return self.how.startswith("dates")


def as_number(
    column: Any, where: str = "", text: Collection[str] = (), expected: bool = False, decimal_comma: bool = False
) -> Reading:
    """Read a column of texts as floats, missing ones null, if it holds numbers or dates and words that mean missing.

    ``text``: words that do not mean missing. ``expected``: known words alone are missing numbers, too.
    ``decimal_comma``: 1.234 is a thousand.
    """
    import polars as pl

    values = column.str.strip_chars()
    counts = values.drop_nulls().value_counts(sort=True)
    different, times = counts[:, 0], counts["count"]
    if not len(different):
        return Reading()
    kept = {word.lower() for word in text}
    known = different.str.to_lowercase().is_in([word for word in MISSING if word not in kept])
    found = (
        _read(different.filter(~known), where, decimal_comma, expected)
        if not known.all()
        else (pl.Series([], dtype=pl.Float64), "", "")
    )
    if found is None:
        number = different.str.contains(r"[0-9]")
        others = different.filter(~known & ~number)
        rows = times.filter(~known & ~number)
        share = times.filter(number).sum() / max(times.filter(~known).sum(), 1)
        strange = len(others) > FEW_WORDS or (len(others) and rows.min() < REPEATED) or share < MOSTLY
        if strange or any(word in text for word in others):
            return Reading()
        known = ~number
        found = _read(different.filter(number), where, decimal_comma, expected)
    if found is None or (known.all() and not expected):
        return Reading()
    numbers, how, unit = found
    table = pl.DataFrame({"text": different.filter(~known), "number": numbers})
    words = dict(zip(different.filter(known).to_list(), times.filter(known).to_list(), strict=True))
    read = pl.DataFrame({"text": values}).join(table, on="text", how="left", maintain_order="left")["number"]
    return Reading(read.alias(column.name), how, words, unit)


def _read(values: Any, where: str, decimal_comma: bool, expected: bool) -> tuple[Any, str, str] | None:
    """Different texts as numbers, with what was done in words, and their unit; None if one of them is no number."""
    import polars as pl

    bare = values.str.replace(MARKS[0], "").str.replace(MARKS[1], "")
    marked = values.filter(bare != values)
    if len(marked):
        found = _read(bare, where, decimal_comma, expected)
        notes = f"numbers with marks, as in {marked[0]!r}, which are left out"
        return None if found is None else (found[0], "; ".join(filter(None, (notes, found[1]))), found[2])
    for pattern, sign in MINUS:
        values = values.str.replace(pattern, sign)
    if DATE.match(values[0]):
        for format in (day + time for day in DAYS for time in TIMES):
            parsed = values.str.strptime(pl.Datetime, format, strict=False)
            if not parsed.null_count():
                return days(parsed), f"dates, as {_shown(format)}", ""
        return None
    if values.str.contains(CLOCK).all():
        hours = values.str.split(":").list.eval(pl.element().cast(pl.Float64) / 60 ** pl.int_range(pl.len())).list.sum()
        return hours, "times, as hours:minutes, became hours", ""
    plain = values.cast(pl.Float64, strict=False)
    if not plain.null_count() and not values.str.contains(TWO_WAYS).any():
        return plain, "", ""
    parts = values.str.extract_groups(PARTS).struct.unnest()
    if parts["number"].null_count():
        return None
    measured = _unit(parts, where, expected)
    if measured is None:
        return None
    factor, unit, notes = measured
    styled = _digits(parts["number"].str.strip_chars(), decimal_comma)
    if styled is None:
        return None
    numbers, style = styled
    numbers = numbers * factor * pl.select(pl.when(parts["sign"] == "-").then(-1.0).otherwise(1.0)).to_series()
    return numbers, "; ".join(words for words in (notes, style) if words), unit


def _unit(parts: Any, where: str, expected: bool) -> tuple[Any, str, str] | None:
    """What numbers are multiplied by, their currency or unit, and both in words; None if texts carry something else."""
    import polars as pl

    before, after = (parts[place].str.strip_chars(".") for place in ("before", "after"))
    marks = pl.concat([before, after]).drop_nulls().unique().to_list()
    named = {mark: CURRENCIES.get(mark, mark) for mark in marks if mark in CURRENCIES or category(mark[-1]) == "Sc"}
    signs, currencies = list(named), sorted(set(named.values()))
    if any(mark not in named for mark in before.drop_nulls().unique()):
        return None
    plain = after.filter(~after.is_in(signs)).drop_nulls()
    suffixes = sorted(set(plain.to_list()))
    multiplied = bool(suffixes) and all(mark in MULTIPLES for mark in suffixes)
    units = [] if multiplied else sorted({mark if mark in UNITS else mark.lower().rstrip("s") for mark in suffixes})
    measures = len(units) > 1 and all(mark in UNITS for mark in suffixes) and any(len(mark) > 1 for mark in suffixes)
    if len(currencies) > 1 or measures:
        first, second = (currencies if len(currencies) > 1 else units)[:2]
        raise DataError(
            f"{where} holds amounts in {first} and in {second}. Write one unit in the whole column, or leave the "
            "column out with --drop."
        )
    if len(units) > 1 or (units and currencies):
        return None
    sure = units and len(suffixes[0]) > 1 and (suffixes[0] in UNITS or expected or len(after) >= MEASURED)
    if units == ["%"] and len(plain) < len(after):
        raise DataError(
            f"{where} has the sign % after some numbers and none after others. Write it after all of them, or none."
        )
    if units and len(plain) < len(after) and not sure:  # 12 and 12b: a letter is no unit
        return None
    if units == ["%"]:
        return 0.01, "%", "percent, divided by 100"
    notes = f"amounts in {currencies[0]}" if currencies else f"numbers with the unit {suffixes[0]}" if units else ""
    if not multiplied:
        return 1.0, (currencies or units or [""])[0], notes
    names = " and ".join(f"{mark} (times {MULTIPLES[mark]:,.0f})" for mark in suffixes)
    factor = after.replace_strict(MULTIPLES, default=1.0, return_dtype=pl.Float64).fill_null(1.0)
    return factor, (currencies or [""])[0], f"{notes or 'numbers'} with {names}"


def _digits(numbers: Any, decimal_comma: bool) -> tuple[Any, str] | None:
    """Digits with separators as floats, and how they were read."""
    import polars as pl

    styles = [
        (ENGLISH, ",", ".", "thousands separated by commas"),
        (CONTINENTAL, ".", ",", "numbers with decimal commas"),
        (APOSTROPHES, r"['\x{2019}]", ",", "thousands separated by apostrophes"),
        (SPACES, r"[ \x{a0}\x{202f}]", ",", "thousands separated by spaces"),
    ]
    if decimal_comma:
        styles = [styles[1], styles[0], *styles[2:]]
    for pattern, thousands, decimal, how in styles:
        if not numbers.str.contains(pattern).all():
            continue
        literal = len(thousands) == 1
        plain = numbers.str.replace_all(thousands, "", literal=literal).str.replace(decimal, ".", literal=True)
        read = plain.cast(pl.Float64, strict=False)
        if read.null_count():
            return None
        marked = numbers.filter(numbers.str.contains("[.,]"))
        if (
            len(marked) and not decimal_comma and marked.str.contains(TWO_WAYS).all()
        ):  # nothing in the column settles it
            first = marked[0]
            number = read.filter(numbers == first)[0]
            kind = "a decimal point" if "." in first else "thousands separated by commas"
            return read, f"numbers that can be read in two ways: {first!r} is taken as {number:,.10g}, with {kind}"
        used = numbers.str.contains(thousands, literal=literal).any() or (
            decimal == "," and numbers.str.contains(",", literal=True).any()
        )
        return read, how if used else ""
    return None


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
    words = {
        "%Y": "year",
        "%y": "year",
        "%m": "month",
        "%b": "month",
        "%B": "month",
        "%d": "day",
        "%H": "hour",
        "%M": "minute",
        "%S": "second",
        "%.f": "",
    }
    for code, word in words.items():
        format = format.replace(code, word)
    return format
