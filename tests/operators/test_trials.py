"""Trials: legal questions, the same every time, about every special value, every rule and every clause."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from inspect import isgenerator
from itertools import islice
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests import budgets
from tests.budgets import thinned
from tests.loops import for_each
from tests.operators.support import bits
from tests.operators.test_meta import RULINGS as OLDER

from sonnx.check.calls import check_call
from sonnx.conformance.subjects import SUBJECTS, subject_named
from sonnx.evaluate.apply import apply
from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array, held_type
from sonnx.operators import operator
from sonnx.operators.rulebook import rules
from sonnx.operators.rules.axes import with_value
from sonnx.vocabulary.integers import Axes, Sizes
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.special_values import special_vector
from sonnx.vocabulary.trial import Trial

pytestmark = pytest.mark.measured

SUMS = ("conv", "xla.conv", "xla.conv_with_general_padding")
CONVERT = "xla.convert_element_type"
MOVES = tuple(each.identifier for each in SUBJECTS if each.operator.contract.good is not None)
NAMES = ("clip", "where", "xla.clamp", CONVERT, *MOVES, *SUMS)
# Those of newer operators stand on their pages.
RULINGS = {*OLDER, *(each.operator.contract.ruling for each in SUBJECTS)}


def on_trial(name: str) -> Operator:
    return operator(name)


def ranks_of(name: str) -> set[int]:
    """The ranks up to 3 that a first operand may have; some axis must be there where one is always named."""
    contract = on_trial(name).contract
    if contract.inputs[0].axes:
        return {len(contract.inputs[0].axes)}
    axes = [each.holds for each in contract.holders if isinstance(each.holds, Axes)]
    needs_axis = any(each.order == "one" or (each.least and not each.added) for each in axes)
    return {1, 2, 3} if needs_axis else {0, 1, 2, 3}


def may_be_empty(name: str) -> bool:
    """Whether a first operand may have no elements: a rule may refuse the size 0 that its result needs."""
    contract = on_trial(name).contract
    (first, *_) = contract.inputs
    for each in contract.holders:
        if isinstance(each.holds, Sizes) and each.holds.of == first.name and contract.good is not None:
            kind = replace(contract.good.inputs[first.name], shape=(0,))
            empty = replace(contract.good, inputs={**contract.good.inputs, first.name: kind})
            return not check_call(on_trial(name), with_value(empty, each, (0,)))
    return True


def others(name: str) -> set[str]:
    """Operands of a type of their own, not the one on trial: conditions, and what decides a shape."""
    operands = on_trial(name).contract.inputs
    types = {operand.types for operand in operands if not operand.constant}
    return {
        each.name for each in operands if each.constant or (each.types == (DType.BOOL,) and len(types) > 1)
    }


def module(name: str) -> Any:
    """Its trials, clauses and drawn ones: those that its folder has, or those that follow."""
    subject = subject_named(name)
    return SimpleNamespace(trials=subject.systematic, clauses=subject.clauses, drawn=subject.drawn)


def types(name: str) -> list[DType]:
    """What the contract lists for the operand on trial; reals are held by no runtime."""
    operand = next(each for each in on_trial(name).contract.inputs if each.name not in others(name))
    return [dtype for dtype in operand.types if dtype is not DType.REAL]


# Types of every kind; the deep tier has all.
KINDS = {DType.FLOAT16, DType.INT8, DType.UINT64, DType.BOOL, DType.STRING, DType.COMPLEX64}
QUICK = {*KINDS, DType.FLOAT}
CASES = [(name, dtype) for name in NAMES for dtype in types(name) if budgets.deep or dtype in QUICK]
each_case = for_each(("name", "dtype"), CASES, ids=[f"{n}-{d}" for n, d in CASES])
each_name = pytest.mark.parametrize("name", NAMES)


@cache
def tried(name: str, dtype: DType) -> tuple[Trial, ...]:
    return tuple(module(name).trials(dtype, 0))


def once(name: str, dtype: DType) -> Iterator[Trial]:
    """Trials without those that only hold operands of another one as constants."""
    seen = set()
    for trial in tried(name, dtype):
        operands = tuple(map(id, trial.inputs.values()))
        if operands not in seen:
            yield trial
        seen.add(operands)


def outputs(name: str, trial: Trial, mode: str = "separate") -> Mapping[str, Array]:
    modes = {"accumulate": mode} if name in SUMS else {}
    return apply(on_trial(name), trial.inputs, {**trial.attributes, **modes})


def results(name: str, trial: Trial, mode: str = "separate") -> Array:
    """The output; of several all elements, one behind the other."""
    found = list(outputs(name, trial, mode).values())
    return found[0] if len(found) == 1 else np.concatenate([each.reshape(-1) for each in found])


@cache
def decided(name: str, dtype: DType) -> Mapping[tuple[str, str], int]:
    """How many elements each clause is the first for; each of a trial's results must have one."""
    first: Counter[tuple[str, str]] = Counter()
    for trial in once(name, dtype):
        for output, array in outputs(name, trial).items():
            left = np.ones(array.shape, bool)
            for clause in module(name).clauses(trial.inputs, trial.attributes, output):
                assert clause.mask.dtype == bool
                assert clause.mask.shape == left.shape
                first[clause.identifier, clause.text] += int(np.count_nonzero(clause.mask & left))
                left &= ~clause.mask
            assert not left.any(), (trial.name, output)
    return first


# --- every trial -------------------------------------------------------------------------------------------


@pytest.mark.thinned
@pytest.mark.no_cover
@each_name
def test_every_trial_obeys_every_rule_and_every_clause_is_the_first_for_some_element(name: str) -> None:
    first: Counter[tuple[str, str]] = Counter()
    some = thinned(types(name), 2)
    for dtype in some:
        found = decided(name, dtype)
        assert found, dtype
        first.update(found)
    for identifier, text in first:
        assert identifier in RULINGS
        assert re.fullmatch(r"[-A-Za-z].*\.", text)
    # A clause may need a type of its own.
    unused = [clause for clause, times in first.items() if not times]
    assert unused == [] or len(some) < len(types(name))


@pytest.mark.thinned
@each_case
def test_trials_are_told_apart_by_slugs_and_say_what_they_are_about(name: str, dtype: DType) -> None:
    known = {rule.identifier for rule in rules(name)} | RULINGS
    names = [trial.name for trial in tried(name, dtype)]
    assert [each for each, times in Counter(names).items() if times > 1] == []
    for trial in tried(name, dtype):
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", trial.name)
        assert re.fullmatch(r"(?s)[A-Z].*\.", trial.text), trial.text
        assert trial.shows
        assert set(trial.shows) <= known


@pytest.mark.thinned
@each_case
def test_trials_hold_plain_arrays_of_the_type_on_trial(name: str, dtype: DType) -> None:
    for trial in tried(name, dtype):
        for operand, array in trial.inputs.items():
            assert type(array) is np.ndarray
            assert array.flags.c_contiguous
            if operand not in others(name):
                assert held_type(array) is dtype
        assert trial.constants < set(trial.inputs)
        settled = on_trial(name).contract.settled
        assert settled <= trial.constants
        modes = {attribute.name for attribute in on_trial(name).contract.attributes if attribute.mode}
        assert "accumulate" not in modes & set(trial.attributes)


@pytest.mark.thinned
@each_case
def test_trials_are_small_but_for_one_of_floats(name: str, dtype: DType) -> None:
    sizes = {trial.name: max(array.size for array in trial.inputs.values()) for trial in once(name, dtype)}
    # Kernels of thirty-two channels are the largest of the others.
    large = [each for each, size in sizes.items() if size > 32 * 32 * 9]
    # All elements of sixteen bits are converted, to three other types.
    every = 3 if name == CONVERT and dtype in (DType.FLOAT16, DType.BFLOAT16) else 0
    assert len(large) == (1 if dtype is DType.FLOAT else every)
    if name in ("clip", "where", "xla.clamp"):
        assert 75 <= len(tried(name, dtype)) <= 480
    elif name in SUMS:
        assert 150 <= len(tried(name, dtype)) <= 450
    else:
        assert 25 <= len(tried(name, dtype)) <= 180


def fingerprint(trial: Trial) -> Any:
    arrays = {name: bits(array) for name, array in trial.inputs.items()}
    return (trial.name, arrays, trial.shows, trial.text, dict(trial.attributes), trial.constants)


@pytest.mark.thinned
@pytest.mark.no_cover
@for_each("name", NAMES)
def test_trials_come_out_the_same_every_time(name: str) -> None:
    for dtype in thinned(types(name), 2):
        again = [fingerprint(trial) for trial in module(name).trials(dtype, 0)]
        assert again == [fingerprint(trial) for trial in tried(name, dtype)], dtype


@each_name
def test_another_seed_changes_the_random_trials_and_no_others(name: str) -> None:
    dtype = types(name)[-1]
    before, after = tried(name, dtype), list(module(name).trials(dtype, 1))
    changed = {
        one.name for one, other in zip(before, after, strict=True) if fingerprint(one) != fingerprint(other)
    }
    random = {trial.name for trial in before if trial.name.startswith("random-")}
    assert len(random) >= 10
    assert changed <= random
    assert len(changed) >= len(random) // 2


@each_name
def test_trials_are_made_one_at_a_time(name: str) -> None:
    found = module(name).trials(types(name)[0], 0)
    assert isgenerator(found)
    assert len(list(islice(found, 3))) == 3


# --- special values ----------------------------------------------------------------------------------------


def elements(array: Array) -> set[Any]:
    """What an array holds, by bits; strings by their characters."""
    if array.dtype == object:
        return set(array.reshape(-1).tolist())
    raw = np.ascontiguousarray(array).reshape(-1, 1).view(np.uint8)
    return {bytes(line) for line in raw}


def operands_of(name: str) -> list[str]:
    if name == "xla.concatenate":
        return ["operands0", "operands1", "operands2"]
    return [operand.name for operand in on_trial(name).contract.inputs if operand.name not in others(name)]


MOVERS = ("where", "expand", "xla.concatenate", "xla.broadcast", "xla.collapse")


@pytest.mark.thinned
@each_case
def test_every_special_value_reaches_every_operand(name: str, dtype: DType) -> None:
    wanted = elements(special_vector(dtype, signalling=name != "clip"))
    for operand in operands_of(name):
        found: set[Any] = set()
        for trial in once(name, dtype):
            array = trial.inputs.get(operand)
            if array is not None and array.size <= 1100:
                found |= elements(array)
        assert wanted <= found, operand


def test_the_condition_is_of_every_byte_that_is_easily_misread() -> None:
    (trial,) = [each for each in tried("where", DType.INT8) if each.name == "special-values"]
    held = trial.inputs["condition"].view(np.uint8)
    assert {0, 1, 2, 128, 255} <= set(held.tolist())
    chosen = results("where", trial)
    assert bits(chosen) == bits(
        np.array([x if c else y for c, x, y in zip(held, trial.inputs["X"], trial.inputs["Y"], strict=True)])
    )


# All bytes, which fill vectors, and a rest of some.
BYTES = [*range(256), 0, 1, 2]


@pytest.mark.parametrize("held", [frozenset(), frozenset({"condition"})])
def test_every_byte_of_a_condition_but_0_is_true_as_an_input_and_as_a_constant(held: frozenset[str]) -> None:
    for dtype in types("where"):
        found = [t for t in tried("where", dtype) if t.constants == held]
        (trial,) = [t for t in found if t.name.startswith("condition-of-every-byte")]
        X, Y = trial.inputs["X"], trial.inputs["Y"]
        assert trial.inputs["condition"].view(np.uint8).tolist() == BYTES
        # Each byte is seen: what is not chosen is something else.
        assert all(
            elements(x) != elements(y) for x, y in zip(X.reshape(-1, 1), Y.reshape(-1, 1), strict=True)
        )
        assert bits(results("where", trial)) == bits(np.concatenate([Y[:1], X[1:256], Y[256:257], X[257:]]))


def test_one_condition_alone_has_bytes_other_than_1() -> None:
    found = [t for t in tried("where", DType.INT8) if t.inputs["condition"].shape == ()]
    held = {(int(t.inputs["condition"].view(np.uint8)), "condition" in t.constants) for t in found}
    assert {(2, False), (128, True)} <= held


def test_every_byte_of_bools_that_are_compared_but_0_is_true() -> None:
    for name in ("A", "B"):
        (trial,) = [t for t in tried("equal", DType.BOOL) if t.name.startswith(f"{name}-of-every-byte-held")]
        assert trial.inputs[name].view(np.uint8).tolist() == BYTES
        a, b = (trial.inputs[each].view(np.uint8).tolist() for each in ("A", "B"))
        assert len(set(b if name == "A" else a)) > 1
        found = results("equal", trial).view(np.uint8).tolist()
        assert found == [int((x > 0) == (y > 0)) for x, y in zip(a, b, strict=True)]
    assert not [t for t in tried("where", DType.BOOL) if t.name.startswith("X-of-every-byte")]


def test_long_texts_are_chosen_from_either_operand() -> None:
    (trial,) = [each for each in module("where").trials(DType.STRING, 0) if each.name == "long-texts"]
    chosen = results("where", trial).tolist()
    held = zip(trial.inputs["condition"], trial.inputs["X"], trial.inputs["Y"], strict=True)
    assert chosen == [x if c else y for c, x, y in held]
    assert min(map(len, chosen)) == 5000


def test_clip_is_tried_with_a_signalling_nan_and_keeps_it() -> None:
    found = [trial for trial in tried("clip", DType.FLOAT) if trial.name.startswith("from-")]
    assert len(found) == 2 * 81
    for trial in found:
        raw = trial.inputs["input"].view(np.uint32)
        signalling = (raw == 0x7F800015) | (raw == 0xFF800015)
        assert signalling.sum() == 2
        assert (results("clip", trial).view(np.uint32)[signalling] == raw[signalling]).all()


def raw_nans(dtype: DType) -> set[int]:
    """NaNs of one bit, which is their payload or says that they are quiet."""
    infinity, places = {DType.FLOAT: (0x7F800000, 23), DType.FLOAT16: (0x7C00, 10)}[dtype]
    return {infinity + 2**place for place in range(places)}


@pytest.mark.parametrize("dtype", [DType.FLOAT, DType.FLOAT16])
def test_nans_of_one_bit_are_converted_to_every_type_and_stay_nans(dtype: DType) -> None:
    asked = {t.attributes["new_element_type"]: t for t in tried(CONVERT, dtype) if "special" in t.name}
    assert {"f16", "bf16", "f32", "f64", "c64", "c128", "pred", "s8"} <= set(asked)
    for target, trial in asked.items():
        operand = trial.inputs["operand"]
        assert raw_nans(dtype) <= set(operand.view(f"u{operand.itemsize}").tolist())
        with np.errstate(invalid="ignore"):
            nan, output = np.isnan(operand), results(CONVERT, trial)
            real = output.real.astype(np.float64)
        if "f" in target or "c" in target:
            assert np.array_equal(np.isnan(real), nan)
        else:
            assert set(real[nan].tolist()) == {float(target == "pred")}


def test_a_signalling_nan_gives_a_nan_as_an_element_and_as_either_bound() -> None:
    found = {trial.name: trial for trial in tried("xla.clamp", DType.FLOAT)}
    for bound in ("min", "max"):
        trial = found[f"signalling-{bound}"]
        assert trial.inputs[bound].view(np.uint32) == 0x7F800015
        assert np.isnan(results("xla.clamp", trial)).all()
    many = found["many-from-zero-to-one"]
    signalling = many.inputs["operand"].view(np.uint32) == 0x7F800015
    assert signalling.any()
    assert np.isnan(results("xla.clamp", many)[signalling]).all()


def test_every_special_bias_meets_every_special_sum() -> None:
    for dtype in types("conv"):
        found = [t for t in tried("conv", dtype) if t.name.startswith("special-sums-and-biases")]
        assert [sorted(trial.constants) for trial in found] == [[], ["B", "W"]]
        with np.errstate(invalid="ignore"):
            inputs = {name: array.astype(np.float64).reshape(-1) for name, array in found[0].inputs.items()}
        assert set(inputs["W"].tolist()) == {1.0}
        assert bits(found[0].inputs["B"]) == bits(special_vector(dtype, signalling=True))
        assert bits(found[0].inputs["X"].reshape(-1)) == bits(found[0].inputs["B"])
        output = results("conv", found[0])[:, :, 0, 0].astype(np.float64)
        for place, found_here in np.ndenumerate(output):
            added, bias = inputs["X"][place[0]], inputs["B"][place[1]]
            unlike = np.isinf(added) and np.isinf(bias) and added != bias
            assert np.isnan(found_here) == (np.isnan(added) or np.isnan(bias) or unlike)
            if np.isinf(bias) and added == bias:
                assert found_here == bias


# --- lengths -----------------------------------------------------------------------------------------------

# Whole vectors; several with one element too few; rests, also behind many.
WANTED = {8, 32, 64, 128, 256, 95, 127, 137, 255, 257, 300}
OF_KINDS = [(name, dtype) for name, dtype in CASES if dtype in KINDS and name not in SUMS]


@for_each(("name", "dtype"), OF_KINDS, ids=[f"{n}-{d}" for n, d in OF_KINDS])
def test_outputs_of_every_length_end_with_what_is_easily_seen(name: str, dtype: DType) -> None:
    ends: dict[int, Array] = {}
    for trial in tried(name, dtype):
        if re.match("length|shape-length", trial.name):
            output = results(name, trial).reshape(-1)
            ends[output.size] = output[-1:]
    assert set(ends) >= WANTED
    for length in WANTED - {127}:
        last = ends[length].tolist()[0]
        # No zero, nothing empty, no NaN; a choice of truths may be false.
        assert last or (name, dtype) == ("where", DType.BOOL)
        assert last == last  # noqa: PLR0124  only a NaN differs from itself


def test_elements_are_tried_in_every_number_of_axes_up_to_eight() -> None:
    for name in ("clip", "where", "xla.clamp", CONVERT):
        ranks = {next(iter(trial.inputs.values())).ndim for trial in tried(name, DType.INT8)}
        assert ranks >= set(range(9))


def test_convolutions_have_more_channels_than_vectors_and_lines_with_one_position_too_few() -> None:
    found = [t for t in tried("conv", DType.FLOAT) if not t.constants and t.inputs["X"].size < 2000]
    widths = {results("conv", trial).shape[-1] for trial in found}
    assert {15, 16, 31, 33} <= widths
    assert {12, 32, 33, 64, 65} <= {t.inputs["W"].shape[1] for t in found}
    assert {32, 64, 65} <= {len(t.inputs["W"]) for t in found if t.attributes["group"] == 1}
    assert {32, 65} <= {t.attributes["group"] for t in found}
    for name in SUMS[1:]:
        small = [t for t in tried(name, DType.FLOAT) if t.inputs["lhs"].size < 2000]
        assert 33 in {t.inputs["lhs"].shape[1] for t in small}
        assert max(len(t.inputs["rhs"]) for t in small) == 65


# --- constants ---------------------------------------------------------------------------------------------


def test_the_kernel_alone_the_bias_alone_and_the_first_operand_alone_are_constants() -> None:
    conv = {trial.constants for trial in tried("conv", DType.FLOAT) if "B" in trial.inputs}
    assert conv == {frozenset(held) for held in ((), ("W",), ("B",), ("W", "B"))}
    assert frozenset({"operands0"}) in {t.constants for t in tried("xla.concatenate", DType.INT8)}


# --- rules -------------------------------------------------------------------------------------------------

DENOTED = "trials denote no axes"
HUGE = "its edge is a tensor of 2^31 elements"
MODE = "a mode of evaluation, which no trial has"
NOT_SHOWN: Mapping[str, str] = {
    "conv.X.C4": DENOTED,
    "conv.W.C3": DENOTED,
    "conv.Y.D2": HUGE,
    "conv.accumulate.D1": MODE,
    "xla.concatenate.operands.D7": HUGE,
    "xla.conv.accumulate.D1": MODE,
    "xla.conv.output.D3": HUGE,
    "xla.conv_with_general_padding.accumulate.D1": MODE,
    "xla.conv_with_general_padding.output.D3": HUGE,
    "xla.convert_element_type.domain.D1": MODE,
}


@pytest.mark.thinned
@each_name
def test_every_rule_is_shown_by_a_trial_but_those_without_an_edge(name: str) -> None:
    asked = [dtype for dtype in types(name) if budgets.deep or dtype in QUICK]
    shown = {identifier for dtype in asked for trial in tried(name, dtype) for identifier in trial.shows}
    owned = {rule.identifier for rule in rules(name)}
    assert owned - shown == owned & set(NOT_SHOWN)


# --- large trials ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in NAMES if name not in SUMS])
def test_a_million_elements_are_told_apart(name: str) -> None:
    (trial,) = [each for each in tried(name, DType.FLOAT) if each.name.startswith("million")]
    output = results(name, trial).reshape(-1)
    assert output.size > 1_000_000
    # Every element that is not a bound or a copy is one of its kind.
    times = np.unique(output.view(np.uint32), return_counts=True)[1]
    assert np.median(times) == (3 if name in ("expand", "xla.broadcast") else 1)


@pytest.mark.parametrize("name", SUMS)
def test_a_hundred_thousand_sums_are_told_apart(name: str) -> None:
    found = [each for each in tried(name, DType.FLOAT) if each.name.startswith("hundred-thousand")]
    assert [bool(each.constants) for each in found] == [False, True]
    output = results(name, found[0])
    assert output.size > 100_000
    assert len(np.unique(output)) > 0.95 * output.size
