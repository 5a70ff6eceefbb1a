import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.prove.support import fake_tools
from tests.prove.support import module as theory

from sonnx.cli import main
from sonnx.cli.actions import prove as module
from sonnx.prove import theories
from sonnx.prove.result import Goal, Proofs

HONEST = "for name in asked:\n    answer(name)"
SOURCES = {
    "onnx/tiny/theory.mlw": theory("  goal one: 1 + 1 = 2"),
    "graph/theory.mlw": theory("  goal two: 2 = 2"),
}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SONNX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "theory_sources", lambda: SOURCES)
    monkeypatch.setattr(signal, "signal", lambda *_: None)


def use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: str = HONEST) -> None:
    tools = fake_tools(tmp_path, answers)
    monkeypatch.setattr(theories, "find_tools", lambda: tools)


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["prove", *words])


def never(*_: object) -> Proofs:
    raise AssertionError("something was tried")


def test_proved_theories_are_listed_with_exit_code_0(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(tmp_path, monkeypatch)
    result = run("--operators")
    assert result.exit_code == 0
    assert "onnx/tiny" in result.stdout
    assert "2 of 2 goals proved, 2 searches for contradictions found none" in result.stdout
    assert result.stderr == "proving: 4 jobs for the provers, which may need minutes\n"
    assert "4 of these results from an earlier run" in run("--operators").stdout
    assert "earlier run" not in run("--operators", "--no-cache").stdout


def test_named_theories_alone_are_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(tmp_path, monkeypatch)
    assert "1 of 1 goals proved" in run("--operators", "tiny").stdout


def test_all_names_without_a_theory_are_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(tmp_path, monkeypatch)
    unknown = run("--operators", "none\x1b", "tiny", "nothing")
    assert unknown.exit_code == 2
    assert unknown.stderr == (
        "error: there is no theory of 'none\\x1b', 'nothing'; there are: onnx/tiny, graph\n"
    )
    assert unknown.stdout == ""


@pytest.mark.parametrize("answers", ["", "answer('one', 'Timeout'); sys.exit(2)", "sys.exit(1)"])
def test_what_is_not_proved_has_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: str
) -> None:
    use(tmp_path, monkeypatch, answers)
    result = run("--operators", "tiny", "--timeout", "1", "--jobs", "1")
    assert result.exit_code == 1
    assert "NOT PROVED: 0 of 1 goals proved" in result.stdout
    assert "onnx/tiny: Tiny.one" in result.stdout


def test_no_theory_at_all_has_exit_code_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(tmp_path, monkeypatch)
    monkeypatch.setattr(module, "theory_sources", dict)
    result = run("--operators")
    assert result.exit_code == 1
    assert "there was nothing to prove" in result.stdout


def test_reports_are_written_as_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(tmp_path, monkeypatch)
    report, junit = tmp_path / "report.json", tmp_path / "junit.xml"
    result = run("--operators", "--format", "json", "-o", str(report), "--junit", str(junit))
    assert result.exit_code == 0
    assert "\n2 of 2 goals proved" in result.stdout
    assert json.loads(report.read_text(encoding="utf-8"))["proved"] is True
    assert len(list(ET.parse(junit).getroot().iter("testcase"))) == 4
    assert json.loads(run("--operators", "--format", "json").stdout)["counts"]["proved"] == 2


def test_the_json_has_the_digest_of_every_theory_that_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(tmp_path, monkeypatch)
    digests = {name: sha256(text.encode()).hexdigest() for name, text in SOURCES.items()}
    for _ in ("proved", "remembered"):
        document = json.loads(run("--operators", "--format", "json").stdout)
        assert {each["name"]: each["sha256"] for each in document["sources"]} == digests
    document = json.loads(run("--operators", "tiny", "--format", "json").stdout)
    (file,) = document["sources"]
    assert file == {"name": "onnx/tiny/theory.mlw", "sha256": digests["onnx/tiny/theory.mlw"]}
    assert f"sha256 {file['sha256']}  {file['name']}\n" in run("--operators", "tiny").stdout


def test_without_tools_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    result = run("--operators")
    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: proofs need why3")
    assert "apt-get install --no-install-recommends why3 frama-c-base z3 cvc4" in line
    assert "pip install z3-solver" in line


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name one folder, or say --operators"),
        (["a", "b"], "name one folder, or say --operators"),
        (["none"], "none is no folder"),
        (["--operators", "--jobs", "0"], "--jobs"),
        (["--operators", "--timeout", "0"], "--timeout"),
        ([""], " is no folder"),
        (["--operators", "--junit", "-"], "--junit takes the name of a file"),
        (["--operators", "--junit", ""], "--junit takes the name of a file"),
        (["--operators", "-o", ""], "--output takes the name of a file"),
        (["--operators", "--junit", "x", "-o", "x"], "cannot be both"),
        (["--operators", "--junit", "none/x"], "there is no such folder"),
        (["--operators", "-o", "none/x"], "there is no such folder"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "_proofs", never)
    result = run(*words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert list(tmp_path.iterdir()) == []


INTO_PROJECT = "the report cannot go into the project, which must stay as it was emitted"


@pytest.mark.parametrize("option", ["-o", "--junit"])
@pytest.mark.parametrize(
    ("what", "report", "said"),
    [
        ("project", "project/new", INTO_PROJECT),
        ("project", "project/model.c", INTO_PROJECT),
        ("project", "link/new", INTO_PROJECT),
        ("link", "project/new", INTO_PROJECT),
        ("project", "reports/../project/new", INTO_PROJECT),
        ("project", "reports", "cannot be written: it is a folder"),
        ("--operators", "reports", "cannot be written: it is a folder"),
        ("--operators", "none/new", "cannot be written: there is no such folder"),
        ("--operators", "project/model.c/new", "cannot be written: there is no such folder"),
    ],
)
def test_a_report_without_a_place_is_refused_before_anything_is_proved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, what: str, report: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "_proofs", never)
    for name in ("project", "reports"):
        Path(name).mkdir()
    Path("project/model.c").touch()
    Path("link").symlink_to("project")
    result = run(what, option, report)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"error: {report}: {said}\n"
    assert [path.name for path in Path("project").iterdir()] == ["model.c"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_report_into_a_folder_that_nobody_may_write_in_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_proofs", never)
    (tmp_path / "closed").mkdir(mode=0o555)
    result = run("--operators", "-o", str(tmp_path / "closed" / "new"))
    assert result.exit_code == 2
    assert result.stderr.endswith("new: cannot be written: nothing may be written in its folder\n")


def test_a_report_beside_the_project_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "project").mkdir()
    proved = Proofs((Goal("project", "node_0", "ensures", "proved", "Qed"),))
    monkeypatch.setattr(module, "_proofs", lambda *_: proved)
    result = run(
        str(tmp_path / "project"), "-o", str(tmp_path / "report"), "--junit", str(tmp_path / "junit")
    )
    assert result.exit_code == 0
    assert (tmp_path / "report").read_text(encoding="utf-8") == result.stdout
    assert (tmp_path / "junit").exists()


def test_a_report_that_cannot_be_written_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(tmp_path, monkeypatch)
    result = run("--operators", "-o", "/dev/full")
    assert result.exit_code == 2
    assert (
        result.stderr.splitlines(keepends=True)[-1]
        == "error: /dev/full: cannot be written: No space left on device\n"
    )


def test_the_command_line_loads_nothing_of_proofs_until_asked() -> None:
    program = (
        "import sys, sonnx, sonnx.cli; sys.exit(any(name.startswith('sonnx.prove') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


# Who starts tests in the background may have them ignore SIGINT.
PROGRAM = """
import signal
import sys
from pathlib import Path
from sonnx.cli.actions import prove
from sonnx.prove import theories
from tests.prove.support import fake_tools, module
signal.signal(signal.SIGINT, signal.default_int_handler)
answers = "pathlib.Path({child!r}).write_text(str(__import__('os').getpid()))\\nimport time; time.sleep(600)"
tools = fake_tools(Path({folder!r}), answers)
theories.find_tools = lambda: tools
prove.theory_sources = lambda: {{"graph/theory.mlw": module("  goal one: 1 = 1")}}
from sonnx.cli import main
main(["prove", "--operators", "--no-cache"])
"""


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_ending_the_command_ends_its_tools(tmp_path: Path, number: signal.Signals, code: int) -> None:
    child = tmp_path / "child"
    program = PROGRAM.format(folder=str(tmp_path), child=str(child))
    root = Path(__file__).parents[2]
    with subprocess.Popen([sys.executable, "-c", program], cwd=root, stderr=subprocess.PIPE) as process:
        while not child.exists() or not child.read_text(encoding="utf-8"):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert process.returncode == code
    assert b"Traceback" not in said
    for _ in range(200):
        if not Path(f"/proc/{child.read_text(encoding='utf-8')}").exists():
            break
        time.sleep(0.05)
    else:
        pytest.fail("a tool is left running")
