"""Element-wise operators alone and in chains, on much memory and on little, and behind a convolution."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from bench.engines.subjects import PEAK_SUBJECT, TEN_MILLION, Array, Built, Convolution, Group, Subject
from sonnx.operators import NODE_OPERATORS

MAP = (1, 64, 56, 56)
_TO_INT32: Mapping[str, Any] = {"to": TensorProto.INT32, "saturate": 1}
# What the profile may have: how many operands, and attributes.
_SINGLE: Mapping[str, tuple[int, Mapping[str, Any]]] = {
    **{name: (1, {}) for name in ("Relu", "HardSwish")},
    **{name: (2, {}) for name in ("Add", "Mul", "Div", "Max")},
    "Cast": (1, _TO_INT32),
}
_CHAIN = (("Mul", "x", "a"), ("Add", "t0", "b"), ("Relu", "t1"), ("Mul", "t2", "c"))


def built(
    nodes: Sequence[Any], inputs: Mapping[str, Array], weights: Mapping[str, Array], last: int
) -> Built:
    """A model of float maps of one shape, whose last node gives elements of the type `last`."""
    shape = next(iter(inputs.values())).shape
    names = [node.output[0] for node in nodes]
    kinds = [TensorProto.FLOAT] * (len(nodes) - 1) + [last]
    made = [helper.make_tensor_value_info(name, kind, shape) for name, kind in zip(names, kinds, strict=True)]
    given = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape) for name, array in inputs.items()
    ]
    graph = helper.make_graph(
        nodes,
        "bench",
        given,
        made[-1:],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
        value_info=made[:-1],
    )
    opsets = [helper.make_opsetid("", 21)]
    return Built(helper.make_model(graph, opset_imports=opsets, ir_version=10), dict(inputs))


def single(operator: str, shape: tuple[int, ...]) -> Callable[[np.random.Generator], Built]:
    """One node."""

    def build(rng: np.random.Generator) -> Built:
        count, attributes = _SINGLE[operator]
        inputs = {f"x{m}": rng.standard_normal(shape, np.float32) for m in range(count)}
        node = helper.make_node(operator, [*inputs], ["y"], name=operator.lower(), **attributes)
        return built([node], inputs, {}, attributes.get("to", TensorProto.FLOAT))

    return build


def chain(shape: tuple[int, ...]) -> Callable[[np.random.Generator], Built]:
    """Mul, Add, Relu and Mul of four maps."""

    def build(rng: np.random.Generator) -> Built:
        inputs = {name: rng.standard_normal(shape, np.float32) for name in "xabc"}
        nodes = [
            helper.make_node(operator, operands, [f"t{m}"], name=f"{operator.lower()}{m}")
            for m, (operator, *operands) in enumerate(_CHAIN)
        ]
        return built(nodes, inputs, {}, TensorProto.FLOAT)

    return build


def residual(sizes: Convolution) -> Callable[[np.random.Generator], Built]:
    """A convolution, then Add of another map and Relu."""

    def build(rng: np.random.Generator) -> Built:
        bare = sizes.build(rng)
        conv = bare.model.graph.node[0]
        weights = {each.name: numpy_helper.to_array(each) for each in bare.model.graph.initializer}
        inputs = {**bare.inputs, "R": rng.standard_normal(bare.inputs["X"].shape, np.float32)}
        nodes = [
            conv,
            helper.make_node("Add", ["Y", "R"], ["S"], name="add"),
            helper.make_node("Relu", ["S"], ["Z"], name="relu"),
        ]
        return built(nodes, inputs, weights, TensorProto.FLOAT)

    return build


def _group(operator: str, *, large: bool) -> Group:
    if not large:
        return "small"
    return "chain" if operator == "HardSwish" else "memory"


def _singles() -> list[Subject]:
    there = [name for name in _SINGLE if name in NODE_OPERATORS]
    return [
        Subject(
            f"{name.lower()}-{word}",
            f"{name} {title}",
            _group(name, large=word == "10m"),
            single(name, shape),
        )
        for word, title, shape in (("10m", "10 M floats", TEN_MILLION), ("map", "64x56²", MAP))
        for name in there
    ]


RESIDUAL = "conv-add-relu"
_SIZES = Convolution(3, 64, 64, 56, pad=1)
# Times of this subject are compared with those of the convolution alone.
BARE = PEAK_SUBJECT
ELEMENTS = (
    *_singles(),
    Subject("chain-10m", "Mul, Add, Relu, Mul 10 M floats", "chain", chain(TEN_MILLION)),
    Subject("chain-map", "Mul, Add, Relu, Mul 64x56²", "small chain", chain(MAP)),
    Subject(RESIDUAL, "Conv 3x3 64→64 56², Add, Relu", "residual", residual(_SIZES), _SIZES.products),
)
