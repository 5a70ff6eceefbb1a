"""What was made for a question's structure, kept for the questions that differ in their inputs alone."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from sonnx.conformance.runtimes.question import Question, Structure

T = TypeVar("T")
_MOST = 64


class Kept(Generic[T]):
    """Makes what a question needs, once for every structure; the latest ones are kept."""

    def __init__(self, make: Callable[[Question], T], most: int = _MOST) -> None:
        """Nothing has been made yet."""
        self._make, self._most = make, most
        self._made: OrderedDict[Structure, T] = OrderedDict()

    def __call__(self, question: Question) -> T:
        """What was made for such a question, now or before."""
        key = question.structure
        if key in self._made:
            self._made.move_to_end(key)
            return self._made[key]
        made = self._make(question)
        self._made[key] = made
        if len(self._made) > self._most:
            self._made.popitem(last=False)
        return made
