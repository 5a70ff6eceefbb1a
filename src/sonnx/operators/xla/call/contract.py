"""Call: signature, types, rules and shape rule."""

from collections.abc import Mapping

from sonnx.model.graph import Value
from sonnx.model.tensor_type import TensorType, tensor_type
from sonnx.operators.rules.operands import alike, known
from sonnx.operators.rules.wording import count, show, written
from sonnx.operators.shared.xla_types import TYPES, xla_type
from sonnx.operators.xla.call.callee import Callee, callee_of
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.operator import Attribute, Contract, Operand
from sonnx.vocabulary.rule import Broken, Rule, Shown

_NAME = "xla.Call"
_CALLEE = Callee(
    "limit",
    (Value("x", tensor_type("s32[3]")), Value("low", tensor_type("s32[]"))),
    tensor_type("s32[3]"),
)
_TO = {"computation": _CALLEE}
_GOOD = {"args0": "s32[3]", "args1": "s32[]"}


def callee(call: Call) -> Callee | None:
    """The computation that is called, where it is one."""
    return callee_of(call.attributes.get("computation"))


def output_types(call: Call) -> Mapping[str, TensorType]:
    """What the computation gives."""
    found = callee(call)
    return {"output": xla_type(None, None) if found is None else found.result}


def _is_computation(call: Call) -> Broken | None:
    if callee(call) is not None:
        return None
    shown = Shown("computation", written(call.attributes.get("computation")))
    return Broken((shown,), "give what `build()` of a builder gave; a computation cannot call itself")


def _arity(call: Call) -> Broken | None:
    found = callee(call)
    if found is None or len(call.inputs) == len(found.parameters):
        return None
    taken = Shown("computation", str(found), count(len(found.parameters), "parameter"))
    given = Shown("args", count(len(call.inputs), "argument"))
    return Broken((given, taken), "give one argument for each parameter")


def _types(call: Call) -> Broken | None:
    found = callee(call)
    if found is None:
        return None
    for name, parameter in zip(call.inputs, found.parameters, strict=False):
        given = known(call, name)
        if given is not None and not _fits(given, parameter.type):
            values = (*show(call, name), Shown(f"parameter {parameter.name}", str(parameter.type)))
            return Broken(values, f"give `{name}` the type {parameter.type}; no argument is converted")
    return None


def _fits(given: TensorType, wanted: TensorType) -> bool:
    """Tell whether a type is the one wanted; a size that is open contradicts nothing."""
    if given.dtype is not wanted.dtype:
        return False
    one, other = given.extents, wanted.extents
    return one is None or other is None or alike(one, other)


def _declared(call: Call) -> Broken | None:
    found, declared = callee(call), call.outputs.get("output")
    if found is None or declared is None or declared.dtype is None or _fits(declared, found.result):
        return None
    values = (Shown("output", str(declared), "declared"), Shown("computation", str(found)))
    return Broken(values, f"declare `output` with type {found.result}")


RULES = (
    Rule(
        "xla.call.computation.D1",
        "`computation` must be a computation that has been built.",
        "A computation is complete before it is called, so none can call itself, not even through others.",
        False,
        _is_computation,
        failing=call(_NAME, _GOOD, {"computation": "limit"}),
        passing=call(_NAME, _GOOD, _TO),
        ruling="D-GRAPH-1",
    ),
    Rule(
        "xla.call.args.D1",
        "There must be as many arguments as the computation has parameters.",
        "No parameter has a default.",
        False,
        _arity,
        failing=call(_NAME, {"args0": "s32[3]"}, _TO),
        passing=call(_NAME, _GOOD, _TO),
        ruling="D-XLA-6",
    ),
    Rule(
        "xla.call.args.D2",
        "Every argument must have the element type and the shape of its parameter.",
        "Nothing is converted and nothing is repeated.",
        False,
        _types,
        failing=call(_NAME, {**_GOOD, "args0": "s32[4]"}, _TO),
        passing=call(_NAME, _GOOD, _TO),
        ruling="D-XLA-6",
    ),
    Rule(
        "xla.call.output.D1",
        "`output` must have the type of the computation's result.",
        "Two statements of one fact must agree.",
        False,
        _declared,
        failing=call(_NAME, _GOOD, _TO, {"output": "s32[4]"}),
        passing=call(_NAME, _GOOD, _TO, {"output": "s32[3]"}),
        ruling="D-ALL-3",
    ),
)

CONTRACT = Contract(
    name="Call",
    domain="xla",
    versions=(),
    summary="Applies a computation to arguments.",
    inputs=(Operand("args", "A", "the arguments, one for each parameter", TYPES, variadic=True),),
    outputs=(Operand("output", "Y", "what the computation gives", TYPES),),
    attributes=(Attribute("computation", "computation", "what is applied to the arguments"),),
    rules=RULES,
    output_types=output_types,
    uses_arithmetic=True,
)
