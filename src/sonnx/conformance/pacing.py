"""How far the judging of one operator and type has come, told while it goes on."""

from collections.abc import Callable
from time import monotonic

from sonnx.conformance.subjects import subject_named
from sonnx.model.dtype import IEEE, DType

# How many cases were asked, and how many there will be: where time ends the search, by the pace so far.
Told = Callable[[int, int], None]
# With exact fractions a convolution takes about three times as long as other operators.
_HEAVY = 3


def weight(operator: str, dtype: DType) -> int:
    """How long an operator and type takes beside others; to count all vectors would itself take seconds."""
    return _HEAVY if subject_named(operator).enclose is not None and dtype in (*IEEE, DType.BFLOAT16) else 1


class Pace:
    """Counts the vectors of an operator and type and then the cases of its search, and tells their number."""

    def __init__(self, told: Told, vectors: int, examples: int, seconds: float | None) -> None:
        """So many vectors will come; the search ends after so many examples, or so many seconds."""
        self._told, self._vectors, self._examples, self._seconds = told, vectors, examples, seconds
        self._asked = 0
        self._began = monotonic()
        self._searches_since: float | None = None

    def step(self) -> None:
        """One more was asked."""
        self._asked += 1
        if self._asked == self._vectors + 1:
            self._searches_since = monotonic()
        self._told(self._asked, max(self._asked, self._expected()))

    def _expected(self) -> int:
        most = self._vectors + self._examples
        if self._seconds is None or not self._examples:
            return most
        now = monotonic()
        searched = 0.0 if self._searches_since is None else now - self._searches_since
        pace = self._asked / max(now - self._began, 1e-6)
        left = max(self._vectors - self._asked, 0) + pace * max(self._seconds - searched, 0.0)
        return min(most, self._asked + int(left))
