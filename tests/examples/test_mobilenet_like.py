"""The example's model is what exporters write: good ONNX, outside the profile, and mended without a change of
meaning."""

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from examples.mobilenet_like import build, sample

from sonnx.api import Graph, load

SCRIPT = Path(__file__).parents[2] / "examples" / "mobilenet_like.py"


def script(*arguments: object, **env: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, env={**os.environ, **env}, capture_output=True, check=False)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    done = script(folder / "net.onnx", "--input", folder / "image.npy")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    return folder / "net.onnx"


@pytest.fixture(scope="module")
def conforming(exported: Path) -> Graph:
    return load(exported).normalize({"batch": 1})


@pytest.fixture(scope="module")
def image(exported: Path) -> Any:
    return np.load(exported.with_name("image.npy"), allow_pickle=False)


def test_every_run_of_the_script_writes_the_same_bytes(exported: Path, tmp_path: Path) -> None:
    script(tmp_path / "net.onnx", "--input", tmp_path / "image.npy", PYTHONHASHSEED="7")
    for name in ("net.onnx", "image.npy"):
        assert (tmp_path / name).read_bytes() == exported.with_name(name).read_bytes()
    assert build(seed=9).graph.initializer != build().graph.initializer


def test_the_script_writes_a_model_alone_if_that_is_asked(tmp_path: Path) -> None:
    assert script(tmp_path / "net.onnx").returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["net.onnx"]


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    done = script(tmp_path / "missing" / "net.onnx")
    assert done.returncode == 2
    assert b"cannot be written: No such file or directory" in done.stderr


def test_onnx_accepts_the_model(exported: Path) -> None:
    onnx.checker.check_model(str(exported), full_check=True)


def test_the_model_has_what_exporters_write() -> None:
    model = build()
    graph = model.graph
    assert 17 <= model.opset_import[0].version <= 22
    assert graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    assert not graph.value_info
    by_operator: dict[str, list[Any]] = {}
    for node in graph.node:
        by_operator.setdefault(node.op_type, []).append(node)
    assert set(by_operator) == {"Conv", "Clip", "Where", "Constant", "ReLU6"}
    assert [function.name for function in model.functions] == ["ReLU6"]
    attributes = [{found.name: found for found in node.attribute} for node in by_operator["Conv"]]
    assert any(not found for found in attributes)
    modes = {found["auto_pad"].s for found in attributes if "auto_pad" in found}
    assert modes == {b"SAME_UPPER", b"SAME_LOWER", b"VALID"}
    assert any("group" in found and found["group"].i > 1 for found in attributes)
    assert {len(node.input) for node in by_operator["Clip"]} == {2}


def test_the_check_finds_what_is_left_open(exported: Path) -> None:
    found = {finding.rule for finding in load(exported).check()}
    assert found == {
        *("graph.D4", "graph.D6", "general.R1", "general.R2"),
        *("conv.auto_pad.C1", "clip.max.D1", "where.R4"),
    }


@pytest.mark.parametrize("batch", [1, 3])
def test_normalizing_mends_all_of_it(exported: Path, batch: int) -> None:
    mended = load(exported).normalize({"batch": batch})
    assert mended.check() == ()
    assert {node.operator for node in mended.nodes} == {"Conv", "Clip", "Where", "Expand"}
    assert mended.outputs[0].type.sizes == (batch, 5, 1, 1)


def test_onnxruntime_on_the_export_agrees_with_the_exact_run_of_the_result(
    exported: Path, conforming: Graph, image: Any
) -> None:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # it warns of the constant that nobody uses, which is there on purpose
    session = onnxruntime.InferenceSession(str(exported), options)
    (other,) = session.run(None, {"image": image})
    exact = conforming.run({"image": image}, domain="real")["scores"]
    # Its order of sums is its own; the specified order misses the exact result by up to 2^-21.
    for value, truth in zip(other.reshape(-1), exact.reshape(-1), strict=True):
        assert abs(Fraction(float(value)) - truth) < Fraction(1, 2**18)


def test_each_picture_of_a_batch_is_treated_alone(exported: Path, conforming: Graph, image: Any) -> None:
    others = [image, -image, image / 2]
    whole = load(exported).normalize({"batch": 3}).run({"image": np.concatenate(others)})["scores"]
    alone = [conforming.run({"image": other})["scores"] for other in others]
    assert whole.tobytes() == np.concatenate(alone).tobytes()


def test_relu6_meets_both_of_its_bounds_and_the_mask_hides_the_lowest_lines(
    conforming: Graph, image: Any
) -> None:
    made: dict[str, Any] = {}
    conforming.run({"image": image}, watch=lambda step: made.update(step.results))
    assert (made["stem/relu6_output"].min(), made["stem/relu6_output"].max()) == (0, 6)
    masked = made["mask/where_output"]
    assert not masked[:, :, -3:].any()
    assert masked[:, :, :-3].tobytes() == made["block1/relu6_output"][:, :, :-3].tobytes()


def test_the_sample_is_a_picture_of_floats() -> None:
    picture = sample()
    assert (picture.dtype, picture.shape) == (np.float32, (1, 3, 32, 32))
    assert -2 <= picture.min() < -1
    assert 1 < picture.max() < 2
