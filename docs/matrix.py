"""The matrix of evidence: what there is for every operator, each cell counted from sources or reports.

Nothing is written by hand: where a source or a report is missing, the cell says so.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

from proofs.lock import EMPTY, Entry, Lock, LockError, Unit, read_lock
from proofs.units import PROJECTS, emitted_texts, project_units, repeated, theory_units

from docs.counting import count_tests
from docs.folders import Folder
from docs.laws import count, laws_path
from docs.markup import DocsError, code, escape, prose, table
from sonnx.definitions import definitions
from sonnx.derive.why3_cases import case_theories
from sonnx.operators import OPERATORS
from sonnx.operators.shared.cases import load_cases
from sonnx.prove.assumptions import DRIVER_LINES, Assumption, assumptions
from sonnx.prove.mlw import Theory, TheoryError, read_theory
from sonnx.prove.theories import read_sources

ROOT = Path(__file__).parent.parent
NOT_PROVED, OUT_OF_DATE, NONE = "not proved", "out of date", "-"
_NODE = re.compile(r"^/\* Node (\d+)(?: `[^\n]*`)?: (\w+)$", re.MULTILINE)
_FUNCTION = re.compile(r"node_(\d+)_")
_HEADS = (
    *("operator", "rules", "meaning", "cases", "plain kernel", "fast kernel"),
    *("theory laws", "theory goals", "WP goals", "tests"),
)
_STANDING_HEADS = ("subject", "parts", "goals proved", "searches without contradiction", "by", "since")
# Where it is said what an operator means: by terms, by nodes, or by hand.
_MEANINGS = ("definition.py", "body.py", "meaning.py")


@dataclass(frozen=True)
class Evidence:
    """All that the matrix is counted from.

    `theories` are by subject, such as `onnx/clip`; `tests` is by identifier. `units` has all that can be
    proved, by theory or project, and `nodes` the operator of every node of a project; `lock` says what was
    proved.
    """

    theories: Mapping[str, Theory]
    meanings: frozenset[str]
    tests: Mapping[str, int]
    units: Mapping[str, Sequence[Unit]]
    nodes: Mapping[str, Mapping[int, str]]
    lock: Lock


def read_evidence(root: Path = ROOT, projects: Mapping[str, Mapping[str, str]] | None = None) -> Evidence:
    """Read sources, tests and the lock of the project in a folder; raises DocsError for a damaged one.

    `projects` are the sources of the emitted projects, which are written anew where they are not given.
    """
    operators = root / "src" / "sonnx" / "operators"
    sources = read_sources(operators)
    emitted = {name: emitted_texts(name) for name in PROJECTS} if projects is None else projects
    without = repeated(emitted)
    try:
        theories = [read_theory(file, text) for file, text in sources.items()]
        # Which tools are on this machine is nothing to a page; the lock names those that proved.
        units = theory_units(sources | _cases(operators), tools="", definitions=_definitions())
    except TheoryError as error:
        raise DocsError(f"a theory cannot be read: {error}") from None
    grouped = {subject: list(part) for subject, part in groupby(units, lambda unit: _subject(unit.name))}
    return Evidence(
        {theory.subject: theory for theory in theories},
        frozenset(_folder(operators, path) for name in _MEANINGS for path in operators.rglob(name)),
        count_tests(root / "tests" / "operators"),
        grouped | {name: project_units(name, texts, "", without=without) for name, texts in emitted.items()},
        {
            name: {int(number): operator for number, operator in _NODE.findall(texts["model.c"])}
            for name, texts in emitted.items()
        },
        _lock(root / "proofs.lock"),
    )


# Written once, however many projects are looked at.
_definitions = cache(definitions)


def _cases(operators: Path) -> dict[str, str]:
    """The cases of the operators in a folder as goals."""
    homes = ((operators / (each.contract.domain or "onnx") / each.folder, each) for each in OPERATORS)
    return case_theories([each for home, each in homes if (home / "cases.toml").is_file()], load_cases)


def _subject(unit: str) -> str:
    return unit.partition(" ")[0]


def _lock(path: Path) -> Lock:
    if not path.is_file():
        return EMPTY
    try:
        return read_lock(path.read_text(encoding="utf-8"))
    except (LockError, OSError, UnicodeDecodeError) as error:
        raise DocsError(f"{path.name} is not believed: {error}; make prove ALL=1 writes it anew") from None


def _folder(operators: Path, path: Path) -> str:
    return path.parent.relative_to(operators).as_posix()


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
    derived = _derives_c(folder)
    tests = evidence.tests.get(folder.name.replace("-", ".", 1)) if has_operator else None
    return [
        f"[{escape(folder.title)}]({folder.path})",
        f"[{len(folder.rules)}]({folder.path}{'#rules' if _has(folder, 'Rules') else ''})",
        meaning,
        f"[{len(folder.cases)}]({folder.cases_path})" if has_operator else NONE,
        "derived" if derived else NONE,
        _fast_cell(folder) if derived else NONE,
        *_theory_cells(subject, evidence),
        _wp_cell(folder.title, evidence) if derived else NONE,
        _number(tests),
    ]


def _fast_cell(folder: Folder) -> str:
    """Where the fast kernel comes from."""
    by_hand = any(op.name == folder.title and op.kernels is not None for op in OPERATORS)
    return "by hand" if by_hand else "derived"


def _derives_c(folder: Folder) -> bool:
    """Tell whether C follows from the definition: of operators that a model may hold."""
    return any(op.name == folder.title and op.contract.versions for op in OPERATORS)


def _has(folder: Folder, heading: str) -> bool:
    """Tell whether a page has a section; those of operators all have the sections asked for."""
    written = re.search(rf"^## {heading}$", folder.page or "", re.MULTILINE) is not None
    return written or folder.contract is not None


def _number(found: int | None) -> str:
    return NONE if found is None else str(found)


def _shared_row(subject: str, evidence: Evidence) -> list[str]:
    return [code(f"{subject}.mlw"), *[NONE] * 5, *_theory_cells(subject, evidence), NONE, NONE]


def _theory_cells(subject: str, evidence: Evidence) -> tuple[str, str]:
    if subject not in evidence.theories:
        return NONE, NONE
    laws = f"[{count(evidence.theories[subject])}]({laws_path(subject)})"
    return laws, _goals(evidence.units[subject], evidence.lock)


def _goals(units: Sequence[Unit], lock: Lock) -> str:
    """How many goals were proved of the texts that are here; or why that cannot be said."""
    entries = [lock.entries.get(unit.name) for unit in units]
    if not any(entries):
        return NOT_PROVED
    if not all(entry and entry.text == unit.text for entry, unit in zip(entries, units, strict=True)):
        return OUT_OF_DATE
    return str(sum(entry.goals for entry in entries if entry))


def _wp_cell(operator: str, evidence: Evidence) -> str:
    def is_mine(project: str, function: str) -> bool:
        found = _FUNCTION.match(function)
        return found is not None and evidence.nodes[project].get(int(found[1])) == operator

    return _over_projects(evidence, is_mine)


def _beside(evidence: Evidence) -> str:
    return _over_projects(evidence, lambda _, function: not _FUNCTION.match(function))


def _over_projects(evidence: Evidence, is_mine: Callable[[str, str], bool]) -> str:
    """The goals of all projects that belong somewhere, project by project where one is not in order."""
    cells: dict[str, str] = {}
    for project in evidence.nodes:
        units = [unit for unit in evidence.units[project] if is_mine(project, unit.name.partition(" ")[2])]
        if units:
            cells[project] = _goals(units, evidence.lock)
    numbers = [int(cell) for cell in cells.values() if cell.isdigit()]
    others = [f"{name}: {cell}" for name, cell in cells.items() if not cell.isdigit()]
    if not cells:
        return "no node"
    if not numbers and set(cells.values()) == {NOT_PROVED}:
        return NOT_PROVED
    return "; ".join([*([str(sum(numbers))] if numbers else []), *others])


def standing_table(evidence: Evidence) -> str:
    """What the lock says of every theory and project, and since when."""
    rows = []
    for subject, units in evidence.units.items():
        entries = [entry for unit in units if (entry := evidence.lock.entries.get(unit.name))]
        goals = _goals(units, evidence.lock)
        if not goals.isdigit():
            rows.append((code(subject), str(len(units)), goals, NONE, NONE, NONE))
            continue
        provers = sorted({prover for entry in entries for prover in entry.provers})
        searches = str(sum(entry.searches for entry in entries))
        cells = (str(len(units)), goals, searches, escape(", ".join(provers)), _since(entries))
        rows.append((code(subject), *cells))
    absent = (
        ""
        if evidence.lock.entries
        else "There is no `proofs.lock`, or it has no entry: nothing stands as proved.\n\n"
    )
    return absent + table(_STANDING_HEADS, rows)


def _since(entries: Sequence[Entry]) -> str:
    """The days and commits at which entries were proved, with their number where there are several."""
    stamps = sorted((entry.date, entry.commit) for entry in entries)
    parts = []
    for (day, commit), same in groupby(stamps):
        number = len(list(same))
        at = f", commit {code(commit.rstrip('+'))}" if commit else ""
        changed = " and what was not committed then" if commit.endswith("+") else ""
        parts.append(f"{day}{at}{changed}" + (f" ({number})" if number != len(stamps) else ""))
    return "<br>".join(parts)


def tools_table(evidence: Evidence) -> str:
    """The tools by which entries of the lock were proved, and how many."""
    used = [entry.tools for entry in evidence.lock.entries.values()]
    rows = [
        (escape(", ".join(names)), str(used.count(digest))) for digest, names in evidence.lock.tools.items()
    ]
    return table(("tools", "parts proved by them"), rows or [(NOT_PROVED, NONE)])


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
