"""Which departures may be one fault: the example of one, made plain, shows another one.

A runtime that drops the bias breaks what is said of NaNs, of subnormal numbers and of padding wherever
there is a bias, and to tell all of it alike would hide the fault. An example whose operands are replaced
by small whole numbers, and which departs all the same, does not depart because of its values. Before that,
only what is no ordinary number becomes one: a zero whose sign is lost beside a subnormal number is lost
beside a one as well, if the subnormal number is not to blame, and ones everywhere would hide it. The example
is made simple then, for any departure that loses the same: the value, the sign of a zero, or the bits of a
NaN. What comes out stands before.

Where that is a single element of every operand, it departs everywhere, and tells nothing of other
examples: then both must take the same for the same, such as a number for a NaN. Nothing is left out, and
every departure keeps its example, for it may be another fault all the same.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sonnx.conformance.campaign import Outcome, key
from sonnx.conformance.reduction import form_of, reduced
from sonnx.conformance.result import Key
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array, held_type
from sonnx.numeric.rounding import FORMATS
from sonnx.vocabulary.draws import simple_values, whole_values
from sonnx.vocabulary.special_values import is_infinite, is_nan, is_subnormal
from sonnx.vocabulary.trial import Trial

# An example has a few elements by now, and each of them few simpler ones.
_TRIES = 100
# What an element is, where it is no plain number.
_CLASSES = (("NaN", is_nan), ("infinity", is_infinite), ("subnormal", is_subnormal))


def plainer(ask: Callable[[Trial], Outcome], example: Outcome, wanted: Key) -> tuple[Key, Outcome] | None:
    """The plainer departure that an example of `wanted` shows; None where it stands alone."""
    if example.against:  # what contradicts itself breaks nothing else
        return None
    heard: dict[int, Outcome] = {}

    def alike(found: Outcome) -> list[Key]:
        return [] if found.against else [each for each in found.keys if each[2] == wanted[2]]

    def departs(trial: Trial) -> bool:
        heard[id(trial)] = ask(trial)
        return bool(alike(heard[id(trial)]))

    start = next((trial for trial in _plain(example) if departs(trial)), None)
    if start is None:
        return None
    found = heard[id(reduced(example.subject, start, departs, tries=_TRIES))]
    if wanted in found.keys:
        return None
    other = alike(found)[0]
    everywhere = _is_single(found)
    return None if everywhere and _classes(found, other) != _classes(example, wanted) else (other, found)


def _plain(example: Outcome) -> Iterator[Trial]:
    """The trial with ones in all operands but those that are sizes, then with several whole numbers.

    First, where there are others, with ones for those elements alone that are no ordinary numbers.
    """
    sizes = example.subject.operator.contract.settled
    ordinary = {name: _ordinary(array) for name, array in example.trial.inputs.items() if name not in sizes}
    if any(array is not example.trial.inputs[name] for name, array in ordinary.items()):
        yield replace(example.trial, inputs={**example.trial.inputs, **ordinary})
    for several in (False, True):
        changed = {
            name: _whole(array, several=several)
            for name, array in example.trial.inputs.items()
            if name not in sizes
        }
        yield replace(example.trial, inputs={**example.trial.inputs, **changed})


def _whole(array: Array, *, several: bool) -> Array:
    """Ones, or numbers that tell places apart, where the type has any."""
    dtype = held_type(array)
    if not several or dtype in (DType.BOOL, DType.STRING):
        return np.full_like(array, simple_values(dtype)[1])
    numbers = whole_values(dtype)[1:4]
    return np.resize(numbers, array.shape)


def _ordinary(array: Array) -> Array:
    """Ones, of the same sign where numbers have one, for NaNs, infinities and subnormal numbers."""
    dtype = held_type(array)
    special = is_nan(array) | is_infinite(array) | is_subnormal(array)
    if not special.any():
        return array
    one = simple_values(dtype)[1]
    signed = np.where(np.signbit(array), -one, one) if dtype in FORMATS else one
    return np.where(special, signed, array).astype(array.dtype)


def _is_single(found: Outcome) -> bool:
    """Tell whether a trial has one element of every operand that there must be, and plain attributes."""
    needed = {operand.name for operand in found.subject.operator.contract.inputs if not operand.optional}
    operands, attributes = form_of(found.subject.form, found.trial)
    few = all(array.size <= 1 for array in found.trial.inputs.values())
    return few and not attributes and (found.subject.enclose is None or set(operands) <= needed)


def _classes(found: Outcome, wanted: Key) -> tuple[str, ...]:
    """What an element should be and what it is; nothing where that is not about elements."""
    difference = next(each for each in found.differences if key(each) == wanted)
    if difference.place is None:
        return ()
    mode = "separate" if found.subject.enclose is not None else ""
    names = found.subject.specified(found.trial, found.dtype).results(mode)
    output = dict(zip(names, found.outputs, strict=True))[difference.output]
    arrays = [each for each in (names[difference.output], output) if not isinstance(each, TensorType)]
    return tuple(_class(array, difference.place) for array in arrays)


def _class(array: Array, place: tuple[int, ...]) -> str:
    cuts: list[Any] = [slice(index, index + 1) for index in place]
    element = array[(*cuts, ...)]  # without the dots, an array of no axes would become its element
    return next((name for name, is_one in _CLASSES if is_one(element).any()), "number")


def causes(plainer_ones: Mapping[Key, Key]) -> Mapping[Key, Key]:
    """The last of each chain of plainer departures; where some are plainer in turn, the first of them.

    The departures are in the order in which they were found.
    """
    found: dict[Key, Key] = {}
    for each in plainer_ones:
        chain = [each]
        while (following := plainer_ones.get(chain[-1])) is not None and following not in chain:
            chain.append(following)
        circle = chain[chain.index(following) :] if following is not None else chain[-1:]
        last = min(circle, key=list(plainer_ones).index) if len(circle) > 1 else circle[0]
        if last != each:
            found[each] = last
    return found
