"""Predicates on the element types of operands. Each answers None where it cannot be asked."""

from collections.abc import Mapping, Sequence

from sonnx.model.dtype import INTEGERS, SIGNED, UNSIGNED, DType
from sonnx.operators.rules.operands import known
from sonnx.operators.rules.wording import FEW, show, spelled, unlike
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import Operand, operand_names
from sonnx.vocabulary.rule import Broken, Predicate, Shown

_FAMILIES = {
    INTEGERS: "a signed or unsigned integer",
    SIGNED: "a signed integer",
    UNSIGNED: "an unsigned integer",
}


def one_of(name: str, types: Sequence[DType]) -> Predicate:
    """The operand has one of the types."""

    def predicate(call: Call) -> Broken | None:
        operand = known(call, name)
        if operand is None or operand.dtype in types:
            return None
        names = ", ".join(map(operand.spell, types))
        advice = f"give `{name}` one of the types {names}"
        if set(types) == {DType.BOOL}:
            advice = "give a bool tensor, for example the result of a comparison"
        return Broken(show(call, name), advice)

    return predicate


def same_type(name: str, reference: str) -> Predicate:
    """Two operands have one element type."""

    def predicate(call: Call) -> Broken | None:
        one, other = known(call, name), known(call, reference)
        if one is None or other is None or one.dtype is other.dtype:
            return None
        return Broken(
            show(call, name, reference),
            f"give `{name}` the type {spelled(other)}; no operand is converted",
        )

    return predicate


def all_of(operand: Operand, types: Sequence[DType]) -> Predicate:
    """Every tensor of a variadic operand has one of the types."""

    def predicate(call: Call) -> Broken | None:
        names = operand_names((operand,), len(call.inputs))
        bad = [name for name in names if (t := known(call, name)) is not None and t.dtype not in types]
        if not bad:
            return None
        spelled_types = ", ".join(map(call.inputs[bad[0]].spell, types))
        return Broken(show(call, *bad[:FEW]), f"give tensors of the types {spelled_types}")

    return predicate


def one_type(operand: Operand) -> Predicate:
    """All tensors of a variadic operand have one element type."""

    def predicate(call: Call) -> Broken | None:
        names = operand_names((operand,), len(call.inputs))
        differing = unlike({name: kind.dtype for name in names if (kind := known(call, name)) is not None})
        if not differing:
            return None
        return Broken(
            show(call, *differing), "convert the operands to one type; nothing is converted by itself"
        )

    return predicate


def not_added_later(name: str, added: Mapping[int, Sequence[DType]]) -> Predicate:
    """The operand has no type that a version of the operator after that of the model added."""
    later = {dtype: version for version, types in added.items() for dtype in types}

    def predicate(call: Call) -> Broken | None:
        operand = known(call, name)
        if operand is None or operand.dtype not in later or call.version is None:
            return None
        since = later[operand.dtype]
        if call.version >= since:
            return None
        note = Shown("version", str(call.version), f"{spelled(operand)} came with version {since}")
        advice = f"convert the model to operator set {since} or later (onnx.version_converter)"
        return Broken((*show(call, name), note), advice)

    return predicate


def in_words(types: Sequence[DType]) -> str:
    """Types as a sentence lists them: `real, a signed integer of 8 to 64 bits, float16, float or double`."""
    rest = dict.fromkeys(types)
    parts = [DType.REAL.value] if DType.REAL in rest else []
    rest.pop(DType.REAL, None)
    for family, words in _FAMILIES.items():
        if set(family) <= rest.keys():
            parts.append(f"{words} of 8 to 64 bits")
            rest = {dtype: None for dtype in rest if dtype not in family}
    if len(parts) == 0 and len(rest) == 1:
        return f"of type {next(iter(rest)).value}"
    parts += [dtype.value for dtype in rest]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"
