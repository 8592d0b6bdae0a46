"""Compiled loops. Nothing here knows scikit-learn.

A kernel is found by the rule's class: one per class for the additive loop, because its formulas are compiled in.
"""

from collections.abc import Callable
from typing import Any

from separatrix.rules.base import attribute


def kernel(rule: Any) -> Callable[..., int]:
    """The compiled loop that runs this rule."""
    from separatrix.kernels import greedy, least_squares, loop, winnow

    makers: dict[str, Callable[[Any], Any]] = {
        "additive": loop.additive_kernel,
        "greedy": greedy.greedy_kernel,
        "winnow": winnow.winnow_kernel,
        "least_squares": least_squares.least_squares_kernel,
    }
    return makers[attribute(rule, "loop")](type(rule))
