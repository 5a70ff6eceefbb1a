"""Element types, shapes and denotations out of protobuf."""

from onnx import TensorProto, TypeProto, ValueInfoProto

from sonnx.load.text import text_of
from sonnx.model.dtype import ALL, DType
from sonnx.model.graph import Value
from sonnx.model.tensor_type import Size, TensorType

# ONNX spells the types of the profile as the profile does, in capitals.
_FROM_ONNX = {TensorProto.DataType.Value(dtype.upper()): dtype for dtype in ALL if dtype is not DType.REAL}
TO_ONNX = {dtype: number for number, dtype in _FROM_ONNX.items()}
_NAMES = {number: name.lower() for name, number in TensorProto.DataType.items() if number != 0}
# No array has as many axes; of a longer shape the beginning is enough to refuse it.
_LONGEST_SHAPE = 1000


def element_type(number: int) -> tuple[DType | None, str | None]:
    """The profile's type of that number, or the name of one that the profile does not have."""
    if number in _FROM_ONNX:
        return _FROM_ONNX[number], None
    return None, None if number == 0 else _NAMES.get(number, f"type {number}")


def value_of(proto: ValueInfoProto) -> Value:
    """A tensor's name and its written type."""
    return Value(text_of(proto.name), type_of(proto.type))


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
    axes = tensor.shape.dim[:_LONGEST_SHAPE]
    denotation = tuple(text_of(axis.denotation) for axis in axes)
    return TensorType(
        dtype, tuple(map(_size, axes)), sparse, denotation if any(denotation) else None, foreign
    )


def _size(axis: object) -> Size:
    kind = axis.WhichOneof("value")  # type: ignore[attr-defined]  # a Dimension; protobuf makes its class
    if kind == "dim_value":
        return int(axis.dim_value)  # type: ignore[attr-defined]  # as above
    return (text_of(axis.dim_param) or None) if kind == "dim_param" else None  # type: ignore[attr-defined]


def write_type(proto: TypeProto, written: TensorType) -> None:
    """Write a type into protobuf."""
    tensor = proto.sparse_tensor_type if written.sparse else proto.tensor_type
    tensor.elem_type = _number(written)
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


def _number(written: TensorType) -> int:
    if written.dtype is not None:
        return TO_ONNX[written.dtype]
    foreign = {name: number for number, name in _NAMES.items()}
    return foreign.get(written.foreign or "", 0)
