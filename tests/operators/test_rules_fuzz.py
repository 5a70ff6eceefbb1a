"""Anything may be thrown at the boundary: the answer is a result or a RuleError, never another exception."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import budgets
from tests.budgets import examples
from tests.operators.support import EVERY_TYPE, arrays

import sonnx
from sonnx import xla
from sonnx.check.calls import check_call
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.operators import OPERATORS
from sonnx.operators.rulebook import rules
from sonnx.report.text import findings_text
from sonnx.vocabulary.call import ABSENT, Call
from sonnx.vocabulary.operator import Operator

pytestmark = pytest.mark.measured

FUZZ = settings(deadline=None, max_examples=examples(100))
# What every operator is asked: few examples each, as there are many operators.
FUZZ_EACH = settings(deadline=None, max_examples=100 if budgets.deep else 8)

NUMBERS = st.one_of(
    st.integers(-3, 4),
    st.sampled_from(
        [2**31, 2**62, 2**63, 2**70, -(2**63), 10**5000, np.int64(2), np.uint8(1), True, np.True_]
    ),
    st.sampled_from(
        [float("nan"), float("inf"), 1.0, 0.5, 1j, Fraction(2), np.float32("nan"), None, "1", b"1"]
    ),
    st.sampled_from(
        [np.timedelta64(1, "s"), np.timedelta64("NaT"), np.datetime64("NaT"), [], [1], np.array(1)]
    ),
)
LISTS = st.one_of(
    st.lists(st.integers(-1, 3), min_size=1, max_size=5),
    st.lists(NUMBERS, max_size=5),
    st.lists(NUMBERS, max_size=5).map(tuple),
    st.lists(st.integers(-1, 4), max_size=5).map(np.array),
    st.sampled_from(
        [range(1, 3), {1, 2}, {1: 2}, b"\1\1", "11", np.ones((2, 2)), list, int, np.float32, object()]
    ),
    st.sampled_from([np.array([1, 1], "m8[s]"), np.ma.masked_array([1, 1], [False, True])]),
)
VALUES = st.one_of(
    LISTS, NUMBERS, st.just(ABSENT), st.sampled_from(["NOTSET", "SAME_UPPER", "fused", "", "\x1b"])
)

# Most attributes are right, so that rules behind the first one are reached too.
GOOD: Mapping[str, Any] = {
    "strides": (1, 2),
    "pads": (0, 1, 1, 0),
    "dilations": (2, 1),
    "group": 1,
    "kernel_shape": (2, 2),
    "auto_pad": "NOTSET",
    "accumulate": "fused",
}
# Pads small enough for memory: how large ones are refused is tested by hand.
SMALL = st.one_of(st.lists(st.integers(-1, 2), min_size=4, max_size=4), st.sampled_from([None, 1.0, "1"]))

TYPES = st.builds(
    TensorType,
    st.sampled_from([None, *DType]),
    st.one_of(
        st.none(),
        st.lists(st.integers(0, 5), max_size=5).map(tuple),
        st.lists(st.sampled_from([-1, 0, 1, 2, 3, 2**31, 2**62, "n", None]), max_size=6).map(tuple),
    ),
    sparse=st.sampled_from([False] * 9 + [True]),
    denotation=st.sampled_from([None, None, (), ("DATA_BATCH",)]),
    foreign=st.sampled_from([None] * 5 + ["NumPy S1"]),
)


@st.composite
def attributes_of_conv(draw: st.DrawFn, *, small_pads: bool = False) -> Mapping[str, Any]:
    chosen = {}
    for name, right in GOOD.items():
        kept = draw(st.integers(0, 9))
        if kept:
            wrong = SMALL if small_pads and name == "pads" else VALUES
            chosen[name] = right if kept > 2 else draw(wrong)
    return chosen


IMAGES = st.sampled_from([(1, 1, 4, 4), (0, 1, 3, 3), (2, 2, 5, 3), (1, 2, 1, 1)])
KERNELS = st.sampled_from([(1, 1, 2, 2), (2, 2, 2, 2), (2, 1, 2, 2), (0, 1, 2, 2), (1, 1, 0, 2)])


@st.composite
def attributes_of_xla(draw: st.DrawFn, operator: Operator) -> Mapping[str, Any]:
    """Attributes of an XLA operation, of any kind; now and then as they should be."""
    good = operator.contract.rules[0].passing.attributes
    anything = st.one_of(LISTS, NUMBERS, st.sampled_from(["f32", "c64", "SAME", "VALID", "fused", "real"]))
    pairs = st.lists(st.tuples(NUMBERS, NUMBERS), max_size=3)
    return {
        name: draw(st.one_of(st.just(value), anything, pairs))
        for name, value in good.items()
        if draw(st.integers(0, 9))
    }


@st.composite
def calls(draw: st.DrawFn, operator: Operator) -> Call:
    """Any call of an operator: operands and attributes of any kind, too few of them or too many."""
    contract = operator.contract
    if contract.inputs[0].variadic:
        inputs = {f"{contract.inputs[0].name}{m}": draw(TYPES) for m in range(draw(st.integers(0, 4)))}
    else:
        inputs = {o.name: draw(TYPES) for o in contract.inputs if draw(st.integers(0, 9))}
    attributes: Mapping[str, Any] = {}
    if operator.dialect == "xla":
        attributes = draw(attributes_of_xla(operator))
    elif contract.attributes:
        attributes = draw(attributes_of_conv())
    likely = draw(st.booleans())
    if contract.attributes and likely and not contract.inputs[0].variadic:
        names = ("lhs", "rhs") if operator.dialect == "xla" else ("X", "W")
        shapes: dict[str, tuple[int, ...]] = {names[0]: draw(IMAGES), names[1]: draw(KERNELS)}
        shapes = {name: shape for name, shape in shapes.items() if name in {o.name for o in contract.inputs}}
        inputs |= {name: TensorType(DType.FLOAT, shape) for name, shape in shapes.items()}
    outputs = {o.name: draw(TYPES) for o in contract.outputs if draw(st.booleans())}
    constants = {"shape": tuple(draw(st.lists(NUMBERS, max_size=4)))} if draw(st.booleans()) else {}
    return Call(operator.name, inputs, attributes, outputs, constants)


@pytest.mark.no_cover
@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
@FUZZ_EACH
@given(data=st.data())
def test_check_call_answers_every_call_with_findings_that_can_be_printed(
    operator: Operator, data: st.DataObject
) -> None:
    call = data.draw(calls(operator))
    found = check_call(operator, call)
    identifiers = [finding.rule for finding in found]
    assert len(identifiers) == len(set(identifiers))
    assert set(identifiers) <= {rule.identifier for rule in rules()}
    lines = findings_text(found).splitlines()
    assert all(line.isprintable() for line in lines)
    assert max(map(len, lines), default=0) < 700
    if not found:  # then the shape rule must have an answer for every output
        for kind in operator.contract.output_types(call).values():
            assert kind.dtype is not None
            assert kind.sizes is not None


@st.composite
def operands(draw: st.DrawFn) -> Any:
    """Any operand: mostly a small array of some type, sometimes no array at all."""
    if draw(st.integers(0, 3)) == 0:
        return draw(st.one_of(LISTS, NUMBERS))
    name = draw(st.sampled_from([*EVERY_TYPE, "float", "float", "bool", "int64"]))
    shape = draw(st.sampled_from([(), (1,), (2,), (0,), (2, 1), (1, 1, 2, 2), (1, 2, 3, 3), (2, 2, 2, 2)]))
    return draw(arrays(name, shape))


Arguments = tuple[list[Any], Mapping[str, Any]]


@st.composite
def arguments_of_conv(draw: st.DrawFn) -> Arguments:
    image, kernel = draw(arrays("float", draw(IMAGES))), draw(arrays("float", draw(KERNELS)))
    X, W, B = (draw(st.one_of(st.just(right), operands())) for right in (image, kernel, None))
    return [X, W, B], draw(attributes_of_conv(small_pads=True))


def positional(least: int, most: int) -> st.SearchStrategy[Arguments]:
    return st.tuples(st.lists(operands(), min_size=least, max_size=most), st.just({}))


PUBLIC: list[tuple[Callable[..., Any], st.SearchStrategy[Arguments]]] = [
    (sonnx.clip, positional(3, 3)),
    (sonnx.where, positional(3, 3)),
    (sonnx.broadcast, positional(0, 4)),
    (sonnx.expand, positional(2, 2)),
    (sonnx.conv, arguments_of_conv()),
    (xla.broadcast, positional(2, 2)),
    (xla.clamp, positional(3, 3)),
    (xla.collapse, positional(2, 2)),
    (lambda *operands: xla.concatenate(operands[1:], operands[0]), positional(1, 4)),
    (xla.convert_element_type, positional(2, 2)),
    (xla.conv, positional(4, 4)),
    (xla.conv_with_general_padding, positional(6, 6)),
]


@pytest.mark.no_cover
@pytest.mark.parametrize(("function", "strategy"), PUBLIC, ids=[function.__name__ for function, _ in PUBLIC])
@FUZZ
@given(data=st.data())
def test_a_public_function_gives_a_result_or_a_rule_error(
    function: Callable[..., Any], strategy: st.SearchStrategy[Arguments], data: st.DataObject
) -> None:
    positional_ones, named = data.draw(strategy)
    try:
        result = function(*positional_ones, **named)
    except sonnx.RuleError:
        return
    results = result if isinstance(result, tuple) else (result,)
    assert all(isinstance(array, np.ndarray) for array in results)
