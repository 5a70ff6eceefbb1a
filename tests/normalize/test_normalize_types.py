"""Open sizes fixed, types inferred and written, and contradictions kept for the check to find."""

from dataclasses import replace
from typing import Any

import pytest
from onnx import TensorProto, helper
from tests.normalize.support import changes, graph, normalize, normalized, proto, read, rules, types

from sonnx.model.graph import Graph, Value
from sonnx.model.tensor_type import tensor_type
from sonnx.normalize.sizes import fix_sizes, open_sizes

BOUNDS = "<float l = {0.0}, float h = {6.0}>"


def chain(declared: str = "", inputs: str = "float[2,3] x", output: str = "y") -> str:
    """Two Clips after one another, `t` between them."""
    more = f", {declared}" if declared else ""
    return f"""g ({inputs}) => ({output}) <float l = {{0.0}}, float h = {{6.0}}{more}>
               {{ t = Clip(x, l, h)  y = Clip(t, l, h) }}"""


def test_types_are_inferred_one_after_the_other() -> None:
    done = normalized(chain())
    assert rules(done) == []
    assert types(done) | {"t": "float[2,3]", "y": "float[2,3]"} == types(done)
    assert changes(done) == [
        ("0 Clip", "wrote the type of `t`: float[2,3]"),
        ("1 Clip", "wrote the type of `y`: float[2,3] in place of ?"),
    ]
    assert {(change.why, change.rule) for change in done.changes} == {("inferred", "general.R2")}


@pytest.mark.parametrize("written", ["float[?,3]", "float[n,m]", "float[]"])
def test_a_type_that_leaves_something_open_is_completed(written: str) -> None:
    done = normalized(chain(f"{written} t", output="float[2,3] y"))
    assert rules(done) == []
    assert types(done)["t"] == "float[2,3]"
    said = str(graph(chain(f"{written} t")).values[0].type)
    assert changes(done) == [("0 Clip", f"wrote the type of `t`: float[2,3] in place of {said}")]


@pytest.mark.parametrize("written", ["double[?,3]", "float[?,4]", "float[2]", "float[?,3,1]", "float[-2,3]"])
def test_a_type_that_contradicts_is_not_completed(written: str) -> None:
    model = proto(chain("float[7] t", output="float[2,3] y"))
    kind = tensor_type(written.replace("-2", "9"))
    (value,) = model.graph.value_info
    numbers: list[Any] = [-2 if "-2" in written and size == 9 else size for size in kind.shape or ()]
    element = TensorProto.DOUBLE if written.startswith("double") else TensorProto.FLOAT
    value.CopyFrom(helper.make_tensor_value_info("t", element, numbers))
    done = normalize(read(model))
    assert types(done)["t"] == written
    assert done.changes == ()
    assert rules(done) != []


@pytest.mark.parametrize("written", ["sparse float[?,3]", "float8e5m2[?,3]"])
def test_what_the_profile_does_not_have_is_not_completed(written: str) -> None:
    given = graph(chain(output="float[2,3] y"))
    done = normalize(replace(given, values=(Value("t", tensor_type(written)),)))
    assert done.changes == ()
    assert types(done)["t"] == written


def test_an_output_that_is_absent_gets_no_type() -> None:
    given = graph(chain(output="float[2,3] y"))
    first = replace(given.nodes[0], outputs=("", "t"))
    done = normalize(replace(given, nodes=(first, given.nodes[1])))
    assert "general.R5" in rules(done)
    assert "" not in types(done)


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("float[2,4]", ["clip.output.C1", "clip.output.C1"]),
        ("double[2,3]", ["clip.output.C2", "clip.min.C1", "clip.max.C1", "clip.output.C2"]),
    ],
)
def test_a_static_type_is_never_changed_right_or_wrong(written: str, left: list[str]) -> None:
    done = normalized(chain(f"{written} t", output="float[2,3] y"))
    assert (done.changes, rules(done)) == ((), left)


def test_what_several_places_write_is_completed_everywhere() -> None:
    done = normalized(chain("float[?,3] y, float[2,?] t", output="float[2,?] y"))
    assert rules(done) == []
    assert [str(value.type) for value in (*done.graph.values, *done.graph.outputs)] == ["float[2,3]"] * 3


def test_what_several_places_write_keeps_its_contradiction() -> None:
    done = normalized(chain("float[?,3] y", output="float[5,3] y"))
    assert "graph.D11" in rules(done)
    assert [str(value.type) for value in done.graph.outputs] == ["float[5,3]"]


def test_what_cannot_be_completed_is_left_word_for_word() -> None:
    done = normalized(chain("float[?,3] y", inputs="float[n,3] x", output="float[n,3] y"))
    assert done.changes == ()
    assert [str(value.type) for value in (*done.graph.values, *done.graph.outputs)] == [
        "float[?,3]",
        "float[n,3]",
    ]


def test_one_symbol_is_one_size() -> None:
    text = f"""g (float[2] x, float[3] z) => (float[n] y, float[n] v) {BOUNDS}
               {{ y = Clip(x, l, h)  v = Clip(z, l, h) }}"""
    done = normalized(text)
    assert done.changes == ()
    assert rules(done) == ["general.R2", "general.R2"]
    same = normalized(text.replace("float[3] z", "float[2] z"))
    assert rules(same) == []
    assert types(same)["v"] == "float[2]"


def test_one_symbol_is_one_size_within_one_tensor_as_well() -> None:
    text = f"g (float[2,3] x) => (float[n,n] y) {BOUNDS} {{ y = Clip(x, l, h) }}"
    assert rules(normalized(text)) == ["general.R2"]
    assert rules(normalized(text.replace("float[2,3]", "float[3,3]"))) == []


def test_a_symbol_that_an_input_has_is_for_the_user_to_fix() -> None:
    text = f"""g (float[2] x, float[n] z) => (float[n] y, float[n] v) {BOUNDS}
               {{ y = Clip(x, l, h)  v = Clip(z, l, h) }}"""
    done = normalized(text)
    assert types(done)["y"] == "float[n]"
    assert rules(normalize(done.graph, {"n": 2})) == []
    assert rules(normalize(done.graph, {"n": 3})) == ["clip.output.C1"]


def test_a_number_for_a_symbol_counts_wherever_it_is_written() -> None:
    text = chain("float[batch,3] t", "float[batch,3] x", "float[batch,?] y")
    done = normalized(text, dims={"batch": 4})
    assert rules(done) == []
    assert {types(done)[name] for name in "xty"} == {"float[4,3]"}
    assert changes(done)[0] == ("", "fixed the size batch = 4")
    assert (done.changes[0].why, done.changes[0].rule) == ("given by you", "general.R2")


def test_a_size_without_a_name_is_called_by_its_place() -> None:
    given = graph(chain(inputs="float[?,3,?] x"))
    assert open_sizes(given) == ["x[0]", "x[2]"]
    done = normalize(given, {"x[0]": 2, "x[2]": 0})
    assert rules(done) == []
    assert types(done)["y"] == "float[2,3,0]"


def test_sizes_of_inputs_alone_are_open_to_the_user() -> None:
    given = graph(chain("float[a] t", "float[n,m] x, float[m] z, float[] u, float v", "float[b] y"))
    assert open_sizes(given) == ["n", "m"]


@pytest.mark.parametrize(
    ("dims", "words"),
    [
        ({"k": 1}, "no open size is called 'k'; there are: n, x[1]"),
        ({"y[0]": 1}, "'y[0]': no input is called 'y'; there are: x"),
        ({"n": -1}, "the size of 'n' must be an integer from 0 up and below 2^31, not -1"),
        ({"n": 2**31}, "the size of 'n' must be an integer from 0 up and below 2^31, not 2147483648"),
        ({"n": True}, "the size of 'n' must be an integer from 0 up and below 2^31, not True"),
        ({"n": 2.0}, "the size of 'n' must be an integer from 0 up and below 2^31, not 2.0"),
    ],
)
def test_a_size_that_cannot_be_meant_is_refused(dims: Any, words: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the whole text is compared below
        normalize(graph(chain(inputs="float[n,?] x")), dims)
    assert str(caught.value) == words


def test_where_nothing_is_open_that_is_said() -> None:
    with pytest.raises(ValueError, match="the model has none"):
        normalize(graph(chain()), {"n": 1})


def test_names_of_sizes_are_not_printed_raw_nor_all_of_them() -> None:
    shape = ["\x1b[2J", *(f"n{number}" for number in range(60))]
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    model = proto(chain())
    model.graph.input[0].CopyFrom(value)
    with pytest.raises(ValueError, match=r"there are: '\\x1b\[2J', n0, n1, ") as caught:
        normalize(read(model), {"k": 1})
    assert str(caught.value).endswith("n18, ...")


def named(*inputs: tuple[str, list[Any]]) -> Graph:
    """The two Clips on inputs with sizes of any name."""
    model = proto(chain("float[?,3] t", output="float[?,3] y"))
    del model.graph.input[:]
    model.graph.input.extend(
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs
    )
    return read(model)


def test_a_name_that_means_two_sizes_is_refused() -> None:
    given = named(("x", [None, 3]), ("z", ["n"]))
    assert normalize(given, {"x[0]": 2, "n": 5}).graph.inputs[1].type.sizes == (5,)
    with pytest.raises(
        ValueError, match="is a size that the model calls so, and an axis of an input as well"
    ):
        normalize(named(("x", [None, 3]), ("z", ["x[0]"])), {"x[0]": 2})


def test_a_symbol_is_not_taken_for_the_place_of_another_tensor() -> None:
    fixed, _ = fix_sizes(named(("x", ["t[0]", 3])), {"t[0]": 2})
    assert [str(value.type) for value in (*fixed.inputs, *fixed.values)] == ["float[2,3]", "float[?,3]"]


def test_sizes_that_are_given_count_even_where_nothing_else_may_be_touched() -> None:
    done = normalized(chain(inputs="float[n] x, float[n] x"), dims={"n": 2})
    assert changes(done) == [("", "fixed the size n = 2")]
    assert "graph.D1" in rules(done)


def test_a_size_that_contradicts_what_is_written_elsewhere_stops_there() -> None:
    done = normalized(chain("float[5,3] x", "float[?,3] x"), dims={"x[0]": 2})
    assert changes(done) == [("", "fixed the size x[0] = 2")]
    assert "graph.D11" in rules(done)
    assert rules(normalized(chain("float[5,3] x", "float[?,3] x"), dims={"x[0]": 5})) == []


@pytest.mark.parametrize("kind", ["sparse float[2,3]", "float8e5m2[2,3]"])
def test_nothing_is_inferred_from_what_the_profile_does_not_have(kind: str) -> None:
    given = graph(chain())
    odd = Graph(
        "g",
        (Value("x", tensor_type(kind)),),
        given.outputs,
        given.nodes,
        given.constants,
        opsets=given.opsets,
    )
    done = normalize(odd)
    assert done.changes == ()
    assert {"general.R2", "general.R4" if "sparse" in kind else "general.R3"} <= set(rules(done))


def test_a_type_that_the_profile_does_not_have_is_written_as_it_is() -> None:
    given = graph(chain("float[2,3] t", output="float[2,3] y"))
    x = Value("x", tensor_type("float8e5m2[2,3]"))
    done = normalize(replace(given, inputs=(x,), outputs=(*given.outputs, Value("x", tensor_type("?[?,3]")))))
    assert str(done.graph.outputs[1].type) == "float8e5m2[2,3]"


def test_an_axis_keeps_its_name() -> None:
    model = proto(chain("float[?,3] t", output="float[?,?] y"))
    for name, value in (("DATA_BATCH", model.graph.value_info[0]), ("DATA_CHANNEL", model.graph.output[0])):
        value.type.tensor_type.shape.dim[0].denotation = name
    done = normalize(read(model))
    assert rules(done) == []
    assert types(done)["t"] == "float[2,3] as DATA_BATCH,"
    assert types(done)["y"] == "float[2,3] as DATA_CHANNEL,"


def test_the_names_of_axes_are_not_those_of_an_expanded_tensor() -> None:
    model = proto("g (bool[3,2] c, float[2] x, float[3,2] z) => (float[3,2] y) { y = Where(c, x, z) }")
    model.graph.input[1].type.tensor_type.shape.dim[0].denotation = "DATA_FEATURE"
    done = normalize(read(model))
    assert rules(done) == []
    assert types(done)["x_expanded"] == "float[3,2]"


def function_graph(values: str, inputs: str = "float[2] x, float[3] z", written: str = "") -> Any:
    """A function with a tensor `m` between two Clips, called on `x` and on `z`."""
    function = f"Two (a) => (b) <{values}> {{ m = Clip(a)  b = Clip(m) }}"
    text = f"g ({inputs}) => (y, v) {f'<{written}>' if written else ''} {{ y = own.Two(x)  v = own.Two(z) }}"
    return read(proto(text, function, ir=10))


def test_a_symbol_of_a_function_is_another_size_at_each_call() -> None:
    done = normalize(function_graph("float[n] m, float[n] a"))
    assert rules(done) == []
    assert types(done) | {"y": "float[2]", "v": "float[3]"} == types(done)


def test_a_function_may_write_a_type_without_a_shape() -> None:
    done = normalize(function_graph("float[] m, float[] b"))
    assert rules(done) == []
    assert types(done)["Two/m"] == "float[2]"


def test_what_a_function_writes_and_the_graph_knows_is_not_written_again() -> None:
    done = normalize(function_graph("float[n] a"))
    assert not {"x", "z"} & {value.name for value in done.graph.values}


def test_a_wrong_name_for_an_axis_does_not_get_lost_with_a_function() -> None:
    function = "F (a, w) => (b) <float[1,1,3,3] a> { b = Conv(a, w) }"
    text = "g (float[1,1,3,3] x, float[1,1,3,3] w) => (float[1,1,1,1] y) { y = own.F(x, w) }"
    model = proto(text, function, ir=10)
    for axis in model.functions[0].value_info[0].type.tensor_type.shape.dim:
        axis.denotation = "DATA_FEATURE"
    assert "conv.X.C4" in rules(normalize(read(model)))


def test_a_symbol_of_a_function_is_none_of_the_graph() -> None:
    done = normalize(function_graph("float[n] m", "float[n] x, float[3] z"), {"n": 2})
    assert rules(done) == []
    assert types(done)["Two/m_2"] == "float[3]"


@pytest.mark.parametrize(
    "values", ["float[5] m", "float[5] a", "float[5] b", "double[?] m", "double[?] a", "double[?] b"]
)
def test_what_a_function_writes_wrongly_does_not_get_lost_with_it(values: str) -> None:
    done = normalize(function_graph(values))
    assert rules(done) != []


def test_a_contradiction_between_a_function_and_its_caller_stops_everything() -> None:
    done = normalize(function_graph("float[5] a"))
    assert done.changes == ()
    assert "graph.D11" in rules(done)
    assert len(done.graph.functions) == 1


def test_what_a_function_writes_of_its_caller_s_tensors_is_not_written_twice() -> None:
    one = "One (a) => (b) <float[2] b> { b = Clip(a) }"
    two = "Two (a) => (b) <float[2] a> { b = Clip(a) }"
    text = "g (float[2] x) => (float[2] y) { t = own.One(x)  y = own.Two(t) }"
    done = normalize(read(proto(text, one, two, ir=10)))
    assert rules(done) == []
    assert [(value.name, str(value.type)) for value in done.graph.values] == [("t", "float[2]")]
    assert ("", "wrote the types of `t` once") in changes(done)


def test_what_is_written_twice_alike_is_written_once_and_that_is_said() -> None:
    given = graph(chain("float[2,3] t", output="float[2,3] y"))
    done = normalize(replace(given, values=given.values * 3))
    assert rules(done) == []
    assert done.graph.values == given.values
    assert changes(done) == [("", "wrote the types of `t` once")]


def test_a_constant_of_the_model_keeps_its_open_twin_in_step() -> None:
    done = normalize(replace(graph(chain()), values=(Value("l", tensor_type("float")),)))
    assert ("tensor l", "wrote the type of `l`: float[] in place of float") in changes(done)
