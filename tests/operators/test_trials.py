"""Trials: legal questions, the same every time, about every special value, every rule and every clause."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from inspect import isgenerator
from itertools import islice
from typing import Any

import numpy as np
import pytest
from tests.operators.support import bits
from tests.operators.test_meta import RULINGS

from sonnx.evaluate.apply import apply
from sonnx.model.dtype import DType
from sonnx.model.operator import Operator
from sonnx.numeric.arrays import Array, held_type
from sonnx.operators import operator, rules
from sonnx.operators.shared.special_values import special_vector
from sonnx.operators.shared.trials import Trial

SUMS = ("conv", "xla.conv", "xla.conv_with_general_padding")
NAMES = (
    *("clip", "where", "expand", "xla.clamp", "xla.concatenate", "xla.convert_element_type"),
    *("xla.broadcast", "xla.collapse", *SUMS),
)
# Operands of a type of their own, which is not the one on trial.
OTHERS = ("condition", "shape")


def on_trial(name: str) -> Operator:
    return operator(name)


def module(name: str) -> Any:
    return import_module(f"{on_trial(name).package}.trials")


def types(name: str) -> list[DType]:
    """What the contract lists for the operand on trial; reals are held by no runtime."""
    operand = next(each for each in on_trial(name).contract.inputs if each.name not in OTHERS)
    return [dtype for dtype in operand.types if dtype is not DType.REAL]


CASES = [(name, dtype) for name in NAMES for dtype in types(name)]
each_case = pytest.mark.parametrize(("name", "dtype"), CASES, ids=[f"{n}-{d}" for n, d in CASES])
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


def results(name: str, trial: Trial, mode: str = "separate") -> Array:
    modes = {"accumulate": mode} if name in SUMS else {}
    (output,) = apply(on_trial(name), trial.inputs, {**trial.attributes, **modes}).values()
    return output


@cache
def decided(name: str, dtype: DType) -> Mapping[tuple[str, str], int]:
    """How many elements each clause is the first for; each of a trial's results must have one."""
    first: Counter[tuple[str, str]] = Counter()
    for trial in once(name, dtype):
        left = np.ones(results(name, trial).shape, bool)
        for clause in module(name).clauses(trial.inputs, trial.attributes):
            assert clause.mask.dtype == bool
            assert clause.mask.shape == left.shape
            first[clause.identifier, clause.text] += int(np.count_nonzero(clause.mask & left))
            left &= ~clause.mask
        assert not left.any(), trial.name
    return first


# --- every trial -------------------------------------------------------------------------------------------


@each_case
def test_every_trial_obeys_every_rule_and_has_a_result_that_its_clauses_cover(
    name: str, dtype: DType
) -> None:
    assert decided(name, dtype)


@each_case
def test_trials_are_told_apart_by_slugs_and_say_what_they_are_about(name: str, dtype: DType) -> None:
    known = {rule.identifier for rule in rules(name)} | set(RULINGS)
    names = [trial.name for trial in tried(name, dtype)]
    assert [each for each, times in Counter(names).items() if times > 1] == []
    for trial in tried(name, dtype):
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", trial.name)
        assert re.fullmatch(r"(?s)[A-Z].*\.", trial.text), trial.text
        assert trial.shows
        assert set(trial.shows) <= known


@each_case
def test_trials_hold_plain_arrays_of_the_type_on_trial(name: str, dtype: DType) -> None:
    for trial in tried(name, dtype):
        for operand, array in trial.inputs.items():
            assert type(array) is np.ndarray
            assert array.flags.c_contiguous
            if operand not in OTHERS:
                assert held_type(array) is dtype
        assert trial.constants < set(trial.inputs)
        assert ("shape" in trial.constants) == (name == "expand")
        modes = {attribute.name for attribute in on_trial(name).contract.attributes if attribute.mode}
        assert "accumulate" not in modes & set(trial.attributes)


@each_case
def test_trials_are_small_but_for_one_of_floats(name: str, dtype: DType) -> None:
    sizes = {trial.name: max(array.size for array in trial.inputs.values()) for trial in once(name, dtype)}
    large = [each for each, size in sizes.items() if size > 600]
    assert len(large) == (1 if dtype is DType.FLOAT else 0)
    if name in ("clip", "where", "xla.clamp"):
        assert 100 <= len(tried(name, dtype)) <= 400
    elif name in SUMS:
        assert 150 <= len(tried(name, dtype)) <= 360
    else:
        assert 25 <= len(tried(name, dtype)) <= 150


def fingerprint(trial: Trial) -> Any:
    arrays = {name: bits(array) for name, array in trial.inputs.items()}
    return (trial.name, arrays, trial.shows, trial.text, dict(trial.attributes), trial.constants)


@each_case
def test_trials_come_out_the_same_every_time(name: str, dtype: DType) -> None:
    again = [fingerprint(trial) for trial in module(name).trials(dtype, 0)]
    assert again == [fingerprint(trial) for trial in tried(name, dtype)]


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
    return [operand.name for operand in on_trial(name).contract.inputs if operand.name not in OTHERS]


MOVERS = ("where", "expand", "xla.concatenate", "xla.broadcast", "xla.collapse")


@each_case
def test_every_special_value_reaches_every_operand(name: str, dtype: DType) -> None:
    wanted = elements(special_vector(dtype, signalling=name in MOVERS))
    for operand in operands_of(name):
        found: set[Any] = set()
        for trial in once(name, dtype):
            array = trial.inputs.get(operand)
            if array is not None and array.size <= 400:
                found |= elements(array)
        assert wanted <= found, operand


def test_the_condition_is_of_every_byte_that_is_easily_misread() -> None:
    (trial,) = [each for each in tried("where", DType.INT8) if each.name == "condition-of-many-bytes"]
    held = trial.inputs["condition"].view(np.uint8)
    assert {0, 1, 2, 128, 255} <= set(held.tolist())
    chosen = results("where", trial)
    assert bits(chosen) == bits(
        np.array([x if c else y for c, x, y in zip(held, trial.inputs["X"], trial.inputs["Y"], strict=True)])
    )


def test_clip_is_tried_with_a_signalling_nan_and_keeps_it() -> None:
    found = [trial for trial in tried("clip", DType.FLOAT) if trial.name.startswith("signalling-from-")]
    assert len(found) == 3
    for trial in found:
        raw = trial.inputs["input"].view(np.uint32)
        assert raw[1] == 0x7F800015
        assert raw[2] == 0xFF800015
        assert (results("clip", trial).view(np.uint32)[1:3] == raw[1:3]).all()


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


@each_name
def test_every_rule_is_shown_by_a_trial_but_those_without_an_edge(name: str) -> None:
    shown = {
        identifier for dtype in types(name) for trial in tried(name, dtype) for identifier in trial.shows
    }
    owned = {rule.identifier for rule in rules(name)}
    assert owned - shown == owned & set(NOT_SHOWN)


# --- clauses -----------------------------------------------------------------------------------------------


@each_name
def test_every_clause_is_the_first_for_some_element(name: str) -> None:
    first: Counter[tuple[str, str]] = Counter()
    for dtype in types(name):
        first.update(decided(name, dtype))
    assert [clause for clause, times in first.items() if not times] == []
    for identifier, text in first:
        assert identifier in RULINGS
        assert re.fullmatch(r"[-A-Za-z].*\.", text)


# --- large trials ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in NAMES if name not in SUMS])
def test_a_million_elements_are_told_apart(name: str) -> None:
    (trial,) = [each for each in tried(name, DType.FLOAT) if each.name.startswith("million")]
    output = results(name, trial).reshape(-1)
    assert output.size > 1_000_000
    # Every element that is not a bound or a copy is one of its kind.
    times = np.unique(output.view(np.uint32), return_counts=True)[1]
    assert np.median(times) == (8 if name in ("expand", "xla.broadcast") else 1)


@pytest.mark.parametrize("name", SUMS)
def test_a_hundred_thousand_sums_are_told_apart(name: str) -> None:
    found = [each for each in tried(name, DType.FLOAT) if each.name.startswith("hundred-thousand")]
    assert [bool(each.constants) for each in found] == [False, True]
    output = results(name, found[0])
    assert output.size > 100_000
    assert len(np.unique(output)) > 0.95 * output.size
