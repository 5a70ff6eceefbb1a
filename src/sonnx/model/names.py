"""New names beside those that are taken."""

from dataclasses import dataclass, field


@dataclass
class Names:
    """Names that are taken, and new ones that are not."""

    taken: set[str]
    _numbers: dict[str, int] = field(default_factory=dict)

    def fresh(self, wanted: str) -> str:
        """A name that is not taken yet, made from a wanted one; it is taken from now on."""
        # Counting on from the last number, not from 1: a hostile model wants one name very many times.
        number = self._numbers.get(wanted, 0) + 1
        while (name := wanted if number == 1 else f"{wanted}_{number}") in self.taken:
            number += 1
        self._numbers[wanted] = number
        self.taken.add(name)
        return name
