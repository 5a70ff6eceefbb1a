"""The compiled functions that execute a Conv: sums of products over windows."""

from sonnx.operators.onnx.conv.geometry import along
from sonnx.operators.shared.sums_of_products.planning import Sums, kernels_of
from sonnx.vocabulary.kernel import KernelRequest, NodeKernels


def kernels(request: KernelRequest) -> NodeKernels | None:
    """The calls for a Conv; None where there are none."""
    given, attributes = request.inputs, request.attributes
    kernel = (request.types[given["W"]].sizes or ())[2:]
    axes = along((), kernel, attributes)
    assert axes is not None  # the node obeys every rule
    down, across = axes
    fused = attributes["accumulate"] == "fused"
    names = given["X"], given["W"], given.get("B"), request.outputs["Y"]
    return kernels_of(request, Sums(*names, down, across, int(attributes["group"]), fused))
