"""What an experiment found: words, tables, figures, and checks against the source; as Markdown, JSON and PNG."""

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from separatrix.errors import SeparatrixError


class Check(NamedTuple):
    """A number of the source, as it is printed there, beside ours in the same form."""

    what: str
    source: str
    here: str

    @property
    def agrees(self) -> bool:
        return self.source == self.here

    @property
    def mark(self) -> str:
        return "=" if self.agrees else "DIFFERS"


class Words(NamedTuple):
    text: str


class Heading(NamedTuple):
    text: str


class Table(NamedTuple):
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


class Figure(NamedTuple):
    """A picture: ``draw`` gets an empty matplotlib figure of ``size`` inches."""

    name: str
    caption: str
    draw: Callable[[Any], None]
    size: tuple[float, float] = (6.4, 4.0)


Part = Words | Heading | Table | Figure


@dataclass
class Report:
    """The outcome of one experiment. ``data``: its numbers, for JSON."""

    name: str
    title: str
    claim: str
    parts: list[Part] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def agrees(self) -> bool:
        return all(check.agrees for check in self.checks)

    def say(self, text: str) -> None:
        self.parts.append(Words(text))

    def head(self, text: str) -> None:
        self.parts.append(Heading(text))

    def claims(self, what: str, holds: bool) -> None:
        """A statement of the source without a number: it holds here or it does not."""
        self.checks.append(Check(what, "holds", "holds" if holds else "fails"))

    def verdict(self) -> str:
        """One sentence on the checks."""
        if not self.checks:
            return "The source prints nothing to compare with."
        wrong = [c for c in self.checks if not c.agrees]
        if not wrong:
            return f"All {len(self.checks)} checks against the source agree."
        named = "; ".join(f"{c.what}: {c.source} in the source, {c.here} here" for c in wrong)
        return f"{len(wrong)} of {len(self.checks)} checks against the source differ: {named}."

    def markdown(self, pictures: str | None, level: int = 1) -> str:
        """The report as Markdown; ``pictures`` is the folder of the figures, None leaves them out."""
        lines = [f"{'#' * level} {self.title}", "", self.claim, "", self.verdict(), ""]
        for part in self.parts:
            if isinstance(part, Words):
                lines += [part.text, ""]
            elif isinstance(part, Heading):
                lines += [f"{'#' * (level + 1)} {part.text}", ""]
            elif isinstance(part, Table):
                lines += [f"**{part.title}**", "", *_markdown_rows(part), ""]
            elif pictures is not None:
                lines += [f"![{part.caption}]({pictures}/{part.name}.png)", "", f"*{part.caption}*", ""]
        return "\n".join(lines)

    def contents(self) -> dict[str, Any]:
        """Everything but the pictures, for JSON."""
        return {
            "name": self.name,
            "title": self.title,
            "claim": self.claim,
            "agrees": self.agrees,
            "checks": [{**check._asdict(), "agrees": check.agrees} for check in self.checks],
            "words": [part.text for part in self.parts if isinstance(part, Words)],
            "tables": [part._asdict() for part in self.parts if isinstance(part, Table)],
            "data": self.data,
        }

    def draw(self, folder: Path) -> None:
        """Every figure as a PNG file."""
        figures = [part for part in self.parts if isinstance(part, Figure)]
        if figures:
            folder.mkdir(parents=True, exist_ok=True)
        for part in figures:
            figure = blank_figure(part.size)
            part.draw(figure)
            figure.savefig(folder / f"{part.name}.png", dpi=100)


def _markdown_rows(table: Table) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(str(c).replace("|", "\\|") for c in cells) + " |"

    return [line(table.columns), line(["---"] * len(table.columns)), *(line(row) for row in table.rows)]


def blank_figure(size: tuple[float, float]) -> Any:
    """A matplotlib figure without pyplot: no window, no global state."""
    try:
        from matplotlib.figure import Figure as Canvas
    except ImportError as error:
        raise SeparatrixError(
            "Plots need matplotlib: pip install '.[plot]' in a clone of the repository, or use --no-plots."
        ) from error
    return Canvas(figsize=size, layout="constrained")


def prepare(folder: Path, stem: str, plots: bool) -> None:
    """Make the folder, and complain of what `write` could not write there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise SeparatrixError(f"{folder} cannot be made or written: {error.strerror}. Name another folder.") from error
    pictures = folder / stem
    if plots and pictures.exists() and not (pictures.is_dir() and os.access(pictures, os.W_OK | os.X_OK)):
        raise SeparatrixError(f"The pictures go to {pictures}, which is not a folder that can be written.")
    for path in (folder / f"{stem}.md", folder / f"{stem}.json"):
        if path.exists() and not (path.is_file() and os.access(path, os.W_OK)):
            raise SeparatrixError(f"{path} exists and cannot be replaced. Name another folder.")


def write(reports: Sequence[Report], folder: Path, stem: str, plots: bool) -> list[Path]:
    """``stem``.md, ``stem``.json and, with ``plots``, the pictures in the folder ``stem``; returns what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    level = 1 if len(reports) == 1 else 2
    text = "\n".join(report.markdown(stem if plots else None, level) for report in reports)
    if level == 2:
        text = f"# Reproductions\n\n{CONTENTS}\n\n{text}"
    page, numbers = folder / f"{stem}.md", folder / f"{stem}.json"
    page.write_text(text.rstrip() + "\n")
    contents = [report.contents() for report in reports]
    numbers.write_text(json.dumps(contents[0] if len(contents) == 1 else contents, indent=1) + "\n")
    written = [page, numbers]
    if plots:
        for report in reports:
            report.draw(folder / stem)
        if (folder / stem).is_dir():
            written.append(folder / stem)
    return written


CONTENTS = (
    "The tables, figures and exercises of the sources, computed with this library. This page is written by "
    "`separatrix reproduce all --full --output docs`; numbers marked `=` are the same as those of the source in every "
    "digit that it prints."
)
