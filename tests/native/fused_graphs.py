"""Small graphs of element-wise nodes as drawn: mixed types, Expand, shared readers, results in the middle."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st
from tests.native.support import Array, constant, model, node, value
from tests.operators.support import FLOATS, HELD, special_values

import sonnx
from sonnx.model.graph import Constant, Node, Value
from sonnx.operators import NODE_OPERATORS

TYPES = ("float16", "float", "double", "int8", "uint8", "int32", "int64", "bool")
SHAPES = ((), (1,), (7,), (2, 3, 5), (1, 4, 3, 3), (2, 1, 9), (3, 1), (0, 3), (1, 2, 16, 17), (130, 5))
# Operators by what they take and give: T is one type, B is bool.
OF_ONE = ("Relu", "Neg", "Abs", "Sign", "Reciprocal", "HardSwish", "Not", "BitwiseNot")
OF_TWO = ("Add", "Sub", "Mul", "Max", "Min", "Div", "And", "Or", "Xor", "BitwiseXor")
ASKING = ("Less", "LessOrEqual", "Greater", "Equal")
OF_FLOATS = ("HardSigmoid", "LeakyRelu")
# Element types as Cast is told them.
NUMBERS = {"float": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9, "float16": 10, "double": 11}
Draw = Callable[[Any], Any]


@dataclass
class Drawn:
    """A graph as far as it is drawn: tensors of one shape by name, with their types."""

    draw: Draw
    shape: tuple[int, ...]
    tensors: dict[str, str] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    inputs: list[Value] = field(default_factory=list)
    constants: list[Constant] = field(default_factory=list)
    arrays: dict[str, Array] = field(default_factory=dict)

    def choice(self, several: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(list(several)))

    def elements(self, dtype: str, shape: tuple[int, ...]) -> Array:
        """Special values and any bits; of bool any byte."""
        random = np.random.default_rng(self.draw(st.integers(0, 2**32 - 1)))
        held, count = HELD[dtype], int(np.prod(shape, dtype=np.int64))
        array = random.integers(0, 256, count * held.itemsize, np.uint8).view(held)
        if dtype in FLOATS:
            array = np.where(random.random(count) < 0.7, random.normal(0, 2, count), array).astype(held)
        special = np.array(special_values(dtype), held)
        places = random.random(count) < 0.2
        array[places] = special[random.integers(0, len(special), int(places.sum()))]
        return array.reshape(shape)

    def given(self, dtype: str, shape: tuple[int, ...]) -> str:
        """A new input, or a constant."""
        name = f"x{len(self.inputs) + len(self.constants)}"
        array = self.elements(dtype, shape)
        if self.choice((True, True, False)):
            self.inputs.append(value(name, dtype, shape))
            self.arrays[name] = array
        else:
            self.constants.append(constant(name, array))
        return name

    def source(self, dtype: str) -> str:
        """A tensor of the shape: as it is, or expanded from fewer elements."""
        if self.choice((True, False)) or not self.shape or 0 in self.shape:  # 0 beside 1 is refused
            name = self.given(dtype, self.shape)
            self.tensors[name] = dtype
            return name
        cut = self.draw(st.integers(0, len(self.shape)))
        kept = [self.choice((size, 1)) if size else size for size in self.shape]
        small = self.given(dtype, tuple(kept[cut:]))
        sizes = f"s{len(self.constants)}"
        self.constants.append(constant(sizes, np.array(self.shape, np.int64)))
        return self.add("Expand", (small, sizes), dtype)

    def add(self, operator: str, inputs: Sequence[str], dtype: str, **attributes: Any) -> str:
        name = f"t{len(self.nodes)}"
        self.nodes.append(node(operator, inputs, name, **attributes))
        self.tensors[name] = dtype
        return name

    def taken(self, dtype: str) -> str:
        """A tensor of a type: one that is there, or a new one."""
        there = [name for name, held in self.tensors.items() if held == dtype]
        return self.choice(there) if there and self.choice((True, True, True, False)) else self.source(dtype)

    def step(self) -> None:
        """One more node, on a type for which it is defined everywhere."""
        dtype = self.choice([*self.tensors.values(), *TYPES])
        kind = self.choice(("one", "two", "two", "ask", "where", "clip", "cast", "float"))
        if kind == "where":
            self.add("Where", (self.taken("bool"), self.taken(dtype), self.taken(dtype)), dtype)
        elif kind == "clip" and dtype != "bool":
            bounds = [self.given(dtype, ()), self.given(dtype, ())]
            self.add("Clip", (self.taken(dtype), *bounds), dtype)
        elif kind == "cast" and "Cast" in NODE_OPERATORS:
            made = self.choice(TYPES)
            self.add("Cast", (self.taken(dtype),), made, to=NUMBERS[made], saturate=1, round_mode="up")
        elif kind == "float" and dtype in FLOATS:
            operator = self.choice([each for each in OF_FLOATS if _takes(each, dtype)])
            values = {"HardSigmoid": {"alpha": 0.25, "beta": 0.5}, "LeakyRelu": {"alpha": 0.125}}
            self.add(operator, (self.taken(dtype),), dtype, **values[operator])
        else:
            table = {"one": OF_ONE, "ask": ASKING}.get(kind, OF_TWO)
            there = [each for each in table if _takes(each, dtype)]
            if there:
                operator = self.choice(there)
                operands = [self.taken(dtype) for _ in range(1 if kind == "one" else 2)]
                self.add(operator, operands, "bool" if table is ASKING else dtype)

    def graph(self) -> sonnx.Graph:
        """What is not read is a result, and so is some of the rest."""
        made = [each.outputs[0] for each in self.nodes]
        read = {name for each in self.nodes for name in each.inputs}
        outputs = [name for name in made if name not in read or self.choice((False, False, False, True))]
        return model(
            self.nodes,
            self.inputs,
            [value(name, self.tensors[name], self.shape) for name in outputs],
            self.constants,
            [value(name, self.tensors[name], self.shape) for name in made if name not in outputs],
        )


def _takes(operator: str, dtype: str) -> bool:
    """Whether the profile has the operator at a type, for all elements."""
    found = NODE_OPERATORS.get(operator)
    whole = operator != "Div" or dtype in FLOATS
    return found is not None and whole and dtype in found.contract.inputs[0].types


@st.composite
def fused_graphs(draw: Draw) -> tuple[sonnx.Graph, dict[str, Array]]:
    """A graph and arrays for its inputs."""
    drawn = Drawn(draw, draw(st.sampled_from(SHAPES)))
    for _ in range(draw(st.integers(2, 14))):
        drawn.step()
    if not drawn.nodes:
        drawn.add("Relu", (drawn.source("float"),), "float")
    return drawn.graph(), drawn.arrays
