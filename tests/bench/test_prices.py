"""What operators cost in lines: none is dearer than agreed for its family."""

import pytest
from bench.prices import BUDGETS, OLDER, Price, prices, table

from sonnx.operators import OPERATORS


def test_every_operator_has_a_price_and_every_line_is_counted() -> None:
    found = {price.name: price for price in prices()}
    assert list(found) == [op.name for op in OPERATORS]
    assert all(
        price.lines["cases"] and price.lines["page"] and price.lines["contract"] for price in found.values()
    )


@pytest.mark.parametrize("price", list(prices()), ids=lambda price: price.name)
def test_a_new_operator_keeps_the_budget_of_its_family_and_an_older_one_says_that_it_does_not(
    price: Price,
) -> None:
    assert (price.total > BUDGETS[price.family]) == (price.name in OLDER)


def test_families_are_read_off_operators() -> None:
    families = {price.name: price.family for price in prices()}
    assert families["Relu"] == "element-wise"
    assert families["HardSwish"] == "composition"
    assert families["Expand"] == families["xla.Concatenate"] == "move"
    assert families["Conv"] == "fold"


def test_the_table_ends_with_the_sum() -> None:
    rows = table([Price("A", "element-wise", {"page": 3}), Price("B", "element-wise", {"page": 4})])
    assert rows.splitlines()[-1].split()[-1] == "7"
