"""Rules, what a broken one looks like, and the error that carries the findings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sonnx.model.call import Call


@dataclass(frozen=True)
class Shown:
    """One line of evidence: `pads = [1, 1]           2 values`."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Broken:
    """How a call breaks a rule: the offending values and what to do."""

    values: tuple[Shown, ...]
    help: str


Predicate = Callable[[Call], Broken | None]


@dataclass(frozen=True)
class Rule:
    """A restriction or constraint on calls of one operator.

    `predicate` answers None where the rule holds, or where another rule already says why it cannot
    be asked (a missing operand, a wrong rank). `also` lists the labels under which the source
    documents state the same constraint at another operand; `ruling` names the decision behind it.
    """

    identifier: str
    statement: str
    reason: str
    restricts_onnx: bool
    predicate: Predicate
    failing: Call
    passing: Call
    also: tuple[str, ...] = ()
    ruling: str = ""

    @property
    def page(self) -> str:
        """Where the rule is printed: the page of its operator and the anchor there."""
        return f"operators/{self.identifier.split('.')[0]}.md#{self.identifier.lower().replace('.', '-')}"


@dataclass(frozen=True)
class Finding:
    """A rule that a call breaks, with the values that show it; `location` is empty for a plain call."""

    rule: str
    statement: str
    operator: str
    values: tuple[Shown, ...]
    help: str
    page: str
    location: str = ""


class RuleError(ValueError):
    """Arguments outside the profile; nothing was computed. `findings` holds every broken rule."""

    def __init__(self, findings: Sequence[Finding], text: str) -> None:
        """Keep the findings; `text` is their report, made by `sonnx.report`."""
        super().__init__(text)
        self.findings = tuple(findings)

    def __reduce__(self) -> tuple[type["RuleError"], tuple[tuple[Finding, ...], str]]:
        """Allow copies, and the way back from a worker process."""
        return RuleError, (self.findings, str(self))
