"""Makes a trial small that departs: cuts axes, simplifies attributes and elements while it still departs.

Axes that belong together, in several operands and in attributes that state their sizes, are cut together: a
table says which these are. What breaks a rule all the same is not asked.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np

from sonnx.conformance.runtimes.question import question
from sonnx.conformance.subjects import Subject
from sonnx.model.dtype import INTEGERS, DType
from sonnx.numeric.arrays import Array, held_type, numpy_dtype
from sonnx.numeric.bits import differing
from sonnx.numeric.convert import PART
from sonnx.numeric.rounding import FORMATS, number
from sonnx.vocabulary.draws import simple_values, whole_values
from sonnx.vocabulary.form import Form, Indices, Place, at
from sonnx.vocabulary.rule import RuleError
from sonnx.vocabulary.trial import Trial

_SUFFIX, _REDUCED = "-reduced", ", reduced."
# Larger arrays are not looked through element by element, nor is anything cut into more pieces.
_FEW = 64
_PIECES = 16
# What a float of an attribute may be instead, the simplest first.
_FLOATS = (0.0, 1.0, -1.0)


def reduced(
    subject: Subject,
    trial: Trial,
    departs: Callable[[Trial], bool],
    *,
    tries: int = 400,
    place: Place | None = None,
) -> Trial:
    """The smallest trial found for which `departs` still is true; it is called `tries` times at most.

    `place` is where an output differs, if that is known: the search begins near it. Where nothing smaller was
    found, the answer is the trial itself; else its name and its text say that it was reduced.
    """
    text = trial.text.removesuffix(_REDUCED).removesuffix(".") + _REDUCED
    named = replace(trial, name=trial.name.removesuffix(_SUFFIX) + _SUFFIX, text=text)
    work = _Work(subject, subject.form, departs, tries, named)
    work.seen.add(digest(trial))
    if place is not None:
        _jump(work, place)
    before: Trial | None = None
    while work.trial is not before and work.tries:
        before = work.trial
        for step in (_simplify_attributes, _cut_axes, _change, _simplify_elements):
            step(work)
    return trial if work.trial is named else work.trial


def digest(trial: Trial) -> bytes:
    """What tells trials apart that a runtime can tell apart."""
    held = sha256(repr((sorted(trial.constants), sorted(trial.attributes.items()))).encode())
    for name, array in trial.inputs.items():
        elements = repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes()
        held.update(repr((name, array.shape, array.dtype, len(elements))).encode())
        held.update(elements)
    return held.digest()


def form_of(form: Form, trial: Trial) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What tells kinds of trials apart: which operands there are, and which attributes do something."""
    others = (name for name in form.simplest if name in trial.attributes)
    return tuple(trial.inputs), tuple(n for n in others if trial.attributes[n] != _simplest(form, trial, n))


# --- steps -------------------------------------------------------------------------------------------------


@dataclass
class _Work:
    """The smallest trial so far, and how often another one may still be asked."""

    subject: Subject
    form: Form
    departs: Callable[[Trial], bool]
    tries: int
    trial: Trial
    seen: set[bytes] = field(default_factory=set)

    def take(self, candidate: Trial) -> bool:
        """Go on with a trial if it departs; one that was asked before, or breaks a rule, is not asked."""
        if not self.tries or (told := digest(candidate)) in self.seen:
            return False
        self.seen.add(told)
        try:
            question(self.subject.operator, candidate)
        except RuleError:
            return False
        self.tries -= 1
        if not self.departs(candidate):
            return False
        self.trial = candidate
        return True

    def keep(self, label: str, indices: Indices) -> bool:
        """Go on with some indices of an axis, if that departs."""
        return self.tries > 0 and self.take(self.form.cut(self.trial, label, indices))

    def size(self, label: str) -> int:
        """The size of an axis."""
        return self.form.size(self.trial, label)


def _jump(work: _Work, place: Place) -> None:
    """Go to what decides one output element; where that is not enough, to what lies before it."""
    places = work.form.places(work.trial, place)
    if any(map(work.take, work.form.near(work.trial, place))):
        return
    if work.take(at(work.form, work.trial, places)):
        return
    for label, index in places.items():
        if work.size(label) > 1 and not work.keep(label, [index]):
            work.keep(label, slice(0, index + 1))


def _cut_axes(work: _Work) -> None:
    for label in work.form.names(work.trial):
        _trim(work, label, last=True)
        _trim(work, label, last=False)
        _thin(work, label)


def _trim(work: _Work, label: str, *, last: bool) -> None:
    """Take away what can be taken away at one end, half of it at first."""
    step = work.size(label) // 2
    while step:
        size = work.size(label)
        rest = slice(0, size - step) if last else slice(step, size)
        if not (step < size and work.keep(label, rest)):
            step //= 2


def _thin(work: _Work, label: str) -> None:
    """Take away pieces from between."""
    pieces = 2
    while pieces <= _PIECES:
        size = work.size(label)
        for first, last in _pieces(size, pieces):
            rest = np.r_[0:first, last:size]
            if len(rest) and work.keep(label, rest):
                break
        else:
            pieces *= 2


def _pieces(size: int, count: int) -> Iterator[tuple[int, int]]:
    """So many parts of about the same size, as far as there is enough of it."""
    edges = [size * piece // count for piece in range(count + 1)]
    return ((first, last) for first, last in pairwise(edges) if first < last)


def _change(work: _Work) -> None:
    """Leave out axes and operands, and let the model hold no operand that it need not."""
    deciding = work.subject.operator.contract.settled
    work.take(replace(work.trial, constants=work.trial.constants & deciding))
    while any(map(work.take, work.form.smaller(work.trial))):
        pass


def _simplify_attributes(work: _Work) -> None:
    """All numbers at once, then each by itself, at once or step by step."""
    form = work.form
    names = [name for name in form.simplest if name in work.trial.attributes]
    if names:
        work.take(_with_attributes(work.trial, {name: _simplest(form, work.trial, name) for name in names}))
    for name in names:
        if isinstance(work.trial.attributes[name], str):
            continue
        for place, value in enumerate(_numbers(work.trial.attributes[name])):
            simplest = form.simplest[name]
            step = 1 if value < simplest else -1
            for less in dict.fromkeys((simplest, (value + simplest) // 2, value + step)):
                if value != simplest and work.take(_with_number(work.trial, name, place, less)):
                    break
    for name, value in work.trial.attributes.items():
        if isinstance(value, float) and value not in _FLOATS:
            simpler = (*_FLOATS, *([float(round(value))] if isfinite(value) else ()))
            any(work.take(_with_attributes(work.trial, {name: less})) for less in simpler)


def _with_attributes(trial: Trial, changed: Mapping[str, Any]) -> Trial:
    return replace(trial, attributes={**trial.attributes, **changed})


def _simplest(form: Form, trial: Trial, name: str) -> Any:
    value = trial.attributes[name]
    if isinstance(value, str):
        return form.plainest.get(name, value)
    return _shaped(value, [form.simplest[name]] * len(_numbers(value)))


def _numbers(value: Any) -> list[int]:
    """The numbers of a list, or of a list of pairs."""
    return [int(each) for each in np.reshape(np.asarray(value, np.int64), -1)]


def _shaped(like: Any, numbers: Sequence[int]) -> Any:
    array = np.array(numbers, np.int64).reshape(np.shape(like))
    return tuple(map(tuple, array.tolist())) if array.ndim > 1 else tuple(array.tolist())


def _with_number(trial: Trial, name: str, place: int, number: int) -> Trial:
    numbers = _numbers(trial.attributes[name])
    numbers[place] = number
    return _with_attributes(trial, {name: _shaped(trial.attributes[name], numbers)})


# --- elements ----------------------------------------------------------------------------------------------


def _simplify_elements(work: _Work) -> None:
    """All of an array at once, then pieces of it, then element by element."""
    sizes = work.subject.operator.contract.settled
    for name in [name for name in work.trial.inputs if name not in sizes]:
        array = work.trial.inputs[name]
        simple, size = simple_values(held_type(array))[:2], array.size
        zero = simple[0]
        # Where there are zeros and ones alone, nothing grows simpler by ones.
        other_than = [differing(array, np.full_like(array, each), nan="bits") for each in simple]
        alike = simple if np.logical_and(*other_than).any() else simple[:1]
        if any(work.take(_with_elements(work.trial, name, slice(0, size), each)) for each in alike):
            continue
        for count in (2, 4, 8, _PIECES):
            for first, last in _pieces(size, count):
                work.take(_with_elements(work.trial, name, slice(first, last), zero))
        for place in range(size if size <= _FEW else 0):
            _simplify_element(work, name, place)


def _with_elements(trial: Trial, name: str, places: int | slice, value: Any) -> Trial:
    array = trial.inputs[name].copy()
    array.reshape(-1)[places] = value
    return replace(trial, inputs={**trial.inputs, name: array})


def _simplify_element(work: _Work, name: str, place: int) -> None:
    changed, where = True, slice(place, place + 1)
    while changed:
        element = work.trial.inputs[name].reshape(-1)[where]
        candidates = _simpler(element, held_type(element))
        changed = any(work.take(_with_elements(work.trial, name, where, each)) for each in candidates)


def _simpler(element: Array, dtype: DType) -> Iterator[Any]:
    """What is simpler than the one element of a vector, the simplest first."""
    if dtype is DType.STRING:
        yield from _shorter_text(element[0])
    elif dtype is DType.BOOL:
        # A byte other than 0 and 1 is no Python bool.
        byte = int(element.view(np.uint8)[0])
        yield from (np.array([each], np.uint8).view(np.bool_) for each in range(min(byte, 3)))
    elif dtype in PART:
        parts = element.view(numpy_dtype(PART[dtype]))
        for place in range(2):
            for part in _simpler(parts[place : place + 1], PART[dtype]):
                yield _with_part(parts, place, part).view(element.dtype)
    else:
        whole = whole_values(dtype)
        known = [each.tobytes() for each in whole]
        if element.tobytes() in known:
            yield from whole[: known.index(element.tobytes())]
            return
        yield from whole
        yield from _shorter_integers(element, dtype) if dtype in INTEGERS else _shorter_floats(element, dtype)


def _with_part(parts: Array, place: int, part: Any) -> Array:
    changed = parts.copy()
    changed[place] = part
    return changed


def _shorter_text(text: str) -> Iterator[str]:
    yield from (each for each in ("", "a") if len(each) < len(text))
    if len(text) > 1:
        yield from (text[: len(text) // 2], text[len(text) // 2 :], text[:-1])
    if set(text) - {"a"}:
        yield "a" * len(text)


def _shorter_integers(element: Array, dtype: DType) -> Iterator[Any]:
    """Without a sign, half as large, or with one or two digits that are not 0."""
    value, held = int(element[0]), numpy_dtype(dtype)
    sign, magnitude = (-1, -value) if value < 0 else (1, value)
    tens = 10 ** (len(str(magnitude)) - 1)
    shorter = (magnitude // tens * tens, magnitude * 10 // tens * tens // 10)
    for each in (magnitude, *(sign * less for less in (magnitude // 2, *shorter))):
        if each != value and each <= np.iinfo(held).max:
            yield np.array(each, held)


def _shorter_floats(element: Array, dtype: DType) -> Iterator[Any]:
    """Without a sign, nearer to 1, and with fewer digits; of a NaN, the usual one."""
    form = FORMATS[dtype]
    raw = int(element.view(form.held_as)[0])
    negative, magnitude = bool(raw & form.sign_bit), raw & (form.sign_bit - 1)
    if negative:
        yield number(magnitude, dtype, negative=False)
    if magnitude > form.infinity and magnitude != form.quiet_nan:
        yield number(form.quiet_nan, dtype, negative=negative)
    if magnitude >= form.infinity:
        return
    digits = form.precision - 1
    exponent, fraction = divmod(magnitude, 1 << digits)
    # The exponent of 1 is encoded so.
    far, towards = abs(exponent - form.emax), 1 if exponent < form.emax else -1
    for step in dict.fromkeys((far, far // 2, far // 4, far // 16, min(far, 1))):
        yield number((exponent + towards * step) << digits | fraction, dtype, negative=negative)
    for kept in (0, 1, 3, 7, 15, 31):
        dropped = max(digits - kept, 0)
        yield number(exponent << digits | fraction >> dropped << dropped, dtype, negative=negative)
