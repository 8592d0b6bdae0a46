"""The state of a page: points, separators and steps. It is a value, so it can be undone, and put into a link."""

import base64
import binascii
import json
import zlib
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from separatrix.app.workflows.known_algorithms import algorithm_named
from separatrix.errors import DataError
from separatrix.fit.online import OnlineClassifier
from separatrix.studio.forms import checked_parameters

MOST_POINTS = 2000
MOST_CLASSES = 5
MOST_SEPARATORS = 4
LONGEST_LINK = 60_000  # characters
LARGEST_STATE = 400_000  # bytes, unpacked
DEGREES = {"as they are": 1, "with squares and products (phi)": 2, "with cubes too (phi)": 3}


@dataclass(frozen=True)
class Separator:
    """An algorithm and the parameters that differ from its defaults."""

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def checked(cls, name: str, parameters: dict[str, Any]) -> "Separator":
        return cls(algorithm_named(name).name, checked_parameters(algorithm_named(name).cls, parameters))

    def estimator(self) -> Any:
        """The algorithm of the theorem, whose vector the page follows from update to update."""
        cls = algorithm_named(self.name).cls
        theorem = {"until": "separated"} if issubclass(cls, OnlineClassifier) else {}
        return cls(**theorem | self.parameters)


@dataclass(frozen=True, eq=False)
class Board:
    """``points`` of shape (n, 2) with the numbers of their classes, what learns from them, and how far it is."""

    points: np.ndarray
    codes: np.ndarray
    axes: tuple[str, str] = ("x1", "x2")
    names: tuple[str, ...] = ()  # of the classes, where they have some
    separators: tuple[Separator, ...] = (Separator("Perceptron"),)
    step: int = 0
    degree: int = 1  # of the functions phi of the two features

    @classmethod
    def of(cls, points: Any, codes: Any, axes: tuple[str, str] = ("x1", "x2"), **more: Any) -> "Board":
        """Places are rounded to what a link holds, so that a shared fit is the same to the last bit."""
        points = np.asarray(points, dtype=np.float64).reshape(-1, 2)
        codes = np.asarray(codes, dtype=np.int64)
        if len(points) != len(codes) or len(points) > MOST_POINTS:
            raise DataError(f"The studio takes at most {MOST_POINTS:,} points, each with a class.")
        if not np.all(np.isfinite(points)) or np.any(np.abs(points) > 1e12):
            raise DataError("The place of a point is not a finite number of sensible size.")
        if len(codes) and not (0 <= codes.min() and codes.max() < MOST_CLASSES):
            raise DataError(f"The studio takes classes 1 to {MOST_CLASSES}.")
        return cls(np.array([[float(f"{v:.6g}") for v in p] for p in points]).reshape(-1, 2), codes, axes, **more)

    @property
    def labels(self) -> np.ndarray:
        """Labels as numbers from 1, or as names where the classes have some."""
        return np.array(self.names)[self.codes] if self.names else self.codes + 1

    @property
    def classes(self) -> np.ndarray:
        return np.unique(self.codes)

    def changed(self, **fields: Any) -> "Board":
        return replace(self, **fields)

    def link(self) -> str:
        """The state as letters that may stand in an address."""
        parts = {
            "p": self.points.tolist(),
            "c": self.codes.tolist(),
            "a": list(self.axes),
            "n": list(self.names),
            "s": [[s.name, s.parameters] for s in self.separators],
            "t": self.step,
            "d": self.degree,
        }
        packed = zlib.compress(json.dumps(parts, separators=(",", ":")).encode(), 9)
        return base64.urlsafe_b64encode(packed).decode().rstrip("=")

    @classmethod
    def from_link(cls, text: str) -> "Board":
        """The state that a link holds; nothing of it is believed before it is checked."""
        try:
            if len(text) > LONGEST_LINK:
                raise ValueError("it is too long")
            unpack = zlib.decompressobj()
            content = unpack.decompress(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), LARGEST_STATE)
            if unpack.unconsumed_tail:
                raise ValueError("it unpacks to too much")
            parts = json.loads(content)
            separators = [Separator.checked(str(name), dict(parameters)) for name, parameters in parts["s"]]
            if not 0 < len(separators) <= MOST_SEPARATORS or parts["d"] not in DEGREES.values():
                raise ValueError("it holds too many separators or an unknown degree")
            first, second = (str(name)[:100] for name in parts["a"])
            names = tuple(str(name)[:100] for name in parts["n"])
            board = cls.of(
                parts["p"], parts["c"], (first, second), separators=tuple(separators), degree=int(parts["d"])
            )
            if names and (len(names) <= int(board.codes.max(initial=0)) or len(set(names)) < len(names)):
                raise ValueError("it names too few classes")
            return board.changed(names=names, step=min(max(int(parts["t"]), 0), 10**9))
        except (ValueError, TypeError, KeyError, OverflowError, zlib.error, binascii.Error, RecursionError) as error:
            raise DataError(f"The link holds no state of the studio: {str(error).splitlines()[0]}") from error
