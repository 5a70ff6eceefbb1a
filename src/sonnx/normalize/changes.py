"""What was changed, where and why."""

from collections.abc import Iterable
from dataclasses import dataclass

from sonnx.model.location import Location


@dataclass(frozen=True)
class Change:
    """One change: `what` was done at a place, `why` that keeps the meaning, and the rule that asks for it."""

    location: Location
    what: str
    why: str
    rule: str


def fresh(wanted: str, taken: set[str]) -> str:
    """A name that is not taken yet, made from a wanted one; it is taken from now on."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    taken.add(name)
    return name


def listed(names: Iterable[str]) -> str:
    """Names for a message, each in backquotes."""
    return ", ".join(f"`{name}`" for name in names)
