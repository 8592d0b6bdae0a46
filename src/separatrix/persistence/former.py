"""What model files of release 0.1.0, and of development versions of 0.2, hold under another name or in another form."""

from dataclasses import replace
from typing import Any, NamedTuple

from separatrix.space import Space

NAMES = {  # of parameters of estimators, and of fields of certificates
    "rho": "intercept_scaling",
    "max_epochs": "max_iter",
    "rivals": "joint_update",
    "categories": "n_classes",
    "between": "class_pair",
}
VALUES = {
    "multi_class": {"kesler": "joint"},
    "multi_class_": {"kesler": "joint"},
    "fit_intercept": {"free": "unpenalized"},
    "stop_reason_": {"max_epochs": "max_iter"},
    "reason": {"max_epochs": "max_iter"},
}
TOLERANCES = ("margin_tol", "step_tol", "bound_tol")  # each was once called tol, and is no certified gap


class Facts(NamedTuple):
    """Once a part of every record: what a rule's parameters depend on."""

    n: int
    d: int
    radius2: float
    peak: float
    space: Space


def updated(fields: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """The fields of an object, as its class has them today: ``names``."""
    facts = fields.pop("facts", None)
    if isinstance(facts, Facts):
        fields = {**facts._asdict(), **fields}
    elif facts is not None:
        fields["facts"] = facts
    for former, name in NAMES.items():
        if former in fields and former not in names and name in names:
            fields[name] = fields.pop(former)
    if "tol" in fields and "tol" not in names:
        value = fields.pop("tol")
        for name in TOLERANCES:
            if name in names and value is not None:
                fields[name] = value
    if "until" in names and "until" not in fields:
        fields["until"] = "separated"
    if "own" in fields and "patience" in fields:
        fields.pop("settled", None)  # a record's: whether more epochs would have helped
    members, mark = fields.pop("_pairs_", None), fields.pop("_mark_", None)
    if isinstance(members, list) and members and hasattr(members[0], "_seed_"):  # an estimator for each pair
        fields["_records_"] = [record for member in members for record in member._records_]
        fields["_seed_"] = members[0]._seed_
    if mark is not None and "_records_" in fields:
        fields["_records_"] = [replace(record, mark=mark) for record in fields["_records_"]]
    for name, values in VALUES.items():
        if isinstance(fields.get(name), str):
            fields[name] = values.get(fields[name], fields[name])
    return fields
