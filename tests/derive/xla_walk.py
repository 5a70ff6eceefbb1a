"""Operators that are nothing but a definition, on the real XLA."""

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from sonnx.derive.stablehlo import lower
from sonnx.mlir.operations import Block, Tensor
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.stablehlo import engine
from sonnx.terms.tracing import Definition
from sonnx.vocabulary.operator import Contract, Operand, Operator

Array = NDArray[Any]

TYPES = {
    np.dtype(np.float16): DType.FLOAT16,
    np.dtype(ml_dtypes.bfloat16): DType.BFLOAT16,
    np.dtype(np.float32): DType.FLOAT,
    np.dtype(np.float64): DType.DOUBLE,
    np.dtype(np.int8): DType.INT8,
    np.dtype(np.uint8): DType.UINT8,
    np.dtype(np.int32): DType.INT32,
    np.dtype(np.bool_): DType.BOOL,
}


def operator(definition: Definition, operands: Mapping[str, Array], target: DType) -> Operator:
    """An operator of a name that nobody has, whose outputs have one type."""
    inputs = tuple(
        Operand(name, name, "", (TYPES[x.dtype],) if x.dtype == np.bool_ else (TYPES[x.dtype], DType.REAL))
        for name, x in operands.items()
    )
    outputs = (Operand("output", "Y", "", (target,)),)
    contract = Contract(
        "OfNobody", (1,), "", inputs, outputs, (), (), lambda _call: {"output": TensorType(target, None)}
    )
    return Operator(contract, definition)


def lowered(definition: Definition, operands: Mapping[str, Array], target: DType) -> tuple[Block, Tensor]:
    """The operations that a definition becomes, and the result."""
    block = Block()
    tensors = {name: Tensor(block, f"%{name}", TYPES[x.dtype], x.shape) for name, x in operands.items()}
    return block, lower(operator(definition, operands, target), tensors, {})["output"]


def on_xla(definition: Definition, target: DType | None = None, /, **operands: Array) -> Array:
    """What XLA makes of a definition; the result has the type of the last operand unless one is named."""
    made = target or TYPES[list(operands.values())[-1].dtype]
    block, result = lowered(definition, operands, made)
    taken = ", ".join(
        f"%{name}: {Tensor(block, '', TYPES[x.dtype], x.shape).type}" for name, x in operands.items()
    )
    body = "\n".join([*block.lines, f"return {result.name} : {result.type}"])
    text = f"module @m {{\nfunc.func public @main({taken}) -> {result.type} {{\n{body}\n}}\n}}\n"
    jax = engine._jax()
    device, executable = engine._compiled(text)
    with jax.enable_x64(True):
        given = [jax.device_put(np.ascontiguousarray(x), device) for x in operands.values()]
        return np.array(executable.execute(given)[0])
