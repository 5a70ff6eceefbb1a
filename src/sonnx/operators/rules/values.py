"""Predicates on the values of attributes, and on operands that ONNX lets a model leave out."""

from math import isfinite

import numpy as np

from sonnx.operators.rules.lists import is_integer
from sonnx.operators.rules.wording import written
from sonnx.vocabulary.call import ABSENT, Call
from sonnx.vocabulary.rule import Broken, Predicate, Shown


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
