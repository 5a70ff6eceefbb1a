"""Element types, shapes and denotations out of protobuf, and back."""

import re
from collections.abc import Mapping
from typing import Any

from onnx import TensorProto, TypeProto, ValueInfoProto

from sonnx.load.limits import MOST_AXES
from sonnx.load.strings import notes_of, quoted, text_of
from sonnx.model.dtype import ONNX_NUMBERS, DType
from sonnx.model.graph import Value
from sonnx.model.tensor_type import Size, TensorType

TO_ONNX: Mapping[DType, int] = ONNX_NUMBERS
_FROM_ONNX = {number: dtype for dtype, number in TO_ONNX.items()}
_NAMES: Mapping[int, str] = {
    number: name.lower() for name, number in TensorProto.DataType.items() if number != 0
}
_NUMBERS = {name: number for number, name in _NAMES.items()}
_NUMBERED = re.compile(r"type (-?\d{1,10})")
# ONNX's types that are no tensors; of them no more than the kind is kept.
_KINDS = {"sequence", "map", "optional", "opaque"}
_OPEN_NUMBER, _OPEN_NAME = -1, "?"


def element_type(number: int) -> tuple[DType | None, str | None]:
    """The profile's type of that number, or the name of one that the profile does not have."""
    if number in _FROM_ONNX:
        return _FROM_ONNX[number], None
    return None, None if number == 0 else _NAMES.get(number, f"type {number}")


def value_of(proto: ValueInfoProto) -> Value:
    """A tensor's name and its written type."""
    denotation = text_of(proto.type.denotation)
    return Value(text_of(proto.name), type_of(proto.type), denotation, notes_of(proto))


def type_of(proto: TypeProto) -> TensorType:
    """The written type of a tensor; anything that is no tensor is a type foreign to the profile."""
    kind = proto.WhichOneof("value")
    if kind is None:
        return TensorType(None, None)
    if kind not in ("tensor_type", "sparse_tensor_type"):
        return TensorType(None, None, foreign=kind.removesuffix("_type"))
    tensor = getattr(proto, kind)
    dtype, foreign = element_type(tensor.elem_type)
    sparse = kind == "sparse_tensor_type"
    if not tensor.HasField("shape"):
        return TensorType(dtype, None, sparse, foreign=foreign)
    axes = tensor.shape.dim[: MOST_AXES + 1]
    denotation = tuple(text_of(axis.denotation) for axis in axes)
    shape = tuple(map(_size, axes))
    return TensorType(dtype, shape, sparse, denotation if any(denotation) else None, foreign)


def _size(axis: Any) -> Size:
    """A size; some exporters write one that is open as the number -1, or call it `?`, which names nothing."""
    kind = axis.WhichOneof("value")
    if kind == "dim_value":
        return None if axis.dim_value == _OPEN_NUMBER else int(axis.dim_value)
    name = text_of(axis.dim_param) if kind == "dim_param" else ""
    return None if name in ("", _OPEN_NAME) else name


def write_type(proto: TypeProto, written: TensorType, stubs: bool) -> None:
    """Write a type into protobuf; with `stubs` also one of which the graph knows the kind alone."""
    if written.foreign in _KINDS and written.shape is None:
        if not stubs:
            raise ValueError(f"a type of kind {written.foreign} cannot be saved: its parts are not kept")
        getattr(proto, f"{written.foreign}_type").SetInParent()
    elif written != TensorType(None, None):
        _write_tensor_type(proto.sparse_tensor_type if written.sparse else proto.tensor_type, written)


def _write_tensor_type(tensor: Any, written: TensorType) -> None:
    tensor.elem_type = number_of(written)
    if written.shape is None:
        return
    tensor.shape.SetInParent()
    for index, size in enumerate(written.shape):
        axis = tensor.shape.dim.add()
        if isinstance(size, str):
            axis.dim_param = size
        elif size is not None:
            axis.dim_value = size
        if written.denotation is not None and index < len(written.denotation):
            axis.denotation = written.denotation[index]


def number_of(written: TensorType) -> int:
    """ONNX's number of an element type, 0 for an unknown one; raises ValueError where it has none."""
    if written.foreign is None and written.dtype is None:
        return 0
    name = written.foreign or str(written.dtype)
    if (numbered := _NUMBERED.fullmatch(name)) is not None:
        return int(numbered[1])
    if name not in _NUMBERS:
        raise ValueError(f"the element type {quoted(name)} cannot be saved: ONNX has no such type")
    return _NUMBERS[name]
