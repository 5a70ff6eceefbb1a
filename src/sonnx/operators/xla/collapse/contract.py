"""Collapse: signature, types, rules and shape rule."""

from collections.abc import Mapping

from sonnx.model.call import Call, call
from sonnx.model.operator import Attribute, Contract, Operand
from sonnx.model.rule import Broken, Rule, Shown
from sonnx.model.tensor_type import TensorType
from sonnx.operators.shared.predicates import (
    Extents,
    addressable,
    count,
    extents,
    integers,
    one_of,
    show,
    static,
    written,
)
from sonnx.operators.shared.xla_types import TYPES, made, output_rules, xla_type
from sonnx.operators.xla.collapse.shapes import collapsed_shape

_NAME = "xla.Collapse"
_GOOD = {"operand": "f32[4,2,3]"}
_DIMENSIONS = {"dimensions": (0, 1)}


def output_types(call: Call) -> Mapping[str, TensorType]:
    """The operand's type; the product of the collapsed sizes stands in their place (D-XLA-6)."""
    return {"output": xla_type(call.inputs["operand"].dtype, _output_shape(call))}


def _listed(call: Call) -> tuple[int, ...] | None:
    return integers(call.attributes.get("dimensions"))


def _output_shape(call: Call) -> Extents | None:
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


RULES = (
    Rule(
        "xla.collapse.operand.D1",
        "`operand` must be an array of one of XLA's element types, or of reals.",
        "XLA has no strings.",
        False,
        one_of("operand", TYPES),
        failing=call(_NAME, {"operand": "string[4,2,3]"}, _DIMENSIONS),
        passing=call(_NAME, {"operand": "c64[4,2,3]"}, _DIMENSIONS),
        ruling="D-XLA-6",
    ),
    Rule(
        "xla.collapse.dimensions.D1",
        "`dimensions` must be a list of integers, at least one.",
        "What replaces no dimension has no place.",
        False,
        _some,
        failing=call(_NAME, _GOOD, {"dimensions": ()}),
        passing=call(_NAME, _GOOD, {"dimensions": (2,)}),
        ruling="D-XLA-6",
    ),
    Rule(
        "xla.collapse.dimensions.D2",
        "`dimensions` must lie from 0 up to, but not including, the rank of `operand`.",
        "Only dimensions that are there can be collapsed; they are not counted from the end.",
        False,
        _inside,
        failing=call(_NAME, _GOOD, {"dimensions": (2, 3)}),
        passing=call(_NAME, _GOOD, {"dimensions": (1, 2)}),
        ruling="D-XLA-6",
    ),
    Rule(
        "xla.collapse.dimensions.D3",
        "`dimensions` must be neighbours in rising order: each is the one before it plus 1.",
        "The elements stay in their order; another order would be a transposition.",
        False,
        _neighbours,
        failing=call(_NAME, _GOOD, {"dimensions": (1, 0)}),
        passing=call(_NAME, _GOOD, {"dimensions": (0, 1, 2)}),
        ruling="D-XLA-6",
    ),
    Rule(
        "xla.collapse.dimensions.D4",
        "The output must have fewer than 2^31 elements (sizes 0 not counted) and at most 64 axes.",
        "Indices of generated code are 32 bits wide, and no array here has more axes.",
        False,
        addressable(made(_output_shape), "operand"),
        failing=call(_NAME, {"operand": "f32[0,65536,65536]"}, {"dimensions": (1, 2)}),
        passing=call(_NAME, _GOOD, _DIMENSIONS),
        ruling="D-ALL-3",
    ),
    *output_rules("xla.collapse", _output_shape, call(_NAME, _GOOD, _DIMENSIONS), "f32[4,6]", "f64[8,3]"),
)

CONTRACT = Contract(
    name="Collapse",
    domain="xla",
    versions=(),
    summary="Makes neighbouring dimensions of an array into one.",
    inputs=(Operand("operand", "X", "the array", TYPES),),
    outputs=(Operand("output", "Y", "the same elements with fewer dimensions", TYPES),),
    attributes=(Attribute("dimensions", "integers", "neighbouring dimensions, from low to high"),),
    rules=RULES,
    output_types=output_types,
)
