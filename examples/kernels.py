"""Write a small model of plain kernels, for proofs on small shapes.

    python examples/kernels.py OUT.onnx [--convolutions | --operator NAME]

It conforms to the profile as it is: a Conv with padding, strides and dilation, whose result is limited,
chosen from and repeated. With `--convolutions` it has the Conv alone: that is what differs between the
modes of accumulation. With `--operator add` it has Add on every type that is proved; so it is with each
operator on elements, and each move, that the catalogue lists, under the name of its folder.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

from sonnx.load.types import TO_ONNX
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.operators import NODE_OPERATORS
from sonnx.operators.rules.examples import good_call
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.integers import OneOf
from sonnx.vocabulary.operator import Operator, operand_names

# The first operator set that has all attributes of the operators, and the version of files that goes with it.
OPSET = 24
IR_VERSION = 12
IMAGE, KERNEL, RESULT, REPEATED = (1, 2, 5, 6), (3, 2, 3, 2), (1, 3, 3, 5), (2, 3, 3, 5)
SLIDING: dict[str, Any] = {"strides": (2, 1), "pads": (1, 1, 1, 0), "dilations": (1, 2), "group": 1}


def _constant(name: str, kind: int, shape: tuple[int, ...]) -> TensorProto:
    """Make a tensor; contracts do not look at its values, which count up."""
    values = np.arange(prod(shape)).astype(helper.tensor_dtype_to_np_dtype(kind))
    return helper.make_tensor(name, kind, shape, values.tobytes(), raw=True)


def build(*, convolutions: bool = False) -> ModelProto:
    """Make the model."""
    real = TensorProto.FLOAT
    conv = helper.make_node(
        "Conv", ["X", "W", "B"], ["sums"], name="conv", auto_pad="NOTSET", kernel_shape=KERNEL[2:], **SLIDING
    )
    nodes, output, shape = [conv], "sums", RESULT
    constants = [_constant("W", real, KERNEL), _constant("B", real, KERNEL[:1])]
    if not convolutions:
        nodes += [
            helper.make_node("Clip", ["sums", "low", "high"], ["limited"], name="clip"),
            helper.make_node("Where", ["mask", "limited", "other"], ["chosen"], name="where"),
            helper.make_node("Expand", ["chosen", "shape"], ["repeated"], name="expand"),
        ]
        constants += [
            _constant("low", real, ()),
            _constant("high", real, ()),
            _constant("other", real, RESULT),
        ]
        constants.append(_constant("mask", TensorProto.BOOL, RESULT))
        constants.append(helper.make_tensor("shape", TensorProto.INT64, (4,), REPEATED))
        output, shape = "repeated", REPEATED
    inner = [helper.make_tensor_value_info(node.output[0], real, RESULT) for node in nodes[:-1]]
    graph = helper.make_graph(
        nodes,
        "convolutions" if convolutions else "kernels",
        [helper.make_tensor_value_info("X", real, IMAGE)],
        [helper.make_tensor_value_info(output, real, shape)],
        constants,
        value_info=inner,
    )
    opsets = [helper.make_opsetid("", OPSET)]
    return helper.make_model(
        graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="sonnx-example"
    )


# The types on which contracts of elements are proved.
ELEMENTS = {
    "float": TensorProto.FLOAT,
    "double": TensorProto.DOUBLE,
    "float16": TensorProto.FLOAT16,
    "int8": TensorProto.INT8,
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
    "bool": TensorProto.BOOL,
}
# Where there may be any number of operands: two, and three, in which two functions are one inside the other.
COUNTS = (2, 3)
_SIZES = (2, 3)


def calls(operator: Operator, dtype: DType) -> Iterator[Call]:
    """Small calls of an operator on elements, or of a move; none of one that lacks the type."""
    contract = operator.contract
    lacks = any(operand.variable and dtype not in operand.types for operand in contract.inputs)
    if lacks or (contract.good is None and not all(operand.form for operand in contract.inputs)):
        return
    typed = {operand.name: operand for operand in contract.inputs}
    good = contract.good or good_call(contract.name, contract.inputs, contract.attributes)
    variadic = any(operand.variadic for operand in contract.inputs)
    for count in COUNTS if variadic else (len(contract.inputs),):
        inputs = {}
        for name in operand_names(contract.inputs, count):
            operand = typed.get(name) or contract.inputs[-1]
            known = good.inputs.get(name) or TensorType(dtype, _SIZES)
            inputs[name] = replace(known, dtype=dtype) if operand.variable else known
        written = {
            name: _suited(contract.named[name].holds, value, dtype)
            for name, value in good.attributes.items()
            if not contract.named[name].mode
        }
        yield from _converted(operator, replace(good, inputs=inputs, attributes=written))


def _suited(holds: object, value: object, dtype: DType) -> object:
    """The value of an attribute; where some are for integers alone, the first one that a type has."""
    return holds.of(dtype)[0] if isinstance(holds, OneOf) and holds.integers else value


def _converted(operator: Operator, asked: Call) -> Iterator[Call]:
    """The call; of an operator that converts, one to each other type."""
    named = operator.trying.converts_to
    if not named:
        yield asked
        return
    (given,) = asked.inputs.values()
    for target in map(DType, ELEMENTS):
        if target is not given.dtype:
            yield replace(asked, attributes={**asked.attributes, named: TO_ONNX[target]})


def names() -> Iterator[str]:
    """What models of one operator there are: one for each, and of one that converts, for each type."""
    for operator in NODE_OPERATORS.values():
        types = [name for name in ELEMENTS if any(calls(operator, DType(name)))]
        if operator.trying.converts_to:
            yield from (f"{operator.folder}-{name}" for name in types)
        elif types:
            yield operator.folder


def build_operator(name: str) -> ModelProto:
    """Make the model of that name: nodes of an operator side by side, one for every type and call."""
    folder, _, only = name.partition("-")
    (operator,) = (each for each in NODE_OPERATORS.values() if each.folder == folder)
    known: dict[str, TensorType] = {}
    made: dict[str, TensorType] = {}
    nodes: list[NodeProto] = []
    held: list[TensorProto] = []
    for kind in [only] if only else ELEMENTS:
        for call in calls(operator, DType(kind)):
            label = f"{kind}_{len(nodes)}"
            results = list(operator.contract.output_types(call).values())
            labels = [label, *(f"{label}_{n}" for n in range(1, len(results)))]
            made |= dict(zip(labels, results, strict=True))
            held += _held(label, call, ELEMENTS[kind])
            taken: list[str] = []
            for operand, given in call.inputs.items():
                if operand in call.constants or given.sizes == ():
                    taken.append(f"{label}_{operand}")
                    continue
                # Whichever nodes have an operand at the same place, it is the same tensor.
                taken.append(f"{given.dtype}_{'x'.join(map(str, given.sizes or ()))}_{len(taken)}")
                known[taken[-1]] = given
            more = call.attributes
            nodes.append(helper.make_node(operator.contract.name, taken, labels, name=label, **more))
    inputs, outputs = ([_value(*each) for each in values.items()] for values in (known, made))
    graph = helper.make_graph(nodes, name.replace("-", "_"), inputs, outputs, held)
    opsets = [helper.make_opsetid("", OPSET)]
    return helper.make_model(
        graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="sonnx-example"
    )


def _held(label: str, call: Call, kind: int) -> Iterator[TensorProto]:
    """The operands of a node that the model holds: what decides a shape, and scalars."""
    for operand, given in call.inputs.items():
        if operand in call.constants:
            elements = call.constants[operand]
            yield helper.make_tensor(f"{label}_{operand}", TensorProto.INT64, (len(elements),), elements)
        elif given.sizes == ():
            yield _constant(f"{label}_{operand}", kind, ())


def _value(name: str, kind: TensorType) -> ValueInfoProto:
    assert kind.dtype is not None  # a call that conforms says all types
    return helper.make_tensor_value_info(name, TO_ONNX[kind.dtype], kind.sizes)


def main() -> None:
    """Write the model."""
    parser = argparse.ArgumentParser(description="Write a small model of plain kernels.")
    parser.add_argument("output", type=Path, metavar="OUT.onnx")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--convolutions", action="store_true", help="only Conv")
    choice.add_argument("--operator", choices=[*names()], metavar="NAME", help="one operator, on all types")
    arguments = parser.parse_args()
    operator = arguments.operator
    model = build_operator(operator) if operator else build(convolutions=arguments.convolutions)
    arguments.output.write_bytes(model.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
