"""Operators that give elements another type: which type that is, and the rules on it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.operators.rules.lists import is_integer
from sonnx.operators.rules.made import Owner
from sonnx.operators.rules.wording import written
from sonnx.vocabulary.call import ABSENT, Call
from sonnx.vocabulary.operator import Operand
from sonnx.vocabulary.rule import Broken, Predicate, Rule, Shown


@dataclass(frozen=True)
class Converting:
    """The operand that is converted, and the attribute that names the type to which.

    `types` are those that may be named, by what the attribute says; `others` are names of types that are none
    of these, for messages.
    """

    operand: str
    attribute: str
    types: Mapping[Any, DType]
    others: Mapping[Any, str]

    def target(self, call: Call) -> DType | None:
        """The type to convert to, where it is one."""
        return self.types.get(self._named(call))

    def output_types(self, output: str) -> Callable[[Call], Mapping[str, TensorType]]:
        """The new type, with the operand's shape."""

        def output_types(call: Call) -> Mapping[str, TensorType]:
            given = call.inputs[self.operand]
            return {output: TensorType(self.target(call), given.shape, dialect=given.dialect)}

        return output_types

    def exemplary(self, good: Call, output: Operand) -> Operand:
        """The output in an example."""
        made = self.target(good)
        return replace(output, types=(made,) if made else ())

    def declared(self, output: str) -> Predicate:
        """A declared output has the type that the attribute names."""

        def predicate(call: Call) -> Broken | None:
            declared, to = call.outputs.get(output), self.target(call)
            if declared is None or to is None or declared.dtype in (None, to):
                return None
            shown = Shown(output, str(declared), "declared")
            return Broken((shown, self.shown(call)), f"declare `{output}` with type {declared.spell(to)}")

        return predicate

    def shown(self, call: Call) -> Shown:
        """The attribute as a message shows it: beside a number stands what it means."""
        named = self._named(call)
        meant = self.others.get(named) or (self.types.get(named, "") if isinstance(named, int) else "")
        return Shown(self.attribute, written(call.attributes[self.attribute]), str(meant))

    def rules(self, owner: Owner, output: str) -> tuple[Rule, Rule]:
        """That the attribute names a type, and that a declared output has it."""
        return self._known(owner), self._declared(owner, output)

    def _known(self, owner: Owner) -> Rule:
        listed = ", ".join(f"{named} ({dtype})" for named, dtype in self.types.items())

        def predicate(call: Call) -> Broken | None:
            if call.attributes.get(self.attribute) is ABSENT or self.target(call) is not None:
                return None
            return Broken((self.shown(call),), f"write one of {listed}")

        return owner.rule(
            f"type named by {self.attribute}",
            f"{self.attribute}.D1",
            f"`{self.attribute}` must be the number of a type that is converted to: {listed}.",
            f"{owner.ruling} says what becomes of elements in these types, and no ruling of others.",
            predicate,
            owner.but(**{self.attribute: next(iter(self.others))}),
            restricts_onnx=True,
            ruling=owner.ruling,
        )

    def _declared(self, owner: Owner, output: str) -> Rule:
        right = self.output_types(output)(owner.good)[output]
        wrong = next(each for each in self.types.values() if each is not right.dtype)
        return owner.rule(
            f"type of {output}",
            f"{output}.D2",
            f"`{output}` must have the type that `{self.attribute}` names.",
            "Two statements of one fact must agree.",
            self.declared(output),
            replace(owner.good, outputs={output: replace(right, dtype=wrong)}),
            passing=replace(owner.good, outputs={output: right}),
            ruling=owner.ruling,
        )

    def _named(self, call: Call) -> str | int:
        """What the attribute says; nothing that is no text and no integer names a type."""
        value: Any = call.attributes.get(self.attribute)
        return int(value) if is_integer(value) else value if isinstance(value, str) else ""
