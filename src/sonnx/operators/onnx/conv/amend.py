"""Conv as ONNX allows it made explicit: defaults written, `auto_pad` resolved (D-CONV-8)."""

from collections.abc import Sequence
from typing import Any

from sonnx.model.call import ABSENT, Call
from sonnx.model.operator import Amendment, WriteAttribute
from sonnx.operators.onnx.conv.auto_pad import AUTO_PADS, resolve
from sonnx.operators.onnx.conv.geometry import RANK, SPATIAL, image_sizes, positive
from sonnx.operators.shared.predicates import integers, sizes

_WHY = "ONNX's default for an absent `{}`"


def amend(call: Call) -> Sequence[Amendment]:
    """Write what the call leaves to ONNX's defaults; the definition of those defaults is ONNX's."""
    W = sizes(call, "W", RANK)
    if W is None:
        return ()
    given = {name: value for name, value in call.attributes.items() if value is not ABSENT}
    padding = _padding(call, given, W)
    defaults: dict[str, Any] = {
        "strides": (1,) * SPATIAL,
        "pads": (0,) * (2 * SPATIAL),
        "dilations": (1,) * SPATIAL,
        "group": 1,
        "auto_pad": "NOTSET",
        "kernel_shape": W[2:],
    }
    # What `auto_pad` asks for is not the default of absent pads.
    if given.get("auto_pad", "NOTSET") != "NOTSET":
        del defaults["pads"]
    written = [
        WriteAttribute(name, value, _reason(name), "general.R1")
        for name, value in defaults.items()
        if name not in given
    ]
    return (*written, *padding)


def _reason(name: str) -> str:
    return "an absent `kernel_shape` is that of `W`" if name == "kernel_shape" else _WHY.format(name)


def _padding(call: Call, given: dict[str, Any], W: tuple[int, ...]) -> Sequence[Amendment]:
    """The pads that `auto_pad` stands for, unless pads are written too: then nobody knows which is meant."""
    mode, image = given.get("auto_pad"), image_sizes(call)
    strides, dilations = (integers(given.get(name, (1,) * SPATIAL)) for name in ("strides", "dilations"))
    if not isinstance(mode, str) or mode not in AUTO_PADS or "pads" in given or image is None:
        return ()
    if strides is None or dilations is None or not (positive(strides) and positive(dilations)):
        return ()
    if not positive(W[2:]):
        return ()
    why = (
        f"what auto_pad = {mode} stands for on an input of {image[0]} lines and {image[1]} columns (D-CONV-8)"
    )
    pads = resolve(mode, image, W[2:], strides, dilations)
    if integers(pads) is None:  # more than an attribute can hold
        return ()
    return (
        WriteAttribute("pads", pads, why, "conv.auto_pad.C1"),
        WriteAttribute("auto_pad", "NOTSET", "the pads are written", "conv.auto_pad.C1"),
    )
