"""The larger and the smaller of two numbers, for loops over many: such a loop runs in vector registers.

Python's ``max`` and ``min`` become a comparison and a choice, and the choice is not marked as one that respects neither
nan nor the sign of 0; LLVM keeps its order then, one number after the other, five times as slow.
"""

from typing import Any

from numba.core import types
from numba.extending import intrinsic, overload

HEEDS_NEITHER = ("nnan", "nsz")  # nan, the sign of 0


def larger(a: float, b: float) -> float:
    return a if a > b else b


def smaller(a: float, b: float) -> float:
    return a if a < b else b


def _choice(operator: str) -> Any:
    @intrinsic
    def chosen(typingctx, a, b):
        def codegen(context, builder, signature, args):
            first = builder.fcmp_ordered(operator, *args, flags=HEEDS_NEITHER)
            return builder.select(first, *args, flags=HEEDS_NEITHER)

        return types.float64(types.float64, types.float64), codegen

    return chosen


_larger, _smaller = _choice(">"), _choice("<")


@overload(larger)
def _(a, b):
    return lambda a, b: _larger(a, b)


@overload(smaller)
def _(a, b):
    return lambda a, b: _smaller(a, b)
