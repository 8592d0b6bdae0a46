"""How the pictures of the gallery look: few lines, colours that people with any colour vision tell apart."""

import matplotlib
import matplotlib.pyplot as plt

STYLE = {
    "axes.prop_cycle": plt.cycler(color=["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#333333"]),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "figure.dpi": 110,
    "figure.figsize": (6.4, 4.2),
    "figure.constrained_layout.use": True,
    "legend.frameon": False,
}


def reset(gallery_conf, fname) -> None:
    """Called by sphinx-gallery before every example."""
    matplotlib.rcdefaults()
    plt.rcParams.update(STYLE)
