"""Reductions: whatever departs becomes an example that fits on a line, and still departs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import cycle, product
from typing import Any

import numpy as np
import pytest
from tests import budgets
from tests.loops import for_each

import sonnx
from sonnx.conformance.campaign import Outcome, outcome
from sonnx.conformance.reduction import digest, reduced
from sonnx.conformance.runtimes.question import Question, question
from sonnx.conformance.runtimes.runtime import ProgramError
from sonnx.conformance.runtimes.worker import answer_to
from sonnx.conformance.subjects import SUBJECTS, subject_named
from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array, held_type
from sonnx.operators.onnx.conv.geometry import CONVOLUTION
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.rule import DomainError
from sonnx.vocabulary.trial import Trial

pytestmark = pytest.mark.measured

F = np.float32
# What a runtime makes of a question and of the right answer.
Spoil = Callable[[Question, Array], Any]


class Wrong:
    """A runtime that knows the right answer, and spoils it."""

    name, version, takes_models = "wrong", "1", False

    def __init__(self, spoil: Spoil) -> None:
        self._spoil = spoil

    def supports(self, question: Question) -> bool:
        return True

    def run(self, question: Question) -> Sequence[Any]:
        trial = Trial("", question.operands, (), "", question.attributes)
        return [self._spoil(question, right(question.definition, trial))]


def right(operator: Operator, trial: Trial) -> Array:
    subject = subject_named(operator.identifier)
    dtype = held_type(trial.inputs[list(trial.inputs)[-1 if subject.identifier == "where" else 0]])
    results = subject.specified(trial, dtype).results("separate" if subject.enclose else "")
    return next(iter(results.values()))


def asking(name: str, dtype: DType, spoil: Spoil) -> Callable[[Trial], Outcome]:
    subject, runtime = subject_named(name), Wrong(spoil)

    def ask(trial: Trial) -> Outcome:
        return outcome(subject, dtype, trial, answer_to(runtime, question(subject.operator, trial)), "free")

    return ask


# --- wrong runtimes ----------------------------------------------------------------------------------------


def nan_becomes_min(asked: Question, output: Array) -> Array:
    return np.where(np.isnan(asked.operands["input"]), asked.operands["min"], output)


def loses_minus_zero(_: Question, output: Array) -> Array:
    return output + F(0)


def skips_padding(asked: Question, output: Array) -> Array:
    """A convolution that leaves out what lies on the padding, so that a zero never meets an infinity."""
    X, W = asked.operands["X"], asked.operands["W"]
    axes, group = CONVOLUTION.axes(asked.operands, asked.attributes), int(asked.attributes["group"])
    found = np.zeros_like(output)
    inside = W.shape[1]
    with np.errstate(all="ignore"):
        for n, m, y, x in np.ndindex(*output.shape):
            total = asked.operands["B"][m] if "B" in asked.operands else F(0)
            first = m // (len(W) // group) * inside
            for c, k, w in product(range(inside), *(range(axis.kernel) for axis in axes)):
                line, column = (
                    position * axis.stride + tap * axis.dilation - axis.begin
                    for axis, position, tap in zip(axes, (y, x), (k, w), strict=True)
                )
                if 0 <= line < X.shape[2] and 0 <= column < X.shape[3]:
                    total = total + X[n, first + c, line, column] * W[m, c, k, w]
            found[n, m, y, x] = total
    return found


def crashes_at_seven(asked: Question, output: Array) -> Array:
    if (np.asarray(asked.operands["input"]) == 7).any():
        raise ProgramError(-11, b"Segmentation fault at 0x7fff1234")
    return output


def flips(output: Array, place: Any) -> Array:
    """One element with another last bit."""
    found = output.copy()
    found.view(np.uint32).reshape(-1)[place] ^= 1
    return found


def shown(ask: Callable[[Trial], Outcome], key: tuple[str, ...]) -> Callable[[Trial], bool]:
    return lambda trial: key in ask(trial).keys


def first_departure(name: str, dtype: DType, ask: Callable[[Trial], Outcome]) -> Outcome:
    trials = subject_named(name).trials(dtype, 0)
    return next(found for trial in trials if (found := ask(trial)).keys)


# The operator, what is wrong, and how many elements remain at most: in all operands, in each of them.
DEPARTURES: Mapping[str, tuple[str, Spoil, int, int]] = {
    "a NaN becomes min": ("clip", nan_becomes_min, 3, 1),
    "a zero loses its sign": ("where", loses_minus_zero, 3, 1),
    "a zero loses its sign where it is repeated": ("expand", loses_minus_zero, 1, 1),
    "a zero of the padding is skipped": ("conv", skips_padding, 4, 2),
}


@pytest.mark.parametrize("jumps", [True, False])
@pytest.mark.parametrize("name", DEPARTURES)
def test_a_departure_becomes_a_few_elements_that_still_show_it(name: str, jumps: bool) -> None:
    operator, spoil, most, most_each = DEPARTURES[name]
    ask = asking(operator, DType.FLOAT, spoil)
    first = first_departure(operator, DType.FLOAT, ask)
    (key, *_), place = first.keys, first.differences[0].place
    small = reduced(subject_named(operator), first.trial, shown(ask, key), place=place if jumps else None)
    assert key in ask(small).keys
    sizes = [array.size for array in small.inputs.values()]
    assert sum(sizes) <= most
    assert max(sizes) <= most_each
    assert small.name == f"{first.trial.name}-reduced"
    assert small.text == f"{first.trial.text.removesuffix('.')}, reduced."
    assert small.shows == first.trial.shows


def test_what_is_left_is_what_decides() -> None:
    ask = asking("conv", DType.FLOAT, skips_padding)
    X = np.arange(48, dtype=F).reshape(1, 2, 4, 6)
    W = np.array([1, 2, np.inf, 4] * 6, F).reshape(3, 2, 2, 2)
    trial = Trial("t", {"X": X, "W": W, "B": np.ones(3, F)}, (), "T.", geometry(pads=(1, 2, 0, 1)))
    small = reduced(subject_named("conv"), trial, lambda each: ask(each).verdict == "departs")
    assert {name: array.tolist() for name, array in small.inputs.items()} == {
        "X": [[[[0.0]]]],
        "W": [[[[np.inf]]]],
    }
    assert sorted(small.attributes["pads"]) == [0, 0, 0, 1]
    assert (small.attributes["kernel_shape"], small.attributes["strides"]) == ((1, 1), (1, 1))


def geometry(**changes: Any) -> dict[str, Any]:
    plain = {"strides": (1, 2), "pads": (0, 0, 0, 0), "dilations": (1, 2), "group": 1, "kernel_shape": (2, 2)}
    return {**plain, "auto_pad": "NOTSET", **changes}


def test_a_crash_becomes_its_one_value() -> None:
    ask = asking("clip", DType.FLOAT, crashes_at_seven)
    x = np.arange(60, dtype=F).reshape(3, 4, 5)
    trial = Trial("t", {"input": x, "min": np.array(2, F), "max": np.array(50, F)}, (), "T.")
    (key,) = ask(trial).keys
    assert key == ("crashes", "crashed: signal # (SIGSEGV)", "")
    small = reduced(subject_named("clip"), trial, shown(ask, key))
    assert {name: array.tolist() for name, array in small.inputs.items()} == {"input": 7, "min": 0, "max": 0}


# --- one of a million --------------------------------------------------------------------------------------

MANY = 1_000_003


def million() -> Trial:
    x = np.arange(MANY, dtype=F)
    return Trial("million", {"input": x, "min": np.array(-1, F), "max": np.array(2e9, F)}, (), "Many.")


class Counted:
    """Counts how often it is asked, and remembers what."""

    def __init__(self, departs: Callable[[Trial], bool]) -> None:
        self._departs = departs
        self.asked: list[Trial] = []

    def __call__(self, trial: Trial) -> bool:
        self.asked.append(trial)
        return self._departs(trial)


def elements(trial: Trial) -> int:
    return sum(array.size for array in trial.inputs.values())


def test_one_value_of_a_million_is_found_without_its_place() -> None:
    ask = asking("clip", DType.FLOAT, lambda _, output: flips(output, output == 654321))
    (key,) = ask(million()).keys
    counted = Counted(shown(ask, key))
    small = reduced(subject_named("clip"), million(), counted)
    assert small.inputs["input"].tolist() == 654321
    assert elements(small) == 3
    assert len(counted.asked) < 100
    assert sum(trial.inputs["input"].size > 1 for trial in counted.asked) <= 42


def test_one_value_of_a_million_is_found_at_once_by_its_place() -> None:
    ask = asking("clip", DType.FLOAT, lambda _, output: flips(output, output == 654321))
    found = ask(million())
    counted = Counted(shown(ask, found.keys[0]))
    small = reduced(subject_named("clip"), million(), counted, place=found.differences[0].place)
    assert elements(small) == 3
    assert max(trial.inputs["input"].size for trial in counted.asked) == 1


@pytest.mark.parametrize("place", [(3,), None])
def test_a_wrong_place_keeps_what_lies_before_it(place: tuple[int, ...] | None) -> None:
    ask = asking("clip", DType.FLOAT, lambda _, output: flips(output, slice(3, 4)))
    counted = Counted(lambda trial: ask(trial).verdict == "departs")
    small = reduced(subject_named("clip"), million(), counted, place=place)
    assert small.inputs["input"].tolist() == [0, 0, 0, 0]
    if place is not None:
        assert max(trial.inputs["input"].size for trial in counted.asked) == 4


def test_a_wrong_rest_of_a_loop_becomes_one_element() -> None:
    # Lanes of 16; what is left over is wrong.
    ask = asking("clip", DType.FLOAT, lambda _, out: flips(out, slice(out.size - out.size % 16, out.size)))
    found = ask(million())
    small = reduced(
        subject_named("clip"),
        million(),
        lambda trial: ask(trial).verdict == "departs",
        place=found.differences[0].place,
    )
    assert elements(small) == 3


def test_a_place_far_away_keeps_its_distance_in_few_tries_and_zeros() -> None:
    counted = Counted(lambda trial: trial.inputs["input"].size > 77_777)
    small = reduced(subject_named("clip"), million(), counted, tries=150)
    assert small.inputs["input"].shape == (77_778,)
    assert not small.inputs["input"].any()
    assert len(counted.asked) <= 150


# --- every operator ----------------------------------------------------------------------------------------

# In the quick tier each operator one way, in turn.
OUTPUTS = [
    (subject.identifier, jumps)
    for number, subject in enumerate(SUBJECTS)
    for jumps in (True, False)
    if budgets.deep or jumps == bool(number % 2)
]


def is_deep(trial: Trial) -> bool:
    """Tell whether there are elements along several axes."""
    array = next(iter(trial.inputs.values()))
    return array.ndim > 1 and array.size > 0 and sorted(array.shape)[-2] > 1


def distinct(name: str) -> Trial:
    """A trial with several axes whose output elements are told apart by their value, as far as a type can."""
    subject = subject_named(name)
    to = subject.operator.trying.converts_to
    wanted = {
        **dict.fromkeys(("conv", "xla.conv_with_general_padding"), "everything-unlike"),
        "xla.conv": "other-unlike-strides-valid",
    }.get(name, "matrix" if to else "shape-three-axes")
    dtype = DType.FLOAT if DType.FLOAT in subject.types else subject.types[-1]
    trials = list(subject.systematic(dtype, 0))
    if subject.operator.contract.good is not None:
        trials = [replace(each, name=wanted) for each in trials if each.name[0].isdigit() and is_deep(each)][
            -1:
        ]
    trial = next(trial for trial in trials if trial.name.startswith(wanted))
    numbers = np.random.default_rng(1)
    # Of truths there are two, so those stay as they are.
    given = {
        key: array
        if array.dtype == bool or key in subject.operator.contract.settled
        else numbers.permutation(array.size).reshape(array.shape).astype(array.dtype) + array.dtype.type(2)
        for key, array in trial.inputs.items()
    }
    given |= {"min": np.array(0, F), "max": np.array(999, F)} if "min" in given else {}
    attributes = {**trial.attributes}
    if to:
        attributes[to] = next(each for each in (11, "f64") if type(each) is type(attributes[to]))
    return Trial("distinct", given, trial.shows, "Distinct.", attributes, trial.constants)


def marked(name: str) -> tuple[Trial, Callable[[Array], Array]]:
    """A trial, and which of its outputs are wrong: one value, or of sums those that meet a NaN."""
    trial = distinct(name)
    if subject_named(name).enclose is None:
        output = right(subject_named(name).operator, trial)
        value = output[tuple(size // 2 for size in output.shape)]
        return trial, lambda found: found == value
    first = next(iter(trial.inputs.values()))
    flat, kept = first.reshape(-1), first.copy()
    for place in range(first.size // 2, first.size):
        flat[:] = kept.reshape(-1)
        flat[place] = np.nan
        if np.isnan(right(subject_named(name).operator, trial)).any():
            break
    return trial, np.isnan


@pytest.mark.thinned
@for_each(("name", "jumps"), OUTPUTS)
def test_one_wrong_output_element_leaves_what_decides_it(name: str, jumps: bool) -> None:
    subject, (trial, wrong) = subject_named(name), marked(name)
    place = tuple(int(index) for index in np.argwhere(wrong(right(subject.operator, trial)))[-1])

    def departs(each: Trial) -> bool:
        question(subject.operator, each)  # obeys all rules
        try:
            return bool(wrong(right(subject.operator, each)).any())
        except DomainError:  # a run that stops gives no wrong element
            return False

    counted = Counted(departs)
    small = reduced(subject, trial, counted, place=place if jumps else None)
    assert departs(small)
    for key, array in small.inputs.items():
        assert array.size <= 1, key
        assert array.flags.c_contiguous
        assert type(array) is np.ndarray
        least = 4 if name == "conv" else 2 if subject.enclose else 1
        assert array.ndim <= (len(subject.operator.contract.inputs[0].axes) or least)
    if jumps:  # the first try is right
        assert departs(counted.asked[0])
        assert right(subject.operator, counted.asked[0]).size == 1


# What has very many axes takes by far the longest.
@pytest.mark.parametrize("many", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", [subject.identifier for subject in SUBJECTS])
def test_what_always_departs_becomes_the_simplest_trial(name: str, many: bool) -> None:
    subject = subject_named(name)
    for trial in list(subject.trials(subject.types[-1], 0))[::23]:
        if (max(array.ndim for array in trial.inputs.values()) > 16) is not many:
            continue
        small = reduced(subject, trial, lambda _: True, tries=600)
        again = reduced(subject, small, lambda _: True)
        assert again is small  # there is nothing smaller
        for key, array in small.inputs.items():
            assert array.size <= 1
            settled = key in subject.operator.contract.settled
            assert settled or not any(map(bool, np.reshape(array, -1))) or array.dtype.kind == "b"
        assert small.constants <= subject.operator.contract.settled


def test_every_trial_that_is_asked_obeys_all_rules_and_none_is_asked_twice() -> None:
    for subject in SUBJECTS:
        trial = distinct(subject.identifier)
        turns = cycle((False, False, True))
        counted = Counted(lambda _, turns=turns: next(turns))  # type: ignore[misc]  # a default binds it
        reduced(subject, trial, counted)
        for each in counted.asked:
            question(subject.operator, each)
        told = [digest(each) for each in counted.asked]
        assert len(set(told)) == len(told)
        assert digest(trial) not in told


def test_tries_are_bounded_and_a_trial_without_a_smaller_one_is_itself() -> None:
    for tries in (0, 1, 7):
        counted = Counted(lambda _: False)
        assert reduced(subject_named("clip"), million_of(50), counted, tries=tries).name == "million"
        assert len(counted.asked) == tries
    trial = million_of(50)
    assert reduced(subject_named("clip"), trial, lambda _: False) is trial


def million_of(size: int) -> Trial:
    trial = million()
    return Trial("million", {**trial.inputs, "input": trial.inputs["input"][:size]}, (), "Many.")


def test_a_trial_that_is_reduced_again_says_so_once() -> None:
    small = reduced(subject_named("clip"), million_of(50), lambda each: elements(each) > 10)
    smaller = reduced(subject_named("clip"), small, lambda each: elements(each) > 5)
    assert (smaller.name, smaller.text) == ("million-reduced", "Many, reduced.")


# --- attributes and operands -------------------------------------------------------------------------------


def conv_trial(**changes: Any) -> Trial:
    X, W, B = np.ones((2, 2, 6, 7), F), np.ones((3, 2, 2, 2), F), np.ones(3, F)
    attributes = geometry(pads=(4, 3, 2, 1), **changes)
    return Trial("t", {"X": X, "W": W, "B": B}, (), "T.", attributes, frozenset({"W", "B"}))


CONV_NEEDS: Mapping[str, tuple[Callable[[Trial], bool], dict[str, Any]]] = {
    "a stride": (lambda t: t.attributes["strides"][1] > 1, {"strides": (1, 2)}),
    "a dilation": (lambda t: t.attributes["dilations"][1] > 1, {"dilations": (1, 2)}),
    "some pads": (lambda t: t.attributes["pads"][0] > 2, {"pads": (3, 0, 0, 0)}),
    "pads of both ends": (lambda t: min(t.attributes["pads"][:3]) > 0, {"pads": (1, 1, 1, 0)}),
    "a kernel of two columns": (lambda t: t.inputs["W"].shape[3] > 1, {"kernel_shape": (1, 2)}),
}


@pytest.mark.parametrize("name", CONV_NEEDS)
def test_attributes_keep_what_is_needed_and_nothing_else(name: str) -> None:
    departs, changed = CONV_NEEDS[name]
    small = reduced(subject_named("conv"), conv_trial(), departs)
    simplest = geometry(strides=(1, 1), dilations=(1, 1), kernel_shape=(1, 1))
    assert small.attributes == {**simplest, **changed}
    assert "B" not in small.inputs
    assert not small.constants


def test_a_bias_and_constants_stay_where_they_are_needed() -> None:
    small = reduced(subject_named("conv"), conv_trial(), lambda each: "B" in each.inputs)
    assert [array.size for array in small.inputs.values()] == [1, 1, 1]
    small = reduced(subject_named("conv"), conv_trial(), lambda each: "B" in each.constants)
    assert small.constants == {"W", "B"}


def test_channels_of_a_depthwise_convolution_are_cut_together() -> None:
    X, W = np.arange(90, dtype=F).reshape(1, 6, 3, 5), np.ones((6, 1, 1, 2), F)
    attributes = geometry(strides=(1, 1), dilations=(1, 1), group=6, kernel_shape=(1, 2))
    trial = Trial("t", {"X": X, "W": W, "B": np.ones(6, F)}, (), "T.", attributes)
    small = reduced(subject_named("conv"), trial, lambda each: each.attributes["group"] > 1)
    assert small.attributes["group"] == 2
    assert (small.inputs["X"].shape, small.inputs["W"].shape) == ((1, 2, 1, 1), (2, 1, 1, 1))
    place = (0, 4, 1, 2)
    counted = Counted(lambda each: bool((each.inputs["X"] == 67).any()))
    small = reduced(subject_named("conv"), trial, counted, place=place)
    assert counted.asked[0].inputs["X"].tolist() == [[[[67, 68]]]]
    assert small.inputs["X"].size == 1


def test_dimensions_of_xla_convolutions_are_left_out_with_their_numbers() -> None:
    attributes = {
        "window_strides": (2, 3),
        "padding": ((1, 0), (0, 4)),
        "lhs_dilation": (1, 2),
        "rhs_dilation": (2, 1),
    }
    lhs, rhs = np.ones((2, 3, 5, 6), F), np.ones((4, 3, 2, 2), F)
    trial = Trial("t", {"lhs": lhs, "rhs": rhs}, (), "T.", attributes)
    general = subject_named("xla.conv_with_general_padding")
    small = reduced(general, trial, lambda each: (0, 4) in each.attributes["padding"])
    assert small.attributes == {
        "window_strides": (1,),
        "padding": ((0, 4),),
        "lhs_dilation": (1,),
        "rhs_dilation": (1,),
    }
    assert (small.inputs["lhs"].shape, small.inputs["rhs"].shape) == ((1, 1, 1), (1, 1, 1))


def test_same_becomes_valid_where_it_does_not_matter() -> None:
    trial = Trial(
        "t",
        {"lhs": np.ones((1, 2, 6), F), "rhs": np.ones((3, 2, 3), F)},
        (),
        "T.",
        {"window_strides": (2,), "padding": "SAME"},
    )
    conv = subject_named("xla.conv")
    assert reduced(conv, trial, lambda _: True, place=(0, 1, 1)).attributes == {
        "window_strides": (),
        "padding": "VALID",
    }
    needed = reduced(conv, trial, lambda each: each.attributes["padding"] == "SAME", place=(0, 1, 1))
    assert needed.attributes == {"window_strides": (), "padding": "SAME"}


def test_padding_that_takes_elements_away_grows_to_nothing() -> None:
    trial = Trial(
        "t",
        {"lhs": np.ones((1, 1, 9), F), "rhs": np.ones((1, 1, 1), F)},
        (),
        "T.",
        {"window_strides": (1,), "padding": ((-4, 0),), "lhs_dilation": (1,), "rhs_dilation": (1,)},
    )
    general = subject_named("xla.conv_with_general_padding")
    small = reduced(
        general, trial, lambda each: each.attributes["padding"] and each.attributes["padding"][0][0] < -1
    )
    assert small.attributes["padding"] == ((-2, 0),)


def test_a_position_that_meets_padding_alone_keeps_an_element_beside_it() -> None:
    counted = Counted(lambda _: True)
    trial = conv_trial(strides=(1, 1), dilations=(1, 1))
    small = reduced(subject_named("conv"), trial, counted, place=(1, 2, 0, 0))
    first = counted.asked[0]
    assert first.inputs["X"].shape == (1, 2, 1, 1)
    assert first.attributes["pads"] == (2, 2, 0, 0)
    assert elements(small) == 2


def test_an_operand_that_decides_nothing_is_left_out() -> None:
    shapes = [(2, 3), (2, 1), (2, 4)]
    arrays = {f"operands{m}": np.full(shape, m + 2, F) for m, shape in enumerate(shapes)}
    held = frozenset({"operands1", "operands2"})
    trial = Trial("t", arrays, (), "T.", {"dimension": 1}, held)
    concatenate = subject_named("xla.concatenate")
    small = reduced(concatenate, trial, lambda each: 4 in right(concatenate.operator, each))
    assert {name: array.tolist() for name, array in small.inputs.items()} == {"operands0": [4]}
    assert small.attributes == {"dimension": 0}
    small = reduced(concatenate, trial, lambda each: "operands1" in each.constants)
    assert list(small.inputs) == ["operands0", "operands1"]


def test_the_operand_that_decides_is_found_though_one_element_of_it_is_not_enough() -> None:
    shapes = [(2, 3), (2, 0), (2, 4)]
    arrays = {f"operands{m}": np.full(shape, m + 2, F) for m, shape in enumerate(shapes)}
    trial = Trial("t", arrays, (), "T.", {"dimension": 1})
    concatenate = subject_named("xla.concatenate")
    counted = Counted(lambda each: int((right(concatenate.operator, each) == 4).sum()) > 1)
    small = reduced(concatenate, trial, counted, place=(1, 3))
    assert [len(each.inputs) for each in counted.asked[:2]] == [1, 1]
    assert small.inputs["operands0"].reshape(-1).tolist() == [4, 4]


def test_dimensions_that_are_not_collapsed_are_left_out() -> None:
    operand = np.arange(24, dtype=F).reshape(1, 2, 3, 4)
    trial = Trial("t", {"operand": operand}, (), "T.", {"dimensions": (1, 2)})
    collapse = subject_named("xla.collapse")
    small = reduced(collapse, trial, lambda each: len(each.attributes["dimensions"]) == 2)
    assert small.inputs["operand"].shape == (1, 1)
    assert small.attributes["dimensions"] == (0, 1)


# --- elements ----------------------------------------------------------------------------------------------

SMALL: Mapping[str, tuple[Any, Callable[[Any], bool], Any]] = {
    "a float above 1000": (F(123456.789), lambda x: x > 1000, F(1024)),
    "a negative float": (F(-3.7e-12), lambda x: x < 0, F(-1)),
    "a fraction": (F(0.7172), lambda x: 0 < x < 1, F(0.5)),
    "a NaN": (np.array(0xFFC00123, np.uint32).view(F), np.isnan, np.array(0x7FC00000, np.uint32).view(F)),
    "an infinity": (F(-np.inf), np.isinf, F(np.inf)),
    "an integer above 100": (np.int32(123456789), lambda x: x > 100, np.int32(110)),
    "an integer below -5": (np.int8(-128), lambda x: x < -5, np.int8(-8)),
    "a byte above 200": (np.uint8(255), lambda x: x > 200, np.uint8(250)),
    "a text with a NUL": ("ab\0cd", lambda x: "\0" in x, "\0"),
    "a text of three": ("xyzxyz", lambda x: len(x) >= 3, "aaa"),
    "a truth": (np.array(255, np.uint8).view(np.bool_), bool, np.True_),
    "an imaginary infinity": (
        np.complex64(complex(7, -np.inf)),
        lambda x: np.isinf(x.imag),
        complex(0, np.inf),
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_an_element_becomes_the_simplest_of_its_kind(name: str) -> None:
    value, departs, expected = SMALL[name]
    kind = object if isinstance(value, str) else np.asarray(value).dtype
    given = np.empty((2, 2), kind)
    given[...] = value
    trial = Trial("t", {"input": given, "shape": np.array([3, 2, 2])}, (), "T.")
    expand = subject_named("expand")
    small = reduced(expand, trial, lambda each: all(map(departs, each.inputs["input"].reshape(-1))))
    assert sonnx.same_bits(small.inputs["input"], np.array(expected, kind))
    assert small.inputs["shape"].size == 0


def test_a_byte_of_a_bool_that_must_be_odd_stays() -> None:
    condition = np.array([0, 255, 1], np.uint8).view(np.bool_)
    numbers = np.arange(3, dtype=F)
    trial = Trial("t", {"condition": condition, "X": numbers, "Y": numbers}, (), "T.")
    where = subject_named("where")
    small = reduced(where, trial, lambda each: bool((each.inputs["condition"].view(np.uint8) > 1).any()))
    assert small.inputs["condition"].view(np.uint8).reshape(-1).tolist() == [2]
