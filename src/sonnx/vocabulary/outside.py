"""Elements at which a run stops: an operator is not defined there, or reals cannot be told apart."""

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


@dataclass(frozen=True)
class Undecided:
    """Where the most bits of reals do not tell what is to be done, and what it was about (D-ALL-8)."""

    operator: str
    values: tuple[Shown, ...]
    text: str
    likely: str
    most_bits: int


class OutsideError(ArithmeticError):
    """Raised where an operator is executed; whoever knows the node makes a DomainError of it."""

    def __init__(self, outside: Outside | Undecided) -> None:
        """Keep what was met."""
        said = outside.domain.text if isinstance(outside, Outside) else outside.text
        super().__init__(f"{outside.operator}: {said}")
        self.outside = outside
