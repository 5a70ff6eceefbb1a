"""Small graphs that break one rule each, and their passing twins."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sonnx.model.graph import Constant, Function, Graph, Node, Opaque, Value
from sonnx.model.tensor_type import tensor_type
from sonnx.operators.catalogue import NODE_OPERATORS

OPSETS = (("", 22),)
_SCALAR = {"lo": 0.0, "hi": 6.0}


def node(operator: str, inputs: str, outputs: str, **more: Any) -> Node:
    """A node; names in one text, separated by blanks."""
    known = NODE_OPERATORS.get(operator)
    version = known.contract.versions[-1] if known else None
    return Node(operator, tuple(inputs.split()), tuple(outputs.split()), version=version, **more)


def values(**types: str) -> tuple[Value, ...]:
    """Tensors with their types as text."""
    return tuple(Value(name, tensor_type(text)) for name, text in types.items())


def scalar(name: str, value: float) -> Constant:
    """A float of empty shape."""
    return Constant(name, tensor_type("float[]"), np.array(value, np.float32))


def graph(nodes: Sequence[Node], outputs: tuple[Value, ...] = values(y="float[2,3]"), **more: Any) -> Graph:
    """A graph from `x`, with the bounds `lo` and `hi`, to `y`."""
    fields: dict[str, Any] = {
        "inputs": values(x="float[2,3]"),
        "constants": tuple(scalar(name, value) for name, value in _SCALAR.items()),
        "opsets": OPSETS,
    } | more
    return Graph("example", outputs=outputs, nodes=tuple(nodes), **fields)


CLIP = node("Clip", "x lo hi", "y")
GOOD = graph([CLIP])
_TO_T = node("Clip", "x lo hi", "t")
_FROM_T = node("Clip", "t lo hi", "y")
_T = values(t="float[2,3]")
CHAIN = graph([_TO_T, _FROM_T], values=_T)

TWICE = graph([CLIP, node("Clip", "x lo hi", "y")])
CYCLE = graph([node("Clip", "y lo hi", "t"), _FROM_T], values=_T)
UNDEFINED = graph([node("Clip", "z lo hi", "y")])
DEAD = graph([CLIP, _TO_T], values=_T)
UNSORTED = graph([_FROM_T, _TO_T], values=_T)
# A name that ONNX will never have.
UNKNOWN = graph([node("Unheard", "x", "y")])
RANDOM = graph([node("RandomNormalLike", "x", "y")])
BRANCH = graph([node("Loop", "x", "y", attributes={"body": Opaque("graph")})])
TWO_SETS = replace(GOOD, opsets=(("", 13), ("", 22)))
DEFAULT = replace(GOOD, inputs=values(x="float[2,3]", lo="float[]"))
DISAGREEING = graph([_TO_T, _FROM_T], values=values(t="float[2,3]", lo="float[1]"))
SAME_NAME = graph([replace(_TO_T, name="limit"), replace(_FROM_T, name="limit")], values=_T)
OWN_NAMES = graph([replace(_TO_T, name="limit"), replace(_FROM_T, name="limit again")], values=_T)
CONTROL = graph([replace(CLIP, name="limit\x1b[2J")])
PRINTABLE = graph([replace(CLIP, name="limit")])
_CONV = node(
    "Conv",
    "x x",
    "y",
    attributes={
        "strides": (1, 1),
        "pads": (0, 0, 0, 0),
        "dilations": (1, 1),
        "group": 1,
        "kernel_shape": (3, 3),
        "auto_pad": "NOTSET",
    },
)
ONCE = graph([_CONV], values(y="float[1,1,1,1]"), inputs=values(x="float[1,1,3,3]"), constants=())
REPEATED = replace(ONCE, nodes=(replace(_CONV, repeated=("group",)),))
EXTRA = replace(GOOD, extras=("training_info",))
LARGE = graph([CLIP], values(y="float[65536,65536]"), inputs=values(x="float[65536,65536]"))
NO_DATA = replace(
    GOOD,
    constants=(
        Constant("lo", tensor_type("float[]"), problem="its type and shape need 4 bytes, raw_data has 3"),
        scalar("hi", 6.0),
    ),
)

_OWN = "example.functions"
_WITH_OWN = (*OPSETS, (_OWN, 1))


def _function(name: str, *body: Node, **more: Any) -> Function:
    return Function(name, _OWN, ("a", "l", "h"), ("b",), body, opsets=_WITH_OWN, **more)


def _calling(*functions: Function, called: str = "Limit") -> Graph:
    """A graph that calls a function, and the functions."""
    calls = [node(called, "x lo hi", "y", domain=_OWN)]
    return graph(calls, functions=functions, opsets=_WITH_OWN)


_BODY = node("Clip", "a l h", "b")
FUNCTION = _calling(_function("Limit", _BODY))
RECURSIVE = _calling(_function("Limit", node("Limit", "a l h", "b", domain=_OWN)))
MISCALLED = graph(
    [node("Limit", "x lo hi x", "y", domain=_OWN)],
    functions=(_function("Limit", _BODY),),
    opsets=_WITH_OWN,
)


def _doubling(depth: int) -> Graph:
    """Functions that each call the next one twice: 2^depth nodes."""
    typed = values(t="float[2,3]")
    functions = [_function(f"F{depth}", _BODY)]
    for level in range(depth):
        twice = (
            node(f"F{level + 1}", "a l h", "t", domain=_OWN),
            node(f"F{level + 1}", "t l h", "b", domain=_OWN),
        )
        functions.append(_function(f"F{level}", *twice, values=typed))
    return _calling(*functions, called="F0")


ENDLESS = _doubling(40)
DOUBLED = _doubling(1)
