"""Algorithms compared, sorted by what the reader asks for."""

import math
from typing import Any

from separatrix.errors import DataError
from separatrix.plots.interactive.canvas import View, hover, new_figure, plain
from separatrix.plots.static.style import COLOURS

MEASURES = {  # what the rows of a comparison hold, in words; whether more is better
    "share": ("certified share of the best margin, %", 100.0, True),
    "cv": ("cross-validated accuracy, %", 100.0, True),
    "train": ("accuracy on the data, %", 100.0, True),
    "seconds": ("seconds for the fit", 1.0, False),
    "updates": ("updates", 1.0, False),
}

WIDGET = ".bk-input { color: inherit; background-color: transparent; } option { color: #222; background: #fff; }"

SORT = """
const [key, better] = [source.data.keys[0][select.value], source.data.better[0][select.value]];
const columns = bars.data, place = columns.name.map((_, i) => i);
const value = (i) => columns[key][i];
const missing = better ? -Infinity : Infinity;
const sized = (i) => Number.isNaN(value(i)) || value(i) === null ? missing : value(i);
place.sort((a, b) => better ? sized(b) - sized(a) : sized(a) - sized(b));
bars.data = {...columns, shown: columns[key].map((v) => (v === null || Number.isNaN(v)) ? 0 : v)};
range.factors = place.map((i) => columns.name[i]).reverse();
axis.axis_label = select.value;
x.start = 0; x.end = Math.max(...bars.data.shown) * 1.05 || 1;
"""


def comparison(rows: list[dict[str, Any]], *, title: str = "Algorithms compared") -> View:
    """Bars for each algorithm, by a measure that the reader chooses; they are sorted by it, the best on top."""
    rows = [row for row in rows if not row.get("why_not")]
    if not rows:
        raise DataError("There are no algorithms to compare.")
    measures = {k: m for k, m in MEASURES.items() if any(row.get(k) is not None for row in rows)}
    names = [plain(row["name"], 40) for row in rows]
    first = next(iter(measures))

    def values(key: str) -> list[float]:
        found = [math.nan if row.get(key) is None else measures[key][1] * float(row[key]) for row in rows]
        return [max(v, 0.0) if key == "share" else v for v in found]

    shown = [0.0 if math.isnan(v) else v for v in values(first)]
    order = sorted(range(len(rows)), key=lambda i: -shown[i])
    if not measures[first][2]:
        order.reverse()
    figure = new_figure(
        measures[first][0], "", height=110 + 22 * len(rows), y_range=[names[i] for i in order][::-1], x_range=(0, 1)
    )
    figure.x_range.end = max(shown) * 1.05 or 1.0
    from bokeh.layouts import column
    from bokeh.models import ColumnDataSource, CustomJS, Select

    data = {"name": names, "shown": shown, **{key: values(key) for key in measures}}
    data["words"] = [_words(row) for row in rows]
    source = ColumnDataSource(data)
    bars = figure.hbar(y="name", right="shown", height=0.7, source=source, fill_color=COLOURS[0], line_color=None)
    hover(figure, [bars], [("", "@name"), ("", "@words")])
    figure.ygrid.grid_line_color = None
    select = Select(
        title="sorted by",
        value=measures[first][0],
        options=[words for words, _, _ in measures.values()],
        stylesheets=[WIDGET],
    )
    keys = {words: key for key, (words, _, _) in measures.items()}
    better = {words: more for words, _, more in measures.values()}
    tables = ColumnDataSource({"keys": [keys], "better": [better]})
    arguments = {"select": select, "bars": source, "source": tables, "range": figure.y_range, "x": figure.x_range}
    select.js_on_change("value", CustomJS(args={**arguments, "axis": figure.xaxis[0]}, code=SORT))
    layout = column(select, figure, sizing_mode="stretch_width")
    layout.height = figure.height + 70
    return View(layout, title, f"{len(rows)} algorithms, each with its defaults.")


def _words(row: dict[str, Any]) -> str:
    parts = []
    for key, (words, factor, _) in MEASURES.items():
        if row.get(key) is not None:
            parts.append(f"{words.removesuffix(', %')} {factor * row[key]:.4g}{'%' if words.endswith('%') else ''}")
    if not row.get("converged", True):
        parts.append("did not converge")
    return "; ".join(parts)
