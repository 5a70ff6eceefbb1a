"""The compiled functions that execute a Conv: sums of products over windows."""

from sonnx.operators.onnx.conv.geometry import axes_of
from sonnx.operators.shared.sums_of_products.planning import Sums, kernels_of
from sonnx.vocabulary.kernel import KernelRequest, NodeKernels


def kernels(request: KernelRequest) -> NodeKernels | None:
    """The calls for a Conv; None where there are none."""
    given, attributes = request.inputs, request.attributes
    kernel = (request.types[given["W"]].sizes or ())[2:]
    down, along = axes_of(kernel, attributes["strides"], attributes["dilations"], attributes["pads"])
    fused = attributes["accumulate"] == "fused"
    names = given["X"], given["W"], given.get("B"), request.outputs["Y"]
    return kernels_of(request, Sums(*names, down, along, int(attributes["group"]), fused))
