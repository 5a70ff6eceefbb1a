"""What may mean two things is named, and what a model is made of is not overwritten."""

import hashlib
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import AttributeProto, TensorProto, helper

import sonnx
from sonnx.cli import main
from sonnx.numeric.real import real_text

OWN = "example"


def clip_model() -> onnx.ModelProto:
    """y = Clip(x, lo, hi) on two floats."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
    bounds = [helper.make_tensor(n, TensorProto.FLOAT, [], [v]) for n, v in (("lo", 0.0), ("hi", 6.0))]
    node = helper.make_node("Clip", ["x", "lo", "hi"], ["y"])
    graph = helper.make_graph([node], "g", [x], [y], bounds)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


def broken(model: onnx.ModelProto, folder: Path) -> set[str]:
    onnx.save(model, folder / "net.onnx")
    return {finding.rule for finding in sonnx.load(folder / "net.onnx").check()}


def test_two_defaults_of_a_functions_attribute_are_graph_d19_and_nothing_is_inlined(tmp_path: Path) -> None:
    model = clip_model()
    body = [helper.make_node("Clip", ["a", "l", "h"], ["b"])]
    imports = [helper.make_opsetid("", 18)]
    function = helper.make_function(OWN, "F", ["a", "l", "h"], ["b"], body, imports)
    function.attribute_proto.extend([helper.make_attribute("v", 0.0), helper.make_attribute("v", 5.0)])
    model.functions.append(function)
    model.opset_import.append(helper.make_opsetid(OWN, 1))
    model.graph.node[0].op_type, model.graph.node[0].domain = "F", OWN
    assert {"graph.D19", "graph.D10"} <= broken(model, tmp_path)
    assert sonnx.load(tmp_path / "net.onnx").normalize().changes == ()


def test_a_value_of_another_kind_in_an_attribute_is_graph_d19(tmp_path: Path) -> None:
    model = clip_model()
    attribute = AttributeProto(name="k", type=AttributeProto.INTS, ints=[1, 1], floats=[2.0])
    model.graph.node[0].attribute.append(attribute)
    assert broken(model, tmp_path) == {"graph.D19", "general.R5"}
    model.graph.node[0].attribute[0].ClearField("floats")
    assert broken(model, tmp_path) == {"general.R5"}


def test_surplus_operands_are_named_though_they_are_empty(tmp_path: Path) -> None:
    model = clip_model()
    model.graph.node[0].input.append("")
    assert broken(model, tmp_path) == {"general.R5"}


def external(folder: Path, checksum: str) -> set[str]:
    """What is found where both bounds lie in one file, with the given checksum."""
    model = clip_model()
    for index, tensor in enumerate(model.graph.initializer):
        tensor.ClearField("float_data")
        tensor.data_location = TensorProto.EXTERNAL
        entries = {"location": "w.bin", "offset": str(4 * index), "length": "4", "checksum": checksum}
        for key, value in entries.items():
            tensor.external_data.add(key=key, value=value)
    return broken(model, folder)


def test_a_checksum_is_that_of_the_whole_file(tmp_path: Path) -> None:
    content = np.array([0.0, 6.0], np.float32).tobytes()
    (tmp_path / "w.bin").write_bytes(content)
    assert external(tmp_path, hashlib.sha1(content).hexdigest()) == set()
    assert external(tmp_path, hashlib.sha1(content[:4]).hexdigest()) == {"graph.D15"}


def test_normalizing_does_not_write_over_the_models_data(tmp_path: Path) -> None:
    content = np.array([0.0, 6.0], np.float32).tobytes()
    (tmp_path / "w.bin").write_bytes(content)
    external(tmp_path, hashlib.sha1(content).hexdigest())
    command = ["normalize", str(tmp_path / "net.onnx"), "-o", str(tmp_path / "w.bin")]
    assert CliRunner().invoke(main, command).exit_code == 2
    assert (tmp_path / "w.bin").read_bytes() == content


def test_a_result_is_not_written_over_an_input(tmp_path: Path) -> None:
    onnx.save(clip_model(), tmp_path / "net.onnx")
    np.save(tmp_path / "y.npy", np.array([1, 9], np.float32))
    before = (tmp_path / "y.npy").read_bytes()
    command = ["run", str(tmp_path / "net.onnx"), "--input", f"x={tmp_path / 'y.npy'}"]
    done = CliRunner().invoke(main, [*command, "--output-dir", str(tmp_path)])
    assert done.exit_code == 2
    assert "would be overwritten" in done.output
    assert (tmp_path / "y.npy").read_bytes() == before


@pytest.mark.parametrize("text", ["-7/3", "2", "0", "1" * 5000 + "/7"])
def test_real_numbers_of_any_length_are_written(text: str) -> None:
    top, _, bottom = text.partition("/")
    digits = 0
    for digit in top.lstrip("-"):  # Python itself reads no more than 4300 digits at once
        digits = 10 * digits + int(digit)
    number = sonnx.real([0])[0] + digits * (-1 if top.startswith("-") else 1)
    number /= int(bottom or "1")
    assert real_text(number) == text


def test_long_names_of_sizes_and_axes_are_cut_in_messages() -> None:
    long = sonnx.TensorType(sonnx.DType.FLOAT, ("n" * 1000,), denotation=("d" * 1000,))
    assert len(str(long)) < 250


def test_at_most_twenty_surplus_names_are_shown(tmp_path: Path) -> None:
    model = clip_model()
    model.graph.node[0].input.extend(["x"] * 100)
    onnx.save(model, tmp_path / "net.onnx")
    (finding,) = sonnx.load(tmp_path / "net.onnx").check()
    assert len(finding.values) == 21
    assert finding.values[-1].value == "80 more"
