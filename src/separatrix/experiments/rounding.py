"""How much rounding decides: CRAMMA's figure 1 to the letter, with a vector that is brought back to one length.

The loop of this library never divides the vector, it keeps a factor beside it, so that an update rounds each coordinate
once; dividing after every update rounds twice. In exact arithmetic the length would not matter, so what the count
changes from one length to another is rounding.
"""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def literal_cramma(Y, beta, power, eta, length):  # pragma: no cover - compiled
    """t at the end of CRAMMA^power on patterns of length at most 1, the vector kept at ``length``."""
    n, d = Y.shape
    v = Y[0] * (length / np.sqrt(np.sum(Y[0] * Y[0])))
    t, threshold, quiet, i = 1, beta * length, 0, 0
    while quiet < n:
        m = 0.0
        for j in range(d):
            m += v[j] * Y[i, j]
        if m <= threshold:
            square = 0.0
            for j in range(d):
                v[j] += eta * length * Y[i, j]
                square += v[j] * v[j]
            back = length / np.sqrt(square)
            for j in range(d):
                v[j] *= back
            t += 1
            threshold = length * beta * t**-power
            quiet = 0
        quiet += 1
        i += 1
        if i == n:
            i = 0
    return t
