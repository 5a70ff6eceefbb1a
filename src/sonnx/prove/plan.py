"""Proofs that are prepared: what is to be done, and what is made of it; several can be done side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sonnx.prove.result import Goal, Proofs
from sonnx.prove.running import Job, Watch, run_jobs

# A subject or file, and a module or function of it: whether it is to be proved.
Wanted = Callable[[str, str], bool]


def everything(_subject: str, _unit: str) -> bool:
    """All modules and functions are to be proved."""
    return True


@dataclass(frozen=True)
class ProofPlan:
    """Jobs that hang on no other, and what their results, in the same order, come to."""

    jobs: Sequence[Job[list[Goal]]]
    finished: Callable[[Sequence[list[Goal]]], Proofs]


def carry_out(
    plans: Sequence[ProofPlan], workers: int | None = None, watch: Watch | None = None
) -> list[Proofs]:
    """Do the jobs of all plans, the heaviest first, and give what each comes to."""
    results = run_jobs([job for plan in plans for job in plan.jobs], workers, watch)
    found, start = [], 0
    for plan in plans:
        stop = start + len(plan.jobs)
        found.append(plan.finished(results[start:stop]))
        start = stop
    return found
