"""Calls of the XLA operations that are nearly right: the rules answer, and what obeys them is computed."""

from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.budgets import examples
from tests.operators.xla_support import HOSTILE, NESTED, NO_INTEGERS

import sonnx
from sonnx.check.calls import check_call
from sonnx.derive.working import working_types
from sonnx.evaluate.apply import apply
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import describe, numpy_dtype
from sonnx.operators.catalogue import XLA_OPERATORS
from sonnx.report.text import findings_text
from sonnx.vocabulary.call import ABSENT, Call
from sonnx.vocabulary.operator import Operator

pytestmark = pytest.mark.measured

EXECUTABLE = [op for op in XLA_OPERATORS if op.name != "xla.Call"]  # a signature alone has no body
SIZES = st.sampled_from([0, 1, 2, 3, 5, 2**31, 2**62, "n", None, -1])
ATTRIBUTES = st.one_of(
    st.sampled_from([*HOSTILE, NESTED, *NO_INTEGERS, ABSENT, "SAME", "VALID", "fused", "real", "f16", "c64"]),
    st.integers(-2, 3),
    st.lists(st.integers(-1, 3), max_size=4),
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), max_size=4),
)


@st.composite
def types(draw: st.DrawFn, kind: TensorType) -> TensorType:
    """A type that differs from another in its element type, in one size or in its rank."""
    shape = list(kind.shape or ())
    change = draw(st.integers(0, 5))
    if change == 0:
        return replace(kind, dtype=draw(st.sampled_from([None, *DType])))
    if change == 1:
        return replace(kind, shape=None, sparse=draw(st.booleans()))
    place = draw(st.integers(0, max(len(shape) - 1, 0)))
    if change == 2:
        shape[place : place + 1] = []
    elif change == 3:
        shape.insert(place, draw(SIZES))
    else:
        shape[place : place + 1] = [draw(SIZES)]
    return replace(kind, shape=tuple(shape))


@st.composite
def calls(draw: st.DrawFn, operator: Operator) -> Call:
    """An example of a rule, with up to three things changed."""
    rule = draw(st.sampled_from(operator.contract.rules))
    changed = draw(st.sampled_from([rule.passing, rule.passing, rule.failing]))
    for _ in range(draw(st.integers(0, 3))):
        inputs, attributes = dict(changed.inputs), dict(changed.attributes)
        on_operands: bool = draw(st.booleans())
        if inputs and on_operands:
            name = draw(st.sampled_from(sorted(inputs)))
            inputs[name] = draw(types(inputs[name]))
        elif attributes:
            attributes[draw(st.sampled_from(sorted(attributes)))] = draw(ATTRIBUTES)
        changed = replace(changed, inputs=inputs, attributes=attributes)
    return changed


def operand_of(kind: TensorType) -> Any:
    zeros = np.zeros(kind.sizes or (), np.int8)
    return (
        sonnx.real(zeros) if kind.dtype is DType.REAL else zeros.astype(numpy_dtype(kind.dtype or DType.INT8))
    )


@pytest.mark.no_cover
@pytest.mark.parametrize("operator", XLA_OPERATORS, ids=lambda operator: operator.name)
@settings(deadline=None, max_examples=examples(150))
@given(data=st.data())
def test_the_rules_answer_every_call_that_is_nearly_right(operator: Operator, data: st.DataObject) -> None:
    call = data.draw(calls(operator))
    found = check_call(operator, call)
    identifiers = [finding.rule for finding in found]
    assert len(identifiers) == len(set(identifiers))
    lines = findings_text(found).splitlines()
    assert all(line.isprintable() for line in lines)
    assert max(map(len, lines), default=0) < 700
    if call.inputs:  # a shape rule has an answer where rules are broken too
        assert set(operator.contract.output_types(call)) == {"output"}


@pytest.mark.no_cover
@pytest.mark.parametrize("operator", EXECUTABLE, ids=lambda operator: operator.name)
@settings(deadline=None, max_examples=examples(100))
@given(data=st.data())
def test_what_obeys_the_rules_is_computed_and_has_the_shape_foretold(
    operator: Operator, data: st.DataObject
) -> None:
    call = replace(data.draw(calls(operator)), outputs={})
    if check_call(operator, call):
        return
    foretold = operator.contract.output_types(call)["output"]
    made = [*call.inputs.values(), foretold, *working_types(operator, call)]
    assert foretold.sizes is not None
    # A size 0 does not make the others small enough for NumPy.
    if all(prod(size or 1 for size in kind.sizes or ()) < 10**5 for kind in made):
        operands = {name: operand_of(kind) for name, kind in call.inputs.items()}
        result = apply(operator, operands, call.attributes)["output"]
        exact = call.attributes.get("domain") == "real"
        assert describe(result)[0].shape == foretold.shape
        assert exact or describe(result)[0] == foretold
