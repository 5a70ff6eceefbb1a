"""Rules on integers that stand for axes, of an attribute or of an operand that is a constant."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sonnx.operators.rules.examples import with_inputs
from sonnx.operators.rules.lists import integers, is_integer
from sonnx.operators.rules.made import Owner
from sonnx.operators.rules.operands import Extents, extents
from sonnx.operators.rules.wording import FEW, show, unlike, written
from sonnx.vocabulary.call import ABSENT, Call
from sonnx.vocabulary.integers import Axes
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
    """What is written in a call, of which the rules hold; None where nothing is."""
    held = value(call, holder)
    if isinstance(holder, Attribute) and held is ABSENT and not holder.is_in(call.version):
        return holder.default_in_onnx
    if isinstance(held, str | float):
        return held
    return int(held) if is_integer(held) else integers(held)


def with_value(call: Call, holder: Holder, held: Any) -> Call:
    """The call with something else written."""
    if isinstance(holder, Operand):
        kind = replace(call.inputs[holder.name], shape=(len(held),))
        return replace(
            with_inputs(call, **{holder.name: kind}), constants={**call.constants, holder.name: held}
        )
    return replace(call, attributes={**call.attributes, holder.name: held})


def rules(
    owner: Owner, holder: Holder, axes: Axes, inputs: Sequence[Operand], labels: Iterator[str]
) -> Iterator[Rule]:
    """Axes are there, and stand in their order."""
    operand = next(each for each in inputs if each.name == axes.of)
    yield from _axes(_Named(owner, holder, axes, operand), labels)


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
        return integers(held if self.axes.is_list else (held,))

    def ranks(self, call: Call) -> list[int]:
        """How many axes there are to be named, of each of the operand's tensors."""
        count = len(self.listed(call) or ())
        return [self.axes.rank(len(shape), count) for shape in self.shapes(call).values()]

    def inside(self, call: Call) -> bool:
        """Tell whether all axes are there, as far as that is known."""
        listed = self.listed(call) or ()
        return all(each in self.axes.numbers(rank) for rank in self.ranks(call) for each in listed)

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
    rank, *_ = named.ranks(named.owner.good)
    if not named.axes.is_list:
        yield _range(named, next(labels), named.axes.numbers(rank).stop)
        if named.axes.single:
            yield _single(named, next(labels))
        return
    # An operand holds integers and nothing else.
    if named.axes.least or not isinstance(named.holder, Operand):
        yield _list(named, next(labels), () if named.axes.least else (0.5,))
    yield _range(named, next(labels), tuple(each + rank - max(right, default=0) for each in right or (0,)))
    twice = right[:1] * (len(right) if named.axes.added else rank)
    yield _order(named, next(labels), right[::-1] if named.axes.order == "neighbours" else twice)
    if named.axes.single:
        yield _single(named, next(labels))


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
    (noun, nouns, some), one = _nouns(named.owner), not named.axes.is_list

    def broken(call: Call) -> Broken | None:
        held, shapes = value(call, named.holder), named.shapes(call)
        listed = named.listed(call)
        # What is absent, unknown or no list has a rule of its own, and so have scalars that are joined.
        if held is ABSENT or not shapes or (listed is None and not one):
            return None
        (first, shape), (rank, *_) = next(iter(shapes.items())), named.ranks(call)
        numbers = named.axes.numbers(rank)
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
        known = f"name {some if one else nouns} from {numbers.start} to {numbers.stop - 1}"
        return Broken((shown, given), known if numbers else f"a scalar has no {noun}; leave it as it is")

    until = "up to" if named.axes.order == "between" else "up to, but not including,"
    ends, told = f"0 {until} the rank", "they are not counted from the end"
    if named.axes.from_the_end:
        ends, told = f"-r {until} r, the rank", "-1 is the last of them"
    if named.axes.order == "between":
        told += f"; the rank is the place behind all {nouns}"
    whose = (
        f"of the result: that of {named.whose}, and one more for each"
        if named.axes.added
        else f"of {named.whose}"
    )
    return named.rule(
        "range",
        label,
        f"{'be an integer' if one else 'lie'} from {ends} {whose}",
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
        listed = named.listed(call)
        if listed is None:
            return None
        if order == "neighbours":
            right = listed[1:] == tuple(each + 1 for each in listed[:-1])
        else:
            # What lies outside has a rule of its own.
            ranks = set(named.ranks(call)) if named.inside(call) else set[int]()
            kept = [len({each % rank for each in listed}) for rank in ranks if rank]
            right = all(each == len(listed) for each in kept) and (order == "apart" or {len(listed)} >= ranks)
        if right:
            return None
        return Broken(
            (Shown(named.holder.name, written(listed)), *show(call, *named.names(call)[:1])), advice
        )

    return named.rule("order", label, statement, reason, broken, wrong)


def _single(named: _Named, label: str) -> Rule:
    """Each axis has the size 1; one whose size is open has another rule."""
    (noun, nouns, some), good = _nouns(named.owner), named.owner.good

    def broken(call: Call) -> Broken | None:
        listed = (named.listed(call) or ()) if named.inside(call) else ()
        wrong = [
            name
            for name, shape in named.shapes(call).items()
            if any(shape[each] not in (1, None) for each in listed)
        ]
        if not wrong:
            return None
        shown = Shown(named.holder.name, written(value(call, named.holder)))
        return Broken((shown, *show(call, *wrong[:1])), f"name {nouns} of size 1 alone")

    name, *_ = named.names(good)
    first, *_ = named.listed(good) or (0,)
    shape = list(good.inputs[name].sizes or ())
    shape[first] = 2
    rule = named.rule(
        "sizes",
        label,
        f"name {nouns if named.axes.is_list else some} of size 1",
        f"Another {noun} cannot be left out without its elements.",
        broken,
        value(good, named.holder),
    )
    return replace(rule, failing=with_inputs(good, **{name: replace(good.inputs[name], shape=tuple(shape))}))


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
