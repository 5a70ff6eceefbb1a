"""`sonnx export` and `sonnx run --engine xla`, as a person and as somebody with bad intentions uses them."""

import hashlib
import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from tests.report.cli_support import (
    STRING,
    columns,
    conv_model,
    program,
    run,
    saved,
    shown_raw,
    two_clips,
    where_model,
    written,
)

import sonnx


@pytest.fixture
def clips(tmp_path: Path) -> Path:
    return written(tmp_path / "clips.onnx", two_clips())


def test_a_model_is_written_as_stablehlo_and_its_digest_is_said(clips: Path, tmp_path: Path) -> None:
    out = tmp_path / "clips.mlir"
    before = clips.read_bytes()
    digest = hashlib.sha256(before).hexdigest()
    done = run("export", clips, "-o", out)
    assert (done.exit_code, done.stderr) == (0, "")
    text = out.read_text()
    assert text.endswith(f"\n{sonnx.load(clips).to_stablehlo()}")
    assert text.startswith(f"// sonnx {sonnx.__version__}, from the model file with sha256 {digest}\n")
    assert "xla_allow_excess_precision=false" in text
    assert "func.func public @main(%arg0: tensor<2xf32>)" in text
    assert hashlib.sha256(out.read_bytes()).hexdigest() in done.stdout
    assert digest in done.stdout
    assert clips.read_bytes() == before


def test_a_dash_prints_the_text(clips: Path) -> None:
    done = run("export", clips, "-o", "-")
    assert done.exit_code == 0
    assert done.stdout.endswith(f"\n{sonnx.load(clips).to_stablehlo()}")


def test_a_model_outside_the_profile_is_refused_with_its_findings(tmp_path: Path) -> None:
    bare, out = written(tmp_path / "bare.onnx", conv_model(bare=True)), tmp_path / "o.mlir"
    done = run("export", bare, "-o", out)
    assert done.exit_code == 1
    assert "error[general.R1]" in done.stderr
    assert "nothing was written; `--normalize` makes explicit what it can" in done.stderr
    assert not out.exists()
    assert run("export", bare, "-o", out, "--normalize").exit_code == 0
    assert "stablehlo.convolution" in out.read_text()
    assert re.search(r"sha256 [0-9a-f]{64}, after \d changes by normalizing\n", out.read_text())


def test_an_open_size_can_be_fixed_on_the_way(tmp_path: Path) -> None:
    model, out = written(tmp_path / "open.onnx", two_clips(size="n")), tmp_path / "o.mlir"
    done = run("export", model, "-o", out, "--dim", "n=3")
    assert done.exit_code == 2
    assert "--dim changes the model; say --normalize too" in done.stderr
    assert run("export", model, "-o", out, "--normalize", "--dim", "n=3").exit_code == 0
    assert "tensor<3xf32>" in out.read_text()
    done = run("export", model, "-o", out, "--normalize", "--dim", "m=3")
    assert done.exit_code == 2


def test_what_xla_has_no_type_for_is_refused_in_one_line(tmp_path: Path) -> None:
    model, out = written(tmp_path / "text.onnx", where_model(STRING)), tmp_path / "o.mlir"
    done = run("export", model, "-o", out)
    assert done.exit_code == 2
    assert len(done.stderr.strip().split("\n")) == 1
    assert "string" in done.stderr
    assert not out.exists()


def test_neither_the_model_nor_its_data_nor_a_folder_is_overwritten(clips: Path, tmp_path: Path) -> None:
    assert run("export", clips, "-o", clips).exit_code == 2
    link = tmp_path / "link.mlir"
    link.symlink_to(clips)
    assert run("export", clips, "-o", link).exit_code == 2
    assert run("export", clips, "-o", tmp_path).exit_code == 2
    proto = conv_model()
    data = tmp_path / "weights.bin"
    onnx.save(proto, tmp_path / "ext.onnx", save_as_external_data=True, location=data.name, size_threshold=0)
    before = data.read_bytes()
    assert run("export", tmp_path / "ext.onnx", "-o", data).exit_code == 2
    assert data.read_bytes() == before
    assert run("export", clips, "-o", tmp_path / "no" / "where.mlir").exit_code == 2
    assert run("export", tmp_path / "missing.onnx", "-o", tmp_path / "o.mlir").exit_code == 2


def test_names_of_the_model_break_out_of_nothing(tmp_path: Path) -> None:
    # Unprintable names are refused by rules; what is left must be harmless in a text of MLIR.
    proto = two_clips(first='a"\\ */ module @evil { } // é', output="y} func.func @x")
    proto.graph.name = 'g" module @evil { }'
    done = run("export", written(tmp_path / "hostile.onnx", proto), "-o", "-")
    assert done.exit_code == 0
    assert shown_raw(done.stdout) == []
    assert done.stdout.isascii()
    outside = [line for line in done.stdout.split("\n") if not line.strip().startswith("//")]
    assert not any("evil" in line or "@x" in line for line in outside)


def test_a_model_runs_on_xla_from_the_command_line(clips: Path, tmp_path: Path) -> None:
    x = saved(tmp_path / "x.npy", np.array([-1, 0.5], np.float32))
    done = run("run", clips, "--input", f"x={x}", "--engine", "xla", "--output-dir", tmp_path / "out")
    assert (done.exit_code, done.stderr) == (0, "")
    assert (
        "engine xla: results that are calculated flush subnormal floats; convolutions are summed"
        in done.stdout
    )
    assert np.load(tmp_path / "out" / "y.npy").tolist() == [0, 0.5]


@pytest.mark.parametrize(
    "option",
    [("--domain", "real"), ("--accumulate", "fused"), ("--order", "random"), ("--seed", "1"), ("--trace",)],
)
def test_what_xla_does_not_know_is_refused(clips: Path, tmp_path: Path, option: tuple[str, ...]) -> None:
    x = saved(tmp_path / "x.npy", np.zeros(2, np.float32))
    done = run("run", clips, "--input", f"x={x}", "--engine", "xla", *option)
    assert done.exit_code == 2
    assert "the engine xla takes no" in done.stderr


def test_wrong_arrays_and_too_little_memory_are_refused_before_xla_is_asked(tmp_path: Path) -> None:
    model = written(tmp_path / "conv.onnx", conv_model())
    graph = sonnx.load(model)
    with pytest.raises(sonnx.InputError, match="`x` is missing"):
        graph.run({}, engine="xla")
    with pytest.raises(sonnx.InputError, match="nothing is converted"):
        graph.run({"x": columns(1, 2).astype(np.float64)}, engine="xla")
    with pytest.raises(sonnx.MemoryLimitError):
        graph.run({"x": columns(1, 2)}, engine="xla", memory=8)
    with pytest.raises(ValueError, match="the engine 'xla' cannot be told domain"):
        graph.run({"x": columns(1, 2)}, engine="xla", domain="real")
    bare = sonnx.load(written(tmp_path / "bare.onnx", conv_model(bare=True)))
    with pytest.raises(sonnx.RuleError):
        bare.run({"x": columns(1, 2)}, engine="xla")
    with pytest.raises(sonnx.RuleError):
        bare.to_stablehlo()


def test_a_broken_jax_is_said_in_one_line(clips: Path, tmp_path: Path) -> None:
    x = saved(tmp_path / "x.npy", np.zeros(2, np.float32))
    (tmp_path / "jax.py").write_text("raise ImportError('no jax')\n")
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    done = program("run", clips, "--input", f"x={x}", "--engine", "xla", env={"PYTHONPATH": paths})
    assert done.returncode == 2
    assert done.stderr.decode().strip() == ("error: jax cannot be imported: no jax")


def test_nothing_but_a_run_on_xla_imports_jax(clips: Path, tmp_path: Path) -> None:
    (tmp_path / "jax.py").write_text("raise SystemExit('jax was imported')\n")
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    out = tmp_path / "o.mlir"
    assert program("export", clips, "-o", out, env={"PYTHONPATH": paths}).returncode == 0
    assert program("check", clips, env={"PYTHONPATH": paths}).returncode == 0
    assert out.exists()


def attributes_of(domain: str) -> dict[str, Any]:
    return {"broadcast_sizes": [2]} if domain == "xla" else {}


@pytest.mark.parametrize("domain", ["xla", "xla.computation"])
def test_xla_operations_are_no_operators_of_onnx_files(tmp_path: Path, domain: str) -> None:
    proto = two_clips()
    node = helper.make_node("Broadcast", ["x"], ["z"], domain=domain, **attributes_of(domain))
    proto.graph.node.append(node)
    proto.graph.output.append(helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, [2, 2]))
    proto.opset_import.append(helper.make_opsetid(domain, 1))
    model = written(tmp_path / "mixed.onnx", proto)
    done = run("check", model)
    assert done.exit_code == 1
    assert f"operator = {domain}.Broadcast" in done.stdout
    assert run("export", model, "-o", tmp_path / "o.mlir").exit_code == 1


def test_export_allows_a_model_no_more_memory_than_it_is_told(tmp_path: Path) -> None:
    model = written(tmp_path / "conv.onnx", conv_model())
    done = run("export", model, "-o", tmp_path / "o.mlir", "--memory", 1e-9)
    assert done.exit_code == 1
    assert "graph.D15" in done.stderr
