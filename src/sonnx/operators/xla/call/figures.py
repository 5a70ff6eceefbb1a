"""Figure of the Call page: the body of a computation takes the place of each call."""

from collections.abc import Iterator, Sequence

from sonnx.drawing.figure import Figure, compose
from sonnx.drawing.flow import Box, pill, route
from sonnx.drawing.svg import (
    BLUE,
    EDGE,
    FADED,
    GREEN,
    INK,
    ORANGE,
    SOFT,
    Look,
    line,
    rect,
    text,
)
from sonnx.model.graph import Function, Graph, Node, Value
from sonnx.model.inline import flatten
from sonnx.model.tensor_type import tensor_type

_DOMAIN = "xla.computation"
_OUTLINE = Look("none", SOFT, 1.2, dash="5 4")

_TWICE = Function(
    "twice",
    _DOMAIN,
    ("x",),
    ("y",),
    (
        Node("Broadcast", ("x",), ("b",), {"broadcast_sizes": (2,)}, domain="xla"),
        Node("Collapse", ("b",), ("y",), {"dimensions": (0, 1)}, domain="xla"),
    ),
)
CALLING = Graph(
    "main",
    (Value("p", tensor_type("s32[3]")), Value("q", tensor_type("s32[3]"))),
    (Value("z", tensor_type("s32[12]")),),
    (
        Node("twice", ("p",), ("t",), name="call 1", domain=_DOMAIN),
        Node("twice", ("q",), ("u",), name="call 2", domain=_DOMAIN),
        Node("Concatenate", ("t", "u"), ("z",), {"dimension": 0}, domain="xla"),
    ),
    functions=(_TWICE,),
)


def inlined() -> tuple[Node, ...]:
    """The operations of the graph when every call has been replaced by the body that it names."""
    return flatten(CALLING).graph.nodes


def _written(node: Node) -> str:
    return f"{', '.join(node.inputs)} \u2192 {', '.join(node.outputs)}"


def _box(x: float, y: float, node: Node, look: Look, *, title: str = "") -> Box:
    return Box(x, y, 172, title or node.operator, ((_written(node), INK),), look)


def _chain(boxes: Sequence[Box], above: float, below: float) -> Iterator[str]:
    """Draw boxes under one another with arrows in, between and out of them."""
    middle = boxes[0].top[0]
    heights = [above, *(height for box in boxes for height in (box.top[1], box.bottom[1])), below]
    for start, end in zip(heights[::2], heights[1::2], strict=True):
        yield route([(middle, start), (middle, end)])
    for box in boxes:
        yield box.draw()


def _callee() -> Iterator[str]:
    yield text(126, 36, "twice(x) \u2192 y", size=15, mono=True, bold=True, anchor="middle")
    yield pill(126, 76, "x", FADED)
    boxes = [_box(40, y, node, GREEN) for y, node in zip((116, 204), _TWICE.nodes, strict=True)]
    yield from _chain(boxes, 88, 294)
    yield pill(126, 306, "y", FADED)


def _join(x: float, y: float, node: Node, sources: Sequence[Box]) -> Iterator[str]:
    join = Box(x, y, 172, node.operator, ((_written(node), INK),), BLUE)
    for shift, box in zip((-40, 40), sources, strict=True):
        start_x, start_y = box.bottom
        bend = join.y - 22
        yield route(
            [(start_x, start_y), (start_x, bend), (join.top[0] + shift, bend), (join.top[0] + shift, join.y)]
        )
    yield join.draw()
    yield route([join.bottom, (join.bottom[0], join.bottom[1] + 26)])
    yield pill(join.bottom[0], join.bottom[1] + 38, "z", FADED)


def _caller() -> Iterator[str]:
    yield text(483, 36, "main(p, q) \u2192 z, with its calls", size=15, bold=True, anchor="middle")
    first, second, last = CALLING.nodes
    boxes = [
        _box(x, 116, node, ORANGE, title=f"Call {node.operator}") for x, node in ((292, first), (502, second))
    ]
    for box, name in zip(boxes, ("p", "q"), strict=True):
        yield pill(box.top[0], 76, name, FADED)
        yield route([(box.top[0], 88), box.top])
        yield box.draw()
    yield from _join(397, 232, last, boxes)


def _flat() -> Iterator[str]:
    top = 400.0
    yield text(378, top, "the same with the body in place of each call", size=15, bold=True, anchor="middle")
    nodes = inlined()
    ends = []
    for column, name in enumerate(("p", "q")):
        left = 180 + 224 * column
        body = nodes[2 * column : 2 * column + 2]
        yield rect(left - 16, top + 74, 204, 176, _OUTLINE, round_by=9)
        boxes = [_box(left, top + y, node, GREEN) for y, node in zip((88, 176), body, strict=True)]
        middle = boxes[0].top[0]
        yield pill(middle, top + 40, name, FADED)
        yield route([(middle, top + 52), boxes[0].top])
        yield route([boxes[0].bottom, boxes[1].top])
        for box in boxes:
            yield box.draw()
        ends.append(boxes[1])
    yield text(148, top + 162, CALLING.nodes[0].name, ink=SOFT, anchor="end")
    yield text(608, top + 162, CALLING.nodes[1].name, ink=SOFT)
    yield from _join(292, top + 288, nodes[-1], ends)


def _body() -> Iterator[str]:
    yield from _callee()
    yield line(252, 24, 252, 340, Look(stroke=EDGE))
    yield from _caller()
    yield line(30, 366, 730, 366, Look(stroke=EDGE))
    yield from _flat()


FIGURES: tuple[Figure, ...] = (
    compose(
        "xla-call-body",
        "Call: the body in place of the call",
        "A call is its computation's body, with the arguments in place of the parameters; "
        "each call has inner names of its own.",
        "Above left, the computation twice: x goes through Broadcast and Collapse and becomes y. Above "
        "right, the computation main: p and q each go through a call of twice, and Concatenate joins the "
        "results t and u to z. Below, main without calls: Broadcast and Collapse stand in place of the "
        "first call, from p to t, and once more in place of the second, from q to u; what lies between "
        "them has a name of its own in each.",
        (760, 812),
        _body,
    ),
)
