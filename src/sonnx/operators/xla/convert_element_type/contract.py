"""ConvertElementType: signature, types, rules and shape rule."""

from typing import Any

from sonnx.model.dtype import XLA_NAMES, XLA_TYPES, DType
from sonnx.model.tensor_type import TensorType
from sonnx.operators.rules.declarations import declared_shape
from sonnx.operators.rules.element_types import one_of
from sonnx.operators.rules.operands import extents, known
from sonnx.operators.rules.wording import show, written
from sonnx.operators.shared.converting import DOMAIN, XLA
from sonnx.operators.shared.xla_types import COMPLEX, TYPES
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.operator import Attribute, Contract, Operand
from sonnx.vocabulary.rule import Broken, Predicate, Rule, Shown

_NAME = "xla.ConvertElementType"
_GOOD = {"operand": "s32[3]"}
_TO = {"new_element_type": "f32", "domain": "ieee"}


target = XLA.target


def is_tuple(kind: TensorType) -> bool:
    """Tell whether something given as an operand is a tuple, which is no array."""
    return kind.foreign is not None and kind.foreign.endswith("tuple")


def _array(call: Call) -> Broken | None:
    operand = call.inputs.get("operand")
    if operand is None or not is_tuple(operand):
        return one_of("operand", TYPES)(call)
    return Broken(show(call, "operand"), "convert the elements of the tuple one by one")


def _known_type(call: Call) -> Broken | None:
    if target(call) is not None:
        return None
    value = call.attributes.get("new_element_type")
    meant = _meant(value)
    advice = f"write {meant}, if that is meant, or another" if meant else "write one"
    return Broken((Shown("new_element_type", written(value)),), f"{advice} of {', '.join(XLA_TYPES)}")


def _meant(value: object) -> str:
    """XLA's name of a type that is named otherwise: in capitals, or by ONNX, NumPy or StableHLO."""
    if not isinstance(value, str):
        return ""
    others = {"i1": "pred", "float32": "f32", "float64": "f64"} | dict.fromkeys(XLA_TYPES, "")
    others |= {dtype.value: spelled for dtype, spelled in XLA_NAMES.items()}
    others |= {f"i{spelled[1:]}": spelled for spelled in XLA_TYPES if spelled[0] == "s"}
    others |= {f"ui{spelled[1:]}": spelled for spelled in XLA_TYPES if spelled[0] == "u"}
    name = value.lower()
    return others.get(name, "") or (name if name in XLA_TYPES else "")


def _not_from_complex(call: Call) -> Broken | None:
    operand, to = known(call, "operand"), target(call)
    if operand is None or to is None or operand.dtype not in COMPLEX or to in (*COMPLEX, DType.BOOL):
        return None
    values = (*show(call, "operand"), Shown("new_element_type", written(call.attributes["new_element_type"])))
    return Broken(values, "convert to c64, c128 or pred; which part is meant must be somebody's decision")


def _domain_known(call: Call) -> Broken | None:
    value = call.attributes.get("domain")
    if isinstance(value, str) and value in ("ieee", "real"):
        return None
    return Broken((Shown("domain", written(value)),), 'write "ieee" or "real"')


def _rule(label: str, statement: str, reason: str, predicate: Predicate, **examples: Any) -> Rule:
    identifier = f"xla.convert_element_type.{label}"
    return Rule(identifier, statement, reason, False, predicate, ruling="D-XLA-3", **examples)


RULES = (
    _rule(
        "operand.D1",
        "`operand` must be an array of one of XLA's element types, or of reals; a tuple is not converted.",
        "A tuple has no element type, and XLA has no strings.",
        _array,
        failing=Call(_NAME, {"operand": TensorType(None, None, foreign="tuple")}, _TO),
        passing=call(_NAME, {"operand": "pred[3]"}, _TO),
        # A tuple has no shape either.
        instead_of="general.R2",
    ),
    _rule(
        "new_element_type.D1",
        "`new_element_type` must be one of XLA's element types; a tuple is none.",
        "Only a type of elements says what becomes of each.",
        _known_type,
        failing=call(_NAME, _GOOD, {**_TO, "new_element_type": "tuple"}),
        passing=call(_NAME, _GOOD, {**_TO, "new_element_type": "bf16"}),
    ),
    _rule(
        "new_element_type.D2",
        "A complex operand must be converted to a complex type or to pred.",
        "To drop the imaginary part, or to take the magnitude, is a decision.",
        _not_from_complex,
        failing=call(_NAME, {"operand": "c64[3]"}, _TO),
        passing=call(_NAME, {"operand": "c64[3]"}, {**_TO, "new_element_type": "c128"}),
    ),
    _rule(
        "domain.D1",
        "The domain must be `ieee` or `real`.",
        "In the reals floats are not rounded; there is no third way.",
        _domain_known,
        failing=call(_NAME, _GOOD, {**_TO, "domain": "exact"}),
        passing=call(_NAME, _GOOD, {**_TO, "domain": "real"}),
    ),
    _rule(
        "output.D1",
        "`output` must have the shape of `operand`.",
        "Every element gives one element.",
        declared_shape("output", lambda call: extents(call, "operand"), "operand"),
        failing=call(_NAME, _GOOD, _TO, {"output": "f32[4]"}),
        passing=call(_NAME, _GOOD, _TO, {"output": "f32[3]"}),
    ),
    _rule(
        "output.D2",
        "`output` must have the type `new_element_type`.",
        "Two statements of one fact must agree.",
        XLA.declared("output"),
        failing=call(_NAME, _GOOD, _TO, {"output": "f64[3]"}),
        passing=call(_NAME, _GOOD, _TO, {"output": "f32[3]"}),
    ),
)

CONTRACT = Contract(
    name="ConvertElementType",
    domain="xla",
    versions=(),
    summary="Converts every element of an array to another type.",
    inputs=(Operand("operand", "X", "the array to be converted", TYPES),),
    outputs=(Operand("output", "Y", "the converted array", TYPES),),
    attributes=(
        Attribute("new_element_type", "text", "the type to convert to, such as f32"),
        DOMAIN,
    ),
    rules=RULES,
    output_types=XLA.output_types("output"),
    uses_arithmetic=True,
    ruling="D-XLA-3",
)
