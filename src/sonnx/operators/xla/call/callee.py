"""A computation as far as a call of it needs to know it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sonnx.model.graph import Value
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array


def _nothing(_arguments: Sequence[Array]) -> Array:
    raise NotImplementedError("a signature without a body cannot be executed")


def _no_bound(_arguments: Sequence[Array], _order: str) -> Array:
    raise NotImplementedError("a signature without a body has no accuracy")


@dataclass(frozen=True)
class Callee:
    """The types of a computation's parameters and of its result, and what it does with arguments.

    `body` applies it to arrays of those types; `bound` says how far its result may lie from the exact one.
    """

    name: str
    parameters: tuple[Value, ...]
    result: TensorType
    body: Callable[[Sequence[Array]], Array] = field(default=_nothing, compare=False, repr=False)
    bound: Callable[[Sequence[Array], str], Array] = field(default=_no_bound, compare=False, repr=False)

    def __str__(self) -> str:
        """Print the form that messages use: `limit(x: s32[3]) -> s32[3]`."""
        parameters = ", ".join(f"{value.name}: {value.type}" for value in self.parameters)
        return f"{self.name}({parameters}) -> {self.result}"


def callee_of(value: object) -> Callee | None:
    """What is called by a value that is a callee or a computation; None where it is neither."""
    found = value if isinstance(value, Callee) else getattr(value, "callee", None)
    return found if isinstance(found, Callee) else None


def require_callee(value: object) -> Callee:
    """The same where a rule has made sure that there is one."""
    found = callee_of(value)
    assert found is not None
    return found
