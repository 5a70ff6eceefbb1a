"""Open sizes given one by one, by name, and by the shapes of arrays."""

from typing import Any

import pytest
from onnx import TensorProto, helper
from tests.normalize.support import changes, normalize, proto, read, rules, types

from sonnx.model.graph import Graph
from sonnx.normalize.sizes import fix_sizes, open_sizes, ranked, repeated_sizes, sizes_of

# Two Clips after one another; the shapes are replaced.
_TEXT = """g (float[2,3] x) => (float[7] y) <float l = {0.0}, float h = {6.0}, float[7] t>
           { t = Clip(x, l, h)  y = Clip(t, l, h) }"""


def clips(*shapes: list[Any]) -> Graph:
    """Two Clips one after the other on `x`, the first of the inputs; their sizes have any names."""
    model = proto(_TEXT)
    del model.graph.input[:]
    model.graph.input.extend(
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in zip("xzuv", shapes, strict=False)
    )
    for value in (*model.graph.value_info, *model.graph.output):
        value.CopyFrom(helper.make_tensor_value_info(value.name, TensorProto.FLOAT, shapes[0]))
    return read(model)


def test_axes_of_one_name_can_be_given_one_by_one() -> None:
    given = clips(["k", 3, "k"])
    done = normalize(given, {"x[0]": 2, "x[2]": 5})
    assert rules(done) == []
    assert {types(done)[name] for name in "xty"} == {"float[2,3,5]"}
    assert changes(done)[:3] == [
        ("", "fixed the size x[0] = 2, which the model calls k"),
        ("", "fixed the size x[2] = 5, which the model calls k"),
        ("", "dropped the name k, whose axes differ, at other tensors"),
    ]


def test_axes_that_are_given_alike_keep_their_name_for_one_number() -> None:
    fixed, made = fix_sizes(clips(["k", 3, "k"]), {"x[0]": 2, "x[2]": 2})
    assert [str(value.type) for value in (*fixed.inputs, *fixed.values, *fixed.outputs)] == [
        "float[2,3,2]"
    ] * 3
    assert len(made) == 2


def test_an_axis_that_is_not_given_keeps_its_name() -> None:
    fixed, _ = fix_sizes(clips(["k", 3, "k"]), {"x[2]": 5})
    assert [str(value.type) for value in (*fixed.inputs, *fixed.values)] == ["float[k,3,5]", "float[?,3,?]"]
    assert open_sizes(fixed) == ["k"]


def test_a_number_that_the_model_itself_writes_may_be_repeated() -> None:
    fixed, made = fix_sizes(clips(["k", 3]), {"x[1]": 3})
    assert (str(fixed.inputs[0].type), made) == ("float[k,3]", [])


def test_a_name_and_its_axes_may_be_given_alike() -> None:
    fixed, _ = fix_sizes(clips(["k", 3, "k"]), {"k": 2, "x[0]": 2, "x[00]": 2})
    assert str(fixed.values[0].type) == "float[2,3,2]"


def test_names_that_several_axes_of_one_input_have_are_known() -> None:
    assert repeated_sizes(clips(["k", "m", "k"], ["m", None])) == ["x[0]", "x[2]"]


def test_sizes_that_contradict_or_are_not_there_are_refused() -> None:
    given = clips(["k", 3, "k"], ["m"], [], ["v[0]", None])
    told: dict[str, dict[Any, int]] = {
        "'w[0]': no input is called 'w'; there are: x, z, u, v": {"w[0]": 1},
        "'x[3]': 'x' has no such axis; its axes are 0 to 2": {"x[3]": 1},
        "'x[-1]': 'x' has no such axis; its axes are 0 to 2": {"x[-1]": 1},
        "'x[99999]': 'x' has no such axis; its axes are 0 to 2": {"x[99999]": 1},
        "'x[\u0662]': 'x' has no such axis; its axes are 0 to 2": {"x[\u0662]": 1},
        "'u[0]': 'u' has no such axis; it has none": {"u[0]": 1},
        "'x[1]' is 3 in the model, which cannot be made 4": {"x[1]": 4},
        "'x[0]' is given as 1, and by its name 'k' as 2": {"k": 2, "x[0]": 1},
        "'x[0]' is given as 1 and as 2": {"x[0]": 1, "x[00]": 2},
        "no open size is called 'w[a]'; there are: k, m, v[0], v[1]": {"w[a]": 1},
        "no open size is called 7; there are: k, m, v[0], v[1]": {7: 1},
    }
    complaints = []
    for words, dims in told.items():
        try:
            fix_sizes(given, dims)
        except ValueError as error:
            if str(error) != words:
                complaints.append((words, str(error)))
        else:
            complaints.append((words, "accepted"))
    assert complaints == []


def test_an_input_without_axes_has_none_to_be_given() -> None:
    model = proto(_TEXT)
    model.graph.input[0].type.tensor_type.ClearField("shape")
    given = read(model)
    with pytest.raises(ValueError, match="the model does not say how many axes 'x' has"):
        fix_sizes(given, {"x[0]": 1})
    assert open_sizes(ranked(given, {"x": (2, 3)})) == ["x[0]", "x[1]"]


def test_a_size_that_is_called_like_its_own_axis_is_no_contradiction() -> None:
    fixed, _ = fix_sizes(clips(["x[0]", 3]), {"x[0]": 2})
    assert str(fixed.inputs[0].type) == "float[2,3]"


def test_arrays_give_the_sizes_that_are_open_and_not_given() -> None:
    given = clips(["k", 3, "k"], [None, "m"])
    shapes = {"x": (2, 3, 5), "z": (7, 8)}
    assert sizes_of(given, shapes) == {"k": 2, "z[0]": 7, "m": 8}
    assert sizes_of(given, shapes, {"k": 4, "z[0]": 1}) == {"m": 8}
    # One axis of the name stands for itself, so the other does too.
    assert sizes_of(given, shapes, {"x[0]": 4}) == {"x[2]": 5, "z[0]": 7, "m": 8}
    assert sizes_of(given, {"x": (2,)}) == {"k": 2}
