"""What `sonnx prove` does. Nothing that comes from outside is printed raw."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sonnx import __version__
from sonnx.cli.files import is_same_file
from sonnx.cli.findings import say_findings
from sonnx.cli.progress import Advance, bar, ended_by_signals
from sonnx.cli.terminal import CONFORMS, FINDINGS, fail, say, watched_console
from sonnx.definitions import definitions, spellings, theory_sources
from sonnx.load.whole_file import whole_file
from sonnx.prove.reporting import proofs_json, proofs_junit, proofs_text
from sonnx.prove.result import Proofs
from sonnx.prove.running import Options, Watch
from sonnx.prove.theories import prove_theories
from sonnx.prove.tools import ToolsMissingError


@dataclass(frozen=True)
class ProveOptions:
    """What `sonnx prove` was asked for: operators by name (all without one), or an emitted project."""

    operators: bool
    names: Sequence[str]
    form: Literal["text", "json"]
    output: str | None
    junit: str | None
    jobs: int | None
    timeout: int
    cache: bool


@ended_by_signals()
def prove_asked(options: ProveOptions) -> int:
    """Prove theories or a project, and print or write the report."""
    problem = _unfit(options)
    if problem:
        return fail(problem)
    try:
        with bar("proving") as advance:
            proofs = _proofs(options, _watch(advance))
    except (ToolsMissingError, ValueError) as error:
        return fail(str(error))
    except OSError as error:
        return fail(f"nothing could be proved: {error.filename or 'the system'}: {error.strerror}")
    report = proofs_json(proofs, __version__) if options.form == "json" else proofs_text(proofs)
    return _deliver(proofs, report.rstrip("\n"), options)


def _watch(advance: Advance) -> Watch:
    """Moves the bar; where nobody would see one, a line says at the beginning what there is to wait for."""
    seen = watched_console().is_terminal

    def watch(done: int, total: int, name: str) -> None:
        if not done and not seen:
            say(f"proving: {total} jobs for the provers, which may need minutes", error=True)
        advance(done, total, name, 0)

    return watch


def _proofs(options: ProveOptions, watch: Watch) -> Proofs:
    how = Options(seconds=options.timeout, jobs=options.jobs, cache=options.cache)
    if options.operators:
        return prove_theories(
            options.names,
            sources=theory_sources(),
            definitions=definitions(),
            spellings=spellings(),
            options=how,
            watch=watch,
        )
    from sonnx.prove.projects import prove_project  # noqa: PLC0415  theories need nothing of it

    return prove_project(Path(options.names[0]), options=how, watch=watch)


def _unfit(options: ProveOptions) -> str:
    """Why nothing can be done with what was asked for; nothing where something can."""
    if not options.operators and not (options.names[0] and Path(options.names[0]).is_dir()):
        return f"{options.names[0]} is no folder; `sonnx emit` writes one, or say --operators"
    if options.junit in ("-", "") or options.output == "":
        return f"--{'output' if options.output == '' else 'junit'} takes the name of a file"
    if options.junit is not None and options.output not in (None, "-"):
        same = is_same_file(str(options.output), Path(options.junit))
        if same or Path(str(options.output)).absolute() == Path(options.junit).absolute():
            return f"{options.output} cannot be both the report and the JUnit file"
    for path in (options.output, options.junit):
        problem = "" if path in (None, "-") else _unwritable(Path(str(path)), options)
        if problem:
            return f"{path}: {problem}"
    return ""


def _unwritable(path: Path, options: ProveOptions) -> str:
    """Why a report cannot go there: whoever has waited for proofs should not hear of it then."""
    folder = path.absolute().parent
    if not folder.is_dir():
        return "cannot be written: there is no such folder"
    if path.is_dir():
        return "cannot be written: it is a folder"
    if not os.access(folder, os.W_OK):
        return "cannot be written: nothing may be written in its folder"
    if not options.operators and folder.resolve() == Path(options.names[0]).resolve():
        return "the report cannot go into the project, which must stay as it was emitted"
    return ""


def _deliver(proofs: Proofs, report: str, options: ProveOptions) -> int:
    """Write what is to be written, print what is to be printed; answers the exit code."""
    output = "-" if options.output is None else options.output
    wanted = [] if output == "-" else [(output, f"{report}\n")]
    wanted += [(options.junit, proofs_junit(proofs))] if options.junit else []
    for path, text in wanted:
        try:
            with whole_file(path) as file:
                file.write(text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            return fail(f"{path}: cannot be written: {error.strerror}")
    if output == "-":
        say_findings(report)
    else:
        say_findings(proofs_text(proofs))
    return CONFORMS if proofs.good else FINDINGS
