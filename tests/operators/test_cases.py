"""Every case of every operator, bit for bit."""

import pytest

from sonnx.evaluate.apply import apply
from sonnx.model.operator import Operator
from sonnx.numeric.bits import same_bits
from sonnx.operators import OPERATORS
from sonnx.operators.shared.cases import Case, load_cases

CASES = [(operator, case) for operator in OPERATORS for case in load_cases(operator.identifier)]


@pytest.mark.parametrize(("operator", "case"), CASES, ids=[f"{o.name}: {c.name}" for o, c in CASES])
def test_an_operator_gives_the_bits_its_cases_name(operator: Operator, case: Case) -> None:
    operands = {name: tensor.array() for name, tensor in case.inputs.items()}
    results = apply(operator, operands, case.attributes)
    assert set(results) == set(case.outputs)
    for name, tensor in case.outputs.items():
        assert same_bits(results[name], tensor.array(), nan=case.nan), results[name]
