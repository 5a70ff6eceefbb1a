"""Models of operator sets 7 to 12, which are written with set 13 where that means the same."""

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from click.testing import CliRunner
from onnx import helper
from tests.loops import for_each
from tests.normalize.support import (
    Array,
    changes,
    content,
    float32,
    graph,
    normalize,
    normalized,
    proto,
    read,
    rules,
    types,
    with_arrays,
)
from tests.normalize.test_normalize_operators import ENDS

import sonnx
from sonnx.check.models import check_graph
from sonnx.cli import main
from sonnx.load.writer import to_bytes
from sonnx.normalize.passes import Normalized

pytestmark = pytest.mark.measured

LARGEST_FLOAT = float(np.finfo(np.float32).max)


def held(done: Normalized) -> dict[str, Array]:
    """The elements of constants by the operand of the last node that they are."""
    return {name: done.graph.data[name] for name in done.graph.nodes[-1].inputs if name in done.graph.data}


def test_the_operator_set_is_raised_and_the_report_says_so() -> None:
    done = normalized("g (float[2] x) => (float[2] y) { y = Relu(x) }", opset=9)
    assert rules(done) == []
    assert done.graph.opsets == (("", 13),)
    assert done.graph.nodes[0].version == 13
    assert changes(done) == [("", "imported operator set 13 in place of 9")]
    assert done.changes[0].rule == "graph.D9"


def test_the_bounds_of_clip_were_attributes() -> None:
    done = normalized("g (float[3] x) => (float[3] y) { y = Clip<min = -1.5, max = 6.0>(x) }", opset=7)
    assert rules(done) == []
    assert done.graph.nodes[0].inputs == ("x", "y_min", "y_max")
    assert done.graph.nodes[0].attributes == {}
    assert {name: data.tolist() for name, data in held(done).items()} == {"y_min": -1.5, "y_max": 6.0}
    assert all(data.dtype == np.float32 for data in held(done).values())
    assert changes(done)[1:] == [
        ("0 Clip", "gave `min` the constant -1.5"),
        ("0 Clip", "gave `max` the constant 6.0"),
    ]
    assert done.changes[1].why == "version 6 of Clip has it as an attribute, newer ones as an operand"


# In version 6 an absent bound is the end of float, whatever the type; since version 11 it is the type's own.
@for_each(
    "case",
    [
        ("float", 7, (-LARGEST_FLOAT, LARGEST_FLOAT)),
        ("double", 10, (-LARGEST_FLOAT, LARGEST_FLOAT)),
        ("float16", 10, (-np.inf, np.inf)),
        ("float", 11, (-LARGEST_FLOAT, LARGEST_FLOAT)),
        ("double", 12, tuple(np.frombuffer(b"".join(ENDS["double"])).tolist())),
        ("int8", 12, (-128, 127)),
    ],
)
def test_absent_bounds_are_those_of_the_version(case: tuple[str, int, tuple[float, float]]) -> None:
    name, opset, ends = case
    done = normalized(f"g ({name}[3] x) => ({name}[3] y) {{ y = Clip(x) }}", opset=opset)
    assert rules(done) == []
    assert tuple(data.item() for data in held(done).values()) == ends


def test_a_bound_is_rounded_once_to_the_type_of_the_tensor() -> None:
    # 0.1 as a float is 0.100000001490116...; the nearest float16 is 0x2e66.
    done = normalized("g (float16[3] x) => (float16[3] y) { y = Clip<min = 0.1>(x) }", opset=8)
    assert held(done)["y_min"].tobytes() == b"\x66\x2e"
    done = normalized("g (double[3] x) => (double[3] y) { y = Clip<min = 0.1>(x) }", opset=8)
    assert held(done)["y_min"].item() == float(np.float32(0.1))


@pytest.mark.parametrize(
    "text",
    [
        "g (float[2] x, float b) => (float[2] y) { y = Clip<min = 1.0>(x, b) }",
        "g (float[2] x) => (float[2] y) { y = Clip<min = 1>(x) }",
        "g (string[2] x) => (string[2] y) { y = Clip<min = 1.0>(x) }",
    ],
    ids=["given twice", "an integer", "no numbers"],
)
def test_what_is_no_bound_of_version_6_stays_and_is_a_finding(text: str) -> None:
    done = normalized(text, opset=9)
    assert done.graph.nodes[-1].attributes.keys() == {"min"}
    assert "general.R5" in rules(done)


def test_broadcasting_constants_and_a_square_in_one_old_model() -> None:
    text = """g (float[2,3] x, float[3] b) => (float[2,3] y)
              { two = Constant<value = float {2.0}>()
                t = Add(x, b)  s = Pow(t, two)  u = Mul(s, t)  y = Clip<min = 0.0>(u) }"""
    done = normalized(text, opset=8)
    assert rules(done) == []
    assert [node.operator for node in done.graph.nodes] == ["Expand", "Add", "Mul", "Mul", "Clip"]
    assert types(done)["s"] == "float[2,3]"


@pytest.mark.parametrize("opset", [7, 9, 11, 12])
def test_the_model_written_anew_has_the_bits_of_the_old_one(opset: int) -> None:
    bounds = "Clip<min = -0.5, max = 2.0>(t)" if opset < 11 else "Clip(t, low, high)"
    given = "" if opset < 11 else "<float low = {-0.5}, float high = {2.0}>"
    text = f"""g (float[2,1,4] x, float[3,1] b) => (float[2,3,4] y) {given}
               {{ s = Add(x, b)  t = Mul(s, x)  c = {bounds}  y = Relu(c) }}"""
    model = proto(text, opset=opset, ir=4)
    done = normalize(read(model))
    assert rules(done) == []
    random = np.random.default_rng(opset)
    x, b = (random.standard_normal(shape).astype(np.float32) for shape in ((2, 1, 4), (3, 1)))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, {"x": x, "b": b})
    assert sonnx.Graph.of(done.graph).run({"x": x, "b": b})["y"].tobytes() == expected.tobytes()


def stays(text: str, *functions: str, **how: int) -> str:
    """What the finding on the operator set says of a model that is left as it is."""
    given = graph(text, *functions, **how)
    before = content(given)
    done = normalize(given)
    assert done.changes == ()
    assert content(done.graph) == before
    (found,) = [finding for finding in done.findings if finding.rule == "graph.D9"]
    return found.help


def test_an_operator_of_which_nothing_is_known_keeps_the_whole_model_old() -> None:
    text = "g (float[2] x) => (float[2] y) { a = Softmax(x)  b = Softmax(a)  c = Hardmax(b)  y = Clip(c) }"
    assert stays(text, opset=9) == (
        "convert the model to operator set 13 or later (onnx.version_converter); `sonnx normalize` does not "
        "know what version 9 means by 'Softmax', 'Hardmax'"
    )


def test_an_operator_that_the_old_set_does_not_have_keeps_it_old() -> None:
    # HardSwish came with operator set 14.
    assert stays("g (float[2] x) => (float[2] y) { y = HardSwish(x) }", opset=12).endswith("by 'HardSwish'")


@pytest.mark.parametrize("opset", [1, 6])
def test_before_operator_set_7_broadcasting_was_an_attribute(opset: int) -> None:
    text = "g (float[2,3] x, float[2] z) => (float[2,3] y) { y = Add<broadcast = 1, axis = 0>(x, z) }"
    assert stays(text, opset=opset) == (
        "convert the model to operator set 13 or later (onnx.version_converter); sets before 7 write "
        "broadcasting as attributes of operators"
    )


def test_any_number_of_operands_were_not_broadcast_before_operator_set_8() -> None:
    text = "g (float[2,3] x, float[3] z) => (float[2,3] y) { y = Max(x, z) }"
    assert stays(text, opset=7).endswith("does not know what version 7 means by 'Max'")
    assert rules(normalized(text, opset=8)) == []


def test_that_attribute_is_refused_in_later_sets_too() -> None:
    text = "g (float[2,3] x, float[3] z) => (float[2,3] y) { y = Add<broadcast = 1>(x, z) }"
    assert "general.R5" in rules(normalized(text, opset=8))


def test_a_model_with_functions_is_left_to_onnx() -> None:
    text = "g (float[2] x) => (float[2] y) { y = own.twice(x) }"
    function = "twice (a) => (b) { b = Add(a, a) }"
    model = proto(text, function, opset=12)
    model.functions[0].opset_import[0].version = 12
    done = normalize(read(model))
    assert done.changes == ()
    assert {finding.rule for finding in done.findings} == {"graph.D9"}
    helps = {finding.help for finding in done.findings}
    assert helps == {"convert the model to operator set 13 or later (onnx.version_converter)"}


def test_another_reason_to_doubt_the_versions_keeps_the_model_as_it_is() -> None:
    model = proto("g (float[2] x) => (float[2] y) { y = Relu(x) }", opset=9)
    model.opset_import.append(helper.make_opsetid("twice", 1))
    model.opset_import.append(helper.make_opsetid("twice", 2))
    assert normalize(read(model)).changes == ()


def test_other_operator_sets_stay_as_they_are() -> None:
    model = proto("g (float[2] x) => (float[2] y) { y = Relu(x) }", opset=9, more=', "own": 3')
    assert normalize(read(model)).graph.opsets == (("", 13), ("own", 3))


def test_the_check_says_who_writes_it_anew() -> None:
    (found,) = sonnx.Graph.of(graph("g (float[2] x) => (float[2] y) { y = Relu(x) }", opset=9)).check()
    assert found.rule == "graph.D9"
    assert found.help == "`sonnx normalize` writes the model with operator set 13"


def test_what_an_old_version_has_as_attributes_is_no_finding_of_its_own() -> None:
    text = "g (float[2] x) => (float[2] y) { t = Unheard(x)  y = Clip<max = 1.0>(x)  z = Clip<max = 1.0>(t) }"
    assert {"general.R5", "clip.min.D1", "clip.max.D1"}.isdisjoint(rules(check_graph(graph(text, opset=9))))
    findings = check_graph(graph("g (float[2] x) => (float[2] y) { y = Clip<max = 1.0>(x) }", opset=9))
    assert [each.rule for each in findings] == ["graph.D9"]


def test_a_bound_beside_an_attribute_of_old_is_a_finding() -> None:
    text = "g (float[2] x, float b) => (float[2] y) { y = Clip<max = 1.0>(x, b) }"
    assert "general.R5" in rules(check_graph(graph(text, opset=9)))


def test_the_old_constants_of_one_name_serve_no_other_node() -> None:
    text = "g (float[2] x) => (float[2] y) { t = Clip<max = 1.0>(x)  y = Clip<max = 2.0>(t) }"
    model = with_arrays(proto(text, opset=9), y_max=float32(7))
    model.graph.output.append(helper.make_tensor_value_info("y_max", 1, []))
    done = normalize(read(model))
    results = sonnx.Graph.of(done.graph).run({"x": float32([-1, 9])})
    assert results["y"].tolist() == [-1, 1]
    assert results["y_max"].item() == 7
    assert to_bytes(done.graph)


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("g (float[2] x) => (float[2] y) { t = Relu(x)  y = Clip<min = 0.0>(t) }", True),
        ("g (float[2] x) => (float[2] y) { t = Softmax(x)  y = Clip<min = 0.0>(t) }", False),
    ],
)
def test_the_command_says_what_normalizing_does_for_an_old_model(
    text: str, mended: bool, tmp_path: Path
) -> None:
    path, target = tmp_path / "net.onnx", tmp_path / "net-conforming.onnx"
    path.write_bytes(proto(text, opset=9, ir=4).SerializeToString())
    told = CliRunner().invoke(main, ["check", str(path)])
    assert told.exit_code == 1
    assert ("mends all of this" in told.output) == mended
    assert ("changes nothing because of graph.D9" in told.output) != mended
    done = CliRunner().invoke(main, ["normalize", str(path), "-o", str(target)])
    assert done.exit_code == (0 if mended else 1)
    assert target.exists() == mended
    if mended:
        assert CliRunner().invoke(main, ["check", str(target)]).exit_code == 0
