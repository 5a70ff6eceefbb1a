"""Functions that people call, made from contracts: their parameters, their docstrings, what a call gives.

Operands come first, in the contract's order, then attributes, then modes. How a function takes them differs:
operators of ONNX take several tensors one after the other and attributes by keyword, those of XLA take a list
of arrays and attributes by position too.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Any

from sonnx.vocabulary.operator import Attribute, Contract, Operand

_KINDS: Mapping[str, Any] = {
    "integer": int,
    "float": float,
    "text": str,
    "element type": int | str,
    "pairs of integers": Sequence[Sequence[int]],
    "floats": Sequence[float],
}


@dataclass(frozen=True)
class Calling:
    """How functions take operands and attributes.

    `operand` and `result` are annotations. `listed`: operands of any number come as one list, and attributes
    may come by position after them. `absent` stands for an attribute that a call leaves out; without it every
    attribute must be written. `modes` are parameters where they are asked for.
    """

    operand: Any
    result: Any
    listed: bool = False
    absent: Any = Parameter.empty
    modes: bool = True


def signature(contract: Contract, calling: Calling) -> Signature:
    """The parameters of an operator's function."""
    operands = [_operand(operand, calling) for operand in contract.inputs]
    attributes = [_attribute(each, calling) for each in contract.attributes if calling.modes or not each.mode]
    return Signature([*operands, *attributes], return_annotation=calling.result)


def _operand(operand: Operand, calling: Calling) -> Parameter:
    if not operand.variadic:
        default = None if operand.optional else Parameter.empty
        return Parameter(
            operand.name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=calling.operand
        )
    if calling.listed:
        listed: Any = Sequence
        return Parameter(operand.name, Parameter.POSITIONAL_OR_KEYWORD, annotation=listed[calling.operand])
    return Parameter(operand.name, Parameter.VAR_POSITIONAL, annotation=calling.operand)


def _attribute(attribute: Attribute, calling: Calling) -> Parameter:
    by_position = calling.listed and not attribute.mode
    kind = Parameter.POSITIONAL_OR_KEYWORD if by_position else Parameter.KEYWORD_ONLY
    default = calling.absent if attribute.default is None else attribute.default
    annotation = _KINDS.get(attribute.kind, Sequence[int] if attribute.kind.endswith("integers") else Any)
    return Parameter(attribute.name, kind, default=default, annotation=annotation)


def modes(contract: Contract) -> dict[str, str | None]:
    """How to evaluate where nothing is said of it: what no model and no computation holds."""
    return {attribute.name: attribute.default for attribute in contract.attributes if attribute.mode}


def docstring(contract: Contract, calling: Calling) -> str:
    """What the contract says of the operator, of its operands and of its attributes."""
    told = [f"`{operand.name}`: {operand.text}" for operand in contract.inputs]
    told += [f"`{each.name}`: {each.text}" for each in contract.attributes if calling.modes or not each.mode]
    lines = ";\n".join(told)
    return f"{contract.summary}\n\n{lines}.\n\nRaises RuleError where a rule is broken."


@dataclass(frozen=True)
class Arguments:
    """What a call gives: operands and attributes by name."""

    operands: Mapping[str, Any]
    attributes: Mapping[str, Any]


class Taken:
    """The parameters of a function, prepared for calls of it."""

    def __init__(self, signature: Signature) -> None:
        """Sort the parameters once."""
        found = signature.parameters.values()
        self.signature = signature
        self._positional = [each.name for each in found if each.kind is Parameter.POSITIONAL_OR_KEYWORD]
        self._defaults = {each.name: each.default for each in found}
        self._rest = next((each.name for each in found if each.kind is Parameter.VAR_POSITIONAL), "")

    def quickly(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any] | None:
        """The arguments by name in the order of the parameters; None where `bind` shall say what is wrong.

        Binding by `inspect` takes longer than a definition on a small array.
        """
        count = len(self._positional)
        placed = dict(zip(self._positional, args, strict=False))
        if self._rest:
            placed[self._rest] = args[count:]
        elif len(args) > count:
            return None
        found = {**self._defaults, **placed, **keywords}
        missing = any(value is Parameter.empty for value in found.values())
        fits = len(found) == len(self._defaults) and placed.keys().isdisjoint(keywords)
        return found if fits and not missing else None


def arguments(
    name: str, contract: Contract, taken: Taken, args: Sequence[Any], keywords: Mapping[str, Any]
) -> Arguments:
    """Sort the arguments of a call; raises TypeError where they do not fit."""
    given = taken.quickly(args, keywords)
    if given is None:
        try:
            bound = taken.signature.bind(*args, **keywords)
        except TypeError as error:
            raise TypeError(f"{name}: {error}; it takes {', '.join(taken.signature.parameters)}") from None
        bound.apply_defaults()
        given = bound.arguments
    operands = dict(_operands(name, contract, given))
    return Arguments(operands, {key: value for key, value in given.items() if key in contract.named})


def _operands(name: str, contract: Contract, given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for operand in contract.inputs:
        value = given[operand.name]
        if not operand.variadic:
            yield operand.name, value
        elif not isinstance(value, Sequence) or isinstance(value, str):
            then = " and ".join(f"`{each.name}`" for each in contract.attributes)
            raise TypeError(f"{name}: give the {operand.name} as a list, then {then}")
        else:
            yield from ((f"{operand.name}{m}", each) for m, each in enumerate(value))


def function_of(
    name: str, home: str, contract: Contract, calling: Calling, run: Callable[..., Any]
) -> Callable[..., Any]:
    """A function of a contract's parameters that hands Arguments to `run`.

    With a `home` such as `sonnx.xla` it is a function there; a class as in `sonnx.xla.Builder:` makes it a
    method, and `run` gets the object first.
    """
    module, is_method, owner = home.partition(":")
    taken = signature(contract, calling)
    prepared = Taken(taken)

    def called(*args: Any, **keywords: Any) -> Any:
        first, rest = args[: len(is_method)], args[len(is_method) :]
        return run(*first, arguments(name, contract, prepared, rest, keywords))

    called.__name__, called.__module__ = name, module
    called.__qualname__ = f"{owner}.{name}" if is_method else name
    called.__doc__ = docstring(contract, calling)
    self = [Parameter("self", Parameter.POSITIONAL_ONLY)] if is_method else []
    # mypy: functions have this attribute, which `inspect` reads
    called.__signature__ = taken.replace(parameters=[*self, *taken.parameters.values()])  # type: ignore[attr-defined]
    return called
