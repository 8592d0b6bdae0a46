"""The order of visits: permutations drawn from (seed, epoch), row by row or in blocks of neighbours."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from separatrix import KernelPerceptron, Perceptron
from separatrix.data import memory
from separatrix.data.memory import MemoryRows, rows_together
from separatrix.online.loops.order import order_of, permutation

WORD = 2**64


def mixed(z):
    z = ((z % WORD) ^ (z % WORD >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
    return z ^ (z >> 31)


def shuffled(n, state):
    """Fisher-Yates with SplitMix64, in Python's integers."""
    numbers = list(range(n))
    for i in range(n - 1, 0, -1):
        state = (state + 0x9E3779B97F4A7C15) % WORD
        j = mixed(state) % (i + 1)
        numbers[i], numbers[j] = numbers[j], numbers[i]
    return numbers, state


def oracle(n, seed, epoch, together):
    state = mixed(mixed(seed) ^ epoch)
    if together <= 1:
        return shuffled(n, state)[0]
    blocks, state = shuffled(-(-n // together) + 1, state)
    before, found = mixed(state + epoch) % together, []
    for b in blocks:
        found += [i for i in range(n) if (i + before) // together == b]
    return found


@pytest.mark.nojit
@pytest.mark.parametrize("n", [1, 2, 5, 97, 1000])
@pytest.mark.parametrize("together", [0, 1, 2, 10, 5000])
def test_an_epoch_is_the_permutation_of_the_oracle(n, together):
    order = order_of(n, 7, together)
    for epoch in (0, 3):
        with np.errstate(over="ignore"):
            permutation()(order, epoch)
        assert_array_equal(order.sequence, oracle(n, 7, epoch, together))
        assert_array_equal(np.sort(order.sequence), np.arange(n))


def test_blocks_are_read_in_sequence_and_many():
    wide, few = MemoryRows(np.zeros((300_000, 50))), MemoryRows(np.zeros((1000, 2)))
    assert 50 * rows_together(wide) <= memory.TOGETHER < 50 * (rows_together(wide) + 1)
    assert rows_together(few) == 1000 // memory.LEAST_PARTS
    assert rows_together(MemoryRows(np.zeros((10, 2)))) == 0  # row by row: few rows are in a cache anyway


@pytest.mark.filterwarnings("ignore:.*max_iter")
def test_a_fit_in_blocks_can_be_resumed(rng, monkeypatch):
    monkeypatch.setattr(memory, "LEAST_PARTS", 30)
    X = rng.normal(size=(300, 4))
    y = X @ [1.0, -2.0, 0.5, 1.0] > 0.1
    whole = Perceptron(shuffle="blocks", until="separated").fit(X, y)
    assert whole.score(X, y) == 1.0
    assert whole.certificate_.verify(X, y)
    parts = Perceptron(shuffle="blocks", max_iter=1, warm_start=True, until="separated").fit(X, y).fit(X, y)
    two = Perceptron(shuffle="blocks", max_iter=2, until="separated").fit(X, y)
    freely = Perceptron(max_iter=2, until="separated").fit(X, y)
    assert_array_equal(two.coef_, parts.coef_)
    assert not np.array_equal(freely.coef_, two.coef_)


def test_kernels_have_no_blocks(rng):
    with pytest.raises(ValueError, match="shuffle"):
        KernelPerceptron(shuffle="blocks").fit(rng.normal(size=(4, 2)), [0, 1, 0, 1])
