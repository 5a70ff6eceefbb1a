"""The matrix of evidence: what there is for every operator, each cell counted from sources or reports.

Nothing is written by hand: where a source or a report is missing, the cell says so.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docs.counting import count_tests
from docs.folders import Folder
from docs.laws import count, laws_path
from docs.markup import DocsError, code, escape, prose, table
from sonnx.prove.assumptions import DRIVER_LINES, Assumption, assumptions
from sonnx.prove.mlw import Theory, TheoryError, read_theory, used_files
from sonnx.prove.theories import read_sources

ROOT = Path(__file__).parent.parent
NOT_RUN, OUT_OF_DATE, NONE = "not run", "out of date", "-"
PROJECTS = ("example", "kernels", "fused")
_NODE = re.compile(r"^/\* Node (\d+)(?: `[^\n]*`)?: (\w+)$", re.MULTILINE)
_FUNCTION = re.compile(r"node_(\d+)_")
_HEADS = (
    *("operator", "rules", "meaning", "cases", "plain kernel", "fast kernel"),
    *("theory laws", "theory goals", "WP goals", "tests"),
)


@dataclass(frozen=True)
class Report:
    """A report of `sonnx prove` as JSON: its goals, its tools, and when it was written."""

    name: str
    document: Mapping[str, Any]
    time: float

    @property
    def goals(self) -> Sequence[Mapping[str, Any]]:
        """What was to be proved, without the searches for contradictions."""
        return [goal for goal in self.document["goals"] if goal["kind"] == "proof"]


@dataclass(frozen=True)
class Project:
    """The report on an emitted project; `nodes` has the operator of every node.

    It is None where the project's model.c is missing, or younger than the report.
    """

    report: Report
    nodes: Mapping[int, str] | None


@dataclass(frozen=True)
class Evidence:
    """All that the matrix is counted from.

    `theories` are by subject, such as `onnx/clip`, with the time of their newest file; `kernels` has the
    lines of C by folder below `operators` and kind; `tests` is by identifier.
    """

    theories: Mapping[str, tuple[Theory, float]]
    kernels: Mapping[tuple[str, str], int]
    meanings: frozenset[str]
    tests: Mapping[str, int]
    operators: Report | None
    projects: Mapping[str, Project | None]


def read_evidence(root: Path = ROOT) -> Evidence:
    """Read sources, tests and reports of the project in a folder; raises DocsError for a damaged one."""
    operators, reports = root / "src" / "sonnx" / "operators", root / "build" / "prove"
    return Evidence(
        _theories(operators),
        _kernels(operators),
        frozenset(_folder(operators, path) for path in operators.rglob("meaning.py")),
        count_tests(root / "tests" / "operators"),
        _report(reports, "operators"),
        {name: _project(reports, name) for name in PROJECTS},
    )


def _folder(operators: Path, path: Path) -> str:
    return path.parent.relative_to(operators).as_posix()


def _theories(operators: Path) -> Mapping[str, tuple[Theory, float]]:
    texts = read_sources(operators)
    try:
        listed = [read_theory(file, text) for file, text in texts.items()]
    except TheoryError as error:
        raise DocsError(f"a theory cannot be read: {error}") from None
    times = {file: (operators / file).stat().st_mtime for file in texts}
    return {
        theory.subject: (
            theory,
            max(times[file] for file in {theory.file, *(used_files(theory) & texts.keys())}),
        )
        for theory in listed
    }


def _kernels(operators: Path) -> Mapping[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for path in sorted(operators.rglob("*.[ch]")):
        kind = path.stem.partition("_")[0]
        if kind in {"plain", "fast"}:
            key = _folder(operators, path), kind
            found[key] = found.get(key, 0) + len(path.read_text(encoding="utf-8").splitlines())
    return found


def _report(folder: Path, name: str) -> Report | None:
    path = folder / f"{name}.json"
    if not path.is_file():
        return None
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        report = Report(name, document, path.stat().st_mtime)
        for goal in report.document["goals"]:
            for key in ("subject", "unit", "law", "kind", "good"):
                goal[key]
    except (OSError, ValueError, KeyError, TypeError):
        raise DocsError(f"{path.name} is no report of proofs: run make prove") from None
    return report


def _project(folder: Path, name: str) -> Project | None:
    report, source = _report(folder, name), folder / name / "model.c"
    if report is None:
        return None
    if not source.is_file() or source.stat().st_mtime > report.time:
        return Project(report, None)
    text = source.read_text(encoding="ascii", errors="replace")
    return Project(report, {int(number): operator for number, operator in _NODE.findall(text)})


def matrix(folders: Iterable[Folder], evidence: Evidence) -> str:
    """The whole matrix, with what no operator owns: shared theories, and projects beside their nodes."""
    listed = list(folders)
    rows = [_row(folder, evidence) for folder in listed]
    shared = [subject for subject in evidence.theories if subject.startswith("shared/")]
    rows += [_shared_row(subject, evidence) for subject in shared]
    rest = [NONE] * 7
    rows.append(["emitted projects, beside their nodes", *rest, _beside(evidence), NONE])
    return table(_HEADS, rows)


def subject_of(folder: Folder) -> str:
    """The name of a folder's theory: its path below the folder of operators."""
    return folder.source.removeprefix("src/sonnx/operators/").removesuffix("/page.md")


def _row(folder: Folder, evidence: Evidence) -> list[str]:
    subject, has_operator = subject_of(folder), folder.contract is not None
    meaning = f"[definition]({folder.path}#definition)" if _has(folder, "Definition") else NONE
    if has_operator and subject not in evidence.meanings:
        meaning = "missing"
    plain = evidence.kernels.get((subject, "plain"))
    tests = evidence.tests.get(folder.name.replace("-", ".", 1)) if has_operator else None
    return [
        f"[{escape(folder.title)}]({folder.path})",
        f"[{len(folder.rules)}]({folder.path}{'#rules' if _has(folder, 'Rules') else ''})",
        meaning,
        f"[{len(folder.cases)}]({folder.cases_path})" if has_operator else NONE,
        _number(plain),
        _number(evidence.kernels.get((subject, "fast"))),
        *_theory_cells(subject, evidence),
        _wp_cell(folder.title, evidence) if plain else NONE,
        _number(tests),
    ]


def _has(folder: Folder, heading: str) -> bool:
    return re.search(rf"^## {heading}$", folder.page or "", re.MULTILINE) is not None


def _number(found: int | None) -> str:
    return NONE if found is None else str(found)


def _shared_row(subject: str, evidence: Evidence) -> list[str]:
    return [code(f"{subject}.mlw"), *[NONE] * 5, *_theory_cells(subject, evidence), NONE, NONE]


def _theory_cells(subject: str, evidence: Evidence) -> tuple[str, str]:
    if subject not in evidence.theories:
        return NONE, NONE
    theory, time = evidence.theories[subject]
    laws = f"[{count(theory)}]({laws_path(subject)})"
    report = evidence.operators
    if report is None:
        return laws, NOT_RUN
    goals = [goal for goal in report.goals if goal["subject"] == subject]
    proved = {(goal["unit"], goal["law"]) for goal in goals if goal["law"]}
    stated = {(module.name, law.name) for module in theory.modules for law in module.laws}
    if report.time < time or proved != stated:
        return laws, OUT_OF_DATE
    return laws, _share(goals)


def _share(goals: Sequence[Mapping[str, Any]]) -> str:
    """How many goals are proved; all of them in one number."""
    good = sum(bool(goal["good"]) for goal in goals)
    return str(good) if good == len(goals) else f"**{good} of {len(goals)}**"


def _wp_cell(operator: str, evidence: Evidence) -> str:
    def is_mine(project: Project, unit: str) -> bool:
        found = _FUNCTION.match(unit)
        return found is not None and (project.nodes or {}).get(int(found[1])) == operator

    return _over_projects(evidence, is_mine)


def _beside(evidence: Evidence) -> str:
    return _over_projects(evidence, lambda _, unit: not _FUNCTION.match(unit))


def _over_projects(evidence: Evidence, is_mine: Callable[[Project, str], bool]) -> str:
    """The goals of all projects that belong somewhere, project by project where one is not in order."""
    cells: list[str] = []
    goals: list[Mapping[str, Any]] = []
    for name, project in evidence.projects.items():
        if project is None:
            cells.append(f"{name}: {NOT_RUN}")
        elif not _fits(project):
            cells.append(f"{name}: {OUT_OF_DATE}")
        else:
            goals += [goal for goal in project.report.goals if is_mine(project, goal["unit"])]
    if len(cells) == len(evidence.projects):
        return NOT_RUN if all(cell.endswith(NOT_RUN) for cell in cells) else "; ".join(cells)
    return "; ".join([_share(goals) if goals else "no node", *cells])


def _fits(project: Project) -> bool:
    """Whether the report speaks of the nodes that model.c has."""
    spoken = {int(found[1]) for goal in project.report.goals if (found := _FUNCTION.match(goal["unit"]))}
    return project.nodes is not None and spoken <= project.nodes.keys()


def reports_table(evidence: Evidence) -> str:
    """What each report says as a whole, and by which tools."""
    projects = [(name, project.report if project else None) for name, project in evidence.projects.items()]
    rows = []
    for name, report in (("operators", evidence.operators), *projects):
        if report is None:
            rows.append((code(f"build/prove/{name}.json"), NOT_RUN, "", "", ""))
            continue
        goals = report.goals
        smoke = [goal for goal in report.document["goals"] if goal["kind"] == "smoke"]
        tools = ", ".join(f"{tool['name']} {tool['version']}" for tool in report.document["tools"])
        cells = (
            _share(goals),
            str(len(goals)),
            f"{sum(bool(goal['good']) for goal in smoke)} of {len(smoke)}",
        )
        rows.append((code(f"build/prove/{name}.json"), *cells, escape(tools)))
    return table(("report", "proved", "goals", "searches without contradiction", "tools"), rows)


def assumptions_table() -> str:
    """Every assumption, as the package lists it."""
    return table(
        ("assumption", "what is taken for granted", "why", "how it is checked", "where"),
        [_assumption(each) for each in assumptions()],
    )


def _assumption(each: Assumption) -> tuple[str, ...]:
    scope = "" if each.scope == "all" else f"<br>({each.scope})"
    return (
        f'<span id="assumption-{each.identifier}"><code>{escape(each.identifier)}</code></span>{scope}',
        prose(each.statement),
        prose(each.needed),
        prose(each.checked),
        "<br>".join(code(path) for path in each.where),
    )


def driver_table() -> str:
    """The lines of the driver, as the package lists them."""
    return table(
        ("line of `ieee.driver`", "what it says"),
        [(code(each.line), prose(each.meaning)) for each in DRIVER_LINES],
    )
