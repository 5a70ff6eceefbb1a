"""What every file goes through: read, check, report in every form, save, normalize, the command itself."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from tests.load.support import form

from sonnx import __version__
from sonnx.check.models import check_graph
from sonnx.cli import main
from sonnx.load.limits import LoadError
from sonnx.load.reader import from_bytes, load
from sonnx.load.writer import to_bytes
from sonnx.model.graph import Graph
from sonnx.normalize.passes import normalize_graph
from sonnx.operators.rulebook import rules
from sonnx.report.changes import changes_text
from sonnx.report.findings_json import findings_json
from sonnx.report.sarif import sarif
from sonnx.report.text import findings_text
from sonnx.vocabulary.rule import Finding


class WrongError(Exception):
    """A promise that was not kept."""


@dataclass(frozen=True)
class Judged:
    """A file that could be read, and what the check found in it."""

    path: Path
    graph: Graph
    findings: tuple[Finding, ...]


# A stage answers every text that it would show to somebody.
Stage = Callable[[Judged], Iterator[str]]
UNREADABLE, FINDINGS, CONFORMING = "unreadable", "with findings", "conforming"


def judge(path: Path, stages: tuple[Stage, ...], begins: Callable[[str], None]) -> str:
    """Send a file through all stages, each announced as it begins.

    Raises WrongError, or whatever a stage raises, where one fails.
    """
    begins("load")
    try:
        graph = load(path)
    except LoadError as error:
        _look(str(error))
        begins("command")
        _command(path, 2)
        return UNREADABLE
    begins("check")
    judged = Judged(path, graph, check_graph(graph))
    for stage in stages:
        begins(stage.__name__)
        for text in stage(judged):
            _look(text)
    return FINDINGS if judged.findings else CONFORMING


def _look(text: str) -> None:
    for line in text.split("\n"):
        if not line.isprintable():
            raise WrongError(f"raw output: {line[:200]!a}")


def words(judged: Judged) -> Iterator[str]:
    """The report for people."""
    yield findings_text(judged.findings)


def _about(judged: Judged) -> dict[str, Any]:
    content = judged.path.read_bytes()
    hashed = sha256(content).hexdigest()
    return {"file": str(judged.path), "sha256": hashed, "size": len(content), "version": __version__}


def plain_json(judged: Judged) -> Iterator[str]:
    """The report for programs, with every finding."""
    text = findings_json(judged.findings, **_about(judged))
    if len(json.loads(text)["findings"]) != len(judged.findings):
        raise WrongError("JSON has another number of findings")
    yield text


def standard_json(judged: Judged) -> Iterator[str]:
    """The report for viewers of findings, with every finding."""
    text = sarif(judged.findings, rules(), **_about(judged))
    if len(json.loads(text)["runs"][0]["results"]) != len(judged.findings):
        raise WrongError("SARIF has another number of results")
    yield text


def saved(judged: Judged) -> Iterator[str]:
    """What can be saved is the same when it is read again."""
    try:
        content = to_bytes(judged.graph)
    except ValueError as error:
        yield str(error)
        return
    if form(from_bytes(content, "", judged.path.parent)) != form(judged.graph):
        raise WrongError("saved and read again, the graph is another one")


def normalized(judged: Judged) -> Iterator[str]:
    """What normalizing makes conform conforms also when it has been saved and read again."""
    done = normalize_graph(judged.graph)
    yield changes_text(done.changes)
    yield findings_text(done.findings)
    if done.findings:
        return
    try:
        content = to_bytes(done.graph)
    except ValueError as error:
        # Text that means nothing, such as documentation, breaks no rule, yet UTF-8 may not hold it.
        if "UTF-8" not in str(error):
            raise
        yield str(error)
        return
    if check_graph(from_bytes(content, "", judged.path.parent)):
        raise WrongError("normalized, saved and read again, the model does not conform")


def command(judged: Judged) -> Iterator[str]:
    """The command that people type says the same."""
    yield _command(judged.path, 1 if judged.findings else 0)


def _command(path: Path, code: int) -> str:
    done = CliRunner().invoke(main, ["check", str(path)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    if done.exit_code != code:
        raise WrongError(f"exit code {done.exit_code} instead of {code}: {done.output[:300]!a}")
    _look(done.output)
    return done.output


STAGES: tuple[Stage, ...] = (words, plain_json, standard_json, saved, normalized, command)
