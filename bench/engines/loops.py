"""A network of many loops over elements, no two of which are alike."""

from itertools import product

import numpy as np
from onnx import TensorProto, helper

from bench.engines.elements import MAP
from bench.engines.subjects import Built, Subject

# One of each in every chain: none has the tree of another one, and each makes a result.
CHAINS = tuple(
    product(("Add", "Sub", "Mul", "Div", "Max"), ("Relu", "Round", "HardSwish", "Sqrt"), ("Mul", "Min"))
)


def build(rng: np.random.Generator) -> Built:
    inputs = {name: rng.standard_normal(MAP, np.float32) for name in "xy"}
    nodes, between, results = [], [], []
    for number, (first, second, last) in enumerate(CHAINS):
        names = [f"{name}{number}" for name in "stz"]
        between += names[:2]
        results += names[2:]
        nodes += [
            helper.make_node(operator, operands, [made], name=f"{operator.lower()}_{made}")
            for operator, operands, made in zip(
                (first, second, last), (["x", "y"], names[:1], [names[1], "y"]), names, strict=True
            )
        ]
    given, known, made = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, MAP) for name in each]
        for each in (inputs, between, results)
    )
    graph = helper.make_graph(nodes, "loops", given, made, value_info=known)
    opsets = [helper.make_opsetid("", 21)]
    return Built(helper.make_model(graph, opset_imports=opsets, ir_version=10), inputs)


MANY = Subject("loops", f"{len(CHAINS)} different loops", "small chain", build)
