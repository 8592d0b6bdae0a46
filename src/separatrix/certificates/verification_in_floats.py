"""Claims that are checked in floating point, with bounds on rounding errors: of kernels, and of rows out of core.

That no hyperplane separates is always proved exactly, if it can be.
"""

from typing import Any

import numpy as np

from separatrix.cancellation import Clock, OutOfTimeError
from separatrix.certificates.certificate import Certificate, Verification
from separatrix.certificates.certify import lower_bound, plain_margin, separates_exactly, slack_bound, upper_bound
from separatrix.certificates.exact import LARGEST_SYSTEM, vanishing_weights
from separatrix.certificates.gordan import gordan
from separatrix.certificates.kernel_gordan import refute
from separatrix.data.memory import as_rows
from separatrix.passes.kernel_patterns import KernelPatterns
from separatrix.space import Vector

SEARCH = 20.0  # seconds in which exact multipliers are looked for
ROUNDED = 1e-10  # of the sizes of its terms, a sum is more than rounding errors
TOO_SMALL, TOO_LARGE = 1e-100, 1e100  # between them error bounds of floating point hold: no square is lost

Outcome = tuple[bool | None, str]  # None: not decided; and why


def weights_that_vanish(patterns: Any, places: np.ndarray, alpha: Vector, clock: Clock) -> list[int] | None:
    """Integers >= 0 with which these patterns combine to 0; ``alpha``: what a claim lists. None if none were found."""
    V, columns = patterns.narrow_rows(places)
    if patterns.space.signs:
        V = _tight_columns(V, patterns.space.column_signs()[columns], alpha)
        if not V.any():
            return None  # the listed weights prove it as they are
    listed = alpha.shape == places.shape and bool(np.all((alpha > 0) & (alpha < np.inf)))
    with np.errstate(all="ignore"):
        weight = vanishing_weights(V, alpha if listed else np.ones(len(places)), clock)
        few = gordan(patterns, places, alpha, clock) if weight is None and listed else None
    if few is None:
        return weight
    known = dict(zip(few.rows.tolist(), few.exact, strict=True))
    return [known.get(k, 0) for k in places.tolist()]


def _tight_columns(V: np.ndarray, signs: np.ndarray, alpha: Vector) -> np.ndarray:
    """Return the columns in which the combination has to vanish: in the others it has the sign that proves as much."""
    if alpha.shape != V.shape[:1]:
        return V
    left = alpha @ V
    return V[:, ~(signs * left < -ROUNDED * (np.abs(alpha) @ np.abs(V)))]


def verify_in_floats(
    claim: Certificate, patterns: Any, kept: np.ndarray | None, note: str, bounds: bool = True
) -> Verification:
    """The claims, with bounds on rounding errors. ``kept``: the numbers of the rows that take part, None for all.
    Not ``bounds``: lower and upper are not known to be checked in this space."""
    with np.errstate(all="ignore"):
        try:
            return _settled(claim, patterns, kept, note, bounds)
        except ArithmeticError as error:
            return Verification((), (), (f"every claim ({error}: its numbers are too far apart)",), (note,))


def _settled(claim: Certificate, patterns: Any, kept: np.ndarray | None, note: str, bounds: bool) -> Verification:
    sizes = [patterns.radius, *(x for x in (claim.space.rho, claim.space.delta, claim.space.hinge) if x)]
    if not all(TOO_SMALL < x < TOO_LARGE for x in sizes):
        beyond = f"every claim (data or space are not between {TOO_SMALL:g} and {TOO_LARGE:g})"
        return Verification((), (), (beyond,), (note,))
    found: dict[bool | None, list[str]] = {True: [], False: [], None: []}
    deciders = {"lower": _lower, "upper": _upper, "separable": _separable, "radius": _radius}
    if not bounds:
        del deciders["lower"], deciders["upper"]
        if claim.lower is not None or claim.upper != np.inf:
            why = "not checked for the hinge loss, or weights that are no penalty, of rows out of core"
            found[None].append(f"lower and upper ({why})")
    for name, decide in deciders.items():
        outcome = decide(claim, patterns, kept)
        if outcome is not None:
            holds, why = outcome
            found[None if holds is None else bool(holds)].append(f"{name} ({why})")
    return Verification(tuple(found[True]), tuple(found[False]), tuple(found[None]), (note,))


def _lower(claim: Certificate, patterns: Any, kept: np.ndarray | None) -> Outcome | None:
    if claim.lower is None:
        return None
    if claim.direction is None:
        return None, f"{claim.lower:.6g} comes without a direction"
    reached = lower_bound(patterns, np.asarray(claim.direction, dtype=np.float64), slack=1.0)
    if reached > patterns.radius * (1.0 + 1e-9) and not (claim.space.hinge or claim.space.delta):
        reached = -np.inf
    return claim.lower <= reached, f"{claim.lower:.6g}, the direction reaches {reached:.6g}"


def _separable(claim: Certificate, patterns: Any, kept: np.ndarray | None) -> Outcome | None:
    if claim.separable is None:
        return None
    a = None if claim.direction is None else np.asarray(claim.direction, dtype=np.float64)
    margin = -np.inf if a is None else plain_margin(patterns, a, slack=1.0)
    if claim.separable:
        if margin > 0 or a is None:
            return margin > 0 if a is not None else None, f"True, the direction has margin {margin:.6g}"
        exactly = patterns.explicit and separates_exactly(patterns, a)
        why = "in rational arithmetic" if patterns.explicit else f"True, the direction has margin {margin:.6g}"
        return exactly, why
    if margin > 0:
        return False, f"False, the direction has margin {margin:.6g}"
    if claim.alpha_index is None or not (patterns.explicit or claim.kernel is not None):
        return None, f"False, the direction has margin {margin:.6g}"
    why, holds = "False, the listed patterns combine to exactly 0", None
    if patterns.explicit:
        holds = _vanishes(claim, patterns, kept)
    if holds is None and claim.kernel is not None:
        why, holds = "False, exactly", _vanishes_in_kernel(np.asarray(claim.alpha_index), patterns, kept)
    return holds, why if holds else "no combination of 0 was found"


def _radius(claim: Certificate, patterns: Any, kept: np.ndarray | None) -> Outcome | None:
    if claim.radius is None:
        return None
    R = patterns.radius
    return abs(claim.radius - R) <= 1e-12 * R, f"R = {R:.6g}, claimed {claim.radius:.6g}"


def _vanishes(claim: Certificate, patterns: Any, kept: np.ndarray | None) -> bool | None:
    """Do the listed patterns combine to 0, exactly? None where they are too many to tell."""
    index, alpha = np.asarray(claim.alpha_index), np.asarray(claim.alpha, dtype=np.float64)
    if len(index) > LARGEST_SYSTEM:
        return None
    if not _take_part(index, patterns, kept):
        return False
    try:
        if weights_that_vanish(patterns, _places(index, kept), alpha, Clock(SEARCH)) is not None:
            return True
    except OutOfTimeError:
        return None
    return False if len(index) <= patterns.d + 2 else None


def _vanishes_in_kernel(index: np.ndarray, patterns: KernelPatterns, kept: np.ndarray | None) -> bool | None:
    """Do some of these patterns combine to 0, exactly? None where that is not known."""
    if not _take_part(index, patterns, kept):
        return False
    places = _places(index, kept)
    part = KernelPatterns(
        as_rows(patterns.matrix[places]), patterns.labels[places], patterns.space, patterns.kernel, columns=index
    )
    return True if refute(part, np.arange(len(places))) is not None else None


def _take_part(index: np.ndarray, patterns: Any, kept: np.ndarray | None) -> bool:
    """Are these numbers of distinct patterns that take part?"""
    if index.dtype.kind not in "iu" or len(np.unique(index)) != len(index):
        return False
    return bool(np.all((index >= 0) & (index < patterns.n) if kept is None else np.isin(index, kept)))


def _places(index: np.ndarray, kept: np.ndarray | None) -> np.ndarray:
    """The numbers of patterns among those that take part."""
    return index if kept is None else np.searchsorted(kept, index)


def _upper(claim: Certificate, patterns: Any, kept: np.ndarray | None) -> Outcome | None:
    if claim.upper in (None, np.inf):
        return None
    if claim.slack_vector is not None and not patterns.here:
        found = slack_bound(patterns, np.asarray(claim.slack_vector, dtype=np.float64), slack=1.0)
        return found <= claim.upper, f"{claim.upper:.6g}, the slacks of a vector give {found:.6g}"
    if claim.alpha is None or claim.alpha_index is None:
        return None, f"{claim.upper:.6g} comes without multipliers"
    index, alpha = np.asarray(claim.alpha_index), np.asarray(claim.alpha, dtype=np.float64)
    if len(index) != len(alpha) or not _take_part(index, patterns, kept):
        return False, "the multipliers do not belong to distinct rows that take part"
    if not (np.all(alpha >= 0) and 0 < alpha.sum() < np.inf):
        return False, "the multipliers are not non-negative numbers with a positive sum"
    if not patterns.definite:
        return patterns.definite, "the kernel is not known to be positive semi-definite on these rows"
    found = upper_bound(patterns, _places(index, kept), alpha, slack=1.0)
    return found <= claim.upper, f"{claim.upper:.6g}, the multipliers give {found:.6g}"
