"""Emitted C outside a domain: it returns the number of the node and writes no output (D-ALL-11)."""

import ctypes
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from tests.emit.support import fold, make, needs_gcc
from tests.native.support import Array, constant, model, node, value

import sonnx
from sonnx.conformance.runtimes.libraries import compiled
from sonnx.emit.project import project
from sonnx.vocabulary.kernel import KernelStyle

pytestmark = pytest.mark.measured
STYLES: tuple[KernelStyle, ...] = ("plain", "fast")
UNWRITTEN = 0xA5


def between() -> sonnx.Graph:
    """An output before the first quotient, one between both, one behind them, and one that is an input."""
    ends = {name: value(name, "int32", (2, 3)) for name in "abmqrsy"}
    nodes = [
        node("Max", ("a", "b"), "m"),
        node("Div", ("m", "b"), "q"),
        node("Max", ("q", "a"), "r"),
        node("Div", ("r", "a"), "s"),
        node("Max", ("s", "b"), "y"),
    ]
    outputs = [ends[name] for name in "mrya"]
    return model(nodes, [ends["a"], ends["b"]], outputs, between=[ends["q"], ends["s"]])


def files(graph: sonnx.Graph, kernels: KernelStyle) -> dict[str, bytes]:
    return project(graph, graph.run, version="", kernels=kernels, fold=fold)


def called(folder: Path, made: Mapping[str, bytes], given: list[Array]) -> tuple[int, list[Array]]:
    """What the entry point returns and what it leaves of six integers for each output."""
    for name, content in made.items():
        (folder / name).write_bytes(content)
    sources = [name for name in made if name.endswith(".c") and name != "test_model.c"]
    library = compiled("cc", ("-std=c99", "-ffp-contract=off", "-O1"), sources, folder)
    function = library.example_run
    function.restype = ctypes.c_int32
    outputs = [np.full(24, UNWRITTEN, np.uint8).view(np.int32) for _ in "mrya"]
    pointers = [ctypes.c_void_p(each.ctypes.data) for each in (*given, *outputs)]
    return function(*pointers), outputs


@needs_gcc
@pytest.mark.parametrize("kernels", STYLES)
@pytest.mark.parametrize(("place", "status"), [(None, 0), ("b", 2), ("a", 4), ("ab", 2)])
def test_the_node_that_stops_is_returned_and_nothing_is_written(
    kernels: KernelStyle, place: str | None, status: int, tmp_path: Path
) -> None:
    arrays = {"a": np.array([9, -8, 7, 6, 5, 4], np.int32), "b": np.array([1, 2, -3, -4, 5, 6], np.int32)}
    for name in place or "":
        arrays[name][5] = 0
    found, outputs = called(tmp_path, files(between(), kernels), list(arrays.values()))
    assert found == status
    if status:
        assert all((each.view(np.uint8) == UNWRITTEN).all() for each in outputs)
        return
    # By hand: m = max(a, b), q = m / b, r = max(q, a), s = r / a, y = max(s, b).
    assert outputs[0].tolist() == [9, 2, 7, 6, 5, 6]
    assert outputs[1].tolist() == [9, 1, 7, 6, 5, 4]
    assert outputs[2].tolist() == [1, 2, 1, 1, 5, 6]
    assert outputs[3].tolist() == arrays["a"].tolist()


@needs_gcc
@pytest.mark.parametrize("kernels", STYLES)
def test_the_project_tests_that_it_stops(kernels: KernelStyle, tmp_path: Path) -> None:
    made = files(between(), kernels)
    for name, content in made.items():
        (tmp_path / name).write_bytes(content)
    done = make(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "integers that are zero, where it stops" in done.stdout
    assert "m: nothing is written\n" in done.stdout
    # One that returns something else, or writes something, fails.
    source = tmp_path / "model.c"
    text = source.read_text(encoding="utf-8")
    for wrong in (
        text.replace("return 2;", "return 3;"),
        text.replace("return 2;", "{ out_m[0] = 7; return 2; }"),
    ):
        assert wrong != text
        source.write_text(wrong, encoding="utf-8")
        done = make(tmp_path)
        assert done.returncode != 0
        assert "instead of 2" in done.stdout or "nothing is written, but is" in done.stdout


def test_what_is_returned_stands_in_header_contract_and_readme() -> None:
    made = {name: content.decode("latin1") for name, content in files(between(), "plain").items()}
    assert "int32_t example_run(const int32_t in_a[6]" in made["model.h"]
    assert "2 where it is not defined for an element: Node 1 `Div q`: Div" in made["model.h"]
    assert "- 4 where it is not defined for an element: Node 3 `Div s`: Div" in made["README.md"]
    contract = made["model.c"]
    assert "ensures \\result == 0 || \\result == 2 || \\result == 4;" in contract
    met = "\\result == 2 ==> (\\exists integer k; 0 <= k < 6 && !node_1_Div_q_inside(t_b[k]));"
    assert met in " ".join(contract.split())
    kept = "\\result != 0 ==> \\forall integer k; 0 <= k < 6 ==> same_int32_t(out_m[k], \\old(out_m[k]))"
    assert kept in " ".join(contract.split())


def test_models_that_never_stop_say_so() -> None:
    ends = {name: value(name, "int32", (2,)) for name in "ay"}
    for kernels in STYLES:
        for nodes, constants in (
            ([node("Max", ("a", "a"), "y")], []),
            ([node("Div", ("a", "b"), "y")], [constant("b", np.array([1, -2], np.int32))]),
        ):
            graph = model(nodes, [ends["a"]], [ends["y"]], constants)
            made = files(graph, kernels)
            assert b"Returns 0: every call succeeds." in made["model.h"]
            assert b"outside" not in made["model.c"]
            assert (b"ensures \\result == 0;" in made["model.c"]) is (kernels == "plain")
