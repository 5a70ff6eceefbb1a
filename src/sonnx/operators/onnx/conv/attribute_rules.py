"""Conv: what its attributes must fulfil."""

from collections.abc import Callable
from typing import Any

from sonnx.operators.onnx.conv.auto_pad import AUTO_PADS, resolve
from sonnx.operators.onnx.conv.geometry import RANK, SPATIAL, axes, channels, group, image_sizes, other_rank
from sonnx.operators.onnx.conv.rules import ATTRIBUTES, GOOD, PASSING
from sonnx.operators.rules.lists import elements, integers, is_integer
from sonnx.operators.rules.operands import sizes
from sonnx.operators.rules.wording import count, show, written, written_elements
from sonnx.vocabulary.call import ABSENT, Call, call
from sonnx.vocabulary.rule import Broken, Predicate, Rule, Shown

ACCUMULATE = ("separate", "fused")

_FORMS = {
    "strides": "[down lines, along columns]",
    "pads": "[begin0, begin1, end0, end1]",
    "dilations": "[between lines, between columns]",
    "kernel_shape": "[lines, columns]",
}


def _failing(**changes: Any) -> Call:
    return call("Conv", GOOD, {**ATTRIBUTES, **changes})


def _given(call: Call, name: str) -> Any:
    """The value of an attribute, ABSENT where general.R1 speaks of it."""
    return call.attributes.get(name, ABSENT)


def _length(name: str, length: int) -> Predicate:
    def predicate(call: Call) -> Broken | None:
        value = _given(call, name)
        listed = elements(value)
        if other_rank(call) is not None:
            return None
        if value is ABSENT or (listed is not None and len(value) == length):
            return None
        number = "not a list" if listed is None else count(len(value), "value")
        X = tuple(
            Shown("X", str(t), f"{SPATIAL} spatial axes, so {length} values") for t in _inputs(call, "X")
        )
        return Broken((Shown(name, written(value), number), *X), f"write {name} = {_FORMS[name]}")

    return predicate


def _inputs(call: Call, name: str) -> list[Any]:
    return [call.inputs[name]] if name in call.inputs else []


def _at_least(name: str, least: int, words: str) -> Predicate:
    def predicate(call: Call) -> Broken | None:
        listed = elements(_given(call, name)) or []
        bad = [value for value in listed if not is_integer(value) or value < least]
        if not bad:
            return None
        note = f"not a {words} of 64 bits: {written_elements(bad)}"
        return Broken((Shown(name, written(listed), note),), f"write {words}s")

    return predicate


def _explicit_padding(call: Call) -> Broken | None:
    value = _given(call, "auto_pad")
    if value is ABSENT or (isinstance(value, str) and value == "NOTSET"):
        return None
    image, sliding = image_sizes(call), axes(call)
    if isinstance(value, str) and value in AUTO_PADS and image is not None and sliding is not None:
        kernel, strides, dilations = zip(*((a.kernel, a.stride, a.dilation) for a in sliding), strict=True)
        pads = f"pads = {written(resolve(value, image, kernel, strides, dilations))}"
    else:
        pads = "the pads that are meant"
    return Broken((Shown("auto_pad", written(value)),), f'write auto_pad = "NOTSET" and {pads}')


def _mode_known(call: Call) -> Broken | None:
    value = _given(call, "accumulate")
    if value is ABSENT or (isinstance(value, str) and value in ACCUMULATE):
        return None
    advice = 'write accumulate = "separate" or accumulate = "fused"'
    return Broken((Shown("accumulate", written(value)),), advice)


def _group_known(call: Call) -> Broken | None:
    number, value = channels(call), _given(call, "group")
    if number is None or value is ABSENT or group(call) is not None:
        return None
    note = "" if is_integer(value) else "not an integer of 64 bits"
    values = (
        Shown("group", written(value), note),
        Shown("X", str(call.inputs["X"]), count(number, "channel")),
    )
    depthwise = f" (standard) or group = {number} (depthwise)" if number > 1 else ""
    return Broken(values, f"write group = 1{depthwise}")


def _multiplier_one(call: Call) -> Broken | None:
    number, W, groups = channels(call), sizes(call, "W", RANK), group(call)
    if number is None or W is None or groups in (None, 1) or W[0] == number:
        return None
    values = (*show(call, "X", "W"), Shown("group", str(groups), "depthwise"))
    return Broken(values, f"give `W` {number} output channels, one per channel of `X`")


def _groups_fit(call: Call) -> bool:
    """Any number of groups that divides the channels, of X and of the result, has a meaning."""
    X, W, groups = sizes(call, "X", RANK), sizes(call, "W", RANK), _given(call, "group")
    if X is None or W is None or not is_integer(groups) or groups < 1:
        return False
    return X[1] == W[1] * int(groups) and W[0] % int(groups) == 0


def _kernel_shape_agrees(call: Call) -> Broken | None:
    value, W = integers(_given(call, "kernel_shape")), sizes(call, "W", RANK)
    if value is None or W is None or len(value) != SPATIAL or value == W[2:]:
        return None
    wanted = f"[{W[2]}, {W[3]}]"
    values = (
        Shown("kernel_shape", written(value)),
        Shown("W", str(call.inputs["W"]), f"{wanted} lines, columns"),
    )
    return Broken(values, f"write kernel_shape = {wanted}")


def _rule(
    identifier: str,
    statement: str,
    reason: str,
    predicate: Callable[[Call], Broken | None],
    failing: Call,
    *,
    restricts_onnx: bool = False,
    ruling: str = "",
    passing: Call = PASSING,
    covered: Callable[[Call], bool] | None = None,
) -> Rule:
    return Rule(
        identifier,
        statement,
        reason,
        restricts_onnx,
        predicate,
        failing,
        passing,
        ruling=ruling,
        covered=covered,
    )


ATTRIBUTE_RULES = (
    _rule(
        "conv.strides.C1",
        "`strides` needs two values.",
        "One step for the lines and one for the columns.",
        _length("strides", SPATIAL),
        _failing(strides=(1, 1, 1)),
    ),
    _rule(
        "conv.strides.D1",
        "The values of `strides` must be integers from 1 up: the step down lines, then along columns.",
        "A step of 0 would never end, and no direction but forward is defined.",
        _at_least("strides", 1, "positive integer"),
        _failing(strides=(0, 1)),
        ruling="D-CONV-3",
    ),
    _rule(
        "conv.auto_pad.C1",
        "`auto_pad` must be NOTSET.",
        "Padding is written as numbers, so that everybody pads alike.",
        _explicit_padding,
        _failing(auto_pad="SAME_UPPER"),
        restricts_onnx=True,
        ruling="D-CONV-7",
    ),
    _rule(
        "conv.pads.C1",
        "The values of `pads` must be integers from 0 up.",
        "A pad counts zeros to be inserted; taking elements away is another operation.",
        _at_least("pads", 0, "non-negative integer"),
        _failing(pads=(1, 1, 1, -1)),
        ruling="D-CONV-7",
    ),
    _rule(
        "conv.pads.C2",
        "`pads` needs two values per spatial axis of X.",
        "Each axis has a beginning and an end.",
        _length("pads", 2 * SPATIAL),
        _failing(pads=(1, 1)),
        ruling="D-CONV-7",
    ),
    _rule(
        "conv.dilations.C1",
        "The values of `dilations` must be integers from 1 up.",
        "Neighbouring taps of the kernel lie one or more elements apart.",
        _at_least("dilations", 1, "positive integer"),
        _failing(dilations=(1, 0)),
    ),
    _rule(
        "conv.dilations.C2",
        "`dilations` needs two values.",
        "One distance for the lines of the kernel and one for its columns.",
        _length("dilations", SPATIAL),
        _failing(dilations=(1,)),
    ),
    _rule(
        "conv.group.C1",
        "`group` must be 1 (standard) or the number of channels of `X` (depthwise).",
        "Other groupings are outside the profile.",
        _group_known,
        _failing(group=0),
        restricts_onnx=True,
        ruling="D-CONV-2",
        covered=_groups_fit,
    ),
    _rule(
        "conv.group.D1",
        "In a depthwise convolution `W` must have as many output channels as `X` has channels.",
        "Each channel has one kernel; several kernels per channel are outside the profile.",
        _multiplier_one,
        call("Conv", {**GOOD, "W": "float[4,1,3,3]", "B": "float[4]"}, {**ATTRIBUTES, "group": 2}),
        passing=call("Conv", {**GOOD, "W": "float[2,1,3,3]", "B": "float[2]"}, {**ATTRIBUTES, "group": 2}),
        restricts_onnx=True,
        ruling="D-CONV-2",
        covered=_groups_fit,
    ),
    _rule(
        "conv.kernel_shape.C1",
        "The values of `kernel_shape` must be integers from 1 up.",
        "A kernel without taps sums nothing.",
        _at_least("kernel_shape", 1, "positive integer"),
        call("Conv", {**GOOD, "W": "float[3,2,0,3]"}, {**ATTRIBUTES, "kernel_shape": (0, 3)}),
    ),
    _rule(
        "conv.kernel_shape.C2",
        "`kernel_shape` must be (lines, columns) of `W`: its last two axes.",
        "Two statements of one fact must agree.",
        _kernel_shape_agrees,
        _failing(kernel_shape=(3, 1)),
        ruling="D-CONV-3",
    ),
    _rule(
        "conv.kernel_shape.D1",
        "`kernel_shape` needs two values.",
        "The kernel has lines and columns.",
        _length("kernel_shape", SPATIAL),
        _failing(kernel_shape=(3, 3, 3)),
        ruling="D-CONV-3",
    ),
    _rule(
        "conv.accumulate.D1",
        "The accumulation mode must be `separate` or `fused`.",
        "The two differ in their bits, and there is no third one.",
        _mode_known,
        _failing(accumulate="fast"),
        ruling="D-CONV-6",
    ),
)
