"""Which compiled function executes a Where."""

from sonnx.model.kernel import KernelRequest, Kernels
from sonnx.operators.shared.pieces import Pieces, element_bytes, number_of_elements, variant

_WORD = 8  # bytes of the longest integer that C99 promises


def kernels(request: KernelRequest) -> Kernels | None:
    """One call, the same for all types of one size; None where elements are no bits in memory."""
    output = request.outputs["output"]
    size = element_bytes(request.types[output].dtype)
    if size is None:
        return None
    word = min(size, _WORD)
    elements = number_of_elements(request, output)
    pieces = Pieces(
        source="onnx/where/fast.c",
        function="where",
        variant=variant(request, f"{size}_bytes", TYPE=f"uint{8 * word}_t", WORDS=str(size // word)),
        elements=elements,
        element_bytes=size,
        read_bytes=elements * (1 + 2 * size),
    )
    reads = tuple(request.inputs[operand] for operand in ("condition", "X", "Y"))
    return Kernels((pieces.call(reads, output),))
