"""Which compiled functions execute an Expand."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from sonnx.model.dtype import DType
from sonnx.model.kernel import KernelCall, KernelRequest, Kernels, Scratch
from sonnx.operators.onnx.broadcast.shapes import equal_ranks
from sonnx.operators.shared.pieces import Pieces, element_bytes, variant, word_bytes

# The pairs of a copied and a repeated axis for which `struct parameters` of fast.c has fields.
_PAIRS = 3


@dataclass(frozen=True)
class _Axes:
    """An output as c0 x r0 x c1 x r1 ... x block: copied and repeated axes in turn; the input has no r."""

    pairs: tuple[tuple[int, int], ...]
    block: int

    @property
    def read(self) -> int:
        """The elements of the input."""
        return prod(copied for copied, _ in self.pairs) * self.block

    @property
    def written(self) -> int:
        """The elements of the output."""
        return self.read * prod(repeated for _, repeated in self.pairs)

    @property
    def parameters(self) -> tuple[tuple[str, int], ...]:
        """The fields of `struct parameters`; pairs that there are not repeat one element once."""
        pairs = (*((1, 1) for _ in range(_PAIRS - len(self.pairs))), *self.pairs)
        fields = [
            field
            for m, (copied, repeated) in enumerate(pairs)
            for field in ((f"copied{m}", copied), (f"repeated{m}", repeated))
        ]
        return (*fields, ("block", self.block))


def kernels(request: KernelRequest) -> Kernels | None:
    """One call for shapes as they occur, several where repeated axes alternate with others very often.

    The shape is that of the output's type. None where elements are no bits in memory.
    """
    source, output = request.inputs["input"], request.outputs["output"]
    dtype, wanted = request.types[output].dtype, request.types[output].sizes
    given = request.types[source].sizes
    size = element_bytes(dtype)
    if dtype is None or size is None:
        return None
    assert given is not None  # a program is made of graphs whose sizes are numbers
    assert wanted is not None  # (same)
    # A long element is words that are copied together.
    words = size // word_bytes(dtype)
    given, wanted = equal_ranks([given, wanted])
    axes = _merged((*given, words), (*wanted, words))
    return _calls(request, axes, dtype, words)


def _merged(given: Sequence[int], wanted: Sequence[int]) -> _Axes:
    pairs: list[tuple[int, int]] = []
    block = 1
    for before, after in zip(given, wanted, strict=True):
        if before == after:
            block *= after
        elif block == 1 and pairs:  # its neighbour is repeated too
            copied, repeated = pairs.pop()
            pairs.append((copied, repeated * after))
        else:
            pairs.append((block, after))
            block = 1
    return _Axes(tuple(pairs), block)


def _calls(request: KernelRequest, axes: _Axes, dtype: DType, words: int) -> Kernels:
    """The outer axes first: what is then outside the next ones is copied as a whole."""
    calls: list[KernelCall] = []
    scratch: list[Scratch] = []
    source = request.inputs["input"]
    while len(axes.pairs) > _PAIRS:
        first, (next_pair, *rest) = axes.pairs[:_PAIRS], axes.pairs[_PAIRS:]
        inside = prod(copied for copied, _ in axes.pairs[_PAIRS:]) * axes.block
        step = _Axes(first, inside)
        made = Scratch(f"{request.prefix}expanded{len(scratch)}", dtype, step.written // words)
        calls.append(_call(request, step, dtype, source, made.name))
        scratch.append(made)
        outside = prod(copied * repeated for copied, repeated in first)
        axes = replace(axes, pairs=((outside * next_pair[0], next_pair[1]), *rest))
        source = made.name
    calls.append(_call(request, axes, dtype, source, request.outputs["output"]))
    return Kernels(tuple(calls), tuple(scratch))


def _call(request: KernelRequest, axes: _Axes, dtype: DType, source: str, target: str) -> KernelCall:
    size = word_bytes(dtype)
    pieces = Pieces(
        source="onnx/expand/fast.c",
        function="expand",
        variant=variant(request, f"{size}_bytes", TYPE=f"uint{8 * size}_t"),
        elements=axes.written,
        element_bytes=size,
        read_bytes=axes.read * size,
        parameters=axes.parameters,
    )
    return pieces.call((source,), target)
