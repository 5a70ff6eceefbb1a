"""Every case of the XLA operations on the real XLA: its bits, or within the bound where floats are summed."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.budgets import thinned
from tests.loops import for_each
from tests.operators.test_cases import attributes, computation

import sonnx
from sonnx import xla
from sonnx.model.dtype import IEEE, XLA_NAMES, DType
from sonnx.operators import XLA_OPERATORS
from sonnx.operators.shared.cases import Case, load_cases
from sonnx.vocabulary.operator import Operator

pytestmark = pytest.mark.measured

FLOATS = (*IEEE, DType.BFLOAT16)
CONVOLUTIONS = ("Conv", "ConvWithGeneralPadding")


def has_a_type(case: Case) -> bool:
    """XLA has no real numbers."""
    return all(tensor.type.dtype in XLA_NAMES for tensor in (*case.inputs.values(), *case.outputs.values()))


def is_sum_of_floats(operator: Operator, case: Case) -> bool:
    (output,) = case.outputs.values()
    return operator.contract.name in CONVOLUTIONS and output.type.dtype in FLOATS


CASES = [(op, case) for op in XLA_OPERATORS for case in load_cases(op.identifier) if has_a_type(case)]
EXACT = [(op, case) for op, case in CASES if not is_sum_of_floats(op, case)]
SUMS = [(op, case) for op, case in CASES if is_sum_of_floats(op, case)]


def on_xla(operator: Operator, case: Case) -> Any:
    """A computation of one operation, applied to the case's operands."""
    builder = xla.ComputationBuilder("case")
    arrays = {name: tensor.array() for name, tensor in case.inputs.items()}
    handles = [
        builder.parameter(number, str(case.inputs[name].type), name) for number, name in enumerate(arrays)
    ]
    modes = {attribute.name for attribute in operator.contract.attributes if attribute.mode}
    given = {name: value for name, value in case.attributes.items() if name not in modes}
    method = getattr(builder, operator.folder)
    if operator.contract.name == "Concatenate":
        method(handles, **given)
    elif operator.contract.name == "Call":
        method(computation(given["computation"]), *handles)
    else:
        method(*handles, **given)
    return builder.build().run(*arrays.values(), engine="xla")


@pytest.mark.thinned
@pytest.mark.no_cover
@for_each(("operator", "case"), thinned(EXACT, 40))
def test_a_case_has_its_bits_on_xla_too(operator: Operator, case: Case) -> None:
    (right,) = (tensor.array() for tensor in case.outputs.values())
    converted = operator.contract.name == "ConvertElementType"  # a NaN is then computed, not moved
    assert sonnx.same_bits(on_xla(operator, case), right, nan="any" if converted else case.nan)


@pytest.mark.thinned
@for_each(("operator", "case"), thinned(SUMS, 20))
def test_a_case_of_a_sum_of_floats_is_within_its_bound_on_xla(operator: Operator, case: Case) -> None:
    (right,) = (tensor.array() for tensor in case.outputs.values())
    found = on_xla(operator, case)
    arrays = [tensor.array() for tensor in case.inputs.values()]
    bound = sonnx.error_bound(operator.name, *arrays, order="flushing", **attributes(operator, case))
    assert found.shape == right.shape
    for a, b, most in zip(found.flat, right.flat, np.asarray(bound).flat, strict=True):
        if np.isfinite(float(b)) and np.isfinite(most):
            # Both are within the bound of the exact result.
            assert abs(Fraction(float(a)) - Fraction(float(b))) <= 2 * Fraction(float(most))
        elif not np.isfinite(float(b)):
            assert sonnx.same_bits(np.asarray(a), np.asarray(b), nan="any")
