"""What a fit proves: a margin that is reached, a bound on the best one, and whether a hyperplane separates at all.

`separatrix.certificates.certify` makes certificates, `separatrix.certificates.checker` decides them from the data
alone.
"""

import json
import sys
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from separatrix.certificates.notebook import figures_of
from separatrix.certificates.theory import Theory
from separatrix.errors import DataError
from separatrix.passes.kernel_patterns import Kernel
from separatrix.space import Space, Vector, default_errstate


@dataclass(frozen=True, eq=False)
class Certificate:
    """State how good a fit is, with the numbers that prove it.

    `verify` checks every claim against the data. Margins are directional margins in the space that ``space`` describes.

    Attributes
    ----------
    lower : float or None
        Margin achieved by ``direction``, rounded down. With ``space.delta`` > 0 it is J^(-1/2), with a finite C
        (2 value)^(-1/2). None if it was not measured.
    upper : float
        No direction has a larger margin; rounded up. inf if there is no bound.
    value : float or None
        Soft margins: the objective of the vector that predicts.
    bound : float or None
        Soft margins: no vector has a smaller objective.
    gap : float or None
        1 - (lower / upper)^2, the relative duality gap; 0 is optimal.
    ratio : float or None
        lower / upper, the certified fraction of the optimal margin.
    separable : bool or None
        True: a hyperplane is proved to separate the classes. False: it is proved that none does. None: undecided.
    space : Space
        The intercept, the loss and the extension of the space.
    radius : float
        Largest length of a row (with the intercept column).
    direction : ndarray
        The vector (w, b / rho); of several classes jointly their vectors one after the other; with a kernel the
        multiples of the rows, and an intercept.
    alpha_index, alpha : ndarray or None
        Rows and their multipliers, whose combination gives ``upper``. None if they were not kept.
    sample_weight : ndarray or None
        Rows of weight 0 are ignored. Margins are never weighted.
    n_classes : int
        2 for a hyperplane; c for one joint problem of c classes.
    class_pair : tuple or None
        The two classes of a certificate of one pair; other rows are ignored.
    kernel : object or None
        The inner product, if it is not that of the features.
    theory : Theory or None
        The bound of the theorem that applies to the fit, and the counts of the fit. None if no theorem applies: after
        `partial_fit` or a resumed fit, with weights, from a given start, for joint problems and kernels.
    slack_vector : ndarray or None
        The multipliers are the slacks of this vector, c max(0, 1 - a.y), if they are not listed.

    Notes
    -----
    With ``space.hinge`` = C the objective is P = |a|^2/2 + C sum c_k max(0, 1 - a.y_k); with ``space.fixed_length`` it
    is |a|^2/2 + C sum c_k max(0, 1 - a.y_k)^2 and C = 1/(2 delta^2). Otherwise J is minimized over gamma (CRAMMA eq.
    20). Of a joint problem, row k (c - 1) + r of Kesler's construction is row k against the r-th of its rivals.
    """

    lower: float | None
    upper: float
    separable: bool | None
    space: Space
    radius: float
    direction: Vector | None = field(default=None, repr=False)
    alpha_index: np.ndarray | None = field(default=None, repr=False)
    alpha: Vector | None = field(default=None, repr=False)
    sample_weight: Vector | None = field(default=None, repr=False)
    n_classes: int = 2
    class_pair: tuple[Any, Any] | None = None
    kernel: Kernel | None = None
    theory: Theory | None = field(default=None, repr=False)
    slack_vector: Vector | None = field(default=None, repr=False)

    @property
    def value(self) -> float | None:
        """The objective that the direction certainly reaches, 1/(2 lower^2): |a|^2/2 and the price of slack.

        With a soft margin's C it is that of the direction as it is, which then is the vector that predicts.
        """
        if self.lower is None:
            return None
        return 0.5 / self.lower / self.lower if self.lower > 0 else np.inf

    @property
    def bound(self) -> float:
        """An objective below which no vector gets, 1/(2 upper^2)."""
        return 0.5 / self.upper / self.upper if self.upper > 0 else np.inf

    @property
    def ratio(self) -> float | None:
        """lower / upper: the fraction of the best margin that is certainly reached."""
        if self.lower is None:
            return None
        if self.upper == 0:
            return 1.0 if self.lower == 0 else -np.inf
        return self.lower / self.upper

    @property
    def gap(self) -> float | None:
        """1 - (lower/upper)^2, the relative duality gap; 1 where the direction separates nothing."""
        ratio = self.ratio
        return None if ratio is None else 1.0 - max(ratio, 0.0) ** 2

    def __str__(self) -> str:
        soft = bool(self.space.delta or self.space.hinge)
        undecided = "soft margin" if soft else "separability undecided"
        verdict = {True: "linearly separable", False: "not linearly separable", None: undecided}[self.separable]
        gap = "" if self.gap is None or np.isinf(self.upper) else f"{self.gap:.2g}"
        if soft and self.value is not None:
            claims = [f"objective {self.value:.6g}", f"relative duality gap {gap}"]
        else:
            margin = "not measured" if self.lower is None else f"{self.lower:.6g}"
            bound = "no upper bound" if np.isinf(self.upper) else f"proven upper bound {self.upper:.6g}"
            claims = [f"margin {margin}", bound]
            if gap and self.lower is not None and self.lower > 0:
                claims.append(f"relative gap {gap}")
        where = f", {self.n_classes} classes jointly" if self.n_classes > 2 else ""
        return f"{verdict}: {', '.join(claims)} ({self.space.describe()}{where})"

    def _repr_html_(self) -> str:
        """For notebooks: in words, and as a figure."""
        words = str(self).replace("&", "&amp;").replace("<", "&lt;")
        return (
            '<div style="font-family:sans-serif;font-size:.9em;margin:.4em 0;max-width:36em"><div>'
            f"{words}</div>{figures_of(self)}</div>"
        )

    def as_plain(self) -> dict[str, Any]:
        """The claims and their proof as numbers, texts and lists: the form that ``separatrix.certificates.checker``
        documents.

        What is not claimed is left out, as is what the checker has no need of: `theory`, and an infinite upper bound.
        """
        if self.kernel is not None:
            raise DataError("A certificate in a kernel's space has no plain form: its numbers are not rational.")
        claim = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("space", "kernel", "theory")}
        claim["upper"] = None if self.upper == np.inf else self.upper
        claim["class_pair"] = None if self.class_pair is None else list(self.class_pair)
        claim.update(self.space._asdict())
        claim["signs"] = self.space.signs or None
        return {name: _plain(value) for name, value in claim.items() if value is not None}

    @default_errstate()
    def to_json(self, X: Any = None, y: ArrayLike | None = None) -> str:
        """The plain form as text; floats are written so that reading them gives the same bits.

        With the data, a proof that no hyperplane separates gets its exact weights too, as integers: the floats of
        ``alpha`` are only what rounding leaves of them, and a reader of the text has to find them again.

        Examples
        --------
        >>> from separatrix import Certificate, Perceptron
        >>> certificate = Perceptron().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]).certificate_
        >>> Certificate.from_json(certificate.to_json()).lower == certificate.lower
        True
        """
        claim = self.as_plain()
        if X is not None and y is not None:
            from separatrix.certificates.verification import exact_weights

            claim.update(exact_weights(self, X, y))
        try:
            return json.dumps(claim, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise DataError(f"The certificate cannot be written as JSON: {error}.") from error

    @classmethod
    def from_json(cls, text: str) -> "Certificate":
        """The certificate that `to_json` wrote. Nothing of it is believed before it is verified.

        Numbers stay what they are: one that float64 cannot hold is refused, and so is a field that has no place here.
        """
        try:
            claim = json.loads(text, object_pairs_hook=_fields_once)
        except DataError:
            raise
        except (TypeError, ValueError, RecursionError) as error:
            raise DataError(f"Invalid certificate JSON: {str(error)[:200]}.") from error
        single = {"lower", "upper", "radius", "separable", "n_classes", "class_pair"}
        known = {*single, *ARRAYS, *Space._fields, "alpha_exact"}
        if not isinstance(claim, dict) or not set(claim) <= known:
            raise DataError(
                "This is not the JSON form of a certificate: it has fields that none has, or, as weak, that only "
                "checker.py decides."
            )
        claim = {name: value for name, value in claim.items() if value is not None or name in Space._fields}
        signs = claim.pop("signs", "")
        if type(signs) is not str:
            raise DataError("signs of a certificate is a text.")
        numbers = {name: _number(claim[name], name) for name in Space._fields if name in claim}
        space = Space(**numbers, signs=signs)
        arrays: dict[str, Any] = {name: _array(claim[name], name) for name in ARRAYS if name in claim}
        rest: dict[str, Any] = {name: _number(claim.get(name), name) for name in ("lower", "separable", "radius")}
        between, n_classes = claim.get("class_pair"), claim.get("n_classes", 2)
        if type(n_classes) is not int or (between is not None and (type(between) is not list or len(between) != 2)):
            raise DataError("Invalid certificate: n_classes must be a number, class_pair a list of two labels.")
        upper: Any = _number(claim.get("upper", np.inf), "upper")
        pair = None if between is None else tuple(between)
        return cls(space=space, upper=upper, class_pair=pair, n_classes=n_classes, **rest, **arrays)

    @default_errstate()
    def verify(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None, exact: bool = True
    ) -> "Verification":
        """Decide every claim from the data alone, in exact arithmetic, by ``separatrix.certificates.checker``.

        X may be a row source (`separatrix.data`), which holds its labels. It is read again, and its claims are
        checked in floating point with bounds on rounding errors; that no hyperplane separates is always proved exactly.

        ``y`` has two values, of which the larger is the positive class, or as many as the machine has categories.
        Rows of weight 0 are left out: those of ``sample_weight``, or of the certificate's own weights if it is None;
        the outcome says how many. A claim in a kernel's space is checked in floating point with bounds on rounding
        errors, and the outcome says so: the values of a kernel are not rational numbers. ``exact`` is accepted for
        the sake of older code and changes nothing.

        Examples
        --------
        >>> from separatrix import Perceptron
        >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
        >>> certificate = Perceptron().fit(X, y).certificate_
        >>> print(certificate.verify(X, y))  # doctest: +ELLIPSIS
        holds: lower (...); upper (...); separable (...); radius (...)
        """
        from separatrix.certificates.verification import verify

        return verify(self, X, y, sample_weight)


MAX = sys.float_info.max
ARRAYS = {
    "direction": np.float64,
    "alpha_index": np.int64,
    "alpha": np.float64,
    "sample_weight": np.float64,
    "slack_vector": np.float64,
}


def _array(values: Any, name: str) -> np.ndarray:
    if type(values) is not list:
        raise DataError(f"Invalid certificate: field {name!r} must be a list.")
    whole = name == "alpha_index"
    if whole and not all(type(v) is int and 0 <= v < 2**63 for v in values):
        raise DataError(f"Invalid certificate: field {name!r} must hold row numbers.")
    return np.array(values if whole else [_number(v, name, "") for v in values], dtype=ARRAYS[name])


def _number(value: Any, name: str, switches: str = "free weighted fixed_length l1 separable") -> Any:
    """A float that equals it, None or a truth value where these belong; anything else is refused."""
    if value is None and name in ("lower", "separable", "radius"):
        return None
    if name in switches.split():
        fine = type(value) is bool
    else:
        fine = type(value) in (int, float) and (value == np.inf or (abs(value) <= MAX and float(value) == value))
    if not fine:
        raise DataError(f"Invalid certificate: field {name!r} must be a finite number of the right sign.")
    return value if type(value) is bool else float(value)


def _fields_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of a field that stands twice, one reader takes the first and another the last."""
    if len({name for name, _ in pairs}) < len(pairs):
        raise DataError("Invalid certificate JSON: a field occurs twice.")
    return dict(pairs)


def _plain(value: Any) -> Any:
    """Numbers and lists of Python: a float of fewer bits is the same number, one of more stays what it is."""
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


@dataclass(frozen=True)
class Verification:
    """Report the outcome of `Certificate.verify`: true if every claim was checked and none failed.

    Attributes
    ----------
    checked : tuple of str
        Claims that are true of the data.
    failed : tuple of str
        Claims that are false of the data, with the numbers found.
    unchecked : tuple of str
        Claims that could not be checked.
    notes : tuple of str
        Remarks, such as rows that are ignored.
    """

    checked: tuple[str, ...]
    failed: tuple[str, ...]
    unchecked: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.checked) and not self.failed and not self.unchecked

    def __str__(self) -> str:
        parts = [("FAILS", self.failed), ("holds", self.checked), ("not checkable", self.unchecked)]
        said = [f"{word}: {'; '.join(claims)}" for word, claims in parts if claims]
        return ". ".join([*said, *self.notes])
