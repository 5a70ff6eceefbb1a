"""An operator of ONNX that the profile does not have, and when one of the profile stands in its place."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sonnx.model.tensor_type import TensorType

Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of a node's input: its type and, where the model holds them, its elements.

    `elements` have another shape than the type says where an Expand repeats them.
    """

    type: TensorType
    elements: Any = None


@dataclass(frozen=True)
class Substitute:
    """A node that means the same: its operator and which inputs of the other node it takes, by position.

    Where there is a `shape`, each of these is expanded to it first.
    """

    operator: str
    inputs: tuple[int, ...]
    shape: Shape | None = None


@dataclass(frozen=True)
class Rewriting:
    """What normalizing writes in place of an operator.

    `substitute` answers None where nothing of the profile means the same; `when` says where something does,
    `written` what, and `why` that is the same.
    `advice` is what a finding on the operator says. `oldest` is the first operator set that it speaks of.
    """

    name: str
    substitute: Callable[[Sequence[Known]], Substitute | None]
    when: str
    written: str
    why: str
    advice: str
    ruling: str
    oldest: int
