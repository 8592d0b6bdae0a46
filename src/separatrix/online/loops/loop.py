"""The loop over rows, resumable after any number of visits; the memory of a fit says what a visit computes.

    visit y:   m, the margin of y, and yy, its squared length, by ``score(memory, rows, i, c, state)``
    if the rule is violated:   ``apply(memory, rule, rows, i, m, s, state)``

Unless a memory defines them, m = a.y with the extension Delta e_k, and the update is the additive one of update.py.
``lengths(memory, rows, state)`` are |a|^2 and the same without the bias, ``begin(memory, rule, rows, state)`` and
``finish(memory, state)`` enclose the visits of a call. rows.py lists what the loop asks of rows.
"""

from separatrix.compile_cache import Kernel, one_per_rule
from separatrix.data.access import touch
from separatrix.online.loops.order import scattered
from separatrix.online.loops.rows import ask_for, bias2, lacking, nothing, product
from separatrix.online.loops.state import (
    FACTOR,
    LACKING,
    NORM2,
    POSITION,
    RUN,
    RUNNING,
    TOTAL,
    UPDATES,
    VISITS,
    count_update,
    end_epoch,
    not_negative,
)
from separatrix.online.loops.update import correct, note
from separatrix.rules.base import Scalars, verb, violates

LOOK_AHEAD = 6  # visits between asking for a row and using it, in shuffled epochs
STREAM = 32  # the same in epochs as the rows come, for the numbers that only updates read


def _margin(memory, rows, i, c, state):
    m = product(rows, i, state.v)
    if rows.frame.delta2 > 0.0:
        m += rows.frame.delta2 * state.alpha[i]
    return m * c, rows.norms2[i]


def _carried_lengths(memory, rows, state):
    norm2 = state.real[NORM2]
    return norm2, not_negative(norm2 - bias2(rows, state.real[FACTOR], state.v))


score, apply, lengths = verb("score", _margin), verb("apply", correct), verb("lengths", _carried_lengths)
begin, finish = verb("begin", nothing), verb("finish", nothing)


@one_per_rule
def online_kernel(key: str) -> Kernel:
    """Return the kernel that runs rules of this class: the formulas are compiled in."""

    def run(rule, rows, order, state, budget, max_updates):
        key  # noqa: B018  a closure cell, for numba's cache key
        memory, real, count = state.memory, state.real, state.counts
        n, status = order.sequence.shape[0], RUNNING
        begin(memory, rule, rows, state)
        while budget > 0 and status == RUNNING:
            # Visits up to the next update: without a store into v, what depends on a alone leaves this loop.
            c, total = real[FACTOR], real[FACTOR] * real[TOTAL]
            norm2, flat2 = lengths(memory, rows, state)
            start, t, visits = count[POSITION], count[UPDATES] + 1.0, count[VISITS]
            position, end = start, start + budget if start + budget < n else n
            violated, m, yy = False, 0.0, 0.0
            while position < end:
                i = position if order.seed < 0 else order.sequence[position]
                if scattered(order):
                    ask_for(rows, order.sequence[position + LOOK_AHEAD if position + LOOK_AHEAD < n else n - 1])
                else:  # rows follow each other
                    touch(rows.weight, i + STREAM)
                    touch(rows.norms2, i + STREAM)
                    touch(state.alpha, i + STREAM)
                m, yy = score(memory, rows, i, c, state)
                visit = float(visits + position - start + 1)
                s = Scalars(t, visit, norm2, flat2, total, yy, rows.frame.radius2, rows.weight[i])
                position += 1
                if violates(rule, m, s):
                    violated = True
                    break
            i = position - 1 if order.seed < 0 else order.sequence[position - 1]
            if violated and lacking(rows, i):
                position -= 1
                violated, status = False, LACKING
            count[POSITION] = position
            count[VISITS] += position - start
            count[RUN] += position - start
            budget -= position - start
            if violated:
                s = Scalars(t, float(count[VISITS]), norm2, flat2, total, yy, rows.frame.radius2, rows.weight[i])
                note(memory, rows, state, norm2)
                apply(memory, rule, rows, i, m, s, state)
                status = count_update(rule, m, s, count, max_updates)
            if position == n:
                status = end_epoch(count, order, status)
        finish(memory, state)
        return status

    return run
