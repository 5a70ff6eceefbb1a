"""Tensors of a StableHLO function that is being written, and the operations that lowerings make of them.

A lowering looks like a definition: it takes tensors and gives tensors, and every operation on the way becomes
a line of the function's text. Floats are compared through their bits wherever the result must not hang on
what an engine does with NaN, with zeros of unlike sign or with subnormal numbers.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array, numpy_dtype
from sonnx.numeric.convert import PART
from sonnx.numeric.rounding import FORMATS

ELEMENTS = {
    DType.BOOL: "i1",
    DType.INT8: "i8",
    DType.INT16: "i16",
    DType.INT32: "i32",
    DType.INT64: "i64",
    DType.UINT8: "ui8",
    DType.UINT16: "ui16",
    DType.UINT32: "ui32",
    DType.UINT64: "ui64",
    DType.FLOAT16: "f16",
    DType.BFLOAT16: "bf16",
    DType.FLOAT: "f32",
    DType.DOUBLE: "f64",
    DType.COMPLEX64: "complex<f32>",
    DType.COMPLEX128: "complex<f64>",
}
# Longer constants are written as one string of hexadecimal digits.
_LONGEST_LIST = 16
# The signed integers that hold the bits of floats.
_SIGNED = {2: DType.INT16, 4: DType.INT32, 8: DType.INT64}


class ExportError(ValueError):
    """A graph that has no equal in StableHLO; the text says why."""


def type_text(dtype: DType, shape: Iterable[int]) -> str:
    """A type as MLIR writes it: `tensor<1x3xf32>`. Raises ExportError for types that XLA has not."""
    if dtype not in ELEMENTS:
        raise ExportError(f"XLA has no type {dtype.value}; a graph with such tensors cannot be exported")
    return f"tensor<{'x'.join([*map(str, shape), ELEMENTS[dtype]])}>"


@dataclass
class Block:
    """The body of a function: lines of text, the number of values so far, and numbers that are constants."""

    lines: list[str] = field(default_factory=list)
    values: int = 0
    splats: dict[str, "Tensor"] = field(default_factory=dict)

    def name(self) -> str:
        """A name that no value of the function has yet."""
        self.values += 1
        return f"%{self.values - 1}"

    def add(self, operation: str, dtype: DType, shape: Sequence[int]) -> "Tensor":
        """Write an operation that makes one value."""
        name = self.name()
        self.lines.append(f"{name} = {operation}")
        return Tensor(self, name, dtype, tuple(shape))

    def constant(self, array: Array, dtype: DType) -> "Tensor":
        """Write a constant, bit for bit."""
        made = _counted(self, array, dtype) if _counts_from_minus_zero(array) else self._dense(array, dtype)
        return replace(made, value=array)

    def _dense(self, array: Array, dtype: DType) -> "Tensor":
        text = f"stablehlo.constant {dense(array)} : {type_text(dtype, array.shape)}"
        return self.add(text, dtype, array.shape)


@dataclass(frozen=True, eq=False)
class Tensor:
    """A value of the function; `value` holds the elements of a constant."""

    block: Block
    name: str
    dtype: DType
    shape: tuple[int, ...]
    value: Array | None = None

    @property
    def type(self) -> str:
        """The type's text."""
        return type_text(self.dtype, self.shape)


def dense(array: Array) -> str:
    """The elements of a constant as MLIR writes them: linear in time and length, whatever their bits."""
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    flat = little.reshape(-1)
    if flat.size == 0:
        return "dense<>"
    raw = flat.view(np.uint8).reshape(flat.size, flat.dtype.itemsize)
    if (raw == raw[0]).all():
        return f"dense<{_element(flat[0])}>"
    if flat.size <= _LONGEST_LIST or flat.dtype.kind == "b":  # readers disagree on how bits are packed
        return f"dense<{_nested(list(map(_element, flat)), array.shape)}>"
    return f'dense<"0x{raw.tobytes().hex().upper()}">'


def _nested(texts: list[str], shape: Sequence[int]) -> str:
    for size in reversed(shape):
        texts = [f"[{', '.join(texts[at : at + size])}]" for at in range(0, len(texts), size)]
    return texts[0]


def _element(value: Any) -> str:
    kind = value.dtype.kind
    if kind == "b":
        return "true" if value else "false"
    if kind in "iu":
        return str(int(value))
    if kind == "c":
        return f"({_element(value.real)},{_element(value.imag)})"
    number = float(value)
    # MLIR's own spelling has neither NaN nor infinity, and takes -0.0 in a list for 0.0.
    if not np.isfinite(number) or (number == 0 and np.signbit(value)):
        return f"0x{int(value.view(f'u{value.itemsize}')):0{2 * value.itemsize}X}"
    digits, _, exponent = repr(number).partition("e")
    return f"{digits if '.' in digits else f'{digits}.0'}{f'e{exponent}' if exponent else ''}"


def _counts_from_minus_zero(array: Array) -> bool:
    """Tell whether the elements may be -0, 1, 2, and so on, which XLA takes for 0, 1, 2 and so on."""
    if array.size < 2 or array.dtype.kind in "iub":
        return False
    first, second = array.reshape(-1)[:2]
    with np.errstate(invalid="ignore"):  # comparing NaNs of bfloat16 raises a flag
        return bool(first == 0 and second == 1)


def _counted(block: Block, array: Array, dtype: DType) -> Tensor:
    """Such a constant without its first element, which is put in its place when the text is executed."""
    rest = array.reshape(-1).copy()
    first, rest[0] = rest[0], rest[1]
    index = iota(block, DType.INT64, rest.shape, 0)
    made = select(
        compare("EQ", index, splat(index, 0)),
        block._dense(np.broadcast_to(first, rest.shape), dtype),
        block._dense(rest, dtype),
    )
    return made if array.ndim == 1 else reshape(made, array.shape)


def splat(like: Tensor, value: float) -> Tensor:
    """A constant of another tensor's type and shape whose elements are all the same number."""
    element = numpy_dtype(like.dtype).type(value)
    text = f"stablehlo.constant dense<{_element(element)}> : {like.type}"
    splats = like.block.splats
    if text not in splats:
        splats[text] = like.block.add(text, like.dtype, like.shape)
    return splats[text]


def zeros(block: Block, dtype: DType, shape: Sequence[int]) -> Tensor:
    """A constant of zeros, the positive one."""
    return splat(Tensor(block, "", dtype, tuple(shape)), 0)


def elementwise(operation: str, *operands: Tensor) -> Tensor:
    """An operation such as `add` on tensors of one type, which the result has too."""
    names = ", ".join(operand.name for operand in operands)
    first = operands[0]
    return first.block.add(f"stablehlo.{operation} {names} : {first.type}", first.dtype, first.shape)


def with_number(operation: str, operand: Tensor, number: int) -> Tensor:
    """The same with a number as the second operand of every element."""
    return elementwise(operation, operand, splat(operand, number))


def compare(direction: str, a: Tensor, b: Tensor) -> Tensor:
    """Compare element by element: EQ, NE, GE, GT, LE or LT."""
    kinds = {"i": "SIGNED", "u": "UNSIGNED", "b": "UNSIGNED"}
    kind = kinds.get(numpy_dtype(a.dtype).kind, "FLOAT")
    made = type_text(DType.BOOL, a.shape)
    text = f"stablehlo.compare {direction}, {a.name}, {b.name}, {kind} : ({a.type}, {b.type}) -> {made}"
    return a.block.add(text, DType.BOOL, a.shape)


def select(condition: Tensor, chosen: Tensor, otherwise: Tensor) -> Tensor:
    """Take `chosen` where the condition is true, else `otherwise`."""
    names = f"{condition.name}, {chosen.name}, {otherwise.name}"
    text = f"stablehlo.select {names} : {condition.type}, {chosen.type}"
    return chosen.block.add(text, chosen.dtype, chosen.shape)


def _changed(operation: str, x: Tensor, dtype: DType, shape: Sequence[int], options: str = "") -> Tensor:
    text = f"stablehlo.{operation} {x.name}{options} : ({x.type}) -> {type_text(dtype, shape)}"
    return x.block.add(text, dtype, shape)


def convert(x: Tensor, dtype: DType) -> Tensor:
    """XLA's own conversion; nothing where the type is the same."""
    return x if x.dtype is dtype else _changed("convert", x, dtype, x.shape)


def bitcast(x: Tensor, dtype: DType) -> Tensor:
    """The same bits as another type of the same width."""
    return _changed("bitcast_convert", x, dtype, x.shape)


def parts(x: Tensor) -> tuple[Tensor, Tensor]:
    """The real and the imaginary part of complex numbers."""
    return _changed("real", x, PART[x.dtype], x.shape), _changed("imag", x, PART[x.dtype], x.shape)


def complex_of(real: Tensor, imaginary: Tensor) -> Tensor:
    """Complex numbers of two parts."""
    dtype = next(whole for whole, part in PART.items() if part is real.dtype)
    text = f"stablehlo.complex {real.name}, {imaginary.name} : {type_text(dtype, real.shape)}"
    return real.block.add(text, dtype, real.shape)


def reshape(x: Tensor, shape: Sequence[int]) -> Tensor:
    """The same elements in the same order."""
    return _changed("reshape", x, x.dtype, shape)


def broadcast_in_dim(x: Tensor, shape: Sequence[int], dimensions: Sequence[int]) -> Tensor:
    """Repeat a tensor; its axes become those of `dimensions`, where its sizes are the same or 1."""
    return _changed("broadcast_in_dim", x, x.dtype, shape, f", dims = {list(dimensions)}")


def broadcast_to(x: Tensor, shape: Sequence[int]) -> Tensor:
    """Repeat a tensor to a shape whose last axes are its own; nothing where it has that shape."""
    if x.shape == tuple(shape):
        return x
    return broadcast_in_dim(x, shape, range(len(shape) - len(x.shape), len(shape)))


def moved(move: Callable[..., Tensor], *operands: Tensor) -> Tensor:
    """Apply what only moves elements; bfloat16 travels as its bits.

    XLA moves bfloat16 as float where the processor calculates so, and changes NaNs on the way.
    """
    dtype = operands[0].dtype
    if dtype is not DType.BFLOAT16:
        return move(*operands)
    return bitcast(move(*map(signed_bits, operands)), dtype)


def repeated(x: Tensor, shape: Sequence[int], dimensions: Sequence[int] | None = None) -> Tensor:
    """Repeat a tensor, every bit kept; its axes become those of `dimensions`, or the last ones."""
    if dimensions is None:
        dimensions = range(len(shape) - len(x.shape), len(shape))
    if x.shape == tuple(shape) and list(dimensions) == list(range(len(shape))):
        return x
    wide = moved(lambda bits: broadcast_in_dim(bits, shape, dimensions), x)
    own = dict(zip(dimensions, x.shape, strict=True))
    grown = [axis for axis, size in enumerate(shape) if own.get(axis, 1) == 1 < size]
    if x.dtype is not DType.BFLOAT16 or not grown:
        return wide
    # XLA would cast back first, and repeat bfloat16 after all. It cannot where something is laid over the
    # bits that differs along the axis, as far as XLA sees; yet no index has a 64th bit.
    nothing = with_number("shift_right_logical", iota(x.block, DType.UINT64, shape, grown[0]), 63)
    return moved(lambda bits: elementwise("or", bits, convert(nothing, bits.dtype)), wide)


def iota(block: Block, dtype: DType, shape: Sequence[int], axis: int) -> Tensor:
    """The index along an axis."""
    return block.add(f"stablehlo.iota dim = {axis} : {type_text(dtype, shape)}", dtype, shape)


def sliced(x: Tensor, ranges: Sequence[tuple[int, int, int]]) -> Tensor:
    """Some of the elements: along each axis from a first index, up to below a last one, by steps."""
    shape = [-(-(last - first) // step) for first, last, step in ranges]
    texts = (f"{first}:{last}{f':{step}' if step > 1 else ''}" for first, last, step in ranges)
    text = f"stablehlo.slice {x.name} [{', '.join(texts)}] : ({x.type}) -> {type_text(x.dtype, shape)}"
    return x.block.add(text, x.dtype, shape)


def reversed_along(x: Tensor, axes: Sequence[int]) -> Tensor:
    """The elements from the last to the first along some axes."""
    return x.block.add(f"stablehlo.reverse {x.name}, dims = {list(axes)} : {x.type}", x.dtype, x.shape)


def transposed(x: Tensor, axes: Sequence[int]) -> Tensor:
    """The axes in another order."""
    return _changed("transpose", x, x.dtype, [x.shape[axis] for axis in axes], f", dims = {list(axes)}")


def taken(x: Tensor, places: Tensor) -> Tensor:
    """The elements of a vector at places; a place outside counts as the nearest inside."""
    numbers = (
        "#stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], "
        f"index_vector_dim = {len(places.shape)}>"
    )
    made = type_text(x.dtype, places.shape)
    text = (
        f'"stablehlo.gather"({x.name}, {places.name}) <{{dimension_numbers = {numbers}, '
        f"indices_are_sorted = false, slice_sizes = array<i64: 1>}}> : ({x.type}, {places.type}) -> {made}"
    )
    return x.block.add(text, x.dtype, places.shape)


def barrier(x: Tensor) -> Tensor:
    """The same tensor, as something that no optimizer looks behind."""
    return elementwise("optimization_barrier", x)


def concatenate(parts: Sequence[Tensor], dimension: int, shape: Sequence[int]) -> Tensor:
    """Tensors of one type joined along a dimension, to a shape."""
    first = parts[0]
    names, types = ", ".join(part.name for part in parts), ", ".join(part.type for part in parts)
    made = type_text(first.dtype, shape)
    text = f"stablehlo.concatenate {names}, dim = {dimension} : ({types}) -> {made}"
    return first.block.add(text, first.dtype, shape)


def held_back(x: Tensor) -> Tensor:
    """The same for an operand that is known beforehand, where all others of its operation are so too.

    XLA would calculate the result while it compiles, and means something else then: it saturates integers in
    convolutions, and takes -0, 1, 2, ... for a sequence that counts from +0.
    """
    return replace(barrier(x), value=x.value)


def signed_bits(x: Tensor) -> Tensor:
    """The bits of floats as signed integers."""
    return bitcast(x, _SIGNED[numpy_dtype(x.dtype).itemsize])


def is_nan(bits: Tensor, dtype: DType) -> Tensor:
    """Tell NaNs by the signed bits of floats: their magnitude is above that of infinity."""
    form = FORMATS[dtype]
    return compare("GT", with_number("and", bits, form.sign_bit - 1), splat(bits, form.infinity))
