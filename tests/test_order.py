"""The order of visits: permutations drawn from (seed, epoch), free or in blocks of neighbours."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from separatrix import KernelPerceptron, Perceptron
from separatrix.loops.order import order_of, permutation
from separatrix.rows import memory
from separatrix.rows.memory import MemoryRows, rows_in_cache

WORD = 2**64


def mixed(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
    return z ^ (z >> 31)


def shuffled(numbers, state, choose):
    """Fisher-Yates with SplitMix64, in Python's integers."""
    numbers = list(numbers)
    for i in range(len(numbers) - 1, 0, -1):
        state = (state + 0x9E3779B97F4A7C15) % WORD
        j = choose(mixed(state), i + 1)
        numbers[i], numbers[j] = numbers[j], numbers[i]
    return numbers, state


def oracle(n, seed, epoch, block):
    state = mixed(mixed(seed) ^ epoch)
    if block == 0 or block >= n:
        return shuffled(range(n), state, lambda word, below: word % below)[0]

    def choose(word, below):
        return (word >> 32) * below >> 32

    count = -(-n // block)
    size, found = -(-n // count), []
    blocks, state = shuffled(range(count), state, choose)
    for b in blocks:
        rows, state = shuffled(range(b * size, min((b + 1) * size, n)), state, choose)
        found += rows
    return found


@pytest.mark.nojit
@pytest.mark.parametrize("n", [1, 2, 5, 97, 1000])
@pytest.mark.parametrize("block", [0, 1, 4, 10, 5000])
def test_an_epoch_is_the_permutation_of_the_oracle(n, block):
    order = order_of(n, 7, block)
    for epoch in (0, 3):
        with np.errstate(over="ignore"):
            permutation()(order, epoch)
        assert_array_equal(order.sequence, oracle(n, 7, epoch, block))
        assert_array_equal(np.sort(order.sequence), np.arange(n))


def test_a_block_fits_into_the_cache():
    home = MemoryRows(np.zeros((10_000, 50)))
    assert 50 * rows_in_cache(home) <= memory.CACHE_VALUES < 50 * (rows_in_cache(home) + 1)


def test_a_fit_in_blocks_visits_blocks_and_can_be_resumed(rng, monkeypatch):
    monkeypatch.setattr(memory, "CACHE_VALUES", 64)
    X = rng.normal(size=(300, 4))
    y = X @ [1.0, -2.0, 0.5, 1.0] > 0.1
    seen = []
    whole = Perceptron(shuffle="blocks").fit(X, y)
    assert whole.score(X, y) == 1.0 and whole.certificate_.verify(X, y)
    parts = Perceptron(shuffle="blocks", max_epochs=1, warm_start=True)
    with pytest.warns(match="max_epochs"):
        for _ in range(3):
            seen.append(parts.fit(X, y).n_updates_)
            if parts.n_updates_ == whole.n_updates_:
                break
    with pytest.warns(match="max_epochs"):
        three = Perceptron(shuffle="blocks", max_epochs=len(seen)).fit(X, y)
    assert_array_equal(three.coef_, parts.coef_)
    with pytest.warns(match="max_epochs"):
        freely = Perceptron(max_epochs=1).fit(X, y)
    assert freely.n_updates_ != seen[0]


def test_kernels_have_no_blocks(rng):
    with pytest.raises(ValueError, match="shuffle"):
        KernelPerceptron(shuffle="blocks").fit(rng.normal(size=(4, 2)), [0, 1, 0, 1])
