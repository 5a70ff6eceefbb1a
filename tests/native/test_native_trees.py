"""Loops of several nodes: the bits of the definitions, whatever is fused, shared, expanded or asked for."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from tests.budgets import examples
from tests.emit.support import assert_passes, make, needs_gcc, written
from tests.native.fused_graphs import fused_graphs
from tests.native.support import Array, assert_same, defined, executable, planned

import sonnx

Example = tuple[sonnx.Graph, dict[str, Array]]


@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(fused_graphs())
def test_loops_have_the_bits_of_every_node_alone(example: Example) -> None:
    graph, arrays = example
    expected = defined(graph, arrays)
    assert_same(executable(planned(graph)).run(arrays), expected)
    assert_same(executable(planned(graph, fuse=False)).run(arrays), expected)


@needs_gcc
@pytest.mark.long
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(fused_graphs())
def test_emitted_loops_have_the_bits_of_every_node_alone(
    tmp_path_factory: pytest.TempPathFactory, example: Example
) -> None:
    folder: Path = tmp_path_factory.mktemp("trees") / "p"
    assert_passes(make(written(folder, example[0], kernels="fast"), cflags="-O1"))
