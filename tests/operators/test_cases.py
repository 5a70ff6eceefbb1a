"""Every case of every operator, bit for bit."""

from typing import Any

from tests.loops import for_each

from sonnx import xla
from sonnx.evaluate.apply import apply
from sonnx.numeric.bits import same_bits
from sonnx.operators import OPERATORS
from sonnx.operators import operator as named
from sonnx.operators.shared.cases import Case, load_cases
from sonnx.vocabulary.operator import Operator

CASES = [(operator, case) for operator in OPERATORS for case in load_cases(operator.identifier)]


def attributes(operator: Operator, case: Case) -> dict[str, Any]:
    """The attributes of a case: modes have their defaults, a computation is built from its table."""
    modes = {a.name: a.default for a in operator.contract.attributes if a.mode and operator.dialect == "xla"}
    given = {**modes, **case.attributes}
    if "computation" in given:
        given["computation"] = computation(given["computation"]).callee
    return given


def computation(table: dict[str, Any]) -> xla.Computation:
    """One operation, applied to the parameters that the table names as its operands."""
    builder = xla.ComputationBuilder(table["name"])
    operands = {}
    for number, text in enumerate(table["parameters"]):
        name, shape = text.split(": ")
        operands[name] = builder.parameter(number, shape, name)
    method = getattr(builder, named(f"xla.{table['operator']}").folder)
    if table["operator"] == "Concatenate":
        method(list(operands.values()), **table["attributes"])
    else:
        method(**operands, **table["attributes"])
    return builder.build()


@for_each(("operator", "case"), CASES, ids=[f"{o.name}: {c.name}" for o, c in CASES])
def test_an_operator_gives_the_bits_its_cases_name(operator: Operator, case: Case) -> None:
    operands = {name: tensor.array() for name, tensor in case.inputs.items()}
    results = apply(operator, operands, attributes(operator, case))
    assert set(results) == set(case.outputs)
    for name, tensor in case.outputs.items():
        assert same_bits(results[name], tensor.array(), nan=case.nan), results[name]
