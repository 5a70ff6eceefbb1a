"""More rules that follow from data: on lists and words among attributes, on ranks and denotations.

They are made as those of `made` are; `said` are fields of `Rule` that an operator says otherwise.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sonnx.operators.rules import shapes, values
from sonnx.operators.rules.made import Subject
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.rule import Rule

_NUMBERS = ("no", "one", "two", "three", "four")


def length(
    subject: Subject,
    place: str,
    form: str,
    because: values.Because,
    reason: str,
    failing: Any,
    **said: Any,
) -> Rule:
    """A list has as many values as its `form` writes, such as `[lines, columns]`; `failing` has others."""
    name, number = _name(place), form.count(",") + 1
    rule = subject.rule(
        f"length of {name}",
        place,
        f"`{name}` needs {_NUMBERS[number]} values.",
        reason,
        values.of_length(name, number, form, because),
        subject.told(**{name: failing}),
        ruling="",
    )
    return replace(rule, **said)


def least(subject: Subject, place: str, lowest: int, reason: str, failing: Any, **said: Any) -> Rule:
    """The values of a list are integers from a lowest one up, 0 or 1."""
    name = _name(place)
    rule = subject.rule(
        f"values of {name}",
        place,
        f"The values of `{name}` must be integers from {lowest} up.",
        reason,
        values.from_least(name, lowest),
        subject.told(**{name: failing}),
        ruling="",
    )
    return replace(rule, **said)


def one_per_axis(
    subject: Subject,
    place: str,
    entries: values.Entries,
    number_of: Callable[[Call], int | None],
    reason: str,
    failing: Any,
    passing: Any,
    **said: Any,
) -> Rule:
    """A list has an entry for each spatial dimension of the first operand, however many these are."""
    name, first = _name(place), next(iter(subject.good.inputs))
    rule = subject.rule(
        f"values of {name}",
        place,
        f"`{name}` needs one {entries.noun} {entries.kind} for each spatial dimension.",
        reason,
        values.one_per_axis(name, entries, number_of, first),
        subject.told(**{name: failing}),
        passing=subject.told(**{name: passing}),
        ruling=subject.ruling,
    )
    return replace(rule, **said)


def mode(subject: Subject, place: str, words: Sequence[str], advice: str, **said: Any) -> Rule:
    """The attribute that says how sums are rounded is one of the words."""
    name = _name(place)
    rule = subject.rule(
        f"value of {name}",
        place,
        f"The accumulation mode must be {' or '.join(f'`{word}`' for word in words)}.",
        "The two differ in their bits, and there is no third one.",
        values.one_word(name, words, advice),
        subject.told(**{name: "fast"}),
        ruling=subject.ruling,
    )
    return replace(rule, **said)


def rank(subject: Subject, place: str, axes: str, reason: str, failing: str, **said: Any) -> Rule:
    """An operand has the rank that it has in the call that conforms; `axes` says what its axes are."""
    name = _name(place)
    number = len(subject.good.inputs[name].shape or ())
    rule = subject.rule(
        f"rank of {name}",
        place,
        f"`{name}` must have rank {number}: {axes}.",
        reason,
        shapes.rank(name, axes, number),
        subject.given(**{name: failing}),
        ruling=subject.ruling,
    )
    return replace(rule, **said)


def denoted(subject: Subject, place: str, axes: tuple[str, ...], failing: tuple[str, ...]) -> Rule:
    """If the axes of an operand are denoted, then so."""
    name = _name(place)

    def example(denotation: tuple[str, ...]) -> Call:
        kind = replace(subject.good.inputs[name], denotation=denotation)
        return replace(subject.good, inputs={**subject.good.inputs, name: kind})

    return subject.rule(
        f"denotation of {name}",
        place,
        f"If the axes of `{name}` are denoted, they must be {', '.join(axes)}.",
        "A denotation that contradicts the order of the axes shows that a tensor was laid out differently.",
        shapes.denoted(name, axes),
        example(failing),
        passing=example(axes),
        ruling="",
    )


def _name(place: str) -> str:
    """The operand or attribute of a place, such as `pads` of `pads.C1`."""
    return place.partition(".")[0]
