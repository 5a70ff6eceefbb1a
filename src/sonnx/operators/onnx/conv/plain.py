"""Conv as plain C: padding as a copy, then one flat loop over the output (D-CONV-5, D-CONV-6).

An index that is always 0 is not computed, and nothing is asked whose answer is known: a reviewer reads, and a
test has to reach, what the shapes need and no more.
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from sonnx.model.dtype import DType
from sonnx.model.plain import PlainKernel, PlainRequest, PlainScratch, place, position
from sonnx.model.tensor_type import TensorType
from sonnx.operators.onnx.conv.acsl import Arithmetic, Shapes, contract
from sonnx.operators.onnx.conv.geometry import SPATIAL

# The axes of the output: batch, channel, line, column.
_AXES = ("b", "c", "m", "n")


def plain(request: PlainRequest) -> PlainKernel:
    """Float16 is summed as float and rounded once, at the end."""
    dtype = request.inputs["X"].dtype or DType.FLOAT
    attributes = request.attributes
    X, W, Y = (_sizes(kind) for kind in (request.inputs["X"], request.inputs["W"], request.outputs["Y"]))
    pads = [int(pad) for pad in attributes["pads"]]
    padded = (*X[:2], *(size + pads[axis] + pads[axis + SPATIAL] for axis, size in enumerate(X[2:])))
    terms, biased = prod(W[1:]) > 0, "B" in request.inputs
    copied = terms and any(pads)
    # Without terms there is nothing but the bias, which knows its channel alone.
    used = [axis for axis, size in enumerate(Y) if size > 1 and (terms or (biased and axis == 1))]
    values: dict[str, str | int] = {
        "count": prod(Y),
        "parameters": ", ".join(f"int32_t {_AXES[axis]}" for axis in used) or "void",
        "arguments": ", ".join(place("t", Y, axis) for axis in used),
        **_padding(X, padded, pads),
        **_terms(attributes, W, Y),
        **_arithmetic(dtype, _bias(Y[1]) if biased else ""),
    }
    read = _read(attributes, padded, bool(values["line"]), bool(values["column"]), copied)
    values["x"] = read if terms else ""
    half, fused = dtype is DType.FLOAT16, attributes["accumulate"] == "fused"
    arithmetic = Arithmetic(str(values["accumulator"]), fused, half)
    values |= contract(Shapes(X, padded, W, Y, biased), attributes, arithmetic, used, copied)
    scratch = (PlainScratch("padded", dtype, prod(padded)),) if copied else ()
    flags = {
        "PADDED": copied,
        "IMAGE": prod(X) > 0,
        "LINES": padded[2] > 1,
        "COLUMNS": padded[3] > 1,
        "TERMS": terms,
        "LINE": bool(values["line"]),
        "COLUMN": bool(values["column"]),
        "HALF": half,
        "FUSED": fused,
    }
    helpers = (*(("float_of_half", "half_of_float") if half else ()), *(("<math.h>",) if fused else ()))
    return PlainKernel("onnx/conv/plain.c", values, flags, scratch, helpers)


def _sizes(kind: TensorType) -> tuple[int, ...]:
    assert kind.sizes is not None  # the graph conforms
    return kind.sizes


def _padding(X: Sequence[int], padded: Sequence[int], pads: Sequence[int]) -> dict[str, str | int]:
    """The copy with padding: what lies inside the image is asked only on sides where there is padding."""
    flat = (prod(padded[:2]), *padded[2:])
    inside = []
    for axis, index in enumerate("ij"):
        inside += [f"{index} >= 0"] if pads[axis] else []
        inside += [f"{index} < {X[2 + axis]}"] if pads[axis + SPATIAL] else []
    return {
        "padded_count": prod(padded),
        "padded_line": _moved(place("t", flat, 1), pads[0]),
        "padded_column": _moved(place("t", flat, 2), pads[1]),
        "inside": " && ".join(inside),
        "source": position([place("t", flat, 0), "i", "j"], (flat[0], *X[2:])),
    }


def _terms(attributes: Mapping[str, Any], W: Sequence[int], Y: Sequence[int]) -> dict[str, str | int]:
    """One term of the sum: the line and column that it reads, and where its weight lies."""
    line, column = (
        " + ".join(filter(None, [_steps(output, strides, Y[axis]), _steps(tap, dilations, W[axis])]))
        for output, tap, strides, dilations, axis in zip(
            "mn", "pq", attributes["strides"], attributes["dilations"], (2, 3), strict=True
        )
    )
    return {
        "group_channels": W[1],
        "kernel_lines": W[2],
        "kernel_columns": W[3],
        "line": line,
        "column": column,
        "w": position(["c", "ci", "p", "q"], W),
    }


def _read(
    attributes: Mapping[str, Any], padded: Sequence[int], line: bool, column: bool, copied: bool
) -> str:
    """The element that a term reads: of the image as it is, or of its padded copy."""
    plane = ["b", "ci" if attributes["group"] == 1 else "c"]
    at = ["i" if line else "", "j" if column else ""]
    if copied:
        return (
            f"${{function}}_at({', '.join([position(plane, padded[:2]), *(index or '0' for index in at)])})"
        )
    return f"$X[{position([*plane, *at], padded)}]"


def _bias(channels: int) -> str:
    return "$B[c]" if channels > 1 else "$B[0]"


def _arithmetic(dtype: DType, bias: str) -> dict[str, str]:
    """The type of the sum, its first value, and the function that multiplies and adds with one rounding."""
    if dtype is DType.DOUBLE:
        return {"accumulator": "double", "fma": "fma", "start": bias or "0.0"}
    held = f"float_of_half({bias})" if bias and dtype is DType.FLOAT16 else bias
    return {"accumulator": "float", "fma": "fmaf", "start": held or "0.0f"}


def _moved(index: str, pad: int) -> str:
    return f"{index} - {pad}" if pad else index


def _steps(index: str, step: int, count: int) -> str:
    """So many steps; of one place there is no index, and its step may be one that no 32 bits hold."""
    return "" if count == 1 else index if step == 1 else f"{index} * {step}"
