"""A run can be watched, and nothing more."""

import numpy as np
import pytest

from sonnx.evaluate.execution import ExecutedNode, Settings, execute
from sonnx.model.graph import Graph, Node, Value
from sonnx.model.tensor_type import tensor_type


def test_whoever_watches_cannot_write_into_what_is_given_or_made() -> None:
    # What Collapse gives may share its operand's memory.
    x, y = Value("x", tensor_type("f32[2,1]")), Value("y", tensor_type("f32[2]"))
    node = Node("Collapse", ("x",), ("y",), {"dimensions": (0, 1)}, domain="xla")
    graph = Graph("flat", (x,), (y,), (node,), dialect="xla")
    given = np.array([[3], [4]], np.float32)
    seen = []

    def spoil(step: ExecutedNode) -> None:
        for array in step.results.values():
            seen.append(array.tolist())
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 7

    found = execute(graph, {"x": given}, Settings(), spoil)
    assert seen == [[3, 4]]
    assert found["y"].tolist() == [3, 4]
    found["y"][0] = 1  # the result itself is the caller's own
    assert given.tolist() == [[3], [4]]
