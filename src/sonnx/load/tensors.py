"""The elements of tensors out of protobuf, every bit of them, and back."""

from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from onnx import SparseTensorProto, TensorProto

from sonnx.load.external import ExternalError, read_external
from sonnx.load.limits import MOST_AXES, Budget
from sonnx.load.strings import notes_of, quoted, text_of, write_notes
from sonnx.load.types import TO_ONNX, element_type
from sonnx.model.dtype import DType
from sonnx.model.graph import Constant
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, dtype_of, numpy_dtype

# The field in which a type's elements lie where they are not raw bytes.
_FIELDS = {
    DType.FLOAT: "float_data",
    DType.COMPLEX64: "float_data",
    DType.DOUBLE: "double_data",
    DType.COMPLEX128: "double_data",
    DType.INT64: "int64_data",
    DType.UINT64: "uint64_data",
    DType.UINT32: "uint64_data",
    DType.STRING: "string_data",
} | dict.fromkeys(
    (
        DType.INT32,
        DType.INT16,
        DType.INT8,
        DType.UINT16,
        DType.UINT8,
        DType.BOOL,
        DType.FLOAT16,
        DType.BFLOAT16,
    ),
    "int32_data",
)
_TYPED = ("float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data")
# Stored as the unsigned integer of the same bits.
_AS_BITS = (DType.FLOAT16, DType.BFLOAT16)
# A Python string takes this much at least.
_STRING_BYTES = 50


class _DataError(ValueError):
    """Why a tensor's elements cannot be had."""


def constant_of(proto: TensorProto, folder: Path, budget: Budget) -> Constant:
    """A tensor with its elements, or with the reason why there are none."""
    dtype, foreign = element_type(proto.data_type)
    shape = tuple(proto.dims[: MOST_AXES + 1])
    described = TensorType(dtype, shape, foreign=foreign)
    name = text_of(proto.name)
    if dtype is None or described.sizes is None:
        return Constant(name, described, notes=notes_of(proto))
    try:
        elements = _elements(proto, dtype, described.sizes, folder, budget)
    except (_DataError, ExternalError) as problem:
        return Constant(name, described, problem=str(problem), notes=notes_of(proto))
    elements.flags.writeable = False
    return Constant(name, described, elements, notes=notes_of(proto))


def sparse_of(proto: SparseTensorProto) -> Constant:
    """A sparse tensor; its elements are not read, because a rule refuses it."""
    dtype, foreign = element_type(proto.values.data_type)
    shape = tuple(proto.dims[: MOST_AXES + 1])
    return Constant(text_of(proto.values.name), TensorType(dtype, shape, sparse=True, foreign=foreign))


def _elements(
    proto: TensorProto, dtype: DType, sizes: tuple[int, ...], folder: Path, budget: Budget
) -> Array:
    if len(sizes) > MOST_AXES:
        raise _DataError(f"it has more than {MOST_AXES} axes")
    if prod(size or 1 for size in sizes) >= 2**31:
        raise _DataError("it has 2^31 elements or more (sizes 0 not counted)")
    size = prod(sizes) * (_STRING_BYTES if dtype is DType.STRING else numpy_dtype(dtype).itemsize)
    where = _place(proto, dtype)
    held = None if where == "external_data" else _held(proto, dtype, prod(sizes), where)
    if not budget.take(size):
        raise _DataError(f"its {size} bytes would exceed {budget.words()}")
    if held is None:
        return _from_bytes(read_external(folder, _entries(proto), size, budget), dtype).reshape(sizes)
    return _read(proto, dtype, held, where).reshape(sizes)


def _place(proto: TensorProto, dtype: DType) -> str:
    """Where the elements are written."""
    if proto.HasField("segment"):
        raise _DataError("it is stored in segments")
    filled = [name for name in _TYPED if len(getattr(proto, name))]
    if proto.HasField("raw_data"):
        filled.append("raw_data")
    if proto.data_location == TensorProto.EXTERNAL:
        filled.append("external_data")
    if len(filled) > 1:
        raise _DataError(f"its elements are written in several places: {', '.join(filled)}")
    where = filled[0] if filled else _FIELDS[dtype]
    allowed = [_FIELDS[dtype]] if dtype is DType.STRING else [_FIELDS[dtype], "raw_data", "external_data"]
    if where not in allowed:
        raise _DataError(f"elements of type {dtype} cannot be written in {where}")
    return where


def _held(proto: TensorProto, dtype: DType, number: int, where: str) -> Any:
    """The bytes or the list that the elements lie in, if it has the length that so many of them need."""
    held = getattr(proto, where)  # every look at raw bytes copies them
    parts = 2 if dtype in (DType.COMPLEX64, DType.COMPLEX128) else 1
    needed = number * (numpy_dtype(dtype).itemsize if where == "raw_data" else parts)
    if len(held) != needed:
        kind = "bytes" if where == "raw_data" else "elements"
        raise _DataError(f"its type and shape need {needed} {kind}, {where} has {len(held)}")
    return held


def _read(proto: TensorProto, dtype: DType, held: Any, where: str) -> Array:
    match where:
        case "raw_data":
            return _from_bytes(held, dtype)
        case "string_data":
            return _strings(held)
        case "float_data" | "double_data":
            return _from_bytes(_packed(proto, where), dtype)
    integer = np.uint64 if where == "uint64_data" else np.int64
    return _narrowed(np.fromiter(held, integer, count=len(held)), dtype)


def _entries(proto: TensorProto) -> dict[str, str]:
    entries: dict[str, str] = {}
    for entry in proto.external_data:
        key = text_of(entry.key)
        if key in entries:
            raise _DataError(f"its external data has {quoted(key)} more than once")
        entries[key] = text_of(entry.value)
    return entries


def _from_bytes(content: bytes, dtype: DType) -> Array:
    if dtype is DType.BOOL:
        truth: Array = np.frombuffer(content, np.uint8) != 0  # any non-zero byte is true (D-WHERE-1)
        return truth
    stored = numpy_dtype(dtype)
    if dtype is DType.BFLOAT16:
        return np.frombuffer(content, "<u2").astype(np.uint16, copy=False).view(stored)
    return np.frombuffer(content, stored.newbyteorder("<")).astype(stored, copy=False)


def _packed(proto: TensorProto, where: str) -> bytes:
    """The bytes of a list of floats as the file has them.

    Read one by one they would pass through Python's floats, which changes the bits of signalling NaNs.
    """
    alone = TensorProto()
    getattr(alone, where).MergeFrom(getattr(proto, where))
    content: bytes = alone.SerializeToString()
    width = 4 if where == "float_data" else 8
    # Before the elements stand the field's tag and their length; both are short.
    return content[len(content) - width * len(getattr(proto, where)) :]


def _narrowed(listed: Array, dtype: DType) -> Array:
    if dtype is DType.BOOL:
        truth: Array = listed != 0
        return truth
    target = np.dtype(np.uint16) if dtype in _AS_BITS else numpy_dtype(dtype)
    ends = np.iinfo(target)
    # Signed against unsigned bounds: Python's integers compare without conversion.
    if listed.size and not (ends.min <= int(listed.min()) and int(listed.max()) <= ends.max):
        outside = next(int(value) for value in listed if not ends.min <= int(value) <= ends.max)
        raise _DataError(f"it holds {outside}, which {dtype} cannot")
    return listed.astype(target).view(numpy_dtype(dtype))


def _strings(field: Any) -> Array:
    strings = np.empty(len(field), object)
    try:
        strings[:] = [element.decode("utf-8") for element in field]
    except UnicodeDecodeError as error:
        start = error.object[:_STRING_BYTES]
        raise _DataError(f"it holds a string that is not UTF-8: {start!r}") from None
    return strings


def write_tensor(proto: TensorProto, constant: Constant) -> None:
    """Write a tensor into protobuf, as raw bytes wherever the type allows."""
    dtype, data = constant.type.dtype, constant.data
    if data is None or dtype is None or dtype not in TO_ONNX:
        reason = constant.problem or f"an ONNX file holds no elements of type {constant.type}"
        raise ValueError(f"the constant {quoted(constant.name)} cannot be saved: {reason}")
    held = np.asarray(data)
    # An empty array of objects may be any.
    if dtype_of(held) is not dtype and (held.size or dtype is not DType.STRING):
        raise ValueError(
            f"the constant {quoted(constant.name)} cannot be saved: it is {constant.type}, "
            f"but its array has dtype {held.dtype}"
        )
    proto.name = constant.name
    proto.data_type = TO_ONNX[dtype]
    proto.dims.extend(held.shape)
    write_notes(proto, constant.notes)
    if dtype is DType.STRING:
        proto.string_data.extend(str(element).encode() for element in held.reshape(-1).tolist())
        return
    bits = held.view(np.uint16) if dtype is DType.BFLOAT16 else held
    proto.raw_data = bits.astype(bits.dtype.newbyteorder("<"), copy=False).tobytes()
