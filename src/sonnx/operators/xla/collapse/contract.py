"""Collapse: signature, types and shape rule (D-XLA-6)."""

from sonnx.operators.rules.contracts import moving
from sonnx.operators.rules.lists import integers
from sonnx.operators.rules.operands import Extents, extents, static
from sonnx.operators.rules.wording import count, show, written
from sonnx.operators.shared.xla_types import OPERAND_WORDS, OUTPUT_WORDS, TYPES
from sonnx.operators.xla.collapse.shapes import collapsed_shape
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.operator import Attribute, Operand
from sonnx.vocabulary.rule import Broken, Rule, Shown


def _example(*dimensions: int, operand: str = "f32[4,2,3]") -> Call:
    return call("xla.Collapse", {"operand": operand}, {"dimensions": dimensions})


def _listed(call: Call) -> tuple[int, ...] | None:
    return integers(call.attributes.get("dimensions"))


def _output_shape(call: Call) -> Extents | None:
    """The product of the collapsed sizes stands in their place."""
    operand, dimensions = extents(call, "operand"), _listed(call)
    if operand is None or not dimensions or any(rule(call) for rule in (_inside, _neighbours)):
        return None
    first, last = dimensions[0], dimensions[-1] + 1
    whole = static(operand[first:last])
    # The product of an open size is open.
    product = None if whole is None else collapsed_shape(whole, range(len(whole)))[0]
    return (*operand[:first], product, *operand[last:])


def _shown(call: Call) -> Shown:
    return Shown("dimensions", written(call.attributes.get("dimensions")))


def _some(call: Call) -> Broken | None:
    return None if _listed(call) else Broken((_shown(call),), "name at least one dimension by its number")


def _inside(call: Call) -> Broken | None:
    operand, dimensions = extents(call, "operand"), _listed(call)
    if operand is None or dimensions is None:
        return None
    if all(0 <= dimension < len(operand) for dimension in dimensions):
        return None
    values = (_shown(call), Shown("operand", str(call.inputs["operand"]), count(len(operand), "dimension")))
    last = len(operand) - 1
    advice = (
        f"name dimensions from 0 to {last}" if operand else "a scalar has no dimension; leave it as it is"
    )
    return Broken(values, advice)


def _neighbours(call: Call) -> Broken | None:
    dimensions = _listed(call)
    if not dimensions or dimensions == tuple(range(dimensions[0], dimensions[0] + len(dimensions))):
        return None
    return Broken(
        (_shown(call), *show(call, "operand")),
        "name neighbouring dimensions from low to high, such as [1, 2]; nothing is transposed",
    )


_RULES = (
    Rule(
        "xla.collapse.dimensions.D1",
        "`dimensions` must be a list of integers, at least one.",
        "What replaces no dimension has no place.",
        False,
        _some,
        failing=_example(),
        passing=_example(2),
        ruling="D-XLA-6",
    ),
    Rule(
        "xla.collapse.dimensions.D2",
        "`dimensions` must lie from 0 up to, but not including, the rank of `operand`.",
        "Only dimensions that are there can be collapsed; they are not counted from the end.",
        False,
        _inside,
        failing=_example(2, 3),
        passing=_example(1, 2),
        ruling="D-XLA-6",
    ),
    Rule(
        "xla.collapse.dimensions.D3",
        "`dimensions` must be neighbours in rising order: each is the one before it plus 1.",
        "The elements stay in their order; another order would be a transposition.",
        False,
        _neighbours,
        failing=_example(1, 0),
        passing=_example(0, 1, 2),
        ruling="D-XLA-6",
    ),
)

CONTRACT = moving(
    "Collapse",
    domain="xla",
    versions=(),
    summary="Makes neighbouring dimensions of an array into one.",
    inputs=[Operand("operand", "X", "the array")],
    output=Operand("output", "Y", "the same elements with fewer dimensions"),
    types=TYPES,
    attributes=[Attribute("dimensions", "integers", "neighbouring dimensions, from low to high")],
    shape_of=_output_shape,
    good=_example(0, 1),
    too_large=_example(1, 2, operand="f32[0,65536,65536]"),
    ruling="",
    more=_RULES,
    words={
        **OPERAND_WORDS,
        "size of output": {"identifier": "xla.collapse.dimensions.D4", "restricts_onnx": False},
        **OUTPUT_WORDS,
    },
)
