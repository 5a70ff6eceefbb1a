"""Rules on integers that stand for axes or sizes, of an attribute or of an operand that is a constant."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sonnx.operators.rules.examples import with_inputs
from sonnx.operators.rules.lists import integers, is_integer
from sonnx.operators.rules.made import Owner
from sonnx.operators.rules.operands import Extents, extents
from sonnx.operators.rules.wording import FEW, show, unlike, written
from sonnx.vocabulary.call import ABSENT, Call
from sonnx.vocabulary.integers import Axes, Sizes
from sonnx.vocabulary.operator import Attribute, Operand, operand_names
from sonnx.vocabulary.rule import Broken, Predicate, Rule, Shown

# How a scalar becomes something with an axis, where an operation is there for it.
_BY = {"xla": "for example by Broadcast with broadcast_sizes = [1]"}
# What has integers that decide something.
Holder = Attribute | Operand


def value(call: Call, holder: Holder) -> Any:
    """What is written in a call; ABSENT where another rule says why nothing is."""
    held = call.constants if isinstance(holder, Operand) else call.attributes
    return held.get(holder.name, ABSENT)


def decided(call: Call, holder: Holder) -> Any:
    """The integers of a call, of which the rules hold; None where there are none."""
    held = value(call, holder)
    return int(held) if is_integer(held) else integers(held)


def with_value(call: Call, holder: Holder, held: Any) -> Call:
    """The call with something else written."""
    if isinstance(holder, Operand):
        return replace(call, constants={**call.constants, holder.name: held})
    return replace(call, attributes={**call.attributes, holder.name: held})


def rules(owner: Owner, holder: Holder, inputs: Sequence[Operand], labels: Iterator[str]) -> Iterator[Rule]:
    """All that follows from what the integers stand for."""
    match holder.holds:
        case Sizes():
            yield _sizes(owner, holder, next(labels))
        case Axes() as axes:
            operand = next(each for each in inputs if each.name == axes.of)
            yield from _axes(_Named(owner, holder, axes, operand), labels)


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


def _nouns(owner: Owner) -> tuple[str, str, str]:
    """What an axis is called, several, and one of them."""
    return (
        ("dimension", "dimensions", "a dimension") if owner.domain == "xla" else ("axis", "axes", "an axis")
    )


@dataclass(frozen=True)
class _Named:
    """Integers that name axes of an operand, as rules speak of them."""

    owner: Owner
    holder: Holder
    axes: Axes
    operand: Operand

    @property
    def whose(self) -> str:
        return "the operands" if self.operand.variadic else f"`{self.operand.name}`"

    def names(self, call: Call) -> list[str]:
        """The names of the operand's tensors."""
        return operand_names((self.operand,), len(call.inputs) if self.operand.variadic else 1)

    def shapes(self, call: Call) -> dict[str, Extents]:
        """The shapes of the operand's tensors, as far as they are known."""
        return {name: shape for name in self.names(call) if (shape := extents(call, name)) is not None}

    def listed(self, call: Call) -> tuple[int, ...] | None:
        """The axes as they are written; None where they are no integers."""
        held = value(call, self.holder)
        return integers((held,) if self.axes.order == "one" else held)

    def inside(self, call: Call) -> bool:
        """Tell whether all axes are there, as far as that is known."""
        listed, shapes = self.listed(call) or (), self.shapes(call)
        return all(each in self.axes.numbers(len(shape)) for shape in shapes.values() for each in listed)

    def rule(self, what: str, label: str, statement: str, reason: str, broken: Predicate, wrong: Any) -> Rule:
        name = self.holder.name
        return self.owner.rule(
            f"{what} of {name}",
            f"{name}.{label}",
            f"`{name}` must {statement}.",
            reason,
            broken,
            with_value(self.owner.good, self.holder, wrong),
            ruling=self.owner.ruling,
        )


def _axes(named: _Named, labels: Iterator[str]) -> Iterator[Rule]:
    """One axis is there; several are a list, are there, and stand in an order."""
    right = named.listed(named.owner.good) or ()
    rank = len(next(iter(named.shapes(named.owner.good).values())))
    if named.axes.order == "one":
        yield _range(named, next(labels), rank)
        return
    yield _list(named, next(labels), () if named.axes.least else (0.5,))
    yield _range(named, next(labels), tuple(each + rank - max(right) for each in right))
    yield _order(named, next(labels), right[::-1] if named.axes.order == "neighbours" else right[:1] * rank)


def _list(named: _Named, label: str, wrong: Any) -> Rule:
    (noun, nouns, _), enough = _nouns(named.owner), named.axes.least

    def broken(call: Call) -> Broken | None:
        held, listed = value(call, named.holder), named.listed(call)
        if held is ABSENT or (listed is not None and len(listed) >= enough):
            return None
        advice = f"name at least one {noun} by its number" if enough else f"list {nouns} by their numbers"
        return Broken((Shown(named.holder.name, written(held)),), advice)

    statement = "be a list of integers" + (", at least one" if enough else "")
    return named.rule("list", label, statement, f"They are the numbers of {nouns}.", broken, wrong)


def _range(named: _Named, label: str, wrong: Any) -> Rule:
    (noun, nouns, some), one = _nouns(named.owner), named.axes.order == "one"

    def broken(call: Call) -> Broken | None:
        held, shapes = value(call, named.holder), named.shapes(call)
        listed = named.listed(call)
        # What is absent, unknown or no list has a rule of its own, and so have scalars that are joined.
        if held is ABSENT or not shapes or (listed is None and not one):
            return None
        first, shape = next(iter(shapes.items()))
        numbers = named.axes.numbers(len(shape))
        if (named.operand.variadic and not shape) or (
            listed is not None and all(x in numbers for x in listed)
        ):
            return None
        shown = Shown(named.holder.name, written(held), "no integer" if listed is None else "")
        given = Shown(
            first,
            str(call.inputs[first]),
            "" if one else f"{len(shape)} {noun if len(shape) == 1 else nouns}",
        )
        known = f"name {some if one else nouns} from {numbers.start} to {len(shape) - 1}"
        return Broken((shown, given), known if shape else f"a scalar has no {noun}; leave it as it is")

    ends, told = "0 up to, but not including, the rank", "they are not counted from the end"
    if named.axes.from_the_end:
        ends, told = "-r up to, but not including, r, the rank", "-1 is the last of them"
    return named.rule(
        "range",
        label,
        f"{'be an integer' if one else 'lie'} from {ends} of {named.whose}",
        f"Only {nouns} that are there can be named; {told}.",
        broken,
        wrong,
    )


def _order(named: _Named, label: str, wrong: Any) -> Rule:
    (noun, nouns, _), order = _nouns(named.owner), named.axes.order
    statement, reason, advice = {
        "neighbours": (
            "be neighbours in rising order: each is the one before it plus 1",
            "The elements stay in their order; another order would be a transposition.",
            f"name neighbouring {nouns} from low to high, such as [1, 2]; nothing is transposed",
        ),
        "every": (
            f"name every {noun} of {named.whose} once",
            f"Each {noun} becomes one of the result.",
            f"write the number of each {noun} once",
        ),
        "apart": (f"name no {noun} twice", f"Each {noun} is spoken of once.", f"name each {noun} once"),
    }[order]

    def broken(call: Call) -> Broken | None:
        listed, shapes = named.listed(call), named.shapes(call)
        if listed is None:
            return None
        if order == "neighbours":
            right = listed[1:] == tuple(each + 1 for each in listed[:-1])
        else:
            # What lies outside has a rule of its own.
            ranks = {len(shape) for shape in shapes.values()} if named.inside(call) else set[int]()
            kept = [len({each % rank for each in listed}) for rank in ranks if rank]
            right = all(each == len(listed) for each in kept) and (order == "apart" or {len(listed)} >= ranks)
        if right:
            return None
        return Broken(
            (Shown(named.holder.name, written(listed)), *show(call, *named.names(call)[:1])), advice
        )

    return named.rule("order", label, statement, reason, broken, wrong)


def joined(owner: Owner, operand: Operand, labels: Iterator[str]) -> Iterator[Rule]:
    """Tensors that are put together along an axis have one, and all equally many."""
    noun, nouns, some = _nouns(owner)
    kind = next(iter(owner.good.inputs.values()))
    scalars, vectors = (
        replace(owner.good, inputs=dict.fromkeys(owner.good.inputs, replace(kind, shape=shape)))
        for shape in ((), (1,))
    )
    *_, last = owner.good.inputs

    def some_rank(call: Call) -> Broken | None:
        found = [name for name in call.inputs if extents(call, name) == ()]
        return (
            Broken(show(call, *found[:FEW]), f"give each {some}, {_BY.get(owner.domain, 'of size 1')}")
            if found
            else None
        )

    def ranks(call: Call) -> Broken | None:
        found = {name: len(shape) for name in call.inputs if (shape := extents(call, name))}
        shown = show(call, *unlike(found))
        return Broken(shown, f"give all operands the same number of {nouns}") if shown else None

    yield owner.rule(
        f"rank of {operand.name}",
        f"{operand.name}.{next(labels)}",
        "No operand may have rank 0.",
        f"A scalar has no {noun} along which it could be joined.",
        some_rank,
        scalars,
        passing=vectors,
        ruling=owner.ruling,
    )
    yield owner.rule(
        f"ranks of {operand.name}",
        f"{operand.name}.{next(labels)}",
        "All operands must have one rank.",
        f"Arrays are joined as they are; no {noun} is added.",
        ranks,
        with_inputs(owner.good, **{last: replace(kind, shape=(kind.shape or ())[1:] or (1, 1))}),
        ruling=owner.ruling,
    )
