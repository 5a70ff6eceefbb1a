"""Trials and clauses of moves, by hand; wrong ones are noticed."""

import numpy as np
import pytest
from tests.derive.test_trials_mutants import raw, tried
from tests.derive.wrong_walks import Mutant, see_noticed

from sonnx.derive import moves as walk
from sonnx.derive.clauses import clauses
from sonnx.derive.evaluate import evaluate
from sonnx.derive.moves import places
from sonnx.model.dtype import DType
from sonnx.operators import operator
from sonnx.vocabulary.moves import Asked
from sonnx.vocabulary.special_values import special_vector

pytestmark = pytest.mark.measured

JOINED, AGAIN = operator("xla.Concatenate"), operator("xla.Broadcast")


def test_elements_come_from_the_first_operand_or_another_or_are_there_again() -> None:
    a, b = np.array([5, 6, 5], np.int8), np.array([5, 7], np.int8)
    joined = {"operands0": a, "operands1": b}
    assert places(JOINED, joined, {"dimension": 0}).tolist() == [0, 1, 2, 3, 4]
    *_, first, rest = clauses(JOINED, joined, {"dimension": 0})
    assert (first.text[:17], first.identifier) == ("The first operand", "D-XLA-2")
    assert first.mask.tolist() == [True, True, True, False, False]
    assert rest.mask.tolist() == [True] * 5
    *_, again, rest = clauses(AGAIN, {"operand": b}, {"broadcast_sizes": (3,)})
    assert again.mask.tolist() == [[False, False], [True, True], [True, True]]
    # What decides a shape is no element.
    sizes = {"input": np.array([[1], [2]], np.int8), "shape": np.array([2, 4])}
    assert places(operator("Expand"), sizes, {}).tolist() == [[0] * 4, [1] * 4]
    x = np.array([-0.0, 2.0**-149, np.nan, 1], np.float32)
    lost = clauses(AGAIN, {"operand": x}, {"broadcast_sizes": ()})[:3]
    assert [np.flatnonzero(each.mask).tolist() for each in lost] == [[2], [0], [1]]


def test_moves_are_tried_with_every_value_many_lengths_and_any_constant() -> None:
    every = raw(special_vector(DType.FLOAT16, signalling=True))
    found = tried(JOINED, DType.FLOAT16)
    special = found["special-values"]
    assert all(set(raw(each)) == set(every) for each in special.inputs.values())
    # No operand begins as another does.
    several = next(
        each for each in found.values() if len(each.inputs) > 2 and all(map(np.size, each.inputs.values()))
    )
    begins = [raw(each)[0] for each in several.inputs.values()]
    assert len(set(begins[:3])) == 3
    lengths = {name: each for name, each in found.items() if name.startswith("length-")}
    wanted = (8, 32, 63, 64, 95, 127, 128, 137, 255, 256, 257, 300)
    assert [int(name.removeprefix("length-")) for name in lengths] == list(wanted)
    for trial in lengths.values():
        # All operands together end with the greatest number.
        *_, last = (each for each in trial.inputs.values() if each.size)
        assert raw(last)[-1] == 0x7BFF
    assert {each.constants for each in lengths.values()} == {frozenset(), frozenset({"operands0"})}
    others = {each.constants for name, each in found.items() if name.endswith("-constant")}
    assert others >= {frozenset({"operands1"}), frozenset({"operands1", "operands2"})}
    assert len([name for name in found if name.startswith("random-")]) == 24
    assert {"D-XLA-2", "D-ALL-4", "xla.concatenate.operands.D1"} <= set(special.shows)
    assert "xla.concatenate.operands.D7" not in special.shows  # no trial comes to its edge
    seeded = tried(JOINED, DType.FLOAT16, 1)
    pairs = ((name, found[name].inputs.values(), seeded[name].inputs.values()) for name in found)
    changed = [
        name for name, *both in pairs if len({b"".join(map(np.ndarray.tobytes, each)) for each in both}) > 1
    ]
    assert len(changed) > 12
    assert all(name.startswith("random-") for name in changed)


def test_a_result_of_thousands_has_so_many_elements_or_hardly_more() -> None:
    for of in (JOINED, AGAIN, operator("Expand")):
        thousands = tried(of, DType.INT16)["thousands"]
        (output,) = evaluate(of, thousands.inputs, thousands.attributes).values()
        assert 5003 <= output.size < 5003 * 1.1
        settled = {each.name for each in of.contract.inputs if each.constant}
        assert thousands.constants == settled
        elements = np.concatenate(
            [each.reshape(-1) for name, each in thousands.inputs.items() if name not in settled]
        )
        assert len(np.unique(elements)) == elements.size


def test_operands_are_cut_from_a_line_one_after_the_other() -> None:
    first, second = walk._cut(np.arange(7), Asked({"a": (2, 2), "b": (3,)}))
    assert (first.tolist(), second.tolist()) == ([[0, 1], [2, 3]], [4, 5, 6])


CUT = test_operands_are_cut_from_a_line_one_after_the_other
CLAUSES = test_elements_come_from_the_first_operand_or_another_or_are_there_again
TRIALS = test_moves_are_tried_with_every_value_many_lengths_and_any_constant
LARGE = test_a_result_of_thousands_has_so_many_elements_or_hardly_more
MUTANTS = {
    "an operand counted from 0": Mutant(walk.places, "start += array.size", "pass", CLAUSES),
    "sizes among the elements": Mutant(
        walk.places, "if name not in operator.contract.settled:", "if True:", CLAUSES
    ),
    "one element more from the first operand": Mutant(
        walk.clauses, "origins < next", "origins <= next", CLAUSES
    ),
    "the first ones are there again": Mutant(
        walk.clauses, "return_index=True)[1]] = False", "return_index=True)[1]] = True", CLAUSES
    ),
    "nothing is the rest": Mutant(
        walk.clauses, "moves.rest, everywhere(origins.shape)", "moves.rest, origins < 0", CLAUSES
    ),
    "bits that are lost for nobody": Mutant(
        walk.clauses, "found = list(kept_bits", "found = 0 * list(kept_bits", CLAUSES
    ),
    "no signalling NaN": Mutant(
        walk._every, "special_vector(dtype, signalling=True)", "special_vector(dtype)", TRIALS
    ),
    "operands alike": Mutant(walk._every, "number + _APART * at", "number", TRIALS),
    "the shortest length left out": Mutant(
        walk._every, "LENGTHS if lines else ()", "LENGTHS[1:] if lines else ()", TRIALS
    ),
    "a line for every operand": Mutant(
        walk._cut, "np.split(line, ends[:-1])", "[line[:e] for e in np.diff(ends, prepend=0)]", CUT
    ),
    "never the first one held": Mutant(walk._every, "_held(asked)[-(number % 2)]", "_held(asked)[0]", TRIALS),
    "constants for one call of three": Mutant(walk._every, "number % 3 == 1", "number % 3 == 3", TRIALS),
    "all but the last held": Mutant(walk._held, "decided | set(others)", "decided | {others[-1]}", TRIALS),
    "one seed": Mutant(walk._every, "np.random.default_rng(seed)", "np.random.default_rng(0)", TRIALS),
    "rules that no trial reaches": Mutant(walk.trials, "not in moves.beyond", "not in ()", TRIALS),
    "one element too few": Mutant(walk._filling, "-(-count //", "(count //", LARGE),
    "as many operands as elements": Mutant(
        walk._filling, "calls.sized(grown, -(-count //", "calls.sized(grown, 2 * -(-count //", LARGE
    ),
    "sizes that are given later": Mutant(walk._trial, "frozenset(asked.decided)", "frozenset()", LARGE),
}


@pytest.mark.no_cover
@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_trials_of_moves_are_noticed(name: str) -> None:
    see_noticed(MUTANTS[name])
