"""More rules that follow from data: on lists and words among attributes, on ranks and denotations.

They are made as those of `made` are; `said` are fields of `Rule` that an operator says otherwise.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sonnx.operators.rules import shapes, values
from sonnx.operators.rules.made import Owner
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import Operand
from sonnx.vocabulary.rule import Predicate, Rule

_NUMBERS = ("no", "one", "two", "three", "four")


def listed(
    owner: Owner, because: values.Because, rows: Iterable[tuple[str, str | int, Any, str, str]]
) -> Mapping[str, list[Rule]]:
    """The rules on attributes that are lists, by attribute, one for each row.

    A row is a place, such as `pads.C1`; then how a list of the right length is written, such as `[lines,
    columns]`, or from what its values go up, 0 or 1; a list that fails; the ruling; and the reason.
    """
    found: dict[str, list[Rule]] = {}
    for place, asked, failing, ruling, reason in rows:
        name = _name(place)
        rule = _length if isinstance(asked, str) else _least
        made_from, statement, predicate = rule(name, asked, because)
        made = owner.rule(
            f"{made_from} of {name}",
            place,
            statement,
            reason,
            predicate,
            owner.but(**{name: failing}),
            ruling=ruling,
        )
        found.setdefault(name, []).append(made)
    return found


def _length(name: str, form: Any, because: values.Because) -> tuple[str, str, Predicate]:
    number = form.count(",") + 1
    statement = f"`{name}` needs {_NUMBERS[number]} values."
    return "length", statement, values.of_length(name, number, form, because)


def _least(name: str, lowest: Any, _because: values.Because) -> tuple[str, str, Predicate]:
    statement = f"The values of `{name}` must be integers from {lowest} up."
    return "values", statement, values.from_least(name, lowest)


def one_per_axis(
    owner: Owner,
    place: str,
    entries: values.Entries,
    number_of: Callable[[Call], int | None],
    reason: str,
    failing: Any,
    passing: Any,
    **said: Any,
) -> Rule:
    """A list has an entry for each spatial dimension of the first operand, however many these are."""
    name, first = _name(place), next(iter(owner.good.inputs))
    rule = owner.rule(
        f"values of {name}",
        place,
        f"`{name}` needs one {entries.noun} {entries.kind} for each spatial dimension.",
        reason,
        values.one_per_axis(name, entries, number_of, first),
        owner.but(**{name: failing}),
        passing=owner.but(**{name: passing}),
        ruling=owner.ruling,
    )
    return replace(rule, **said)


def mode(owner: Owner, place: str, words: Sequence[str], advice: str, **said: Any) -> Rule:
    """The attribute that says how sums are rounded is one of the words."""
    name = _name(place)
    rule = owner.rule(
        f"value of {name}",
        place,
        f"The accumulation mode must be {' or '.join(f'`{word}`' for word in words)}.",
        "The two differ in their bits, and there is no third one.",
        values.one_word(name, words, advice),
        owner.but(**{name: "fast"}),
        ruling=owner.ruling,
    )
    return replace(rule, **said)


def rank(owner: Owner, place: str, axes: str, reason: str, failing: str, **said: Any) -> Rule:
    """An operand has the rank that it has in the call that conforms; `axes` says what its axes are."""
    name = _name(place)
    number = len(owner.good.inputs[name].shape or ())
    rule = owner.rule(
        f"rank of {name}",
        place,
        f"`{name}` must have rank {number}: {axes}.",
        reason,
        shapes.rank(name, axes, number),
        owner.but(**{name: failing}),
        ruling=owner.ruling,
    )
    return replace(rule, **said)


def rank_of(owner: Owner, operand: Operand, label: str) -> Rule:
    """An operand has the axes that are said to be its own."""
    kind = owner.good.inputs[operand.name]
    fewer = str(replace(kind, shape=(kind.shape or ())[1:]))
    reason = "What an axis stands for is told by its place."
    return rank(owner, f"{operand.name}.{label}", ", ".join(operand.axes), reason, fewer)


def denoted(owner: Owner, place: str, axes: tuple[str, ...], failing: tuple[str, ...]) -> Rule:
    """If the axes of an operand are denoted, then so."""
    name = _name(place)

    def example(denotation: tuple[str, ...]) -> Call:
        kind = replace(owner.good.inputs[name], denotation=denotation)
        return replace(owner.good, inputs={**owner.good.inputs, name: kind})

    return owner.rule(
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
