"""Computations are composed, refused, printed and executed as the document and the rulings say."""

import copy
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import sonnx
from sonnx import xla
from sonnx.check.models import check_graph
from sonnx.xla import ComputationBuilder, Shape


def limit(name: str = "limit") -> xla.Computation:
    """The document's example of Clamp: s32[3] between 0 and 6."""
    b = ComputationBuilder(name)
    x = b.parameter(0, Shape("s32", (3,)), "x")
    b.clamp(x, b.constant("s32 0"), b.constant("s32 6"))
    return b.build()


def s32(*values: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    return np.array(values, np.int32)


def rules_broken(call: Callable[[], object]) -> list[str]:
    with pytest.raises(sonnx.RuleError) as caught:
        call()
    return [finding.rule for finding in caught.value.findings]


def test_the_document_s_clamp_gives_0_5_6() -> None:
    c = limit()
    assert sonnx.same_bits(c.run(s32(-1, 5, 9)), s32(0, 5, 6))
    assert c.shape == Shape("s32", (3,))
    assert c.parameters == (("x", Shape("s32", (3,))),)


def test_every_operation_can_be_composed() -> None:
    b = ComputationBuilder("all")
    x = b.parameter(0, Shape("s32", (3,)), "x")
    called = b.call(limit(), x)
    f = b.convert_element_type(called, "f32")
    doubled = b.concatenate([f, f], 0)
    rows = b.broadcast(doubled, (2,))
    flat = b.collapse(rows, (0, 1))
    image = b.broadcast(flat, (1, 1))
    w = b.constant("f32[1,1,2] {{{1, 10}}}")
    valid = b.conv(image, w, (1,), "VALID")
    b.conv_with_general_padding(
        valid, w, window_strides=(2,), padding=((-1, 0),), lhs_dilation=(1,), rhs_dilation=(2,)
    )
    c = b.build()
    # By hand: 0 5 6 four times; with (1, 10): 50 65 6 50 65 6 50 65 6 50 65. Without the first that is
    # 65 6 50 65 6 50 65 6 50 65; taps two apart from places 0, 2, 4, 6: 65+500, 50+60, 6+650, 65+500.
    assert c.run(s32(-1, 5, 9)).tolist() == [[[565.0, 110.0, 656.0, 565.0]]]
    assert c.shape == Shape("f32", (1, 1, 4))
    assert check_graph(c.graph) == ()


def test_a_computation_prints_every_operation_with_its_shape() -> None:
    b = ComputationBuilder("outer")
    x = b.parameter(0, "s32[3]", "x")
    b.broadcast(b.call(limit(), x), (2,))
    assert str(b.build()).split("\n") == [
        "limit(x: s32[3]) -> s32[3] {",
        "  constant.1 = s32[] 0",
        "  constant.2 = s32[] 6",
        "  clamp.1 = Clamp(x, constant.1, constant.2) : s32[3]",
        "  return clamp.1",
        "}",
        "",
        "outer(x: s32[3]) -> s32[2,3] {",
        "  limit.1 = Call(limit, x) : s32[3]",
        "  broadcast.2 = Broadcast(limit.1, broadcast_sizes=[2]) : s32[2,3]",
        "  return broadcast.2",
        "}",
    ]
    assert repr(b.build()) == "<Computation outer(x: s32[3]) -> s32[2,3]>"


def test_pairs_are_printed_and_large_constants_are_not() -> None:
    b = ComputationBuilder("wide")
    x = b.constant(np.zeros((1, 1, 17), np.float32))
    b.conv_with_general_padding(x, b.constant("f32[1,1,1] {{{2}}}"), (1,), ((-1, 2),), (1,), (1,))
    text = str(b.build())
    assert "constant.1 = f32[1,1,17] {...}" in text
    assert "window_strides=[1], padding=[[-1, 2]], lhs_dilation=[1], rhs_dilation=[1])" in text


@pytest.mark.parametrize("name", ["a\x1b[31m", "x\x07", "two\nlines", "\u202e", ""])
def test_names_are_printable(name: str) -> None:
    for make in (
        lambda: ComputationBuilder(name),
        lambda: ComputationBuilder("b").parameter(0, "f32[]", name),
    ):
        with pytest.raises(xla.BuildError, match="printable characters") as caught:
            make()
        assert str(caught.value).isprintable()


def test_the_root_is_the_last_operation_unless_named() -> None:
    b = ComputationBuilder("two")
    x = b.parameter(0, "s8[2]", "x")
    first = b.broadcast(x, (1,))
    b.broadcast(x, (3,))
    assert b.build().shape == Shape("s8", (3, 2))
    assert b.build(first).shape == Shape("s8", (1, 2))
    assert b.build(root=x).run(np.array([1, 2], np.int8)).tolist() == [1, 2]


def test_parameters_and_constants_after_the_last_operation_are_not_the_root() -> None:
    b = ComputationBuilder("late")
    x = b.parameter(0, "f32[2]", "x")
    b.broadcast(x, (3,))
    b.constant("s32 1")
    b.parameter(1, "f32[]", "late")
    assert b.build().shape == Shape("f32", (3, 2))


def test_lists_of_any_kind_serve_as_attributes() -> None:
    x, w = np.ones((1, 1, 4), np.float32), np.ones((1, 1, 2), np.float32)
    expected = xla.conv_with_general_padding(x, w, (1,), ((1, -1),), (1,), (2,))
    strides: Any = np.array([1])
    padding: Any = np.array([[1, -1]])
    one: Any = [np.int8(1)]
    found = xla.conv_with_general_padding(x, w, strides, padding, one, range(2, 3))
    assert sonnx.same_bits(found, expected)
    assert xla.collapse(x, range(1, 3)).shape == (1, 4)


def test_lists_nested_without_end_are_refused_at_once() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    own: list[Any] = []
    own.append(own)
    wide: Any = 1
    for _ in range(40):
        wide = [wide, wide]
    many = np.broadcast_to(np.int64(1), (1000,) * 4)
    x = np.ones((2, 2), np.float32)
    for value in (deep, own, wide, many):
        assert rules_broken(lambda value=value: xla.broadcast(x, value)) == [  # type: ignore[misc]  # bound now
            "xla.broadcast.broadcast_sizes.D1"
        ]


def test_a_builder_and_a_computation_say_what_they_are() -> None:
    b = ComputationBuilder("n")
    x = b.parameter(0, "f32[2]", "x")
    assert repr(b) == "<ComputationBuilder n: 1 parameter, 0 operations; build() makes a computation>"
    assert repr(x) == "<x: f32[2]>"
    assert repr(b.build()) == "<Computation n(x: f32[2]) -> f32[2]>"
    assert sonnx.same_bits(limit()(s32(-1, 5, 9)), s32(0, 5, 6))


def test_computations_can_be_copied_and_sent_elsewhere() -> None:
    b = ComputationBuilder("outer")
    b.call(limit(), b.parameter(0, "s32[3]", "x"))
    c = b.build()
    assert c.callee.name == "outer"  # what is found out once is no part of a copy
    for copied in (copy.deepcopy(c), pickle.loads(pickle.dumps(c))):
        assert str(copied) == str(c)
        assert copied.run(s32(-1, 5, 9)).tolist() == [0, 5, 6]
        (function,) = copied.graph.functions
        assert not any(constant.data.flags.writeable for constant in function.constants)


def test_a_parameter_may_have_any_name_that_a_passed_on_result_could_get() -> None:
    b = ComputationBuilder("id")
    x = b.parameter(0, "f32[2]", "x")
    b.parameter(1, "f32[2]", "x_2")
    b.parameter(2, "f32[2]", "x'")
    identity = b.build(root=x)
    m = ComputationBuilder("m")
    p, q = m.parameter(0, "f32[2]", "p"), m.parameter(1, "f32[2]", "q")
    m.call(identity, p, q, q)
    c = m.build()
    assert c.run(np.array([1, 2], np.float32), np.array([3, 4], np.float32)).tolist() == [1, 2]
    assert check_graph(c.graph) == ()


def test_only_a_computation_can_be_called_from_a_builder() -> None:
    b = ComputationBuilder("b")
    x = b.parameter(0, "s32[3]", "x")
    with pytest.raises(xla.BuildError, match="give the computation itself"):
        b.call(limit().callee, x)  # type: ignore[arg-type]  # what a user might try


def test_constants_without_elements_are_printed_in_short() -> None:
    b = ComputationBuilder("empty")
    b.broadcast(b.constant(np.empty((10**9, 0), np.float32)), ())
    assert "constant.1 = f32[1000000000,0] {...}" in str(b.build())


def test_handles_are_for_their_builder_and_arrays_for_the_functions() -> None:
    b = ComputationBuilder("b")
    x = b.parameter(0, "f32[2]", "x")
    with pytest.raises(
        xla.BuildError, match=r"<x: f32\[2\]> belongs to the builder `b`: call its method `clamp`"
    ):
        xla.clamp(x, np.float32(0), np.float32(1))


def test_a_computation_is_nothing_that_an_onnx_file_holds() -> None:
    with pytest.raises(ValueError, match=r"XLA operations have no place in an ONNX file"):
        sonnx.Graph.of(limit().graph).save("never.onnx")


def test_what_the_root_does_not_need_is_left_out_but_no_parameter() -> None:
    b = ComputationBuilder("lean")
    x = b.parameter(0, "f32[2]", "x")
    b.parameter(1, "f32[]", "unused")
    b.clamp(x, b.constant(np.float32(0)), b.constant(np.float32(1)))
    b.call(limit(), b.constant(s32(1, 2, 3)))
    c = b.build(b.broadcast(x, ()))
    assert [node.operator for node in c.graph.nodes] == ["Broadcast"]
    assert c.graph.constants == ()
    assert c.graph.functions == ()
    assert len(c.parameters) == 2
    assert c.run(np.ones(2, np.float32), np.float32(7)).tolist() == [1, 1]


def test_what_is_passed_on_unchanged_can_be_called() -> None:
    b = ComputationBuilder("identity")
    b.parameter(0, "c64[2]", "z")
    identity = b.build()
    k = ComputationBuilder("answer")
    k.constant("s32 42")
    answer = k.build()
    o = ComputationBuilder("outer")
    z = o.parameter(0, "c64[2]", "z")
    o.call(answer)
    o.call(identity, z)
    given = np.array([1 + 2j, -0.0], np.complex64)
    assert sonnx.same_bits(o.build().run(given), given)
    assert check_graph(o.build().graph) == ()
    p = ComputationBuilder("constant")
    p.call(answer)
    assert sonnx.same_bits(p.build().run(), np.array(42, np.int32))
    assert check_graph(p.build().graph) == ()


def test_calls_lie_in_calls_and_keep_their_constants_apart() -> None:
    inner = limit()
    m = ComputationBuilder("middle")
    x = m.parameter(0, "s32[3]", "x")
    m.concatenate([m.call(inner, x), m.call(inner, m.constant("s32[3] {7, 8, -9}"))], 0)
    middle = m.build()
    o = ComputationBuilder("outer")
    y = o.parameter(0, "s32[3]", "x")
    o.concatenate([o.call(middle, y), o.call(middle, o.call(inner, y))], 0)
    c = o.build()
    assert c.run(s32(-1, 5, 9)).tolist() == [0, 5, 6, 6, 6, 0] * 2
    assert [function.name for function in c.graph.functions] == ["limit", "middle"]
    assert check_graph(c.graph) == ()


def test_computations_of_one_name_stay_apart() -> None:
    def constant(value: int) -> xla.Computation:
        b = ComputationBuilder("c")
        b.broadcast(b.constant(np.int32(value)), (1,))
        return b.build()

    b = ComputationBuilder("c")
    b.concatenate([b.call(constant(1)), b.call(constant(2)), b.call(constant(1))], 0)
    c = b.build()
    assert c.run().tolist() == [1, 2, 1]
    assert len(c.graph.functions) == 2  # equal computations are one function
    heads = [line for line in str(c).split("\n") if line.endswith("{")]
    assert heads == ["c_2() -> s32[1] {", "c_3() -> s32[1] {", "c() -> s32[3] {"]
    assert "c.2 = Call(c_3) : s32[1]" in str(c)
    assert sonnx.same_bits(c.run(engine="xla"), c.run())


def test_a_builder_can_go_on_after_it_has_built() -> None:
    b = ComputationBuilder("grow")
    x = b.parameter(0, "f32[2]", "x")
    y = b.broadcast(x, (1,))
    first = b.build()
    b.collapse(y, (0, 1))
    assert first.shape == Shape("f32", (1, 2))
    assert b.build().shape == Shape("f32", (2,))


def test_later_changes_of_an_array_or_a_list_do_not_reach_a_computation() -> None:
    data, sizes = np.array([1, 2], np.int16), [2]
    b = ComputationBuilder("frozen")
    b.broadcast(b.constant(data), sizes)
    c = b.build()
    data[0], sizes[0] = 9, 9
    assert c.run().tolist() == [[1, 2], [1, 2]]


def test_handles_of_another_builder_are_refused() -> None:
    a, b = ComputationBuilder("a"), ComputationBuilder("b")
    x = a.parameter(0, "s32[3]", "x")
    y = b.parameter(0, "s32[3]", "y")
    with pytest.raises(xla.BuildError, match="`max`: 'x' belongs to another builder, `a`"):
        b.clamp(y, y, x)
    with pytest.raises(xla.BuildError, match="root: 'x' belongs to another builder"):
        b.build(x)
    with pytest.raises(xla.BuildError, match="`args0`: 'x' belongs to another builder"):
        b.call(limit(), x)
    with pytest.raises(xla.BuildError, match=r"`operand`: .* is no handle; add arrays by `constant`"):
        b.broadcast(np.ones(2), (2,))  # what a user might try
    assert b.build().graph.nodes == ()


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda b: b.parameter(-1, "f32[]"), "number -1 is no integer from 0 up"),
        (lambda b: b.parameter(True, "f32[]"), "number True is no integer"),
        (lambda b: b.parameter(0, "f32[2]"), r"number 0 is `x`: f32\[\]"),
        (lambda b: b.parameter(1, "f32[]", "x"), "the name `x` is taken"),
        (lambda b: b.parameter(1, "f32[]", 7), "name 7 is no text of printable characters"),
        (lambda b: b.constant("f32[2] {1}"), "2 "),
        (lambda b: b.constant(np.array(["a"])), r"string\[1\] is no array of one of XLA's types"),
        (lambda b: b.constant(sonnx.real(1)), r"real\[\] is no array of one of XLA's types"),
        (lambda b: b.constant([1, 2]), "Python list is no array"),
        (lambda b: b.build(), r"parameters \[0, 2\]; number them from 0 without a gap"),
    ],
)
def test_what_makes_no_computation_is_refused(
    make: Callable[[ComputationBuilder], object], match: str
) -> None:
    b = ComputationBuilder("bad")
    b.parameter(0, "f32[]", "x")
    b.parameter(2, "f32[]", "z")
    with pytest.raises(ValueError, match=match):
        make(b)


def test_nothing_to_build_and_no_name_are_refused() -> None:
    with pytest.raises(xla.BuildError, match="`empty` has no operation yet"):
        ComputationBuilder("empty").build()
    for name in ("", None, 3):
        with pytest.raises(xla.BuildError, match="needs a name"):
            ComputationBuilder(name)  # type: ignore[arg-type]  # what a user might try


def test_a_rule_is_broken_at_the_call_that_breaks_it_and_nothing_is_added() -> None:
    b = ComputationBuilder("strict")
    x = b.parameter(0, "f32[4,2,3]", "x")
    s = b.parameter(1, "f32[]", "s")
    i = b.parameter(2, "s32[4,2,3]", "i")
    w = b.parameter(3, "f32[1,2,0]", "w")
    ones = {"lhs_dilation": (1,), "rhs_dilation": (1,)}
    assert rules_broken(lambda: b.collapse(x, (1, 0))) == ["xla.collapse.dimensions.D3"]
    assert rules_broken(lambda: b.collapse(x, (0, 2))) == ["xla.collapse.dimensions.D3"]
    assert rules_broken(lambda: b.concatenate([s, s], 0)) == ["xla.concatenate.operands.D4"]
    assert rules_broken(lambda: b.concatenate([x, i], 0)) == ["xla.concatenate.operands.D3"]
    assert rules_broken(lambda: b.call(limit())) == ["xla.call.args.D1"]
    assert rules_broken(lambda: b.call(limit(), x)) == ["xla.call.args.D2"]
    assert rules_broken(lambda: b.call(b, x)) == ["xla.call.computation.D1"]  # type: ignore[arg-type]  # a user's slip
    assert rules_broken(lambda: b.clamp(x, s, i)) == ["xla.clamp.max.D1"]
    tuple_of = (x, x)
    assert rules_broken(lambda: b.convert_element_type(tuple_of, "f32")) == [
        "xla.convert_element_type.operand.D1"
    ]
    assert rules_broken(lambda: b.convert_element_type(x, "tuple")) == [
        "xla.convert_element_type.new_element_type.D1"
    ]
    assert rules_broken(lambda: b.conv_with_general_padding(x, w, (1,), ((0, 0),), **ones)) == [
        "xla.conv_with_general_padding.rhs.D4"
    ]
    assert b.build().graph.nodes == ()


def test_concatenate_takes_a_list() -> None:
    b = ComputationBuilder("list")
    x = b.parameter(0, "f32[2]", "x")
    with pytest.raises(TypeError, match="give the operands as a list"):
        b.concatenate(x, 0)  # what a user might try


def test_wrong_arrays_are_named_with_what_the_computation_takes() -> None:
    c = limit()
    with pytest.raises(sonnx.InputError, match=r"limit\(x: s32\[3\]\) -> s32\[3\] takes 1 array, not 2"):
        c.run(s32(1, 2, 3), s32(1))
    with pytest.raises(sonnx.InputError, match=r"`x` must be s32\[3\], not "):
        c.run(np.array([1, 2, 3]))
    with pytest.raises(ValueError, match="engine must be 'reference', 'native' or 'xla', not 'gpu'"):
        c.run(s32(1, 2, 3), engine="gpu")  # type: ignore[arg-type]  # what a user might try


def test_a_computation_runs_over_the_reals() -> None:
    b = ComputationBuilder("third")
    x = b.parameter(0, "bf16[1,1,3]", "x")
    w = b.constant(np.full((1, 1, 3), 0.1, np.float32))
    b.conv(b.convert_element_type(x, "f32"), w, (1,), "VALID")
    c = b.build()
    given = np.array([[[1, 2, 3]]], ml_dtypes.bfloat16)
    exact = c.run(given, domain="real")
    assert exact.tolist() == [[[6 * Fraction(float(np.float32(0.1)))]]]
    assert c.run(given).dtype == np.float32


def test_complex_numbers_have_no_place_in_the_reals() -> None:
    b = ComputationBuilder("complex")
    b.convert_element_type(b.parameter(0, "f32[1]", "x"), "c64")
    with pytest.raises(sonnx.InputError, match="complex holds complex numbers"):
        b.build().run(np.ones(1, np.float32), domain="real")


def test_a_plain_call_applies_a_computation_to_arrays() -> None:
    assert xla.call(limit(), s32(-1, 5, 9)).tolist() == [0, 5, 6]
    assert rules_broken(lambda: xla.call(limit(), s32(1))) == ["xla.call.args.D2"]
    assert rules_broken(lambda: xla.call("limit")) == ["xla.call.computation.D1"]


def test_the_bound_of_a_call_is_the_distance_to_the_exact_result() -> None:
    b = ComputationBuilder("sum")
    x = b.parameter(0, "f32[1,2]", "x")
    b.conv(x, b.constant("f32[1,2] {{1, 1}}"), (), "VALID")
    c = b.build()
    x32 = np.array([[1, 2**-25]], np.float32)
    found = sonnx.error_bound("xla.Call", x32, computation=c)
    assert found.shape == (1, 1)
    assert 2.0**-25 <= found.item() <= 2.0**-25 * (1 + 2.0**-51)
    assert sonnx.error_bound("xla.Call", x32, computation=c, order="any").item() == np.inf
    exact = np.array([[1, 2]], np.float32)
    assert sonnx.error_bound("xla.Call", exact, computation=c).item() == 0
    assert sonnx.error_bound("xla.Call", exact * np.inf, computation=c).item() == np.inf


def test_the_bound_of_a_call_is_0_only_where_the_result_is_exact() -> None:
    b = ComputationBuilder("tiny")
    b.conv(b.parameter(0, "f64[1,1]", "x"), b.constant(np.array([[1e-200]])), (), "VALID")
    # The product, about 1e-400, vanishes; no double but the smallest is near that.
    assert sonnx.error_bound("xla.Call", np.array([[1e-200]]), computation=b.build()).item() == 5e-324


def test_a_bound_beyond_the_largest_double_is_infinite() -> None:
    b = ComputationBuilder("huge")
    x = b.parameter(0, "f64[1,1]", "x")
    for weight in (1e-200, 1e300, 1e300, 1e300):
        x = b.conv(x, b.constant(np.array([[weight]])), (), "VALID")
    assert sonnx.error_bound("xla.Call", np.array([[1e-200]]), computation=b.build()).item() == np.inf


def test_real_convolutions_without_spatial_dimensions_are_exact_for_all_exponents() -> None:
    x = sonnx.real(np.array([[1e-300, 1e300]]))
    expected = sum(Fraction(v) ** 2 for v in (1e-300, 1e300))
    assert xla.conv(x, x, (), "VALID").tolist() == [[expected]]


def test_shapes_are_checked_when_made() -> None:
    assert str(Shape("f32", (2, 3))) == "f32[2,3]"
    assert str(Shape("pred")) == "pred[]"
    assert Shape("f32", [np.int64(2), 3]) == Shape("f32", (2, 3))  # type: ignore[arg-type]  # any list
    assert Shape("f32", range(2, 4)) == Shape("f32", (2, 3))  # type: ignore[arg-type]  # any list
    assert Shape("f32", (2, 3)).rank == 2
    for kind, sizes in [
        ("float", (2,)),
        ("tuple", ()),
        (None, ()),
        ("f32", (-1,)),
        ("f32", (1.5,)),
        ("f32", 3),
        ("f32", (2**31,)),
        ("f32", (1,) * 65),
    ]:
        with pytest.raises(ValueError, match="Shape: "):
            Shape(kind, sizes)  # type: ignore[arg-type]  # what a user might try
    b = ComputationBuilder("text")
    texts = ["bf16[4,2]", "bf16[4x2]", " bf16[ 4, 2 ] ", "bf16 [4 , 2]"]
    assert {b.parameter(n, text).shape for n, text in enumerate(texts)} == {Shape("bf16", (4, 2))}
    assert b.parameter(4, "f32").shape == b.parameter(5, "f32[]").shape == Shape("f32")
    for wrong in (
        "f32[n]",
        "float32[2]",
        "float[2]",
        "f32[4,2x2]",
        "f32[,]",
        "f32[2",
        "F32[2]",
        "f32[-1]",
        7,
    ):
        with pytest.raises(ValueError, match=r'write Shape\("f32", \(2, 3\)\) or "f32\[2,3\]"'):
            b.parameter(6, wrong)  # type: ignore[arg-type]  # what a user might try


def test_an_order_of_operations_does_not_matter() -> None:
    b = ComputationBuilder("orders")
    x = b.parameter(0, "f32[2]", "x")
    parts = [b.broadcast(b.clamp(x, x, x), (1,)) for _ in range(5)]
    b.concatenate(parts, 0)
    c, given = b.build(), np.array([-0.0, np.nan], np.float32)
    first = c.run(given)
    for seed in range(5):
        assert sonnx.same_bits(c.run(given, order="random", seed=seed), first)


def test_calls_in_calls_stay_of_a_size_that_can_be_executed() -> None:
    def nested(times: int, levels: int) -> xla.Computation:
        c = limit()
        for level in range(levels):
            b = ComputationBuilder(f"level{level}")
            x = b.parameter(0, "s32[3]", "x")
            for _ in range(times):
                x = b.call(c, x)
            c = b.build()
        return c

    assert nested(1, 63).run(s32(-1, 5, 9)).tolist() == [0, 5, 6]
    with pytest.raises(xla.BuildError, match="65 calls deep; at most 100000 and 64 are allowed"):
        nested(1, 65)
    with pytest.raises(xla.BuildError, match="more than 100000 operations, 17 calls deep"):
        nested(2, 17)


def test_computations_of_one_name_and_alike_but_for_types_stay_apart() -> None:
    def moved(kind: str, value: str) -> xla.Computation:
        b = ComputationBuilder("moved")
        b.concatenate([b.parameter(0, kind, "x"), b.constant(value)], 0)
        return b.build()

    b = ComputationBuilder("outer")
    # The same names and nodes, and constants of equal bytes.
    whole = b.call(moved("s32[1]", "s32[1] {0}"), b.constant("s32[1] {7}"))
    parts = b.call(moved("f32[1]", "f32[1] {0}"), b.constant("f32[1] {8}"))
    longer = b.call(moved("s32[2]", "s32[1] {0}"), b.constant("s32[2] {7, 9}"))
    for handle, expected in ((whole, [7, 0]), (parts, [8, 0]), (longer, [7, 9, 0])):
        c = b.build(handle)
        assert c.run().tolist() == c.run(engine="xla").tolist() == expected


def test_the_constants_of_a_computation_are_read_only() -> None:
    b = ComputationBuilder("held")
    b.constant(np.ones(2, np.float32))
    (constant,) = b.build().graph.constants
    assert not constant.data.flags.writeable


def test_integers_of_numpy_are_printed_as_others() -> None:
    b = ComputationBuilder("sizes")
    sizes: Any = np.array([2, 3])
    b.broadcast(b.constant("f32 1"), sizes)
    assert "broadcast_sizes=[2, 3]" in str(b.build())


def test_a_convolution_in_a_called_computation_has_no_bound_for_any_order() -> None:
    inner = ComputationBuilder("inner")
    inner.conv(inner.parameter(0, "f32[1,2]", "x"), inner.constant("f32[1,2] {{1, 1}}"), (), "VALID")
    outer = ComputationBuilder("outer")
    outer.call(inner.build(), outer.parameter(0, "f32[1,2]", "x"))
    x = np.ones((1, 2), np.float32)
    assert sonnx.error_bound("xla.Call", x, computation=outer.build(), order="any").item() == np.inf
    assert sonnx.error_bound("xla.Call", x, computation=outer.build()).item() == 0


def test_too_little_memory_for_a_bound_is_said() -> None:
    b = ComputationBuilder("large")
    b.broadcast(b.parameter(0, "f32[1]", "x"), (40_000_000,))
    with pytest.raises(sonnx.MemoryLimitError):
        sonnx.error_bound("xla.Call", np.ones(1, np.float32), computation=b.build())


def test_shapes_with_much_space_are_refused_or_read_at_once() -> None:
    b = ComputationBuilder("space")
    assert b.parameter(0, "f32" + " " * 100_000 + "[2]").shape == Shape("f32", (2,))
    with pytest.raises(ValueError, match="Shape: "):
        b.parameter(1, "f32" + " " * 100_000 + "!")


def test_a_literal_of_nothing_but_braces_is_not_written_without_end() -> None:
    assert xla.format_literal(np.empty((3, 0), np.float32)) == "f32[3,0] {{}, {}, {}}"
    with pytest.raises(ValueError, match="has no elements, and too many braces to be written"):
        xla.format_literal(np.empty((10**9, 0), np.float32))
