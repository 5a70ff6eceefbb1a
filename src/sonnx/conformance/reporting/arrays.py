"""Arrays of examples, for programs and for people: every bit of them."""

from typing import Any

from sonnx.conformance.runtimes.packing import pack
from sonnx.conformance.words import text_at
from sonnx.model.dtype import IEEE, DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, held_type
from sonnx.numeric.bits import NanRule, differing
from sonnx.report.text import cut, printable

# Beyond these an array that could not be made small is not written out.
MOST_ELEMENTS = 256
MOST_BYTES = 2**16
_FEW = 4
_FLOATS = (*IEEE, DType.BFLOAT16)
# Their own text rounds more than a reader expects; as a double the value is exact.
_SHORT_FLOATS = (DType.FLOAT16, DType.BFLOAT16)


def array_entry(array: Array | TensorType) -> dict[str, Any]:
    """An array as type, shape, elements with their bits, and its bytes; of a long one not all.

    Floats have `decimals` as well, which are nearest where they cannot be exact. What is no array of the
    profile's types is described.
    """
    if isinstance(array, TensorType):
        return {"described": printable(cut(str(array), 200))}
    dtype, content = held_type(array), pack(array).content
    flat = array.reshape(-1)[:MOST_ELEMENTS]
    entry: dict[str, Any] = {"type": str(dtype), "shape": list(array.shape), "elements": _texts(flat, dtype)}
    if dtype in _FLOATS:
        entry["decimals"] = [decimal_text(element, dtype) for element in flat]
    entry["hex"] = content.hex() if len(content) <= MOST_BYTES else None
    return entry


def _texts(flat: Array, dtype: DType) -> list[str]:
    return [text_at(flat, (place,), dtype) for place in range(flat.size)]


def decimal_text(element: Any, dtype: DType) -> str:
    """A number in decimals, nearest where it cannot be exact."""
    return repr(float(element)) if dtype in _SHORT_FLOATS else str(element)


def differing_places(expected: Array, found: Array | TensorType, nan: NanRule) -> list[int]:
    """The places of those listed elements whose bits differ, counted in C order; none of other shapes."""
    if isinstance(found, TensorType) or (expected.dtype, expected.shape) != (found.dtype, found.shape):
        return []
    mask = differing(found, expected, nan=nan).reshape(-1)[:MOST_ELEMENTS]
    return [place for place, wrong in enumerate(mask.tolist()) if wrong]


def array_text(array: Array | TensorType, room: int = 0) -> str:
    """An array on one line, with its type where it has more axes than one: `[0x1p+0 (0x3f800000)]`.

    A few elements are shown, fewer where that makes it fit into the room.
    """
    if isinstance(array, TensorType):
        return printable(cut(str(array), 200))
    if array.shape == ():
        return _texts(array.reshape(1), held_type(array))[0]
    few = next((few for few in range(_FEW, 1, -1) if len(_first(array, few)) <= room), 1 if room else _FEW)
    return _first(array, few)


def _first(array: Array, few: int) -> str:
    flat = array.reshape(-1)
    shown = _texts(flat[:few], held_type(array))
    shown += [f"... ({flat.size - few:,} more)"] if flat.size > few else []
    kind = f"{TensorType(held_type(array), array.shape)} " if array.ndim > 1 else ""
    return f"{kind}[{', '.join(shown)}]"
