"""Which compiled function executes a Clip."""

from sonnx.model.dtype import INTEGERS, DType
from sonnx.model.kernel import KernelRequest, Kernels
from sonnx.operators.shared.pieces import Pieces, element_bytes, number_of_elements, variant

_C_TYPES = {
    DType.FLOAT16: "uint16_t",
    DType.FLOAT: "float",
    DType.DOUBLE: "double",
    **{dtype: f"{dtype}_t" for dtype in INTEGERS},
}


def kernels(request: KernelRequest) -> Kernels | None:
    """One call; the bounds are read when it runs. None for reals."""
    source, output = request.inputs["input"], request.outputs["output"]
    dtype = request.types[source].dtype
    size = element_bytes(dtype)
    if dtype not in _C_TYPES or size is None:
        return None
    half = str(int(dtype is DType.FLOAT16))
    elements = number_of_elements(request, output)
    pieces = Pieces(
        source="onnx/clip/fast.c",
        function="clip",
        variant=variant(request, str(dtype), TYPE=_C_TYPES[dtype], HALF=half),
        elements=elements,
        element_bytes=size,
        read_bytes=elements * size,
    )
    return Kernels((pieces.call((source, request.inputs["min"], request.inputs["max"]), output),))
