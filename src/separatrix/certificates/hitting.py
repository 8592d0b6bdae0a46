"""How many elements does a set need that meets each of some sets? A tree proves a bound from below.

The tree is a list of numbers, in preorder:

    0, count, i, j, ...    sets that are not met yet are disjoint, without what is excluded: each needs an element
    1, i                   a set that is not met yet: one branch for each element, which the later branches exclude

Whatever the numbers are, the least bound of all leaves holds: nothing in the tree is trusted.
"""

from collections.abc import Sequence

import numpy as np

from separatrix.cancellation import Clock

MOST_NODES = 200_000  # of a tree


class NoTreeError(Exception):
    """Raised if numbers are no tree, or if there is none."""


def hitting_tree(sets: Sequence[frozenset[int]], least: int, clock: Clock) -> list[int]:
    """Return a tree that proves that ``least`` elements are needed; raise `NoTreeError` if none was found."""
    numbers: list[int] = []
    order = sorted(range(len(sets)), key=lambda i: len(sets[i]))

    def grow(chosen: frozenset[int], excluded: frozenset[int], more: int) -> None:
        clock.look()
        left = [(i, sets[i] - excluded) for i in order if not sets[i] & chosen]
        used: set[int] = set()
        packed = []
        for i, rest in sorted(left, key=lambda item: len(item[1])):
            if not rest:
                packed = [i]
                break
            if len(packed) < more and not rest & used:
                packed.append(i)
                used |= rest
        empty = bool(packed) and not sets[packed[0]] - excluded
        if empty or len(packed) >= more:
            numbers.extend([0, len(packed), *packed])
            return
        if not left or len(numbers) > MOST_NODES:
            raise NoTreeError
        i, rest = min(left, key=lambda item: len(item[1]))
        numbers.extend([1, i])
        for element in sorted(rest):
            grow(chosen | {element}, excluded, more - 1)
            excluded |= {element}

    grow(frozenset(), frozenset(), least)
    return numbers


def proved_by(sets: Sequence[frozenset[int]], numbers: Sequence[int]) -> int:
    """Return how many elements the tree proves; raise `NoTreeError` if it is none."""
    numbers = np.asarray(numbers).tolist()
    least, at = sum(map(len, sets)) + 1, 0
    stack: list[tuple[frozenset[int], frozenset[int]]] = [(frozenset(), frozenset())]
    while stack:
        chosen, excluded = stack.pop()
        head = numbers[at : at + 2]
        if len(head) < 2 or any(type(x) is not int or x < 0 for x in head):
            raise NoTreeError
        at += 2
        own = numbers[at : at + head[1]] if head[0] == 0 else [head[1]]
        if head[0] > 1 or any(type(i) is not int or not 0 <= i < len(sets) or sets[i] & chosen for i in own):
            raise NoTreeError
        rests = [sets[i] - excluded for i in own]
        if head[0] == 0:
            at += head[1]
            if len(own) != head[1] or sum(map(len, rests)) != len(frozenset().union(*rests)):
                raise NoTreeError
            if all(rests):
                least = min(least, len(chosen) + len(own))
        else:
            elements = sorted(rests[0])
            branches = []
            for k, element in enumerate(elements):
                branches.append((chosen | {element}, excluded | frozenset(elements[:k])))
            stack.extend(reversed(branches))
    if at != len(numbers):
        raise NoTreeError
    return least
