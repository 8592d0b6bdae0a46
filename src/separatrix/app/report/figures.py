"""The pictures of reports and of ``--plot``, drawn without a window and without touching the user's figures."""

import base64
import io
from functools import partial
from pathlib import Path
from typing import Any

from separatrix import plots
from separatrix.app.ranking import Ranking
from separatrix.app.tables.table import Table
from separatrix.app.workflows.fitting import Fit
from separatrix.errors import DataError
from separatrix.persistence.output import write_atomically
from separatrix.plots import CriticalDifferenceDisplay
from separatrix.plots.interactive.canvas import bokeh
from separatrix.plots.static.style import matplotlib, styled

ENDINGS = ("png", "svg", "pdf")
PAGES = ("html", "htm")  # interactive
SIZE = (7.4, 4.6)  # of a picture, in inches


def _figure(size: tuple[float, float]) -> Any:
    matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _bytes(figure: Any, ending: str) -> bytes:
    buffer = io.BytesIO()
    stamp = {"Date": None} if ending == "svg" else {"CreationDate": None} if ending == "pdf" else None
    figure.savefig(buffer, format=ending, dpi=130, metadata=stamp)
    return buffer.getvalue()


def fresh_axes() -> Any:
    """Return the axes of a new picture."""
    with styled():
        return _figure(SIZE).subplots()


def check_ending(path: str | Path, pages: bool = True) -> None:
    """Raise before the work where a picture cannot be written; ``pages``: whether there is an interactive one."""
    if pages and _ending(path) in PAGES:
        bokeh()
        return
    matplotlib()
    if _ending(path) not in ENDINGS:
        known = (*ENDINGS, PAGES[0]) if pages else ENDINGS
        raise DataError(f"{path}: {'a picture' if pages else 'a diagram of ranks'} ends with .{', .'.join(known)}.")


def write_boundary(fit: Fit, path: str | Path) -> None:
    draw = partial(plots.boundary, fit.model, fit.table.X, fit.table.y)
    if _ending(path) in PAGES:
        draw(interactive=True).save(path)
    else:
        write_atomically(path, _bytes(draw(ax=fresh_axes()).figure_, _ending(path)))


def write_comparison(rows: list[dict[str, Any]], table: Table, path: str | Path) -> None:
    title = f"{Path(table.source).name}: {table.n:,} rows, {table.d} features, {len(rows)} algorithms"
    if _ending(path) in PAGES:
        plots.comparison(rows, title=title, interactive=True).save(path)
        return
    figure = _figure((9.0, 1.5 + 0.28 * len(rows)))
    plots.comparison(rows, title=title, figure=figure)
    write_atomically(path, _bytes(figure, _ending(path)))


def write_ranks(ranking: Ranking, path: str | Path) -> None:
    display = CriticalDifferenceDisplay(ranking=ranking)
    display.plot(_figure(display.size))
    write_atomically(path, _bytes(display.figure_, _ending(path)))


def embedded(display: Any) -> str:
    """The picture as a data URL, for pages in one file."""
    return "data:image/png;base64," + base64.b64encode(_bytes(display.figure_, "png")).decode()


def _ending(path: str | Path) -> str:
    return Path(path).suffix.lower()[1:]
