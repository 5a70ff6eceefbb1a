import json
import os
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from tests.prove.support import fake_tools, module, proofs_of

from sonnx.prove.keeping import keep, kept, key_of
from sonnx.prove.result import Attempt, Goal
from sonnx.prove.running import Options
from sonnx.prove.tools import Tools

GOOD = Goal("s", "u", "n", "proved", "z3", 0.5, attempts=(Attempt("z3", "proved", 0.5),))
KEY = key_of("identity", {"a": "text"})
CACHING = Options(seconds=1, jobs=1, patience=2.0)
COUNTING = """
with open("{runs}", "a") as runs:
    print(*asked, file=runs)
for name in asked:
    answer(name, "{said}")
sys.exit({code})
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SONNX_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "proofs"


def write(folder: Path, document: object) -> None:
    content = json.dumps(document).encode()
    (folder / f"{KEY}.json").write_bytes(content + sha256(content).digest())


def test_what_is_kept_is_found_again_and_marked() -> None:
    keep(KEY, [GOOD])
    assert kept(KEY) == (replace(GOOD, cached=True),)
    assert kept(key_of("identity", {"a": "other"})) is None


def test_a_key_hangs_on_everything() -> None:
    others = [("other", {"a": "text"}), ("identity", {"b": "text"}), ("identity", {"a": "text", "b": ""})]
    assert len({KEY, *(key_of(*other) for other in others)}) == 4


@pytest.mark.parametrize("verdict", ["timeout", "unknown", "failed"])
def test_only_what_came_out_well_is_kept(folder: Path, verdict: str) -> None:
    keep(KEY, [GOOD, replace(GOOD, verdict=verdict)])  # type: ignore[arg-type]  # one of the verdicts
    keep(KEY, [])
    assert kept(KEY) is None
    assert not folder.exists() or not list(folder.iterdir())


@pytest.mark.parametrize(
    "change",
    [
        {"key": "another"},
        {"goals": []},
        {"goals": [{}]},
        {"goals": [{"subject": "s", "unit": "u", "name": "n", "verdict": "timeout", "attempts": []}]},
        {
            "goals": [
                {"subject": "s", "unit": "u", "name": "n", "verdict": "proved", "attempts": [], "more": 1}
            ]
        },
        {"goals": 3},
    ],
)
def test_a_kept_file_of_another_form_is_not_believed(folder: Path, change: dict[str, object]) -> None:
    keep(KEY, [GOOD])
    content = (folder / f"{KEY}.json").read_bytes()[:-32]
    write(folder, json.loads(content))
    assert kept(KEY) is not None
    write(folder, json.loads(content) | change)
    assert kept(KEY) is None


def test_a_damaged_file_is_not_believed(folder: Path) -> None:
    keep(KEY, [GOOD])
    path = folder / f"{KEY}.json"
    path.write_bytes(path.read_bytes().replace(b"0.5", b"0.6"))
    assert kept(KEY) is None


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_others_could_have_written_is_not_believed(folder: Path, what: str) -> None:
    keep(KEY, [GOOD])
    path = folder / f"{KEY}.json" if what == "file" else folder
    path.chmod(path.stat().st_mode | 0o002)
    assert kept(KEY) is None


def test_a_link_is_not_believed(folder: Path, tmp_path: Path) -> None:
    keep(KEY, [GOOD])
    os.replace(folder / f"{KEY}.json", tmp_path / "elsewhere")
    (folder / f"{KEY}.json").symlink_to(tmp_path / "elsewhere")
    assert kept(KEY) is None


def counting(folder: Path, said: str = "Valid", code: int = 0) -> tuple[Tools, Path]:
    runs = folder / "runs"
    runs.touch()
    return fake_tools(folder, COUNTING.format(runs=runs, said=said, code=code)), runs


TEXT = module("  goal one: 1 + 1 = 2")


def test_a_theory_is_proved_once(tmp_path: Path) -> None:
    tools, runs = counting(tmp_path)
    first = proofs_of(TEXT, options=CACHING, tools=tools)
    again = proofs_of(TEXT, options=CACHING, tools=tools)
    assert first.good
    assert not any(goal.cached for goal in first.goals)
    assert [replace(goal, cached=True) for goal in first.goals] == list(again.goals)
    assert runs.read_text(encoding="utf-8") == "one\n"


def test_a_changed_text_shared_text_or_tool_is_proved_anew(tmp_path: Path) -> None:
    tools, runs = counting(tmp_path)
    proofs_of(TEXT, options=CACHING, tools=tools)
    proofs_of(TEXT + "\n", options=CACHING, tools=tools)
    using = module("  use shared.base.Base\n  goal one: 1 + 1 = 2")
    for said in ("1 = 1", "2 = 2"):
        proofs_of(using, options=CACHING, tools=tools, base=f"module Base goal shared: {said} end")
    newer = Tools(tools.why3, tools.z3, replace(tools.cvc4, version="1.9"))
    proofs_of(TEXT, options=CACHING, tools=newer)
    proofs_of(TEXT, options=replace(CACHING, cache=False), tools=tools)
    assert runs.read_text(encoding="utf-8").split().count("one") == 6


def test_a_shared_text_that_is_not_used_proves_nothing_anew(tmp_path: Path) -> None:
    tools, runs = counting(tmp_path)
    for said in ("1 = 1", "2 = 2"):
        proofs_of(TEXT, options=CACHING, tools=tools, base=f"module Base goal shared: {said} end")
    assert runs.read_text(encoding="utf-8").split().count("one") == 1


def test_another_time_limit_or_number_of_jobs_proves_nothing_anew(tmp_path: Path) -> None:
    tools, runs = counting(tmp_path)
    proofs_of(TEXT, options=CACHING, tools=tools)
    others = replace(CACHING, seconds=CACHING.seconds + 4, jobs=2, patience=3.0)
    assert all(goal.cached for goal in proofs_of(TEXT, options=others, tools=tools).goals)
    assert runs.read_text(encoding="utf-8") == "one\n"


def test_what_was_not_proved_is_tried_again(tmp_path: Path) -> None:
    tools, runs = counting(tmp_path, "Unknown", 2)
    assert not proofs_of(TEXT, options=CACHING, tools=tools).good
    before = runs.read_text(encoding="utf-8")
    assert not proofs_of(TEXT, options=CACHING, tools=tools).good
    assert runs.read_text(encoding="utf-8") == before * 2


def test_an_assumption_is_told_also_of_what_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = module("  axiom a: 1 = 1\n  goal one: 1 + 1 = 2")
    tools, _ = counting(tmp_path)
    assert not proofs_of(text, options=CACHING, tools=tools).good
    assert not proofs_of(text, options=CACHING, tools=tools).good
    listed = {("onnx/tiny/theory.mlw", "axiom a: 1 = 1"): "it is known"}
    monkeypatch.setattr("sonnx.prove.mlw.ASSUMPTIONS", listed)
    proofs = proofs_of(text, options=CACHING, tools=tools)
    assert proofs.good
    assert all(goal.cached for goal in proofs.goals)
    assert proofs.assumptions[-1] == "onnx/tiny/theory.mlw:3: axiom a: 1 = 1: it is known"
