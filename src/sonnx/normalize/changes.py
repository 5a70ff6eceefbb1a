"""What was changed, where and why."""

from collections.abc import Iterable
from dataclasses import dataclass

from sonnx.model.location import Location
from sonnx.operators.graph.structure import shown_name

_MOST_NAMES = 20


@dataclass(frozen=True)
class Change:
    """One change: `what` was done at a place, `why` that keeps the meaning, and the rule that asks for it."""

    location: Location
    what: str
    why: str
    rule: str


def listed(names: Iterable[str]) -> str:
    """Names for a message, each in backquotes; the first ones where there are many."""
    shown = [shown_name(name) for name in names]
    more = f" and {len(shown) - _MOST_NAMES} more" if len(shown) > _MOST_NAMES else ""
    return ", ".join(shown[:_MOST_NAMES]) + more
