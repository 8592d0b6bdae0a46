"""Verdicts and signs of infinite coefficients, against firthmodels' `detect_separation`, which is a linear program.

Thirty generated sets of each kind, 100 to 10,000 rows: complete, quasi-complete and overlapping. Verdicts differ if
they contradict the construction of the data or firthmodels, whose one call returns signs too. The value is the smallest
ratio of all sets: 1 means never slower. Signs that several directions of recession leave open are not compared.
"""

import functools
import statistics

import numpy as np

from benchmarks.data import overlapping, separable
from benchmarks.peers import installed
from benchmarks.race import Row, Timing, clock
from benchmarks.separability import categories, touching
from separatrix import separability

KINDS = ("complete", "quasi-complete", "overlapping")


def sets(kind, small):
    """Yield data of one kind: rows grow geometrically; columns are continuous, integers, or rare categories."""
    for seed, n in enumerate(np.geomspace(100, 300 if small else 10_000, 3 if small else 30).astype(int).tolist()):
        d, rng = 2 + seed % 9, np.random.default_rng(seed)
        if kind == "complete":
            X, y = separable(n, d, seed, 0.01)
        elif kind == "overlapping":
            X, y = overlapping(n, d, 1.0, seed)
            X = np.round(4 * X) if seed % 2 else X
        elif seed % 2:
            X, y = touching(n, d, seed)
        else:  # a category that occurs in one class alone
            X, y = categories(n, 3, 3, seed)
            rare = rng.random(n) < 0.05
            X, y = np.column_stack([X, rng.standard_normal((n, d)), rare]), np.where(rare, 1.0, y)
        if np.linalg.matrix_rank(np.column_stack([X, np.ones(len(X))])) == X.shape[1] + 1:
            yield X, y


def with_signs(X, y):
    return separability(X, y).infinite


def agree(answer, found):
    """Are kind and known signs the same?"""
    infinite = answer.infinite
    if infinite is None or (answer.kind == "none") is found.separation:
        return False
    known = ~np.isnan(infinite)
    return bool(np.array_equal(infinite[known], found.directions[known]))


def measure(small):
    peer = None
    if installed("firthmodels"):
        from firthmodels import detect_separation as peer
    runs = {"verdict": separability, "verdict and signs": with_signs}
    for kind in KINDS:
        times, wrong = {name: [] for name in (*runs, "peer")}, 0
        for X, y in sets(kind, small):
            answer = separability(X, y)
            wrong += answer.kind != {"overlapping": "none"}.get(kind, kind)
            wrong += peer is not None and not agree(answer, peer(X, y))
            for name, run in {**runs, **({} if peer is None else {"peer": peer})}.items():
                times[name].append(clock(functools.partial(run, X, y), 5).seconds)
        peers = {"firthmodels": Timing(statistics.median(times["peer"]))} if peer is not None else {}
        for name in runs:
            ratios = [b / a for a, b in zip(times[name], times["peer"], strict=False)]
            value, goal = (min(ratios), 1.0 if name == "verdict" else None) if ratios else (None, None)
            note = f"{len(times[name])} sets, {wrong} verdicts differ"
            yield Row(f"{kind}, {name}", Timing(statistics.median(times[name])), peers, goal, value=value, note=note)
