"""Where in a model something is."""

from dataclasses import dataclass
from typing import Literal

PlaceKind = Literal["model", "node", "input", "output", "initializer", "tensor", "function"]


@dataclass(frozen=True)
class Location:
    """One part of a model; `inside` is the function call, or the function, that it belongs to.

    `file` is the model's file as the user named it; `index` counts nodes from 0, as the file lists them.
    """

    kind: PlaceKind
    name: str = ""
    index: int | None = None
    operator: str = ""
    file: str = ""
    inside: "Location | None" = None

    @property
    def path(self) -> tuple["Location", ...]:
        """The part itself, after everything that it is inside of."""
        return (self,) if self.inside is None else (*self.inside.path, self)
