"""Runs in the reals that leave the fractions: enclosures, what they decide, and what they cannot."""

import json
from collections.abc import Callable
from fractions import Fraction
from hashlib import sha256
from math import isqrt, prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples.kernels import calls
from onnx import TensorProto, helper
from tests.loops import for_each
from tests.report.cli_support import model_of, run, saved, tensor, written

import sonnx
from sonnx.derive.evaluate import evaluate
from sonnx.evaluate.execution import Settings
from sonnx.load.arrays import array_digest
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.native.compiler import find_compiler
from sonnx.numeric.arrays import numpy_dtype
from sonnx.numeric.balls import root
from sonnx.numeric.real import real_text
from sonnx.operators import ONNX_OPERATORS, operator

pytestmark = pytest.mark.measured

Array = Any
DOUBLE = TensorProto.DOUBLE


def chain(*nodes: tuple[str, str, str], held: dict[str, Array] | None = None) -> Any:
    """A model of double[4]: each node by its operator, its inputs and its output."""
    made = [helper.make_node(operator, given.split(), [out], out) for operator, given, out in nodes]
    x, y = tensor("x", DOUBLE, [4]), tensor(nodes[-1][2], DOUBLE, [4])
    between = [tensor(name, DOUBLE, [4]) for _, _, name in nodes[:-1]]
    return model_of(made, [x], [y], {} if held is None else held, value_info=between)


# √x · √x + c, of which no enclosure shows that it is x + c.
SQUARED = (("Sqrt", "x", "r"), ("Mul", "r r", "s"), ("Add", "s c", "t"))


def held(text: str) -> dict[str, Array]:
    return {"c": np.array(list(map(float.fromhex, text.split())), np.float64)}


def loaded(folder: Path, model: Any) -> sonnx.Graph:
    return sonnx.load(written(folder / "model.onnx", model))


def test_results_that_are_no_fractions_hold_the_number(tmp_path: Path) -> None:
    graph = loaded(tmp_path, chain(("Sqrt", "x", "r"), ("Reciprocal", "r", "q")))
    x = np.array([2.0, 2.25, 2.0**-1074, 1.1], np.float64)
    found = graph.run({"x": x}, domain="real")["q"]
    assert isinstance(found, sonnx.RealArray)
    assert found[1] == Fraction(2, 3)
    for exact, each in zip(map(Fraction, x.tolist()), found, strict=True):
        if isinstance(each, sonnx.Ball):
            middle, radius = each.enclosure()
            assert (middle - radius) ** 2 * exact <= 1 <= (middle + radius) ** 2 * exact
            assert radius <= middle / 2**120
    assert [type(each) for each in found] == [sonnx.Ball, Fraction, Fraction, sonnx.Ball]


@for_each("order, seed", [("given", 0), ("random", 1), ("random", 2)])
def test_texts_and_digests_hang_on_numbers_and_precision_alone(order: Any, seed: int) -> None:
    """In the one model a comparison has asked for more bits, in the other nobody has."""
    roots = [sonnx.sqrt(sonnx.real([2])) for _ in range(2)]
    assert roots[0][0] > Fraction(isqrt(2 * 10**800), 10**400)
    assert array_digest(roots[0]) == array_digest(roots[1])
    settings = Settings(domain="real", order=order, seed=seed, precision=60)
    assert settings.precision == 60


def test_precision_is_how_many_bits_are_calculated(tmp_path: Path) -> None:
    graph = loaded(tmp_path, chain(("Sqrt", "x", "r")))
    x = np.array([2.0, 3.0, 5.0, 4.0], np.float64)
    for bits in (30, 200, 1000):
        found = graph.run({"x": x}, domain="real", precision=bits)["r"]
        for value in found[:3]:
            assert Fraction(1, 2 ** (bits + 2)) < value.enclosure()[1] < Fraction(8, 2**bits)
        assert len(str(found[0])) == len("1.") + int((bits - 16) * 0.30103) - 1 + len("...")
    with pytest.raises(ValueError, match='precision is for the domain "real"'):
        graph.run({"x": x}, precision=200)
    with pytest.raises(ValueError, match="from 2 to 8192, not 8193"):
        graph.run({"x": x}, domain="real", precision=8193)


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler is installed")
def test_engines_that_round_take_no_precision(tmp_path: Path) -> None:
    graph = loaded(tmp_path, chain(("Sqrt", "x", "r")))
    with pytest.raises(ValueError, match="cannot be told domain, precision"):
        graph.run({"x": np.ones(4)}, engine="native", domain="real", precision=99)


def test_comparisons_choose_as_the_numbers_do(tmp_path: Path) -> None:
    """3·2^-52 is less than what separates 2 from the next double: 128 bits are enough, 53 are not."""
    c = held("0x1p-52 -0x1p-52 0x1.8p-51 0x0p+0")
    graph = loaded(tmp_path, chain(*SQUARED, ("Max", "t x", "y"), held=c))
    x = np.array([2.0, 2.0, 2.0, 4.0], np.float64)
    for bits in (2, 53, 500):
        found = graph.run({"x": x}, domain="real", precision=bits)["y"]
        assert [value == 2 for value in found] == [False, True, False, False]
        assert found[0] > Fraction(2) + Fraction(1, 2**53)
        assert found[3] == 4


def test_what_cannot_be_decided_names_node_and_element(tmp_path: Path) -> None:
    graph = loaded(tmp_path, chain(*SQUARED, ("Max", "t x", "y"), held=held("0x1p-9 0x0p+0 0x1p-9 0x0p+0")))
    with pytest.raises(sonnx.DomainError) as caught:
        graph.run({"x": np.array([2.0, 4.0, 3.0, 5.0])}, domain="real")
    text = str(caught.value)
    assert text == (
        "error[D-ALL-8]: Real numbers are enclosed as narrowly as a decision needs, by at most 8192 bits\n"
        f"  --> {tmp_path / 'model.onnx'}: node 3 `y` (Max)\n"
        "   data_0[3] = 5.00000000000000000000000000000000...\n"
        "   data_1[3] = 5\n"
        "   max[3]    = not decided\n"
        "  help: 8192 bits do not tell 5.00000000000... from 5.00000000000, so the run stopped there and "
        "gives no output; most likely both are equal: give it fractions there, or run it in the "
        'domain "ieee"\n'
        "  more: sonnx explain D-ALL-8"
    )
    (finding,) = caught.value.findings
    assert (finding.rule, finding.operator) == ("D-ALL-8", "Max")


@pytest.mark.parametrize("factor", ["1", f"1{3000 * '0'}"])
def test_an_undecided_rounding_is_not_told_as_two_equal_numbers(factor: str) -> None:
    """√2·√2 is 2, and 10^3000 has more bits than any enclosure."""
    roots = [sonnx.sqrt(sonnx.real(["2"])) for _ in range(2)]
    with pytest.raises(sonnx.DomainError) as caught:
        sonnx.floor(sonnx.mul(sonnx.mul(*roots), sonnx.real([factor])))
    likely = "most likely it lies just where the sides meet, or is longer than so many bits: "
    assert likely in str(caught.value)


def test_domains_ask_numbers_and_may_be_undecided(tmp_path: Path) -> None:
    """√x·√x - x is 0, of which nobody knows whether it may be divided by."""
    nodes = (*SQUARED, ("Reciprocal", "t", "y"))
    for x, complaint in ((3.0, "sonnx explain D-ALL-8"), (4.0, "X[0] = 0\n"), (2.5, "")):
        graph = loaded(tmp_path, chain(*nodes, held=held(f"{(-x).hex()} 0x1p0 0x1p0 0x1p0")))
        given = {"x": np.array([x if complaint else 2.0, 1.0, 1.0, 1.0])}
        if complaint:
            with pytest.raises(sonnx.DomainError) as caught:
                graph.run(given, domain="real")
            assert complaint in str(caught.value)
        else:
            assert float(graph.run(given, domain="real")["y"][0]) == -2.0


def test_sums_of_products_take_enclosures_as_a_loop_does() -> None:
    """Twice the same Conv: of roots and fractions, against sums taken one by one."""
    x = sonnx.sqrt(sonnx.real([[[["2", "4", "1/3"], ["5", "0", "7"]]]]))
    w = sonnx.sqrt(sonnx.real([[[["3", "9"]]]]))
    how: dict[str, Any] = {"auto_pad": "NOTSET", "dilations": [1, 1], "group": 1, "kernel_shape": [1, 2]}
    found = sonnx.conv(x, w, pads=[0, 1, 0, 0], strides=[1, 1], **how)
    assert found.shape == (1, 1, 2, 3)
    for line in range(2):
        for column in range(3):
            total: Any = x[0, 0, line, column] * 3
            if column:
                total = total + x[0, 0, line, column - 1] * w[0, 0, 0, 0]
            value = found[0, 0, line, column]
            for ours, other in ((value, total), (total, value)):
                assert ours < other + Fraction(1, 2**90)
    assert found[0, 0, 0, 1] > Fraction(844, 100)  # √6 + 2·3 = 8.449…
    assert found[0, 0, 0, 1] < Fraction(845, 100)
    undecided = sonnx.mul(x, x)
    exact = sonnx.real([[[[2, 4, "1/3"], [5, 0, 7]]]])
    with pytest.raises(sonnx.DomainError, match="not decided"):
        sonnx.max(undecided, exact)


def test_the_error_of_doubles_is_told_with_the_radius_of_what_they_are_compared_with() -> None:
    x = np.array([2.0, 3.0, 1e300, 2.0**-1074])
    bound = sonnx.error_bound("Sqrt", x)
    exact = sonnx.sqrt(sonnx.real(x))
    for rounded, real, most in zip(sonnx.sqrt(x).tolist(), exact, bound.tolist(), strict=True):
        assert abs(real - Fraction(rounded)) <= Fraction(most)


def test_a_result_is_written_as_midpoint_and_radius_and_digested_so(tmp_path: Path) -> None:
    model = written(tmp_path / "model.onnx", chain(("Sqrt", "x", "r")))
    x = saved(tmp_path / "x.npy", np.array([2.0, 2.25, 0.0, 3.0]))
    given = ("run", model, "--input", f"x={x}", "--domain", "real", "--output-dir", tmp_path / "out")
    result = run(*given, "--precision", 50, "--trace")
    assert result.exit_code == 0, result.stderr
    elements = json.loads((tmp_path / "out" / "r.json").read_text())["elements"]
    assert elements == [
        {"midpoint": "1.414213562", "radius": "5e-10"},
        "3/2",
        "0",
        {"midpoint": "1.732050808", "radius": "5e-10"},
    ]
    assert sha256(json.dumps(elements).encode()).hexdigest() in result.stdout
    assert np.load(tmp_path / "out" / "r.npy").tolist() == [2.0**0.5, 1.5, 0.0, 3.0**0.5]


def test_a_result_between_two_doubles_is_told_without_a_traceback(tmp_path: Path) -> None:
    model = written(tmp_path / "model.onnx", chain(*SQUARED, held=held(4 * "0x1p-52 ")))
    x = saved(tmp_path / "x.npy", np.full(4, 2.0))
    result = run("run", model, "--input", f"x={x}", "--domain", "real")
    assert result.exit_code == 2
    assert "8192 bits do not tell to which side 2.00000000000... is rounded" in result.stderr


def test_the_command_says_what_precisions_there_are(tmp_path: Path) -> None:
    model = written(tmp_path / "model.onnx", chain(("Sqrt", "x", "r")))
    x = saved(tmp_path / "x.npy", np.ones(4))
    for options, said in (
        (("--precision", 60), "--precision is for --domain real"),
        (("--domain", "real", "--precision", 1), "2<=x<=8192"),
        (("--domain", "real", "--precision", 8193), "2<=x<=8192"),
    ):
        result = run("run", model, "--input", f"x={x}", *options)
        assert result.exit_code == 2
        assert said in result.stderr


def test_enclosures_are_taken_for_operands_and_for_elements_of_lists() -> None:
    (root,) = sonnx.sqrt(sonnx.real([2]))
    given = sonnx.real([root, "1/3", 4])
    assert given[0] is root
    assert [real_text(each) for each in given[1:]] == ["1/3", "4"]
    assert sonnx.clip(given, sonnx.real(0), sonnx.real(2)).tolist()[1:] == [Fraction(1, 3), 2]
    assert sonnx.real(given)[0] is root


def near(square: Fraction) -> Fraction:
    """A root up to 2^-300."""
    return Fraction(isqrt(square.numerator * 4**300 // square.denominator), 2**300)


def drawn(kind: TensorType, number: int, rooted: Callable[[Fraction], Any]) -> Array:
    """Roots of either sign, or what their operand has elsewhere."""
    size = prod(kind.sizes or ())
    if kind.dtype is not DType.REAL:
        return (np.arange(size) % 2).astype(numpy_dtype(kind.dtype or DType.BOOL)).reshape(kind.sizes or ())
    found = np.empty(size, object)
    found[:] = [rooted(Fraction(3 * number + 7 * place + 2, 5)) for place in range(size)]
    found[1::2] = -found[1::2]
    return found.reshape(kind.sizes or ()).view(sonnx.RealArray)


@for_each("name", [each.name for each in ONNX_OPERATORS])
def test_every_operator_makes_of_enclosures_what_it_makes_of_fractions_near_them(name: str) -> None:
    found = operator(name)
    for call in calls(found, DType.REAL):
        given = {label: kind for label, kind in call.inputs.items() if label not in call.constants}
        held = {label: np.array(call.constants[label]) for label in call.constants}
        exact, close = (
            held | {label: drawn(kind, number, rooted) for number, (label, kind) in enumerate(given.items())}
            for rooted in (root, near)
        )
        if name == "Sqrt":
            exact, close = ({label: abs(array) for label, array in each.items()} for each in (exact, close))
        ours, theirs = (evaluate(found, arrays, call.attributes) for arrays in (exact, close))
        for label, made in ours.items():
            for one, other in zip(made.reshape(-1).tolist(), theirs[label].reshape(-1).tolist(), strict=True):
                apart = (
                    one != other if isinstance(other, (bool, int)) else abs(one - other) > Fraction(1, 10**60)
                )
                assert not apart, (call, one, other)
