"""Faults that hide beyond the usual: in half a range, in many operands, axes or elements, in rare texts."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from tests.conformance.right.converting import converted
from tests.conformance.right.elements import Array
from tests.conformance.right.runtime import ELEMENTWISE
from tests.conformance.wrong.mutant import F16, F32, F64, I8, I32, I64, RULINGS, STRING, U32, U64, Mutant

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


# --- many elements, operands and axes ----------------------------------------------------------------------


def _right(question: Question) -> Array:
    return ELEMENTWISE[question.operator](question.operands, question.attributes)


def _wrong_where(test: Test, damage: Callable[[Array], Array]) -> Answer:
    """The last element is wrong of the outputs that pass."""

    def answer(question: Question) -> Sequence[Array]:
        output = _right(question)
        return [damage(output) if output.size and test(question, output) else output]

    return answer


def _last_text(array: Array) -> Array:
    output = array.copy()
    output.reshape(-1)[-1] += "."
    return output


def _ranked(*ranks: int) -> Test:
    """Of so many axes, and more than one element."""
    return lambda question, output: output.ndim in ranks and output.size > 1


def _repeated(rank: int) -> Test:
    """Of so many axes, along some of which elements are there again."""
    return lambda question, output: output.ndim == rank and output.size > question.operands["input"].size


def _operands(least: int, most: int) -> Test:
    return lambda question, output: least <= len(question.operands) <= most


def _of_lines(question: Question, output: Array) -> bool:
    """Whole lines are there many times."""
    given = question.operands["input"].shape
    return len(given) > 1 and given[-2] == 1 and min(output.shape[-2:]) >= 8 and given[-1] > 1


def _of_each(question: Question, output: Array) -> bool:
    """Each element is there more than 64 times."""
    return question.operands["input"].shape[-1:] == (1,) and output.shape[-1] > 64


_OTHERS: dict[str, tuple[str, Test]] = {
    "of five to sixteen operands": ("xla.concatenate", _operands(5, 16)),
    "of more than seventeen operands": ("xla.concatenate", _operands(18, 40)),
    "of more than a hundred operands": ("xla.concatenate", _operands(100, 200)),
    "of seven axes joined": ("xla.concatenate", _ranked(7)),
    "of eight axes joined": ("xla.concatenate", _ranked(8)),
    "of seven axes": ("expand", _repeated(7)),
    "of nine axes": ("expand", _repeated(9)),
    "of lines many times": ("expand", _of_lines),
    "of each many times": ("expand", _of_each),
    "of eight axes bounded": ("clip", _ranked(8)),
    "of eight axes clamped": ("xla.clamp", _ranked(8)),
    "of eight axes chosen": ("where", _ranked(8)),
    "of eight axes converted": (_CONVERT, _ranked(8)),
}


def _elements() -> Iterator[Mutant]:
    for operator, ruling in RULINGS.items():
        types = (F64, I32, I64) if operator == "xla.concatenate" else (F64, I8, I32)
        answer = _wrong_where(lambda question, output: output.size > 4000, _last_bit)
        name = "the last is wrong of thousands"
        yield Mutant(name, operator, types, ruling, answer, trials="thousands")
    answer = _wrong_where(lambda question, output: output.size > 4000, _last_text)
    yield Mutant(
        "the last text is wrong of thousands", "where", (STRING,), "D-WHERE-2", answer, trials="thou"
    )
    for name, (operator, test) in _OTHERS.items():
        answer = _wrong_where(test, _last_bit)
        yield Mutant(f"the last is wrong {name}", operator, (I32, I8), RULINGS[operator], answer)


# --- texts -------------------------------------------------------------------------------------------------


def _texts(change: Callable[[str], str]) -> Answer:
    def answer(question: Question) -> Sequence[Array]:
        output = _right(question)
        changed = np.empty(output.shape, object)
        changed.reshape(-1)[:] = [change(text) for text in output.reshape(-1).tolist()]
        return [changed]

    return answer


def _only(test: Callable[[int], bool]) -> Callable[[str], str]:
    """Without characters whose numbers do not pass."""
    return lambda text: "".join(letter for letter in text if test(ord(letter)))


_TEXTS: dict[str, Callable[[str], str]] = {
    "texts of 16 to 999 characters are cut": lambda text: text if not 16 <= len(text) < 1000 else text[:15],
    "texts of 17 to 23 characters are cut": lambda text: text if not 17 <= len(text) < 24 else text[:16],
    "texts of 24 to 999 characters are cut": lambda text: text if not 24 <= len(text) < 1000 else text[:23],
    "controls are lost": _only(lambda number: number not in (0x1B, 0x7F)),
    "what stands for no character is lost": _only(lambda number: number not in (0xFFFD, 0xFFFE, 0xFFFF)),
    "letters of private use are lost": _only(lambda number: not 0xE000 <= number < 0xF900),
    "planes beyond the second are lost": _only(lambda number: number < 0x20000),
    "None is nothing": lambda text: "" if text == "None" else text,
    "null is nothing": lambda text: "" if text == "null" else text,
}


def _strings() -> Iterator[Mutant]:
    for operator in ("where", "expand"):
        for name, change in _TEXTS.items():
            yield Mutant(name, operator, (STRING,), RULINGS[operator], _texts(change))
    cut = _texts(lambda text: text[:65535])
    yield Mutant("texts have sixteen bits of characters", "where", (STRING,), "D-WHERE-2", cut, trials="long")


def _last_bit(array: Array) -> Array:
    """One bit of the last element is wrong."""
    output = np.array(array)
    output.reshape(-1, 1).view(np.uint8)[-1, 0] ^= 1
    return output


MUTANTS = (*_conversions(), *_elements(), *_strings())
