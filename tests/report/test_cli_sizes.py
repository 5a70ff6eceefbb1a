"""Open sizes on the command line: given one by one, or taken from arrays."""

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.report.cli_support import FLOAT, run, saved, tensor, two_clips, where_model, written

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
    path = paddle(tmp_path / "a.onnx")
    result = run("run", path, *arrays)
    assert result.exit_code == 1
    given = " ".join(map(str, arrays))
    told = f"help: `sonnx run {path} --normalize {given}` takes the open sizes from the arrays"
    assert result.stderr.splitlines()[-1] == told
    command = shlex.split(told.split("`")[1])
    assert run(*command[1:]).exit_code == 0
    assert f"`sonnx run {path} --normalize --input c=FILE --input x=FILE " in run("run", path).stderr
    exported = run("export", path, "-o", tmp_path / "a.mlir").stderr
    assert "can be fixed with --normalize --dim 'c[0]=SIZE' " in exported
    for index in range(9):
        arrays += ["--input", f"x{index}={tmp_path / 'x.npy'}"]
    assert "help: `--normalize` takes open sizes from the arrays of" in run("run", path, *arrays).stderr


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
        assert "must hold float[2], not float[3]\n" in refused.stderr


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
        f"error: `x`: {tmp_path / 'x.npy'}: must hold float[2,3], not float[4,3]",
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


def test_axes_of_one_name_are_set_apart_where_the_array_differs(tmp_path: Path) -> None:
    model = two_clips()
    for value in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        value.CopyFrom(tensor(value.name, FLOAT, ["h", "h"]))
    path = written(tmp_path / "a.onnx", model)
    image = saved(tmp_path / "x.npy", np.zeros((48, 40), np.float32))
    given = ["run", path, "--normalize", "--input", f"x={image}"]
    refused = run(*given)
    assert refused.stderr.splitlines() == [
        f"error: `x`: {image}: must hold float[48,48], not float[48,40]",
        "open sizes are those of the arrays: h = 48; --dim gives others",
        "the model gives x[0] and x[1] one name, `h`: --dim 'x[0]=48' --dim 'x[1]=40' sets them apart",
    ]
    assert run(*given, "--dim", "x[0]=48", "--dim", "x[1]=40").exit_code == 0
    (line,) = (
        line for line in run("check", path).stdout.splitlines() if line.startswith("help: `sonnx norm")
    )
    assert line.endswith(
        "for each SIZE, and axes of one name one by one: --dim 'x[0]=SIZE' --dim 'x[1]=SIZE'"
    )


def test_an_input_without_a_number_of_axes_is_told_what_works(tmp_path: Path) -> None:
    model = two_clips()
    model.graph.input[0].type.tensor_type.ClearField("shape")
    for value in (*model.graph.output, *model.graph.value_info):
        value.CopyFrom(tensor(value.name, FLOAT, [None]))
    path = written(tmp_path / "a.onnx", model)
    told = (
        "the model does not say how many axes `x` has: write its shape in the model; `sonnx run --normalize` "
        "takes it from the array"
    )
    output = run("check", path).stdout
    assert "--dim" not in output
    assert f"  help: {told}; the type follows from that\n" in output
    assert f"\nhelp: {told}\n" in output
    refused = run("normalize", path, "--dim", "x[0]=3", "-o", tmp_path / "b.onnx").stderr
    assert refused == f"error: 'x[0]': {told.replace('`x`', repr('x'))}\n"
    image = saved(tmp_path / "x.npy", np.zeros(3, np.float32))
    assert run("run", path, "--normalize", "--input", f"x={image}").exit_code == 0


def test_models_of_one_name_in_two_folders_are_advised_two_files(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        written(tmp_path / folder / "m.onnx", two_clips(size="N"))
    output = run("check", tmp_path / "a" / "m.onnx", tmp_path / "b" / "m.onnx").stdout
    for folder in ("a", "b"):
        assert f" --dim N=1 -o {tmp_path / folder / 'm-conforming.onnx'}` mends" in output
