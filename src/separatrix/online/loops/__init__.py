"""Compiled loops. Nothing here knows scikit-learn.

A kernel is found by the rule's class: one per class where its formulas are compiled in.
"""

from collections.abc import Callable
from typing import Any

from separatrix.rules.base import attribute


def kernel(rule: Any) -> Callable[..., int]:
    """The compiled loop that runs this rule."""
    from separatrix.online.loops import additive as loop
    from separatrix.online.loops import confidence_loop as confidence
    from separatrix.online.loops import greedy_loop as greedy
    from separatrix.online.loops import p_norm_loop as p_norm
    from separatrix.online.loops import recursive_least_squares as least_squares
    from separatrix.online.loops import winnow_loop as winnow

    rule_class: Any = type(rule)
    if attribute(rule, "loop") == "additive":
        return loop.additive_kernel(rule_class)
    if attribute(rule, "loop") == "confidence":
        return confidence.confidence_kernel(rule_class)
    if attribute(rule, "loop") == "p_norm":
        return p_norm.p_norm_kernel(rule_class)
    own: dict[str, Callable[[], Any]] = {
        "greedy": greedy.greedy_kernel,
        "winnow": winnow.winnow_kernel,
        "least_squares": least_squares.least_squares_kernel,
    }
    return own[attribute(rule, "loop")]()
