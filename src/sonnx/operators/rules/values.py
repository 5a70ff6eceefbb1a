"""Predicates on the values of attributes, and on operands that ONNX lets a model leave out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from sonnx.operators.rules.lists import elements, integers, is_integer
from sonnx.operators.rules.wording import count, written, written_elements
from sonnx.vocabulary.call import ABSENT, Call
from sonnx.vocabulary.rule import Broken, Predicate, Shown

# Why a list has a certain length, as messages show it; None where nothing can be said of its length.
Because = Callable[[Call, int], Sequence[Shown] | None]
# Integers from a least one up, in words.
FROM = {0: "non-negative integer", 1: "positive integer"}


def given(name: str, advice: str) -> Predicate:
    """The operand is there."""

    def predicate(call: Call) -> Broken | None:
        return None if name in call.inputs else Broken((Shown(name, "absent"),), advice)

    return predicate


def is_float(name: str) -> Predicate:
    """The attribute is a finite number that a float holds, as a file of ONNX does."""

    def predicate(call: Call) -> Broken | None:
        value = call.attributes.get(name, ABSENT)
        if value is ABSENT or held_by_float(value):
            return None
        nearest = as_float(value)
        known = isinstance(nearest, float) and isfinite(nearest)
        note = "an integer, which files keep apart from floats" if known and is_integer(value) else ""
        advice = f"the float nearest to it, {nearest!r}" if known else "a finite number"
        return Broken((Shown(name, written(value), note),), f"write {advice}")

    return predicate


def integer(name: str) -> Predicate:
    """The attribute is an integer of 64 bits."""

    def predicate(call: Call) -> Broken | None:
        value = call.attributes.get(name, ABSENT)
        if value is ABSENT or is_integer(value):
            return None
        return Broken((Shown(name, written(value)),), "write an integer of 64 bits")

    return predicate


def of_length(name: str, length: int, form: str, because: Because) -> Predicate:
    """The attribute is a list of so many values; `form` is how somebody would write it."""

    def predicate(call: Call) -> Broken | None:
        value, reasons = call.attributes.get(name, ABSENT), because(call, length)
        listed = elements(value)
        if reasons is None or value is ABSENT or (listed is not None and len(value) == length):
            return None
        number = "not a list" if listed is None else count(len(value), "value")
        return Broken((Shown(name, written(value), number), *reasons), f"write {name} = {form}")

    return predicate


def from_least(name: str, least: int) -> Predicate:
    """The values of a list are integers from a least one up; another rule says that it is a list."""

    def predicate(call: Call) -> Broken | None:
        listed = elements(call.attributes.get(name)) or []
        bad = [value for value in listed if not is_integer(value) or value < least]
        if not bad:
            return None
        note = f"not a {FROM[least]} of 64 bits: {written_elements(bad)}"
        return Broken((Shown(name, written(listed), note),), f"write {FROM[least]}s")

    return predicate


@dataclass(frozen=True)
class Entries:
    """What a list has for each axis: how it is read, what one is called, and what is to be written."""

    read: Callable[[object], Sequence[Any] | None]
    called: str
    noun: str
    kind: str
    least: int | None = None


POSITIVE = Entries(integers, "value", "integer", "from 1 up", 1)


def one_per_axis(name: str, entries: Entries, number_of: Callable[[Call], int | None], of: str) -> Predicate:
    """A list has an entry for each spatial dimension of the operand `of`, where their number is known."""

    def predicate(call: Call) -> Broken | None:
        number, value = number_of(call), call.attributes.get(name, ABSENT)
        found = entries.read(value)
        low = found is not None and entries.least is not None and min(found, default=1) < entries.least
        if number is None or value is ABSENT or (found is not None and len(found) == number and not low):
            return None
        shown = Shown(name, written(value), "" if found is None else count(len(found), entries.called))
        beside = Shown(of, str(call.inputs[of]), count(number, "spatial dimension"))
        return Broken((shown, beside), f"write {count(number, entries.noun)} {entries.kind}")

    return predicate


def one_word(name: str, words: Sequence[str], advice: str) -> Predicate:
    """The attribute is one of some words."""

    def predicate(call: Call) -> Broken | None:
        value = call.attributes.get(name, ABSENT)
        if value is ABSENT or (isinstance(value, str) and value in words):
            return None
        return Broken((Shown(name, written(value)),), advice)

    return predicate


def held_by_float(value: object) -> bool:
    """Tell whether a value is a finite float that 32 bits hold; in a file, an integer is of another kind."""
    number = as_float(value)
    kind = isinstance(value, (float, np.floating))
    return kind and isinstance(number, float) and isfinite(number) and number == value


def as_float(value: object) -> object:
    """A number as a file of ONNX keeps it: the nearest float, as a Python float. Anything else as it is."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        return value
    try:
        with np.errstate(over="ignore"):
            return float(np.float32(value))
    except OverflowError:  # an integer beyond every float
        return value
