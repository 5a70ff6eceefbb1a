"""What a model writes of a tensor's type, against what is known of it."""

from dataclasses import dataclass, field, replace

from sonnx.model.graph import Graph, Value
from sonnx.model.tensor_type import TensorType


def less(said: TensorType, known: TensorType) -> bool:
    """Tell whether what is written is only less than what is known, not something else."""
    if said.sparse or said.foreign is not None or said.dtype not in (None, known.dtype):
        return False
    if said.shape is None:
        return True
    sizes = known.shape or ()
    if len(said.shape) != len(sizes):
        return False
    return all(not isinstance(one, int) or one == other for one, other in zip(said.shape, sizes, strict=True))


@dataclass
class Symbols:
    """What the names of open sizes stand for: one number each, wherever they are written.

    A name that an input still has is `undecided`, for the user to fix. A name for which two numbers are found
    is `contradicted`.
    """

    undecided: frozenset[str]
    sizes: dict[str, int] = field(default_factory=dict)
    contradicted: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, graph: Graph) -> "Symbols":
        """Start with what the inputs leave open."""
        inputs = (size for value in graph.inputs for size in value.type.shape or () if isinstance(size, str))
        return cls(frozenset(inputs))

    def refined(self, said: TensorType, known: TensorType) -> TensorType | None:
        """The type in place of what is written, which says less; None where that says something else."""
        if not less(said, known):
            return None
        names = [
            (name, size)
            for name, size in zip(said.shape or (), known.sizes or (), strict=False)
            if isinstance(name, str)
        ]
        if any(name in self.undecided for name, _ in names):
            return None
        twice = {name for name, size in names if self.sizes.setdefault(name, size) != size}
        self.contradicted |= twice
        return None if twice else replace(known, denotation=said.denotation)


def without_symbols(value: Value) -> Value:
    """A function's symbols stand for whatever each call gives: outside of it they say nothing."""
    shape = value.type.shape
    if shape is None:
        return value
    sizes = tuple(size if isinstance(size, int) else None for size in shape)
    return replace(value, type=replace(value.type, shape=sizes))
