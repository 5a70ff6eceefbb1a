"""Faults that hide beyond the usual: in half a range, in many operands, axes or elements, in rare texts."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from tests.conformance.right.converting import converted
from tests.conformance.right.elements import Array
from tests.conformance.right.runtime import ELEMENTWISE
from tests.conformance.wrong.mutant import BF16, F16, F32, F64, I8, I32, I64, STRING, U32, U64, Mutant

from sonnx.conformance.runtimes.question import Question
from sonnx.model.dtype import DType

Answer = Callable[[Question], Sequence[Array]]
Test = Callable[[Question, Array], bool]

_CONVERT = "xla.convert_element_type"


# --- conversions -------------------------------------------------------------------------------------------


def _where(to: str, mask: Callable[[Array], Array], other: Callable[[Array, str], Array]) -> Answer:
    """To one type some elements are converted in another way."""

    def answer(question: Question) -> Sequence[Array]:
        x, asked = question.operands["operand"], question.attributes["new_element_type"]
        output = converted(x, asked)
        if asked == to:
            with np.errstate(all="ignore"):
                chosen = np.asarray(mask(x))
                output[chosen] = other(x[chosen], to)
        return [output]

    return answer


def _halved(x: Array, to: str) -> Array:
    """Half of it, whose lowest bit is lost, and twice that."""
    half = converted(x >> x.dtype.type(1), to)
    return (half.astype(np.complex128) * 2).astype(half.dtype) if half.dtype.kind == "c" else half + half


def _by_double(x: Array, to: str) -> Array:
    return converted(converted(x, "f64"), to)


def _signed_and_more(x: Array, to: str) -> Array:
    """As a signed number, to which what it lacks is added in float."""
    return converted(converted(x.view(np.int32), "f32") + np.float32(2**32), to)


def _upper_half(x: Array) -> Array:
    return x > np.iinfo(x.dtype).max // 2


def _beyond_signed(x: Array) -> Array:
    return (x > x.dtype.type(2.0**63)) & (x < x.dtype.type(2.0**64 - 2.0**42))


def _middle(x: Array, _to: str) -> Array:
    return np.full(x.shape, 2**63, np.uint64)


def _one_octave(x: Array) -> Array:
    """Subnormal numbers of one place of their first bit."""
    raw = x.view(np.uint16) & np.uint16(0x7FFF)
    return (raw >= 0x40) & (raw < 0x80)


def _last_wrong(to: str, size: Callable[[int], bool]) -> Answer:
    def answer(question: Question) -> Sequence[Array]:
        x, asked = question.operands["operand"], question.attributes["new_element_type"]
        output = converted(x, asked)
        return [_last_bit(output) if asked == to and size(x.size) else output]

    return answer


def _conversions() -> Iterator[Mutant]:
    def bad(name: str, answer: Answer, *types: DType, ruling: str = "D-XLA-3", at: str = "edges") -> Mutant:
        return Mutant(name, _CONVERT, types, ruling, answer, trials=at)

    for to in ("bf16", "c64", "c128"):
        yield bad(f"the upper half of u64 is halved to {to}", _where(to, _upper_half, _halved), U64)
    for to in ("bf16", "c64"):
        yield bad(f"the upper half of u64 goes by double to {to}", _where(to, _upper_half, _by_double), U64)
    signed = _where("bf16", _upper_half, _signed_and_more)
    yield bad("the upper half of u32 goes to bf16 as signed", signed, U32)
    yield bad("the upper half of u64 is its middle", _where("u64", _beyond_signed, _middle), F32, F64)
    octave = _where("f32", _one_octave, lambda x, to: converted(x, to) * np.float32(2))
    yield bad("one octave is wrong", octave, F16, ruling="D-ALL-4", at="all")
    sizes: dict[str, tuple[str, DType, Callable[[int], bool]]] = {
        "one less than a multiple of 32, to s8": ("s8", F32, lambda n: n % 32 == 31),
        "one less than a multiple of 16, to bf16": ("bf16", F32, lambda n: n > 16 and n % 16 == 15),
        "128 or more, to s8": ("s8", I32, lambda n: n >= 128),
        "128 or more, to u8": ("u8", F16, lambda n: n >= 128),
    }
    for name, (to, source, size) in sizes.items():
        yield bad(f"the last is wrong of {name}", _last_wrong(to, size), source, at="length")


MUTANTS = tuple(_conversions())


def _last_bit(array: Array) -> Array:
    """One bit of the last element is wrong."""
    output = np.array(array)
    output.reshape(-1, 1).view(np.uint8)[-1, 0] ^= 1
    return output
