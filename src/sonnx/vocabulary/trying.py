"""How runtimes are tried on an operator: what its folder says itself, where it does not follow."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sonnx.numeric.arrays import Array
from sonnx.numeric.enclosure import Enclosure
from sonnx.vocabulary.draws import Drawn
from sonnx.vocabulary.form import Form
from sonnx.vocabulary.moves import Moves
from sonnx.vocabulary.trial import Clause, Clauses, Trials

Enclose = Callable[[Mapping[str, Array], Mapping[str, Any]], Mapping[str, Enclosure]]
# jax itself, operands by name, attributes → what the operator gives.
Jax = Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Any]


def _nothing(inputs: Mapping[str, Array], attributes: Mapping[str, Any]) -> tuple[Clause, ...]:
    return ()


@dataclass(frozen=True)
class StandIn:
    """Another operator, of ONNX's, that models ask, and its attribute for the new type."""

    name: str
    attribute: str


@dataclass(frozen=True, eq=False)
class Trying:
    """Everything that somebody who judges runtimes asks of an operator.

    `before` gives clauses that decide before the cases of the definition: what is easily got wrong there.
    `enclose` is there for operators that sum, which have modes, and `sums` is the ruling that says how. `jax`
    is the function of JAX that somebody would write: its name there, if it takes the operands and then the
    attributes in their order, such as `numpy.where`. `moves` is what one that only moves elements says of
    them, where it is not its contract's summary; `converts_to` is the attribute that names a type to which
    elements are converted.
    """

    trials: Trials | None = None
    clauses: Clauses | None = None
    drawn: Drawn | None = None
    form: Form | None = None
    enclose: Enclose | None = None
    sums: str = ""
    jax: str | Jax | None = None
    asked_as: StandIn | None = None
    before: Clauses = _nothing
    moves: Moves | None = None
    converts_to: str = ""
