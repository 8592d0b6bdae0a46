"""Reports in files: HTML in one self-contained page, Markdown, JSON."""

import json
import re
from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path

import separatrix
from separatrix.app.report.summary import as_dict, largest_weights, notes, rows_of
from separatrix.app.report.table_rows import title
from separatrix.app.workflows.fitting import Fit
from separatrix.errors import DataError
from separatrix.persistence.output import write_atomically
from separatrix.plots.interactive.canvas import bokeh


def report_writer(path: str | Path, interactive: bool = False) -> Callable[[Fit, str | Path], None]:
    """Return what writes a report of this ending, HTML perhaps with interactive figures."""
    if interactive:
        bokeh()
    writers = {".html": write_html, ".htm": write_html, ".md": write_markdown, ".json": write_json}
    ending = Path(path).suffix.lower()
    if ending not in writers:
        raise DataError(f"Unsupported report format {ending!r} ({path}). Use .html, .md or .json.")
    return partial(write_html, interactive=True) if interactive and writers[ending] is write_html else writers[ending]


def write_json(fit: Fit, path: str | Path) -> None:
    text = json.dumps(as_dict(fit), indent=2, ensure_ascii=False, allow_nan=False)
    write_atomically(path, (text + "\n").encode())


def write_markdown(fit: Fit, path: str | Path) -> None:
    lines = [f"# {_markdown(title(fit.table))}", "", "| | |", "|---|---|"]
    lines += [f"| {_markdown(label)} | {_markdown(text)} |" for label, text in rows_of(fit)]
    for name, pairs in largest_weights(fit.model):
        lines += ["", f"## Largest weights for {_markdown(name)}", "", "| feature | weight |", "|---|---:|"]
        lines += [f"| {_markdown(feature)} | {w:+.4g} |" for feature, w in pairs]
    parts = notes(fit)
    lines += ["", *[f"> {note}" for note in parts], *([""] if parts else [])]
    lines += [f"separatrix {separatrix.__version__}; data sha256 `{fit.table.digest}`", ""]
    write_atomically(path, "\n".join(lines).encode())


def _markdown(text: str) -> str:
    """Names and labels as text: neither tags, links nor code, on one line."""
    return re.sub(r"([\\`*|\[\]])", r"\\\1", escape(" ".join(text.splitlines()), quote=False))


def write_html(fit: Fit, path: str | Path, interactive: bool = False) -> None:
    """Write one page with its style and figures inside; it needs no network."""
    from separatrix.app.report.report_page import report_page

    write_atomically(path, report_page(fit, interactive).encode())
