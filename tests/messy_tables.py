"""A generator of tables as people keep them: the numbers of a clean table in many spellings, formats and encodings."""

from typing import Any, NamedTuple

import numpy as np
import polars as pl
import xlsxwriter

LABELS = (["yes", "no"], ["0", "1"], ["OK", "WARN", "FAIL"], ["bon", "moyen", "mauvais"], ["rust", "none found"])
NAMES = ("age", "Monthly Charges", "Fläche", "prix", "blood_pressure", "rpm", "Umsatz", "sun hours")
LISTS = (["north", "south", "east"], ["Müller", "Weiß", "Schröder"], ["S", "M", "L", "XL"], ["2-door", "4-door"])
MISSING = ("", "NA", "n/a", "-", "?", "unknown", "MISSING", "none", "NULL", ".", "not available", "#N/A", "withheld")
CURRENCIES = ("$", "€", "EUR", "CHF", "US$", "R$", "zł", "kr", "₺")
UNITS = ("kg", "m²", "mg/dl", "days", "°C", "kWh", "pcs", "Stk", "yrs")
DATES = ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d-%b-%Y", "%B %d, %Y", "%Y-%m-%d %H:%M")


class Messy(NamedTuple):
    """The files, and what they mean: columns with missing values NaN or None, and the labels of all rows."""

    fitted: Any
    new: Any
    target: str
    clean: pl.DataFrame
    y: np.ndarray
    rows: int  # of the fitted file


def _spelling(rng, kind, comma):
    """Draw a way to write the numbers of a column: a function from a float to a text."""
    style = rng.choice(["plain", "grouped", "currency", "unit", "percent", "k", "blanks", "plus", "exponent"])
    mark, unit, share = rng.choice(CURRENCIES), rng.choice(UNITS), rng.choice([1.0, 0.5, 0.15])
    before, minus = rng.random() < 0.5, rng.choice(["-", "\u2212", "()"])
    thousands = "." if comma else rng.choice([",", "'", " "])
    digits = {"large": 0, "whole": 0, "small": 3}.get(kind, 2)

    def spell(value):
        few = style == "k" and abs(value) >= 1000
        text = f"{value:.6e}" if style == "exponent" else f"{value / (1000 if few else 1):.{3 if few else digits}f}"
        if style in ("grouped", "currency", "unit"):
            text = f"{value:,.{digits}f}".replace(",", "_")
        text = (text.replace(".", ",") if comma else text).replace("_", str(thousands))
        if few or (style in ("currency", "unit") and rng.random() < share):
            sign = "k" if few else mark if style == "currency" else unit
            text = f"{sign} {text}" if before and style == "currency" else f"{text}{'' if few else ' '}{sign}"
        text += " %" * bool(style == "percent")
        text = f"+{text}" if style == "plus" and value > 0 else f"  {text} " if style == "blanks" else text
        if value < 0 and minus != "-":
            text = text.replace("-", "\u2212", 1) if minus == "\u2212" else f"({text.replace('-', '', 1)})"
        return text

    return spell


def messy_table(seed: int, folder: Any, new: int = 2000) -> Messy:
    """Write a table to fit and one to predict, in the same spellings."""
    rng = np.random.default_rng(seed)
    rows, p, q = int(rng.integers(300, 2500)), int(rng.integers(2, 7)), int(rng.integers(0, 3))
    n, labels, comma = rows + new, LABELS[rng.integers(len(LABELS))], rng.random() < 0.4
    Z = rng.normal(size=(n, p))
    scores = 1.5 * Z @ rng.normal(size=(p, len(labels)))
    clean: dict[str, Any] = {}
    spelled: dict[str, Any] = {}
    gone = rng.choice([0.0, 0.03])
    words = [*rng.choice(MISSING, 2)]
    for j, name in enumerate(rng.choice(NAMES, p, replace=False)):
        kind = rng.choice(["usual", "amount", "whole", "large", "small"])
        column = {
            "usual": np.round(50 + 15 * Z[:, j], 2), "amount": np.round(np.exp(6 + 0.7 * Z[:, j]), 2),
            "whole": np.round(40 + 12 * Z[:, j]), "large": np.round(80000 + 30000 * Z[:, j]),
            "small": np.round(0.5 + 0.15 * Z[:, j], 3),
        }[kind]  # fmt: skip
        spell = _spelling(rng, kind, comma)
        lost = rng.random(n) < gone
        clean[name] = np.where(lost, np.nan, column)
        spelled[name] = [str(rng.choice(words)) if no else spell(v) for no, v in zip(lost, column, strict=True)]
    for j in range(q):
        values = np.array(LISTS[rng.integers(len(LISTS))])
        k = rng.integers(len(values), size=n)
        scores += rng.normal(size=(len(values), len(labels)))[k]
        clean[f"group {j}"] = values[k]
        spelled[f"group {j}"] = [f"{v} " if rng.random() < 0.1 else v for v in values[k].tolist()]
    y = np.array(labels)[np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)]
    if rng.random() < 0.3:
        days = np.datetime64("2021-01-01") + rng.integers(0, 700, n)
        spelled["when"] = [d.strftime(rng.choice(DATES[:1])) for d in days.tolist()]
    if rng.random() < 0.3:
        format = str(rng.choice(DATES))
        spelled["until"] = [d.strftime(format) for d in (np.datetime64("2021-01-01") + rng.integers(0, 9, n)).tolist()]
    if rng.random() < 0.3:
        spelled["remarks"] = [""] * n
    spelled["outcome"] = [f"{label} " if rng.random() < 0.1 else label for label in y.tolist()]
    frame, write = pl.DataFrame(spelled), _writer(rng, comma)
    return Messy(write(frame[:rows], folder, "fitted"), write(frame[rows:], folder, "new"), "outcome",
        pl.DataFrame(clean), y, rows,
    )  # fmt: skip


def _writer(rng, comma):
    """Draw a file format: a function that writes a frame there and returns the path."""
    kind = str(rng.choice(["csv", "csv", "tsv", "pipe", "utf-16", "xlsx", "ndjson", "parquet"]))
    separator = {"tsv": "\t", "pipe": "|", "utf-16": "\t"}.get(kind, ";" if comma else ",")
    title, quotes = rng.random() < 0.3, str(rng.choice(["necessary", "always"]))
    ends, encoding = str(rng.choice(["\n", "\r\n"])), "utf-16" if kind == "utf-16" else "utf-8-sig"

    def write(frame, folder, name):
        path = folder / f"{name}.{kind if kind in ('xlsx', 'ndjson', 'parquet') else 'csv'}"
        if kind == "xlsx":
            with xlsxwriter.Workbook(path) as book:
                pl.DataFrame({"Notes": ["exported"]}).write_excel(book, "Info")
                frame.write_excel(book, "Data")
        elif kind in ("ndjson", "parquet"):
            getattr(frame, f"write_{kind}")(path)
        else:
            text = frame.write_csv(separator=separator, line_terminator=ends, quote_style=quotes)  # type: ignore
            path.write_bytes((f"Export of 3 March{ends}{ends}" * title + text).encode(encoding))
        return path

    return write
