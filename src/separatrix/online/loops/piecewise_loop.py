"""One epoch of a piecewise linear machine: the fixed increment rule between the best piece of the row's own category
and the best piece of all others (DHS problem 9; eq. 115 for subclasses)."""

import numpy as np

from separatrix.compile_cache import Kernel, compiled, on_first_use
from separatrix.data.access import add_row, scores


@on_first_use
def epoch(key: str) -> Kernel:
    def run(X, codes, owner, sequence, weight, rho, margin, V):
        """Returns the number of corrections. ``owner[p]`` is the category of piece p."""
        key  # noqa: B018
        out, updates = np.empty(V.shape[0]), 0
        for k in range(sequence.shape[0]):
            i = sequence[k]
            scores(X, i, V, rho, out)
            own = rival = -1
            for p in range(V.shape[0]):
                if owner[p] == codes[i]:
                    if own < 0 or out[p] > out[own]:
                        own = p
                elif rival < 0 or out[p] > out[rival]:
                    rival = p
            if out[own] - out[rival] <= margin:
                add_row(weight[i], X, i, rho, V[own])
                add_row(-weight[i], X, i, rho, V[rival])
                updates += 1
        return updates

    return compiled(run, at_once=True)
