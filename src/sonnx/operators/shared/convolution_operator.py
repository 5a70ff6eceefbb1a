"""What every operator that convolves has in common: how its call says a convolution, and what follows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sonnx.mlir.operations import Tensor, broadcast_in_dim, convert, elementwise
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array
from sonnx.numeric.enclosure import Enclosure
from sonnx.operators.rules.lists import integers
from sonnx.operators.rules.operands import Extents, extents, sizes, static
from sonnx.operators.shared.convolution import Axis, output_sizes
from sonnx.operators.shared.convolution_accuracy import convolution_bound, convolution_enclosure
from sonnx.operators.shared.convolution_trials import Rulings, convolution_clauses
from sonnx.operators.shared.stablehlo_convolution import convolution
from sonnx.terms.term import integer
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import Attribute
from sonnx.vocabulary.trial import Clause

Sizes = tuple[int, ...]
Ends = Sequence[tuple[int, int]]
Told = Mapping[str, Any]
# A list of integers as a tuple, None where it is none that an attribute can hold.
Read = Callable[[Any], Sizes | None]
# Before the spatial axes come batch and channels.
LEADING = 2
# How a step of the sum rounds: no attribute of a file, and what a call may leave to its default.
ACCUMULATE = Attribute(
    "accumulate", "text", "separate: two roundings per term; fused: one", mode=True, default="separate"
)
MODES = ("separate", "fused")


def slide(
    kernel: Sizes, strides: Sizes | None, taps: Sizes | None, ends: Ends | None, spread: Sizes | None = None
) -> tuple[Axis, ...] | None:
    """One axis for each pair of ends; None where something is missing, of another length, or below 1."""
    if ends is None or strides is None or taps is None:
        return None
    lists = (kernel, strides, taps, (1,) * len(ends) if spread is None else spread)
    if any(len(each) != len(ends) or min(each, default=1) < 1 for each in lists):
        return None
    along = zip(*lists[:3], ends, lists[3], strict=True)
    return tuple(Axis(size, stride, tap, *pair, step) for size, stride, tap, pair, step in along)


@dataclass(frozen=True)
class Convolution:
    """The names of its operands, and how the kernel slides.

    `along` answers for the spatial sizes of image and kernel and any attributes, whose lists it reads as it
    is told, None where a rule on them is broken. `rank` is that of both, where there is but one. Where
    `empty`, there may be no position. `met` gives the attributes of a trial with one position that meets so
    many zeros at both ends of each axis, None where they cannot say so; `rulings` decide its elements.
    """

    image: str
    kernel: str
    output: str
    along: Callable[[Sizes, Sizes, Told, Read], tuple[Axis, ...] | None]
    met: Callable[[Told, Ends], Told | None]
    rulings: Rulings
    bias: str = ""
    rank: int | None = None
    empty: bool = False

    # --- from types and attributes alone ---

    def base(self, call: Call) -> Sizes | None:
        """The spatial sizes of the image; the batch and the channels may be open."""
        image = extents(call, self.image, self.rank)
        return None if image is None or len(image) < LEADING else static(image[LEADING:])

    def sliding(self, call: Call) -> tuple[Axis, ...] | None:
        """How the kernel slides along each spatial axis; None where a rule is broken that it depends on."""
        if "axes" not in call.memo:
            base, kernel = self.base(call), sizes(call, self.kernel)
            found = None
            if base is not None and kernel is not None and len(kernel) == len(base) + LEADING:
                found = self.along(base, kernel[LEADING:], call.attributes, integers)
            call.memo["axes"] = found
        axes: tuple[Axis, ...] | None = call.memo["axes"]
        return axes

    def output_shape(self, call: Call) -> Extents | None:
        """Batch, output channels and the positions of the kernel (D-CONV-1, D-XLA-5), as far as known."""
        image, kernel = extents(call, self.image), extents(call, self.kernel)
        base, axes = self.base(call), self.sliding(call)
        if image is None or kernel is None or base is None or axes is None:
            return None
        fits = self.empty or all(axis.output_size(size) >= 1 for size, axis in zip(base, axes, strict=True))
        return (image[0], kernel[0], *output_sizes(base, axes)) if fits else None

    def padded_shape(self, call: Call) -> Extents | None:
        """The shape of the image, dilated and padded."""
        image, base, axes = extents(call, self.image), self.base(call), self.sliding(call)
        if image is None or base is None or axes is None:
            return None
        padded = (axis.padded_size(size) for size, axis in zip(base, axes, strict=True))
        return (*image[:LEADING], *padded)

    def made_shapes(self, call: Call) -> list[Sizes]:
        """The shapes of the result and of the padded image, those that are known."""
        found = [shape for shape in (self.output_shape(call), self.padded_shape(call)) if shape is not None]
        return [whole for shape in found if (whole := static(shape)) is not None]

    def output_types(self, call: Call) -> Mapping[str, TensorType]:
        """The type of the image; a batch size that is open keeps its name."""
        image, shape = call.inputs[self.image], self.output_shape(call)
        known = None if shape is None else (*(image.shape or ())[:1], *shape[1:])
        return {self.output: TensorType(image.dtype, known, dialect=image.dialect)}

    # --- from the operands themselves, of a call that obeys every rule ---

    def axes(self, inputs: Mapping[str, Any], told: Told) -> tuple[Axis, ...]:
        """How the kernel slides along each spatial axis."""
        image, kernel = (inputs[name].shape[LEADING:] for name in (self.image, self.kernel))
        # Whoever exports or bounds a call may ask beyond what attributes of a file hold.
        return self.along(image, kernel, told, lambda value: tuple(map(integer, value))) or ()

    def error_bound(self, inputs: Mapping[str, Array], told: Told, order: str) -> Mapping[str, Array]:
        """Bound |IEEE result - exact|; +inf where it may be no finite number, or an integer may wrap."""
        return {self.output: convolution_bound(*self._asked(inputs, told), told["accumulate"], order)}

    def enclosure(self, inputs: Mapping[str, Array], told: Told) -> Mapping[str, Enclosure]:
        """Where the results on floats lie of all orders of summation."""
        return {self.output: convolution_enclosure(*self._asked(inputs, told))}

    def clauses(self, inputs: Mapping[str, Array], told: Told) -> tuple[Clause, ...]:
        """Those that all convolutions share, by the rulings of this one."""
        return convolution_clauses(*self._asked(inputs, told), self.rulings)

    def lower(self, inputs: Mapping[str, Any], told: Told) -> Mapping[str, Tensor]:
        """For XLA: the order of the sum is the engine's; its result is within the bound for any order."""
        X, W, B, axes, group = self._asked(inputs, told)
        Y = convolution(X, W, axes, group)
        if B is not None:
            Y = elementwise("add", Y, broadcast_in_dim(convert(B, Y.dtype), Y.shape, [1]))
        return {self.output: convert(Y, X.dtype)}

    def _asked(
        self, inputs: Mapping[str, Any], told: Told
    ) -> tuple[Any, Any, Any | None, tuple[Axis, ...], int]:
        bias, group = inputs.get(self.bias), int(told.get("group", 1))
        return inputs[self.image], inputs[self.kernel], bias, self.axes(inputs, told), group
