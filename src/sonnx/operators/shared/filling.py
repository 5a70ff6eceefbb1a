"""A tensor of one number, in the body of a composition."""

from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.operators.onnx.expand import OPERATOR as EXPAND
from sonnx.vocabulary.operator import BodyConstant, BodyNode


def filled(name: str, number: int, like: TensorType) -> tuple[BodyConstant | BodyNode, ...]:
    """What makes the tensor `name` of a type and shape whose elements are a number, rounded once.

    The number is there once, and engines read it in place. Where there are no elements, nothing is repeated:
    a size 0 is no size to which one element can be broadcast (D-BCAST-2).
    """
    sizes = like.sizes or ()
    if 0 in sizes:
        return (BodyConstant(name, TensorType(like.dtype, sizes), (number,)),)
    one, shape = f"{name}_one", f"{name}_shape"
    return (
        BodyConstant(one, TensorType(like.dtype, ()), (number,)),
        BodyConstant(shape, TensorType(DType.INT64, (len(sizes),)), sizes),
        BodyNode(EXPAND, (one, shape), (name,)),
    )
