"""The table that boxes.c reads, followed step by step, writes what the move says; wrong ones are noticed."""

from collections.abc import Mapping
from itertools import product

import numpy as np
import pytest
from tests.derive import test_fast_c_boxes as moving
from tests.derive.kernel_support import any_bits, asked, stand_in
from tests.derive.wrong_walks import Mutant, see_noticed

from sonnx.derive import fast_boxes as walk
from sonnx.derive.fast_boxes import Entry
from sonnx.numeric.arrays import Array
from sonnx.terms.tensors import Given, Made, tensor
from sonnx.terms.tracing import tensorwise
from sonnx.terms.words import select

pytestmark = pytest.mark.measured


def lines_apart(X: Given) -> Made:
    return tensor((4, 8), lambda k, i: select(i < 5, X[i], 7))


SMALL = {
    "repeated lines apart": moving.Move(
        tensorwise(lines_apart),
        [(5,)],
        lambda X: np.array([[*X, *np.full(3, 7, X.dtype)]] * 4, X.dtype),
        ("int8", "float"),
    ),
    "a matrix turned": moving.transposition((5, 4), 1, 0),
    "channels last": moving.transposition((2, 3, 2, 4), 0, 2, 3, 1),
    "backwards": moving.transposition((2, 3, 2, 3), 3, 2, 1, 0),
    "middle axes": moving.transposition((2, 3, 4, 5), 0, 2, 1, 3),
    "joined outside": moving.concatenation((2, 6), (3, 6), 0),
    "joined inside": moving.concatenation((4, 5), (4, 3), 1),
    "padded": moving.padding((2, 3, 4), (0, 1, 2), (1, 0, 1), 7),
    "every second": moving.slicing((2, 6, 7), moving.ALL, slice(1, None, 2), slice(0, None, 2)),
    "turned round": moving.slicing((3, 9), moving.ALL, slice(None, None, -1)),
    "one column": moving.slicing((6, 5), moving.ALL, slice(3, 4)),
    "repeated outside": moving.expansion((1, 5), (4, 5)),
    "repeated inside": moving.expansion((5, 1), (5, 4)),
    "repeated in turn": moving.expansion((2, 1, 3, 1, 2), (2, 3, 3, 2, 2)),
    "lines far apart": moving.expansion((2, 1, 3, 5), (2, 4, 3, 5)),
    "one element": moving.expansion((), ()),
    "flat": moving.Move(moving.flattened(), [(3, 4)], lambda X: X.reshape(-1)),
}


def axis(box: str, name: str, table: Mapping[str, int]) -> tuple[int, int, int]:
    size, to, origin = (table[f"{box}_{name}_{each}"] for each in ("size", "to", "from"))
    return size, to, origin


def follow(what: str, name: str) -> None:
    """Every box, run by run and line by line: each word is written once, and is what belongs there."""
    move = SMALL[what]
    arrays = {
        each: any_bits(name, int(np.prod(shape)), seed).reshape(shape)
        for seed, (each, shape) in enumerate(zip("XY", move.shapes, strict=False))
    }
    expected = np.array(move.expected(*arrays.values()), order="C")
    (call,) = asked(stand_in(move.definition, *arrays), arrays, name, expected.shape).calls
    table = dict(call.parameters)
    size = min(expected.dtype.itemsize // (2 if expected.dtype.kind == "c" else 1), 8)

    def words(array: Array) -> list[int]:
        return [int(each) for each in array.reshape(-1).view(f"i{size}")]

    operands, out = [words(each) for each in arrays.values()], words(expected)
    written: set[int] = set()
    boxes = sorted({each.partition("_")[0] for each in table if each.startswith("box")})
    for box in boxes:
        rank = table[f"{box}_rank"]
        line, rows = axis(box, "line", table), axis(box, "rows", table)
        axes = [axis(box, f"axis{m}", table) for m in reversed(range(rank))]
        if rows[0] > 1 and line[1:] == (1, 1):  # a line again and again, one behind the other
            assert rows[1:] == (line[0], 0)
        elif rows[0] > 1:  # lines across, of neighbours
            assert (rows[2], line[2] > 1, line[1]) == (1, True, 1)
        places, read = [], set()
        for at in product(*(range(each[0]) for each in (*axes, rows, line))):
            to, origin = (
                sum(n * each[k] for n, each in zip(at, (*axes, rows, line), strict=True)) for k in (1, 2)
            )
            places.append(table[f"{box}_to"] + to)
            held = table[f"{box}_from"]
            if table[f"{box}_operand"] >= 0:
                assert held + origin >= 0
                read.add(held + origin)
                held = operands[table[f"{box}_operand"]][held + origin]
            assert held == out[places[-1]], (what, name, places[-1])
        assert written.isdisjoint(places)
        written |= set(places)
        assert table[f"{box}_elements"] == len(places)
        assert table[f"{box}_length"] == 13 + 3 * rank
        assert table[f"{box}_straight"] <= (places == list(range(places[0], places[0] + len(places))))
    assert written == set(range(len(out)))
    assert sum(table[f"{box}_elements"] for box in boxes) == table["elements"] == len(out)


@pytest.mark.parametrize("what", SMALL)
def test_a_table_writes_each_word_once_and_the_right_one(what: str) -> None:
    for name in SMALL[what].types:
        follow(what, name)


def test_elements_one_behind_the_other_are_said_to_be_so_and_few_are_read() -> None:
    whole = moving.table(moving.transposition((4, 5, 6), 0, 1, 2))
    assert (whole["box0_straight"], whole["box0_rank"], whole["box0_line_size"]) == (1, 0, 120)
    rows = moving.table(moving.slicing((4, 5), moving.ALL, slice(0, 3)))
    assert (rows["box0_straight"], rows["box0_rank"], rows["box0_line_size"]) == (1, 1, 3)
    across = moving.table(moving.transposition((4, 5), 1, 0))
    assert (across["box0_straight"], across["box0_rows_size"], across["box0_line_size"]) == (0, 5, 4)
    one = walk.Axis(3, 1, 1)
    entry = Entry(0, 0, 0, True, one, walk.Axis(4, 3, 0), (walk.Axis(2, 12, 5),))
    assert (entry.elements, entry.read) == (24, 6)
    assert Entry(0, -1, 7, True, one, walk.Axis(1, 0, 0), ()).read == 0


def all_small() -> None:
    for what, move in SMALL.items():
        for name in {"int8", "float", "complex128"} & {*move.types}:
            follow(what, name)


FEW = test_elements_one_behind_the_other_are_said_to_be_so_and_few_are_read
MUTANTS = {
    "axes that continue in the output alone": Mutant(
        walk._merged, " and before.origin == axis.size * axis.origin", "", all_small
    ),
    "axes that continue in the operand alone": Mutant(
        walk._merged, "before.to == axis.size * axis.to and ", "", all_small
    ),
    "axes of one size": Mutant(walk._merged, "size=before.size * axis.size", "size=axis.size", all_small),
    "axes that are never merged": Mutant(walk._merged, "if before and", "if False and", FEW),
    "a box at the beginning": Mutant(
        walk._entry, "box.begin, written", "[0] * len(box.begin), written", all_small
    ),
    "the first part of an element": Mutant(walk._entry, "in firsts) * words", "in firsts)", all_small),
    "elements of one word": Mutant(walk._entry, "[Axis(words, 1, 1)]", "[]", all_small),
    "steps of one word": Mutant(walk._entry, "to * words, each * words", "to, each", all_small),
    "the first operand": Mutant(walk._entry, "names.index(box.source.operand)", "0", all_small),
    "a constant that is read": Mutant(walk._entry, "-1, _bits(box.source, dtype)", "0, 0", all_small),
    "a number for its bits": Mutant(walk._bits, '.view(f"i{numpy_dtype(dtype).itemsize}")', "", all_small),
    "outer axes first": Mutant(Entry.fields, "reversed(self.axes)", "self.axes", all_small),
    "an entry too short": Mutant(
        Entry.fields, "13 + 3 * len(self.axes)", "13 + 2 * len(self.axes)", all_small
    ),
    "repeated lines that lie apart": Mutant(walk._repeats, " and axis.to == line.size", "", all_small),
    "other lines, repeated": Mutant(walk._repeats, "axis.origin == 0 and ", "", all_small),
    "lines across that are straight": Mutant(walk._runs, "across, False", "across, True", all_small),
    "any axis across": Mutant(walk._runs, "if axis.origin == 1)", "if axis.origin > 1)", all_small),
    "everything straight": Mutant(walk._is_straight, "axes[m + 1 :]", "axes[m + 1 : m + 1]", FEW),
    "nothing straight": Mutant(walk._is_straight, "axes[m + 1 :]", "axes[m:]", FEW),
    "elements without rows": Mutant(
        Entry.elements, "(self.line, self.rows, *self.axes)", "(self.line, *self.axes)", all_small
    ),
    "parts that are read again": Mutant(Entry.read, " if axis.origin", "", FEW),
    "constants that are read": Mutant(Entry.read, "known * prod", "prod", FEW),
}


@pytest.mark.no_cover
@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_tables_are_noticed(name: str) -> None:
    see_noticed(MUTANTS[name])
