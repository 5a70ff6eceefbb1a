"""Contracts whose rules follow from their data: of operators element by element, and of moves.

`words` is what an operator says otherwise of a rule, by what the rule was made from (such as "one shape" or
"types of X"): fields of `Rule`, such as its identifier or reason.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from sonnx.model.dtype import ALL, DType
from sonnx.model.tensor_type import TensorType
from sonnx.operators.rules import axes, holding, made, made_lists, made_outputs
from sonnx.operators.rules.converting import Converting
from sonnx.operators.rules.declarations import ShapeOf, ShapesOf, only
from sonnx.operators.rules.examples import good_call
from sonnx.operators.rules.operands import Extents, extents
from sonnx.operators.rules.shapes import NamesOf, common_shape, element_names
from sonnx.terms.term import DefinitionError
from sonnx.terms.tracing import Domain, called
from sonnx.vocabulary.call import ABSENT, Call
from sonnx.vocabulary.integers import Axes, Sizes
from sonnx.vocabulary.operator import (
    OLDEST_OPSET,
    Attribute,
    Contract,
    Contribution,
    Operand,
    identifier_of,
    operand_names,
)
from sonnx.vocabulary.rule import Rule

Words = Mapping[str, Mapping[str, Any]]

# The type variable of operands that name none and list no types of their own.
_VARIABLE = "T"
_NO_WORDS: Words = {}
_NOTHING_FORMERLY: Mapping[int, Mapping[str, float]] = {}
_NOTHING_ADDED: Mapping[int, tuple[DType, ...]] = {}


def elementwise(
    name: str,
    *,
    versions: tuple[int, ...],
    summary: str,
    inputs: Sequence[Operand],
    output: Operand,
    types: tuple[DType, ...],
    ruling: str,
    attributes: Sequence[Attribute] = (),
    uses_arithmetic: bool = True,
    dense: bool = False,
    words: Words = _NO_WORDS,
    more: Sequence[Rule] = (),
    domain: str = "",
    added: Mapping[int, tuple[DType, ...]] = _NOTHING_ADDED,
    defined: Domain | None = None,
    oldest: int | None = None,
    formerly: Mapping[int, Mapping[str, float]] = _NOTHING_FORMERLY,
    converts: Converting | None = None,
) -> Contract:
    """The contract of an operator that makes each element of its output from those at the same place.

    Inputs that list no types have `types`, one of them in a call, and so has an output that lists none. Those
    of no form are combined element by element: they have one shape, the output's. `dense` makes a rule of its
    own on sparse tensors, in place of the general one; `added` are types that only later ones of `versions`
    have, by the version that added them; `converts` says to which type elements are converted, if they are;
    `more` are further rules; `defined` is the definition's domain.
    Since operator set 7, in which broadcasting became implicit, ONNX has changed of such operators the types
    alone, unless `oldest` says otherwise, or `formerly` which operands were attributes.
    """
    operands = tuple(completed(operand, types, "elements") for operand in inputs)
    result = completed(output, types, "")
    owner = made.Owner(name, good_call(name, operands, attributes, domain), ruling, domain)
    names_of = element_names(operands)
    shape_of = common_shape(names_of)
    combined = names_of(owner.good)
    found = [made.dense(owner)] if dense else []
    found += [*_input_rules(owner, operands), *_shape_rules(owner, operands, combined)]
    found += _attribute_rules(owner, attributes, more)
    first = _first_typed(owner, operands)
    if added:
        typed = {each.name for each in operands if each.variable == _VARIABLE}
        found.append(made.types_of_version(owner, [name for name in combined if name in typed], added))
    found += [] if defined is None else [made.inside(owner, operands, defined)]
    shapes_of = only(result.name, shape_of)
    declared = result if converts is None else converts.exemplary(owner.good, result)
    shape_rule = made_outputs.output_shape(owner, declared, "D1", shapes_of, first)
    found.append(_shape_of_inputs(shape_rule, operands))
    output_types = _output_types(operands, result, names_of, shape_of)
    if converts is None:
        found.append(made_outputs.output_type(owner, result, "D2", shapes_of, first))
    else:
        found += converts.rules(owner, result.name)
        output_types = converts.output_types(result.name)
    return Contract(
        name,
        versions,
        summary,
        operands,
        (result,),
        tuple(attributes),
        _ordered(_said(found, words), more, result),
        output_types,
        domain=domain,
        uses_arithmetic=uses_arithmetic,
        ruling=ruling,
        oldest=oldest or (8 if any(operand.variadic for operand in operands) else 7),
        formerly=formerly,
    )


def moving(
    name: str,
    *,
    versions: tuple[int, ...],
    summary: str,
    inputs: Sequence[Operand],
    output: Operand,
    shape: Callable[..., Extents | Sequence[Extents] | None],
    good: Call,
    ruling: str,
    types: tuple[DType, ...] = ALL,
    attributes: Sequence[Attribute] = (),
    too_large: Call | None = None,
    words: Words = _NO_WORDS,
    more: Sequence[Rule] = (),
    domain: str = "",
    oldest: int = OLDEST_OPSET,
) -> Contract:
    """The contract of an operator that only moves elements of its first input, bit for bit.

    `shape` gives the output's shape, None where that cannot be told: it takes the sizes of operands, None for
    those left open, and the integers of attributes and constants, all by their names, and is asked where the
    rules on these hold. Of a variadic `output` it lists the shapes of all that there are. `good` is a call
    that conforms, and `too_large` one of which an output would be too large, where it can have more elements
    or axes than the input. What integers stand for (`holds`) makes rules.
    """
    operands = tuple(completed(operand, types, "") for operand in inputs)
    result = replace(output, types=types, variable=_VARIABLE)
    owner = made.Owner(name, good, ruling, domain)
    holders: list[axes.Holder] = [*attributes, *operands]
    if too_large is None:
        _require_no_growth(name, holders)
    named = {each.holds.of for each in holders if isinstance(each.holds, Axes)}
    found = [*_input_rules(owner, operands, named), *_attribute_rules(owner, attributes, more, operands)]
    moved = [each.name for each in operands if not each.constant]
    on_types = {f"{what} of {each}" for each in moved for what in ("type", "types")}
    before = [rule for rule in (*found, *more) if rule.made_from not in on_types]
    shapes_of = _shapes_of(shape, operands, result, attributes, before)
    first = _first_typed(owner, operands)
    found += _output_rules(owner, result, shapes_of, first, too_large)
    return Contract(
        name,
        versions,
        summary,
        operands,
        (result,),
        tuple(attributes),
        _ordered(_said(found, words), more, result),
        _moved_types(shapes_of, first, result, good),
        domain=domain,
        ruling=ruling,
        oldest=oldest,
        good=good,
    )


def _require_no_growth(name: str, holders: Sequence[axes.Holder]) -> None:
    """Without a rule on its size, a result has no more axes than the operand, and no more elements."""
    for each in holders:
        if isinstance(each.holds, Sizes) or (isinstance(each.holds, Axes) and each.holds.added):
            raise DefinitionError(
                f"results of {name} may have more axes or elements than its operand, as `{each.name}` says; "
                "write too_large=call(...), a call of which a result has too many: a rule then refuses that"
            )


def _output_rules(
    owner: made.Owner, output: Operand, shapes_of: ShapesOf, first: str, too_large: Call | None
) -> Iterator[Rule]:
    """The rules on what a move makes; `first` is the operand whose type it has."""
    yield made_outputs.output_shape(owner, output, "D1", shapes_of, first)
    yield replace(
        made_outputs.output_type(owner, output, "D2", shapes_of, first),
        reason="Elements are copied bit for bit.",
        ruling="D-ALL-4",
    )
    if too_large is not None:
        yield made_outputs.addressable(owner, output, "D3", shapes_of, too_large)
    if output.variadic:
        yield made_outputs.output_number(owner, output, "D4", shapes_of, first)


def _moved_types(
    shapes_of: ShapesOf, first: str, output: Operand, good: Call
) -> Callable[[Call], Mapping[str, TensorType]]:
    dialect = good.inputs[first].dialect

    def output_types(call: Call) -> Mapping[str, TensorType]:
        shapes, dtype = shapes_of(call), call.inputs[first].dtype
        if shapes is None:
            # Of any number of outputs nobody knows how many there are.
            return {} if output.variadic else {output.name: TensorType(dtype, None, dialect=dialect)}
        return {name: TensorType(dtype, each, dialect=dialect) for name, each in shapes.items()}

    return output_types


def _shapes_of(
    shape: Callable[..., Any],
    inputs: Sequence[Operand],
    output: Operand,
    attributes: Sequence[Attribute],
    before: Sequence[Rule],
) -> ShapesOf:
    """The shapes of what a call makes, by name, as far as they can be told."""
    held: list[axes.Holder] = [each for each in inputs if each.constant]
    held += [each for each in attributes if each.holds is not None or each.since]

    def found(call: Call) -> Mapping[str, Extents] | None:
        whole = [each for each in inputs if not each.constant]
        names = operand_names(whole, len(call.inputs) - len(inputs) + len(whole))
        given = {name: extents(call, name) for name in names if name in call.inputs}
        values = dict(call.attributes) | {each.name: axes.decided(call, each) for each in held}
        unknown = any(each is None or each is ABSENT for each in (*given.values(), *values.values()))
        if unknown or not given or any(rule.broken(call) for rule in before):
            return None
        answer = called(shape, given, values)
        if answer is None:
            return None
        listed: Sequence[Extents] = tuple(answer) if output.variadic else (answer,)
        return dict(zip(operand_names((output,), len(listed)), listed, strict=True))

    def shapes_of(call: Call) -> Mapping[str, Extents] | None:
        if "shape" not in call.memo:
            call.memo["shape"] = found(call)
        answer: Mapping[str, Extents] | None = call.memo["shape"]
        return answer

    return shapes_of


def completed(operand: Operand, types: tuple[DType, ...], form: Contribution) -> Operand:
    """An operand with what it leaves to the contract: the types that all share, and its form."""
    shared = operand if operand.types else replace(operand, types=types, variable=_VARIABLE)
    return replace(shared, form=operand.form or form)


def _input_rules(owner: made.Owner, inputs: Sequence[Operand], named: Container[str] = ()) -> Iterator[Rule]:
    """The rules on each operand, numbered as they come: types, presence, form; `named` have named axes."""
    firsts: dict[str, str] = {}
    for operand in inputs:
        labels = _labels()
        # Where there is one type alone, every operand has it by itself.
        variable = operand.variable if len(operand.types) > 1 else ""
        sharing = [each for each in inputs if variable and each.variable == variable]
        if operand.constant:
            yield made.vector(owner, operand, next(labels))
            yield made.constant(owner, operand, next(labels))
            yield from holding.rules(owner, operand, inputs, labels)
            continue
        if variable and variable in firsts:
            yield made.same_type(owner, operand, next(labels), firsts[operand.variable])
        elif not made.is_every_type(operand.types):
            yield made.allowed_types(owner, operand, next(labels), sharing or [operand])
        if operand.variadic:
            yield made.one_type(owner, operand, next(labels))
            yield made.at_least_one(owner, operand, next(labels))
            yield from axes.joined(owner, operand, labels) if operand.name in named else ()
        if operand.optional_in_onnx:
            yield made.given(owner, operand, next(labels))
        if operand.axes:
            yield made_lists.rank_of(owner, operand, next(labels))
        if operand.form == "scalar":
            yield made.scalar(owner, operand, next(labels))
        if operand.form == "either":
            yield made.scalar_or_shape(owner, operand, next(labels), inputs[0].name)
        if operand.variable:
            firsts.setdefault(operand.variable, operand.name)


def _labels() -> Iterator[str]:
    return (f"D{number}" for number in count(1))


def _shape_rules(owner: made.Owner, inputs: Sequence[Operand], combined: Sequence[str]) -> Iterator[Rule]:
    if len(combined) > 1:
        yield made.one_shape(owner, inputs, "D1")
        yield made.no_broadcasting(owner, inputs, "D2")
    for operand in inputs:
        if operand.variadic:
            yield made.few_operands(owner, operand, "D3")


def _attribute_rules(
    owner: made.Owner,
    attributes: Sequence[Attribute],
    more: Sequence[Rule],
    inputs: Sequence[Operand] = (),
) -> Iterator[Rule]:
    """What is said of axes, sizes and numbers; of numbers, unless the operator has a rule of its own."""
    for attribute in attributes:
        if attribute.since:
            yield holding.since(owner, attribute, "D9", attributes)
        if attribute.holds is not None:
            yield from holding.rules(owner, attribute, inputs, _labels())
            continue
        place = f"{identifier_of(owner.domain, owner.name)}.{attribute.name}."
        own = any(rule.identifier.startswith(place) for rule in more)
        if attribute.kind in ("float", "integer") and not own:
            yield made.number(owner, attribute, "D1")


def _shape_of_inputs(rule: Rule, inputs: Sequence[Operand]) -> Rule:
    """The same rule in words that fit operators element by element."""
    names = [operand.name for operand in inputs if operand.form == "elements"]
    one = len(names) == 1 and not any(operand.variadic for operand in inputs)
    whose = f"`{names[0]}`" if one else "the inputs"
    return replace(
        rule,
        statement=f"{rule.statement.split(' must')[0]} must have the shape of {whose}.",
        reason="Each place of the inputs gives one element of the output.",
    )


def _first_typed(owner: made.Owner, inputs: Sequence[Operand]) -> str:
    """The operand whose type the output has: the first of those that share the type."""
    named = dict(zip(operand_names(inputs, len(owner.good.inputs)), _repeated(inputs), strict=False))
    return next(name for name, operand in named.items() if operand.variable == _VARIABLE)


def _repeated(inputs: Sequence[Operand]) -> Iterator[Operand]:
    """The operand behind each name, one name of a variadic operand being enough."""
    yield from (operand for operand in inputs if not operand.variadic)
    yield from (operand for operand in inputs if operand.variadic)


def _output_types(
    inputs: Sequence[Operand], output: Operand, names_of: NamesOf, shape_of: ShapeOf
) -> Callable[[Call], Mapping[str, TensorType]]:
    own = {operand.name for operand in inputs if operand.variable != _VARIABLE}

    def output_types(call: Call) -> Mapping[str, TensorType]:
        names = names_of(call)
        if len(names) == 1 and output.variable:
            return {output.name: call.inputs[names[0]]}
        types = {call.inputs[name].dtype for name in names if name not in own and output.variable}
        types |= {dtype for dtype in output.types if not output.variable}
        shape = None if shape_of(call) is None else call.inputs[names[0]].shape
        return {output.name: TensorType(types.pop() if len(types) == 1 else None, shape)}

    return output_types


def _ordered(rules: Iterable[Rule], more: Sequence[Rule], output: Operand) -> tuple[Rule, ...]:
    """What an operator says by itself stands before the rules on its output."""
    made_rules = list(rules)
    last = [rule for rule in made_rules if rule.made_from.endswith(f" of {output.name}")]
    return (*(rule for rule in made_rules if rule not in last), *more, *last)


def _said(rules: Sequence[Rule], words: Words) -> Iterator[Rule]:
    """The rules with what the operator says otherwise; those of which it speaks come first, in its order."""
    found = {rule.made_from: rule for rule in rules}
    surplus = words.keys() - found.keys()
    if surplus:
        raise ValueError(f"no rule is made from {', '.join(sorted(surplus))}")
    yield from (replace(found[made_from], **said) for made_from, said in words.items())
    yield from (rule for rule in rules if rule.made_from not in words)
