"""The conformance kit: judges any runtime by the specification."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sonnx.conformance.result import Report

__all__ = ["ask", "run"]


def run(
    runtime: str,
    /,
    *,
    operators: Sequence[str] = (),
    types: Sequence[str] = (),
    jobs: int = 1,
    plan: Mapping[str, Any] | None = None,
    **options: Any,
) -> "Report":
    """Judge a runtime: one of those that `sonnx conformance --help` lists, or `module:attribute`.

    `operators` and `types` are names, all without one; `plan` has the settings of a `Plan`, such as
    `{"sums": "separate", "examples": 0}`; other options are the runtime's own. With more than one job a
    script needs `if __name__ == "__main__":`, because processes import it. Raises UnavailableError where the
    runtime cannot be had, ValueError where a name or an option is unknown.
    """
    # A child process imports this package too, and needs little of it.
    from sonnx.conformance.all_cells import judged  # noqa: PLC0415  see above
    from sonnx.conformance.cells import Plan  # noqa: PLC0415  see above
    from sonnx.conformance.spreading import over_processes  # noqa: PLC0415  see above
    from sonnx.conformance.subjects import units  # noqa: PLC0415  see above

    return judged(Plan(runtime, options, **(plan or {})), units(operators, types), over_processes(jobs))


def ask(
    runtime: str,
    operator: str,
    inputs: Mapping[str, Any],
    attributes: Mapping[str, Any] | None = None,
    constants: Collection[str] = (),
    **options: Any,
) -> list[Any]:
    """What a runtime gives for one operator, such as `clip` or `xla.clamp`, asked in a process of its own.

    `constants` names operands that a model shall hold itself. Raises RuleError where a rule is broken,
    RuntimeError with what was said where there is no result.
    """
    from sonnx.conformance.runtimes.child import Child  # noqa: PLC0415  see above
    from sonnx.conformance.runtimes.question import question  # noqa: PLC0415  see above
    from sonnx.vocabulary.trial import Trial  # noqa: PLC0415  see above

    trial = Trial("asked", inputs, (), "Asked by hand.", attributes or {}, frozenset(constants))
    with Child(runtime, **options) as child:
        answer = child.ask(question(operator, trial))
    if answer.kind != "outputs":
        raise RuntimeError(answer.text)
    return list(answer.outputs)
