"""Figures of the page on graph execution: orders, functions, what normalizing does."""

from collections.abc import Iterator, Sequence

import numpy as np

from sonnx.drawing.figure import Figure, compose
from sonnx.drawing.flow import Box, lines, pill, route
from sonnx.drawing.svg import (
    BLUE,
    EDGE,
    FADED,
    GREEN,
    GREEN_INK,
    INK,
    ORANGE,
    ORANGE_INK,
    PLAIN,
    PURPLE,
    RED_INK,
    SOFT,
    YELLOW,
    Cell,
    Look,
    check_mark,
    cross,
    grid,
    line,
    text,
)
from sonnx.model.graph import Constant, Function, Graph, Node, Value
from sonnx.model.inline import flatten
from sonnx.model.order import needs
from sonnx.model.tensor_type import tensor_type

_OPSETS = (("", 13),)
_ADDED = ORANGE  # what normalizing wrote


def _value(name: str, kind: str) -> Value:
    return Value(name, tensor_type(kind))


def _constant(name: str, kind: str, value: object) -> Constant:
    return Constant(name, tensor_type(kind), np.array(value))


# --- orders ----------------------------------------------------------------------------------

ORDERED = (
    Node("Conv", ("x", "w"), ("c",)),
    Node("Clip", ("c", "lo", "hi"), ("k",)),
    Node("Conv", ("c", "v"), ("d",)),
    Node("Expand", ("m", "s"), ("e",)),
    Node("Where", ("e", "k", "d"), ("y",)),
)
_LOOKS = (BLUE, GREEN, ORANGE, PURPLE, YELLOW)
_TOO_EARLY = (1, 0, 2, 3, 4)


def all_orders(nodes: Sequence[Node], done: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Every order in which each node comes after those it needs."""
    if len(done) == len(nodes):
        yield done
    needed = needs(nodes)
    for index in range(len(nodes)):
        if index not in done and needed[index] <= set(done):
            yield from all_orders(nodes, (*done, index))


def _tiles(order: Sequence[int]) -> list[list[Cell]]:
    return [[Cell(str(index), _LOOKS[index]) for index in order]]


def _ordered_graph() -> Iterator[str]:
    places = ((84, 90), (30, 196), (150, 196), (276, 144), (150, 300))
    boxes = [
        Box(x, y, 104, f"{index}: {node.operator}", look=look)
        for index, ((x, y), node, look) in enumerate(zip(places, ORDERED, _LOOKS, strict=True))
    ]
    conv, clip, other, expand, where = boxes
    yield route([(136, 62), conv.top])
    yield route([(328, 62), expand.top])
    yield route([(114, 124), (114, 158), (82, 158), clip.top])
    yield route([(158, 124), (158, 158), (202, 158), other.top])
    yield route([(82, 230), (82, 266), (176, 266), (176, 300)])
    yield route([(202, 230), (202, 300)])
    yield route([(328, 178), (328, 266), (228, 266), (228, 300)])
    yield route([where.bottom, (202, 362)])
    for box in boxes:
        yield box.draw()
    yield pill(136, 50, "x", FADED)
    yield pill(328, 50, "m", FADED)
    yield pill(202, 374, "y", FADED)
    for x, y, name in ((104, 145, "c"), (168, 145, "c"), (94, 250, "k"), (212, 250, "d"), (316, 250, "e")):
        yield text(x, y, name, mono=True, ink=SOFT, anchor="end" if x in (104, 316) else "start")


def _orders() -> Iterator[str]:
    orders = list(all_orders(ORDERED))
    yield from _ordered_graph()
    yield text(30, 410, "weights, bounds and sizes are left out", size=12, ink=SOFT)
    yield line(404, 30, 404, 410, Look(stroke=EDGE))
    left, top, side, step = 432, 66, 30, 36
    beside = left + len(ORDERED) * side + 20
    yield text(left, 36, f"all {len(orders)} orders", size=14, bold=True)
    for row, order in enumerate(orders):
        yield grid(left, top + step * row, _tiles(order), side)
    low = top + step * (len(orders) - 1) + side
    yield line(beside, top, beside, low, Look(stroke=GREEN_INK, width=1.6))
    middle = (top + low) / 2
    yield check_mark(beside + 26, middle - 22, 8, GREEN_INK)
    yield lines(beside + 16, middle + 2, ("each gives", "the same bits"), ink=GREEN_INK)
    yield grid(left, 372, _tiles(_TOO_EARLY), side)
    yield cross(beside + 8, 387, 7, RED_INK)
    yield lines(beside + 28, 378, ("node 1 needs c,", "made by node 0"), ink=RED_INK)


# --- functions -------------------------------------------------------------------------------

_OWN = "example"
_BLOCK = Function(
    "Block",
    _OWN,
    ("a", "w", "lo", "hi"),
    ("b",),
    (Node("Conv", ("a", "w"), ("t",)), Node("Clip", ("t", "lo", "hi"), ("b",))),
    opsets=_OPSETS,
)
CALLING = Graph(
    "calls",
    (_value("x", "float[1,1,4,4]"),),
    (_value("y", "float[1,1,4,4]"),),
    (
        Node("Block", ("x", "w0", "lo", "hi"), ("h",), name="one", domain=_OWN),
        Node("Block", ("h", "w1", "lo", "hi"), ("y",), name="two", domain=_OWN),
    ),
    functions=(_BLOCK,),
    opsets=(*_OPSETS, (_OWN, 1)),
)


def _call(node: Node) -> str:
    return f"{', '.join(node.outputs)} = {node.operator}({', '.join(node.inputs)})"


def _chain(x: float, y: float, width: float, nodes: Sequence[Node], looks: Sequence[Look]) -> Iterator[str]:
    """Draw nodes under one another, each with its call, from the first one's input to the last's output."""
    middle, step = x + width / 2, 84
    yield pill(middle, y, nodes[0].inputs[0], FADED)
    for row, (node, look) in enumerate(zip(nodes, looks, strict=True)):
        top = y + 34 + step * row
        yield route([(middle, top - 22 if row == 0 else top - step + 56), (middle, top)])
        title = f"{node.operator} `{node.name}`" if node.name else node.operator
        yield Box(x, top, width, title, ((_call(node), INK),), look).draw()
    end = y + 34 + step * len(nodes) - 28
    yield route([(middle, end), (middle, end + 22)])
    yield pill(middle, end + 34, nodes[-1].outputs[0], FADED)


def _functions() -> Iterator[str]:
    flat = flatten(CALLING).graph
    for x, head in ((32, "the model calls"), (276, "the function's body"), (520, "what is executed")):
        yield text(x, 36, head, size=14, bold=True)
    for x in (252, 496):
        yield line(x, 30, x, 450, Look(stroke=EDGE))
    yield from _chain(32, 78, 196, CALLING.nodes, (BLUE, ORANGE))
    yield lines(32, 336, ("two calls:", "the body is executed twice"), ink=SOFT)
    yield from _chain(276, 78, 196, _BLOCK.nodes, (PLAIN, PLAIN))
    inner = ("a, w, lo and hi stand for", "what a call gives, b for", "what it makes; t is inside")
    yield lines(276, 336, inner, ink=SOFT)
    yield from _chain(520, 78, 208, flat.nodes, (BLUE, BLUE, ORANGE, ORANGE))


# --- normalizing -----------------------------------------------------------------------------

_KERNEL = np.full((1, 1, 3, 3), 0.1, np.float32)
EXPORTED = Graph(
    "net",
    (_value("x", "float[N,1,4,4]"), _value("keep", "bool[4]")),
    (_value("y", "float[N,1,4,4]"),),
    (
        Node("Conv", ("x", "w"), ("c",), {"auto_pad": "SAME_UPPER"}, "conv", version=11),
        Node("Clip", ("c", "", "six"), ("k",), {}, "clip", version=13),
        Node("Where", ("keep", "k", "zero"), ("y",), {}, "choose", version=9),
    ),
    (
        Constant("w", tensor_type("float[1,1,3,3]"), _KERNEL),
        _constant("six", "float[]", np.float32(6)),
        _constant("zero", "float[]", np.float32(0)),
    ),
    opsets=_OPSETS,
)
SIZES = {"N": 1}
# What the drawing says of the normalized model; a test compares it with the model itself.
WRITTEN = (
    ("strides", "[1, 1]"),
    ("pads", "[1, 1, 1, 1]"),
    ("dilations", "[1, 1]"),
    ("group", "1"),
    ("kernel_shape", "[3, 3]"),
    ("auto_pad", "NOTSET"),
)
TYPED = "float[1,1,4,4]"
EXPANDED = "[1, 1, 4, 4]"
LOWEST = "-3.4028235e+38"


def _before(middle: float) -> Iterator[str]:
    conv = Box(middle - 88, 110, 176, "Conv", (("auto_pad = SAME_UPPER", INK),))
    clip = Box(middle - 88, 290, 176, "Clip", (("min absent", INK), ("max = six", INK)))
    where = Box(middle - 150, 500, 300, "Where", (("three shapes, broadcast to one", INK),))
    sides = ((middle - 84, "keep: bool[4]"), (middle + 84, "zero: float[]"))
    yield route([(middle, 86), conv.top])
    yield route([conv.bottom, clip.top])
    yield route([clip.bottom, where.top])
    for x, _ in sides:
        yield route([(x, 478), (x, 500)])
    yield route([where.bottom, (middle, 578)])
    for box in (conv, clip, where):
        yield box.draw()
    yield pill(middle, 74, "x: float[N,1,4,4]", FADED)
    for x, label in sides:
        yield pill(x, 466, label, FADED, width=126)
    yield pill(middle, 590, "y: float[N,1,4,4]", FADED)
    for y, name in ((228, "c"), (400, "k")):
        yield text(middle + 12, y, f"{name}: no type", size=12, ink=SOFT)


def _after(middle: float) -> Iterator[str]:
    written = [(f"{name} = {value}", INK) for name, value in WRITTEN]
    conv = Box(middle - 88, 110, 176, "Conv", written, _ADDED)
    clip = Box(middle - 88, 290, 176, "Clip", ((f"min = {LOWEST}", INK), ("max = six", INK)), _ADDED)
    where = Box(middle - 150, 522, 300, "Where")
    sides = ((middle - 92, "keep"), (middle + 92, "zero"))
    expands = [Box(x - 68, 436, 136, "Expand", ((f"to {EXPANDED}", INK),), _ADDED) for x, _ in sides]
    yield route([(middle, 86), conv.top])
    yield route([conv.bottom, clip.top])
    yield route([clip.bottom, where.top])
    for box in expands:
        yield route([(box.top[0], 418), box.top])
        yield route([box.bottom, (box.bottom[0], 522)])
    yield route([where.bottom, (middle, 578)])
    for box in (conv, clip, *expands, where):
        yield box.draw()
    yield pill(middle, 74, f"x: {TYPED}", _ADDED)
    for x, label in sides:
        yield pill(x, 406, label, FADED)
    yield pill(middle, 590, f"y: {TYPED}", _ADDED)
    for y, name in ((273, "c"), (379, "k")):
        yield text(middle + 12, y, f"{name}: {TYPED}", size=12, ink=ORANGE_INK)


def _normalizing() -> Iterator[str]:
    yield text(40, 34, "as an exporter writes it", size=14, bold=True)
    yield from _before(200)
    yield line(380, 30, 380, 600, Look(stroke=EDGE))
    yield text(404, 34, "normalized, with N = 1", size=14, bold=True)
    yield from _after(568)


FIGURES: tuple[Figure, ...] = (
    compose(
        "graph-orders",
        "A small graph and all orders of its nodes",
        "Every order in which each node comes after those it needs is an execution, and all of them give "
        "the same bits.",
        "A graph of five nodes. Node 0, Conv, takes x and makes c. Node 1, Clip, takes c and makes k. "
        "Node 2, Conv, takes c and makes d. Node 3, Expand, takes m and makes e. Node 4, Where, takes e, k "
        "and d and makes y. Beside it all eight orders: 0 comes before 1 and 2, 3 comes anywhere before 4, "
        "and 4 comes last. An order that begins with node 1 is refused, because c is not yet made.",
        (760, 430),
        _orders,
    ),
    compose(
        "graph-function",
        "A function called twice, and the nodes that are executed",
        "A call stands for the nodes of the function's body, with the caller's names for inputs and outputs "
        "and names of their own for the tensors inside.",
        "A model calls the function Block twice: h = Block(x, w0, lo, hi), then y = Block(h, w1, lo, hi). "
        "The function has the body t = Conv(a, w), b = Clip(t, lo, hi). Executed are four nodes: Conv and "
        "Clip of the call one, with the inner tensor one/t, then Conv and Clip of the call two, with the "
        "inner tensor two/t.",
        (760, 488),
        _functions,
    ),
    compose(
        "graph-normalize",
        "A small model before and after normalizing",
        "Normalizing writes down what ONNX leaves to defaults, to inference and to broadcasting; coloured is "
        "what it wrote.",
        "Before: x of type float[N,1,4,4] goes into Conv with auto_pad SAME_UPPER, then into Clip without a "
        "min, then into Where together with keep of type bool[4] and zero of type float[]; the tensors in "
        "between have no types. After, with N = 1: Conv has strides, pads [1, 1, 1, 1], dilations, group, "
        "kernel_shape and auto_pad NOTSET; Clip has as min the lowest finite float; keep and zero pass "
        "through Expand to the shape [1, 1, 4, 4]; every tensor has its type.",
        (760, 624),
        _normalizing,
    ),
)
