"""What stands in place of other operators: Pow with the constant exponent 2 is Mul, bit for bit (D-POW)."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tests.loops import for_each
from tests.normalize.support import Array, changes, normalize, proto, read, rules, types, with_arrays

import sonnx
from sonnx.normalize.passes import Normalized, normalize_graph

pytestmark = pytest.mark.measured

# Every type of exponents of ONNX's Pow whose elements are numbers here.
EXPONENTS = [f"int{bits}" for bits in (8, 16, 32, 64)] + [f"uint{bits}" for bits in (8, 16, 32, 64)]
EXPONENTS += ["float16", "float32", "float64"]


def power(exponent: Array, kind: str = "float[2,3]", output: str = "", **how: Any) -> Normalized:
    """A model of one Pow with a constant exponent."""
    text = f"g ({kind} x) => ({output or kind} y) {{ [square] y = Pow(x, e) }}"
    return normalize(read(with_arrays(proto(text, **how), e=exponent)))


def nodes(done: Normalized) -> list[tuple[str, tuple[str, ...]]]:
    return [(node.operator, node.inputs) for node in done.graph.nodes]


@for_each("dtype", EXPONENTS)
@for_each("shape", [(), (1,), (3,), (1, 1), (2, 3)])
@for_each("opset", [7, 12, 13, 15, 22])
def test_a_square_becomes_a_product(dtype: str, shape: tuple[int, ...], opset: int) -> None:
    done = power(np.full(shape, 2, dtype), opset=opset)
    assert rules(done) == []
    assert nodes(done) == [("Mul", ("x", "x"))]
    assert done.graph.nodes[0].name == "square"
    assert not done.graph.constants, "nobody takes the exponent any more"


def test_the_report_says_what_was_done_and_why() -> None:
    done = power(np.array(2, np.float32))
    assert changes(done) == [
        ("0 Pow", "wrote Mul in place of Pow"),
        ("", "removed the initializers `e`"),
    ]
    change = done.changes[0]
    assert "the exponent is the constant 2" in change.why
    assert "D-POW" in change.why
    assert change.rule == "graph.D6"


def test_an_exponent_of_more_axes_gives_the_product_its_shape() -> None:
    done = power(np.full((2, 1), 2, np.int64), "float[3]", "float[2,3]")
    assert rules(done) == []
    assert [operator for operator, _ in nodes(done)] == ["Expand", "Expand", "Mul"]
    x = np.array([1.5, -2, 3], np.float32)
    y = sonnx.Graph.of(done.graph).run({"x": x})["y"]
    assert y.tolist() == [[2.25, 4, 9]] * 2


def test_an_exponent_that_an_expand_repeats_is_a_constant() -> None:
    text = "g (float[3] x) => (float[2,3] y) { e = Expand(c, s)  y = Pow(x, e) }"
    two, shape = np.array([2], np.float32), np.array([2, 1])
    done = normalize(read(with_arrays(proto(text), c=two, s=shape)))
    assert rules(done) == []
    assert [operator for operator, _ in nodes(done)] == ["Expand", "Expand", "Mul"]
    assert "e" not in types(done)


def test_an_exponent_that_a_constant_node_holds_is_a_constant() -> None:
    text = "g (float[3] x) => (float[3] y) { e = Constant<value_float = 2.0>()  y = Pow(x, e) }"
    assert nodes(normalize(read(proto(text)))) == [("Mul", ("x", "x"))]


@pytest.mark.parametrize(("kind", "shape"), [("float[n]", (1,)), ("float[n]", ()), ("float", ())])
def test_one_exponent_leaves_an_open_shape_as_it_is(kind: str, shape: tuple[int, ...]) -> None:
    assert nodes(power(np.full(shape, 2, np.float32), kind)) == [("Mul", ("x", "x"))]


def test_one_exponent_without_axes_leaves_any_shape_as_it_is() -> None:
    text = "g (float[2] x) => (float[2] y) { t = Unheard(x)  y = Pow(t, e) }"
    for exponent, operator in ((np.array(2.0), "Mul"), (np.array([2.0]), "Pow")):
        done = normalize(read(with_arrays(proto(text), e=exponent.astype(np.float32))))
        assert done.graph.nodes[-1].operator == operator


@pytest.mark.parametrize(
    ("kind", "exponent"),
    [
        ("float[2,3]", np.array(3, np.float32)),
        ("float[2,3]", np.array(np.nan, np.float32)),
        ("float[2,3]", np.array(np.nextafter(np.float32(2), np.float32(3)))),
        ("float[2,3]", np.array([2, 2, 3], np.float32)),
        ("float[2,3]", np.array([2, 2], np.float32)),  # no common shape
        ("float[0]", np.zeros(0, np.float32)),
        ("float[n]", np.full((1, 1), 2, np.float32)),  # an axis more than x has
        ("float[n]", np.full(3, 2, np.float32)),
        ("float[2,3]", np.array(2, ml_dtypes.bfloat16)),
        ("float[2,3]", np.array(2, np.uint16).view(ml_dtypes.bfloat16)),
    ],
)
def test_another_power_stays_and_the_finding_says_what_is_in_the_profile(kind: str, exponent: Array) -> None:
    done = power(exponent, kind)
    assert nodes(done) == [("Pow", ("x", "e"))]
    assert done.changes == ()
    (found,) = [finding for finding in done.findings if finding.rule == "graph.D6"]
    assert [(value.name, value.value) for value in found.values] == [("operator", "Pow")]
    assert "where the exponent is the constant 2, `sonnx normalize` writes Mul(X, X)" in found.help
    assert "other powers are not in the profile yet" in found.help


@pytest.mark.parametrize(
    "text",
    [
        "g (float[3] x, float e) => (float[3] y) { y = Pow(x, e) }",
        "g (float[3] x, float e) => (float[3] y) <float e = {2.0}> { y = Pow(x, e) }",
        "g (float[3] x) => (float[3] y) <float e = {2.0}> { y = Pow(x) }",
        "g (float[3] x) => (float[3] y) <float e = {2.0}> { y = Pow(x, e, e) }",
        "g (float[3] x) => (float[3] y) <float e = {2.0}> { y = Pow(, e) }",
        "g (float[3] x) => (float[3] y) <float e = {2.0}> { y = Pow<broadcast = 1>(x, e) }",
    ],
    ids=["an input", "an input's default", "none", "two", "no base", "an attribute"],
)
def test_what_is_no_constant_or_no_call_of_pow_stays(text: str) -> None:
    assert nodes(normalize(read(proto(text))))[0][0] == "Pow"


def rounded_square(value: float, dtype: Any) -> float:
    """The float nearest to the real square, by exact fractions: twice rounded nowhere."""
    if not np.isfinite(value):
        return value * value
    exact = Fraction(value) ** 2
    # Neighbours of any estimate; the nearest of them, ties to the even one.
    with np.errstate(over="ignore"):
        guess = dtype(np.float64(value) * np.float64(value))
    largest = Fraction(float(np.finfo(dtype).max))
    if exact > largest:
        half_step = (largest - Fraction(float(np.nextafter(np.finfo(dtype).max, dtype(0))))) / 2
        return float("inf") if exact >= largest + half_step else float(largest)
    near = [guess, np.nextafter(guess, dtype(np.inf)), np.nextafter(guess, dtype(-np.inf))]
    bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}[np.dtype(dtype).itemsize]
    finite = [each for each in near if np.isfinite(each)]
    return float(min(finite, key=lambda each: (abs(Fraction(float(each)) - exact), each.view(bits) & 1)))


@pytest.mark.parametrize(
    ("name", "dtype"), [("float16", np.float16), ("float", np.float32), ("double", np.float64)]
)
def test_the_product_is_the_power_rounded_once(name: str, dtype: Any) -> None:
    numbers = np.random.default_rng(2).standard_normal(64) * 2.0 ** np.arange(-32, 32)
    ends = np.finfo(dtype)
    special = [
        0.0,
        -0.0,
        np.inf,
        -np.inf,
        ends.max,
        ends.tiny,
        ends.smallest_subnormal,
        float(ends.max) ** 0.5,
    ]
    with np.errstate(over="ignore"):
        x = np.array([*special, *numbers]).astype(dtype)
    done = power(np.array(2, np.int64), f"{name}[{x.size}]")
    y = sonnx.Graph.of(done.graph).run({"x": x})["y"]
    expected = np.array([rounded_square(float(value), dtype) for value in x]).astype(dtype)
    assert y.tobytes() == expected.tobytes()


@pytest.mark.parametrize("bits", [32, 64])
def test_integers_wrap(bits: int) -> None:
    numbers = [0, 1, -1, 3, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1, 123456789]
    done = power(np.array(2.0, np.float32), f"int{bits}[{len(numbers)}]")
    y = sonnx.Graph.of(done.graph).run({"x": np.array(numbers, f"int{bits}")})["y"]
    wrapped = [(value * value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1) for value in numbers]
    assert y.tolist() == wrapped


def test_a_base_of_no_type_of_the_profile_is_a_finding() -> None:
    assert "mul.A.D1" in rules(power(np.array(2, np.float32), "bfloat16[3]"))


def test_a_sparse_base_stays() -> None:
    given = read(
        with_arrays(proto("g (float[3] x) => (float[3] y) { y = Pow(x, e) }"), e=np.array(2, np.int64))
    )
    (x,) = given.inputs
    sparse = replace(given, inputs=(replace(x, type=replace(x.type, sparse=True)),))
    assert normalize_graph(sparse).graph.nodes == given.nodes
