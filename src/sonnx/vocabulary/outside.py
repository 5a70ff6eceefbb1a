"""An element for which an operator is not defined, as whoever executes meets it (D-ALL-11)."""

from dataclasses import dataclass

from sonnx.terms.tracing import Domain
from sonnx.vocabulary.rule import Shown


@dataclass(frozen=True)
class Outside:
    """Which domain is left, the first index in C order at which it is, and the elements there."""

    identifier: str
    operator: str
    domain: Domain
    values: tuple[Shown, ...]


class OutsideError(ArithmeticError):
    """Raised where an operator is executed; whoever knows the node makes a DomainError of it."""

    def __init__(self, outside: Outside) -> None:
        """Keep what was met."""
        super().__init__(f"{outside.operator}: {outside.domain.text}")
        self.outside = outside
