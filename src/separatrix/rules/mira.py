"""MIRA: passive-aggressive I and II with all rivals of a row at once (Crammer & Singer, JMLR 3, 2003; Crammer, Dekel,
Keshet, Shalev-Shwartz & Singer, JMLR 7, 2006, for C).

Row y of category i, with the losses l_j = 1 - (a_i - a_j).y, changes a as little as possible:

    minimise  |a' - a|^2/2 + C xi (I) or C xi^2 (II)    with  (a'_i - a'_j).y >= 1 - xi for every rival j

The minimum is ``a_i += sum tau_j y``, ``a_j -= tau_j y`` with tau_j = max(0, l_j - level)/(|y|^2 + Delta^2): the
largest losses are levelled. Without a cap level = (|y|^2 + soften) S, S = sum tau, soften = 0 (I) or 1/(2C) (II); in I
S is at most C, which raises the level.
"""

from numba.extending import register_jitable


@register_jitable
def steps(losses, square, delta2, cap, soften, tau):
    """tau of each rival in the place of its loss; ``square`` = |y|^2 without the extension."""
    total, k, level = 0.0, 0, 0.0
    for j in range(losses.shape[0]):
        tau[j] = 0.0
    while True:  # take in the largest loss that is left, as long as it is above the level
        best = -1
        for j in range(losses.shape[0]):
            if tau[j] == 0.0 and losses[j] > level and (best < 0 or losses[j] > losses[best]):
                best = j
        if best < 0:
            break
        tau[best] = 1.0
        total, k = total + losses[best], k + 1
        level = level_of(total, k, square, delta2, cap, soften)
    for j in range(losses.shape[0]):
        tau[j] = max(0.0, losses[j] - level) / (square + delta2) if tau[j] > 0.0 else 0.0


@register_jitable
def level_of(total, k, square, delta2, cap, soften):
    """Where k losses of this sum are levelled."""
    sum_of_steps = total / (square + delta2 + k * (square + soften))
    if sum_of_steps > cap:
        return (total - cap * (square + delta2)) / k
    return (square + soften) * sum_of_steps
