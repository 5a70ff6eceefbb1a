"""Convolutions got wrong: the elements that meet, the sums, the results."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tests.conformance.right.elements import FORMS, Array
from tests.conformance.right.sliding import (
    NOWHERE,
    PROBLEMS,
    Axis,
    Fold,
    Problem,
    Term,
    convolved,
    narrowed,
)
from tests.conformance.right.summing import (
    added,
    compensated,
    disordered,
    first_product_first,
    fused,
    pairwise,
    products,
    reverse,
    separate,
    wide,
)
from tests.conformance.wrong import damage
from tests.conformance.wrong.mutant import BF16, F16, F32, F64, I8, I16, I32, U8, U32, Mutant
from tests.conformance.wrong.winograd import winograd

import sonnx
from sonnx.conformance.judge import Sums
from sonnx.conformance.runtimes.question import Question
from sonnx.model.dtype import DType

Answer = Callable[[Question], Sequence[Array]]
_GENERAL = "xla.conv_with_general_padding"


def _problem(question: Question) -> Problem:
    return PROBLEMS[question.operator](question.operands, question.attributes)


def _other(change: Callable[[Problem], Problem], fold: Fold = separate) -> Answer:
    """Another convolution than the one that is asked for."""
    return lambda question: [convolved(change(_problem(question)), fold)]


def _summed(fold: Fold) -> Answer:
    """The sums taken otherwise."""
    return lambda question: [convolved(_problem(question), fold)]


def _after(change: damage.Damage) -> Answer:
    """Something done to the results."""
    return lambda question: [change(convolved(_problem(question), separate))]


# --- which elements meet -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Reading(Axis):
    """As many positions as there should be; what is met there is what another axis says."""

    other: Axis | None = None

    def met(self, tap: int) -> list[int]:
        axis = self.other or self
        return [axis.element(p * axis.stride + tap * axis.dilation) for p in range(self.positions)]


def read(axis: Axis, **changes: int) -> Axis:
    own = {name: getattr(axis, name) for name in Axis.__dataclass_fields__}
    return _Reading(**own, other=replace(axis, **changes))


def _axes(change: Callable[[Sequence[Axis], int], Axis]) -> Callable[[Problem], Problem]:
    """Every axis changed, by its number."""
    return lambda problem: replace(
        problem, axes=tuple(change(problem.axes, number) for number in range(len(problem.axes)))
    )


def _each(change: Callable[[Axis], Axis]) -> Callable[[Problem], Problem]:
    return _axes(lambda axes, number: change(axes[number]))


def _crosswise(*names: str) -> Callable[[Problem], Problem]:
    """Some numbers of lines are read as those of columns, and the other way round."""
    return _axes(lambda axes, n: read(axes[n], **{name: getattr(axes[1 - n], name) for name in names}))


def _kernel(change: Callable[[Array], Array]) -> Callable[[Problem], Problem]:
    return lambda problem: replace(problem, W=np.ascontiguousarray(change(problem.W)))


def _flipped(W: Array) -> Array:
    return W[(slice(None), slice(None), *[slice(None, None, -1)] * (W.ndim - 2))]


def _turned(W: Array) -> Array:
    """Lines and columns of the kernel lie in memory the other way round."""
    return W.reshape(*W.shape[:2], W.shape[3], W.shape[2]).swapaxes(2, 3)


def _without_group(problem: Problem) -> Problem:
    """The first channel of the input serves all."""
    if problem.group == 1:
        return problem
    return replace(problem, X=np.repeat(problem.X[:, :1], problem.group, axis=1))


def _channels_permuted(problem: Problem) -> Problem:
    return problem if problem.group == 1 else replace(problem, X=np.roll(problem.X, 1, axis=1))


def _first_of_the_batch(problem: Problem) -> Problem:
    return replace(problem, X=np.repeat(problem.X[:1], len(problem.X), axis=0))


def _last_channel_skipped(problem: Problem) -> Problem:
    if problem.group > 1 or problem.X.shape[1] < 2:
        return problem
    return replace(problem, X=problem.X[:, :-1], W=problem.W[:, :-1])


def _first_kernel_for_all(problem: Problem) -> Problem:
    return replace(problem, W=np.repeat(problem.W[:1], len(problem.W), axis=0))


def _line_without_its_tap(line: int, tap: int) -> Fold:
    """One line of positions lacks a tap."""

    def fold(problem: Problem, terms: Sequence[Term]) -> Array:
        found = list(terms)
        if found and found[tap].x.size and found[tap].x.ndim > 2:
            x = found[tap].x.copy()
            x[:, :, line] = 0
            found[tap] = replace(found[tap], x=x)
        return separate(problem, found)

    return fold


def _padding_skipped(problem: Problem, terms: Sequence[Term]) -> Array:
    """A product with a zero of the padding is not formed."""
    arrays = [
        np.where(term.inserted, problem.held.type(0), product)
        for term, product in zip(terms, products(terms), strict=True)
    ]
    return added(arrays, problem.start)


def _padded_with(value: int) -> Fold:
    def fold(problem: Problem, terms: Sequence[Term]) -> Array:
        found = [replace(term, x=np.where(term.inserted, problem.held.type(value), term.x)) for term in terms]
        return separate(problem, found)

    return fold


def _edge_repeated(axis: Axis) -> Axis:
    """The padding holds the nearest element."""

    @dataclass(frozen=True)
    class Edge(Axis):
        def element(self, place: int) -> int:
            return sorted((0, place - self.low, self.size - 1))[1] if self.size else NOWHERE

    return Edge(*(getattr(axis, name) for name in Axis.__dataclass_fields__))


def _bias(change: Callable[[Problem], Array]) -> Fold:
    """Sums that begin with something else."""
    return lambda problem, terms: added(products(terms), change(problem))


def _bias_by_column(problem: Problem) -> Array:
    if problem.B is None or not len(problem.W):
        return problem.start
    return problem.start.reshape(-1)[np.arange(problem.shape[-1]) % len(problem.W)]


def _bias_shifted(problem: Problem) -> Array:
    return np.roll(problem.start, 1, axis=1)


_TAP, _START, _PADS = "D-CONV-1", "D-CONV-4", "D-CONV-5"


def _conv(name: str, ruling: str, answer: Answer, *types: DType, sums: Sums = "free") -> Mutant:
    return Mutant(name, "conv", types, ruling, answer, sums)


_MEETING = (
    _conv("the kernel is flipped", _TAP, _other(_kernel(_flipped)), F32, F64),
    _conv("kernel lines are read as columns", _TAP, _other(_kernel(_turned)), F32, F16),
    _conv(
        "pads before and after are swapped",
        _PADS,
        _other(_each(lambda a: replace(a, low=a.high, high=a.low))),
        F32,
        F64,
    ),
    _conv("pads of lines and columns are swapped", _PADS, _other(_crosswise("low", "high")), F32),
    _conv("pads are ignored", "conv.outputs", _other(_each(lambda a: replace(a, low=0, high=0))), F32),
    _conv("pads before are too small by one", _PADS, _other(_each(lambda a: read(a, low=a.low - 1))), F32),
    _conv("strides of lines and columns are swapped", _TAP, _other(_crosswise("stride")), F32, F16),
    _conv("strides are ignored", "conv.outputs", _other(_each(lambda a: replace(a, stride=1))), F32),
    _conv(
        "strides are ignored where elements are read", _TAP, _other(_each(lambda a: read(a, stride=1))), F32
    ),
    _conv("dilations of lines and columns are swapped", _TAP, _other(_crosswise("dilation")), F32, F64),
    _conv("dilations are ignored", "conv.outputs", _other(_each(lambda a: replace(a, dilation=1))), F32),
    _conv(
        "dilations are ignored where elements are read",
        _TAP,
        _other(_each(lambda a: read(a, dilation=1))),
        F32,
    ),
    _conv("elements are read one too far", _TAP, _other(_each(lambda a: read(a, low=a.low - 1))), F32),
    _conv("the group is ignored", _TAP, _other(_without_group), F32, F16),
    _conv("depthwise channels are permuted", _TAP, _other(_channels_permuted), F32, F64),
    _conv("the first of the batch serves all", _TAP, _other(_first_of_the_batch), F32),
    _conv("the last channel is skipped", _TAP, _other(_last_channel_skipped), F32, F16),
    _conv("the first kernel serves all channels", _TAP, _other(_first_kernel_for_all), F32),
    _conv("the first line lacks the first tap", _TAP, _summed(_line_without_its_tap(0, 0)), F32),
    _conv("the first line lacks the last tap", _TAP, _summed(_line_without_its_tap(0, -1)), F64),
    _conv("the last line lacks the first tap", _TAP, _summed(_line_without_its_tap(-1, 0)), F16),
    _conv("the last line lacks the last tap", _TAP, _summed(_line_without_its_tap(-1, -1)), F32),
    _conv("the padding is skipped", _PADS, _summed(_padding_skipped), F32, F16),
    _conv("the padding holds ones", _PADS, _summed(_padded_with(1)), F32),
    _conv("the padding repeats the edge", _PADS, _other(_each(_edge_repeated)), F32),
    _conv("the bias is dropped", _START, _other(lambda problem: replace(problem, B=None)), F32, F64),
    _conv(
        "the bias is added twice", _START, _summed(_bias(lambda problem: problem.start + problem.start)), F32
    ),
    _conv("the bias goes by columns", _START, _summed(_bias(_bias_by_column)), F32, F16),
    _conv("the bias is another channel's", _START, _summed(_bias(_bias_shifted)), F32),
)

# --- sums and results --------------------------------------------------------------------------------------


def _scaled(by: float) -> Fold:
    def fold(problem: Problem, terms: Sequence[Term]) -> Array:
        return separate(problem, terms) * problem.held.type(by)

    return fold


def _negative_zeros(problem: Problem, terms: Sequence[Term]) -> Array:
    """Every zero becomes -0."""
    found = separate(problem, terms)
    return np.where(found == 0, -np.abs(found), found)


def _a_step_up(problem: Problem, terms: Sequence[Term]) -> Array:
    """Whole numbers and others, but no zeros, are one step too large."""
    found = separate(problem, terms)
    return np.where(
        (found != 0) & (np.abs(found) < 1e30), np.nextafter(found, found.dtype.type(np.inf)), found
    )


def _in_own_type(problem: Problem, terms: Sequence[Term]) -> Array:
    """Products and sums of narrow numbers are rounded one by one."""
    kind = problem.X.dtype
    total = narrowed(problem.start, kind)
    for term in terms:
        product = narrowed(term.x * term.w, kind).astype(np.float32)
        total = narrowed(total.astype(np.float32) + product, kind)
    return total.astype(np.float32)


def _in_float(problem: Problem, terms: Sequence[Term]) -> Array:
    """Doubles are added as floats."""
    found = [replace(term, x=term.x.astype("f4"), w=term.w.astype("f4")) for term in terms]
    return added(products(found), problem.start.astype("f4")).astype(problem.held)


def _shortened(bits: int) -> Callable[[Array], Array]:
    """Factors lose their last bits, as on hardware that multiplies them faster."""

    def short(array: Array) -> Array:
        form = FORMS[array.dtype]
        mask = form.raw.type((1 << 8 * array.itemsize) - (1 << bits))
        return (array.view(form.raw) & mask).view(array.dtype)

    return short


def _short_factors(problem: Problem, terms: Sequence[Term]) -> Array:
    """Of a float's fraction 10 bits are left; what is no number stays what it is."""
    short = _shortened(13)
    return separate(problem, [replace(term, x=short(term.x), w=short(term.w)) for term in terms])


def _beyond(question: Question) -> Sequence[Array]:
    """One step beyond what some order of the sum could give."""
    output = convolved(_problem(question), separate)
    inputs = {name: question.operands[name] for name in ("X", "W", "B") if name in question.operands}
    settings: dict[str, Any] = {**question.attributes, "accumulate": "separate"}
    bound = sonnx.error_bound("Conv", **inputs, **settings, order="any")
    with np.errstate(all="ignore"):
        moved = (output.astype(np.float64) + 2.01 * bound).astype(output.dtype)
    moved = np.where(np.isfinite(moved) & (moved == output), damage.one_step_larger(output), moved)
    return [np.where(np.isfinite(bound), moved, output).astype(output.dtype)]


def _flushed_factors(problem: Problem) -> Problem:
    return replace(problem, X=damage.flushed(problem.X), W=damage.flushed(problem.W))


def _naive_kahan(problem: Problem, terms: Sequence[Term]) -> Array:
    """What is lost beside an infinity is NaN, and spreads."""
    return compensated(problem, terms, lambda lost: lost)


def _nan_ignored(problem: Problem, terms: Sequence[Term]) -> Array:
    """Products that are NaN count as 0."""
    arrays = [np.where(np.isnan(product), product.dtype.type(0), product) for product in products(terms)]
    return added(arrays, problem.start)


def _zeros_skipped(problem: Problem, terms: Sequence[Term]) -> Array:
    """Weights that are 0 are left out, as of a sparse kernel."""
    arrays = [
        np.where(term.w == 0, product.dtype.type(0), product)
        for term, product in zip(terms, products(terms), strict=True)
    ]
    return added(arrays, problem.start)


def _too_large_becomes(change: Callable[[Array], Array]) -> Answer:
    """Sums of finite numbers that are too large become something else."""

    def answer(question: Question) -> Sequence[Array]:
        problem = _problem(question)
        output, terms = convolved(problem, separate), list(problem.terms())
        finite = np.isfinite(problem.start)
        for term in terms:
            finite = finite & np.isfinite(term.x) & np.isfinite(term.w)
        with np.errstate(all="ignore"):
            too_large = finite & np.isinf(output.astype(np.float64))
            changed: Array = np.where(too_large, change(output), output)
            return [changed.astype(output.dtype)]

    return answer


def _constants_otherwise(question: Question) -> Sequence[Array]:
    """A kernel that the model holds is packed, and added up in another order."""
    return _summed(reverse if question.constants else separate)(question)


_ORDER, _IEEE = "D-CONV-6", "D-ALL-4"
_SUMS = (
    _conv("zeros are all negative", _TAP, _summed(_negative_zeros), F32, F64),
    _conv("results are a step too large", _TAP, _summed(_a_step_up), F32, F64),
    _conv("results are too large by 2^-12 of them", _TAP, _summed(_scaled(1 + 2.0**-12)), F32, F64),
    _conv("results are too large by 2^-6 of them", _TAP, _summed(_scaled(1 + 2.0**-6)), F16),
    _conv("results are one step too large", _TAP, _after(damage.one_step_larger), F32, F64),
    _conv("results lie beyond the enclosure", _TAP, _beyond, F32, F64, F16),
    _conv("float16 is added as float16", _ORDER, _summed(_in_own_type), F16),
    _conv("doubles are added as floats", _ORDER, _summed(_in_float), F64),
    _conv("factors are shortened", _ORDER, _summed(_short_factors), F32),
    _conv("subnormal factors are flushed", _IEEE, _other(_flushed_factors), F32, F16, F64),
    _conv("subnormal results are flushed", _IEEE, _after(damage.flushed), F32, F16, F64),
    _conv("infinities become the largest number", _IEEE, _after(damage.saturated), F32, F64),
    _conv("NaNs among products are left out", _IEEE, _summed(_nan_ignored), F32, F16),
    _conv("zero weights are left out", _IEEE, _summed(_zeros_skipped), F32, F64),
    _conv("what is lost beside an infinity spreads", _IEEE, _summed(_naive_kahan), F32),
    _conv("fused, where rounding twice is asked for", _ORDER, _summed(fused), F32, F64, sums="separate"),
    _conv("rounds twice, where fused is asked for", _ORDER, _summed(separate), F32, F64, sums="fused"),
    _conv("wide, where rounding twice is asked for", _ORDER, _summed(wide), F32, F16, sums="separate"),
    _conv("reverse, where the order is asked for", _ORDER, _summed(reverse), F32, F16, F64, sums="separate"),
    _conv("pairwise, where the order is asked for", _ORDER, _summed(pairwise), F32, F64, sums="separate"),
    _conv("disorder, where the order is asked for", _ORDER, _summed(disordered(1)), F32, sums="fused"),
    _conv("-0 where a sum starts at +0", _ORDER, _summed(first_product_first), F32, F64, sums="separate"),
    Mutant(
        *("another order where the kernel is constant", "conv", (F32, F64), _ORDER, _constants_otherwise),
        twins=True,
    ),
)

# --- XLA ---------------------------------------------------------------------------------------------------


def _saturating(problem: Problem, terms: Sequence[Term]) -> Array:
    """Whole numbers stay at the ends of their type."""
    info = np.iinfo(problem.X.dtype)
    signed = problem.X.dtype.kind == "i"
    total = np.zeros(problem.shape, np.float64)
    for product in products(terms):
        total = total + (product.view(np.int64) if signed else product).astype(np.float64)
    total = np.where(total > info.max, info.max, np.where(total < info.min, info.min, total))
    return total.astype(np.int64).view(np.uint64)


def _odd_zero_first(axis: Axis) -> Axis:
    return replace(axis, low=axis.high, high=axis.low)


def _same_without_stride(axis: Axis) -> Axis:
    """Zeros are shared out as if every element had a position."""
    return read(axis, low=(axis.kernel - 1) // 2) if axis.low or axis.high else axis


def _padded_before_dilated(axis: Axis) -> Axis:
    """The zeros of the padding count in elements, not in places."""
    return read(axis, low=axis.low * axis.base)


def _nothing_removed(axis: Axis) -> Axis:
    return replace(axis, low=max(axis.low, 0), high=max(axis.high, 0))


def _holes_filled(problem: Problem) -> Problem:
    """The holes of a dilated window hold zeros that take part."""
    W = problem.W
    for number, axis in enumerate(problem.axes):
        sizes = list(W.shape)
        sizes[2 + number] = axis.dilation * (axis.kernel - 1) + 1
        filled = np.zeros(sizes, W.dtype)
        filled[(slice(None),) * (2 + number) + (slice(None, None, axis.dilation),)] = W
        W = filled
    axes = tuple(
        replace(axis, kernel=W.shape[2 + number], dilation=1) for number, axis in enumerate(problem.axes)
    )
    return replace(problem, W=W, axes=axes)


def _xla(
    name: str, ruling: str, answer: Answer, *types: DType, operator: str = _GENERAL, sums: Sums = "free"
) -> Mutant:
    return Mutant(name, operator, types, ruling, answer, sums)


_XLA_SUM = "D-XLA-5"
_XLA = (
    _xla(
        "the odd zero comes first",
        "D-XLA-4",
        _other(_each(_odd_zero_first)),
        F32,
        I8,
        BF16,
        operator="xla.conv",
    ),
    _xla(
        "SAME is as without strides",
        "D-XLA-4",
        _other(_each(_same_without_stride)),
        F32,
        U8,
        operator="xla.conv",
    ),
    _xla(
        "SAME is VALID",
        "xla.conv.outputs",
        _other(_each(lambda a: replace(a, low=0, high=0))),
        F32,
        operator="xla.conv",
    ),
    _xla(
        "strides are ignored where elements are read",
        _XLA_SUM,
        _other(_each(lambda a: read(a, stride=1))),
        F32,
        operator="xla.conv",
    ),
    _xla("the window is flipped", _XLA_SUM, _other(_kernel(_flipped)), F32, I16, BF16, operator="xla.conv"),
    _xla("integers saturate", _XLA_SUM, _summed(_saturating), I8, U8, I32, U32, operator="xla.conv"),
    _xla("the window is flipped", _XLA_SUM, _other(_kernel(_flipped)), F32, U8),
    _xla("integers saturate", _XLA_SUM, _summed(_saturating), I8, U8, I16),
    _xla("the base area is not dilated", _XLA_SUM, _other(_each(lambda a: read(a, base=1))), F32, I8),
    _xla("padding counts before dilation", _XLA_SUM, _other(_each(_padded_before_dilated)), F32),
    _xla("nothing is removed", f"{_GENERAL}.outputs", _other(_each(_nothing_removed)), F32),
    _xla("the holes of a window take part", _XLA_SUM, _other(_holes_filled), F32, BF16),
    _xla("zeros that are inserted are skipped", _XLA_SUM, _summed(_padding_skipped), F32, BF16),
    _xla("the last feature is skipped", _XLA_SUM, _other(_last_channel_skipped), F32, I32),
    _xla("the first of the batch serves all", _XLA_SUM, _other(_first_of_the_batch), F64),
    _xla("results are too large by 2^-12 of them", _XLA_SUM, _summed(_scaled(1 + 2.0**-12)), F32, F64),
    _xla("results are too large by 2^-3 of them", _XLA_SUM, _summed(_scaled(1 + 2.0**-3)), BF16, F16),
    _xla("bfloat16 is added as bfloat16", _XLA_SUM, _summed(_in_own_type), BF16, F16),
    _xla("subnormal factors are flushed", _IEEE, _other(_flushed_factors), F32, BF16),
    _xla("fused, where rounding twice is asked for", _XLA_SUM, _summed(fused), F32, F64, sums="separate"),
    _xla("rounds twice, where fused is asked for", _XLA_SUM, _summed(separate), F32, F64, sums="fused"),
    _xla("wide, where rounding twice is asked for", _XLA_SUM, _summed(wide), F32, BF16, sums="separate"),
    _xla("reverse, where the order is asked for", _XLA_SUM, _summed(reverse), F32, BF16, sums="separate"),
    Mutant(
        *("another order where the window is constant", _GENERAL, (F32, BF16), _XLA_SUM),
        _constants_otherwise,
        twins=True,
    ),
)

# --- wrong for some convolutions alone ---------------------------------------------------------------------


def _only(test: Callable[[Problem], bool], answer: Answer) -> Answer:
    """Wrong on a quick way for some convolutions alone."""
    return lambda question: answer(question) if test(_problem(question)) else _summed(separate)(question)


def _quick(question: Question) -> Sequence[Array]:
    return [winograd(_problem(question))]


def _kernels(*sizes: int) -> Callable[[Problem], bool]:
    return lambda problem: tuple(axis.kernel for axis in problem.axes) == sizes


def _padded_point(problem: Problem) -> bool:
    return _kernels(1, 1)(problem) and any(axis.low or axis.high for axis in problem.axes)


def _by_two(problem: Problem) -> bool:
    return _kernels(3, 3)(problem) and all(axis.stride == 2 for axis in problem.axes)


def _depthwise(problem: Problem) -> bool:
    return _kernels(3, 3)(problem) and problem.group > 1


def _as_matrices(problem: Problem) -> bool:
    return problem.group == 1 and problem.X.shape[1] >= 4 and len(problem.W) >= 4


def _strided(problem: Problem) -> bool:
    return any(axis.stride > 1 for axis in problem.axes)


def _dilated(problem: Problem) -> bool:
    return any(axis.dilation > 1 for axis in problem.axes)


_FLUSHED, _ZEROS_LEFT_OUT = _after(damage.flushed), _summed(_zeros_skipped)
_READ_TOO_FAR = _other(_each(lambda axis: read(axis, low=axis.low - 1)))
_SOME = (
    _conv("Winograd's way for kernels of 3 by 3", _IEEE, _quick, F32, F64),
    _conv("too large sums are NaN", _ORDER, _too_large_becomes(lambda total: total * 0), F32, F16),
    _conv("too large sums change their sign", _ORDER, _too_large_becomes(np.negative), F32, F16),
    _conv("one too far for padded points", _PADS, _only(_padded_point, _READ_TOO_FAR), F32),
    _conv("one too far for 3 by 3 with strides of 2", _TAP, _only(_by_two, _READ_TOO_FAR), F32),
    _conv("one too far for depthwise 3 by 3", _TAP, _only(_depthwise, _READ_TOO_FAR), F32),
    _conv("NaNs are left out of four channels", _IEEE, _only(_as_matrices, _summed(_nan_ignored)), F32),
    _conv("zeros of kernels of 3 by 3 are left out", _IEEE, _only(_kernels(3, 3), _ZEROS_LEFT_OUT), F32),
    _conv("flushed where strides are not 1", _IEEE, _only(_strided, _FLUSHED), F32, F16, F64),
    _conv("flushed where dilations are not 1", _IEEE, _only(_dilated, _FLUSHED), F32, F16, F64),
    _xla("Winograd's way for windows of 3 by 3", _IEEE, _quick, F32, operator="xla.conv"),
    _xla("Winograd's way for windows of 3 by 3", _IEEE, _quick, F64),
    _xla("one too far for padded points", _XLA_SUM, _only(_padded_point, _READ_TOO_FAR), F32, I8),
    _xla("one too far for 3 by 3 with strides of 2", _XLA_SUM, _only(_by_two, _READ_TOO_FAR), F32, U8),
    _xla("NaNs are left out of four channels", _IEEE, _only(_as_matrices, _summed(_nan_ignored)), BF16),
    _xla("too large sums are NaN", _XLA_SUM, _too_large_becomes(lambda total: total * 0), F32, BF16),
    _xla("too large sums change their sign", _XLA_SUM, _too_large_becomes(np.negative), F32, F16),
    _xla("flushed where strides are not 1", _IEEE, _only(_strided, _FLUSHED), F32, BF16),
    _xla("flushed where dilations are not 1", _IEEE, _only(_dilated, _FLUSHED), F32, BF16),
)

MUTANTS = (*_MEETING, *_SUMS, *_XLA, *_SOME)
