"""Changes that normalizing made, as text."""

from collections.abc import Sequence
from itertools import groupby
from typing import Protocol

from sonnx.model.location import Location
from sonnx.report.text import location_text, printable


class Changed(Protocol):
    """What a change tells; `sonnx.normalize` makes them."""

    @property
    def location(self) -> Location:
        """Where."""
        ...

    @property
    def what(self) -> str:
        """What was done."""
        ...

    @property
    def why(self) -> str:
        """Why that keeps the meaning."""
        ...

    @property
    def rule(self) -> str:
        """The rule or ruling that asks for it."""
        ...


def changes_text(changes: Sequence[Changed]) -> str:
    """Print changes grouped by place: what was done, and why."""
    lines = []
    for location, group in groupby(changes, key=lambda change: change.location):
        lines.append(f"changed: {location_text(location)}")
        for change in group:
            lines += [f"   {change.what}", f"      {change.why} [{change.rule}]"]
    return "\n".join(map(printable, lines))
