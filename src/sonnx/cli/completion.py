"""Names that a shell completes: rules and rulings, operators, runtimes, types."""

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _completing(names: Callable[[], Iterable[tuple[str, str]]]) -> Complete:
    """Offer what begins as was typed, in whatever case; a name has a text that some shells show."""

    def complete(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
        wanted = typed.lower()
        return [CompletionItem(name, help=text) for name, text in names() if name.lower().startswith(wanted)]

    return complete


def _rules() -> Iterable[tuple[str, str]]:
    from sonnx.cli.actions.explain import known_names  # noqa: PLC0415  slow, and needed by this alone

    return known_names()


def _operators() -> Iterable[tuple[str, str]]:
    from sonnx.operators import OPERATORS  # noqa: PLC0415  see above

    return ((op.name, op.contract.summary) for op in OPERATORS)


def _groups() -> Iterable[tuple[str, str]]:
    yield from _operators()
    yield "general", "rules on every operator"
    yield "graph", "rules on a model as a whole"
    yield "xla", "rules on all XLA operations"


def _judged() -> Iterable[tuple[str, str]]:
    from sonnx.conformance.subjects import SUBJECTS  # noqa: PLC0415  see above

    return ((subject.operator.name, subject.operator.contract.summary) for subject in SUBJECTS)


def _types() -> Iterable[tuple[str, str]]:
    from sonnx.conformance.subjects import SUBJECTS  # noqa: PLC0415  see above

    return ((name, "") for name in dict.fromkeys(str(dtype) for one in SUBJECTS for dtype in one.types))


def _runtimes() -> Iterable[tuple[str, str]]:
    from sonnx.conformance.runtimes.runtime import NAMES  # noqa: PLC0415  see above

    return ((name, "") for name in NAMES)


RULES, GROUPS, JUDGED, TYPES, RUNTIMES = map(_completing, (_rules, _groups, _judged, _types, _runtimes))


def _theories() -> Iterable[tuple[str, str]]:
    from sonnx.definitions import spellings  # noqa: PLC0415  see above
    from sonnx.prove.mlw import subject_of  # noqa: PLC0415  see above
    from sonnx.prove.theories import operators_sources  # noqa: PLC0415  see above

    names, files = spellings(), operators_sources()
    return ((names.get(subject_of(file), subject_of(file)), file) for file in files)


def theories(ctx: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Theories after --operators; else the folder of a project, which the shell finds."""
    if not ctx.params.get("operators"):
        return [CompletionItem(typed, type="dir")]
    return _completing(_theories)(ctx, parameter, typed)
