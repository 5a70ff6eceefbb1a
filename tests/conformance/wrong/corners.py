"""Convolutions got wrong where few look: in long sums, in the third axis, in shapes with quick ways."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import prod

import numpy as np
from tests.conformance.right.elements import Array
from tests.conformance.right.sliding import PROBLEMS, Fold, Problem, Term, convolved, narrowed
from tests.conformance.right.summing import added, products, separate
from tests.conformance.wrong.mutant import BF16, F16, F32, F64, I8, I16, I32, Mutant
from tests.conformance.wrong.sliding import read

from sonnx.conformance.runtimes.question import Question
from sonnx.model.dtype import DType

Answer = Callable[[Question], Sequence[Array]]
Test = Callable[[Problem], bool]

_GENERAL = "xla.conv_with_general_padding"


def _problem(question: Question) -> Problem:
    return PROBLEMS[question.operator](question.operands, question.attributes)


def _wrong_where(test: Test, place: int = -1) -> Answer:
    """One bit of one element is wrong of the convolutions that pass."""

    def answer(question: Question) -> Sequence[Array]:
        problem = _problem(question)
        output = convolved(problem, separate)
        if output.size and test(problem):
            output.reshape(-1, 1).view(np.uint8)[place, 0] ^= 1
        return [output]

    return answer


def _summed(fold: Fold) -> Answer:
    """The sums taken otherwise."""
    return lambda question: [convolved(_problem(question), fold)]


# --- long sums ---------------------------------------------------------------------------------------------


def _longer_than(least: int) -> Test:
    return lambda problem: prod(problem.W.shape[1:]) > least


def _blocks(count: int, join: Callable[[Problem, list[Array]], Array], *, bias: bool = False) -> Answer:
    """Sums of so many terms each, and how they are made one; the bias is in the first, or in every one."""

    def fold(problem: Problem, terms: Sequence[Term]) -> Array:
        if len(terms) <= count:
            return separate(problem, terms)
        start, zero = problem.start, np.zeros((), problem.held)
        return join(
            problem,
            [
                added(products(terms[first : first + count]), start if bias or not first else zero)
                for first in range(0, len(terms), count)
            ],
        )

    return _summed(fold)


def _added(_problem: Problem, parts: list[Array]) -> Array:
    return added(parts[1:], parts[0])


def _held_narrow(problem: Problem, parts: list[Array]) -> Array:
    """Parts of a sum wait in the type of the elements until they are added."""
    held = [narrowed(part, problem.X.dtype).astype(problem.held) for part in parts]
    return added(held[1:], held[0])


def _long() -> Iterator[Mutant]:
    def bad(name: str, operator: str, answer: Answer, *types: DType, places: bool = False) -> Mutant:
        conv = "D-CONV-1" if places else "D-CONV-6"
        ruling = conv if operator == "conv" else "D-XLA-5"
        return Mutant(name, operator, types, ruling, answer, trials="long")

    floats: dict[str, tuple[DType, ...]] = {"conv": (F32, F64), _GENERAL: (F32, BF16), "xla.conv": (F16,)}
    for operator, types in floats.items():
        for least in (160, 300, 1024):
            # Three hundred ones are an older trial of integers.
            more = (I8, I32) if operator != "conv" and least >= 300 else ()
            wrong = _wrong_where(_longer_than(least))
            # Whole numbers are added exactly, so that only what meets can be wrong.
            yield bad(
                f"sums of more than {least} terms are wrong", operator, wrong, *types, *more, places=True
            )
        last = _blocks(256, lambda problem, parts: parts[-1])
        yield bad("the last block of 256 terms counts", operator, last, *types)
    yield bad("every block of 256 terms has the bias", "conv", _blocks(256, _added, bias=True), F32, F16, F64)
    narrow: dict[str, tuple[DType, ...]] = {"conv": (F16,), _GENERAL: (F16, BF16), "xla.conv": (BF16,)}
    for operator, types in narrow.items():
        for count in (32, 64, 128):
            text = f"sums of {count} terms wait in the narrow type"
            yield bad(text, operator, _blocks(count, _held_narrow), *types)


# --- integers ----------------------------------------------------------------------------------------------


def _limited(bits: int, count: int) -> Fold:
    """The products of so many terms, and then all of these, are added in so many bits, and saturate."""

    def fold(problem: Problem, terms: Sequence[Term]) -> Array:
        least, greatest = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
        total = np.zeros(problem.shape, object)
        for first in range(0, len(terms), count):
            few = np.zeros(problem.shape, object)
            for term in terms[first : first + count]:
                few = few + _integers(term.x, problem) * _integers(term.w, problem)
            total = total + np.where(few < least, least, np.where(few > greatest, greatest, few))
        return (total % 2**64).astype(np.uint64)

    return fold


def _integers(array: Array, problem: Problem) -> Array:
    return (array.view(np.int64) if problem.X.dtype.kind == "i" else array).astype(object)


def _saturating() -> Iterator[Mutant]:
    for name, types, fold in (
        ("pairs of products saturate at 16 bits", (I8,), _limited(16, 2)),
        ("four products saturate at 32 bits", (I16,), _limited(32, 4)),
        ("four products saturate at 64 bits", (I32,), _limited(64, 4)),
    ):
        for operator in ("xla.conv", _GENERAL):
            yield Mutant(name, operator, types, "D-XLA-5", _summed(fold), trials="sum-squares")


# --- axes --------------------------------------------------------------------------------------------------


def _as_the_one_before(number: int, *names: str) -> Answer:
    """What is said of an axis is taken from the one before it."""

    def answer(question: Question) -> Sequence[Array]:
        problem = _problem(question)
        axes = list(problem.axes)
        if number < len(axes):
            said = {name: getattr(axes[number - 1], name) for name in names}
            axes[number] = read(axes[number], **said)
        return [convolved(replace(problem, axes=tuple(axes)), separate)]

    return answer


def _axes() -> Iterator[Mutant]:
    for number, word in ((2, "third"), (3, "fourth")):
        for names in (("low",), ("stride",), ("dilation",), ("base",)):
            text = f"the {word} axis has the {names[0]} of the one before"
            answer = _as_the_one_before(number, *names)
            yield Mutant(text, _GENERAL, (F32, I8), "D-XLA-5", answer, trials=("three-", "four-")[number - 2])
        answer = _as_the_one_before(number, "stride")
        text = f"the {word} axis has the stride of the one before"
        at = ("three-unlike-strides-valid", "four-unlike-strides-valid")[number - 2]
        yield Mutant(text, "xla.conv", (F32,), "D-XLA-5", answer, trials=at)


# --- quick ways --------------------------------------------------------------------------------------------


def _all(problem: Problem, **wanted: int) -> bool:
    """Every axis is of this kind."""
    return all(getattr(axis, name) == value for axis in problem.axes for name, value in wanted.items())


def _square(problem: Problem, kernel: int, **wanted: int) -> bool:
    return _all(problem, kernel=kernel, **wanted)


def _input_channels(problem: Problem) -> int:
    count: int = problem.W.shape[1]
    return count


def _width(problem: Problem) -> int:
    return problem.shape[-1]


def _unlike_ends(problem: Problem) -> bool:
    return any(axis.low != axis.high for axis in problem.axes)


_DENSE: dict[str, Test] = {
    **{
        f"{count} output channels": lambda p, count=count: len(p.W) == count  # type: ignore[misc]  # bound now
        for count in (6, 12, 24, 32, 48, 64)
    },
    **{
        f"{count} input channels": lambda p, count=count: _input_channels(p) == count  # type: ignore[misc]  # bound now
        for count in (6, 7, 12, 24, 32, 64)
    },
    "a kernel of 7 by 7": lambda p: _square(p, 7),
    "a kernel of a line of 7": lambda p: [axis.kernel for axis in p.axes] == [1, 7],
    "a kernel of a column of 7": lambda p: [axis.kernel for axis in p.axes] == [7, 1],
    "3 by 3 to 7 columns": lambda p: _square(p, 3) and _input_channels(p) >= 8 and _width(p) == 7,
    "3 by 3 to 14 columns": lambda p: _square(p, 3) and _input_channels(p) >= 8 and _width(p) == 14,
    "12 columns": lambda p: _width(p) == 12,
    "300 positions": lambda p: prod(p.shape[2:]) >= 300,
    "several images of 8 channels": lambda p: len(p.X) > 1 and _input_channels(p) >= 8,
    "four images": lambda p: len(p.X) >= 4 and _input_channels(p) > 1,
    "several images by 3 by 3": lambda p: len(p.X) > 1 and _square(p, 3) and len(p.W) >= 4,
    "8 channels without bias": lambda p: p.B is None and len(p.W) >= 8 and _input_channels(p) > 1,
    "unlike pads of 3 by 3": lambda p: _square(p, 3) and _input_channels(p) >= 8 and _unlike_ends(p),
    "3 by 3 by two, pads at the end": lambda p: (
        _square(p, 3, stride=2, low=0, high=1) and _input_channels(p) > 3
    ),
    "3 by 3 by two without pads": lambda p: _square(p, 3, stride=2, low=0, high=0),
    "3 by 3 without pads": lambda p: _square(p, 3, stride=1, low=0, high=0) and _input_channels(p) >= 8,
    "3 channels to many by two": lambda p: p.X.shape[1] == 3 and len(p.W) >= 16 and _all(p, stride=2),
    "large dilations": lambda p: _all(p, dilation=7),
    "large strides": lambda p: all(axis.stride >= 5 and axis.positions > 1 for axis in p.axes),
}
_DEPTHWISE: dict[str, Test] = {
    "5 by 5": lambda p: _square(p, 5),
    "3 by 3 with dilations of 2": lambda p: _square(p, 3, dilation=2),
    "several images of 3 by 3": lambda p: _square(p, 3, low=1, high=1, stride=1) and len(p.X) > 1,
    "3 by 3 by two, pads at the end": lambda p: _square(p, 3, stride=2, low=0, high=1),
    "8 channels without bias": lambda p: p.B is None and len(p.W) >= 8,
    "more than 65 channels": lambda p: len(p.W) > 65,
    "several images of 8 channels": lambda p: len(p.X) > 1 and len(p.W) >= 8,
}
_XLA: dict[str, Test] = {
    "16 features by two": lambda p: len(p.W) >= 8 and any(axis.stride > 1 for axis in p.axes),
    "a batch of forty and no axes": lambda p: not p.axes and len(p.X) >= 32,
}
_BASE: dict[str, Test] = {
    "8 features and base dilation": lambda p: p.X.shape[1] >= 8 and any(axis.base > 1 for axis in p.axes),
}


# Of these the last window meets no zero of the padding.
_INSIDE = frozenset(
    {
        *(f"{count} output channels" for count in (12, 24, 64)),
        *(f"{count} input channels" for count in (6, 7, 64)),
        *("12 columns", "300 positions", "several images of 8 channels", "several images by 3 by 3"),
        *("8 channels without bias", "3 by 3 by two without pads", "3 by 3 without pads", "large strides"),
    }
)
_OF_EVERY_TYPE = frozenset({"300 positions", "3 by 3 without pads", "depthwise 5 by 5"})


def _dense(test: Test) -> Test:
    return lambda problem: problem.group == 1 and test(problem)


def _grouped(test: Test) -> Test:
    return lambda problem: problem.group > 1 and test(problem)


def _quick() -> Iterator[Mutant]:
    def bad(name: str, operator: str, test: Test, *types: DType) -> Mutant:
        place = "D-CONV-1" if name in _INSIDE else "D-CONV-5"
        ruling = place if operator == "conv" else "D-XLA-5"
        return Mutant(f"wrong for {name}", operator, types, ruling, _wrong_where(test), trials="quick")

    grouped = {f"depthwise {name}": test for name, test in _DEPTHWISE.items()}
    for name, test in {**_DENSE, **grouped}.items():
        passes = _grouped(test) if name in grouped else _dense(test)
        yield bad(name, "conv", passes, *((F32, F16, F64) if name in _OF_EVERY_TYPE else (F32,)))
    for operator, tests in (("xla.conv", _XLA), (_GENERAL, {**_XLA, **_BASE})):
        for name, test in tests.items():
            yield bad(name, operator, test, F32, I8, BF16)


MUTANTS = (*_long(), *_saturating(), *_axes(), *_quick())
