"""What the tests of models share: small graphs, and ways to look at findings."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sonnx.check.models import check_graph
from sonnx.model.graph import Constant, Function, Graph, Node, Opaque
from sonnx.operators.graph.examples import OPSETS, graph, node, scalar, values
from sonnx.report.text import location_text

OWN = "own"
WITH_OWN = (*OPSETS, (OWN, 1))
CLIP = node("Clip", "x lo hi", "y")
TO_T, FROM_T = node("Clip", "x lo hi", "t"), node("Clip", "t lo hi", "y")
T = values(t="float[2,3]")
LO, HI = scalar("lo", 0.0), scalar("hi", 6.0)
BODY = node("Clip", "a l h", "b")
CALL = node("F", "x lo hi", "y", domain=OWN)
LARGE = 2**31


def function(*body: Node, name: str = "F", **more: Any) -> Function:
    fields: dict[str, Any] = {"inputs": ("a", "l", "h"), "outputs": ("b",), "opsets": WITH_OWN} | more
    return Function(name, fields.pop("domain", OWN), nodes=body, **fields)


def calling(*functions: Function, calls: tuple[Node, ...] = (CALL,), **more: Any) -> Graph:
    return graph(calls, functions=functions, opsets=WITH_OWN, **more)


def broken(checked: Graph) -> set[str]:
    return {finding.rule for finding in check_graph(checked)}


def places(checked: Graph, rule: str) -> list[str]:
    """Where a rule is broken, as messages say it."""
    return [location_text(f.location) for f in check_graph(checked) if f.rule == rule and f.location]


def shown(checked: Graph, rule: str) -> list[tuple[tuple[str, str, str], ...]]:
    """The evidence of each finding of a rule."""
    findings = [finding for finding in check_graph(checked) if finding.rule == rule]
    return [tuple((value.name, value.value, value.note) for value in f.values) for f in findings]


def made(text: str, **more: Any) -> Graph:
    """A Clip of a tensor of some type."""
    return graph([CLIP], values(y=text), inputs=values(x=text), **more)


def named(**changes: Any) -> Graph:
    return graph([replace(CLIP, **changes)])


def conv(inputs: Mapping[str, str], constants: tuple[Constant, ...] = (), **changes: Any) -> Graph:
    attributes = {
        "strides": (1, 1),
        "pads": (0, 0, 0, 0),
        "dilations": (1, 1),
        "group": 1,
        "kernel_shape": (3, 3),
        "auto_pad": "NOTSET",
    }
    one = node("Conv", "X W", "Y", attributes=attributes | changes)
    return graph([one], values(Y="float[1,1,2,2]"), inputs=values(**inputs), constants=constants)


def chain_of_functions(depth: int) -> Graph:
    """F0 calls F1 and so on; the last one is a Clip."""
    call = {f"F{level}": node(f"F{level + 1}", "a l h", "b", domain=OWN) for level in range(depth - 1)}
    functions = [function(body, name=name) for name, body in call.items()]
    functions.append(function(BODY, name=f"F{depth - 1}"))
    return calling(*functions, calls=(replace(CALL, operator="F0"),))


TWO = values(x="float[2,3]", z="float[2,3]")
OUT = values(y="float[2,3]")
THROUGH = (node("Clip", "x lo hi", "z"), node("Clip", "z lo hi", "y"))
LOOP = (node("Clip", "c lo hi", "a"), node("Clip", "a lo hi", "b"), node("Clip", "b lo hi", "c"))
ABC = values(a="float[2,3]", b="float[2,3]", c="float[2,3]")
FULL = np.zeros((2, 3), np.float32)
SUBGRAPH = {"body": Opaque("graph")}
CONSTANT = graph(
    [node("Constant", "", "lo", attributes={"value_float": 0.0}), CLIP],
    values=values(lo="float[]"),
    constants=(HI,),
)
OTHER_DOMAIN = graph([replace(CLIP, domain="other")], opsets=(*OPSETS, ("other", 1)))
INNER_CALL = replace(CALL, inputs=tuple("alh"), outputs=("b",))
CIRCLE = calling(function(replace(INNER_CALL, operator="G")), function(INNER_CALL, name="G"))
