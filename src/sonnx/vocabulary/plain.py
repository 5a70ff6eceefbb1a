"""What is asked for the plain C of one node, and what comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sonnx.model.tensor_type import TensorType


@dataclass(frozen=True)
class PlainRequest:
    """A node of a conforming graph: the types of its operands by name, and its attributes with modes.

    `constants` has the elements of operands that decide a shape, `arrays` the C arrays of all others that
    have elements; `outputs` are those that somebody wants. Structures begin with `prefix`.
    """

    function: str
    inputs: Mapping[str, TensorType]
    outputs: Mapping[str, TensorType]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    constants: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    arrays: Mapping[str, str] = field(default_factory=dict)
    prefix: str = ""
    # Whether operands may lie outside a domain (D-ALL-11): of constants the check has found it out.
    guarded: bool = True


@dataclass(frozen=True)
class PlainText:
    """The C of a node: a function without parameters, and those it calls, each with its contract.

    `helpers` names functions of the package and headers, `words` has functions that other nodes may call as
    well, by their names, each after those that it calls. `guard` names the function that answers 1 where an
    element lies outside the domain, which ACSL says by `outside`: only where it answers 0 may the node's
    function be called.
    """

    text: str
    helpers: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    guard: str = ""
    outside: str = ""
