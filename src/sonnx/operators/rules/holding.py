"""Rules on what an attribute, or an operand that is a constant, stands for: axes, sizes, and others."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from sonnx.operators.rules import axes
from sonnx.operators.rules.axes import Holder, axis_words, value, with_value
from sonnx.operators.rules.lists import integers, is_integer
from sonnx.operators.rules.made import Owner
from sonnx.operators.rules.operands import extents, sizes
from sonnx.operators.rules.wording import written
from sonnx.vocabulary.call import ABSENT, Call
from sonnx.vocabulary.integers import Axes, Divisor, OneOf, Parts, Sizes
from sonnx.vocabulary.operator import Attribute, Operand
from sonnx.vocabulary.rule import Broken, Rule, Shown

_POWERS = {1: "", 2: "The square of ", 3: "The cube of "}


def rules(owner: Owner, holder: Holder, inputs: Sequence[Operand], labels: Iterator[str]) -> Iterator[Rule]:
    """All that follows from what it stands for."""
    match holder.holds:
        case Axes() as named:
            yield from axes.rules(owner, holder, named, inputs, labels)
        case Sizes() as held:
            yield _sizes(owner, holder, next(labels))
            if held.of:
                yield _product(owner, holder, held, next(labels))
        case Parts() as cut:
            yield _sizes(owner, holder, next(labels))
            yield _together(owner, holder, cut, next(labels))
            yield _some(owner, holder, next(labels))
        case Divisor() as divisor:
            yield _positive(owner, holder, next(labels))
            yield _divides(owner, holder, divisor, next(labels))
        case OneOf() as choice:
            yield _one_of(owner, holder, choice, next(labels))
            if choice.integers:
                yield _of_integers(owner, holder, choice, next(labels))


def since(owner: Owner, attribute: Attribute, label: str, attributes: Sequence[Attribute]) -> Rule:
    """An attribute is not written in a version that does not have it; `attributes` are all that there are."""
    name, first = attribute.name, attribute.since
    later = {each.name for each in attributes if each.since > first}
    told = {each: value for each, value in owner.good.attributes.items() if each not in later}
    good = replace(owner.good, attributes=told)

    def predicate(call: Call) -> Broken | None:
        held = call.attributes.get(name, ABSENT)
        if held is ABSENT or attribute.is_in(call.version):
            return None
        note = Shown("version", str(call.version), f"`{name}` came with version {first}")
        meant = f"leave it out, which means {written(attribute.default_in_onnx)}"
        advice = f"convert the model to operator set {first} or later (onnx.version_converter), or {meant}"
        return Broken((Shown(name, written(held)), note), advice)

    return owner.rule(
        f"version of {name}",
        f"{name}.{label}",
        f"`{name}` must not be written in a version of the operator before {first}.",
        "An older version does not have it, and other readers refuse it.",
        predicate,
        replace(good, version=first - 1),
        passing=replace(good, version=first),
    )


def _sizes(owner: Owner, holder: Holder, label: str) -> Rule:
    """Every size is an integer from 0 up."""
    name, is_operand = holder.name, isinstance(holder, Operand)

    def predicate(call: Call) -> Broken | None:
        held = value(call, holder)
        listed = integers(held)
        if held is ABSENT or (listed is not None and all(size >= 0 for size in listed)):
            return None
        what = "sizes as" if is_operand else "a list of"
        return Broken((Shown(name, written(held)),), f"write {what} integers from 0 up")

    right = value(owner.good, holder)
    return owner.rule(
        f"sizes of {name}",
        f"{name}.{label}",
        f"The elements of `{name}` must be integers from 0 up."
        if is_operand
        else f"`{name}` must be a list of integers from 0 up.",
        "A size counts elements.",
        predicate,
        with_value(owner.good, holder, (*right[:1], -1, *right[2:])),
        ruling=owner.ruling,
    )


def _product(owner: Owner, holder: Holder, held: Sizes, label: str) -> Rule:
    """The sizes are those of as many elements as the operand has; of open sizes nothing is asked."""
    name, of, right = holder.name, held.of, value(owner.good, holder)

    def predicate(call: Call) -> Broken | None:
        listed, shape = integers(value(call, holder)), sizes(call, of)
        if listed is None or min(listed, default=0) < 0 or shape is None or prod(listed) == prod(shape):
            return None
        shown = (
            Shown(name, written(listed), f"{prod(listed)} elements"),
            Shown(of, str(call.inputs[of]), f"{prod(shape)} elements"),
        )
        return Broken(shown, f"write sizes whose product is {prod(shape)}")

    return owner.rule(
        f"product of {name}",
        f"{name}.{label}",
        f"The product of the sizes in `{name}` must be the number of elements of `{of}`.",
        "Elements are moved; none is left out and none is added.",
        predicate,
        with_value(owner.good, holder, (right[0] + 1, *right[1:]) if right else (2,)),
        ruling=owner.ruling,
    )


def _some(owner: Owner, holder: Holder, label: str) -> Rule:
    """There is a part."""

    def predicate(call: Call) -> Broken | None:
        if integers(value(call, holder)) != ():
            return None
        return Broken((Shown(holder.name, "[]"),), "write the size of one part at least")

    return owner.rule(
        f"number of {holder.name}",
        f"{holder.name}.{label}",
        f"`{holder.name}` must have at least one element.",
        "A node of a model has an output.",
        predicate,
        with_value(owner.good, holder, ()),
        ruling=owner.ruling,
    )


def _together(owner: Owner, holder: Holder, cut: Parts, label: str) -> Rule:
    """The sizes of the parts of an axis are together its own."""
    noun, *_ = axis_words(owner)

    def predicate(call: Call) -> Broken | None:
        listed, shape = integers(value(call, holder)), extents(call, cut.of) or ()
        place: Any = call.attributes.get(cut.along)
        # What is absent, unknown, no size or no axis has a rule of its own.
        is_there = is_integer(place) and -len(shape) <= place < len(shape)
        size = shape[place] if is_there else None
        if not listed or size is None or sum(listed) == size or min(listed) < 0:
            return None
        shown = Shown(holder.name, written(listed), f"{sum(listed)} together")
        given = Shown(cut.of, str(call.inputs[cut.of]), f"{size} on {noun} {place}")
        return Broken((shown, given), f"write sizes that together are {size}")

    right = value(owner.good, holder)
    return owner.rule(
        f"parts of {holder.name}",
        f"{holder.name}.{label}",
        f"The sizes in `{holder.name}` must together be that of the {noun} `{cut.along}` of `{cut.of}`.",
        "Every element goes into one part.",
        predicate,
        with_value(owner.good, holder, (right[0] + 1, *right[1:])),
        ruling=owner.ruling,
    )


def _positive(owner: Owner, holder: Holder, label: str) -> Rule:
    name = holder.name

    def predicate(call: Call) -> Broken | None:
        held = value(call, holder)
        if held is ABSENT or (is_integer(held) and held > 0):
            return None
        return Broken((Shown(name, written(held)),), "write an integer from 1 up")

    return owner.rule(
        f"value of {name}",
        f"{name}.{label}",
        f"`{name}` must be an integer from 1 up.",
        "It says how many parts something has.",
        predicate,
        with_value(owner.good, holder, 0),
        ruling=owner.ruling,
    )


def _divides(owner: Owner, holder: Holder, divisor: Divisor, label: str) -> Rule:
    """What is divided has whole parts; an operand of another rank has a rule of its own."""
    name, of = holder.name, divisor.of
    rank = len(owner.good.inputs[of].sizes or ())
    several = len(divisor.axes) > 1
    whose = f"{'axes' if several else 'axis'} {' and '.join(map(str, divisor.axes))} of `{of}`"

    def predicate(call: Call) -> Broken | None:
        held, shape = value(call, holder), extents(call, of, rank)
        if not is_integer(held) or held < 1 or shape is None:
            return None
        # An open size is asked nothing: 0 has every divisor.
        if divisor.divides(held, tuple(size or 0 for size in shape)):
            return None
        shown = (Shown(name, written(held)), Shown(of, str(call.inputs[of])))
        part = held**divisor.power
        return Broken(shown, f"give {whose} {'sizes' if several else 'a size'} that {part} divides")

    right = owner.good.inputs[of].sizes or ()
    return owner.rule(
        f"divisor {name}",
        f"{name}.{label}",
        f"{_POWERS[divisor.power]}`{name}` must divide the size{'s' * several} of {whose}.",
        "What is cut into parts has parts of one size, without a rest.",
        predicate,
        with_value(owner.good, holder, max(right) + 1),
        ruling=owner.ruling,
    )


def _one_of(owner: Owner, holder: Holder, choice: OneOf, label: str) -> Rule:
    name, values = holder.name, choice.values
    told = _told(values)

    def predicate(call: Call) -> Broken | None:
        held = value(call, holder)
        if held is ABSENT or ((isinstance(held, str) or is_integer(held)) and held in values):
            return None
        return Broken((Shown(name, written(held)),), f"write {told}")

    wrong = "other" if isinstance(values[0], str) else max(map(int, values)) + 1
    return owner.rule(
        f"value of {name}",
        f"{name}.{label}",
        f"`{name}` must be {told}.",
        "Nothing else has a meaning.",
        predicate,
        with_value(owner.good, holder, wrong),
        ruling=owner.ruling,
    )


def _of_integers(owner: Owner, holder: Holder, choice: OneOf, label: str) -> Rule:
    """Some values are for integers alone; what is none of the values has a rule of its own."""
    name, first = holder.name, next(iter(owner.good.inputs))
    others = choice.of(owner.good.inputs[first].dtype)
    told, kept = _told(others), _told(choice.integers)

    def predicate(call: Call) -> Broken | None:
        held, given = value(call, holder), call.inputs.get(first)
        asked = isinstance(held, str) or is_integer(held)
        if not asked or held not in choice.values or given is None or held in choice.of(given.dtype):
            return None
        shown = (Shown(name, written(held)), Shown(first, str(given), "no integers"))
        return Broken(shown, f"write {told}; {kept} is for integers alone")

    return owner.rule(
        f"value of {name} by type",
        f"{name}.{label}",
        f"`{name}` must be {told} unless the elements are integers.",
        f"ONNX has {kept} for integers alone.",
        predicate,
        with_value(owner.good, holder, choice.integers[0]),
        ruling=owner.ruling,
    )


def _told(values: Sequence[str | int]) -> str:
    listed = [f"`{each}`" if isinstance(each, str) else str(each) for each in values]
    return f"{', '.join(listed[:-1])} or {listed[-1]}" if len(listed) > 1 else listed[0]
