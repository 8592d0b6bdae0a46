"""Is there a hyperplane at all? With a proof either way."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike

from separatrix.cancellation import limited
from separatrix.certificates.decision import Question
from separatrix.certificates.gordan import Gordan
from separatrix.certificates.separability_answer import MOST_NAMED, AskedData, Separability, names_of
from separatrix.data.memory import MemoryRows
from separatrix.data.out_of_core import row_source_of
from separatrix.data.validate import check_labels, check_numbers, check_structure
from separatrix.errors import DataError
from separatrix.passes.binary_problems import binary_labels
from separatrix.passes.kesler_patterns import KeslerPatterns
from separatrix.space import default_errstate


@default_errstate()
def separability(
    X: Any,
    y: ArrayLike | None = None,
    *,
    fit_intercept: bool = True,
    max_time: float = np.inf,
    n_jobs: int | None = None,
    check_quasi: bool = True,
) -> Separability:
    """Decide whether a hyperplane separates the classes, with a proof.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), Dask array or data frame, or a row source
        A row source (``separatrix.data``) holds the labels too, and rows that need not fit into memory. An array on a
        device (torch, CuPy) stays there under scikit-learn's ``config_context(array_api_dispatch=True)``.
    y : array-like of shape (n,)
        Labels of two or more classes.
    fit_intercept : bool, default=True
        False: only hyperplanes through the origin.
    max_time : float, default=inf
        Seconds, at most; what is not decided then is undecided.
    n_jobs : int or None, default=None
        Threads over blocks of rows; the answer does not depend on them.
    check_quasi : bool, default=True
        False: if no hyperplane separates, quasi-complete separation is not decided.
        ``kind`` is "undecided" then, unless the proof answers this question too.

    Returns
    -------
    Separability

    Examples
    --------
    >>> from separatrix import separability
    >>> print(separability([[0.0], [1.0], [3.0]], ["a", "a", "b"]))
    Linearly separable: a hyperplane classifies every row correctly, the nearest at a distance of 1.
    >>> print(separability([[0.0], [2.0], [1.0]], ["a", "a", "b"]))
    Not linearly separable: 3 rows with positive weights combine to exactly 0, so no hyperplane separates them.
    """
    check_switch(fit_intercept)
    if not max_time > 0:
        raise ValueError(f"max_time={max_time!r} must be positive.")
    names, target = names_of(X, y)
    with limited(max_time):
        question = Question(1.0 if fit_intercept else 0.0, max_time, check_quasi)
        keep = partial(AskedData, fit_intercept=bool(fit_intercept), max_time=max_time, names=names, target=target)
        return _answer(X, y, question, n_jobs, keep)


def _answer(
    X: Any, y: ArrayLike | None, ask: "Question", n_jobs: int | None, keep: Callable[..., AskedData]
) -> Separability:
    source = row_source_of(X, y)
    if source is not None:
        _check_classes(source.classes)
        return ask.about_source(source)
    X, y = check_table(X, y)
    classes, codes = np.unique(y, return_inverse=True)
    _check_classes(classes)
    rows = MemoryRows(X, n_jobs=effective_n_jobs(n_jobs)).without_empty_columns()
    names = classes.tolist()
    asked = keep(X, codes, names)
    if len(classes) == 2:
        return replace(ask.binary(rows, binary_labels(codes, 2)[0]), asked=asked)
    several = _SeveralClasses(ask, rows, codes, names, asked)
    pairwise, total = several.pairs(), several.each_against_the_rest()
    return replace(_joint(several.machine(), total, pairwise), asked=asked)


class _SeveralClasses:
    """The questions about more than two classes, the cheapest first: pairs, each class against the rest, one machine.

    Two classes that no hyperplane separates decide the others: the same rows and weights combine to 0 if more rows are
    there, and in Kesler's construction, where the row of each of the two classes has the other one as its rival.
    """

    def __init__(self, ask: "Question", rows: MemoryRows, codes: np.ndarray, names: list[Any], asked: AskedData):
        self.ask, self.rows, self.codes, self.names, self.asked = ask, rows, codes, names, asked
        self.proofs: dict[tuple[int, int], Gordan] = {}  # of pairs, with the numbers of all rows
        self.planes: dict[int, Separability] = {}  # of each class against the rest, where one separates
        c = len(names)
        self.left = c * (c - 1) // 2 + 2 * c  # questions that share the time; that about all classes counts c times

    def _next(self) -> "Question":
        self.left -= 1
        return self.ask.with_share(self.left + 1)

    def pairs(self) -> dict[tuple[Any, Any], Separability]:
        found = {}
        for i in range(len(self.names)):
            for j in range(i):
                two = np.flatnonzero((self.codes == i) | (self.codes == j))
                answer = self._next().binary(self.rows.take(two), np.where(self.codes[two] == i, 1.0, -1.0))
                if answer.infeasibility_proof is not None:
                    self.proofs[j, i] = answer.infeasibility_proof._replace(rows=two[answer.infeasibility_proof.rows])
                part = self.asked.part((self.codes[two] == i).astype(np.int64), [self.names[j], self.names[i]], two)
                found[self.names[j], self.names[i]] = replace(answer, asked=part)
        return found

    def each_against_the_rest(self) -> dict[Any, Separability]:
        found = {}
        for k, (name, labels) in enumerate(zip(self.names, binary_labels(self.codes, len(self.names)), strict=True)):
            proof = next((self.proofs[pair] for pair in self.proofs if k in pair), None)
            answer = self._next().binary(self.rows, labels, proof)
            if answer.separable and answer.hyperplane is not None:
                self.planes[k] = answer
            part = self.asked.part((labels > 0).astype(np.int64), [f"not {name}", name])
            found[name] = replace(answer, asked=part)
        return found

    def machine(self) -> Separability:
        """One vector in Kesler's space; its certificate speaks of X and y as they are."""
        ask, count = self.ask, len(self.names)
        patterns = KeslerPatterns(self.rows, self.codes, count, ask.space)
        if self.proofs:
            pair, proof = next(iter(self.proofs.items()))
            own = self.codes[proof.rows]
            rival = np.where(own == pair[0], pair[1], pair[0])
            numbers = proof.rows * (count - 1) + rival - (rival > own)
            order = np.argsort(numbers)
            exact = tuple(proof.exact[k] for k in order) if proof.exact else ()
            return ask.refuted(patterns, Gordan(numbers[order], proof.weight[order], proof.norm, exact))
        answer = ask.decide(patterns)
        if answer.separable is None and len(self.planes) == count:
            return ask.machine_of(patterns, [self.planes[k].hyperplane for k in range(count)]) or answer
        return answer


def check_switch(fit_intercept: Any) -> None:
    if not isinstance(fit_intercept, (bool, np.bool_)):
        raise ValueError(f"fit_intercept={fit_intercept!r} must be True or False.")


def check_table(X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """Rows in memory and their labels, as arrays."""
    from sklearn.utils import check_array, check_consistent_length, column_or_1d
    from sklearn.utils.multiclass import check_classification_targets

    check_structure(X)
    check_numbers(X)
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
    y = column_or_1d(y) if getattr(y, "ndim", 1) > 1 else check_labels(y)
    check_consistent_length(X, y)
    check_classification_targets(y)
    return X, y


def _check_classes(classes: np.ndarray) -> None:
    if len(classes) < 2:
        raise DataError(f"Separability needs rows of at least 2 classes; these data have 1 class: {classes[0]!r}.")


def _joint(linear: Separability, total: dict, pairwise: dict) -> Separability:
    def names(answers: dict, verdict: bool | None) -> str:
        found = [
            " | ".join(map(str, n)) if isinstance(n, tuple) else str(n)
            for n in answers
            if answers[n].separable is verdict
        ]
        return ", ".join(found) if len(found) <= MOST_NAMED else f"{len(found)} of {len(answers)}"

    def words(answers: dict) -> str:
        parts = [
            f"{word} for {names(answers, v)}" for v, word in ((False, "no"), (None, "undecided")) if names(answers, v)
        ]
        return ", ".join(parts) or "yes"

    verdict = {True: "yes", False: "no", None: "undecided"}[linear.separable]
    text = (
        f"Jointly separable (one hyperplane per class): {verdict}. One-vs-rest: {words(total)}. "
        f"One-vs-one: {words(pairwise)}."
    )
    return Separability(
        linear.separable,
        linear.kind,
        linear.exact,
        linear.certificate,
        None,
        linear.margin,
        linear.infeasibility_proof,
        text,
        total,
        pairwise,
        linear.vector,
    )
