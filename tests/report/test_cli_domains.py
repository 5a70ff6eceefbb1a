"""Commands on models that divide: what a constant shows, and what only a run does (D-ALL-11)."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from tests.report.cli_support import model_of, run, saved, tensor, written

ENGINES = ("reference", "native", "xla")


def quotient(folder: Path, divisors: Any = None) -> Path:
    """A by B of six integers, where B is given or a constant."""
    inputs = [tensor(name, TensorProto.INT32, [2, 3]) for name in ("a", "b")]
    nodes = [helper.make_node("Div", ["a", "b"], ["y"], "parts")]
    held = {} if divisors is None else {"b": divisors}
    made = model_of(nodes, inputs[: 2 - len(held)], [tensor("y", TensorProto.INT32, [2, 3])], held)
    return written(folder / "quotient.onnx", made)


def divided(folder: Path, divisors: Any, *options: object) -> Any:
    a = saved(folder / "a.npy", np.arange(6, dtype=np.int32).reshape(2, 3) - 3)
    b = saved(folder / "b.npy", divisors)
    given = ("--input", f"a={a}", "--input", f"b={b}", "--output-dir", folder / "out")
    return run("run", quotient(folder), *given, *options)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_that_divides_by_0_stops_and_names_node_index_and_values(tmp_path: Path, engine: str) -> None:
    divisors = np.array([[1, 2, 3], [4, 0, 0]], np.int32)
    result = divided(tmp_path, divisors, "--engine", engine)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-7:] == [
        "error[div.B.D8]: At every element, the divisor is not 0",
        f"  --> {tmp_path / 'quotient.onnx'}: node 0 `parts` (Div)",
        "   A[1,1] = 1",
        "   B[1,1] = 0",
        "  help: the run stopped there and gives no output (D-ALL-11); give it other values, or put "
        "others in their place before this node, as Where does",
        "  more: sonnx explain div.B.D8",
    ]
    assert not (tmp_path / "out").exists()


def test_a_run_that_stops_leaves_a_folder_that_was_there(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    assert divided(tmp_path, np.zeros((2, 3), np.int32)).exit_code == 2
    assert list((tmp_path / "out").iterdir()) == []


def test_a_trace_names_the_parts_of_a_composition_by_the_node_of_the_model(tmp_path: Path) -> None:
    x = saved(tmp_path / "x.npy", np.array([1, 3], np.float32))
    tensors = [tensor(name, TensorProto.FLOAT, [2]) for name in ("x", "y")]
    nodes = [helper.make_node("Mean", ["x", "x"], ["y"], "mean")]
    path = written(tmp_path / "mean.onnx", model_of(nodes, tensors[:1], tensors[1:], {}))
    result = run("run", path, "--normalize", "--trace", "--input", f"x={x}")
    assert result.exit_code == 0
    assert "new node" not in result.stdout
    assert "node 0 `mean` (Mean)" in result.stdout


@pytest.mark.parametrize("engine", ENGINES)
def test_other_divisors_have_quotients_rounded_towards_zero(tmp_path: Path, engine: str) -> None:
    result = divided(tmp_path, np.array([[2, 2, -2], [4, 3, 2]], np.int32), "--engine", engine)
    assert result.exit_code == 0
    assert np.load(tmp_path / "out" / "y.npy").tolist() == [[-1, -1, 0], [0, 0, 1]]


def test_a_constant_divisor_0_is_found_by_every_command(tmp_path: Path) -> None:
    model = quotient(tmp_path, np.array([[1, 2, 3], [4, 0, 6]], np.int32))
    result = run("check", model)
    assert result.exit_code == 1
    assert "error[div.B.D8]: At every element, the divisor is not 0\n" in result.stdout
    assert "   B[1,1] = 0" in result.stdout
    assert "node 0 `parts` (Div)" in result.stdout
    a = saved(tmp_path / "a.npy", np.ones((2, 3), np.int32))
    for command in (("run", "--input", f"a={a}"), ("emit", "-o", tmp_path / "made")):
        refused = run(command[0], model, *command[1:])
        assert refused.exit_code == 1
        assert "div.B.D8" in refused.stderr + refused.stdout


def test_the_rule_explains_itself() -> None:
    result = run("explain", "div.B.D8")
    assert result.exit_code == 0
    assert "At every element, the divisor is not 0." in result.stdout
    assert "D-ALL-11" in result.stdout


def test_a_divisor_0_that_constants_make_is_told_where_fast_kernels_are_packed(tmp_path: Path) -> None:
    kind = [tensor(name, TensorProto.INT32, [2]) for name in ("x", "y", "zeros", "parts")]
    nodes = [
        helper.make_node("Sub", ["c", "c"], ["zeros"], "take"),
        helper.make_node("Div", ["c", "zeros"], ["parts"], "divide"),
        helper.make_node("Add", ["x", "parts"], ["y"], "add"),
    ]
    made = model_of(nodes, kind[:1], kind[1:2], {"c": np.array([5, 6], np.int32)})
    made.graph.value_info.extend(kind[2:])
    path = written(tmp_path / "constant.onnx", made)
    result = run("emit", path, "-o", tmp_path / "project", "--kernels", "fast")
    assert result.exit_code == 2
    assert not (tmp_path / "project").exists()
    assert result.stderr.splitlines()[:4] == [
        "error[div.B.D8]: At every element, the divisor is not 0",
        f"  --> {path}: node 1 `divide` (Div)",
        "   A[0] = 5",
        "   B[0] = 0",
    ]
