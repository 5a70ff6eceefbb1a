"""Examples of rules as ONNX files."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from sonnx.check.inference import amended
from sonnx.load.reader import load
from sonnx.load.writer import save
from sonnx.model.dtype import DType
from sonnx.model.graph import Constant, Graph, Node, Value
from sonnx.model.tensor_type import TensorType, tensor_type
from sonnx.operators import operator
from sonnx.vocabulary.call import ABSENT, Call
from sonnx.vocabulary.operator import Contract, Operand, goes_by, operand_names

FLOAT = tensor_type("float[]")
NUMPY = {"int32": np.int32, "int64": np.int64}


def graph_of(example: Call, opset: int = 22) -> Graph:
    """A model of one node: the operands are inputs of the graph named as operands, constants are held."""
    contract = operator(example.operator).contract
    modes = {attribute.name for attribute in contract.attributes if attribute.mode}
    attributes = {
        name: value for name, value in example.attributes.items() if value is not ABSENT and name not in modes
    }
    outputs = tuple(_outputs(contract, example))
    return Graph(
        "example",
        tuple(Value(name, kind) for name, kind in example.inputs.items() if name not in example.constants),
        outputs,
        (
            Node(
                contract.name,
                tuple(_in_order(contract.inputs, example)),
                tuple(value.name for value in outputs),
                attributes,
            ),
        ),
        tuple(_constant(name, example.inputs[name], held) for name, held in example.constants.items()),
        opsets=(("", opset),),
    )


def _in_order(operands: Iterable[Operand], example: Call) -> list[str]:
    """Operands as a node lists them: absent ones are empty, and those at the end are left out."""
    if any(operand.variadic for operand in operands):
        return list(example.inputs)
    names = [operand.name if operand.name in example.inputs else "" for operand in operands]
    while names and not names[-1]:
        names.pop()
    return names


def _outputs(contract: Contract, example: Call) -> Iterable[Value]:
    """The declared outputs, else what follows as far as it does: what is left out counts as written.

    An open size is 1; an open type is that of the first operand with which the output shares its type.
    """
    found = contract.output_types(amended(operator(contract.name), example))
    # Of an unknown number of outputs there is one at least.
    known = {**found, **example.outputs} or dict.fromkeys(operand_names(contract.outputs, 1), FLOAT)
    shared = contract.outputs[0].variable
    first = next((name for name in example.inputs if _variable(contract, name) == shared), "")
    for name, kind in known.items():
        sizes = tuple(size if isinstance(size, int) else 1 for size in kind.shape or ())
        closed = TensorType(kind.dtype or example.inputs.get(first, FLOAT).dtype or DType.FLOAT, sizes)
        yield Value(name, kind if name in example.outputs else closed)


def _variable(contract: Contract, name: str) -> str | None:
    """What the type of an operand is called in a contract; None of what is no operand of it."""
    return next((each.variable for each in contract.inputs if goes_by(each, name)), None)


def _constant(name: str, kind: TensorType, held: tuple[Any, ...]) -> Constant:
    assert kind.dtype is not None
    return Constant(name, kind, np.array(held, NUMPY[kind.dtype]))


def through_a_file(graph: Graph, folder: Path) -> Graph:
    """The graph as it comes back from an ONNX file."""
    path = folder / "example.onnx"
    save(graph, path, stubs=True)
    return load(path)
