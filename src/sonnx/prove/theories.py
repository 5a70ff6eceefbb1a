"""Proves the theories of the operators: every goal by some prover, nothing taken for granted unsaid."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from threading import Lock
from time import monotonic
from types import MappingProxyType

from sonnx.prove import smoke
from sonnx.prove.assumptions import theory_sentences
from sonnx.prove.configuration import write_configuration
from sonnx.prove.keeping import keep, kept, key_of
from sonnx.prove.mlw import Module, Theory, TheoryError, loopholes, read_theory, subject_of, used_files
from sonnx.prove.modules import Setup, prove_module
from sonnx.prove.plan import ProofPlan, Wanted, carry_out, everything
from sonnx.prove.result import Goal, Proofs, digests
from sonnx.prove.running import Job, Options, Watch
from sonnx.prove.smoke import CONTRADICTION, Task, TasksError, check_task, marked, print_tasks
from sonnx.prove.tools import Tools, find_tools

NO_DEFINITIONS: Mapping[str, str] = MappingProxyType({})
_NO_SPELLINGS: Mapping[str, str] = MappingProxyType({})


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
    definitions: Mapping[str, str] = NO_DEFINITIONS,
    spellings: Mapping[str, str] = _NO_SPELLINGS,
    options: Options | None = None,
    tools: Tools | None = None,
    watch: Watch | None = None,
) -> Proofs:
    """Prove the theories of the named operators (`clip`, `onnx/clip`) and what they use, or all theories.

    `definitions` are modules that theories may use and that have no laws: what was written from the
    definitions of operators, by its path; `spellings` are names of operators by the folder of their theories,
    such as `onnx/clip`. Raises ToolsMissingError, and ValueError for a name that no theory
    has.
    """
    how = options or Options()
    with planned_theories(
        names, sources=sources, definitions=definitions, spellings=spellings, options=how, tools=tools
    ) as plan:
        return carry_out([plan], how.jobs, watch)[0]


@contextmanager
def planned_theories(
    names: Sequence[str] = (),
    *,
    sources: Mapping[str, str] | None = None,
    definitions: Mapping[str, str] = NO_DEFINITIONS,
    spellings: Mapping[str, str] = _NO_SPELLINGS,
    options: Options,
    tools: Tools | None = None,
    wanted: Wanted = everything,
) -> Iterator[ProofPlan]:
    """What there is to do for theories, of which only some modules may be wanted, by file and name.

    That a theory can be read and takes nothing for granted is looked at in any case.
    """
    began = monotonic()
    texts = operators_sources() if sources is None else dict(sources)
    chosen = _chosen(names, texts, spellings)
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
        every_text = {**texts, **definitions}
        jobs = list(_Campaign(Path(name), every_text, found, options).jobs(theories, wanted))

        def finished(results: Sequence[list[Goal]]) -> Proofs:
            for (file, _), more in zip(jobs, results, strict=True):
                goals[file] += more
            # What keeps a theory from being read is told by each of its modules.
            every = tuple(dict.fromkeys(goal for file in chosen for goal in goals[file]))
            stated = (*theory_sentences(), *assumptions)
            used = {file: text for each in theories for file, text in reached(each, every_text).items()}
            read = digests({file: texts[file] for file in chosen} | used)
            return Proofs(every, found.versions, monotonic() - began, stated, read)

        yield ProofPlan([job for _, job in jobs], finished)


def reached(theory: Theory, texts: Mapping[str, str]) -> dict[str, str]:
    """The texts that a theory is made of: its own, and those of all files that it uses, by itself or not."""
    found = {theory.file: theory.text}
    waiting = [theory.file]
    while waiting:
        file = waiting.pop()
        for used in sorted(_used(file, found[file]) & texts.keys() - found.keys()):
            found[used] = texts[used]
            waiting.append(used)
    return found


@cache
def _used(file: str, text: str) -> frozenset[str]:
    """The files that a text uses, read once: all theories use the same few."""
    try:
        return frozenset(used_files(read_theory(file, text)))
    except TheoryError:  # Why3 will say what is wrong with it
        return frozenset()


def _chosen(names: Sequence[str], texts: Mapping[str, str], spellings: Mapping[str, str]) -> list[str]:
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
        about = dict.fromkeys(subject_of(file).removesuffix("/cases") for file in texts)
        there = ", ".join(spellings.get(subject, subject) for subject in about) or "none"
        raise ValueError(f"there is no theory of {', '.join(unknown)}; there are: {there}")
    for file in wanted:
        try:
            used = used_files(read_theory(file, texts[file]))
        except TheoryError:
            continue
        wanted += sorted((used & texts.keys()) - set(wanted))
    return [file for file in texts if file in wanted]


def _names(subject: str) -> set[str]:
    """By which a theory may be asked for, in small letters: its folder, or its operator; cases likewise."""
    about = subject.removesuffix("/cases")
    whole = about.replace("_", "")
    return {subject} | {name for path in (about, whole) for name in (path, path.rpartition("/")[2])}


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

    def __init__(self, folder: Path, texts: Mapping[str, str], tools: Tools, options: Options) -> None:
        self._folder, self._texts, self._tools, self._options = folder, texts, tools, options
        (folder / "scratch").mkdir()
        self._configuration = write_configuration(folder, tools)

    def jobs(self, theories: Sequence[Theory], wanted: Wanted) -> Iterator[tuple[str, Job[list[Goal]]]]:
        """What there is to do for the wanted modules of theories, with the file that each belongs to."""
        for number, theory in enumerate(theories):
            modules = [module for module in theory.modules if wanted(theory.file, module.name)]
            if not modules:
                continue
            # Each theory is read where nothing is but what it uses: what is not there, it does not hang on.
            own = reached(theory, self._texts)
            proving = self._setup(f"theories-{number}", own)
            searching = self._setup(f"marked-{number}", {**own, theory.file: marked(theory)})
            for module in modules:
                work = _Module(theory, module, proving, searching, self._options, self._key(own, module))
                name = f"{theory.subject} {module.name}"
                # Most goals take about a second, most searches less.
                yield theory.file, Job(name, work.prove, weight=1 + len(module.laws))
                yield theory.file, Job(name, work.search)

    def _setup(self, name: str, texts: Mapping[str, str]) -> Setup:
        tree = self._folder / name
        for file, text in texts.items():
            path = tree / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        scratch = self._folder / "scratch"
        return Setup(self._tools, self._configuration, tree, scratch, self._options.patience)

    def _key(self, texts: Mapping[str, str], module: Module) -> str:
        limits = smoke.MODULE_SECONDS, smoke.PREMISES_SECONDS, sorted(smoke.CONTRADICTORY.items())
        file = next(iter(texts))
        return key_of((self._configuration.identity, file, module.name, limits), texts)


@dataclass
class _Module:
    """A module that is to be proved, and looked through for contradictions; its tasks are printed once."""

    theory: Theory
    module: Module
    proving: Setup
    searching: Setup
    options: Options
    key: str
    _tasks: list[Task] | str | None = None
    _lock: Lock = field(default_factory=Lock)

    def prove(self) -> list[Goal]:
        """What came of its goals."""
        return self._kept("proof", self._prove)

    def search(self) -> list[Goal]:
        """What came of the searches for contradictions."""
        return self._kept("smoke", self._search)

    def _kept(self, kind: str, find: Callable[[list[Task]], list[Goal]]) -> list[Goal]:
        """What an earlier run has found for the same texts and tools, or what is found now."""
        key = f"{self.key}-{kind}"
        found = kept(key) if self.options.cache else None
        if found is not None:
            return list(found)
        tasks = self._printed()
        if isinstance(tasks, str):
            return [_unreadable(self.theory.file, tasks)]
        goals = find(tasks)
        if self.options.cache:
            keep(key, goals)
        return goals

    def _printed(self) -> list[Task] | str:
        with self._lock:
            if self._tasks is None:
                try:
                    self._tasks = print_tasks(self.searching, self.theory, self.module)
                except (TasksError, OSError, ValueError) as error:
                    self._tasks = str(error)
            return self._tasks

    def _prove(self, tasks: list[Task]) -> list[Goal]:
        goals = [task.goal for task in tasks if task.goal != CONTRADICTION]
        return prove_module(self.proving, self.theory, self.module, goals, self.options.seconds)

    def _search(self, tasks: list[Task]) -> list[Goal]:
        checked = [check_task(self.searching, self.theory, task) for task in tasks]
        return [goal for goal in checked if goal]
