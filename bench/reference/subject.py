"""What is measured against what."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Subject:
    """A pair of callables; `bar` is the largest ratio ours / theirs that is asked for (None: no bar)."""

    name: str
    against: str
    ours: Callable[[], object]
    theirs: Callable[[], object]
    bar: float | None
    rounds: int = 9
    warm: bool = True
