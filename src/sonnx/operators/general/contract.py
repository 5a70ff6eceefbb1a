"""The general rules: nothing is left to defaults, conversion or guessing (D-ALL-3)."""

from collections.abc import Iterator

from sonnx.model.tensor_type import TensorType
from sonnx.operators.rules.storage import dense
from sonnx.vocabulary.call import ABSENT, Call, call
from sonnx.vocabulary.rule import Broken, Rule, Shown

# Nobody reads more names in one finding.
_MOST_SHOWN = 20
_CLIP = {"input": "float[2,3]", "min": "float[]", "max": "float[]"}
_CONV = {"X": "float[1,1,4,4]", "W": "float[1,1,3,3]"}
_EXPLICIT = {
    "strides": (1, 1),
    "pads": (0, 0, 0, 0),
    "dilations": (1, 1),
    "group": 1,
    "kernel_shape": (3, 3),
    "auto_pad": "NOTSET",
    "accumulate": "separate",
}


def _tensors(call: Call) -> Iterator[tuple[str, TensorType]]:
    yield from call.inputs.items()
    yield from call.outputs.items()


def _attributes_given(call: Call) -> Broken | None:
    missing = [name for name, value in call.attributes.items() if value is ABSENT]
    if not missing:
        return None
    names = ", ".join(f"`{name}`" for name in missing)
    return Broken(tuple(Shown(name, "absent") for name in missing), f"write {names} explicitly")


def _typed(call: Call) -> Broken | None:
    vague = tuple(
        Shown(name, str(tensor))
        for name, tensor in _tensors(call)
        # A sparse tensor is refused as such, whatever its elements are.
        if not tensor.sparse and (tensor.sizes is None or (tensor.dtype is None and tensor.foreign is None))
    )
    advice = "give an array with an explicit dtype, or sonnx.real([...]) for exact numbers"
    absent = [f"`{name}`" for name, tensor in _tensors(call) if tensor.foreign == "absent"]
    if absent and len(absent) == len(vague):
        advice = f"give {', '.join(absent)}, which the operator cannot do without"
    return Broken(vague, advice) if vague else None


def _known_types(call: Call) -> Broken | None:
    foreign = tuple(
        Shown(name, str(tensor))
        for name, tensor in _tensors(call)
        if tensor.foreign is not None and tensor.sizes is not None
    )
    advice = "convert it yourself to one of the profile's types, or lift numbers exactly with sonnx.real"
    return Broken(foreign, advice) if foreign else None


def _known_names(call: Call) -> Broken | None:
    surplus = tuple(Shown(name, "not known") for name in call.unknown[:_MOST_SHOWN])
    if len(call.unknown) > _MOST_SHOWN:
        surplus = (*surplus, Shown("and", f"{len(call.unknown) - _MOST_SHOWN} more"))
    return Broken(surplus, f"leave it out, or correct its name for {call.operator}") if surplus else None


RULES = (
    Rule(
        "general.R1",
        "Every attribute of an operator must be written; none is left to its default.",
        "A default is a decision that nobody reviewed, and it may differ between versions of ONNX.",
        True,
        _attributes_given,
        failing=call("Conv", _CONV, {**_EXPLICIT, "strides": ABSENT}),
        passing=call("Conv", _CONV, _EXPLICIT),
        ruling="D-ALL-3",
    ),
    Rule(
        "general.R2",
        "Every tensor must have an explicit element type and a static shape.",
        "Memory, time and the very meaning of a model can only be judged where both are known beforehand.",
        True,
        _typed,
        failing=call("Clip", {**_CLIP, "input": "float[batch,3]"}),
        passing=call("Clip", _CLIP),
        ruling="D-ALL-3",
    ),
    Rule(
        "general.R3",
        "Every tensor must have one of the profile's element types; no other type is converted to one.",
        "A conversion may round, wrap or drop information, so it must be somebody's explicit decision.",
        True,
        _known_types,
        failing=call("Clip", {**_CLIP, "input": "float8e4m3fn[2,3]"}),
        passing=call("Clip", {"input": "double[2,3]", "min": "double[]", "max": "double[]"}),
        ruling="D-ALL-2, D-ALL-3",
    ),
    Rule(
        "general.R4",
        "No tensor may be sparse.",
        "What an operator does with the elements a sparse tensor leaves out is not specified.",
        True,
        dense,
        failing=call("Clip", {**_CLIP, "input": "sparse float[2,3]"}),
        passing=call("Clip", _CLIP),
        ruling="D-ALL-3",
    ),
    Rule(
        "general.R5",
        "Every operand, attribute and output that is written must be one that the operator has.",
        "What nobody reads is a misspelling or a misunderstanding.",
        False,
        _known_names,
        failing=call("Conv", _CONV, {**_EXPLICIT, "stride": (1, 1)}),
        passing=call("Conv", _CONV, _EXPLICIT),
        ruling="D-ALL-3",
    ),
)
