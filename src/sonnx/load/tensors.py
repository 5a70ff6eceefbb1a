"""The elements of tensors out of protobuf, every bit of them, and back."""

from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from onnx import SparseTensorProto, TensorProto

from sonnx.load.external import ExternalError, read_external
from sonnx.load.limits import Limits
from sonnx.load.text import quoted, text_of
from sonnx.load.types import TO_ONNX, element_type
from sonnx.model.dtype import DType
from sonnx.model.graph import Constant
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, numpy_dtype

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
_MOST_AXES = 64


class _Problem(ValueError):
    """Why a tensor's elements cannot be had."""


def constant_of(proto: TensorProto, folder: Path, limits: Limits, name: str | None = None) -> Constant:
    """A tensor with its elements, or with the reason why there are none."""
    dtype, foreign = element_type(proto.data_type)
    shape = tuple(proto.dims[: _MOST_AXES + 1])
    described = TensorType(dtype, shape, foreign=foreign)
    label = text_of(proto.name) if name is None else name
    if dtype is None or described.sizes is None:
        return Constant(label, described)
    try:
        if len(shape) > _MOST_AXES:
            raise _Problem(f"it has more than {_MOST_AXES} axes")
        return Constant(label, described, _elements(proto, dtype, described.sizes, folder, limits))
    except (_Problem, ExternalError) as problem:
        return Constant(label, described, problem=str(problem))


def sparse_of(proto: SparseTensorProto) -> Constant:
    """A sparse tensor; its elements are not read, because a rule refuses it."""
    dtype, foreign = element_type(proto.values.data_type)
    shape = tuple(proto.dims[: _MOST_AXES + 1])
    return Constant(text_of(proto.values.name), TensorType(dtype, shape, sparse=True, foreign=foreign))


def _elements(
    proto: TensorProto, dtype: DType, sizes: tuple[int, ...], folder: Path, limits: Limits
) -> Array:
    number = prod(sizes)
    if prod(size or 1 for size in sizes) >= 2**31:
        raise _Problem("it has 2^31 elements or more (sizes 0 not counted)")
    size = number * (_STRING_BYTES if dtype is DType.STRING else numpy_dtype(dtype).itemsize)
    if not limits.take(size):
        raise _Problem(f"its {size} bytes would exceed {limits.words()}")
    if proto.HasField("segment"):
        raise _Problem("it is stored in segments")
    filled = [name for name in _TYPED if len(getattr(proto, name))]
    if proto.HasField("raw_data"):
        filled.append("raw_data")
    if proto.data_location == TensorProto.EXTERNAL:
        filled.append("external_data")
    if len(filled) > 1:
        raise _Problem(f"its elements are written in several places: {', '.join(filled)}")
    return _read(proto, dtype, number, folder, filled[0] if filled else _FIELDS[dtype]).reshape(sizes)


def _read(proto: TensorProto, dtype: DType, number: int, folder: Path, where: str) -> Array:
    if where in ("raw_data", "external_data"):
        if dtype is DType.STRING:
            raise _Problem(f"strings cannot be stored as {where}")
        size = number * numpy_dtype(dtype).itemsize
        if where == "raw_data":
            content = proto.raw_data
        else:
            entries = {text_of(entry.key): text_of(entry.value) for entry in proto.external_data}
            content = read_external(folder, entries, size)
        if len(content) != size:
            raise _Problem(f"its type and shape need {size} bytes, {where} has {len(content)}")
        return _from_bytes(content, dtype)
    if where != _FIELDS[dtype]:
        raise _Problem(f"elements of type {dtype} cannot be written in {where}")
    return _typed(proto, dtype, number, where)


def _from_bytes(content: bytes, dtype: DType) -> Array:
    if dtype is DType.BOOL:
        return np.frombuffer(content, np.uint8) != 0  # any non-zero byte is true (D-WHERE-1)
    stored = numpy_dtype(dtype)
    if dtype is DType.BFLOAT16:
        return np.frombuffer(content, "<u2").astype(np.uint16, copy=False).view(stored)
    return np.frombuffer(content, stored.newbyteorder("<")).astype(stored, copy=False)


def _typed(proto: TensorProto, dtype: DType, number: int, where: str) -> Array:
    field = getattr(proto, where)
    needed = number * (2 if dtype in (DType.COMPLEX64, DType.COMPLEX128) else 1)
    if len(field) != needed:
        raise _Problem(f"its type and shape need {needed} elements, {where} has {len(field)}")
    if dtype is DType.STRING:
        return _strings(field)
    if where in ("float_data", "double_data"):
        return _from_bytes(_packed(proto, where), dtype)
    listed = np.fromiter(field, np.uint64 if where == "uint64_data" else np.int64, count=len(field))
    return _narrowed(listed, dtype)


def _packed(proto: TensorProto, where: str) -> bytes:
    """The bytes of a list of floats as the file has them.

    Read one by one they would pass through Python's floats, which changes the bits of signalling NaNs.
    """
    alone = TensorProto()
    getattr(alone, where).MergeFrom(getattr(proto, where))
    content = alone.SerializeToString()
    width = 4 if where == "float_data" else 8
    # Before the elements stand the field's tag and their length; both are short.
    return content[len(content) - width * len(getattr(proto, where)) :]


def _narrowed(listed: Array, dtype: DType) -> Array:
    if dtype is DType.BOOL:
        return listed != 0
    target = np.dtype(np.uint16) if dtype in _AS_BITS else numpy_dtype(dtype)
    ends = np.iinfo(target)
    # Signed against unsigned bounds: Python's integers compare without conversion.
    if listed.size and not (ends.min <= int(listed.min()) and int(listed.max()) <= ends.max):
        outside = next(int(value) for value in listed if not ends.min <= int(value) <= ends.max)
        raise _Problem(f"it holds {outside}, which {dtype} cannot")
    return listed.astype(target).view(numpy_dtype(dtype))


def _strings(field: Any) -> Array:
    strings = np.empty(len(field), object)
    try:
        strings[:] = [bytes(element).decode("utf-8") for element in field]
    except UnicodeDecodeError as error:
        raise _Problem(f"it holds a string that is not UTF-8: {quoted(repr(error.object))}") from None
    return strings


def write_tensor(proto: TensorProto, constant: Constant) -> None:
    """Write a tensor into protobuf, as raw bytes wherever the type allows."""
    dtype = constant.type.dtype
    if constant.data is None or dtype is None or dtype not in TO_ONNX:
        raise ValueError(f"the constant {quoted(constant.name)} of type {constant.type} cannot be saved")
    proto.name = constant.name
    proto.data_type = TO_ONNX[dtype]
    proto.dims.extend(constant.data.shape)
    if dtype is DType.STRING:
        proto.string_data.extend(str(element).encode() for element in constant.data.reshape(-1))
        return
    held = np.asarray(constant.data, numpy_dtype(dtype))
    bits = held.view(np.uint16) if dtype is DType.BFLOAT16 else held
    proto.raw_data = bits.astype(bits.dtype.newbyteorder("<"), copy=False).tobytes()
