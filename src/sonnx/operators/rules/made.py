"""Rules that follow from a contract's data, with their texts and examples.

Each function makes one rule. An operator that says something better replaces the fields in question; the
identifiers of rules are permanent, so those that were there before keep theirs in the same way.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from sonnx.model.dtype import ALL, DType
from sonnx.model.tensor_type import TensorType
from sonnx.operators.rules import element_types, limits, shapes, storage, values
from sonnx.operators.rules.examples import of_type, other_type, refused_type, with_inputs
from sonnx.terms.tracing import Domain
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.operator import Attribute, Operand, identifier_of, operand_names
from sonnx.vocabulary.rule import Broken, Predicate, Rule, Shown


@dataclass(frozen=True)
class Owner:
    """Whose rules are made: an operator's name, a call that conforms, and the ruling that defines it."""

    name: str
    good: Call
    ruling: str
    domain: str = ""

    def but(self, **changed: Any) -> Call:
        """The call but for some attributes, or operands, whose types are written as text."""
        types = {name: text for name, text in changed.items() if name in self.good.inputs}
        told = {name: value for name, value in changed.items() if name not in types}
        inputs = {**self.good.inputs, **call(self.good.operator, types).inputs}
        return replace(self.good, inputs=inputs, attributes={**self.good.attributes, **told})

    def declared(self, **types: str) -> Call:
        """The call in a model that declares its outputs."""
        return replace(self.good, outputs=call(self.good.operator, types).inputs)

    def rule(
        self,
        made_from: str,
        place: str,
        statement: str,
        reason: str,
        predicate: Predicate,
        failing: Call,
        *,
        restricts_onnx: bool = False,
        ruling: str = "D-ALL-3",
        passing: Call | None = None,
        also: Sequence[str] = (),
        covered: Callable[[Call], bool] | None = None,
    ) -> Rule:
        """A rule at an operand or attribute, such as `relu.X.D1`; `place` is `X.D1`, and so are others."""
        whose = identifier_of(self.domain, self.name)
        return Rule(
            f"{whose}.{place}",
            statement,
            reason,
            restricts_onnx,
            predicate,
            failing,
            passing or self.good,
            also=tuple(f"{whose}.{other}" for other in also),
            ruling=ruling,
            covered=covered,
            made_from=made_from,
        )

    def own(
        self, place: str, statement: str, reason: str, predicate: Predicate, failing: Call, **said: Any
    ) -> Rule:
        """A rule that follows from no data, by the operator's ruling where nothing else is said."""
        return self.rule("", place, statement, reason, predicate, failing, **{"ruling": self.ruling, **said})


def dense(owner: Owner) -> Rule:
    """No tensor is sparse: the general rule, in the words of an operator that states it itself."""
    first = next(iter(owner.good.inputs))
    sparse = replace(owner.good.inputs[first], sparse=True)
    rule = owner.rule(
        "dense",
        "D3",
        "No tensor may be sparse.",
        "What the operator does with the elements a sparse tensor leaves out is not specified.",
        storage.dense,
        with_inputs(owner.good, **{first: sparse}),
        restricts_onnx=True,
    )
    return replace(rule, instead_of="general.R4")


def allowed_types(owner: Owner, operand: Operand, label: str, sharing: Sequence[Operand]) -> Rule:
    """The operand has one of its types; `sharing` are those that have one type in a call, it included."""
    refused = refused_type(operand.types)
    names = [name for each in sharing for name in _names(owner.good, each)]
    failing = with_inputs(owner.good, **{name: of_type(owner.good, name, refused) for name in names})
    various = operand.variadic
    who = "Every tensor" if various else f"`{operand.name}`"
    return owner.rule(
        f"types of {operand.name}",
        f"{operand.name}.{label}",
        f"{who} must be {element_types.in_words(operand.types)}.",
        f"{owner.ruling} says what {owner.name} does with these types, and no ruling with others.",
        element_types.all_of(operand, operand.types)
        if various
        else element_types.one_of(operand.name, operand.types),
        failing,
        # What takes truths alone here does so in ONNX.
        restricts_onnx=operand.types != (DType.BOOL,),
        ruling=owner.ruling,
    )


def types_of_version(owner: Owner, names: Sequence[str], added: Mapping[int, Sequence[DType]]) -> Rule:
    """Operands of one type have none that ONNX added to the operator after the version of the model."""
    (version, types), *_ = added.items()
    held = with_inputs(owner.good, **{name: of_type(owner.good, name, types[0]) for name in names})
    told = "; ".join(
        f"{', '.join(dtype.value for dtype in new)} from version {since} on" for since, new in added.items()
    )
    return owner.rule(
        "types of the version",
        f"{names[0]}.D9",
        f"`{names[0]}` must have a type of the version that the model uses: {told}.",
        "An older version says nothing of such a model, and other readers refuse it.",
        element_types.not_added_later(names[0], added),
        replace(held, version=version - 1),
        passing=replace(held, version=version),
    )


def inside(owner: Owner, operands: Sequence[Operand], domain: Domain) -> Rule:
    """No element of a constant is one for which the operator is not defined (D-ALL-11)."""
    dtype = DType.INT32 if "integers" in domain.kinds else DType.REAL
    vectors = {each.name: TensorType(dtype, (2,)) for each in operands}
    within, without = domain.shown
    good = replace(
        with_inputs(owner.good, **vectors), constants=dict.fromkeys(domain.operands, (within, within))
    )
    failing = replace(
        good,
        constants=dict.fromkeys(domain.operands, (within, without)),
        met=tuple((f"{name}[1]", str(without)) for name in domain.operands),
    )
    return owner.rule(
        "domain",
        domain.place,
        domain.statement,
        "Of other elements the operator has no result: a run that comes to one stops there.",
        _nothing_met,
        failing,
        ruling=domain.ruling,
        passing=good,
    )


def _nothing_met(call: Call) -> Broken | None:
    if not call.met:
        return None
    shown = tuple(Shown(name, element) for name, element in call.met)
    return Broken(shown, "put another value there: every run would stop at this element and give no output")


_NOT_CONVERTED = "No operand is converted: a conversion may round, and must be somebody's decision."


def same_type(
    owner: Owner, operand: Operand, label: str, reference: str, reason: str = _NOT_CONVERTED
) -> Rule:
    """The operand has the type of another one."""
    held = owner.good.inputs[reference].dtype
    other = of_type(owner.good, operand.name, other_type(operand.types, held))
    return owner.rule(
        f"type of {operand.name}",
        f"{operand.name}.{label}",
        f"`{operand.name}`{', if given,' * operand.optional} must have the element type of `{reference}`.",
        reason,
        element_types.same_type(operand.name, reference),
        with_inputs(owner.good, **{operand.name: other}),
    )


def one_type(owner: Owner, operand: Operand, label: str) -> Rule:
    """All tensors of a variadic operand have one type."""
    *_, last = _names(owner.good, operand)
    other = of_type(owner.good, last, other_type(operand.types, owner.good.inputs[last].dtype))
    return owner.rule(
        f"type of {operand.name}",
        f"{operand.name}.{label}",
        "All tensors must have one element type.",
        _NOT_CONVERTED,
        element_types.one_type(operand),
        with_inputs(owner.good, **{last: other}),
    )


def at_least_one(owner: Owner, operand: Operand, label: str) -> Rule:
    """There is a tensor."""
    first, *others = _names(owner.good, operand)
    return owner.rule(
        f"number of {operand.name}",
        f"{operand.name}.{label}",
        "There must be at least one tensor.",
        "Of nothing neither type nor shape is known.",
        values.given(first, "give at least one tensor"),
        _without(owner.good, first, *others),
        passing=_without(owner.good, *others),
        ruling=owner.ruling,
    )


def given(owner: Owner, operand: Operand, label: str) -> Rule:
    """The operand is there, though ONNX lets a model leave it out."""
    ends = {"lowest": "the end of the type's range", "highest": "the end of the type's range"}
    default = ends.get(str(operand.default_in_onnx), str(operand.default_in_onnx))
    return owner.rule(
        f"{operand.name} given",
        f"{operand.name}.{label}",
        f"`{operand.name}` must be given.",
        f"Absent, it means {default} by default, and nothing is left to defaults.",
        values.given(operand.name, f"write `{operand.name}`, if need be {default}"),
        _without(owner.good, operand.name),
        restricts_onnx=True,
        ruling="D-ALL-13",
    )


def scalar(owner: Owner, operand: Operand, label: str) -> Rule:
    """The operand has the empty shape."""
    one = replace(owner.good.inputs[operand.name], shape=(1,))
    return owner.rule(
        f"shape of {operand.name}",
        f"{operand.name}.{label}",
        f"`{operand.name}` must have the empty shape.",
        "One value serves all elements; a tensor of values would need broadcasting.",
        shapes.scalar(operand.name),
        with_inputs(owner.good, **{operand.name: one}),
        ruling=owner.ruling,
    )


def scalar_or_shape(owner: Owner, operand: Operand, label: str, whole: str) -> Rule:
    """The operand has the shape of another one, or the empty shape."""
    short = replace(owner.good.inputs[operand.name], shape=(3,))
    alone = replace(short, shape=())
    return owner.rule(
        f"shape of {operand.name}",
        f"{operand.name}.{label}",
        f"`{operand.name}` must have the shape of `{whole}`, or be a scalar.",
        "A scalar serves all elements; no other shape is repeated.",
        shapes.scalar_or_shape(operand.name, whole),
        with_inputs(owner.good, **{operand.name: short}),
        passing=with_inputs(owner.good, **{operand.name: alone}),
        ruling=owner.ruling,
    )


def one_shape(owner: Owner, inputs: Sequence[Operand], label: str) -> Rule:
    """Operands that are combined element by element have one shape."""
    names = _combined(owner, inputs)
    longer = replace(owner.good.inputs[names[-1]], shape=(4, 3))
    return owner.rule(
        "one shape",
        label,
        f"{_enumerated(inputs)} must have one shape.",
        "Each element of the result is made of the elements at the same place.",
        shapes.one_shape(inputs),
        with_inputs(owner.good, **{names[-1]: longer}),
        ruling="D-ALL-5",
    )


def few_operands(owner: Owner, operand: Operand, label: str) -> Rule:
    """One operand stands for any number of tensors, but for no hundreds of them."""
    kind = next(iter(owner.good.inputs.values()))
    many = {f"{operand.name}{m}": kind for m in range(limits.MOST_OPERANDS + 1)}
    return owner.rule(
        "few operands",
        label,
        f"There may be {limits.MOST_OPERANDS} tensors at most.",
        "What is made of one element names them all, in generated code and in its contract too.",
        limits.not_too_many(operand.name),
        with_inputs(owner.good, **many),
        restricts_onnx=True,
        ruling=owner.ruling,
    )


def no_broadcasting(owner: Owner, inputs: Sequence[Operand], label: str) -> Rule:
    """Nor are shapes broadcast to one another."""
    fixed = {operand.name for operand in inputs if operand.whole}
    first = next(name for name in _combined(owner, inputs) if name not in fixed)
    row = replace(owner.good.inputs[first], shape=(1, 3))
    return owner.rule(
        "no broadcasting",
        label,
        "Shapes must be equal even where they could be broadcast to one another.",
        "Broadcasting inside the operator hides work whose amount depends on the shapes; Expand shows it.",
        shapes.no_broadcasting(inputs),
        with_inputs(owner.good, **{first: row}),
        restricts_onnx=True,
        ruling="D-ALL-5",
    )


def vector(owner: Owner, operand: Operand, label: str) -> Rule:
    """An operand that decides a shape is a list of integers."""
    narrow = of_type(owner.good, operand.name, DType.INT32)
    return owner.rule(
        f"types of {operand.name}",
        f"{operand.name}.{label}",
        f"`{operand.name}` must be an int64 tensor of rank 1.",
        "It lists integers, one for each axis that it speaks of.",
        shapes.vector(operand.name),
        with_inputs(owner.good, **{operand.name: narrow}),
    )


def constant(owner: Owner, operand: Operand, label: str) -> Rule:
    """The elements of an operand that decides a shape are known before the model runs."""
    constants = {name: held for name, held in owner.good.constants.items() if name != operand.name}
    return owner.rule(
        f"{operand.name} constant",
        f"{operand.name}.{label}",
        f"The elements of `{operand.name}` must be constants.",
        "The output's shape must be known before the model runs.",
        shapes.constant(operand.name),
        replace(owner.good, constants=constants),
        restricts_onnx=True,
        ruling="D-ALL-13",
    )


def number(owner: Owner, attribute: Attribute, label: str) -> Rule:
    """An attribute that is a number is one."""
    is_float = attribute.kind == "float"
    name = attribute.name
    return owner.rule(
        f"value of {name}",
        f"{name}.{label}",
        f"`{name}` must be a finite number that a float holds."
        if is_float
        else f"`{name}` must be an integer of 64 bits.",
        "A file of ONNX keeps it so, and functions of `sonnx` take the float nearest to what is given; "
        "it is rounded once to the type of the tensor (D-ALL-12)."
        if is_float
        else "A file of ONNX keeps it so.",
        values.is_float(name) if is_float else values.integer(name),
        owner.but(**{name: inf if is_float else 0.5}),
        ruling="D-ALL-12" if is_float else "D-ALL-3",
    )


def _names(call: Call, operand: Operand) -> list[str]:
    """The names of one operand in a call, several where it is variadic."""
    if not operand.variadic:
        return [operand.name]
    return [name for name in operand_names((operand,), len(call.inputs)) if name in call.inputs]


def _combined(owner: Owner, inputs: Sequence[Operand]) -> Sequence[str]:
    return shapes.element_names(inputs)(owner.good)


def _enumerated(inputs: Sequence[Operand]) -> str:
    if any(operand.variadic for operand in inputs):
        return "All tensors"
    *names, last = [f"`{operand.name}`" for operand in inputs if operand.form == "elements"]
    return f"{', '.join(names)} and {last}"


def _without(call: Call, *names: str) -> Call:
    return replace(call, inputs={name: kind for name, kind in call.inputs.items() if name not in names})


def is_every_type(types: Sequence[DType]) -> bool:
    """Tell whether nothing is to be said of types: all of the profile's are allowed."""
    return set(ALL) <= set(types)
