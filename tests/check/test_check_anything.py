"""Any graph that can be made has an answer: findings that can be printed, and every rule for itself."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.budgets import examples

from sonnx.check.models import check_graph
from sonnx.model.dtype import DType
from sonnx.model.graph import Constant, Function, Graph, Node, Opaque, Reference, Value
from sonnx.model.tensor_type import TensorType
from sonnx.operators import NODE_OPERATORS
from sonnx.operators.rulebook import rules
from sonnx.report.text import findings_text

pytestmark = pytest.mark.measured

NAMES = st.sampled_from(["x", "y", "t", "a", "b", "lo", "hi", "", "\x1b[2J", "\udc80", "n" * 300])
LISTS = st.lists(NAMES, max_size=4).map(tuple)
OPERATORS = st.sampled_from([*NODE_OPERATORS, "F", "G", "Unheard", "Constant", "Dropout", ""])
DOMAINS = st.sampled_from(["", "", "own", "own", "\a"])
SIZES = st.one_of(st.integers(-1, 4), st.sampled_from([2**31, 2**62, "n", "\x1b", None]))
TYPES = st.builds(
    TensorType,
    st.sampled_from([None, *DType]),
    st.one_of(st.none(), st.lists(SIZES, max_size=5).map(tuple), st.just((1,) * 65)),
    sparse=st.sampled_from([False] * 5 + [True]),
    denotation=st.sampled_from([None, None, (), ("DATA_BATCH", "\x1b")]),
    foreign=st.sampled_from([None] * 5 + ["float8", "\x1b"]),
)
TENSOR = Constant("c", TensorType(DType.FLOAT, (2,)), np.zeros(2, np.float32))
ODD = (Reference("k"), Reference("\x1b", "graph"), Opaque("graph"), Opaque("sparse_tensor"), TENSOR)
WRITTEN = (0, 1, -(2**63), 1.5, float("nan"), "NOTSET", "\x1b", (), (1, 1), (1, 1, 1, 1), (1.0,), ("a", "b"))
ATTRIBUTES = st.dictionaries(
    st.sampled_from(["strides", "pads", "group", "kernel_shape", "auto_pad", "accumulate", "k", "", "\x1b"]),
    st.sampled_from([*WRITTEN, *ODD]),
    max_size=4,
)
VERSIONS = st.sampled_from([None, 1, 11, 13, 16, 22, -5])
OPSETS = st.lists(st.tuples(DOMAINS, st.sampled_from([0, -1, 12, 13, 22, 2**62])), max_size=3).map(tuple)
NODES = st.builds(
    Node, OPERATORS, LISTS, LISTS, ATTRIBUTES, NAMES, DOMAINS, st.sampled_from(["", "", "2"]), VERSIONS, LISTS
)
VALUES = st.lists(st.builds(Value, NAMES, TYPES), max_size=4).map(tuple)
BODIES = st.lists(NODES, max_size=4).map(tuple)
FUNCTIONS = st.builds(
    Function,
    st.sampled_from(["F", "G", "Clip", "\x1b"]),
    DOMAINS,
    LISTS,
    LISTS,
    BODIES,
    LISTS,
    ATTRIBUTES,
    VALUES,
    OPSETS,
    st.sampled_from(["", "", "2"]),
)


@st.composite
def constants(draw: st.DrawFn) -> Constant:
    name, kind = draw(NAMES), draw(TYPES)
    sizes = kind.sizes
    data: Any = None
    if sizes is not None and len(sizes) < 5 and max(sizes, default=0) < 5:
        data = np.zeros(sizes, draw(st.sampled_from([np.float32, np.int64])))
    return Constant(name, kind, data, draw(st.sampled_from(["", "", "gone \x1b"])))


GRAPHS = st.builds(
    Graph,
    NAMES,
    VALUES,
    VALUES,
    BODIES,
    st.lists(constants(), max_size=3).map(tuple),
    VALUES,
    st.lists(FUNCTIONS, max_size=3).map(tuple),
    OPSETS,
    st.sampled_from([0, 3, 8, 2**60]),
    st.sampled_from(["", "net\x1b.onnx"]),
    LISTS,
)


@pytest.mark.no_cover
@settings(deadline=None, max_examples=examples(100))
@given(graph=GRAPHS)
def test_every_graph_is_answered_with_findings_that_can_be_printed(graph: Graph) -> None:
    found = check_graph(graph)
    assert {finding.rule for finding in found} <= {rule.identifier for rule in rules()}
    assert all(finding.values and finding.help and finding.location is not None for finding in found)
    assert all(line.isprintable() for line in findings_text(found).splitlines())
    assert check_graph(graph) == found
