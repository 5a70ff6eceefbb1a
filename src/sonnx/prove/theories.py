"""Proves the theories of the operators: every goal by some prover, nothing taken for granted unsaid."""

import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from time import monotonic

from sonnx.prove import smoke
from sonnx.prove.assumptions import theory_sentences
from sonnx.prove.configuration import write_configuration
from sonnx.prove.keeping import keep, kept, key_of
from sonnx.prove.mlw import Module, Theory, TheoryError, loopholes, read_theory, subject_of, used_files
from sonnx.prove.modules import Setup, prove_module
from sonnx.prove.result import Goal, Proofs, digests
from sonnx.prove.running import Job, Options, Watch, run_jobs
from sonnx.prove.smoke import CONTRADICTION, Task, TasksError, check_task, marked, print_tasks
from sonnx.prove.tools import Tools, find_tools


def operators_sources() -> dict[str, str]:
    """The texts of all theories of the installed package, by their path below the folder of operators."""
    with as_file(files("sonnx") / "operators") as folder:
        return read_sources(folder)


def read_sources(folder: Path) -> dict[str, str]:
    """The texts of all theories below a folder."""
    found = sorted(folder.rglob("*.mlw"))
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in found}


def prove_theories(
    names: Sequence[str] = (),
    *,
    sources: Mapping[str, str] | None = None,
    options: Options | None = None,
    tools: Tools | None = None,
    watch: Watch | None = None,
) -> Proofs:
    """Prove the theories of the named operators (`clip`, `onnx/clip`) and what they use, or all theories.

    Raises ToolsMissingError, and ValueError for a name that no theory has.
    """
    began = monotonic()
    texts = operators_sources() if sources is None else dict(sources)
    chosen = _chosen(names, texts)
    found = tools or find_tools()
    goals: dict[str, list[Goal]] = {}
    theories: list[Theory] = []
    assumptions: list[str] = []
    for file in chosen:
        goals[file] = []
        try:
            theory = read_theory(file, texts[file])
        except TheoryError as error:
            goals[file].append(_unreadable(file, str(error)))
            continue
        theories.append(theory)
        for hole in loopholes(theory):
            if hole.reason is None:
                goals[file].append(_taken_for_granted(theory, hole.line, hole.word, hole.shown))
            else:
                assumptions.append(f"{file}:{hole.line}: {hole.shown}: {hole.reason}")
    with tempfile.TemporaryDirectory(prefix="sonnx-", ignore_cleanup_errors=True) as name:
        campaign = _Campaign(Path(name), texts, theories, found, options or Options(), watch)
        for file, more in campaign.run().items():
            goals[file] += more
    every = tuple(goal for file in chosen for goal in goals[file])
    stated = (*theory_sentences(), *assumptions)
    read = digests({file: texts[file] for file in chosen})
    return Proofs(every, found.versions, monotonic() - began, stated, read)


def _chosen(names: Sequence[str], texts: Mapping[str, str]) -> list[str]:
    """The files of the named theories and of those they use; all without a name."""
    if not names:
        return list(texts)
    wanted: list[str] = []
    unknown: list[str] = []
    for name in names:
        asked = name.lower().replace(".", "/")
        found = [file for file in texts if asked in _names(subject_of(file))]
        unknown += [] if found else [repr(name)]
        wanted += found
    if unknown:
        there = ", ".join(spelled(subject_of(file)) for file in texts) or "none"
        raise ValueError(f"there is no theory of {', '.join(unknown)}; there are: {there}")
    for file in wanted:
        try:
            used = used_files(read_theory(file, texts[file]))
        except TheoryError:
            continue
        wanted += sorted((used & texts.keys()) - set(wanted))
    return [file for file in texts if file in wanted]


def _names(subject: str) -> set[str]:
    """By which a theory may be asked for, in small letters: its folder, or its operator."""
    whole = spelled(subject).lower().replace(".", "/")
    return {name for path in (subject, whole) for name in (path, path.rpartition("/")[2])}


def spelled(subject: str) -> str:
    """How documents spell the operator of a theory: `Clip` for `onnx/clip`; others have their path."""
    domain, _, folder = subject.rpartition("/")
    if domain not in {"onnx", "xla"}:
        return subject
    name = "".join(part.capitalize() for part in folder.split("_"))
    return f"xla.{name}" if domain == "xla" else name


def _unreadable(file: str, problem: str) -> Goal:
    return Goal(subject_of(file), "", "the theory can be read", "failed", detail=problem, place=file)


def _taken_for_granted(theory: Theory, line: int, word: str, shown: str) -> Goal:
    module = theory.module_at(line)
    return Goal(
        theory.subject,
        module.name if module else "",
        f"nothing is taken for granted: {word}",
        "failed",
        detail=f"`{shown}` is no listed assumption",
        place=f"{theory.file}:{line}",
    )


class _Campaign:
    """One run over theories, in a folder of its own."""

    def __init__(
        self,
        folder: Path,
        texts: Mapping[str, str],
        theories: Sequence[Theory],
        tools: Tools,
        options: Options,
        watch: Watch | None,
    ) -> None:
        self._folder, self._texts, self._theories = folder, texts, theories
        self._tools, self._options, self._watch = tools, options, watch

    def run(self) -> dict[str, list[Goal]]:
        """The goals of every theory, by file."""
        for name in ("theories", "marked", "scratch"):
            (self._folder / name).mkdir()
        configuration = write_configuration(self._folder, self._tools)
        keys = {theory.file: self._key(theory, configuration.identity) for theory in self._theories}
        results: dict[str, list[Goal]] = {}
        if self._options.cache:
            results = {file: list(found) for file, key in keys.items() if (found := kept(key))}
        left = [theory for theory in self._theories if theory.file not in results]
        if not left:
            return results
        self._write("theories", self._texts)
        self._write("marked", {**self._texts, **{theory.file: marked(theory) for theory in left}})
        scratch = self._folder / "scratch"
        self._proving, self._marked = (
            Setup(self._tools, configuration, self._folder / tree, scratch, self._options.patience)
            for tree in ("theories", "marked")
        )
        results |= self._prove(left)
        if self._options.cache:
            for theory in left:
                keep(keys[theory.file], results[theory.file])
        return results

    def _key(self, theory: Theory, identity: str) -> str:
        # No theory can use a file `theory.mlw`, whose name is a word of the language.
        usable = {file: text for file, text in self._texts.items() if not file.endswith("/theory.mlw")}
        limits = smoke.MODULE_SECONDS, smoke.PREMISES_SECONDS, sorted(smoke.CONTRADICTORY.items())
        return key_of((identity, theory.file, limits), {**usable, theory.file: theory.text})

    def _write(self, name: str, texts: Mapping[str, str]) -> None:
        for file, text in texts.items():
            path = self._folder / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def _prove(self, theories: Sequence[Theory]) -> dict[str, list[Goal]]:
        reading = [Job(theory.subject, partial(self._tasks, theory)) for theory in theories]
        listed = run_jobs(reading, self._options.jobs)
        results: dict[str, list[Goal]] = {theory.file: [] for theory in theories}
        jobs: list[tuple[str, Job[list[Goal]]]] = []
        for theory, tasks in zip(theories, listed, strict=True):
            if isinstance(tasks, str):
                results[theory.file].append(_unreadable(theory.file, tasks))
                continue
            for module in theory.modules:
                mine = [task for task in tasks if task.module == module]
                name = f"{theory.subject} {module.name}"
                proving = partial(self._module, theory, module, mine)
                jobs.append((theory.file, Job(name, proving, weight=len(mine))))
                jobs.append((theory.file, Job(name, partial(self._smoke, theory, mine))))
        goals = run_jobs([job for _, job in jobs], self._options.jobs, self._watch)
        for (file, _), more in zip(jobs, goals, strict=True):
            results[file] += more
        return results

    def _tasks(self, theory: Theory) -> list[Task] | str:
        try:
            return print_tasks(self._marked, theory)
        except (TasksError, OSError, ValueError) as error:
            return str(error)

    def _module(self, theory: Theory, module: Module, tasks: Sequence[Task]) -> list[Goal]:
        goals = [task.goal for task in tasks if task.goal != CONTRADICTION]
        return prove_module(self._proving, theory, module, goals, self._options.seconds)

    def _smoke(self, theory: Theory, tasks: Sequence[Task]) -> list[Goal]:
        checked = [check_task(self._marked, theory, task) for task in tasks]
        return [goal for goal in checked if goal]
