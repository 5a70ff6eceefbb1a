"""The comparison with NumPy: every operator on elements, against an expression that means the same."""

import numpy as np
import pytest
from bench.reference import definitions
from bench.reference.definitions import (
    BAR,
    EXPRESSIONS,
    Array,
    data,
    definition,
    definition_subjects,
    element_wise,
    expression,
    operands,
)


def whole() -> dict[str, Array]:
    """Numbers on which no expression is rounded, whichever way it is written."""
    x, y = np.meshgrid(*[np.arange(-9, 10, 3, dtype=np.float32)] * 2)
    p, q = np.meshgrid(*[np.arange(7) % 2 == 0] * 2)
    bounds = {"low": np.array(-3, np.float32), "high": np.array(6, np.float32)}
    return {"x": x, "y": y, "p": p, "q": q, **bounds}


def test_every_expression_is_that_of_an_operator_on_floats_or_truths() -> None:
    assert {operator.name for operator in element_wise()} == EXPRESSIONS.keys()


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_an_expression_means_what_its_operator_does(name: str) -> None:
    given = whole()
    (operator,) = (each for each in element_wise() if each.name == name)
    wanted = expression(name, given)()
    found = definition(operator, operands(operator, given))()
    assert found.dtype == wanted.dtype
    assert np.array_equal(found, wanted, equal_nan=wanted.dtype.kind == "f")


def test_data_are_the_same_in_every_run() -> None:
    first, second = data(100), data(100)
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_each_is_measured_once_against_its_expression(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definitions, "ELEMENTS", 10)
    subjects = definition_subjects()
    assert len({each.name for each in subjects}) == len(subjects) == len(EXPRESSIONS)
    assert {(each.bar, each.against in EXPRESSIONS.values()) for each in subjects} == {(BAR, True)}
