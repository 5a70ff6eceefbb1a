"""What an engine is here: something that takes a case and can then be run again and again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bench.engines.subjects import Array, Case, Group


class UnavailableError(Exception):
    """The engine cannot execute the case; the message says why."""


@dataclass(frozen=True)
class Prepared:
    """A case ready to run; `outputs` gives the results of one run, in the order of the model.

    What is worth knowing beside its speed is in `notes`.
    """

    run: Callable[[], object]
    outputs: Callable[[], list[Array]]
    notes: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Engine:
    """Something that executes an ONNX file with a number of threads.

    Where it can be called in several `ways`, all are measured and the fastest counts.
    `setting` is what the bars ask about: separate or fused accumulation, plain or fast kernels. A `patient`
    engine is one whose slow runs may be measured in fewer rounds. Subjects of other `groups` are not its
    business.
    """

    name: str
    threads: int
    ways: Mapping[str, Callable[[Case], Prepared]]
    setting: str = ""
    patient: bool = False
    groups: tuple[Group, ...] = ("dense", "depthwise", "memory", "network")

    @property
    def key(self) -> str:
        return f"{self.name}, {self.threads} thread{'s' * (self.threads > 1)}"
