"""What rules may ask of operands. Each answers None where it cannot be asked."""

from sonnx.model.tensor_type import TensorType
from sonnx.vocabulary.call import Call

# The sizes of a tensor's shape, those that are known; None where another rule says why there are none.
Extents = tuple[int | None, ...]


def known(call: Call, name: str) -> TensorType | None:
    """The type of an operand that is present, dense and typed; else None."""
    operand = call.inputs.get(name)
    return None if operand is None or operand.dtype is None or operand.sparse else operand


def extents(call: Call, name: str, rank: int | None = None) -> Extents | None:
    """The sizes of a known operand, None for those left open, of the given rank where one is given.

    A rule needs some of the sizes only: what it can say, it says, though a batch size may still be open.
    """
    operand = known(call, name)
    if operand is None or operand.shape is None or rank not in (None, len(operand.shape)):
        return None
    return operand.extents


def sizes(call: Call, name: str, rank: int | None = None) -> tuple[int, ...] | None:
    """The sizes of a known operand where all of them are known; else None."""
    operand = known(call, name)
    if operand is None or operand.sizes is None or rank not in (None, len(operand.sizes)):
        return None
    return operand.sizes


def static(shape: Extents) -> tuple[int, ...] | None:
    """Sizes that are all known; else None."""
    numbers = tuple(size for size in shape if size is not None)
    return numbers if len(numbers) == len(shape) else None


def alike(one: Extents, other: Extents) -> bool:
    """Tell whether two shapes agree as far as they are known; a size that is open contradicts nothing."""
    pairs = zip(one, other, strict=False)
    return len(one) == len(other) and all(a == b or a is None or b is None for a, b in pairs)
