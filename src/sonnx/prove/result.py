"""What came of proofs: every goal with its verdict, and under which tools."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

# `failed`: a tool did not do its work. `contradiction`: what must not follow was proved.
Verdict = Literal["proved", "timeout", "unknown", "invalid", "failed", "contradiction"]
# A goal of the kind `smoke` is one that must not be provable, such as `false`.
Kind = Literal["proof", "smoke"]

_GOOD: dict[Kind, frozenset[Verdict]] = {
    "proof": frozenset({"proved"}),
    "smoke": frozenset({"unknown", "timeout", "invalid"}),
}


@dataclass(frozen=True)
class Attempt:
    """What one prover said of a goal."""

    prover: str
    verdict: Verdict
    seconds: float = 0.0
    detail: str = ""


@dataclass(frozen=True)
class Goal:
    """One thing to be proved, or one that must not be, and what came of it.

    `subject` is what is asked for by name (`onnx/clip`, `graph`, a project's folder), `unit` a module of Why3
    or a function in C, `law` the theorem that the goal is a part of, `place` its file and line. `attempts`
    has what every prover said, in their order, where that is known.
    """

    subject: str
    unit: str
    name: str
    verdict: Verdict
    prover: str = ""
    seconds: float = 0.0
    detail: str = ""
    kind: Kind = "proof"
    law: str = ""
    place: str = ""
    attempts: tuple[Attempt, ...] = ()
    cached: bool = False

    @property
    def good(self) -> bool:
        """Whether this goal came out as it must; anything not known to be so is not."""
        return self.verdict in _GOOD[self.kind]


@dataclass(frozen=True)
class Proofs:
    """All goals of one run.

    `tools` has names and versions, `assumptions` sentences that the proofs stand on, `seconds` is the time
    that passed; the seconds of goals are those of their provers, when they were proved. `sources` are the
    files that were read, with the SHA-256 of each.
    """

    goals: tuple[Goal, ...]
    tools: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0
    assumptions: tuple[str, ...] = field(default=())
    sources: tuple[tuple[str, str], ...] = field(default=())

    @property
    def good(self) -> bool:
        """Whether there is something to be proved and all of it came out as it must."""
        return any(goal.kind == "proof" for goal in self.goals) and not self.bad

    @property
    def bad(self) -> tuple[Goal, ...]:
        """The goals that did not come out as they must."""
        return tuple(goal for goal in self.goals if not goal.good)

    @property
    def subjects(self) -> tuple[str, ...]:
        """What the goals are about, each once, in their order."""
        return tuple(dict.fromkeys(goal.subject for goal in self.goals))

    def of(self, subject: str) -> tuple[Goal, ...]:
        """The goals on one subject."""
        return tuple(goal for goal in self.goals if goal.subject == subject)


def laws(goals: Iterable[Goal]) -> int:
    """Count the theorems that goals are parts of."""
    return len({(goal.subject, goal.unit, goal.law) for goal in goals if goal.law and goal.kind == "proof"})


def digests(texts: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The names of texts and the SHA-256 of each, as files hold them."""
    return tuple((name, sha256(text.encode()).hexdigest()) for name, text in texts.items())


def joined(parts: Iterable[Proofs]) -> Proofs:
    """Several runs as one; the seconds are added."""
    listed = list(parts)
    return Proofs(
        goals=tuple(goal for part in listed for goal in part.goals),
        tools=tuple(dict.fromkeys(tool for part in listed for tool in part.tools)),
        seconds=sum(part.seconds for part in listed),
        assumptions=tuple(dict.fromkeys(text for part in listed for text in part.assumptions)),
        sources=tuple(dict.fromkeys(source for part in listed for source in part.sources)),
    )
