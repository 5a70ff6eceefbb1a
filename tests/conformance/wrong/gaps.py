"""Faults that hide: at some lengths, in some bytes, texts or NaNs, where two special values meet."""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from tests.conformance.right.converting import converted
from tests.conformance.right.elements import FORMS, Array
from tests.conformance.right.moving import Operands, where
from tests.conformance.right.runtime import ELEMENTWISE
from tests.conformance.right.sliding import PROBLEMS, Problem, convolved
from tests.conformance.right.summing import separate
from tests.conformance.wrong.mutant import BF16, F16, F32, F64, I8, RULINGS, STRING, Mutant

from sonnx.conformance.runtimes.question import Question
from sonnx.model.dtype import DType

Answer = Callable[[Question], Sequence[Array]]
Test = Callable[[Question, Array], bool]


def _right(question: Question, operands: Operands | None = None) -> Array:
    """The output of the question, or of the same with other operands."""
    given = question.operands if operands is None else operands
    if question.operator in PROBLEMS:
        return convolved(PROBLEMS[question.operator](given, question.attributes), separate)
    return ELEMENTWISE[question.operator](given, question.attributes)


def _last_bit(array: Array, place: int) -> Array:
    """One bit of one element is wrong."""
    output = np.array(array)
    output.reshape(-1, 1).view(np.uint8)[place, 0] ^= 1
    return output


def _wrong_where(test: Test, place: int = -1) -> Answer:
    """One element is wrong of the outputs that pass."""

    def answer(question: Question) -> Sequence[Array]:
        output = _right(question)
        return [_last_bit(output, place) if output.size and test(question, output) else output]

    return answer


# --- lengths -----------------------------------------------------------------------------------------------

_SIZES: dict[str, Callable[[int], bool]] = {
    "8": lambda n: n == 8,
    "32": lambda n: n == 32,
    "64": lambda n: n == 64,
    "128": lambda n: n == 128,
    "256": lambda n: n == 256,
    "one less than a multiple of 32": lambda n: n > 64 and n % 32 == 31,
    "one less than a multiple of 64": lambda n: n > 64 and n % 64 == 63,
    "no multiple of 8, from 66 to 126,": lambda n: 66 <= n <= 126 and n % 8 != 0,
    "no multiple of 8, from 128 to 300,": lambda n: 128 <= n <= 300 and n % 8 != 0,
    "no multiple of 4, from 134 to 300,": lambda n: 134 <= n <= 300 and n % 4 != 0,
}


def _at(size: Callable[[int], bool]) -> Answer:
    return _wrong_where(lambda _, output: size(output.size))


def _lengths() -> Iterator[Mutant]:
    for operator, ruling in RULINGS.items():
        for name, size in _SIZES.items():
            text = f"the last of {name} elements is wrong"
            yield Mutant(text, operator, (F32, I8), ruling, _at(size), trials="length")


def _eight_each(question: Question, _output: Array) -> bool:
    given, asked = question.operands["input"].shape, question.operands["shape"].tolist()
    return given[-1:] == (1,) and asked[-1:] == [8]


def _scalar_to_many(question: Question, output: Array) -> bool:
    return question.operands["input"].ndim == 0 and output.size > 64


_MOVED = (
    Mutant("wrong where each is there 8 times", "expand", (F32, I8), "D-BCAST-1", _wrong_where(_eight_each)),
    Mutant(
        "wrong for many of a scalar", "expand", (F32, I8, F64), "D-BCAST-1", _wrong_where(_scalar_to_many)
    ),
    Mutant(
        *("wrong where the first operand is constant", "xla.concatenate", (F32,), "D-ALL-4"),
        _wrong_where(lambda question, _: "operands0" in question.constants, place=0),
    ),
)

# --- Where -------------------------------------------------------------------------------------------------


def _false(bytes_: Callable[[Array], Array], test: Test = lambda question, output: True) -> Answer:
    """Some bytes are taken for false, in some questions."""

    def answer(question: Question) -> Sequence[Array]:
        held = question.operands["condition"].view(np.uint8)
        output = _right(question)
        if not test(question, output):
            return [output]
        condition = (held != 0) & ~bytes_(held)
        return [where({**question.operands, "condition": condition}, question.attributes)]

    return answer


def _not_one(held: Array) -> Array:
    return held != 1


def _bytes() -> Iterator[Mutant]:
    for byte in (3, 4, 16, 64, 129, 192, 253):
        answer = _false(lambda held, byte=byte: held == byte)  # type: ignore[misc]  # one for each byte
        yield Mutant(f"the byte {byte} is false", "where", (F32, STRING), "D-WHERE-1", answer)
    tests: dict[str, Test] = {
        "of many elements": lambda question, output: output.size > 64,
        "that is constant": lambda question, output: "condition" in question.constants,
        "of one element without axes": lambda question, output: output.ndim == 0,
    }
    for name, test in tests.items():
        answer = _false(_not_one, test)
        yield Mutant(
            f"only the byte 1 of a condition {name} is true", "where", (F32, I8), "D-WHERE-1", answer
        )


def _texts(change: Callable[[str], str]) -> Answer:
    def answer(question: Question) -> Sequence[Array]:
        output = _right(question)
        changed = np.empty(output.shape, object)
        changed.reshape(-1)[:] = [change(text) for text in output.reshape(-1).tolist()]
        return [changed]

    return answer


def _without(letters: str) -> Callable[[str], str]:
    return lambda text: text.translate({ord(letter): None for letter in letters})


_TEXTS = {
    "strings are composed": lambda text: unicodedata.normalize("NFC", text),
    "returns of the carriage are lost": _without("\r"),
    "line ends are made one character": lambda text: text.replace("\r\n", "\n"),
    "a byte order mark is lost": lambda text: text.removeprefix("\ufeff"),
    "tabs become blanks": lambda text: text.replace("\t", " "),
    "quotes are lost": _without("\"'"),
    "backslashes escape": lambda text: text.replace("\\n", "\n").replace("\\", ""),
    "characters of two units are lost": lambda text: "".join(c if ord(c) < 2**16 else "?" for c in text),
}


def _strings() -> Iterator[Mutant]:
    for operator in ("where", "expand"):
        for name, change in _TEXTS.items():
            yield Mutant(name, operator, (STRING,), RULINGS[operator], _texts(change))
    cut = _texts(lambda text: text[:4096])
    yield Mutant("strings have 4096 characters", "where", (STRING,), "D-WHERE-2", cut)


# --- NaNs --------------------------------------------------------------------------------------------------


def _signalling(array: Array) -> Array:
    form = FORMS[array.dtype]
    raw = array.view(form.raw)
    nan = (raw & form.raw.type(form.sign - 1)) > form.infinity
    return nan & ((raw & form.raw.type(form.quiet)) == 0)


def _nothing(array: Array) -> Array:
    """Signalling NaNs count as 0."""
    return np.where(_signalling(array), array.dtype.type(0), array)


def _passed_over(*names: str) -> Answer:
    def answer(question: Question) -> Sequence[Array]:
        others = {name: _nothing(array) for name, array in question.operands.items() if name in names}
        return [_right(question, {**question.operands, **others})]

    return answer


def _payload_cut(question: Question) -> Sequence[Array]:
    """A NaN whose upper bits are an infinity's becomes one; rounding is as it should be."""
    x, to = question.operands["operand"], question.attributes["new_element_type"]
    output = converted(x, to)
    if x.dtype not in FORMS or output.dtype not in FORMS:
        return [output]
    source, target = FORMS[x.dtype], FORMS[output.dtype]
    raw = x.view(source.raw)
    lost = max(source.fraction - target.fraction, 0)
    with np.errstate(all="ignore"):
        nan = np.isnan(x)
    kept = (raw & source.raw.type((1 << source.fraction) - 1)) >> source.raw.type(lost)
    infinite = np.array(target.infinity, target.raw).view(output.dtype)
    return [np.where(nan & (kept == 0), infinite, output)]


def _nans() -> Iterator[Mutant]:
    yield Mutant("payloads are cut off", "xla.convert_element_type", (F32, F64, F16), "D-XLA-3", _payload_cut)
    for operator, names, types in (
        ("conv", ("X", "W", "B"), (F32, F16)),
        ("xla.conv", ("lhs", "rhs"), (F32,)),
        ("xla.conv_with_general_padding", ("lhs", "rhs"), (BF16,)),
        ("xla.clamp", ("operand", "min", "max"), (F32, BF16)),
    ):
        for name in names:
            ruling, at = ("D-XLA-1", "") if operator == "xla.clamp" else ("D-ALL-4", "special")
            text = f"a signalling NaN in {name} is passed over"
            yield Mutant(text, operator, types, ruling, _passed_over(name), trials=at)


# --- Conv --------------------------------------------------------------------------------------------------


def _problem(question: Question) -> Problem:
    return PROBLEMS[question.operator](question.operands, question.attributes)


def _meeting(change: Callable[[Array, Array, Array], Array]) -> Answer:
    """The result, the sum without the bias, and the bias → another result."""

    def answer(question: Question) -> Sequence[Array]:
        problem, output = _problem(question), _right(question)
        if problem.B is None:
            return [output]
        wide = [convolved(replace(problem, B=None), separate), np.broadcast_to(problem.start, output.shape)]
        with np.errstate(all="ignore"):
            return [change(output, *wide).astype(output.dtype)]

    return answer


def _reduced(change: Callable[[Problem], Problem]) -> Answer:
    return lambda question: [convolved(change(_problem(question)), separate)]


def _few_inputs(problem: Problem) -> Problem:
    if problem.group > 1:
        return problem
    return replace(problem, X=problem.X[:, :32], W=problem.W[:, :32])


def _few_outputs(problem: Problem) -> Problem:
    """From the 33rd on, output channels are as the first one."""
    if problem.group > 1 or len(problem.W) <= 32:
        return problem
    W = problem.W.copy()
    W[32:] = W[:1]
    return replace(problem, W=W)


def _few_channels(problem: Problem) -> Problem:
    """From the 33rd on, input channels are as the first one."""
    if problem.group <= 32:
        return problem
    X = problem.X.copy()
    X[:, 32:] = X[:, :1]
    return replace(problem, X=X)


def _without_bias(*held: str) -> Answer:
    def answer(question: Question) -> Sequence[Array]:
        problem = _problem(question)
        dropped = set(question.constants) == set(held)
        return [convolved(replace(problem, B=None) if dropped else problem, separate)]

    return answer


def _one_less(_question: Question, output: Array) -> bool:
    width: int = output.shape[-1]
    return width > 8 and width % 8 == 7


def _unlike(total: Array, bias: Array) -> Array:
    return np.isinf(total) & np.isinf(bias) & (total != bias)


_MEETING: dict[str, Callable[[Array, Array, Array], Array]] = {
    "an infinite bias outweighs the other infinity": lambda y, t, b: np.where(_unlike(t, b), b, y),
    "an infinite sum outweighs the other infinity": lambda y, t, b: np.where(_unlike(t, b), t, y),
    "an infinite sum hides a NaN as bias": lambda y, t, b: np.where(np.isnan(b) & np.isinf(t), t, y),
    "an infinite bias hides a NaN as sum": lambda y, t, b: np.where(np.isnan(t) & np.isinf(b), b, y),
    "equal infinities give NaN": lambda y, t, b: np.where(np.isinf(b) & (b == t), np.nan, y),
}


def _convolutions() -> Iterator[Mutant]:
    def bad(
        name: str, ruling: str, answer: Answer, *types: DType, at: str = "", twins: bool = False
    ) -> Mutant:
        return Mutant(name, "conv", types, ruling, answer, trials=at, twins=twins)

    for name, change in _MEETING.items():
        yield bad(name, "D-ALL-4", _meeting(change), F32, F16, F64, at="special-sums")
    yield bad("32 input channels count", "D-CONV-1", _reduced(_few_inputs), F32, F16, at="sixty")
    yield bad("32 output channels are told apart", "D-CONV-1", _reduced(_few_outputs), F32, F64, at="sixty")
    yield bad(
        "32 channels have an input of their own", "D-CONV-1", _reduced(_few_channels), F32, at="depthwise"
    )
    yield bad("the last of seven more than vectors is wrong", "D-CONV-1", _wrong_where(_one_less), F32, F16)
    for name in ("W", "B"):
        text = f"the bias is lost where {name} alone is constant"
        for at in ("plain", "depthwise"):
            yield bad(f"{text}, {at}", "D-CONV-1", _without_bias(name), F32, at=f"{at}-", twins=True)
    for operator in ("xla.conv", "xla.conv_with_general_padding"):
        for name, few in (("input", _few_inputs), ("output", _few_outputs)):
            text = f"32 {name} features count"
            yield Mutant(text, operator, (F32, I8), "D-XLA-5", _reduced(few), trials="line")


MUTANTS = (*_lengths(), *_MOVED, *_bytes(), *_strings(), *_nans(), *_convolutions())
