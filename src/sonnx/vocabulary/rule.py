"""Rules, what a broken one looks like, and the error that carries the findings."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sonnx.model.graph import Graph
from sonnx.model.location import Location
from sonnx.vocabulary.call import Call

# How rulings are named: D-CONV-6, or D-ADD where one ruling says all of an operator.
RULING = re.compile(r"\bD-[A-Z]+(?:-[1-9][0-9]*)?\b")


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
    documents state the same constraint at another operand; `ruling` names the decision behind it. `covered`
    tells of a call that breaks it whether the definition has a meaning for it even so.
    `made_from` says what in the contract's data the rule was made from, and is empty where it was written by
    hand. Where a rule says better what a general one says too, `instead_of` names that one.
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
    covered: Callable[[Call], bool] | None = None
    made_from: str = ""
    instead_of: str = ""

    def broken(self, call: Call) -> Broken | None:
        """How a call breaks the rule, or None; found out once, though other rules ask too."""
        if self.predicate not in call.memo:
            call.memo[self.predicate] = self.predicate(call)
        found: Broken | None = call.memo[self.predicate]
        return found

    @property
    def page(self) -> str:
        """Where the rule is printed: the page of its operator and the anchor there."""
        return rule_page(self.identifier)


def rule_page(identifier: str) -> str:
    """Where a rule is printed."""
    owner, *rest = identifier.split(".")
    name = f"{owner}-{rest[0]}" if owner == "xla" else owner
    return f"operators/{name}.md#{identifier.lower().replace('.', '-')}"


@dataclass(frozen=True)
class Fault:
    """How a graph breaks a rule: where, the offending values and what to do."""

    location: Location
    values: tuple[Shown, ...]
    help: str


@dataclass(frozen=True)
class GraphRule:
    """A restriction or constraint on a whole graph; it may be broken at several places.

    `predicate` is total: it answers for every graph that can be made, however wrong.
    """

    identifier: str
    statement: str
    reason: str
    restricts_onnx: bool
    predicate: Callable[[Graph], Iterable[Fault]]
    failing: Graph
    passing: Graph
    also: tuple[str, ...] = ()
    ruling: str = ""

    @property
    def page(self) -> str:
        """Where the rule is printed, as for other rules."""
        return rule_page(self.identifier)


AnyRule = Rule | GraphRule


@dataclass(frozen=True)
class Finding:
    """A rule that is broken, with the values that show it; `location` is None for a plain call.

    `follows` names the rule of another finding without which this one would not be there, or would be mended
    by normalizing.
    """

    rule: str
    statement: str
    operator: str
    values: tuple[Shown, ...]
    help: str
    page: str
    location: Location | None = None
    follows: str = ""


class RuleError(ValueError):
    """Arguments outside the profile; nothing was computed. `findings` holds every broken rule."""

    def __init__(self, findings: Sequence[Finding], text: str) -> None:
        """Keep the findings; `text` is their report, made by `sonnx.report`."""
        super().__init__(text)
        self.findings = tuple(findings)

    def __reduce__(self) -> tuple[type["RuleError"], tuple[tuple[Finding, ...], str]]:
        """Allow copies, and the way back from a worker process."""
        return RuleError, (self.findings, str(self))


class DomainError(RuleError):
    """A run met elements for which an operator is not defined (D-ALL-11); it stopped, and gives no output."""

    def __reduce__(self) -> tuple[type[RuleError], tuple[tuple[Finding, ...], str]]:
        """Stay what it is."""
        return DomainError, (self.findings, str(self))
