"""What `make demo` shows is what happened."""

import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples.demo import Distance, distance, picture
from rich.console import Console

SCRIPT = Path(__file__).parents[2] / "examples" / "demo.py"


def demo(folder: Path, **env: str) -> str:
    command = [sys.executable, str(SCRIPT), str(folder)]
    environment = {**os.environ, **env}
    done = subprocess.run(command, env=environment, capture_output=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    return done.stdout.decode(env.get("PYTHONIOENCODING", "utf-8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("d")


@pytest.fixture(scope="module")
def shown(folder: Path) -> str:
    return demo(folder, PYTHONIOENCODING="utf-8")


@pytest.mark.long
def test_the_demo_shows_all_eight_steps(shown: str) -> None:
    assert re.findall(r"^(\d)\. ", shown, re.MULTILINE) == list("12345678")
    commands = re.findall(r"^\$ (?:sonnx (\w+)|python)", shown, re.MULTILINE)
    assert commands == [
        *("", "check", "normalize", "check", "run", "run", "run", "run", "export", "run", "emit"),
    ]


@pytest.mark.long
def test_the_demo_reads_well_in_a_pipe(shown: str, folder: Path) -> None:
    # The folder of a test has a longer name than build/demo.
    lines = shown.replace(str(folder), "build/demo").splitlines()
    # A command is in one piece, so that it can be copied.
    assert max(len(line) for line in lines if not line.startswith("help: `sonnx ")) <= 110
    assert "\x1b" not in shown
    assert "\u2026" not in shown  # nothing is cut to fit


@pytest.mark.long
def test_the_demo_checks_and_mends_the_model(shown: str) -> None:
    assert re.search(r"exported\.onnx: \d+ findings, 7 rules broken", shown)
    assert re.search(
        r"`sonnx normalize \S+exported\.onnx --dim batch=1 -o \S+exported-conforming\.onnx` mends all", shown
    )
    assert re.search(r"conforming\.onnx conforms to the profile after \d+ changes", shown)


def _steps(value: np.float32, truth: Fraction) -> int:
    """Steps from a float to the one nearest to the exact number; both of one sign, and no tie in sight."""
    places = np.array(value).view(np.int32).item()
    near = [np.array(places + step, np.int32).view(np.float32) for step in range(-64, 65)]
    distances = [abs(Fraction(float(other)) - truth) for other in near]
    assert distances.count(min(distances)) == 1
    return abs(distances.index(min(distances)) - 64)


@pytest.mark.long
def test_the_table_of_results_is_that_of_the_files(shown: str, folder: Path) -> None:
    exact = [Fraction(text) for text in json.loads((folder / "real" / "scores.json").read_text())["elements"]]
    computed = [np.load(folder / mode / "scores.npy").reshape(-1) for mode in ("ieee", "fused")]
    expected = []
    for index, truth in enumerate(exact):
        row = [str(index), repr(truth.numerator / truth.denominator)]
        for scores in computed:
            row += [str(scores[index]), str(_steps(scores[index], truth))]
        expected.append(row)
    rows = [line.split() for line in shown.split("6. The result")[1].splitlines()]
    assert [row for row in rows if len(row) == 6 and row[0].isdigit()] == expected


@pytest.mark.long
def test_the_length_of_the_exact_result_is_told(shown: str, folder: Path) -> None:
    first = Fraction(json.loads((folder / "real" / "scores.json").read_text())["elements"][0])
    (digits, power) = re.findall(r"an integer of (\d+) digits divided by 2\^(\d+)", shown)[0]
    assert first.denominator == 2 ** int(power)
    assert len(str(abs(first.numerator))) == int(digits)


@pytest.mark.long
def test_every_element_is_in_the_picture(shown: str) -> None:
    part = shown.split("Distances of the ")[1]
    number = int(part.split()[0])
    rows = re.findall(
        r"^ *(?:\d+|\d+ to \d+|33 and more)  \u2588* ?(\d+) +\u2588* ?(\d+) *$", part, re.MULTILINE
    )
    assert len(rows) == 8
    assert [sum(int(row[column]) for row in rows) for column in (0, 1)] == [number, number]


@pytest.mark.long
def test_the_demo_works_on_a_terminal_that_has_ascii_only(folder: Path) -> None:
    assert "#" in demo(folder, PYTHONIOENCODING="ascii", PYTHONUTF8="0")


def test_distances_are_counted_from_the_correctly_rounded_result() -> None:
    step = Fraction(1, 2**23)  # between floats from 1 to 2
    computed = np.array([[1, 1 + 2**-23], [1 + 2**-22, -2]], np.float32)
    exact = np.array([[1 + step / 2, 1 + step / 2], [Fraction(1), Fraction(-2)]], object)
    found = distance(computed, exact)
    # Halfway between two floats the one with an even last bit is nearest: 1.
    assert found.steps.tolist() == [0, 1, 2, 0]
    assert found.absolute.tolist() == [2**-24, 2**-24, 2**-22, 0]
    assert found.equal == 0.5


def _drawn(steps: list[int], bar: str, width: int) -> list[str]:
    found = Distance(np.zeros(len(steps)), np.array(steps, np.uint64))
    text = StringIO()
    table = picture({"separate": found, "fused": found}, bar, width)
    Console(file=text, width=110).print(table)
    return [" ".join(line.split()) for line in text.getvalue().splitlines()]


def test_bars_are_as_long_as_their_numbers() -> None:
    # Three elements are 0 apart, one is 3, one is 40: bars of 6, 2 and 2.
    lines = _drawn([0, 0, 0, 3, 40], "=", 6)
    assert lines[1:] == [
        "0 ====== 3 ====== 3",
        "1 0 0",
        "2 0 0",
        "3 to 4 == 1 == 1",
        "5 to 8 0 0",
        "9 to 16 0 0",
        "17 to 32 0 0",
        "33 and more == 1 == 1",
    ]


def test_make_demo_runs_it() -> None:
    text: Any = (SCRIPT.parents[1] / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^demo: .*\n\t@\$\(BIN\)/python examples/demo\.py build/demo$", text, re.MULTILINE)
