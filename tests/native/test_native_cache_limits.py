"""How much is kept of compiled kernels: the newest, and whatever one program needs."""

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from tests.native.support import assert_same, defined, functions, model, node, planned
from tests.native.support import value as tensor
from tests.native.test_native_cache import (
    SOURCE,
    _request,
    answer,
    counted,
    folder,  # noqa: F401  a fixture that all tests here use
    kept,
    lines,
)

import sonnx
from sonnx.native import cache


def file(tmp_path: Path, value: int) -> Path:
    """Where the library of an answer is kept."""
    return tmp_path / "cache" / "kernels" / f"{cache._key(*_request(value))}.so"


def test_the_oldest_files_go_when_there_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MOST_FILES", 3)
    for value in range(3):
        answer(value)
    oldest = [file(tmp_path, value) for value in range(3)]
    for age, path in enumerate(oldest):
        os.utime(path, (1000 + age, 1000 + age))
    leftover, recent = (
        tmp_path / "cache" / "kernels" / ".new-old",
        tmp_path / "cache" / "kernels" / ".new-recent",
    )
    for path in (leftover, recent):
        path.touch()
    os.utime(leftover, (1000, 1000))
    answer(3)
    names = {path.name for path in kept(tmp_path / "cache")}
    assert names == {recent.name, oldest[1].name, oldest[2].name, file(tmp_path, 3).name}


def test_what_one_program_needs_stays_however_much_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "_MOST_FILES", 3)
    answer(9)
    os.utime(file(tmp_path, 9), (1000, 1000))
    cache.compile_all([(SOURCE, (("ANSWER", str(value)),), ("answer",)) for value in range(6)])
    needed = {file(tmp_path, value).name for value in range(6)}
    assert {path.name for path in kept(tmp_path / "cache")} == needed


def many_loops() -> sonnx.Graph:
    """Chains of three nodes, each with a result of its own, of which no two are alike."""
    nodes, between, results = [], [], []
    chains = product(("Add", "Sub", "Mul", "Div", "Max"), ("Relu", "Abs", "Neg", "Sqrt"), ("Mul", "Min"))
    for number, (first, second, last) in enumerate(chains):
        s, t, z = (tensor(f"{name}{number}", "float", (3, 5)) for name in "stz")
        nodes += [node(first, ("x", "y"), s.name), node(second, (s.name,), t.name)]
        nodes.append(node(last, (t.name, "y"), z.name))
        between += [s, t]
        results.append(z)
    return model(nodes, [tensor(name, "float", (3, 5)) for name in "xy"], results, between=between)


AGAIN = """
import sys
import numpy as np
import sonnx
graph = sonnx.load(sys.argv[1])
print(len(graph.compile()({name: np.ones((3, 5), np.float32) for name in "xy"})))
"""


def test_forty_loops_are_compiled_by_few_compilers_and_by_none_in_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, runs = many_loops(), counted(tmp_path, monkeypatch, before='set -- "$@" -O0')
    assert len(functions(planned(graph))) == 40
    x, y = np.random.default_rng(6).normal(0, 1, (2, 3, 5)).astype(np.float32)
    assert_same(graph.compile()({"x": x, "y": y}), defined(graph, {"x": x, "y": y}))
    compiled = kept(tmp_path / "cache")
    assert lines(runs) == len(compiled) <= 3  # two with loops, one with what calls them
    graph.save(tmp_path / "loops.onnx")
    done = subprocess.run(
        [sys.executable, "-c", AGAIN, tmp_path / "loops.onnx"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "40\n"
    assert lines(runs) == len(compiled)
    assert kept(tmp_path / "cache") == compiled


def test_what_is_used_is_not_the_oldest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for value in range(2):
        answer(value)
        os.utime(
            file(tmp_path, value),
            (1000 + value, 1000 + value),
        )
    monkeypatch.setattr(cache, "_MOST_FILES", 2)
    monkeypatch.setattr(cache, "_loaded", {})  # as another process
    answer(0)
    answer(2)
    assert {path.name for path in kept(tmp_path / "cache")} == {
        file(tmp_path, value).name for value in (0, 2)
    }
