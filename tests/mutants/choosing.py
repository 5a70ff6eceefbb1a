"""A plugin of pytest: of what was collected, only the tests that a file lists are run, in its order."""

import json
import os
from pathlib import Path

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the chosen ones; a test that is chosen by its name without parameters is run with all of them."""
    order = {name: k for k, name in enumerate(json.loads(Path(os.environ["SONNX_CHOSEN"]).read_text()))}
    places = {item: order.get(item.nodeid, order.get(item.nodeid.partition("[")[0])) for item in items}
    config.hook.pytest_deselected(items=[item for item in items if places[item] is None])
    items[:] = sorted(
        (item for item in items if places[item] is not None), key=lambda item: places[item] or 0
    )
