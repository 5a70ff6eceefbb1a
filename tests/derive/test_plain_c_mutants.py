"""Wrong walks to plain C: each is noticed by a comparison of bits, a sanitizer, a text or a proof."""

from collections.abc import Callable
from functools import partial
from subprocess import CalledProcessError
from typing import Any

import numpy as np
import pytest
from tests.derive import plain_walk
from tests.derive import test_plain_c_text as texts
from tests.derive import test_plain_c_values as values
from tests.derive.plain_walk import COMPILERS, needs_compiler, run_c
from tests.prove.projects import frama_on, needs_frama_c, tiny

from sonnx.derive import plain_c, plain_expressions, plain_folds, plain_statements, plain_terms, ranges
from sonnx.derive.c_types import REALS
from sonnx.derive.plain_expressions import CWriter
from sonnx.derive.plain_pieces import EQUALITY, Piece, binary
from sonnx.derive.plain_statements import Body
from sonnx.derive.plain_terms import COMPARISONS, Writer
from sonnx.model.dtype import DType
from sonnx.prove import wp
from sonnx.terms.tensors import Given, Made, inside, tensor
from sonnx.terms.term import Term
from sonnx.terms.tracing import tensorwise
from sonnx.terms.words import select

pytestmark = [pytest.mark.mutant, needs_compiler]

Change = Callable[[pytest.MonkeyPatch], None]


def read_twice_behind_a_guard() -> None:
    x = np.arange(3, dtype=np.float32)

    def defined(X: Given) -> Made:
        return tensor((5,), lambda i: select(inside((i - 1,), X.shape), X[i - 1] * X[i - 1], 7))

    found = run_c(tensorwise(defined), {"X": x}, {"X": "float"}, ("float", (5,)))
    values.same(found, np.array([7, 0, 1, 4, 7], np.float32))


def other_way_round(self: Writer, word: str, real: str, a: Piece, b: Piece) -> Piece:
    return binary(*COMPARISONS[word], b, a)


def without_inner_roundings(self: Writer, term: Term, wanted: DType) -> Piece:
    """The value of a sum or product of halves as it is in float."""
    if self.kind(term) is DType.FLOAT16 and term.word in ("add", "multiply"):
        arguments = [without_inner_roundings(self, each, wanted) for each in term.arguments]
        return self.calculated(term, REALS[DType.FLOAT16], arguments)
    return VALUE(self, term, wanted)


VALUE = Writer.value
BY = CWriter._by
LOOPS = plain_folds.loops
PLAINLY = plain_terms.plainly


def one_step_too_few(fold: Term, *rest: Any) -> list[str]:
    size = fold.data[0][0]
    return [line.replace(f"< {size};", f"< {size - 1};") for line in LOOPS(fold, *rest)]


RANGE = ranges._range


def remainder_of_ends(term: Term, arguments: Any, known: Any) -> Any:
    if term.word == "remainder":
        (low, high), (size, _) = arguments
        return low % size, high % size
    return RANGE(term, arguments, known)


def change(target: Any, name: str, new: Any) -> Change:
    return lambda monkeypatch: monkeypatch.setattr(target, name, new)


def without_key(table: dict[Any, Any], key: Any) -> Change:
    return lambda monkeypatch: monkeypatch.delitem(table, key)


MUTANTS: dict[str, tuple[Change, Callable[[], None]]] = {
    "comparisons the other way round": (
        change(CWriter, "compared", other_way_round),
        partial(values.test_comparisons_give_one_or_zero, "float"),
    ),
    "a NaN is what equals itself": (
        change(CWriter, "unordered", lambda _self, _real, a: binary("==", EQUALITY, a, a)),
        partial(values.test_a_nan_is_told_from_numbers, "double"),
    ),
    "reads before their guard": (
        change(plain_statements, "_guards", lambda _term: False),
        read_twice_behind_a_guard,
    ),
    "sums of halves that stay in float": (
        change(Writer, "value", without_inner_roundings),
        partial(values.test_every_operation_on_floats_rounds_once, "float16", "gcc"),
    ),
    "what is left of the other one": (
        change(CWriter, "_by", lambda _self, name, *given: BY(_self, name, *given[::-1])),
        partial(values.test_every_operation_on_floats_rounds_once, "double", "gcc"),
    ),
    "halves negated in float": (
        change(CWriter, "masked", lambda _self, _sign, _bits, a: a),
        values.test_the_sign_of_a_half_is_changed_in_its_bits,
    ),
    "int32 calculated in int": (
        without_key(plain_expressions._THROUGH, DType.INT32),
        partial(values.test_integers_wrap, "int32", "gcc"),
    ),
    "int64 calculated in int64": (
        without_key(plain_expressions._THROUGH, DType.INT64),
        partial(values.test_integers_wrap, "int64", "gcc"),
    ),
    "uint16 calculated in int": (  # clang looks at the product before it is cut off, gcc does not
        without_key(plain_expressions._THROUGH, DType.UINT16),
        partial(values.test_integers_wrap, "uint16", COMPILERS[-1]),
    ),
    "one step too few": (
        change(plain_c, "loops", one_step_too_few),
        partial(values.test_a_fold_takes_one_term_after_the_other, "float", "separate", 5),
    ),
    "fused where separate is asked for": (
        change(plain_c, "plainly", lambda term, element, fused: PLAINLY(term, element, fused=not fused)),
        partial(values.test_a_fold_takes_one_term_after_the_other, "float", "fused", 5),
    ),
    "indices divided towards zero": (
        change(plain_terms, "range_of", lambda _term, _ranges: (0, 0)),
        values.test_indices_are_divided_downwards,
    ),
    "a remainder between those of the ends": (
        change(ranges, "_range", remainder_of_ends),
        texts.test_ranges_of_indices,
    ),
    "ends of ranges left out": (
        change(ranges, "_compared", lambda each, arguments, _known: each.word == "less" and bool(arguments)),
        partial(values.test_a_guard_keeps_reads_inside, "float"),
    ),
    "axes in another order": (
        change(plain_c, "place", lambda flat, sizes, axis: f"{flat} % {sizes[axis]}"),
        partial(values.test_a_guard_keeps_reads_inside, "int16"),
    ),
    "products in sums": (
        change(Body, "_is_sealed", lambda _self, _each, _part: False),
        texts.test_a_fold_is_a_loop_and_its_contract_says_what_the_sum_is_after_so_many_steps,
    ),
}


@pytest.fixture(autouse=True)
def sanitized(monkeypatch: pytest.MonkeyPatch) -> None:
    more = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    monkeypatch.setattr(plain_walk, "STRICT", [*plain_walk.STRICT, *more])


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_wrong_walk_is_noticed(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong, noticed = MUTANTS[mutant]
    noticed()
    with monkeypatch.context() as patch:
        wrong(patch)
        # A comparison fails, the text is no C, or a sanitizer ends the program.
        with pytest.raises((AssertionError, CalledProcessError)):
            noticed()


# The walk that is wrong writes C; the contract is written by another one, so a proof fails.
REJECTED: dict[str, tuple[Change, str, str, str]] = {
    "comparisons the other way round": (
        change(CWriter, "compared", other_way_round),
        "Clip",
        "_element",
        "@ensures",
    ),
    "one step too few": (change(plain_c, "loops", one_step_too_few), "Conv", "_element", "@invariant"),
    "reads without their guard": (
        change(CWriter, "_number_select", lambda self, term, kind: self.held(term.arguments[1], kind)),
        "Conv",
        "_element",
        "index_bound",
    ),
}


@pytest.mark.prover
@needs_frama_c
@pytest.mark.parametrize("mutant", REJECTED)
def test_a_wrong_walk_is_rejected_by_a_proof(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong, operator, end, properties = REJECTED[mutant]
    wrong(monkeypatch)
    sources = tiny(operator)
    with frama_on(sources, properties) as frama:
        names = [name for name in wp.defined_functions(frama) if name.startswith("node_0_")]
        goals = wp.prove_function(frama, min(names, key=len) + end, 1, hasty=True)
    assert goals
    assert not all(goal.good for goal in goals)
