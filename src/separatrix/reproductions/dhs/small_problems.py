"""Problems 2, 4, 15, 16, 23 and 28, and section 5.7: what can be shown with few numbers."""

import warnings
from functools import partial
from itertools import combinations, count, product
from typing import Any

import numpy as np

from separatrix.certificates.separability import separability
from separatrix.estimators.own_rule import PerceptronLike
from separatrix.estimators.perceptrons import Perceptron
from separatrix.reproductions.dhs.data import pair, patterns
from separatrix.reproductions.outcome import Figure, Report, Table
from separatrix.reproductions.plane import normal, window
from separatrix.rules.perceptrons import PerceptronRule


def problem_2(report: Report) -> None:
    """A region of pairs that vote need not be convex."""
    report.head("Problem 2: a vote of pairs")
    rng = np.random.default_rng(0)
    pairs = list(combinations(range(5), 2))
    lines = rng.normal(size=(len(pairs), 3))

    def winner(x: np.ndarray) -> int:
        """The category with most votes, -1 for a tie."""
        votes = np.zeros(5, dtype=int)
        for (i, j), line in zip(pairs, lines, strict=True):
            votes[i if line @ np.append(x, 1.0) > 0 else j] += 1
        return int(votes.argmax()) if np.sum(votes == votes.max()) == 1 else -1

    for _ in range(100_000):
        a, b = rng.uniform(-3.0, 3.0, (2, 2))
        if winner(a) == winner(b) >= 0 and winner((a + b) / 2) != winner(a):
            break
    k, between = winner(a), winner((a + b) / 2)
    report.say(
        "Up to four categories a winner without a tie has all of its votes, so its region is an intersection of half "
        f"planes, and convex. With five and ten random lines, ({a[0]:.3f}, {a[1]:.3f}) and ({b[0]:.3f}, {b[1]:.3f}) go "
        f"to category {k + 1}, the point half-way to {'a tie' if between < 0 else f'category {between + 1}'}: then "
        "regions need not be convex."
    )
    report.claims("problem 2: a region of the vote that is not convex", k >= 0 and between != k)


def problem_4(report: Report) -> None:
    """Three weight vectors, the lines between their heads, and the boundaries at right angles to these."""
    report.head("Problem 4: a linear machine of three categories")
    W = np.array([[2.0, 1.0], [-1.5, 1.5], [0.0, -2.0]])
    shift = np.array([1.5, 1.0])
    X = np.random.default_rng(0).normal(size=(10_000, 2))
    same = np.array_equal((X @ W.T).argmax(axis=1), (X @ (W + shift).T).argmax(axis=1))
    report.say(
        "(a) With all thresholds 0 the boundary between i and j goes through 0 at right angles to w_i - w_j, the line "
        "that joins the heads. (b) A vector added to all three moves the heads and no boundary: "
        f"{'all' if same else 'NOT all'} of 10,000 random points keep their category."
    )
    report.claims("problem 4: a common vector changes no decision", same)
    report.parts.append(
        Figure("dhs-problem-4", "Problem 4: weight vectors, the lines that join their heads (dotted) and boundaries; "
               "right, with a vector added to all.", partial(_draw_machine, vectors=(W, W + shift)), (7.2, 3.7))
    )  # fmt: skip


def _draw_machine(figure: Any, vectors: tuple[np.ndarray, np.ndarray]) -> None:
    for ax, W in zip(figure.subplots(1, 2), vectors, strict=True):
        ax.plot(*np.vstack([W, W[:1]]).T, ":", color="black", linewidth=1.0)
        for w in W:
            normal(ax, w)
        for i, j in combinations(range(3), 2):
            across = W[i] - W[j]
            along = np.array([-across[1], across[0]])
            third = 3 - i - j
            way = along if W[i] @ along > W[third] @ along else -along  # where i and j beat the third
            ax.plot(*np.column_stack([np.zeros(2), 10.0 * way]), color="black", linewidth=1.4)
        window(ax, np.vstack(vectors))


def problem_15(report: Report) -> None:
    """A negative margin: the rule may end with errors."""
    report.head("Problem 15: a negative margin")
    X, y = pair(1, 2)
    b = -5.0
    rule = PerceptronRule(margin=b)
    at_zero = PerceptronLike(rule, until="separated", shuffle=False).fit(X, y)
    start = np.array([[-6.0, 3.0]])
    model = PerceptronLike(rule, until="separated", shuffle=False).fit(X, y, coef_init=start)
    m = y * model.decision_function(X)
    wrong = int(np.count_nonzero(m <= 0))
    report.say(
        f"With b = {b:g} the rule makes {at_zero.n_updates_} corrections from a = 0, which has every a.y = 0 > b. From "
        f"w = (-6, 3) it ends after {model.n_updates_}, with {wrong} of 20 points not on their side; the smallest a.y "
        f"is {m.min():.3g}. The proof of convergence goes through, with 2 b as a help; that every a.y "
        "exceeds b no longer means that it is positive."
    )
    report.claims("problem 15: it ends, with errors of at most |b|", bool(model.converged_ and wrong and m.min() > b))


def problem_16(report: Report) -> None:
    """All integer vectors, the small ones first."""
    report.head("Problem 16: an exhaustive search")
    rows = []
    for i, j in ((1, 2), (3, 4), (2, 3)):
        Y = patterns(*pair(i, j))
        tried = 0
        for size in count(1):  # integer vectors whose largest entry is +-size
            shell = np.array([a for a in product(range(-size, size + 1), repeat=3) if max(map(abs, a)) == size])
            found = np.flatnonzero(np.min(shell @ Y.T, axis=1) > 0)
            if len(found):
                rows.append([f"{i} and {j}", str(tuple(map(int, shell[found[0]]))), f"{tried + int(found[0]) + 1:,}"])
                break
            tried += len(shell)
    report.parts.append(Table("The first that separates", ["categories", "a = (bias, w)", "vectors tried"], rows))
    report.say(
        "A region with inner points holds a ball, and a multiple of it holds an integer vector: the search ends. Up to "
        "the size s there are (2s + 1)^(d + 1) vectors, each costs n (d + 1) products: exponential in d."
    )
    report.claims("problem 16: the search ends", len(rows) == 3)


def problem_23(report: Report) -> None:
    """eta(k+1)^-1 = eta(k)^-1 + y_k^2."""
    report.head("Problem 23: the scalar form of the recursive rule")
    rng = np.random.default_rng(0)
    squares = rng.uniform(0.5, 2.0, 100_000)
    eta = np.empty(len(squares) + 1)
    eta[0] = 0.7
    for k, square in enumerate(squares):
        eta[k + 1] = 1.0 / (1.0 / eta[k] + square)
    closed = 0.7 / (1.0 + 0.7 * np.append(0.0, np.cumsum(squares)))
    gap = float(np.abs(eta / closed - 1.0).max())
    halves = [float(eta[: len(eta) // d].sum()) for d in (100, 10, 1)]
    tail = float(np.sum(eta[len(eta) // 2 :] ** 2))
    report.say(
        f"(a) Recursion and closed form agree to {gap:.1e} over 100,000 steps. (b) As 1/(1/eta(1) + b k) <= eta(k) <= "
        f"1/(1/eta(1) + a (k - 1)), the sum grows like ln k: {halves[0]:.2f}, {halves[1]:.2f}, {halves[2]:.2f} after "
        f"1,000, 10,000 and 100,000 terms; the second half of the squares adds {tail:.1e}."
    )
    steady = abs((halves[2] - halves[1]) / (halves[1] - halves[0]) - 1.0) < 0.05
    report.claims("problem 23: closed form, divergent sum, convergent sum of squares", gap < 1e-9 and steady)


def problem_28(report: Report) -> None:
    """XOR in the planes of two of its five features."""
    report.head("Problem 28: the margin of XOR in other planes")
    x1, x2 = np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, -1.0, -1.0, 1.0])
    y = np.sign(x1 * x2)
    r = np.sqrt(2.0)
    features = {"sqrt(2) x1": r * x1, "sqrt(2) x2": r * x2, "sqrt(2) x1 x2": r * x1 * x2, "x1^2": x1**2, "x2^2": x2**2}
    rows, right = [], True
    for one, other in combinations(features, 2):
        answer = separability(np.column_stack([features[one], features[other]]), y)
        margin = f"{answer.margin:.6f}" if answer.separable else "none: not separable"
        holds = "sqrt(2) x1 x2" in (one, other)
        right &= bool(answer.separable) == holds and (not holds or abs(answer.margin - r) < 1e-6)
        rows.append([one, other, margin])
    report.parts.append(Table("Largest distance of a line from the four points", ["plane", "", "margin"], rows))
    report.say(
        "The discriminant depends on sqrt(2) x1 x2 alone. In each of the four planes that have it, g = +-1 are lines, "
        "sqrt(2) x1 x2 = +-sqrt(2), and the margin is the same, sqrt(2). In the others both classes lie on the same "
        "points, or on the corners of XOR itself, and there is no margin to be seen."
    )
    report.claims("problem 28: sqrt(2) in every plane with x1 x2, none in the others", right)


def section_5_7(report: Report) -> None:
    """On integer patterns that nothing separates, the Perceptron's vectors come again."""
    from sklearn.exceptions import ConvergenceWarning

    report.head("Section 5.7: the weights stay bounded")
    cases = {
        "categories 1 and 3, rounded": (np.round(pair(1, 3)[0]), pair(1, 3)[1]),
        "categories 1 and 3, doubled and rounded": (np.round(2.0 * pair(1, 3)[0]), pair(1, 3)[1]),
    }
    rows, cycles = [], True
    for name, (X, y) in cases.items():
        model = Perceptron(until="separated", shuffle=False, max_iter=1, warm_start=True)
        seen: dict[tuple[float, ...], int] = {}
        longest = 0.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            for epoch in range(5000):
                model.fit(X, y)
                a = (*model.coef_[0], *model.intercept_)
                longest = max(longest, float(np.linalg.norm(a)))
                if a in seen:
                    break
                seen[a] = epoch
        cycles &= a in seen
        rows.append([name, str(seen[a] + 1), str(epoch - seen[a]), f"{longest:.3f}"])
    columns = ["data", "first of the cycle, after epoch", "epochs in the cycle", "longest at the end of an epoch"]
    report.parts.append(Table("The vector at the end of an epoch comes again, exactly", columns, rows))
    report.say(
        "Patterns are integers, so the vectors are; the cycling theorem says that they stay bounded (Block and Levin "
        "1970). Then there are finitely many, one comes again, and the run repeats itself for ever."
    )
    report.claims("section 5.7: the run comes into a cycle", cycles)
