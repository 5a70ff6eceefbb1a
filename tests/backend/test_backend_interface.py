"""The backend as tools drive it: devices, models, nodes, arrays by place or by name."""

import unittest
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper
from tests.normalize.support import float32, proto, with_arrays
from tests.operators.seven_loops import separate, seven_loops

import sonnx
from sonnx import backend
from sonnx.backend import SonnxBackend

Array = NDArray[Any]

CLIP = "g (float[3] x) => (float[3] y) <float lo = {0.0}, float hi = {6.0}> { y = Clip(x, lo, hi) }"
X = float32([-1, 3, 9])
CLIPPED = [0, 3, 6]


def refused(model: ModelProto, *arrays: Any) -> set[str]:
    """The rules for which a model is not run."""
    with pytest.raises(sonnx.RuleError) as caught:
        backend.run_model(model, list(arrays))
    return {finding.rule for finding in caught.value.findings}


def complaint(model: ModelProto, arrays: Any) -> str:
    with pytest.raises(sonnx.InputError) as caught:
        backend.run_model(model, arrays)
    return str(caught.value)


def test_the_module_itself_is_a_backend() -> None:
    assert backend.supports_device("CPU")
    assert backend.is_compatible(proto(CLIP))
    assert backend.prepare(proto(CLIP)).run([X])[0].tolist() == CLIPPED
    assert backend.run_model(proto(CLIP), [X])[0].tolist() == CLIPPED
    node = helper.make_node("Clip", ["a", "b", "c"], ["d"])
    assert backend.run_node(node, [X, np.float32(0), np.float32(6)])[0].tolist() == CLIPPED


@pytest.mark.parametrize("device", ["CPU", "CPU:0", "CPU:3"])
def test_the_processor_is_a_device(device: str) -> None:
    assert SonnxBackend.supports_device(device)
    assert SonnxBackend.is_compatible(proto(CLIP), device)
    assert SonnxBackend.run_model(proto(CLIP), [X], device)[0].tolist() == CLIPPED


@pytest.mark.parametrize("device", ["CUDA", "CUDA:0", "cpu", "", "CPU:x", "MYRIAD", None, 3])
def test_there_is_no_other_device(device: Any) -> None:
    assert not SonnxBackend.supports_device(device)
    assert not SonnxBackend.is_compatible(proto(CLIP), device)
    with pytest.raises(ValueError, match="is not supported; there is CPU"):
        SonnxBackend.prepare(proto(CLIP), device)


@pytest.mark.parametrize("inputs", [[X], (X,), X, {"x": X}], ids=["list", "tuple", "array", "dict"])
def test_arrays_are_given_by_place_or_by_name(inputs: Any) -> None:
    assert backend.run_model(proto(CLIP), inputs)[0].tolist() == CLIPPED


def test_outputs_have_places_and_names() -> None:
    both = """g (float[3] x) => (float[3] up, float[3] down)
              <float lo = {0.0}, float hi = {6.0}, float far = {9.0}>
              { up = Clip(x, lo, far)  down = Clip(x, lo, hi) }"""
    outputs = backend.run_model(proto(both), [X])
    up, down = outputs
    assert (up.tolist(), down.tolist()) == ([0, 3, 9], CLIPPED)
    assert outputs["down"] is outputs.down is down  # type: ignore[call-overload, attr-defined]  # ONNX's class


def test_options_that_do_not_exist_are_refused() -> None:
    with pytest.raises(TypeError, match="unknown options seed"):
        backend.prepare(proto(CLIP)).run([X], seed=1)
    with pytest.raises(TypeError, match="prepare: unknown options threads; there are domain, accumulate"):
        backend.prepare(proto(CLIP), "CPU", threads=1)
    with pytest.raises(ValueError, match="accumulate must be 'separate' or 'fused', not 'fast'"):
        backend.prepare(proto(CLIP), "CPU", accumulate="fast")


@pytest.mark.parametrize("call", [backend.prepare, backend.is_compatible])
def test_a_path_is_no_model(call: Any) -> None:
    with pytest.raises(TypeError, match=r"prepare takes a ModelProto, not str; onnx\.load reads a file"):
        call("net.onnx")


def test_a_model_is_prepared_once_and_run_on_arrays_of_many_sizes() -> None:
    text = "g (float[batch,2] x) => (float[batch,2] y) <float lo = {0.0}> { y = Clip(x, lo) }"
    ready = backend.prepare(proto(text))
    for batch in (0, 1, 5):
        x = -np.ones((batch, 2), np.float32)
        assert sonnx.same_bits(ready.run([x])[0], np.zeros((batch, 2), np.float32))


def test_sizes_without_names_and_shapes_without_rank_are_those_of_the_arrays() -> None:
    nameless = helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 2])
    rankless = helper.make_tensor_value_info("z", TensorProto.FLOAT, None)
    output = helper.make_empty_tensor_value_info("y")
    nodes = [helper.make_node("Where", ["c", "x", "z"], ["y"])]
    condition = helper.make_tensor_value_info("c", TensorProto.BOOL, None)
    graph = helper.make_graph(nodes, "g", [condition, nameless, rankless], [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)])
    assert backend.is_compatible(model)
    c, x, z = np.array([True, False]), float32([[1, 2], [3, 4]]), float32(9)
    assert backend.run_model(model, [c, x, z])[0].tolist() == [[1, 9], [3, 9]]


def test_one_name_is_one_size() -> None:
    text = "g (bool[n] c, float[n] x, float[n] y) => (float[n] z) { z = Where(c, x, y) }"
    c, x, y = np.array([True, False]), float32([1, 2]), float32([3])
    assert complaint(proto(text), [c, x, y]).startswith(
        "`y` must be float[2], not float[1]; nothing is converted"
    )


def test_every_wrong_array_is_named() -> None:
    text = "g (bool[n] c, float[n] x, float[2] y) => (float[n] z) { z = Where(c, x, y) }"
    words = complaint(proto(text), {"c": np.zeros((2, 2), bool), "x": np.zeros(2), "w": X})
    assert words.splitlines() == [
        "`w` is no input of the model",
        "`c` must be bool[2], not bool[2,2]; nothing is converted",
        "`x` must be float[2], not double[2]; nothing is converted",
        "`y` is missing; it must be float[2]",
        "inputs of the model: c: bool[2], x: float[2], y: float[2]",
    ]
    assert complaint(proto(text), [X]) == "the model takes 3 inputs, not 1"
    assert complaint(proto(CLIP), []) == "the model takes 1 input, not 0"


RAGGED = [[1.0], [2.0, 3.0]]


@pytest.mark.parametrize("shape", ["[2]", "[n]", "[n,m]", ""])
def test_what_is_no_array_is_refused_with_its_name(shape: str) -> None:
    kind = f"float{shape}"
    model = proto(f"g ({kind} x, float l, float h) => ({kind} y) {{ y = Clip(x, l, h) }}")
    if not shape:
        model.graph.input[0].type.tensor_type.ClearField("shape")
    bounds = [np.float32(0), np.float32(1)]
    for given in (RAGGED, [RAGGED], [1.0], "text", {"a": 1}, object()):
        words = complaint(model, [given, *bounds])
        assert words.startswith("`x` must be float"), given
        assert f", not Python {type(given).__name__}; nothing is converted\n" in words or given == "text"
    with pytest.raises(sonnx.InputError, match="`x` has the type Python list, which no ONNX model has"):
        backend.run_node(helper.make_node("Clip", ["x"], ["y"]), [RAGGED])
    wanted = "the model takes a list of arrays, or a dict of arrays by name, not"
    assert complaint(model, 3) == f"{wanted} int"
    assert complaint(model, "xyz") == f"{wanted} str"


EXPAND = "g (float[3,1] x, int64[2] shape) => (float[m,n] y) { y = Expand(x, shape) }"


def test_an_input_that_decides_a_shape_may_differ_from_run_to_run() -> None:
    assert backend.is_compatible(proto(EXPAND))
    ready = backend.prepare(proto(EXPAND))
    x = float32([[1], [2], [3]])
    for shape in ([3, 4], [1, 1], [3, 1]):
        (y,) = ready.run([x, np.array(shape)])
        assert sonnx.same_bits(y, x * np.ones(shape, np.float32))


def test_an_input_that_decides_a_shape_is_checked_like_any_other() -> None:
    x = float32([[1], [2], [3]])
    assert "`shape` must be int64[2], not int32[2]" in complaint(
        proto(EXPAND), [x, np.array([3, 4], np.int32)]
    )
    assert "`shape` must be int64[2], not int64[3]" in complaint(proto(EXPAND), [x, np.array([1, 3, 4])])
    assert "`shape` is missing" in complaint(proto(EXPAND), {"x": x})
    assert refused(proto(EXPAND), x, np.array([2, 4])) >= {"expand.shape.C1"}
    assert refused(proto(EXPAND), x, np.array([-3, 4])) >= {"expand.shape.D2"}


def test_old_files_list_initializers_as_inputs_and_callers_do_not_give_them() -> None:
    text = "g (float[3] x, float lo, float hi) => (float[3] y) { y = Clip(x, lo, hi) }"
    model = with_arrays(proto(text, ir=3), lo=float32(0), hi=float32(6))
    assert backend.run_model(model, [X])[0].tolist() == CLIPPED
    assert "`hi` is no input of the model" in complaint(model, {"x": X, "hi": float32(7)})


def test_old_operator_sets_are_converted() -> None:
    lowest, highest = np.finfo(np.float32).min, np.finfo(np.float32).max
    six = "g (float[3] x) => (float[3] y) { y = Clip <max: float = 6.0> (x) }"
    infinite = float32([-np.inf, 3, np.inf])
    assert backend.run_model(proto(six, opset=6, ir=3), [infinite])[0].tolist() == [lowest, 3, 6]
    eleven = "g (float[3] x) => (float[3] y) { y = Clip(x) }"
    assert backend.run_model(proto(eleven, opset=11), [infinite])[0].tolist() == [lowest, 3, highest]
    nine = "g (bool[1] c, float[3] x, float y) => (float[3] z) { z = Where(c, x, y) }"
    given = [np.array([False]), X, np.float32(5)]
    assert backend.run_model(proto(nine, opset=9, ir=4), given)[0].tolist() == [5, 5, 5]


def test_bounds_that_were_attributes_have_the_type_of_the_tensor() -> None:
    # By ONNX's converter they would be floats, and the model none of ONNX.
    old = proto("g (double[3] x) => (double[3] y) { y = Clip<max = 1.5>(x) }", opset=9, ir=4)
    lowest = float(np.finfo(np.float32).min)
    assert backend.run_model(old, [np.array([-np.inf, 1, 2])])[0].tolist() == [lowest, 1, 1.5]


def test_an_operator_set_that_cannot_be_converted_is_refused() -> None:
    unknown = proto("g (float[3] x) => (float[3] y) { y = NoSuchOperator(x) }", opset=7)
    assert not backend.is_compatible(unknown)
    with pytest.raises(ValueError, match="operator set 7 cannot be converted"):
        backend.prepare(unknown)


def test_an_operator_outside_the_profile_is_refused_with_its_finding() -> None:
    model = proto("g (float[3] x) => (float[3] y) { t = Clip(x)  y = Unheard(t) }")
    assert not backend.is_compatible(model)
    assert "graph.D6" in refused(model, X)
    # Whatever the arrays are, nothing would run.
    assert refused(model, [[1], [2, 3]]) == refused(model) == {"graph.D6"}


def test_runners_of_tests_skip_what_the_profile_lacks_and_nothing_else() -> None:
    relu = proto("g (float[n] x) => (float[n] y) { y = Unheard(x) }")
    with pytest.raises(unittest.SkipTest) as caught:
        backend.run_model(relu, [X])
    assert isinstance(caught.value, sonnx.RuleError)
    assert "node 0 (Unheard)" in str(caught.value)
    dead = proto("g (float[3] x) => (float[3] y) { z = Unheard(x)  y = Clip(x) }")
    assert backend.run_model(dead, [X])[0].tolist() == X.tolist()
    constant = proto("g (float[3] x) => (float[3] y) { l = Constant<value_float = 0.0>()  y = Clip(x, l) }")
    assert backend.run_model(constant, [X])[0].tolist() == [0, 3, 9]
    for wrong in ("{ y = Clip(x, x) }", "{ y = Clip(z) }", "{ y = Clip<k = 1>(x) }"):
        with pytest.raises(sonnx.RuleError) as refusal:
            backend.run_model(proto(f"g (float[3] x) => (float[3] y) {wrong}"), [X])
        assert not isinstance(refusal.value, unittest.SkipTest), wrong


@pytest.mark.parametrize(
    "text",
    [
        """g (float[n,1,9,9] x, float[1,1,3,3] w) => (float[n,1,m,k] y)
           { y = Conv <auto_pad = "SAME_UPPER"> (x, w) }""",
        "g (float[1,1,h,k] x, float[1,1,7,7] w) => (float[1,1,m,n] y) { y = Conv(x, w) }",
        "g (bool[1,3] c, float[n,m] x, float[2,3] y) => (float[2,3] z) { z = Where(c, x, y) }",
        """g (bool[1,3] c, float x, int64[2] s, float[2,3] y) => (float[2,3] z)
           { t = Expand(x, s)  z = Where(c, t, y) }""",
    ],
    ids=["auto_pad", "kernel", "broadcast", "after an open Expand"],
)
def test_what_some_sizes_would_make_right_is_compatible(text: str) -> None:
    assert backend.is_compatible(proto(text))


@pytest.mark.parametrize(
    "text",
    [
        "g (float[n,1,9,9] x, float[1,2,3,3] w) => (float[n,1,m,k] y) { y = Conv(x, w) }",
        "g (float[n] x, double l) => (float[n] y) { y = Clip(x, l) }",
        "g (float[n] x) => (float[n] y) { y = Unheard(x) }",
        "g (float[n] x, float[n] x) => (float[n] y) { y = Clip(x) }",
        "g (float x, int64[1] s) => (float[n] y) { t = Expand(x, s)  y = Unheard(t) }",
    ],
    ids=["channels", "types", "operator", "twice", "operator on an unknown shape"],
)
def test_what_no_size_would_make_right_is_not_compatible(text: str) -> None:
    assert not backend.is_compatible(proto(text))


def convolution(channels: int, outputs: int, per_group: int, group: int) -> ModelProto:
    x, w = f"float[1,{channels},4,3] x", f"float[{outputs},{per_group},2,2] w"
    return proto(
        f"g ({x}, {w}, float[{outputs}] b) => (float[1,o,m,n] y) {{ y = Conv<group = {group}>(x, w, b) }}"
    )


@pytest.mark.parametrize(
    ("channels", "outputs", "group"), [(4, 4, 2), (4, 6, 2), (2, 4, 2), (6, 3, 3), (4, 2, 1)]
)
def test_groups_are_convolutions_side_by_side_bit_for_bit(channels: int, outputs: int, group: int) -> None:
    random = np.random.default_rng(channels * outputs + group)
    x = random.standard_normal((1, channels, 4, 3)).astype(np.float32)
    w = random.standard_normal((outputs, channels // group, 2, 2)).astype(np.float32)
    b = random.standard_normal(outputs).astype(np.float32)
    model = convolution(channels, outputs, channels // group, group)
    plain: Any = {"strides": (1, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1), "group": 1}
    parts = [
        seven_loops(some_x, some_w, some_b, separate, **plain)
        for some_x, some_w, some_b in zip(
            np.split(x, group, axis=1), np.split(w, group), np.split(b, group), strict=True
        )
    ]
    assert backend.is_compatible(model)
    assert sonnx.same_bits(backend.run_model(model, [x, w, b])[0], np.concatenate(parts, axis=1))


@pytest.mark.parametrize(
    ("channels", "outputs", "per_group", "group"),
    [(4, 4, 2, 0), (0, 4, 2, 0), (4, 4, 2, -2), (4, 4, 1, 3), (4, 3, 2, 2), (4, 4, 2, 4), (4, 4, 1, 2)],
    ids=["zero", "zero of zero", "negative", "3 of 4", "3 outputs", "too wide", "too narrow"],
)
def test_groups_that_do_not_divide_the_channels_are_refused(
    channels: int, outputs: int, per_group: int, group: int
) -> None:
    model = convolution(channels, outputs, per_group, group)
    arrays = (
        np.zeros((1, channels, 4, 3), np.float32),
        np.zeros((outputs, per_group, 2, 2), np.float32),
        np.zeros(outputs, np.float32),
    )
    assert not backend.is_compatible(model)
    assert refused(model, *arrays) & {"conv.group.C1", "conv.group.D1", "conv.X.C2"}


def test_only_the_groups_that_cannot_be_are_refused() -> None:
    text = """g (float[1,4,3,3] x, float[4,2,1,1] w) => (float[1,4,3,3] a, float[1,4,3,3] b)
              { a = Conv<group = 2>(x, w)  b = Conv<group = 0>(x, w) }"""
    x, w = np.zeros((1, 4, 3, 3), np.float32), np.zeros((4, 2, 1, 1), np.float32)
    with pytest.raises(sonnx.RuleError) as caught:
        backend.run_model(proto(text), [x, w])
    assert {finding.location.index for finding in caught.value.findings if finding.location} == {1}


def test_groups_are_not_taken_where_anything_else_is_wrong() -> None:
    x, w, b = np.zeros((1, 4, 4, 3), np.float32), np.zeros((4, 2, 2, 2), np.float32), np.zeros(3, np.float32)
    text = """g (float[1,4,4,3] x, float[4,2,2,2] w, float[3] b) => (float[1,o,m,n] y)
              { y = Conv<group = 2>(x, w, b) }"""
    assert refused(proto(text), x, w, b) == {"conv.B.C1"}


def test_a_node_runs_alone() -> None:
    clip = helper.make_node("Clip", ["x", "", "hi"], ["y"])
    assert backend.run_node(clip, [X, np.float32(6)])[0].tolist() == [-1, 3, 6]
    assert backend.run_node(clip, {"x": X, "hi": np.float32(6)})[0].tolist() == [-1, 3, 6]
    same = helper.make_node("Where", ["c", "x", "x"], ["y"])
    assert backend.run_node(same, [np.array([True, False, True]), X])[0].tolist() == X.tolist()
    expand = helper.make_node("Expand", ["x", "shape"], ["y"])
    assert backend.run_node(expand, [X, np.array([2, 3])])[0].tolist() == [X.tolist()] * 2


def test_a_node_runs_under_the_operator_set_that_is_asked_for() -> None:
    old = helper.make_node("Clip", ["x"], ["y"], min=0.0, max=6.0)
    assert backend.run_node(old, [X], opset_version=6)[0].tolist() == CLIPPED
    with pytest.raises(sonnx.RuleError) as caught:
        backend.run_node(old, [X])
    assert "general.R5" in {finding.rule for finding in caught.value.findings}


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ([X], "the node takes 2 inputs, not 1"),
        ([X, np.longdouble(0)], "`lo` has the type NumPy longdouble[], which no ONNX model has"),
        ([X, sonnx.real("1/3")], "`lo` has the type real[], which no ONNX model has"),
    ],
)
def test_what_is_no_tensor_of_onnx_is_refused(arrays: list[Any], words: str) -> None:
    with pytest.raises(sonnx.InputError) as caught:
        backend.run_node(helper.make_node("Clip", ["x", "lo"], ["y"]), arrays)
    assert str(caught.value).replace("float128", "longdouble") == words


def test_the_mode_of_accumulation_is_chosen_when_a_model_is_prepared() -> None:
    # (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: rounded to 1 + 2^-11; only an unrounded product leaves 2^-24.
    text = "g (float[1,1,1,1] x, float[1,1,1,1] w, float[1] b) => (float[1,1,1,1] y) { y = Conv(x, w, b) }"
    x = np.full((1, 1, 1, 1), 1 + 2**-12, np.float32)
    b = float32([-(1 + 2**-11)])
    assert backend.run_model(proto(text), [x, x, b])[0].item() == 0
    assert backend.run_model(proto(text), [x, x, b], "CPU", accumulate="fused")[0].item() == 2**-24


def test_the_real_domain_is_chosen_when_a_model_is_prepared() -> None:
    text = "g (float[1,1,1,1] x, float[1,1,1,1] w) => (float[1,1,1,1] y) { y = Conv(x, w) }"
    x, w = sonnx.real([[[["1/3"]]]]), np.full((1, 1, 1, 1), 0.5, np.float32)
    assert backend.run_model(proto(text), [x, w], "CPU", domain="real")[0].tolist() == [[[[Fraction(1, 6)]]]]
    with pytest.raises(sonnx.InputError, match="must be float"):
        backend.run_model(proto(text), [x, w])


def test_what_is_given_is_left_as_it_was() -> None:
    model = proto(CLIP)
    before, x = model.SerializeToString(), X.copy()
    (y,) = backend.run_model(model, [x])
    y[...] = 7
    assert model.SerializeToString() == before
    assert sonnx.same_bits(x, X)


def test_what_is_no_model_is_not_compatible() -> None:
    assert not backend.is_compatible(ModelProto())
    with pytest.raises(sonnx.LoadError):
        backend.prepare(ModelProto())
