"""What operators leave to ONNX's defaults is written, and broadcasting in Where is shown."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from tests.loops import for_each
from tests.normalize.support import (
    Array,
    changes,
    float32,
    graph,
    normalize,
    normalized,
    proto,
    read,
    rules,
    types,
    where,
    with_arrays,
)
from tests.operators.support import FLOATS, INTEGERS

import sonnx
from sonnx.model.graph import Graph
from sonnx.model.names import Names
from sonnx.normalize.passes import Normalized, normalize_graph

pytestmark = pytest.mark.measured

EXPLICIT = {
    "strides": (1, 1),
    "pads": (0, 0, 0, 0),
    "dilations": (1, 1),
    "group": 1,
    "auto_pad": "NOTSET",
    "kernel_shape": (3, 2),
}


def conv(attributes: str = "", lines: int = 5, columns: int = 7, W: str = "float[1,1,3,2]") -> Normalized:
    """A convolution of one image of 5 by 7 with a kernel of 3 by 2, unless said otherwise."""
    return normalized(
        f"""g (float[1,1,{lines},{columns}] x, {W} w) => (float[?,?,?,?] y)
            {{ y = Conv{f"<{attributes}>" if attributes else ""}(x, w) }}"""
    )


def written(done: Normalized, index: int = 0) -> dict[str, Any]:
    return dict(done.graph.nodes[index].attributes)


def test_every_absent_attribute_of_conv_is_written_and_said() -> None:
    done = conv()
    assert rules(done) == []
    assert written(done) == EXPLICIT
    assert changes(done) == [
        ("0 Conv", "wrote strides = [1, 1]"),
        ("0 Conv", "wrote pads = [0, 0, 0, 0]"),
        ("0 Conv", "wrote dilations = [1, 1]"),
        ("0 Conv", "wrote group = 1"),
        ("0 Conv", "wrote kernel_shape = [3, 2]"),
        ("0 Conv", "wrote auto_pad = 'NOTSET'"),
        ("0 Conv", "wrote the type of `y`: float[1,1,3,6] in place of float[?,?,?,?]"),
    ]
    reasons = {change.what.split(" =")[0]: (change.why, change.rule) for change in done.changes}
    assert reasons["wrote group"] == ("ONNX's default for an absent `group`", "general.R1")
    assert reasons["wrote kernel_shape"] == ("an absent `kernel_shape` is that of `W`", "general.R1")


@pytest.mark.parametrize("name", list(EXPLICIT))
def test_what_is_written_stays(name: str) -> None:
    value = {"auto_pad": '"NOTSET"', "group": "1", "strides": "[2, 1]", "pads": "[1, 0, 2, 1]"}
    value |= {"dilations": "[1, 3]", "kernel_shape": "[3, 2]"}
    done = conv(f"{name} = {value[name]}")
    expected = {"strides": (2, 1), "pads": (1, 0, 2, 1), "dilations": (1, 3)}
    assert rules(done) == []
    assert written(done) == EXPLICIT | {name: expected.get(name, EXPLICIT[name])}
    assert not any(f"wrote {name} " in change.what for change in done.changes)


# By hand from D-CONV-8: outputs ceil(in / stride); total = (out - 1)·stride + dilation·(kernel - 1) + 1 - in.
AUTO_PADS = [
    # (5-1)·1 + 3 - 5 = 2 → 1, 1;  (7-1)·1 + 2 - 7 = 1 → 0, 1 or 1, 0
    ((5, 7), (3, 2), (1, 1), (1, 1), (1, 0, 1, 1), (1, 1, 1, 0), (5, 7)),
    # (3-1)·2 + 3 - 5 = 2 → 1, 1;  (3-1)·3 + 2 - 7 = 1
    ((5, 7), (3, 2), (2, 3), (1, 1), (1, 0, 1, 1), (1, 1, 1, 0), (3, 3)),
    # (2-1)·4 + 3 - 5 = 2;  (2-1)·6 + 2 - 7 = 1
    ((5, 7), (3, 2), (4, 6), (1, 1), (1, 0, 1, 1), (1, 1, 1, 0), (2, 2)),
    # the last element is never reached: (2-1)·3 + 1 - 5 = -1 → 0;  (2-1)·5 + 1 - 7 = -1 → 0
    ((5, 7), (1, 1), (3, 5), (1, 1), (0, 0, 0, 0), (0, 0, 0, 0), (2, 2)),
    # dilation: 4 + (2·2 + 1) - 5 = 4 → 2, 2;  6 + (3·1 + 1) - 7 = 3 → 1, 2
    ((5, 7), (3, 2), (1, 1), (2, 3), (2, 1, 2, 2), (2, 2, 2, 1), (5, 7)),
    # both: (3-1)·2 + (2·2 + 1) - 5 = 4 → 2, 2;  (4-1)·2 + (4·1 + 1) - 7 = 4 → 2, 2
    ((5, 7), (3, 2), (2, 2), (2, 4), (2, 2, 2, 2), (2, 2, 2, 2), (3, 4)),
    # a kernel larger than the image: 1 + 3 - 2 = 2 → 1, 1;  2 + 4 - 3 = 3 → 1, 2
    ((2, 3), (3, 4), (1, 1), (1, 1), (1, 1, 1, 2), (1, 2, 1, 1), (2, 3)),
]


@pytest.mark.parametrize(("sizes", "kernel", "strides", "dilations", "upper", "lower", "out"), AUTO_PADS)
@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
def test_auto_pad_becomes_the_pads_it_stands_for(
    mode: str,
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    upper: Sequence[int],
    lower: Sequence[int],
    out: Sequence[int],
) -> None:
    attributes = f'auto_pad = "{mode}", strides = {list(strides)}, dilations = {list(dilations)}'
    done = conv(attributes, sizes[0], sizes[1], f"float[1,1,{kernel[0]},{kernel[1]}]")
    pads = upper if mode == "SAME_UPPER" else lower
    assert rules(done) == []
    assert written(done)["pads"] == tuple(pads)
    assert written(done)["auto_pad"] == "NOTSET"
    assert types(done)["y"] == f"float[1,1,{out[0]},{out[1]}]"
    said = [change for change in done.changes if change.rule == "conv.auto_pad.C1"]
    assert [change.what for change in said] == [
        f"wrote pads = {list(pads)}",
        f"wrote auto_pad = 'NOTSET' in place of '{mode}'",
    ]
    place = f"on an input of {sizes[0]} lines and {sizes[1]} columns (D-CONV-8)"
    assert said[0].why == f"what auto_pad = {mode} stands for {place}"


def test_valid_is_no_padding() -> None:
    done = conv('auto_pad = "VALID", strides = [2, 3]')
    assert rules(done) == []
    assert written(done)["pads"] == (0, 0, 0, 0)
    assert types(done)["y"] == "float[1,1,2,2]"


@pytest.mark.parametrize(
    ("attributes", "left"),
    [
        ('auto_pad = "SAME_UPPER", pads = [1, 1, 1, 1]', ["conv.auto_pad.C1"]),
        ('auto_pad = "VALID", pads = [0, 0, 0, 0]', ["conv.auto_pad.C1"]),
        ('auto_pad = "same_upper"', ["general.R1", "conv.auto_pad.C1"]),
        ('auto_pad = "SAME_UPPER", strides = [0, 1]', ["general.R1", "conv.strides.D1", "conv.auto_pad.C1"]),
        ('auto_pad = "SAME_UPPER", dilations = [1]', ["general.R1", "conv.auto_pad.C1", "conv.dilations.C2"]),
        (
            'auto_pad = "SAME_UPPER", dilations = [1, 0]',
            ["general.R1", "conv.auto_pad.C1", "conv.dilations.C1"],
        ),
        ("auto_pad = 3", ["general.R1", "conv.auto_pad.C1"]),
        ("kernel_shape = [2, 3]", ["conv.kernel_shape.C2"]),
        ("strides = [1, 1, 1]", ["conv.strides.C1"]),
        ("pads = [1, 1]", ["conv.pads.C2"]),
        ("pads = [-1, 0, 0, 0]", ["conv.pads.C1"]),
        ("group = 0", ["conv.group.C1"]),
        ("stride = [1, 1]", ["general.R5"]),
    ],
)
def test_what_nobody_can_guess_is_left_for_the_check(attributes: str, left: list[str]) -> None:
    done = conv(attributes)
    assert [rule for rule in rules(done) if rule != "general.R2"] == left
    assert "conv.auto_pad.C1" not in {change.rule for change in done.changes}
    assert written(done).get("auto_pad") != "NOTSET" or "auto_pad" not in attributes


def test_the_pads_of_auto_pad_depend_on_sizes_so_open_sizes_leave_it() -> None:
    text = """g (float[n,1,h,7] x, float[1,1,3,2] w) => (float[n,1,?,?] y)
              { y = Conv<auto_pad = "SAME_UPPER">(x, w) }"""
    done = normalized(text, dims={"n": 2})
    assert rules(done) == ["general.R2", "general.R2", "general.R1", "conv.auto_pad.C1"]
    assert "pads" not in written(done)
    done = normalized(text, dims={"n": 2, "h": 5})
    assert rules(done) == []
    assert written(done)["pads"] == (1, 0, 1, 1)


def test_a_conv_of_another_rank_is_left_as_it_is() -> None:
    done = normalized("g (float[1,1,5] x, float[1,1,3] w) => (float[1,1,3] y) { y = Conv(x, w) }")
    assert done.changes == ()
    assert rules(done) == ["general.R1", "conv.X.C1"]


def test_a_kernel_without_taps_is_left_for_the_check() -> None:
    done = conv('auto_pad = "SAME_UPPER"', W="float[1,1,0,2]")
    assert {"conv.auto_pad.C1", "conv.kernel_shape.C1"} <= set(rules(done))


def test_a_kernel_of_unknown_size_leaves_everything_to_be_written() -> None:
    done = conv(W="float[1,1,k,2]")
    assert done.changes == ()


# The ends that ONNX documents are std::numeric_limits<T>::lowest() and max().
ENDS = {
    "float16": (b"\xff\xfb", b"\xff\x7b"),
    "float": (b"\xff\xff\x7f\xff", b"\xff\xff\x7f\x7f"),
    "double": (b"\xff\xff\xff\xff\xff\xff\xef\xff", b"\xff\xff\xff\xff\xff\xff\xef\x7f"),
    "int8": (b"\x80", b"\x7f"),
    "int16": (b"\x00\x80", b"\xff\x7f"),
    "int32": (b"\x00\x00\x00\x80", b"\xff\xff\xff\x7f"),
    "int64": (b"\x00" * 7 + b"\x80", b"\xff" * 7 + b"\x7f"),
    "uint8": (b"\x00", b"\xff"),
    "uint16": (b"\x00\x00", b"\xff\xff"),
    "uint32": (b"\x00" * 4, b"\xff" * 4),
    "uint64": (b"\x00" * 8, b"\xff" * 8),
}


def test_every_type_of_clip_has_its_ends_here() -> None:
    assert list(ENDS) == [*FLOATS, *INTEGERS]


@for_each("name", list(ENDS))
@for_each("absent", [("min", "max"), ("min",), ("max",)])
def test_absent_bounds_are_the_ends_of_the_type(name: str, absent: tuple[str, ...]) -> None:
    arguments = {("min", "max"): "x", ("min",): "x, , b", ("max",): "x, b"}[absent]
    done = normalized(f"g ({name}[2] x, {name} b) => ({name}[2] y) {{ [limit] y = Clip({arguments}) }}")
    assert rules(done) == []
    _, low, high = done.graph.nodes[0].inputs
    assert (low, high) == tuple(f"limit_{bound}" if bound in absent else "b" for bound in ("min", "max"))
    held = {constant.name: constant for constant in done.graph.constants}
    for bound, end in zip(("min", "max"), ENDS[name], strict=True):
        if bound in absent:
            constant = held[f"limit_{bound}"]
            assert (str(constant.type), constant.data.tobytes()) == (f"{name}[]", end)
    assert [(where(change.location), change.rule) for change in done.changes] == [
        ("0 Clip", f"clip.{bound}.D1") for bound in absent
    ]


def test_a_filled_bound_is_said_with_its_value_and_reason() -> None:
    done = normalized("g (int8[2] x) => (int8[2] y) { y = Clip(x) }")
    assert changes(done) == [
        ("0 Clip", "gave `min` the constant -128"),
        ("0 Clip", "gave `max` the constant 127"),
    ]
    assert done.changes[0].why == "absent, it is the lowest finite int8"


def test_absent_bounds_keep_what_onnx_makes_of_infinities() -> None:
    done = normalized("g (float[3] x) => (float[3] y) { y = Clip(x) }")
    y = sonnx.Graph.of(done.graph).run({"x": float32([-np.inf, np.nan, np.inf])})["y"]
    assert y.tobytes()[:4] == ENDS["float"][0]
    assert np.isnan(y[1])
    assert y.tobytes()[8:] == ENDS["float"][1]


@pytest.mark.parametrize("name", ["bfloat16", "bool", "complex64", "string"])
def test_types_that_clip_does_not_have_get_no_bounds(name: str) -> None:
    done = normalized(f"g ({name}[2] x) => ({name}[2] y) {{ y = Clip(x) }}")
    assert done.changes == ()
    assert rules(done) == ["clip.input.D1", "clip.min.D1", "clip.max.D1"]


def test_bounds_are_filled_in_though_a_size_is_open() -> None:
    done = normalized("g (float[n] x) => (float[n] y) { y = Clip(x) }")
    assert [change.rule for change in done.changes] == ["clip.min.D1", "clip.max.D1"]
    assert set(rules(done)) == {"general.R2"}


def test_a_bound_that_is_written_stays_right_or_wrong() -> None:
    done = normalized("g (float[2] x, float[1] b, double c) => (float[2] y) { y = Clip(x, b, c) }")
    assert done.changes == ()
    assert rules(done) == ["clip.min.D2", "clip.max.C1"]


def broadcasting(condition: str, X: str, Y: str, output: str) -> Normalized:
    return normalized(
        f"g (bool{condition} c, float{X} x, float{Y} y) => (float{output} z) {{ z = Where(c, x, y) }}"
    )


def expanded(done: Normalized) -> dict[str, tuple[str, Array]]:
    """What each Expand takes and the shape it is given, by the name of its node."""
    data = done.graph.data
    return {
        node.name: (node.inputs[0], data[node.inputs[1]])
        for node in done.graph.nodes
        if node.operator == "Expand"
    }


def test_broadcasting_in_where_becomes_expand() -> None:
    done = broadcasting("[3]", "[2,1]", "[2,3]", "[?,?]")
    assert rules(done) == []
    assert [node.operator for node in done.graph.nodes] == ["Expand", "Expand", "Where"]
    found = expanded(done)
    assert {name: (source, shape.tolist()) for name, (source, shape) in found.items()} == {
        "z/expand_condition": ("c", [2, 3]),
        "z/expand_X": ("x", [2, 3]),
    }
    assert all(shape.dtype == np.int64 for _, shape in found.values())
    assert done.graph.nodes[2].inputs == ("c_expanded", "x_expanded", "y")
    assert types(done) | {"c_expanded": "bool[2,3]", "x_expanded": "float[2,3]", "z": "float[2,3]"} == types(
        done
    )
    assert changes(done) == [
        ("0 Where", "put an Expand of `condition` to [2, 3] before it"),
        ("0 Where", "put an Expand of `X` to [2, 3] before it"),
        ("0 Where", "wrote the type of `z`: float[2,3] in place of float[?,?]"),
    ]


@pytest.mark.parametrize(
    ("condition", "X", "Y", "output"),
    [
        ("", "", "[2]", "[2]"),
        ("", "[1]", "", "[1]"),
        ("[1,1,1]", "[3]", "[2,1]", "[1,2,3]"),
        ("[0]", "[0]", "[0]", "[0]"),
        ("[2,0]", "[2,0]", "[2,0]", "[2,0]"),
    ],
)
def test_the_common_shape_is_that_of_broadcasting(condition: str, X: str, Y: str, output: str) -> None:
    done = broadcasting(condition, X, Y, output)
    assert rules(done) == []
    assert all(str(shape.tolist()).replace(" ", "") == output for _, shape in expanded(done).values())
    assert len(expanded(done)) == sum(shape != output for shape in (condition, X, Y))


@pytest.mark.parametrize(
    ("condition", "X", "Y"), [("[1]", "[0]", "[0]"), ("[2]", "[3]", "[1]"), ("[1,3]", "[0,3]", "[1,3]")]
)
def test_shapes_without_a_common_one_are_left_for_the_check(condition: str, X: str, Y: str) -> None:
    done = broadcasting(condition, X, Y, X)
    assert done.changes == ()
    assert rules(done) == ["where.R2"]


def test_a_shape_that_is_not_known_is_not_guessed() -> None:
    done = broadcasting("[n]", "[1]", "[3]", "[3]")
    assert done.changes == ()
    assert {"general.R2", "where.R4"} <= set(rules(done))


def test_one_tensor_may_be_expanded_twice() -> None:
    done = normalized("g (bool[2] c, float x) => (float[2] z) { z = Where(c, x, x) }")
    assert rules(done) == []
    assert done.graph.nodes[-1].inputs == ("c", "x_expanded", "x_expanded_2")


def test_new_names_stay_clear_of_old_ones() -> None:
    text = """g (bool[2] c, float x, float x_expanded, float x_shape) => (float[2] z, float[2] c_expanded)
              <float limit_min = {1.0}>
              { [limit] t = Clip(x)  [two] z = Where(c, t, x)
                [other] c_expanded = Where(c, x_expanded, x_shape)  u = Clip(x, limit_min) }"""
    model = proto(text)
    model.graph.node[2].name = "two/expand_X"
    done = normalize(read(model))
    names = [name for name, _, _ in done.graph.declarations()]
    assert rules(done) == []
    assert len(set(names)) == len(names)
    nodes = [node.name for node in done.graph.nodes]
    assert {"two/expand_X", "two/expand_X_2", "two/expand_Y"} <= set(nodes)


class Counted(set[str]):
    """A set that counts how often it is asked."""

    asked = 0

    def __contains__(self, name: object) -> bool:
        self.asked += 1
        return super().__contains__(name)


def test_a_new_name_is_found_at_once_however_many_want_the_same() -> None:
    taken = Counted({"a", "a_2"})
    names = Names(taken)
    assert [names.fresh("a") for _ in range(1000)] == [f"a_{number}" for number in range(3, 1003)]
    assert names.fresh("b") == "b"
    assert taken.asked <= 1010


def test_the_work_grows_with_the_nodes_not_with_their_square(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def scope(self: Graph) -> Any:
        asked.append(len(self.nodes))
        return original(self)

    original = Graph.scope.func  # type: ignore[attr-defined]  # a property; its function makes lists of all nodes
    monkeypatch.setattr(Graph, "scope", property(scope))
    numbers = []
    for number in (5, 50):
        nodes = " ".join(f"z{index} = Where(c, x, x)" for index in range(number))
        outputs = ", ".join(f"float[2] z{index}" for index in range(number))
        asked.clear()
        normalize_graph(graph(f"g (bool[2] c, float x) => ({outputs}) {{ {nodes} }}"))
        numbers.append(len(asked))
    assert numbers[0] == numbers[1]


def test_pads_that_no_attribute_can_hold_are_not_written() -> None:
    # An extent of 4·2^62 + 1 lines: half of it on either side is more than int64 holds.
    done = conv(f'auto_pad = "SAME_UPPER", dilations = [{2**62}, 1]', W="float[1,1,5,2]")
    assert {"conv.auto_pad.C1", "general.R1"} <= set(rules(done))
    assert "pads" not in written(done)


def test_an_expand_that_is_written_needs_nothing() -> None:
    model = with_arrays(proto("g (float[3] x) => (float[2,3] y) { y = Expand(x, s) }"), s=np.array([2, 1]))
    done = normalize(read(model))
    assert done.changes == ()
    assert rules(done) == []
