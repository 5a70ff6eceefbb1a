"""Open sizes on the command line: given one by one, or taken from arrays."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.report.cli_support import run, saved, two_clips, where_model, written

from sonnx.api import load


def paddle(path: Path) -> Path:
    """A Where whose sizes are open as some exporters write it: -1, and `?` for two that differ."""
    model = where_model(shape=(2, 3, 4))
    for value in (*model.graph.input, *model.graph.output):
        sizes = value.type.tensor_type.shape.dim
        sizes[0].dim_value, sizes[1].dim_param, sizes[2].dim_param = -1, "?", "?"
    return written(path, model)


@pytest.fixture
def arrays(tmp_path: Path) -> list[Any]:
    given = {"c": np.ones((2, 3, 4), bool), "x": np.full((2, 3, 4), 7, np.float32)}
    given["y"] = np.zeros((2, 3, 4), np.float32)
    return [
        part
        for name, array in given.items()
        for part in ("--input", f"{name}={saved(tmp_path / f'{name}.npy', array)}")
    ]


def test_axes_without_a_name_are_given_one_by_one(tmp_path: Path) -> None:
    path = paddle(tmp_path / "a.onnx")
    dims = [f"{name}[{axis}]={size}" for name in "cxy" for axis, size in enumerate((2, 3, 4))]
    options = [part for dim in dims for part in ("--dim", dim)]
    result = run("normalize", path, "-o", tmp_path / "out.onnx", *options)
    assert result.exit_code == 0, result.stderr
    assert {value.type.sizes for value in load(tmp_path / "out.onnx").inputs} == {(2, 3, 4)}
    assert run("emit", path, "-o", tmp_path / "c", "--normalize", *options).exit_code == 0


def test_a_run_takes_open_sizes_from_the_arrays(tmp_path: Path, arrays: list[Any]) -> None:
    path = paddle(tmp_path / "a.onnx")
    result = run("run", path, "--normalize", *arrays, "--output-dir", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    assert np.array_equal(np.load(tmp_path / "out" / "z.npy"), np.full((2, 3, 4), 7, np.float32))
    assert "open sizes of the arrays: c[0] = 2, c[1] = 3, c[2] = 4, x[0] = 2, " in result.stdout


def test_a_run_without_normalize_takes_no_sizes(tmp_path: Path, arrays: list[Any]) -> None:
    assert run("run", paddle(tmp_path / "a.onnx"), *arrays).exit_code == 1


def test_sizes_that_are_given_count_before_those_of_arrays(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", two_clips(size="batch"))
    image = saved(tmp_path / "x.npy", np.array([-1, 9, 0.5], np.float32))
    given = ["run", path, "--input", f"x={image}", "--output-dir", tmp_path, "--normalize"]
    for dims in ([], ["--dim", "batch=3"], ["--dim", "x[0]=3"]):
        assert run(*given, *dims).exit_code == 0
        assert np.load(tmp_path / "y.npy").tolist() == [0, 1, 0.5]
    for dims in (["--dim", "batch=2"], ["--dim", "x[0]=2"]):
        refused = run(*given, *dims)
        assert refused.exit_code == 2
        assert "must hold float[2], not float[3]; nothing is converted" in refused.stderr


def test_arrays_that_differ_where_the_model_has_one_name_are_told_where_the_size_is_from(
    tmp_path: Path,
) -> None:
    model = where_model(shape=(2, 3))
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "rows"
    path = written(tmp_path / "a.onnx", model)
    shapes = {"c": (2, 3), "x": (4, 3), "y": (2, 3)}
    given = [
        f"{name}={saved(tmp_path / f'{name}.npy', np.zeros(shape, bool if name == 'c' else np.float32))}"
        for name, shape in shapes.items()
    ]
    result = run("run", path, "--normalize", *(part for one in given for part in ("--input", one)))
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        f"error: `x`: {tmp_path / 'x.npy'}: must hold float[2,3], not float[4,3]; nothing is converted",
        "open sizes are those of the arrays: rows = 2; --dim gives others",
    ]


def test_what_is_wrong_with_arrays_is_told_before_sizes_are_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", two_clips(size="batch"))
    image = saved(tmp_path / "x.npy", np.zeros(3, np.float32))
    told = {
        f"imge={image}": "error: `imge` is no input of the model\ninputs of the model: x: float[batch]\n",
        f"x={tmp_path / 'none'}": f"error: `x`: {tmp_path / 'none'}: there is no such file\n",
        f"x={path}": f"error: `x`: {path}: it is no .npy file; write one with numpy.save\n",
    }
    found = {binding: run("run", path, "--normalize", "--input", binding) for binding in told}
    assert {binding: result.stderr for binding, result in found.items()} == told
    assert {result.exit_code for result in found.values()} == {2}


def test_without_arrays_the_sizes_are_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", two_clips(size="batch"))
    result = run("run", path, "--normalize")
    assert result.exit_code == 1
    assert "can be fixed with --dim batch=SIZE" in result.stderr
