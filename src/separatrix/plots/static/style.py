"""How all pictures look: colours that everybody can tell apart, and markers and hatches for black and white."""

from functools import cache
from typing import Any

import numpy as np

from separatrix.errors import MissingExtraError

# Okabe & Ito's palette, in an order whose neighbours also differ in lightness.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000"]
MARKERS = ["o", "^", "s", "D", "v", "P", "X", "*"]
HATCHES = ["", "////", "....", "xxxx", "\\\\\\\\", "++++", "oooo", "----"]
INK = "#333333"
FAINT = "#DDDDDD"
MOST_POINTS = 5000  # rows that are drawn one by one; above it their density
MOST_WRITTEN = 12  # classes up to which a count stands in its square of a confusion matrix
TEXT = ("string", "str", "object", "category", "categorical", "enum")  # kinds of columns of frames, as they are called

# For letters that the first of them lacks; those that are not installed are left out.
FONTS = ["DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans SC", "WenQuanYi Zen Hei"]
FONTS += [
    "PingFang SC",
    "Microsoft YaHei",
    "Hiragino Sans",
    "Yu Gothic",
    "Malgun Gothic",
    "Arial Unicode MS",
    "Unifont",
]

STYLE = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titlepad": 10,
    "axes.labelsize": 10,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "svg.hashsalt": "separatrix",
}


def matplotlib() -> Any:
    """The package, or an error with the line that installs it."""
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtraError.of("matplotlib", "plot", "Drawing") from error
    return matplotlib


def styled() -> Any:
    """A context in which pictures look alike; nothing is changed for other pictures."""
    return matplotlib().rc_context({**STYLE, "font.family": _fonts()[0]})


@cache
def _fonts() -> tuple[list[str], frozenset[int]]:
    """The fonts that are installed, and the letters that they have."""
    matplotlib()
    from matplotlib import font_manager

    installed = set(font_manager.get_font_names())
    families = [name for name in FONTS if name in installed]
    files = [font_manager.findfont(name) for name in families]
    return families, frozenset(code for file in files for code in font_manager.get_font(file).get_charmap())


def axes_for(ax: Any, size: tuple[float, float] = (6.4, 4.4)) -> Any:
    """The given axes, or new ones as scikit-learn's displays make them."""
    if ax is not None:
        return ax
    matplotlib()
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def as_text(text: Any) -> str:
    """A name or label as it is: dollar signs would begin a formula, and control characters have no picture.

    A letter that no font has is shown by its number: boxes are all the same.
    """
    known = _fonts()[1]
    letters = (c if not c.isprintable() or ord(c) in known else f"\\u{ord(c):04x}" for c in str(text))
    return "".join(c if c.isprintable() else " " for c in letters).replace("$", r"\$")


def separator_in(estimator: Any) -> Any:
    """The separator at the end of a Pipeline, or the estimator itself."""
    steps = getattr(estimator, "steps", None)
    return steps[-1][1] if steps else estimator


def look(k: int) -> dict[str, Any]:
    """Colour and marker of class k; class k + 8 has the same colour and another marker."""
    return {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[(k + k // len(COLOURS)) % len(MARKERS)]}


def dense(X: Any) -> np.ndarray:
    """Rows as a float64 array."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def of_numbers(X: Any) -> bool:
    """Whether rows hold numbers alone: the columns of a frame may be text."""
    kinds = getattr(X, "dtypes", None)
    return kinds is None or not any(str(kind).lower() in TEXT for kind in kinds)
