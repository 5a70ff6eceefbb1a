"""Exact numbers grow: how far is known before anything is computed, counted as memory, and limited."""

import random
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from tests.report.cli_support import FLOAT, model_of, run, saved, tensor, written

import sonnx
from sonnx import backend, xla
from sonnx.derive.evaluate import evaluate
from sonnx.derive.lengths import lengths
from sonnx.evaluate.memory import MOST_BITS, TooLongError
from sonnx.load.reader import from_proto
from sonnx.model.dtype import DType
from sonnx.numeric.arrays import describe
from sonnx.numeric.measure import lengths_of
from sonnx.operators import OPERATORS, operator
from sonnx.operators.rules.examples import good_call
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import Operator

pytestmark = pytest.mark.measured

ATTRIBUTES: dict[str, Any] = {
    "strides": [1, 1],
    "pads": [0, 0, 0, 0],
    "dilations": [1, 1],
    "group": 1,
    "kernel_shape": [1, 1],
    "auto_pad": "NOTSET",
}
ONE = [1, 1, 1, 1]
# 1.1 as a float is 9227469 / 2^23: 24 bits over 24.
X = np.full(ONE, 1.1, np.float32)


def chain(length: int) -> Any:
    """Nodes that each multiply the only element by itself."""
    nodes = [
        helper.make_node("Conv", [f"t{i}", f"t{i}"], [f"t{i + 1}"], name=f"n{i}", **ATTRIBUTES)
        for i in range(length)
    ]
    between = [tensor(f"t{i}", FLOAT, ONE) for i in range(1, length)]
    return model_of(nodes, [tensor("t0", FLOAT, ONE)], [tensor(f"t{length}", FLOAT, ONE)], value_info=between)


def loaded(model: Any) -> sonnx.Graph:
    return sonnx.Graph.of(from_proto(model, "chain.onnx", Path()))


def squares(name: str, length: int) -> xla.Computation:
    b = xla.ComputationBuilder(name)
    x = b.parameter(0, "f32[1,1]", "x")
    for _ in range(length):
        x = b.conv(x, x, (), "VALID")
    return b.build()


def squares_of_squares() -> xla.Computation:
    """Thirty of them: five by each of six calls."""
    inner, b = squares("inner", 5), xla.ComputationBuilder("outer")
    x = b.parameter(0, "f32[1,1]", "x")
    for _ in range(6):
        x = b.call(inner, x)
    return b.build()


def one_by_one(step: Callable[[Any], Any], value: Any) -> None:
    for _ in range(40):
        value = step(value)


EXPLODING: dict[str, Callable[[], object]] = {
    "a graph": lambda: loaded(chain(40)).run({"t0": X}, domain="real"),
    "a graph in another order": lambda: loaded(chain(40)).run({"t0": X}, domain="real", order="random"),
    "a graph with much memory": lambda: loaded(chain(40)).run({"t0": X}, domain="real", memory=2**60),
    "a backend": lambda: backend.run_model(chain(40), [X], "CPU", domain="real"),
    "a computation": lambda: squares("squares", 40).run(X[0, 0], domain="real"),
    "computations in a computation": lambda: squares_of_squares().run(X[0, 0], domain="real"),
    "a bound": lambda: sonnx.error_bound("xla.Call", X[0, 0], computation=squares("squares", 40)),
    "a function": lambda: one_by_one(lambda t: sonnx.conv(t, t, **ATTRIBUTES), sonnx.real(X)),
    "a function of XLA": lambda: one_by_one(lambda t: xla.conv(t, t, (), "VALID"), sonnx.real(X[0, 0])),
}


@pytest.mark.parametrize("name", EXPLODING)
def test_numbers_that_double_with_every_node_are_refused(name: str) -> None:
    with pytest.raises(TooLongError) as caught:
        EXPLODING[name]()
    words = str(caught.value)
    # 47 bits, doubled fourteen times, are 770,048; the bound has a few more.
    bits = int(words.partition(" may have ")[2].partition(" bits")[0].replace(",", ""))
    assert MOST_BITS < bits < 3 * MOST_BITS
    assert 'evaluate it in the domain "ieee"' in words
    assert isinstance(caught.value, sonnx.MemoryLimitError)


def test_the_node_is_named_and_nothing_is_computed() -> None:
    seen: list[object] = []
    with pytest.raises(TooLongError) as caught:
        loaded(chain(40)).run({"t0": X}, domain="real", watch=seen.append)
    assert not seen
    assert str(caught.value).startswith(
        "chain.onnx: node 14 `n14` (Conv): its exact results may have 1,605,632 bits (numerator and "
        "denominator), calculated are at most 1,048,576: "
    )


def test_the_command_refuses_without_an_advice_that_would_not_help(tmp_path: Any) -> None:
    model, array = written(tmp_path / "chain.onnx", chain(40)), saved(tmp_path / "t0.npy", X)
    result = run("run", model, "--domain", "real", "--input", f"t0={array}", "--output-dir", tmp_path / "out")
    assert result.exit_code == 2
    assert "node 14 `n14` (Conv)" in result.output
    assert "--memory" not in result.output
    assert not (tmp_path / "out").exists()
    short = written(tmp_path / "short.onnx", chain(10))
    few = run("run", short, "--domain", "real", "--input", f"t0={array}", "--memory", 1e-5)
    assert few.exit_code == 2
    assert few.output.startswith("error: running the model takes up to ")
    assert few.output.endswith("; allow more if the machine has it (--memory)\n")
    # 47 bits doubled ten times are 48,128
    assert "short.onnx: node 9 `n9` (Conv)" in few.output


def test_what_is_within_the_limits_is_computed_exactly() -> None:
    (found,) = loaded(chain(8)).run({"t0": X}, domain="real").values()
    assert found.item() == Fraction(9227469, 2**23) ** 2**8


def test_the_bits_of_exact_numbers_count_as_memory() -> None:
    graph = loaded(chain(10))
    with pytest.raises(sonnx.MemoryLimitError) as caught:
        graph.run({"t0": X}, domain="real", memory=10_000)
    named = int(str(caught.value).split()[6].replace(",", ""))
    result = Fraction(9227469, 2**23) ** 2**10
    assert named > sys.getsizeof(result.numerator) + sys.getsizeof(result.denominator)
    assert graph.run({"t0": X}, domain="real", memory=named)["t10"].item() == result
    with pytest.raises(sonnx.MemoryLimitError, match=f"takes up to {named:,} bytes"):
        graph.run({"t0": X}, domain="real", memory=named - 1)
    # The same graph in the other domain takes some bytes.
    graph.run({"t0": X}, memory=100)


def test_a_deep_network_of_ordinary_numbers_is_not_refused() -> None:
    generator = np.random.default_rng(1)
    weights = {f"w{i}": generator.standard_normal((2, 2, 1, 1)).astype(np.float32) for i in range(60)}
    nodes = [
        helper.make_node("Conv", [f"t{i}", f"w{i}"], [f"t{i + 1}"], name=f"n{i}", **ATTRIBUTES)
        for i in range(60)
    ]
    kinds = [tensor(f"t{i}", FLOAT, [1, 2, 1, 1]) for i in range(61)]
    graph = loaded(model_of(nodes, kinds[:1], kinds[-1:], weights, value_info=kinds[1:-1]))
    x = generator.standard_normal((1, 2, 1, 1)).astype(np.float32)
    (found,) = graph.run({"t0": x}, domain="real", memory=2**16).values()
    assert found.shape == (1, 2, 1, 1)


def test_numbers_without_a_common_denominator_are_not_refused_where_few_are_added() -> None:
    generator = random.Random(2)
    wild = [Fraction(1, generator.getrandbits(60) * 2 + 1) for _ in range(10_000)]
    x = sonnx.real(wild).reshape(1, 1, 1, 10_000)
    w = sonnx.real(["1/3", "1/5"]).reshape(1, 1, 1, 2)
    y = sonnx.conv(x, w, **{**ATTRIBUTES, "kernel_shape": [1, 2]})
    assert y[0, 0, 0, 17] == wild[17] / 3 + wild[18] / 5


def fractions(*shape: int) -> Any:
    generator = random.Random(5)
    drawn = [Fraction(generator.getrandbits(30) - 2**29, generator.getrandbits(9) + 1) for _ in range(64)]
    return np.resize(sonnx.real(drawn), shape).view(type(sonnx.real(0)))


SLIDING = {"window_strides": (1,), "accumulate": "separate"}
GENERAL = {"padding": ((1, 0),), "lhs_dilation": (2,), "rhs_dilation": (1,)}
# An example of each operator on real numbers; one that only calls others makes nothing itself.
EXAMPLES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "Broadcast": ({"X0": fractions(2, 1), "X1": fractions(3)}, {}),
    "Cast": ({"input": np.array([-(2**63), 2**63 - 1])}, {"to": 1, "domain": "real"}),
    "Clip": ({"input": fractions(7), "min": fractions(), "max": sonnx.real("1/1023")}, {}),
    "Conv": (
        {"X": fractions(1, 2, 3, 3), "W": fractions(4, 2, 2, 2), "B": fractions(4)},
        {**ATTRIBUTES, "kernel_shape": [2, 2], "accumulate": "separate"},
    ),
    "Where": ({"condition": np.array([True, False]), "X": fractions(2), "Y": -fractions(2)}, {}),
    "xla.Clamp": ({"operand": fractions(3), "min": fractions(), "max": fractions()}, {}),
    "xla.Conv": ({"lhs": fractions(1, 2, 5), "rhs": fractions(1, 2, 3)}, {**SLIDING, "padding": "SAME"}),
    "xla.ConvWithGeneralPadding": (
        {"lhs": fractions(1, 2, 5), "rhs": fractions(1, 2, 3)},
        {**SLIDING, **GENERAL},
    ),
    "xla.ConvertElementType": (
        {"operand": np.array([-(2**63), 2**63 - 1])},
        {"new_element_type": "f32", "domain": "real"},
    ),
}


def example(op: Operator) -> tuple[dict[str, Any], dict[str, Any]]:
    """One of those above, or what its contract tells."""
    if op.name in EXAMPLES:
        return EXAMPLES[op.name]
    contract = op.contract
    good = contract.good or good_call(contract.name, contract.inputs, contract.attributes)
    given = {name: fractions(*(kind.sizes or ())) for name, kind in good.inputs.items()}
    return given | {name: np.array(held) for name, held in good.constants.items()}, dict(good.attributes)


def test_every_operator_says_how_long_its_results_become() -> None:
    wrong = []
    for op in OPERATORS:
        if op.calls or op.body is not None:
            continue  # made of others
        if all(DType.REAL not in each.types for each in op.contract.inputs if each.variable):
            continue  # it never has a number that is longer than its type
        name, (operands, attributes) = op.name, example(op)
        kinds = {key: describe(array)[0] for key, array in operands.items()}
        given = {key: lengths_of(array) for key, array in operands.items() if kinds[key].dtype is DType.REAL}
        constant = [each.name for each in op.contract.inputs if each.constant]
        settled = {each: tuple(operands[each].tolist()) for each in constant}
        claim = lengths(operator(name), Call(name, kinds, attributes, constants=settled), given)
        for result in evaluate(operator(name), operands, attributes).values():
            found = lengths_of(result)
            if any(getattr(found, part) > getattr(claim, part) for part in vars(claim)):
                wrong.append(f"{name}: {found} is longer than {claim}")
    assert wrong == []


def test_floats_of_any_size_are_taken_as_before() -> None:
    x = np.array([[[[1e308, 5e-324]]]])
    w = sonnx.real(np.array([[[[1e308, 5e-324]]]]))
    y = sonnx.conv(sonnx.real(x), w, **{**ATTRIBUTES, "kernel_shape": [1, 2]})
    assert y.item() == Fraction(1e308) ** 2 + Fraction(5e-324) ** 2
