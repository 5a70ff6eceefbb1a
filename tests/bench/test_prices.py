"""What operators cost in lines: no element-wise one is dearer than agreed."""

import pytest
from bench.prices import BUDGETS, Price, prices, table

from sonnx.operators import OPERATORS

# Older than the budget, and with more to say than a new one: rules and rulings of their documents.
OLDER = {"Clip", "Where", "xla.Clamp", "xla.ConvertElementType"}


def test_every_operator_has_a_price_and_every_line_is_counted() -> None:
    found = {price.name: price for price in prices()}
    assert list(found) == [op.name for op in OPERATORS]
    assert all(
        price.lines["cases"] and price.lines["page"] and price.lines["contract"] for price in found.values()
    )


@pytest.mark.parametrize("price", list(prices()), ids=lambda price: price.name)
def test_no_operator_of_a_budget_exceeds_it(price: Price) -> None:
    assert price.name in OLDER or price.total <= BUDGETS.get(price.family, price.total)


def test_the_table_ends_with_the_sum() -> None:
    rows = table([Price("A", "element-wise", {"page": 3}), Price("B", "element-wise", {"page": 4})])
    assert rows.splitlines()[-1].split()[-1] == "7"
