"""Conv as plain C: padding as a copy, then one flat loop over the output (D-CONV-5, D-CONV-6)."""

from math import prod

from sonnx.model.dtype import DType
from sonnx.model.plain import PlainKernel, PlainRequest, PlainScratch
from sonnx.model.tensor_type import TensorType
from sonnx.operators.onnx.conv.geometry import SPATIAL


def plain(request: PlainRequest) -> PlainKernel:
    """Float16 is summed as float and rounded once, at the end."""
    dtype = request.inputs["X"].dtype or DType.FLOAT
    attributes = request.attributes
    X, W, Y = (_sizes(kind) for kind in (request.inputs["X"], request.inputs["W"], request.outputs["Y"]))
    strides, dilations, pads = (list(map(int, attributes[name])) for name in ("strides", "dilations", "pads"))
    padded = [size + pads[axis] + pads[axis + SPATIAL] for axis, size in enumerate(X[2:])]
    values: dict[str, str | int] = {
        "above": f" - {pads[0]}" if pads[0] else "",
        "before": f" - {pads[1]}" if pads[1] else "",
        "lines": X[2],
        "columns": X[3],
        "padded_lines": padded[0],
        "padded_columns": padded[1],
        "padded_image": prod(padded),
        "padded_count": prod(X[:2]) * prod(padded),
        "channels": X[1],
        "group_channels": W[1],
        "channel": "ci" if int(attributes["group"]) == 1 else "c",
        "kernel_lines": W[2],
        "kernel_columns": W[3],
        "line": f"{_steps('m', strides[0], Y[2])} + {_steps('p', dilations[0], W[2])}",
        "column": f"{_steps('n', strides[1], Y[3])} + {_steps('q', dilations[1], W[3])}",
        "count": prod(Y),
        "output_batch": prod(Y[1:]),
        "output_image": prod(Y[2:]),
        "output_channels": Y[1],
        "output_lines": Y[2],
        "output_columns": Y[3],
        "read": "$padded" if any(pads) else "$X",
        **_arithmetic(dtype, "B" in request.inputs),
    }
    half, fused = dtype is DType.FLOAT16, attributes["accumulate"] == "fused"
    scratch = (PlainScratch("padded", dtype, prod(X[:2]) * prod(padded)),) if any(pads) else ()
    flags = {"PADDED": any(pads), "HALF": half, "FUSED": fused}
    helpers = (*(("float_of_half", "half_of_float") if half else ()), *(("<math.h>",) if fused else ()))
    return PlainKernel("onnx/conv/kernel.c", values, flags, scratch, helpers)


def _sizes(kind: TensorType) -> tuple[int, ...]:
    assert kind.sizes is not None  # the graph conforms
    return kind.sizes


def _arithmetic(dtype: DType, biased: bool) -> dict[str, str]:
    """The type of the sum, its first value, and the function that multiplies and adds with one rounding."""
    if dtype is DType.DOUBLE:
        return {"accumulator": "double", "fma": "fma", "start": "$B[c]" if biased else "0.0"}
    bias = "float_of_half($B[c])" if dtype is DType.FLOAT16 else "$B[c]"
    return {"accumulator": "float", "fma": "fmaf", "start": bias if biased else "0.0f"}


def _steps(index: str, step: int, count: int) -> str:
    # An index that is always 0 may have a step that no 32 bits hold.
    return index if step == 1 or count == 1 else f"{index} * {step}"
