"""Moves that ONNX will never have: sizes regrouped, axes left out and added, channels cut into blocks."""

from collections.abc import Sequence
from math import prod
from typing import Any

from sonnx.model.dtype import IEEE, DType
from sonnx.operators.rules.contracts import moving
from sonnx.terms.tensors import Given, Made, flat_place, tensor
from sonnx.terms.tracing import tensorwise
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.integers import Axes, Divisor, Integers, OneOf, Sizes
from sonnx.vocabulary.operator import Attribute, Operand, Operator


def made_up(
    name: str,
    function: Any,
    shape: Any,
    good: Call,
    held: Sequence[Attribute | Operand],
    axes: Any = (),
    too_large: Call | None = None,
) -> Operator:
    """A move of one operand `data`, and of attributes and constants."""
    contract = moving(
        name,
        versions=(13, 14),
        summary="Made up.",
        inputs=[
            Operand("data", "X", "elements", axes=axes),
            *(each for each in held if isinstance(each, Operand)),
        ],
        output=Operand("moved", "Y", "the same elements"),
        types=(*IEEE, DType.INT64),
        attributes=[each for each in held if isinstance(each, Attribute)],
        shape=shape,
        good=good,
        ruling="D-MADE",
        too_large=too_large,
    )
    return Operator(contract, tensorwise(function))


def constant(name: str, holds: Integers) -> Operand:
    return Operand(name, "S", "integers", (DType.INT64,), constant=True, holds=holds)


def _in_order(data: Given, shape: Sequence[int]) -> Made:
    return tensor(shape, lambda *i: data.flat(flat_place(i, shape)))


# As many axes as there may be, and one more.
_MANY, _TOO_MANY = f"float[{','.join(['1'] * 64)}]", (1,) * 65
# Of sizes in an operand, and of sizes in an attribute.
REGROUP = made_up(
    "Regroup",
    _in_order,
    lambda data, shape: shape,
    call("Regroup", {"data": "float[2,3,4]", "shape": "int64[2]"}, {"late": 0}, constants={"shape": (6, 4)}),
    [constant("shape", Sizes("data")), Attribute("late", "integer", "0", default_in_onnx=0, since=14)],
    too_large=call(
        "Regroup", {"data": _MANY, "shape": "int64[65]"}, {"late": 0}, constants={"shape": _TOO_MANY}
    ),
)
REFORM = made_up(
    "Reform",
    _in_order,
    lambda data, shape: shape,
    call("Reform", {"data": "float[]"}, {"shape": ()}),
    [Attribute("shape", "integers", "sizes", holds=Sizes("data"))],
    too_large=call("Reform", {"data": _MANY}, {"shape": _TOO_MANY}),
)


def _two(data: Sequence[int], axis: int) -> tuple[int, int]:
    return prod(data[:axis]), prod(data[axis:])


LEVEL = made_up(
    "Level",
    lambda data, axis: _in_order(data, _two(data.shape, axis)),
    lambda data, axis: None if None in data else _two(data, axis),
    call("Level", {"data": "float[2,3,4]"}, {"axis": 2}),
    [Attribute("axis", "integer", "where to cut", holds=Axes("data", "between", from_the_end=True))],
)


def _dropped(data: Sequence[Any], axes: Sequence[int]) -> tuple[Any, ...]:
    return tuple(size for axis, size in enumerate(data) if axis not in axes)


DROP = made_up(
    "Drop",
    lambda data, axes: _in_order(data, _dropped(data.shape, axes)),
    _dropped,
    call("Drop", {"data": "float[2,1,3]", "axes": "int64[1]"}, constants={"axes": (1,)}),
    [constant("axes", Axes("data", single=True))],
)
DROP_ONE = made_up(
    "DropOne",
    lambda data, axis: _in_order(data, _dropped(data.shape, [axis])),
    lambda data, axis: _dropped(data, [axis]),
    call("DropOne", {"data": "float[2,1,3]"}, {"axis": 1}),
    [Attribute("axis", "integer", "one of size 1", holds=Axes("data", "one", single=True))],
)


def _grown(data: Sequence[Any], axes: Sequence[int]) -> tuple[Any, ...]:
    sizes = iter(data)
    return tuple(1 if axis in axes else next(sizes) for axis in range(len(data) + len(axes)))


GROW = made_up(
    "Grow",
    lambda data, axes: _in_order(data, _grown(data.shape, axes)),
    _grown,
    call("Grow", {"data": "float[2,3]"}, {"axes": (0, 2)}),
    [Attribute("axes", "integers", "what is added", holds=Axes("data", added=True))],
    too_large=call("Grow", {"data": _MANY}, {"axes": (0,)}),
)


def _blocks(data: Given, blocksize: int, order: str) -> Made:
    """A channel becomes an element of a block of lines and columns."""
    batches, channels, lines, columns = data.shape
    made, block = channels // blocksize**2, blocksize**2

    def at(b: Any, c: Any, y: Any, x: Any) -> Any:
        inside = y % blocksize * blocksize + x % blocksize
        channel = inside * made + c if order == "far" else c * block + inside
        return data[b, channel, y // blocksize, x // blocksize]

    return tensor((batches, made, lines * blocksize, columns * blocksize), at)


BLOCKS = made_up(
    "Blocks",
    _blocks,
    lambda data, blocksize: (
        data[0],
        data[1] and data[1] // blocksize**2,
        *(size and size * blocksize for size in data[2:]),
    ),
    call("Blocks", {"data": "float[1,8,2,3]"}, {"blocksize": 2, "order": "far"}),
    [
        Attribute("blocksize", "integer", "lines of a block", holds=Divisor("data", (1,), 2)),
        Attribute("order", "text", "which channel", default_in_onnx="far", holds=OneOf(("far", "near"))),
    ],
    ("batch", "channel", "line", "column"),
)
# The other way; a divisor of two axes, and a choice among numbers.
GATHERED = made_up(
    "Gathered",
    lambda data, parts: data.flat,  # nobody asks for its elements
    lambda data, parts: data,
    call("Gathered", {"data": "float[4,6]"}, {"parts": 2, "kind": 0}),
    [
        Attribute("parts", "integer", "parts", holds=Divisor("data", (0, 1))),
        Attribute("kind", "integer", "0 or 1", holds=OneOf((0, 1))),
    ],
    ("line", "column"),
)
EVERY = {each.name: each for each in (REGROUP, REFORM, LEVEL, DROP, DROP_ONE, GROW, BLOCKS, GATHERED)}
