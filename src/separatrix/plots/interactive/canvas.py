"""What all interactive figures share: their looks in light and dark, and how they get into pages and notebooks."""

import json
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from separatrix.errors import MissingExtraError
from separatrix.persistence.output import write_atomically
from separatrix.plots.static.style import COLOURS, FAINT, INK

# As many shapes as colours: class k + 8 has the colour of class k and another shape, so 64 classes differ.
SHAPES = ["circle", "triangle", "square", "diamond", "inverted_triangle", "hex", "star", "plus"]
HATCHES = [
    "blank",
    "right_diagonal_line",
    "dot",
    "cross",
    "left_diagonal_line",
    "horizontal_line",
    "ring",
    "vertical_line",
]
RIGHT, WRONG = "#5B6770", "#B2182B"  # of answers: none of them is the colour of a class
REST = "#888888", "circle"  # the look of all other classes together
# The background, seen through. Not None: BokehJS strokes the frame without a new path (PlotView._paint_outline), and
# where nothing was filled before, the last path of the former picture is drawn once more: ghosts of ticks and grids.
CLEAR = (255, 255, 255, 0.0)
LONGEST_NAME = 28  # characters of a name that stands at an axis or in a legend

# Numbers at an axis as people write them: 0.003 and 2e-5, where Bokeh's own are 3.000e-3 and 2.000e-5.
SHORT = """
const size = Math.abs(tick), step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : size;
if (size < 1e-6 * step) return "0";
const short = Number(tick.toPrecision(9));
return (size < 1e-3 || size >= 1e6 ? short.toExponential().replace("e+", "e")
  : short.toLocaleString("en-US", {maximumFractionDigits: 9})).replaceAll("-", "\u2212");
"""

# Colours of text, lines and grids follow the page. What a glyph is tagged with says which of its colours is ink.
FOLLOW_THEME = """
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const forced = () => document.documentElement.dataset.theme;
  const recolour = () => {
    const night = forced() ? forced() === "dark" : dark.matches;
    const ink = night ? "#eeeeee" : "#333333", line = night ? "#444444" : "#dddddd";
    const paper = night ? "#161616" : "#ffffff";
    const black = night ? "#cfcfcf" : "#000000";
    for (const doc of (window.Bokeh ? window.Bokeh.documents : [])) {
      for (const model of doc.all_models) {
        const change = {};
        const set = (names, colour) => {
          for (const name of names) if (name in model.attributes) change[name] = colour;
        };
        if (model.type === "Figure" || model.type === "Plot") {
          Object.assign(change, {border_fill_color: null, outline_line_color: line});
        } else if (model.type.endsWith("Axis")) {
          set(["axis_label_text_color", "major_label_text_color", "group_text_color", "subgroup_text_color",
            "axis_line_color", "major_tick_line_color"], ink);
        } else if (model.type === "Grid") {
          set(["grid_line_color"], line);
        } else if (model.type === "Legend") {
          Object.assign(change, {background_fill_color: null, border_line_color: null, label_text_color: ink,
            inactive_fill_color: paper});
        } else if (model.type === "ColorBar") {
          Object.assign(change, {background_fill_color: null, major_label_text_color: ink, title_text_color: ink});
        }
        for (const tag of model.tags || []) {
          if (tag === "ink-line") change.line_color = ink;
          if (tag === "ink-fill") change.fill_color = ink;
          if (tag === "ink-text") change.text_color = ink;
          if (tag === "paper-line") change.line_color = paper;
          if (tag === "black-fill") change.fill_color = black;
        }
        for (const [name, value] of Object.entries(change)) {
          const is = model.attributes[name];
          const wrapped = is && typeof is === "object" && "value" in is;
          if ((wrapped ? is.value : is) !== value) model.setv({[name]: wrapped ? {value} : value}, {sync: false});
        }
      }
    }
  };
  window.separatrixRecolour = recolour;
  dark.addEventListener("change", recolour);
  const begin = () => {
    if (window.Bokeh && window.Bokeh.documents.length && window.Bokeh.documents.every((d) => d.is_idle)) recolour();
    else setTimeout(begin, 50);
  };
  begin();
})();
"""


def bokeh() -> Any:
    """The package, or an error with the line that installs it."""
    try:
        import bokeh
    except ImportError as error:
        raise MissingExtraError.of("bokeh", "view", "An interactive figure") from error
    return bokeh


def look(k: int) -> tuple[str, str]:
    """Colour and shape of class k."""
    return COLOURS[k % len(COLOURS)], SHAPES[(k + k // len(COLOURS)) % len(SHAPES)]


def plain(text: Any, longest: int | None = LONGEST_NAME) -> str:
    """A name as it is, shortened where there is little room: two dollar signs would begin a formula in Bokeh."""
    words = "".join(c if c.isprintable() else " " for c in str(text))
    words = words.replace("$$", "$\u200b$").replace("\\(", "\\\u200b(").replace("\\[", "\\\u200b[")
    return words if longest is None or len(words) <= longest else words[: longest - 1] + "…"


def distinct(names: list[str]) -> list[str]:
    """Names that were cut may have become the same: then they get their place as a number."""
    return [f"{name} ({k + 1})" if names.count(name) > 1 else name for k, name in enumerate(names)]


def new_figure(x: Any = "", y: Any = "", *, height: int = 380, **options: Any) -> Any:
    """An empty figure that takes the width of its page; a finger on it scrolls the page until a tool is chosen."""
    bokeh()
    from bokeh.models import CustomJSTickFormatter, LinearAxis
    from bokeh.plotting import figure

    tools = options.pop("tools", "pan,wheel_zoom,box_zoom,reset,save")
    shown = figure(
        height=height,
        sizing_mode="stretch_width",
        tools=tools,
        active_drag=None,
        active_scroll=None,
        toolbar_location="right" if tools else None,
        x_axis_label=plain(x, 90),
        y_axis_label=plain(y, 60),
        min_width=200,
        **options,
    )
    shown.background_fill_color, shown.border_fill_color = CLEAR, None
    shown.toolbar.logo = None
    shown.toolbar.autohide = True
    shown.outline_line_color = FAINT
    for grid in shown.grid:
        grid.grid_line_color = FAINT
        grid.grid_line_alpha = 0.6
    for axis in shown.axis:
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_text_color = axis.major_label_text_color = INK
        axis.axis_line_color = axis.major_tick_line_color = INK
        axis.minor_tick_line_color = None
        if isinstance(axis, LinearAxis):
            axis.formatter = CustomJSTickFormatter(code=SHORT)
    return shown


def hover(figure: Any, renderers: list[Any], rows: list[tuple[str, str]]) -> None:
    """Words that appear over some glyphs; values of columns are shown as text, never as markup."""
    from bokeh.models import HoverTool

    figure.add_tools(HoverTool(renderers=renderers, tooltips=rows, visible=False))


def legend_below(figure: Any, entries: list[tuple[str, list[Any]]], columns: int = 2) -> None:
    """A legend under the figure, of two columns, so that it fits on a telephone; a click hides what it names."""
    from bokeh.models import Legend, LegendItem

    items = [LegendItem(label={"value": plain(name, 22)}, renderers=list(glyphs)) for name, glyphs in entries if glyphs]
    legend = Legend(
        items=items,
        orientation="horizontal",
        ncols=columns,
        click_policy="hide",
        label_text_color=INK,
        background_fill_color=None,
        border_line_color=None,
        spacing=4,
        margin=4,
        padding=2,
        label_text_font_size="9pt",
    )
    figure.add_layout(legend, "below")


@dataclass(frozen=True)
class View:
    """An interactive figure that notebooks display; `save` writes it as a page.

    Attributes
    ----------
    figure : object
        The Bokeh model, to arrange in a layout.
    title, caption : str
        Its texts.
    """

    figure: Any
    title: str
    caption: str = ""

    def page(self) -> str:
        """One HTML page with everything inside; it needs no network."""
        return figure_page([self], self.title)

    def save(self, path: str | Path) -> None:
        """Write the page to a file, completely or not at all."""
        write_atomically(path, self.page().encode())

    def _repr_html_(self) -> str:
        return framed([self])


def scripts(figures: list[Any]) -> str:
    """BokehJS inside script tags: its widgets only where a figure has one."""
    from bokeh.models import Widget
    from bokeh.resources import Resources

    widgets = any(next(iter(figure.select({"type": Widget})), None) for figure in figures)
    parts = ["bokeh", "bokeh-widgets"] if widgets else ["bokeh"]
    files = Resources(mode="inline", log_level="error", components=parts).js_raw
    return "\n".join("<script>" + text.replace("</script", "<\\/script") + "</script>" for text in files)


def components(views: list[View]) -> tuple[str, list[str]]:
    """A script, and a place in the page for each view."""
    from bokeh.embed import components as embedded

    script, places = embedded([view.figure for view in views])
    return script, list(places)


def blocks(views: list[View], places: list[str], level: int = 2) -> list[str]:
    """The views as HTML with headings and captions, for a reader of the screen too."""
    return [
        f'<figure role="group" aria-label="{escape(view.title)}"><h{level}>{escape(view.title)}</h{level}>{place}'
        + (f"<figcaption>{escape(view.caption)}</figcaption>" if view.caption else "")
        + "</figure>"
        for view, place in zip(views, places, strict=True)
    ]


PAGE_STYLE = """
:root { color-scheme: light dark; --ink: #222; --faint: #666; --paper: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #eee; --faint: #aaa; --paper: #161616; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 0 auto;
  max-width: 56rem; padding: 0 .8rem; }
figure { margin: 0 0 1rem; min-width: 0; } h2 { font-size: 1.05rem; margin: .6rem 0 .2rem; }
figcaption { color: var(--faint); font-size: .9rem; }
"""


def figure_page(views: list[View], title: str) -> str:
    """A page of figures alone."""
    script, places = components(views)
    body = "\n".join(blocks(views, places))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{PAGE_STYLE}</style>{scripts([v.figure for v in views])}</head><body>\n"
        f"{body}\n{script}\n<script>{FOLLOW_THEME}</script></body></html>\n"
    )


def framed(views: list[View]) -> str:
    """The page inside a frame, as notebooks take it: its scripts and styles touch nothing outside."""
    inside = figure_page(views, views[0].title if views else "")
    height = sum(110 + (view.figure.height or 400) for view in views)
    return (
        f'<iframe title={json.dumps(escape(views[0].title))} style="border:0;width:min(46rem,88vw);height:{height}px" '
        f'srcdoc="{escape(inside, quote=True)}"></iframe>'
    )
