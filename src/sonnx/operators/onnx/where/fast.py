"""Which compiled function executes a Where."""

from sonnx.model.kernel import KernelRequest, Kernels
from sonnx.operators.shared.pieces import Pieces, element_bytes, number_of_elements, variant, word_bytes


def kernels(request: KernelRequest) -> Kernels | None:
    """One call, the same for all types of one size; None where elements are no bits in memory."""
    output = request.outputs["output"]
    dtype = request.types[output].dtype
    size = element_bytes(dtype)
    if dtype is None or size is None:
        return None
    word = word_bytes(dtype)
    words = size // word
    name = f"{size}_bytes" if words == 1 else f"{words}x{word}_bytes"
    elements = number_of_elements(request, output)
    pieces = Pieces(
        source="onnx/where/fast.c",
        function="where",
        variant=variant(request, name, TYPE=f"uint{8 * word}_t", WORDS=str(words)),
        elements=elements,
        element_bytes=size,
        read_bytes=elements * (1 + 2 * size),
    )
    reads = tuple(request.inputs[operand] for operand in ("condition", "X", "Y"))
    return Kernels((pieces.call(reads, output),))
