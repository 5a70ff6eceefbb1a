"""Tests of fusion can fail: a planner with one error, or a compiler that contracts, is noticed."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.derive import test_views_in_place as views_by_hand
from tests.derive.wrong_walks import Mutant, see_noticed
from tests.native import test_native_domains as domains
from tests.native import test_native_followed as followed
from tests.native import test_native_trees as trees
from tests.native.support import assert_defined, quick_compiler

import sonnx
from sonnx.derive import loops, views
from sonnx.native import cache
from sonnx.native.machine import fingerprint
from sonnx.plan import fusion

pytestmark = pytest.mark.mutant
CPU = fingerprint().split()


@pytest.fixture(autouse=True)
def _fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of its own: no mutant is ever loaded elsewhere."""
    monkeypatch.setenv("SONNX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_loaded", {})
    monkeypatch.setenv("SONNX_CC", quick_compiler(tmp_path))


def see_stopped() -> None:
    """A divisor 0 of integers ends the run."""
    graph = domains.divide("int32", (2,))
    run = graph.compile()
    with pytest.raises(sonnx.DomainError):
        run({"a": np.ones(2, np.int32), "b": np.array([1, 0], np.int32)})


def expanded(*small: int) -> Callable[[], None]:
    return partial(trees.test_expand_before_a_loop_is_read_in_place, small, "float")


def behind_a_conv(name: str, tree: str) -> Callable[[], None]:
    def check() -> None:
        graph, arrays = followed.followed(name, "float", tree)
        assert_defined(graph, arrays)

    return check


_F: Any = fusion._Finder
WRONG = {
    "a result that is in no memory": Mutant(
        _F._only_reader,
        "outputs[0] in self.results",
        "False",
        partial(trees.test_a_tensor_that_is_a_result_is_in_memory, "t"),
    ),
    "a tensor of two loops in one of them": Mutant(
        _F._only_reader, "for each in readers}", "for each in readers[:1]}",
        trees.test_what_two_loops_read_is_calculated_once,
    ),
    "constants at every run": Mutant(
        _F._joins, "self.constant[made] == self.constant[result]", "True",
        trees.test_constants_stay_what_is_calculated_once,
    ),
    "a scalar for every element": Mutant(
        _F._joins, "types[made].sizes == types[result].sizes", "True",
        trees.test_what_is_one_element_is_calculated_once,
    ),
    "a loop of any length": Mutant(
        _F._is_small, "len(members) <= _MOST_NODES", "True", trees.test_long_chains_are_several_loops
    ),
    "an Expand that is a result": Mutant(
        _F._see_through, "name in self.results or ", "",
        trees.test_what_is_expanded_for_a_result_or_for_a_move_is_made,
    ),
    "two Convs before one loop": Mutant(
        _F._is_followed, " or last in self.sums", "",
        followed.test_of_two_convs_that_are_added_one_is_followed,
    ),
    "quotients without a look at divisors": Mutant(
        loops.part, "inside(operator, trace.element, kind) is not None", "False", see_stopped
    ),
    "another type in the place of sums": Mutant(
        loops.follows, "sums.dtype is not result.dtype", "False",
        followed.test_a_tree_that_ends_in_another_type_is_a_loop_of_its_own,
    ),
    "lines as channels": Mutant(
        loops.follows, "not set(moved) <= {_CHANNEL}", "False",
        followed.test_a_tree_that_reads_along_lines_is_a_loop_of_its_own,
    ),
    "the first channels again": Mutant(
        loops._piece_text, '"at->channel + c"', '"c"', behind_a_conv("sums_across", "channels")
    ),
    "axes in the other order": Mutant(loops._table, "reversed(outer)", "outer", expanded(2, 1, 5)),
    "axes that are one for some": Mutant(views.merged, "a == b * size", "True", expanded(3, 1)),
    "elements in another order": Mutant(
        views._keeps_order, "stride != expected", "False",
        partial(views_by_hand.test_a_move_is_a_view_where_all_elements_keep_their_order, "transposed"),
    ),
    "a part as all of it": Mutant(
        views._keeps_order, "expected == elements", "True",
        partial(views_by_hand.test_a_move_is_a_view_where_all_elements_keep_their_order, "a part"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_plan_is_noticed(name: str) -> None:
    see_noticed(WRONG[name])


@pytest.mark.skipif("fma" not in CPU, reason="the processor multiplies and adds separately")
def test_a_compiler_that_contracts_nodes_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trees.test_a_product_and_a_sum_are_rounded_each_by_itself()
    monkeypatch.setenv("SONNX_CC", quick_compiler(tmp_path, "-O2 -ffp-contract=fast"))
    with pytest.raises(AssertionError):
        trees.test_a_product_and_a_sum_are_rounded_each_by_itself()
