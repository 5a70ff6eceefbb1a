"""The lock on the project's own proofs: what an entry hangs on, who is drawn, what is not believed."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import proofs.__main__ as command
import pytest
from proofs import units as units_of
from proofs.lock import (
    EMPTY,
    SHARE,
    Entry,
    Lock,
    LockError,
    Unit,
    choose,
    contradicted,
    draw,
    entry_of,
    lock_text,
    read_lock,
    refreshed,
)
from proofs.units import project_units, theory_units, tools_digests, tree_digest
from tests.prove.projects import tiny
from tests.prove.support import fake_tools

from sonnx.prove.plan import ProofPlan
from sonnx.prove.projects import PROVERS, driver_files
from sonnx.prove.result import Goal, Proofs
from sonnx.prove.running import Options
from sonnx.prove.tools import Tool

TOOLS, OTHER = "a" * 64, "b" * 64
NAMES = {TOOLS: ("why3 1.5.1", "cvc4 1.8")}
UNITS = [Unit(f"onnx/clip M{number}", f"{number:064x}", TOOLS) for number in range(25)]
COMMIT, DAY = "0123456789ab", "2026-01-02"
ENTRY = Entry("0" * 64, TOOLS, "proved", 3, 1, ("cvc4nofp",), 1.5, COMMIT, DAY)
FULL = Lock(NAMES, {unit.name: replace(ENTRY, text=unit.text) for unit in UNITS})
SOURCES = {
    "onnx/a/theory.mlw": "module A use shared.b.B goal one: 1 = 1 end module Other goal two: 2 = 2 end",
    "onnx/z/theory.mlw": "module Z goal last: 1 = 1 end",
    "shared/b.mlw": "module B use shared.deep.Deep goal base: 1 = 1 end",
    "shared/deep.mlw": "module Deep constant deep: int = 1 end",
}


def goals(proved: int = 3, searches: int = 1, **changed: Any) -> list[Goal]:
    found = [Goal("onnx/clip", "M0", f"g{n}", "proved", "cvc4nofp", 0.5) for n in range(proved)]
    found += [Goal("onnx/clip", "M0", f"s{n}", "unknown", kind="smoke") for n in range(searches)]
    return [replace(found[0], **changed), *found[1:]]


def differing(before: list[Unit], after: list[Unit]) -> set[str]:
    """The names of units whose digest is another, or that are new."""
    known = {unit.name: (unit.text, unit.tools) for unit in before}
    return {unit.name for unit in after if known.get(unit.name) != (unit.text, unit.tools)}


def test_a_lock_is_read_as_it_was_written() -> None:
    assert read_lock(lock_text(FULL)) == FULL
    assert read_lock(lock_text(EMPTY)) == EMPTY
    lines = lock_text(FULL).splitlines()
    assert sum(line.startswith(' "onnx/clip M') for line in lines) == len(UNITS)


def test_a_forged_or_damaged_lock_is_not_believed() -> None:
    entry = {**json.loads(lock_text(FULL))["entries"]["onnx/clip M0"]}
    changes: list[dict[str, Any]] = [
        *({"verdict": word} for word in ("timeout", "unknown", "failed", "contradiction", "", None)),
        *({"goals": number} for number in (0, -1, True, "3", 1.0)),
        *({"searches": number} for number in (-1, None)),
        *({"seconds": number} for number in (-1, "1", None, float("nan"))),
        *({"provers": names} for names in ([], ["\x1b[0m"], [7], None, "z3")),
        *({"text": digest} for digest in ("", "a" * 63, "A" * 64, None)),
        *({"tools": digest} for digest in ("", OTHER)),
        *({"date": day} for day in ("", "yesterday", "2026-13-01", "2026-W01-1", None)),
        *({"commit": name} for name in ("HEAD", "0123", None, "<b>012345678")),
        {"more": 1},
    ]
    texts = [
        json.dumps({"format": 1, "tools": NAMES, "entries": {"x": entry | change}}) for change in changes
    ]
    texts += ["", "{}", "[]", "7", "[" * 100000, lock_text(FULL).replace('"format": 1', '"format": 2')]
    texts += [lock_text(FULL).replace('"onnx/clip M1"', '"onnx/clip M0"')]
    texts += [lock_text(FULL).replace("why3 1.5.1", "\\u001b")]
    texts += [
        json.dumps({"format": 1, "tools": NAMES, "entries": {"x": {**entry, "goals": 0, "searches": 0}}})
    ]
    believed = []
    for text in texts:
        try:
            believed.append((read_lock(text), text[:200]))
        except LockError:
            continue
    assert believed == []


def test_an_entry_that_is_not_good_is_never_written() -> None:
    with pytest.raises(LockError, match="only what is proved has an entry"):
        lock_text(Lock(NAMES, {"x": replace(ENTRY, verdict="timeout")}))
    unit = replace(UNITS[0], goals=2, searches=1)
    assert entry_of(unit, goals(), COMMIT, DAY) == replace(ENTRY, text=unit.text)
    bad = [
        [],
        goals(proved=1),
        goals(searches=0),
        goals(verdict="timeout"),
        goals(verdict="unknown"),
        goals(verdict="failed"),
        goals(cached=True),  # an earlier run remembered it: it was not proved now
        [*goals(), Goal("onnx/clip", "M0", "s", "contradiction", kind="smoke")],
        [*goals(), Goal("onnx/clip", "M0", "s", "failed", kind="smoke")],
    ]
    assert [entry_of(unit, found, COMMIT, DAY) for found in bad] == [None] * len(bad)


def test_who_fits_stands_and_a_twentieth_is_drawn() -> None:
    choice = choose(UNITS, FULL, "tree")
    assert (choice.missing, choice.changed, choice.other_tools, choice.gone) == ((),) * 4
    assert len(choice.drawn) == 2  # 25 / 20, rounded up
    assert {*choice.drawn} | {*choice.standing} == {unit.name for unit in UNITS}
    assert not {*choice.drawn} & {*choice.standing}
    assert choice.now == frozenset(choice.drawn)
    assert not choice.outdated


def test_who_has_no_entry_or_another_one_is_proved() -> None:
    entries = dict(FULL.entries)
    del entries["onnx/clip M1"]
    entries["onnx/clip M2"] = replace(entries["onnx/clip M2"], text="f" * 64)
    entries["onnx/clip M3"] = replace(entries["onnx/clip M3"], tools=OTHER)
    entries["onnx/gone G"] = ENTRY
    choice = choose(UNITS, Lock(FULL.tools, entries), "tree")
    assert (choice.missing, choice.changed) == (("onnx/clip M1",), ("onnx/clip M2",))
    assert (choice.other_tools, choice.gone) == (("onnx/clip M3",), ("onnx/gone G",))
    assert choice.outdated
    assert {"onnx/clip M1", "onnx/clip M2", "onnx/clip M3"} < choice.now
    assert len(choice.drawn) == 2  # of the 22 that are left
    everything = choose(UNITS, FULL, "tree", everything=True)
    assert not everything.standing
    assert everything.now == {unit.name for unit in UNITS}


def test_the_draw_hangs_on_the_tree_alone_and_everybody_is_drawn_in_time() -> None:
    names = [unit.name for unit in UNITS] * 4 + [f"x {n}" for n in range(100)]
    once = draw(names, "tree 1")
    assert once == draw(list(reversed(names)), "tree 1")
    assert once != draw(names, "tree 2")
    draws = [draw({*names}, f"tree {n}") for n in range(200)]
    assert {len(drawn) for drawn in draws} == {7}  # of 125 names
    counts = {name: sum(name in drawn for drawn in draws) for name in names}
    assert min(counts.values()) > 0
    assert max(counts.values()) < 3 * len(draws) / SHARE
    assert draw([], "tree") == frozenset()
    assert draw(["one"], "tree") == {"one"}


def test_who_is_together_is_drawn_together() -> None:
    units = [replace(unit, together="t") if number % 2 else unit for number, unit in enumerate(UNITS)]
    lock = Lock(NAMES, {unit.name: replace(ENTRY, text=unit.text, tools=unit.tools) for unit in units})
    together, seen = {unit.name for unit in units if unit.together}, set()
    for tree in map(str, range(60)):
        drawn = {*choose(units, lock, tree).drawn}
        assert drawn
        assert together <= drawn or not together & drawn
        seen.add(together <= drawn)
    assert seen == {True, False}


def test_a_drawn_entry_that_claims_something_else_is_found_out() -> None:
    unit, entry = UNITS[0], FULL.entries[UNITS[0].name]
    assert contradicted(unit, entry, entry_of(unit, goals(), COMMIT, DAY)) == ""
    slower = replace(entry, seconds=99.0, provers=("z3new",), commit="", date="2027-01-01")
    assert contradicted(unit, entry, slower) == ""
    assert "it is not" in contradicted(unit, entry, None)
    assert "speaks of 3 goals; there are 4" in contradicted(unit, entry, replace(entry, goals=4))
    assert "there are 0" in contradicted(unit, entry, replace(entry, searches=0))


def test_what_holds_keeps_its_date_and_what_does_not_gets_a_new_one() -> None:
    later = {unit.name: replace(ENTRY, text=unit.text, date="2027-01-01") for unit in UNITS[:3]}
    entries = {name: entry for name, entry in FULL.entries.items() if name != UNITS[1].name}
    entries[UNITS[2].name] = replace(ENTRY, text="f" * 64)
    old = Lock({**NAMES, OTHER: ("cvc4 1.7",)}, {**entries, "onnx/gone G": ENTRY})
    fresh = refreshed(old, UNITS, later, Lock(NAMES, {}))
    assert fresh.entries.keys() == FULL.entries.keys()
    new = {name for name, entry in fresh.entries.items() if entry.date == "2027-01-01"}
    assert new == {UNITS[1].name, UNITS[2].name}
    assert read_lock(lock_text(fresh)).tools == NAMES  # nobody stands by the other ones any more


def test_the_digest_of_a_module_hangs_on_its_text_and_imports_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    before = theory_units(SOURCES, TOOLS)
    names = {unit.name for unit in before}
    assert names == {"onnx/a A", "onnx/a Other", "onnx/z Z", "shared/b B", "shared/deep Deep"}
    assert {unit.name: (unit.goals, unit.searches) for unit in before}["shared/deep Deep"] == (0, 1)

    def after(file: str, old: str, new: str) -> set[str]:
        assert SOURCES[file].count(old) == 1
        return differing(before, theory_units({**SOURCES, file: SOURCES[file].replace(old, new)}, TOOLS))

    mine = {"onnx/a A", "onnx/a Other"}
    assert differing(before, theory_units(dict(reversed(SOURCES.items())), TOOLS)) == set()
    assert after("onnx/a/theory.mlw", "two: 2 = 2", "two: 2 = 3") == mine
    assert after("onnx/z/theory.mlw", "1 = 1", "1 = 2") == {"onnx/z Z"}
    assert after("shared/b.mlw", "1 = 1", "1 = 2") == {*mine, "shared/b B"}
    assert after("shared/deep.mlw", "= 1", "= 2") == {*mine, "shared/b B", "shared/deep Deep"}
    assert differing(before, theory_units(SOURCES, OTHER)) == names
    assert differing(before, theory_units(SOURCES, TOOLS, Options(seconds=11))) == names
    assert (
        differing(before, theory_units(SOURCES, TOOLS, Options(jobs=7, cache=False, patience=1.0))) == set()
    )
    for way in ("configuration.py", "mlw.py", "modules.py", "result.py", "smoke.py"):
        assert way in units_of._WAYS  # rounds, limits, options, what is believed
    monkeypatch.setattr(units_of, "_ways", lambda names: dict.fromkeys(names, "another limit"))
    assert differing(before, theory_units(SOURCES, TOOLS)) == names


def test_the_digest_of_a_function_hangs_on_sources_and_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = {**tiny("Clip"), "weights.c": "/* a */\nint a;\n"}
    sources.pop("test_model.c")
    before = project_units("tiny", sources, TOOLS)
    whole = {"tiny the whole program"}
    names = {unit.name for unit in before}
    assert whole < names
    assert len(names) == 8

    def after(file: str, old: str, new: str) -> set[str]:
        assert old in sources[file]
        return differing(
            before, project_units("tiny", {**sources, file: sources[file].replace(old, new)}, TOOLS)
        )

    assert after("model.c", "max < ", "max <= ") == names
    assert after("model.c", "assigns \\nothing", "assigns t_t3[0]") == names
    assert after("model.h", "#define", "#define OTHER\n#define") == names
    assert after("weights.c", "int a", "int b") == whole  # WP looks at model.c alone
    assert after("model.c", "/* Written by sonnx", "/* Emitted by sonnx") == set()
    assert differing(before, project_units("tiny", sources, OTHER)) == names
    assert differing(before, project_units("tiny", sources, TOOLS, Options(seconds=11))) == names
    driver = {**driver_files()}
    driver["ieee.driver"] += "\n"
    with monkeypatch.context() as patch:
        patch.setattr(units_of, "driver_files", lambda: driver)
        assert differing(before, project_units("tiny", sources, TOOLS)) == names
    with monkeypatch.context() as patch:
        patch.setattr(units_of, "PROVERS", PROVERS[::-1])
        assert differing(before, project_units("tiny", sources, TOOLS)) == names
    with monkeypatch.context() as patch:
        patch.setattr(units_of, "_ways", lambda names: dict.fromkeys(names, "another limit"))
        assert differing(before, project_units("tiny", sources, TOOLS)) == names
    assert {"configuration.py", "eva.py", "result.py", "wp.py"} == {*units_of._WAYS_IN_C}


def test_the_digest_of_tools_hangs_on_versions_and_drivers_and_not_on_where_they_are(tmp_path: Path) -> None:
    def tools_in(name: str) -> Any:
        (tmp_path / name).mkdir()
        tools = fake_tools(tmp_path / name, "")
        return replace(tools, frama_c=Tool("frama-c", tools.why3.path, "25.0"))

    first, second = tools_in("first"), tools_in("second")
    # Another processor has other programs of the same versions.
    second.cvc4.path.write_text(second.cvc4.path.read_text() + "# longer\n")
    digests, names = tools_digests(first)
    assert tools_digests(second) == (digests, names)
    assert names[digests["operators"]] == ("why3 1.5.1", "cvc4 1.8", "z3 4.8.12")
    assert names[digests["example"]] == ("why3 1.5.1", "frama-c 25.0", "cvc4 1.8", "z3 4.8.12")
    frama = tools_digests(replace(first, frama_c=replace(first.frama_c, version="26.0")))[0]
    assert [frama[name] == digests[name] for name in ("operators", "example", "fused")] == [
        True,
        False,
        False,
    ]
    for tool in ("why3", "cvc4", "z3"):
        newer = replace(first, **{tool: replace(getattr(first, tool), version="9.9")})
        assert not {*tools_digests(newer)[0].values()} & {*digests.values()}
    driver = tmp_path / "second" / "data" / "drivers" / "z3_471.drv"
    driver.write_text(driver.read_text() + "(* more *)\n")
    assert not {*tools_digests(second)[0].values()} & {*digests.values()}


def test_the_digest_of_the_tree_changes_with_any_file_that_people_write(tmp_path: Path) -> None:
    digests = [tree_digest(tmp_path)]
    for file in ("src/a.py", "tests/b.py", "docs/c.md", "Makefile"):
        path = tmp_path / file
        path.parent.mkdir(exist_ok=True)
        path.write_text("text")
        digests.append(tree_digest(tmp_path))
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "made.py").write_text("")
    (tmp_path / "src" / "a.pyc").write_text("")
    assert tree_digest(tmp_path) == digests[-1]
    assert len({*digests}) == len(digests)


def test_what_users_prove_knows_no_lock() -> None:
    package = Path(units_of.__file__).parent.parent / "src"
    named = [path for path in package.rglob("*.py") if "proofs.lock" in path.read_text(encoding="utf-8")]
    assert named == []


def test_what_is_proved_now_comes_from_no_cache_and_is_what_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, bool, bool]] = []

    @contextmanager
    def planned(
        folder: Path | None = None, *, options: Options, wanted: Any, **_: Any
    ) -> Iterator[ProofPlan]:
        subject, unit = ("onnx/clip/theory.mlw", "Clip") if folder is None else (folder.name, "f")
        seen.append((subject, options.cache, wanted(subject, unit)))
        yield ProofPlan([], lambda _: Proofs(()))

    monkeypatch.setattr(command, "planned_theories", planned)
    monkeypatch.setattr(command, "planned_project", planned)
    monkeypatch.setattr(command, "emitted", lambda name: {"model.c": name.encode()})
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "left.c").write_text("of an earlier run")
    found = command.prove(tmp_path, frozenset({"onnx/clip Clip", "kernels f"}), cast(Any, None))
    assert seen == [
        ("onnx/clip/theory.mlw", False, True),
        ("kernels", False, True),
    ]
    # Nobody looks at a project of which nothing is wanted.
    assert found.asked == {"onnx/clip Clip", "kernels f"}
    assert found.reports.keys() == {"operators", "kernels"}
    assert [path.name for path in (tmp_path / "kernels").iterdir()] == ["model.c"]


def proofs_for(wanted: frozenset[str], wrong: str = "", extra: str = "", spoiled: str = "") -> command.Found:
    """What a run would find that proves all it is asked for, but for one unit, and has one goal too many."""
    found = []
    for name in sorted(wanted):
        subject, _, unit = name.partition(" ")
        found += [replace(goal, subject=subject, unit=unit) for goal in goals()]
        if name == wrong:
            found.append(Goal(subject, unit, "open", "timeout"))
        if name == extra:
            found.append(Goal(subject, unit, "more", "proved", "z3new"))
    if spoiled:
        found.append(Goal(spoiled, "", "annotations take nothing for granted: admit", "failed"))
    return command.Found({"operators": Proofs(tuple(found))}, frozenset(unit.name for unit in UNITS))


class Runs:
    """Runs of the command over made-up units, by a prover that proves what it is asked for."""

    def __init__(self, root: Path, patch: pytest.MonkeyPatch, output: pytest.CaptureFixture[str]) -> None:
        self.root, self.output, self.wanted, self.units = root, output, frozenset[str](), list(UNITS)
        self.names = dict(NAMES)
        self.found: dict[str, str] = {}
        patch.setattr(command, "find_tools", lambda _: None)
        patch.setattr(command, "tools_digests", lambda _: ({}, self.names))
        patch.setattr(command, "all_units", lambda _: self.units)
        patch.setattr(command, "tree_digest", lambda _: "tree")
        patch.setattr(command, "_commit", lambda _: COMMIT)
        patch.setattr(command, "prove", self._prove)

    def _prove(self, _folder: Path, wanted: frozenset[str], _tools: object) -> command.Found:
        self.wanted = wanted
        return proofs_for(wanted, **self.found)

    def write(self, lock: Lock) -> None:
        (self.root / "proofs.lock").write_text(lock_text(lock))

    def __call__(self, *, everything: bool = False) -> tuple[int, str]:
        code = command.run(self.root / "build", everything=everything, root=self.root)
        said = self.output.readouterr()
        return code, said.out + said.err

    def lock(self, folder: str = ".") -> Lock:
        return read_lock((self.root / folder / "proofs.lock").read_text())


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Runs:
    return Runs(tmp_path, monkeypatch, capsys)


def test_a_run_says_how_many_were_proved_now_and_how_many_stand(runs: Runs) -> None:
    runs.write(FULL)
    code, said = runs()
    assert code == 0
    assert runs.wanted == draw([unit.name for unit in UNITS], "tree")
    assert "proved now: 2 (6 goals, 2 searches for contradictions)" in said
    assert "by the lock, not proved now: 23 (69 goals, 23 searches for contradictions)" in said
    assert f"since {DAY} commit {COMMIT}" in said
    assert runs.lock() == FULL
    assert "refreshed" not in said
    assert not (runs.root / "build" / "proofs.lock").exists()


def test_everything_proved_anew_writes_the_lock(runs: Runs) -> None:
    code, said = runs(everything=True)
    assert code == 0
    assert runs.lock().entries.keys() == {unit.name for unit in UNITS}
    assert "by the lock, not proved now: 0 (0 goals" in said
    runs.found = {"wrong": UNITS[4].name}
    before = (runs.root / "proofs.lock").read_bytes()
    code, said = runs(everything=True)
    assert code == 1
    assert (runs.root / "proofs.lock").read_bytes() == before
    assert UNITS[4].name not in runs.lock("build").entries


def test_an_entry_that_is_out_of_date_is_proved_and_a_fresh_lock_offered(runs: Runs) -> None:
    runs.write(Lock(NAMES, {**FULL.entries, UNITS[0].name: replace(ENTRY, text="f" * 64)}))
    before = (runs.root / "proofs.lock").read_bytes()
    code, said = runs()
    assert code == 0
    assert UNITS[0].name in runs.wanted
    assert "1 whose text or limits have changed" in said
    assert "proofs.lock should be refreshed" in said
    assert (runs.root / "proofs.lock").read_bytes() == before
    assert runs.lock("build").entries[UNITS[0].name].text == UNITS[0].text
    (runs.root / "proofs.lock").write_bytes((runs.root / "build" / "proofs.lock").read_bytes())
    assert "refreshed" not in runs()[1]


def test_other_tools_are_told_and_all_that_they_have_proved_is_proved_here(runs: Runs) -> None:
    runs.write(FULL)
    runs.units = [replace(unit, tools=OTHER) for unit in UNITS]
    runs.names = {OTHER: ("why3 1.5.1", "cvc4 1.9")}
    code, said = runs()
    assert code == 0
    assert runs.wanted == {unit.name for unit in UNITS}
    assert "25 proved by other tools before" in said
    assert "the lock: cvc4 1.8\n" in said
    assert "here: cvc4 1.9\n" in said


def test_a_lock_that_does_not_hold_fails_the_run(runs: Runs) -> None:
    drawn = min(draw([unit.name for unit in UNITS], "tree"))
    runs.write(FULL)
    runs.found = {"wrong": drawn}
    code, said = runs()
    assert (code, "the lock says that it is proved; it is not" in said) == (1, True)
    assert drawn not in runs.lock("build").entries
    runs.found = {"extra": drawn}
    code, said = runs()
    assert (code, f"{drawn}: the lock speaks of 3 goals; there are 4" in said) == (1, True)
    assert runs.lock("build").entries[drawn].goals == 4
    runs.found = {}
    runs.write(Lock(NAMES, {**FULL.entries, "onnx/gone G": ENTRY}))
    code, said = runs()
    assert (code, "onnx/gone G: the lock has an entry for it, and it is not there" in said) == (1, True)
    assert "onnx/gone G" not in runs.lock("build").entries
    runs.write(Lock({TOOLS: ("why3 9.9",)}, FULL.entries))
    code, said = runs()
    assert (code, "the lock names tools that are not those of the digest" in said) == (1, True)
    runs.write(FULL)
    runs.units[7] = replace(runs.units[7], goals=5)
    code, said = runs()
    assert (code, "speaks of 3 goals and 1 searches" in said) == (1, True)


def test_a_text_that_takes_something_for_granted_has_no_entry(runs: Runs) -> None:
    runs.found = {"spoiled": "onnx/clip"}
    code, said = runs()
    assert code == 1
    assert "error: onnx/clip: annotations take nothing for granted: admit" in said
    assert runs.lock("build") == EMPTY
    runs.write(FULL)
    code, said = runs()
    assert (code, "error: onnx/clip: annotations take nothing for granted: admit" in said) == (1, True)


def test_a_damaged_lock_ends_the_run_before_anything_is_proved(runs: Runs) -> None:
    (runs.root / "proofs.lock").write_text(lock_text(FULL).replace('"proved"', '"unproved"', 1))
    code, said = runs()
    assert code == 1
    assert runs.wanted == frozenset()
    assert "proofs.lock is not believed: onnx/clip M0: the verdict is 'unproved'" in said
    assert runs(everything=True)[0] == 0
    assert runs.lock().entries.keys() == FULL.entries.keys()


def test_something_that_no_tool_was_asked_for_fails_the_run(runs: Runs) -> None:
    runs.write(FULL)
    runs.units.append(Unit("onnx/clip New", "e" * 64, TOOLS))
    code, said = runs()
    assert (code, "onnx/clip New: it is there, and no tool was asked for it" in said) == (1, True)


COPY = """/*@ assigns t_x[0 .. 1];
    ensures same(t_x[0], in_x[0]); */
static void copy_in_x(const int8_t in_x[2])
{
    t_x[0] = in_x[0];
}
"""
ABOVE = """/*@ predicate same(integer a, integer b) = a == b; */
static int8_t buffer_0[2];
#define t_x buffer_0

"""


def test_a_function_that_stands_in_two_projects_of_operators_is_proved_in_one() -> None:
    def repeated(*texts: str) -> frozenset[str]:
        one, other = ({"model.c": text} for text in texts)
        return units_of.repeated({"abs": one, "add": other})

    usual = ABOVE + COPY
    assert repeated(usual, usual) == {"add copy_in_x"}
    assert repeated(usual, usual.replace("buffer_0", "buffer_7")) == {"add copy_in_x"}
    # Whatever its verdict hangs on makes it another function.
    for old, new in (
        ("a == b", "a <= b"),  # a predicate
        ("buffer_0[2]", "buffer_0[3]"),  # an array
        ("int8_t buffer", "uint8_t buffer"),
        ("#define t_x buffer_0", "static int8_t t_x[2];"),
        ("[0 .. 1]", "[0 .. 0]"),  # its contract
        ("= in_x[0];", "= in_x[1];"),  # its body
        ("= in_x[0];", "= other(in_x);"),  # whoever calls is proved with whom it calls
    ):
        assert usual.count(old) == 1
        assert repeated(usual, usual.replace(old, new)) == frozenset(), new
    # Of the example every function is proved.
    example = {"example": {"model.c": usual}, "abs": {"model.c": usual}}
    assert units_of.repeated(example) == frozenset()


def test_nothing_of_the_operators_is_left_out_but_what_is_proved_elsewhere() -> None:
    projects = {name: units_of.emitted_texts(name) for name in units_of.PROJECTS[:9]}
    without = units_of.repeated(projects)
    assert any(name.startswith("add copy_in") for name in without)
    every = {unit.name for name, texts in projects.items() for unit in project_units(name, texts, TOOLS)}
    some = {
        unit.name
        for name, texts in projects.items()
        for unit in project_units(name, texts, TOOLS, without=without)
    }
    assert every - some == without - {name for name in without if name not in every}
    assert not any("node_" in name for name in every - some)
