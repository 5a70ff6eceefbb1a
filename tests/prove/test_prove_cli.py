import json
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.prove.support import fake_tools
from tests.prove.support import module as theory

from sonnx.cli import main
from sonnx.cli import proving as module
from sonnx.prove import theories

HONEST = "for name in asked:\n    answer(name)"
SOURCES = {
    "onnx/tiny/theory.mlw": theory("  goal one: 1 + 1 = 2"),
    "graph/theory.mlw": theory("  goal two: 2 = 2"),
}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SONNX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(theories, "operators_sources", lambda: SOURCES)
    monkeypatch.setattr(signal, "signal", lambda *_: None)


def use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: str = HONEST) -> None:
    tools = fake_tools(tmp_path, answers)
    monkeypatch.setattr(theories, "find_tools", lambda: tools)


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["prove", *words])


def test_proved_theories_are_listed_with_exit_code_0(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(tmp_path, monkeypatch)
    result = run("--operators")
    assert result.exit_code == 0
    assert "onnx/tiny" in result.stdout
    assert "2 of 2 goals proved, 2 searches for contradictions found none" in result.stdout
    assert result.stderr == ""
    assert "4 of these results from an earlier run" in run("--operators").stdout
    assert "earlier run" not in run("--operators", "--no-cache").stdout


def test_named_theories_alone_are_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(tmp_path, monkeypatch)
    assert "1 of 1 goals proved" in run("--operators", "tiny").stdout
    unknown = run("--operators", "none\x1b")
    assert unknown.exit_code == 2
    assert "there is no theory of 'none\\x1b'" in unknown.stderr


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
    monkeypatch.setattr(theories, "operators_sources", dict)
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
        (["--operators", "--junit", "-"], "--junit takes the name of a file"),
        (["--operators", "--junit", "x", "-o", "x"], "cannot be both"),
        (["--operators", "--junit", "none/x"], "there is no such folder"),
        (["--operators", "-o", "none/x"], "there is no such folder"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    def tried(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "prove_theories", tried)
    result = run(*words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_report_that_cannot_be_written_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(tmp_path, monkeypatch)
    result = run("--operators", "-o", "/dev/full")
    assert result.exit_code == 2
    assert result.stderr == "error: /dev/full: cannot be written: No space left on device\n"


def test_the_command_line_loads_nothing_of_proofs_until_asked() -> None:
    program = (
        "import sys, sonnx, sonnx.cli; sys.exit(any(name.startswith('sonnx.prove') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


PROGRAM = """
import sys
from pathlib import Path
from sonnx.prove import theories
from tests.prove.support import fake_tools, module
answers = "pathlib.Path({child!r}).write_text(str(__import__('os').getpid()))\\nimport time; time.sleep(600)"
tools = fake_tools(Path({folder!r}), answers)
theories.find_tools = lambda: tools
theories.operators_sources = lambda: {{"graph/theory.mlw": module("  goal one: 1 = 1")}}
from sonnx.cli import main
main(["prove", "--operators", "--no-cache"])
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
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
