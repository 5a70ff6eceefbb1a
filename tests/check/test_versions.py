"""Types that ONNX added to an operator later: what the contracts say is what ONNX's schemas say."""

from dataclasses import replace

import pytest
from onnx import defs

from sonnx.check.calls import check_call
from sonnx.model.dtype import DType
from sonnx.operators import NODE_OPERATORS
from sonnx.vocabulary.call import Call, call
from sonnx.vocabulary.operator import Operator, operand_names


def in_onnx(operator: Operator, version: int, position: int) -> set[str]:
    """The types that a version's schema allows for an operand, by ONNX's names."""
    schema = defs.get_schema(operator.contract.name, version, "")
    formal = schema.inputs[min(position, len(schema.inputs) - 1)]
    return {text.removeprefix("tensor(").removesuffix(")") for text in formal.types}


@pytest.mark.parametrize("operator", NODE_OPERATORS.values(), ids=lambda op: op.name)
def test_a_type_passes_where_the_version_has_it(operator: Operator) -> None:
    good = operator.contract.rules[0].passing
    assert isinstance(good, Call)
    names = operand_names(operator.contract.inputs, len(good.inputs))
    several = (n for n, operand in enumerate(operator.contract.inputs) if len(operand.types) > 1)
    first = next(several, 0)
    of_one_type = [
        name
        for name, operand in zip(names, operator.contract.inputs, strict=False)
        if operand.types == operator.contract.inputs[first].types
    ] + [name for name in names if operator.contract.inputs[-1].variadic]
    for version in operator.contract.versions:
        allowed = in_onnx(operator, version, first)
        for dtype in operator.contract.inputs[first].types:
            if dtype is DType.REAL:
                continue
            typed = {name: replace(good.inputs[name], dtype=dtype) for name in of_one_type}
            there = {n: v for n, v in good.attributes.items() if operator.contract.named[n].is_in(version)}
            asked = replace(
                good, inputs={**good.inputs, **typed}, attributes=there, version=version, outputs={}
            )
            passes = not [found for found in check_call(operator, asked) if found.rule.endswith(".D9")]
            assert passes == (dtype.value in allowed), (version, dtype)


@pytest.mark.parametrize("operator", NODE_OPERATORS.values(), ids=lambda op: op.name)
def test_an_attribute_is_there_where_the_version_has_it(operator: Operator) -> None:
    for version in operator.contract.versions:
        schema = defs.get_schema(operator.contract.name, version, "")
        for attribute in operator.contract.attributes:
            if not attribute.mode:
                assert attribute.is_in(version) == (attribute.name in schema.attributes), version


def test_where_no_model_is_asked_about_every_version_will_do() -> None:
    assert not check_call(NODE_OPERATORS["Relu"], call("Relu", {"X": "int32[3]"}))


def test_the_finding_says_which_version_brought_the_type() -> None:
    asked = replace(call("Add", {"A": "int8[3]", "B": "int8[3]"}), version=13)
    (found,) = check_call(NODE_OPERATORS["Add"], asked)
    assert found.rule == "add.A.D9"
    assert found.values[-1].note == "int8 came with version 14"
    assert "operator set 14 or later" in found.help
