"""One-vs-one for any separator: an estimator of its own for each pair of classes, on the rows of these two."""

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from separatrix.certificates.certify import joint_certificate
from separatrix.errors import DataError, UnavailableError
from separatrix.fit.class_means import class_means
from separatrix.fit.starts import starts_of_pairs
from separatrix.passes.binary_problems import pairs

if TYPE_CHECKING:
    from separatrix.fit.separator import Data
    from separatrix.fit.watch import Watch


def members_of(owner: Any, data: "Data", **params: Any) -> list[Any]:
    """An estimator like the owner for each pair."""
    member = clone(owner).set_params(**like(owner, **params))
    member.n_features_in_ = owner.n_features_in_
    return [copy(member) for _ in pairs(len(data.classes))]


def like(owner: Any, **params: Any) -> dict[str, Any]:
    """The owner's parameters, for an estimator that sees two classes."""
    return {**owner.get_params(deep=False), "multi_class": "ovr", "n_jobs": None, **params}


def fit_pairs(owner: Any, data: "Data", watch: "Watch", coef_init: Any = None, intercept_init: Any = None) -> None:
    """Fit every pair. If the fit is stopped, those that have not begun get the attributes of their start, or vectors
    between the means of their classes."""
    if not data.here:
        raise UnavailableError('multi_class="ovo" needs the rows in the memory of this process: use "ovr" or "joint".')
    which, members = pairs(len(data.classes)), owner._members(data)
    starts = starts_of_pairs(len(members), data.width, coef_init, intercept_init)
    owner.classes_, owner.multi_class_ = data.classes, "ovo"  # callbacks may predict before the end
    left = set(range(len(members)))
    of_class = np.split(np.argsort(data.codes, kind="stable"), np.cumsum(np.bincount(data.codes))[:-1])

    def fit(p: int) -> None:
        def whole(now: dict[str, Any]) -> dict[str, Any]:
            """The attributes of all pairs, from those of pair p as they are now; pairs to come have no say."""
            ended = [now if k == p else _predicting(member) for k, member in enumerate(members)]
            return _joined(owner, [part or _silent(now) for part in ended], data)

        rows = np.sort(np.concatenate([of_class[k] for k in which[p]]))
        members[p]._fit_data(data.pair(*which[p], rows), watch.of_pair(p, whole), **starts[p])
        vars(members[p]).pop("support_vectors_", None)  # all pairs together would hold each row many times
        left.discard(p)

    watch.run_each(fit, len(members), owner.n_jobs)
    if left and hasattr(owner, "_between_means"):
        means = class_means(owner, data)
        for p in left:
            attributes = owner._between_means(means, *which[p], data)
            members[p]._set({**attributes, "stop_reason_": watch.stop.reason})
    else:
        for p in sorted(left):
            fit(p)
    gather(owner, members, data)


def _predicting(member: Any) -> dict[str, Any]:
    """The attributes of a fitted member that predict; none before its fit."""
    return {name: vars(member)[name] for name in member._predicting if name in vars(member)}


def _silent(part: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a member whose scores are 0."""
    zeros: dict[str, Any] = {
        name: np.zeros_like(part[name]) for name in ("coef_", "intercept_", "dual_coef_") if name in part
    }
    votes = {"votes_": [np.zeros_like(votes) for votes in part["votes_"]]} if "votes_" in part else {}
    return {**part, **zeros, **votes}


def _joined(owner: Any, parts: list[dict[str, Any]], data: "Data") -> dict[str, Any]:
    """The attributes that predict, from those of all pairs; the rows that support any pair are held once."""
    attributes: dict[str, Any] = owner._of_pairs(parts)
    if "support_" in attributes:
        attributes["support_vectors_"] = owner._rows_of(data, attributes["support_"])
    return attributes


def partial_fit_pairs(owner: Any, data: "Data", first: bool) -> None:
    """A block for every pair that it has rows of."""
    missing = np.flatnonzero(np.bincount(data.codes, minlength=len(data.classes)) == 0)
    if first and len(missing) > 1:
        raise DataError(
            f"The first block of partial_fit has no rows of the classes {data.classes[missing].tolist()!r}, so there "
            'is nothing to begin their duel with. Use multi_class="ovr" or "joint", or a larger block.'
        )
    members = members_of(owner, data, random_state=owner._seed_) if first else owner._pairs_
    for member, (i, j) in zip(members, pairs(len(data.classes)), strict=True):
        part = data.pair(i, j)
        if first:
            member._seed_ = owner._seed_
        if len(part.codes):
            member._partial_data(part, first)
    gather(owner, members, data)


def gather(owner: Any, members: list[Any], data: "Data") -> None:
    """What the pairs came to, as the attributes of one estimator. Pairs that can be resumed are kept."""
    owner.classes_, owner.multi_class_ = data.classes, "ovo"
    names = data.classes.tolist()
    owner.certificates_ = [
        replace(member.certificate_, class_pair=(names[i], names[j]))
        for member, (i, j) in zip(members, pairs(len(names)), strict=True)
    ]
    owner.certificate_ = joint_certificate(owner.certificates_)
    owner._set(_joined(owner, [_predicting(member) for member in members], data))
    for name in ("directional_margin_", "geometric_margin_"):
        if hasattr(members[0], name):
            setattr(owner, name, float(min(getattr(m, name) for m in members)))
    owner._gather(members)
    if hasattr(owner, "_records_"):
        owner._pairs_ = members
    else:
        members.clear()
    if hasattr(owner, "support_"):
        owner.support_vectors_ = owner._rows_of(data, owner.support_)
