"""One use of an operator, as far as rules look at it: types and attributes, never data."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from math import copysign
from types import MappingProxyType
from typing import Any

from sonnx.model.tensor_type import Dialect, TensorType, tensor_type


class Absent:
    """Marks an attribute that nobody has given; `ABSENT` is the only one."""

    def __repr__(self) -> str:
        """Print what messages show."""
        return "absent"


ABSENT = Absent()

_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Call:
    """An operator with the types of its operands and the values of its attributes.

    `attributes` holds what is written; an attribute without an entry, or with ABSENT, was not given.
    `inputs` holds the operands that are present; an optional one that is absent has no entry.
    `outputs` holds what a model declares; it is empty where nothing is declared.
    `constants` holds the elements of operands that decide a shape (Expand's `shape`). `unknown` names what
    the operator does not have; the check of a call fills it in. `version` is that of the operator in a model;
    None where there is no model.
    """

    operator: str
    inputs: Mapping[str, TensorType]
    attributes: Mapping[str, Any] = field(default_factory=lambda: _NONE)
    outputs: Mapping[str, TensorType] = field(default_factory=lambda: _NONE)
    constants: Mapping[str, tuple[Any, ...]] = field(default_factory=lambda: _NONE)
    unknown: tuple[str, ...] = ()
    version: int | None = None
    # Elements of constants for which the operator is not defined (D-ALL-11), each with its name and place.
    met: tuple[tuple[str, str], ...] = ()
    # What several rules ask of one call, found out once; a changed call starts anew.
    memo: dict[Any, Any] = field(default_factory=dict, init=False, compare=False, repr=False)


@dataclass(frozen=True)
class Alike:
    """A call that equals another where no rule can tell them apart: what was said of one serves the other."""

    key: Hashable
    call: Call = field(compare=False)


def alike(call: Call) -> Alike | None:
    """The call as one that can be remembered; None where something in it may change, or is very long."""
    written = tuple(call.attributes.items())
    marks, kinds = _marks(written), (*call.inputs.values(), *call.outputs.values())
    # Sizes that are no numbers are texts of a model.
    if marks is None or any(each.sizes is None and len(repr(each)) > _LONGEST for each in kinds):
        return None
    types = tuple(call.inputs.items()), tuple(call.outputs.items())
    return Alike(
        (types, written, marks, tuple(call.constants.items()), call.unknown, call.version, call.met), call
    )


def _marks(value: Any) -> Any:
    """What tells values apart that Python takes for equal, as 1 and True; None where one may change.

    None as well for what is longer than anything that obeys a rule: nobody shall fill the memory with it.
    """
    if type(value) in (str, tuple) and len(value) > _LONGEST:
        return None
    if type(value) is tuple:
        marks = tuple([_marks(each) for each in value])
        return None if None in marks else marks
    if type(value) is float:
        return copysign(1, value)
    return type(value) if type(value) in _LASTING else None


_LASTING = (int, bool, str, Absent)
_LONGEST = 1000


def call(
    operator: str,
    inputs: Mapping[str, str],
    attributes: Mapping[str, Any] = _NONE,
    outputs: Mapping[str, str] = _NONE,
    constants: Mapping[str, tuple[Any, ...]] = _NONE,
) -> Call:
    """Write a call with types as text: `call("Clip", {"input": "float[3]", ...})`."""
    dialect: Dialect = "xla" if operator.startswith("xla.") else "onnx"

    def types(given: Mapping[str, str]) -> dict[str, TensorType]:
        return {name: replace(tensor_type(text), dialect=dialect) for name, text in given.items()}

    return Call(operator, types(inputs), attributes, types(outputs), constants)
