"""What release 0.1.0 kept otherwise than today, made into what it is now."""

from typing import Any, NamedTuple

from separatrix.space import Space


class Facts(NamedTuple):
    """Once a part of every record: what a rule's parameters depend on."""

    n: int
    d: int
    radius2: float
    peak: float
    space: Space


def updated(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of an object, as its class has them today."""
    facts = fields.get("facts")
    if not isinstance(facts, Facts):
        return fields
    return {**facts._asdict(), **{name: value for name, value in fields.items() if name != "facts"}}
