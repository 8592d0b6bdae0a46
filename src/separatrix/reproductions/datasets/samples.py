"""Tables to try things on, from data that come with scikit-learn."""

from difflib import get_close_matches
from typing import Any

from separatrix.errors import DataError

SAMPLES = {  # name: the column of the labels, and what the table is about
    "iris": ("species", "150 flowers of three species: lengths and widths of their leaves"),
    "wine": ("cultivar", "178 wines of three cultivars: what chemists measured"),
    "breast_cancer": ("diagnosis", "569 tumours, benign or malignant: what a microscope showed"),
}


def sample_table(name: str) -> tuple[Any, str]:
    """The table as a polars frame, and the name of the column with the labels."""
    import polars as pl
    from sklearn import datasets

    if name not in SAMPLES:
        near = get_close_matches(name, SAMPLES, 1, 0.4)
        hint = f" Did you mean {near[0]}.csv?" if near else f" There are {', '.join(f'{n}.csv' for n in SAMPLES)}."
        raise DataError(f"There is no sample {name!r}.{hint}")
    data, target = getattr(datasets, f"load_{name}")(), SAMPLES[name][0]
    columns = {_plain(column): data.data[:, j] for j, column in enumerate(data.feature_names)}
    return pl.DataFrame({**columns, target: data.target_names[data.target]}), target


def _plain(name: str) -> str:
    return name.removesuffix(" (cm)").replace(" ", "_").replace("/", "_")
