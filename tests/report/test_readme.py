"""What the README shows is what happens."""

import re
import shlex
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import sonnx
from sonnx.cli import main
from sonnx.prove.forms import oddities
from sonnx.prove.projects import read_project

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
START = (Path(__file__).parents[2] / "docs" / "index.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    """The names that the example defines, after running it; each bare expression under its own text."""
    _, _, block, _ = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, Any] = {}
    for line in block.splitlines():
        code = line.split("  #")[0]
        if re.match(r"sonnx\.", code):
            names[code.strip()] = eval(code, names)
        else:
            exec(code, names)
    return names


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that holds what the README's first command writes; the commands run there."""
    script = Path(__file__).parents[2] / "examples" / "mobilenet_like.py"
    command = [sys.executable, str(script), "net.onnx", "--input", "image.npy"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.long
def test_the_commands_on_a_model_do_what_they_say(example: Path) -> None:
    block, in_c, judged = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    activate, first, *commands = [line.removeprefix("$ ").split("  #")[0] for line in block.splitlines()]
    assert activate == ". .venv/bin/activate"
    assert first == "python examples/mobilenet_like.py net.onnx --input image.npy"
    codes = [
        CliRunner().invoke(main, shlex.split(line.removeprefix("sonnx "))).exit_code for line in commands
    ]
    assert codes == [1, 1, 0, 0, 0, 0]
    written = sorted(str(path.relative_to(example)) for path in example.rglob("*.*"))
    assert {"report.sarif", "conforming.onnx"} <= set(written)
    assert [name for name in written if name.startswith("results/")]
    assert {Path(name).suffix for name in written if name.startswith("exact/")} == {".json", ".npy"}
    for line in in_c.splitlines():
        name, *arguments = shlex.split(line.removeprefix("$ ").split("  #")[0])
        if arguments[0] == "prove":  # that takes minutes; `make prove` proves this very project
            assert not list(oddities(read_project(Path(arguments[1]))))
            continue
        command = [sys.executable, "-m", "sonnx"] if name == "sonnx" else [name]
        subprocess.run([*command, *arguments], check=True, capture_output=True)
    _, conformance, vectors = [line.removeprefix("$ sonnx ").split("  #")[0] for line in judged.splitlines()]
    # One type of many, without the search: onnxruntime takes every byte but 1 for false (D-WHERE-1).
    quick = [*shlex.split(conformance), "--type", "int8", "--examples", "0"]
    assert CliRunner().invoke(main, quick).exit_code == 1
    assert (example / "report" / "report.html").is_file()
    assert CliRunner().invoke(main, shlex.split(vectors)).exit_code == 0
    assert (example / "vectors" / "manifest.json").is_file()


@pytest.mark.usefixtures("example")
def test_the_commands_of_the_first_page_are_about_the_same_model() -> None:
    (block,) = re.findall(r"## A whole model\n\n```sh\n(.*?)```", START, re.DOTALL)
    first, *commands = [line for line in block.splitlines() if not line.startswith("#")]
    assert first == "python examples/mobilenet_like.py net.onnx --input image.npy"
    codes = [
        CliRunner().invoke(main, shlex.split(line.removeprefix("sonnx "))).exit_code for line in commands
    ]
    assert codes == [1, 0, 0]


@pytest.mark.usefixtures("example")
def test_the_python_example_on_a_model_runs(capsys: pytest.CaptureFixture[str]) -> None:
    block, fast, _, _ = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, Any] = {}
    exec(block, names)
    exec(fast, names)
    assert "general.R1 at node /stem/conv - " in capsys.readouterr().out
    assert sonnx.load("conforming.onnx").check() == ()
    assert set(names["results"]) == {value.name for value in names["graph"].outputs}


def test_the_example_of_a_computation_gives_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    _, _, _, block = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, Any] = {}
    exec(block, names)
    assert capsys.readouterr().out.startswith("edges(x: f32[1,1,5]) -> f32[1,1,4] {\n")
    (line,) = [line for line in block.splitlines() if line.startswith("edges.run(")]
    code, shown = line.split("  # ")
    assert sonnx.same_bits(eval(code, names), np.array(eval(shown), np.float32))
    assert "func.func public @main" in names["text"]


def test_the_first_lines_of_the_example_give_what_they_say(shown: dict[str, Any]) -> None:
    clipped = shown["sonnx.clip(x, np.float32(0), np.float32(6))"]
    assert sonnx.same_bits(clipped, np.array([0.0, -0.0, 6.0, np.nan], np.float32), nan="any")
    (exact,) = shown['sonnx.conv(X, W, sonnx.real(["1/7"]), **attributes)'].flat
    assert exact == Fraction(163, 210)


def test_the_bound_of_the_example_holds(shown: dict[str, Any]) -> None:
    # The exact result on the floats that X32 and W32 really hold.
    exact = sum(
        Fraction(float(x)) * Fraction(float(w))
        for x, w in zip(shown["X32"].flat, shown["W32"].flat, strict=True)
    )
    (bound,) = shown['sonnx.error_bound("Conv", X32, W32, **attributes)'].flat
    for result in (shown["y"], shown["z"]):
        assert abs(Fraction(result.item()) - exact) <= Fraction(bound)


def test_the_refused_call_prints_the_message_shown(shown: dict[str, Any]) -> None:
    (block,) = re.findall(r"```text\n>>> (.*?)```", README, re.DOTALL)
    code, message = block.split("\n", 1)
    with pytest.raises(sonnx.RuleError) as caught:
        eval(code, shown)
    assert str(caught.value) == message.rstrip("\n")


def test_every_folder_and_file_the_readme_names_is_there() -> None:
    root = Path(__file__).parents[2]
    for name in re.findall(r"`(src/[\w/]+/|tests/|bench/|docs/)`", README):
        assert (root / name).is_dir(), name
    for name in re.findall(r"\]\(((?:docs/)?\w+(?:\.md)?)\)", README):
        assert (root / name).is_file(), name


def test_every_command_the_readme_names_is_a_target() -> None:
    targets = set(re.findall(r"^(\w+):", (Path(__file__).parents[2] / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"make (\w+)", README))
    assert named
    assert named <= targets | {"and"}


def test_no_placeholder_is_left_in_the_readme() -> None:
    assert not re.findall(r"\b(?:[A-Z]+-TABLE|TODO|TBD|XXX)\b", README)


def test_nobody_is_told_to_install_what_no_index_knows() -> None:
    root = Path(__file__).parents[2]
    texts = [root / "README.md", *root.glob("docs/*.md"), *root.glob("src/**/*"), *root.glob("bench/**/*.py")]
    complaints = [
        f"{path.relative_to(root)}: {line.strip()}"
        for path in texts
        if path.suffix in {".md", ".py", ".c", ".html"}
        for line in path.read_text(encoding="utf-8").splitlines()
        # An extra of sonnx can be had only from an index that has sonnx: what is needed is named itself.
        if re.search(r"sonnx\[\w|pip install .*\.\[", line)
    ]
    assert not complaints, "\n".join(complaints)
