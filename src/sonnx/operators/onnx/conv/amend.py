"""Conv as ONNX allows it made explicit: `auto_pad` resolved (D-CONV-8), and what its defaults depend on."""

from collections.abc import Callable, Sequence
from typing import Any

from sonnx.operators.onnx.conv.geometry import AUTO_PADS, CONVOLUTION, RANK, SPATIAL, along, resolve
from sonnx.operators.rules.lists import integers
from sonnx.operators.rules.operands import sizes
from sonnx.vocabulary.call import ABSENT, Call
from sonnx.vocabulary.operator import Amendment, WriteAttribute


def on_images(value: Any) -> Callable[[Call], Any]:
    """A default that is known where the kernel has lines and columns."""
    return lambda call: None if sizes(call, "W", RANK) is None else value


def default_pads(call: Call) -> tuple[int, ...] | None:
    """No padding, unless `auto_pad` asks for some."""
    mode = call.attributes.get("auto_pad", ABSENT)
    plain = mode is ABSENT or (isinstance(mode, str) and mode == "NOTSET")
    return on_images((0,) * (2 * SPATIAL))(call) if plain else None


def default_kernel_shape(call: Call) -> tuple[int, ...] | None:
    """Lines and columns of the kernel."""
    W = sizes(call, "W", RANK)
    return None if W is None else W[2:]


def amend(call: Call) -> Sequence[Amendment]:
    """The pads that `auto_pad` stands for, unless pads are written too: then nobody knows which is meant."""
    given = {name: value for name, value in call.attributes.items() if value is not ABSENT}
    mode, image, W = given.get("auto_pad"), CONVOLUTION.base(call), sizes(call, "W", RANK)
    if not isinstance(mode, str) or mode not in AUTO_PADS or "pads" in given or image is None or W is None:
        return ()
    ones, none = (1,) * SPATIAL, (0,) * (2 * SPATIAL)
    axes = along(image, W[2:], {"strides": ones, "dilations": ones, **given, "pads": none})
    if axes is None:
        return ()
    why = (
        f"what auto_pad = {mode} stands for on an input of {image[0]} lines and {image[1]} columns (D-CONV-8)"
    )
    pads = resolve(mode, image, axes)
    if integers(pads) is None:  # more than an attribute can hold
        return ()
    return (
        WriteAttribute("pads", pads, why, "conv.auto_pad.C1"),
        WriteAttribute("auto_pad", "NOTSET", "the pads are written", "conv.auto_pad.C1"),
    )
