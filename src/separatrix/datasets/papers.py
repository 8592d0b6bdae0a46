"""Sonar and Wisconsin breast cancer as CRAMMA section 5 uses them, read from the folder ``SEPARATRIX_DATA``."""

import os
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from separatrix.errors import DataError

# Positions, counted from 1, that section 5 removes from WBC to make it separable.
WBC_OUTLIERS = (2, 4, 191, 217, 227, 245, 252, 286, 307, 420, 475)


class Labelled(NamedTuple):
    X: np.ndarray
    y: np.ndarray


def data_file(*parts: str) -> Path:
    """A file under ``SEPARATRIX_DATA``."""
    folder = os.environ.get("SEPARATRIX_DATA")
    if not folder:
        raise DataError(
            f"{'/'.join(parts)} is not part of the package: set the environment variable SEPARATRIX_DATA to a folder "
            "that holds it."
        )
    path = Path(folder, *parts)
    if not path.is_file():
        raise DataError(f"SEPARATRIX_DATA={folder} holds no file {'/'.join(parts)}.")
    return path


def load_sonar() -> Labelled:
    """The 104 training patterns of the aspect-angle dependent experiment, in file order; mines are +1, rocks -1."""
    X, y = [], []
    for name, label in (("sonar.mines", 1), ("sonar.rocks", -1)):
        text = data_file("sonar", name).read_text()
        for star, numbers in re.findall(r"(\*?)C[MR]\d+:\s*\{([^}]*)\}", text):
            if star:
                X.append([float(v) for v in numbers.split()])
                y.append(label)
    return Labelled(np.array(X), np.array(y))


def load_wbc(separable: bool = False) -> Labelled:
    """The 683 complete rows of the original Wisconsin breast cancer data, in file order; malignant is +1, benign -1.

    ``separable``: without the 11 rows whose removal makes the classes linearly separable (WBC_-11 of the paper).
    """
    lines = data_file("wbc", "breast-cancer-wisconsin.data").read_text().splitlines()[1:]
    table = np.array([[float(v) for v in line.split(",")] for line in lines if line and "?" not in line])
    X, y = table[:, 1:10], np.where(table[:, 10] == 4, 1, -1)
    if separable:
        kept = np.setdiff1d(np.arange(len(y)), np.array(WBC_OUTLIERS) - 1)
        X, y = X[kept], y[kept]
    return Labelled(X, y)
