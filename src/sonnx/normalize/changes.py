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


def listed(names: Iterable[str]) -> str:
    """Names for a message, each in backquotes."""
    return ", ".join(f"`{name}`" for name in names)
