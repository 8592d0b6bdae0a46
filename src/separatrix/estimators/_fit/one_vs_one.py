"""One-vs-one for any separator: an estimator of its own for each pair of classes, on the rows of these two."""

import threading
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from separatrix.errors import DataError
from separatrix.estimators._fit.parallel import run_each
from separatrix.estimators._fit.separator import Data
from separatrix.estimators._fit.watch import Progress
from separatrix.patterns.binary_problems import pairs
from separatrix.proof.certify import joint_certificate


class PairProgress:
    """The progress of one pair, told as that of problem p of the whole."""

    def __init__(self, progress: Progress, p: int, owner: Any, members: list[Any]):
        self.progress, self.p, self.owner, self.members = progress, p, owner, members

    @property
    def watched(self) -> bool:
        return self.progress.watched

    def report(self, measures: dict[str, Any], attributes: Any) -> bool:
        def gathered() -> dict[str, Any]:
            now = attributes()
            whole = {}
            for name in ("coef_", "intercept_"):
                if name in now:
                    parts = [getattr(m, name, np.zeros_like(now[name])) for m in self.members]
                    parts[self.p] = now[name]
                    whole[name] = np.concatenate(parts)
            return whole or now

        return self.progress.report({**measures, "problem": self.p}, gathered)


def members_of(owner: Any, n_classes: int, **params: Any) -> list[Any]:
    """An estimator like the owner for each pair."""
    return [member_of(owner, **params) for _ in pairs(n_classes)]


def member_of(owner: Any, **params: Any) -> Any:
    member = clone(owner).set_params(**like(owner, **params))
    member.n_features_in_ = owner.n_features_in_
    return member


def like(owner: Any, **params: Any) -> dict[str, Any]:
    """The owner's parameters, for an estimator that sees two classes."""
    return {**owner.get_params(deep=False), "multi_class": "ovr", "n_jobs": None, **params}


def part_of(data: Data, i: int, j: int) -> Data:
    """The rows of two classes."""
    rows = np.flatnonzero((data.codes == i) | (data.codes == j))
    part = data.take(rows)
    return part._replace(codes=(part.codes == j).astype(np.int64), classes=data.classes[[i, j]])


def fit_members(owner: Any, members: list[Any], data: Data, progress: Progress, options: list[dict[str, Any]]) -> None:
    """Fit every pair; on Ctrl-C those that have not begun get the attributes of a fit that stops at its start."""
    which, stop, begun = pairs(len(data.classes)), threading.Event(), np.zeros(len(members), dtype=bool)
    owner.classes_, owner.multi_class_ = data.classes, "ovo"  # callbacks may predict before the end

    def fit(p: int) -> None:
        member = members[p]
        member._stop_ = stop
        begun[p] = True
        try:
            member._fit_data(part_of(data, *which[p]), PairProgress(progress, p, owner, members), **options[p])
        finally:
            del member._stop_
        if getattr(member, "stop_reason_", "") == "callback":
            stop.set()

    def begin_only(reason: str) -> None:
        for p in np.flatnonzero(~begun).tolist():
            part = part_of(data, *which[p])
            members[p]._fit_data(part, PairProgress(progress, p, owner, members), idle=reason, **options[p])

    try:
        run_each(fit, len(members), None if progress.watched else owner.n_jobs, stop)
    except KeyboardInterrupt:
        begin_only("interrupted")
        gather(owner, members, data)
        raise
    begin_only("callback")
    gather(owner, members, data)


def partial_members(owner: Any, members: list[Any], data: Data, first: bool) -> None:
    """A block for every pair that it has rows of."""
    missing = np.flatnonzero(np.bincount(data.codes, minlength=len(data.classes)) == 0)
    if first and len(missing) > 1:
        raise DataError(
            f"The first block of partial_fit has no rows of the classes {data.classes[missing].tolist()!r}, so there "
            'is nothing to begin their duel with. Use multi_class="ovr" or "kesler", or a larger block.'
        )
    for member, (i, j) in zip(members, pairs(len(data.classes)), strict=True):
        part = part_of(data, i, j)
        if first:
            member._seed_ = owner._seed_
        if len(part.codes):
            member._partial_data(part, first)
    gather(owner, members, data)


def gather(owner: Any, members: list[Any], data: Data) -> None:
    """What the pairs came to, as the attributes of one estimator."""
    owner._pairs_, owner.classes_, owner.multi_class_ = members, data.classes, "ovo"
    names = data.classes.tolist()
    owner.certificates_ = [
        replace(member.certificate_, between=(names[i], names[j]))
        for member, (i, j) in zip(members, pairs(len(names)), strict=True)
    ]
    owner.certificate_ = joint_certificate(owner.certificates_)
    for name in ("coef_", "intercept_"):
        if hasattr(members[0], name):
            setattr(owner, name, np.concatenate([getattr(m, name) for m in members]))
    for name in ("directional_margin_", "geometric_margin_"):
        if hasattr(members[0], name):
            setattr(owner, name, float(min(getattr(m, name) for m in members)))
    owner._gather(members)
