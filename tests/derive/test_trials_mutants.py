"""What trials hold, by hand for each part of them: wrong trials are noticed."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from tests.derive.wrong_walks import Mutant, see_noticed

from sonnx.check.calls import check_call
from sonnx.derive import trials as walk
from sonnx.derive.trials import stopping, trials
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array
from sonnx.operators import operator
from sonnx.terms.term import Term
from sonnx.terms.tracing import elementwise
from sonnx.terms.words import select
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.special_values import special_vector
from sonnx.vocabulary.trial import Trial

pytestmark = pytest.mark.measured


def tried(name: str | Operator, dtype: DType, seed: int = 0) -> dict[str, Trial]:
    """The trials of an operator by their names, anew."""
    of = operator(name) if isinstance(name, str) else name
    return {each.name: each for each in trials(of, dtype, seed)}


def raw(array: Array) -> list[int]:
    found: list[int] = array.reshape(-1).view(f"u{array.itemsize}").tolist()
    return found


def seams(defined: Callable[[Term], Term], dtype: DType) -> Array:
    of = replace(operator("Relu"), definition=elementwise(lambda X: defined(X)))  # noqa: PLW0108  the name
    return tried(of, dtype)["seams-0"].inputs["X"]


def test_both_sides_of_every_comparison_are_tried_and_their_neighbours() -> None:
    def below(x: Term) -> Term:
        return select(x < 0, 0, x)

    def around(x: Term) -> Term:
        return select(x == 1, 5, select(x <= 7, x, 9))

    def ends(x: Term) -> Term:
        return select(x < 127, x, select(x < -128, 1, x))

    assert seams(below, DType.INT8).tolist() == [-2, -1, 0, 1, 2]
    assert seams(around, DType.INT8).tolist() == [-1, 0, 1, 2, 3, 5, 6, 7, 8, 9]
    assert seams(ends, DType.INT8).tolist() == [-128, -128, -128, -127, -126, 125, 126, 127, 127, 127]
    # In the order of floats: 1 is 3c00 and 7 is 4700; from the next one on the answer is another.
    assert raw(seams(below, DType.FLOAT16)) == [0x8002, 0x8001, 0, 1, 2]
    assert raw(seams(lambda x: select(x < -2, x, 0), DType.FLOAT16)) == [
        0xC002,
        0xC001,
        0xC000,
        0xBFFF,
        0xBFFE,
    ]
    found = raw(seams(around, DType.FLOAT16))
    assert found[:10] == [*range(0x3BFE, 0x3C03), *range(0x3BFF, 0x3C04)]
    assert found[10:] == [*range(0x46FF, 0x4704)]
    beyond = raw(seams(lambda x: select(x < float("inf"), x, 0), DType.FLOAT16))
    assert beyond == [0x7BFE, 0x7BFF, 0x7C00, 0x7C00, 0x7C00]


def test_special_values_stand_beside_each_other() -> None:
    every = raw(special_vector(DType.FLOAT16, signalling=True))
    assert {0, 0x8000, 0x7C00, 0xFC00, 0x7C15, 1, 0x8001, 0x7BFF, 0x3C00} <= set(every)
    found = tried("Add", DType.FLOAT16)
    for name in ("special-values", "special-values-turn-1"):
        pairs = list(zip(*map(raw, found[name].inputs.values()), strict=True))
        assert sorted(pairs) == sorted(product(every, every))
    first, second = (
        list(map(raw, found[name].inputs.values())) for name in ("special-values", "special-values-turn-1")
    )
    assert first == second[::-1]
    several = list(tried("Max", DType.FLOAT16)["special-values-way-2"].inputs.values())
    assert len(several) == 3
    assert all(
        raw(each) != raw(other) for each, other in ((several[0], several[1]), (several[1], several[2]))
    )


def test_bounds_are_tried_in_every_pair_and_both_zeros_in_a_rest() -> None:
    bounded = tried("Clip", DType.FLOAT16)
    froms = [name for name in bounded if name.startswith("from-") and not name.endswith("-constant")]
    assert len(froms) == 9 * 9
    many = [each.inputs["input"] for name, each in bounded.items() if name.startswith("many-")]
    # Whole vectors, a rest of any length, and the zeros behind it.
    assert {each.size for each in many} == {131 + rest + 2 for rest in range(7)}
    assert all(set(raw(each[-2:])) == {0, 0x8000} for each in many)
    assert bounded["from-one-to-zero-constant"].constants == {"min", "max"}
    assert [float(each) for each in list(bounded["from-one-to-zero"].inputs.values())[1:]] == [1, 0]


def test_lengths_lie_beside_those_of_vectors_and_end_with_what_is_easily_seen() -> None:
    found = tried("Add", DType.INT8)
    sizes = {each.inputs["A"].size for each in found.values()}
    assert {
        0,
        1,
        3,
        15,
        16,
        17,
        31,
        33,
        63,
        65,
        127,
        8,
        32,
        64,
        95,
        128,
        137,
        255,
        256,
        257,
        300,
        5003,
    } <= sizes
    for length in (8, 32, 95, 300):
        a, b = (each.reshape(-1) for each in found[f"length-{length}"].inputs.values())
        # The second operand has it five places before.
        assert (a[-1], b[-1 - 5]) == (127, 127)
    first, second = (each.reshape(-1).tolist() for each in found["shape-matrix"].inputs.values())
    assert first[5:] == second[:-5]
    assert {f"shape-length-{size}" for size in (3, 15, 16, 17, 31, 33, 63, 65, 127)} <= set(found)
    thousands = found["thousands"].inputs
    assert raw(thousands["A"]) != raw(thousands["B"])
    assert {each.inputs["A"].ndim for each in found.values()} >= set(range(9))


def test_scalars_have_their_neighbours_and_are_signalling_and_usual_ones() -> None:
    found = tried("Clip", DType.FLOAT16)
    beside = found["beside-the-bounds"].inputs
    assert raw(beside["input"]) == [*range(0x48FE, 0x4903), *range(0x563E, 0x5643)]  # 10 and 100
    assert [float(beside[name]) for name in ("min", "max")] == [10, 100]
    for name, other, value in (("min", "max", 100), ("max", "min", 10)):
        signalling = found[f"signalling-{name}"].inputs
        assert raw(signalling[name]) == [0x7C15]
        assert float(signalling[other]) == value
    equal = found["both-minus-zero"].inputs
    assert raw(equal["min"]) == raw(equal["max"]) == [0x8000]
    scalars = {
        name: [float(each) for each in (trial.inputs["min"], trial.inputs["max"])]
        for name, trial in found.items()
        if trial.inputs["min"].ndim == 0
    }
    assert scalars["shape-matrix"] == [-1, 1]
    assert scalars["thousands"] == [0, 65504]


def test_conditions_are_of_every_byte_and_texts_are_long() -> None:
    found = tried("Where", DType.INT8)
    for name, held in (("condition-of-every-byte", set()), ("condition-of-every-byte-held", {"condition"})):
        # All of them, which fill vectors, and a rest behind them.
        assert raw(found[name].inputs["condition"]) == [*range(256), 0, 1, 2]
        assert found[name].constants == held
    for byte, held in ((2, set()), (128, {"condition"})):
        one = found[f"condition-of-byte-{byte}"]
        assert (raw(one.inputs["condition"]), one.inputs["condition"].ndim) == ([byte], 0)
        assert one.constants == held
    special = raw(found["special-values"].inputs["condition"])
    assert set(special) == {0, 1, 2, 127, 128, 254, 255}
    for shape in ("shape-matrix", "shape-length-127"):
        assert set(raw(found[shape].inputs["condition"])) == {0, 1}
    texts = tried("Where", DType.STRING)
    for name, size in (("long-texts", 5000), ("longer-texts", 70_000)):
        assert {len(each) // 10 * 10 for each in texts[name].inputs["X"].tolist()} == {size}


def test_every_attribute_every_number_of_operands_and_every_constant_is_tried() -> None:
    found = tried("HardSigmoid", DType.FLOAT16).values()
    alphas, betas = ({each.attributes[name] for each in found} for name in ("alpha", "beta"))
    some = {0.0, 1.0, -1.5, float(np.float32(0.1))}
    assert alphas == some | {float(np.float32(0.2))}
    assert betas == some | {0.5}
    several = tried("Max", DType.INT8).values()
    assert {len(each.inputs) for each in several} == {1, 2, 3, 5}
    none: frozenset[str] = frozenset()
    for name, held in (("Add", [{"A"}, {"B"}]), ("Clip", [{"min"}, {"max"}, {"min", "max"}]), ("Relu", [])):
        assert {each.constants for each in tried(name, DType.INT8).values()} == {none, *map(frozenset, held)}


def test_forty_trials_are_random_half_of_them_of_usual_numbers() -> None:
    found, others = tried("Add", DType.FLOAT16), tried("Add", DType.FLOAT16, 1)
    changed = {
        name
        for name in found
        if any(raw(found[name].inputs[each]) != raw(others[name].inputs[each]) for each in "AB")
    }
    random = [name for name in found if name.startswith("random-")]
    assert len(random) == 40
    assert changed <= set(random)
    assert len(changed) > 25  # some have no elements
    large = {"usual": 0, "bits": 0}
    for number in range(40):
        a = found[f"random-{number}"].inputs["A"].astype(np.float64)
        large["usual" if number % 2 else "bits"] += int((~(np.abs(a) < 2**10)).sum())
    assert (large["usual"], large["bits"] > 30) == (0, True)
    # Any bits are numbers mostly, and quiet NaNs seldom.
    bits = np.concatenate([found[f"random-{number}"].inputs["A"].reshape(-1) for number in range(0, 40, 2)])
    assert 0.6 < np.isfinite(bits).mean() < 1
    nans = [each for each in raw(bits) if each & 0x7FFF > 0x7C00]
    assert all(each & 0x200 for each in nans)


def test_trials_that_stop_hold_an_element_outside_the_domain_and_break_no_rule() -> None:
    found = list(stopping(operator("mod"), DType.INT8))
    assert [trial.name for trial in found] == [
        *("stops-alone", "stops-at-the-last", "stops-at-the-first", "stops-everywhere"),
        *(
            "stops-alone-way-1",
            "stops-at-the-last-way-1",
            "stops-at-the-first-way-1",
            "stops-everywhere-way-1",
        ),
    ]
    assert [trial.attributes["fmod"] for trial in found] == [0] * 4 + [1] * 4
    for trial in found:
        assert (trial.shows, trial.constants) == (("D-ALL-11",), frozenset())
        types = {key: TensorType(DType.INT8, array.shape) for key, array in trial.inputs.items()}
        assert not check_call(operator("mod"), Call("Mod", types, trial.attributes))
    alone, last, first, everywhere = (trial.inputs["B"] == 0 for trial in found[:4])
    assert (alone.shape, alone.item()) == ((), True)
    assert np.flatnonzero(last).tolist() == [last.size - 1]
    assert np.flatnonzero(first).tolist() == [0]
    assert everywhere.all()
    # Floats have a quotient by zero, and what has no domain stops nowhere.
    assert list(stopping(operator("div"), DType.FLOAT)) == []
    assert list(stopping(operator("add"), DType.INT8)) == []


def test_no_other_trial_says_that_it_shows_where_a_run_stops() -> None:
    for name in ("Div", "Mod"):
        assert all("D-ALL-11" not in trial.shows for trial in tried(name, DType.INT8).values())


SIDES = test_both_sides_of_every_comparison_are_tried_and_their_neighbours
BOUNDS = test_bounds_are_tried_in_every_pair_and_both_zeros_in_a_rest
SPECIAL = test_special_values_stand_beside_each_other
LENGTHS = test_lengths_lie_beside_those_of_vectors_and_end_with_what_is_easily_seen
SCALARS = test_scalars_have_their_neighbours_and_are_signalling_and_usual_ones
BYTES = test_conditions_are_of_every_byte_and_texts_are_long
WAYS = test_every_attribute_every_number_of_operands_and_every_constant_is_tried
RANDOM = test_forty_trials_are_random_half_of_them_of_usual_numbers
STOPS = test_trials_that_stop_hold_an_element_outside_the_domain_and_break_no_rule
SHOWN = test_no_other_trial_says_that_it_shows_where_a_run_stops
MUTANTS = {
    "one side alone": Mutant(
        walk._seams, "np.arange(-_BESIDE, _BESIDE + 1)", "np.arange(0, _BESIDE + 1)", SIDES
    ),
    "the place before the seam": Mutant(walk._places, "np.asarray(high)", "np.asarray(low)", SIDES),
    "the other half": Mutant(walk._places, "holds(middle) == before", "holds(middle) != before", SIDES),
    "no equality": Mutant(
        walk._conditions, '("less", "less_equal", "equal")', '("less", "less_equal")', SIDES
    ),
    "no less or equal": Mutant(
        walk._conditions, '("less", "less_equal", "equal")', '("less", "equal")', SIDES
    ),
    "no sign": Mutant(walk._in_order, "-magnitude, magnitude", "magnitude, magnitude", SIDES),
    "no infinity": Mutant(walk._in_order, "magnitude <= form.infinity", "magnitude < form.infinity", SIDES),
    "NaNs beyond the end": Mutant(
        walk._elements, "np.where(magnitude > form.infinity, form.infinity, magnitude)", "magnitude", SIDES
    ),
    "negative floats without their sign": Mutant(
        walk._elements, "magnitude | np.uint64(form.sign_bit)", "magnitude", SIDES
    ),
    "integers that wrap at the end": Mutant(
        walk._elements,
        "np.where(places < least, least, np.where(places > most, most, places))",
        "places",
        SIDES,
    ),
    "one number of a comparison": Mutant(walk._literals, "each.denominator == 1", "each > 0", SIDES),
    "no signalling NaN": Mutant(walk._special, "signalling=True", "signalling=False", SPECIAL),
    "the same beside the same": Mutant(
        walk._columns, "np.repeat(every, len(every))", "np.tile(every, len(every))", SPECIAL
    ),
    "a third operand like the second": Mutant(
        walk._columns, "np.roll(rest, place * _APART)", "rest", SPECIAL
    ),
    "every operand in one place": Mutant(
        walk._special, "(at + turn) % len(columns)", "at % len(columns)", SPECIAL
    ),
    "no zeros behind": Mutant(walk._special, ", *_zeros(dtype)]", "]", BOUNDS),
    "zeros of one sign": Mutant(walk._zeros, 'name.endswith("zero")', 'name == "zero"', BOUNDS),
    "the same rest every time": Mutant(walk._special, "_BODY + place % 7", "_BODY", BOUNDS),
    "few bounds": Mutant(walk._special, "repeat=len(alone))", "repeat=min(1, len(alone)))", BOUNDS),
    "operands alike": Mutant(walk._filled, "first + place * _APART", "first", LENGTHS),
    "ends alike": Mutant(
        walk._shapes, "special_block(dtype, length, at * _APART)", "special_block(dtype, length)", LENGTHS
    ),
    "few shapes": Mutant(
        walk._shapes, "enumerate(SHAPES.items())", "enumerate(list(SHAPES.items())[:-1])", LENGTHS
    ),
    "no lengths": Mutant(walk._shapes, "enumerate(LONGER)", "enumerate(LONGER[1:])", LENGTHS),
    "thousands alike": Mutant(walk._shapes, "THOUSANDS + place)", "THOUSANDS)", LENGTHS),
    "neighbours on one side": Mutant(
        walk._beside, "np.arange(-_BESIDE, _BESIDE + 1)", "np.arange(-_BESIDE, 1)", SCALARS
    ),
    "two signalling scalars": Mutant(
        walk._beside, "{name: signalling}", "dict.fromkeys(usual, signalling)", SCALARS
    ),
    "one scalar for both": Mutant(walk._beside, "values[min(place, 1)]", "values[0]", SCALARS),
    "the lower bound above": Mutant(
        walk._usual, "values[min(place, 1)]", "values[1 - min(place, 1)]", SCALARS
    ),
    "ends never far": Mutant(walk._usual, "_FAR if far else _NEAR", "_NEAR", SCALARS),
    "half of the bytes": Mutant(walk._bytes, "name: EVERY_BYTE}", "name: EVERY_BYTE[:128]}", BYTES),
    "whole vectors of bytes": Mutant(walk._bytes, "name: EVERY_BYTE}", "name: EVERY_BYTE[:256]}", BYTES),
    "bytes that are never held": Mutant(walk._bytes, '(place, "-held")', '(0, "-held")', BYTES),
    "conditions of 0 and 1": Mutant(
        walk._special, "np.array(_BYTES, np.uint8)", "np.array(_TRUTHS, np.uint8)", BYTES
    ),
    "conditions that all hold": Mutant(walk._filled, "[True, False, False]", "[True, True, True]", BYTES),
    "texts of sixteen bits": Mutant(walk._long_texts, "_LONG_TEXT * 14", "_LONG_TEXT", BYTES),
    "one attribute": Mutant(walk._ways, "number * _step(len(settings))", "0", WAYS),
    "neighbours alone": Mutant(walk._step, "(7, 5, 3, 1)", "(1,)", WAYS),
    "no default": Mutant(walk._values, "for each in first)", "for each in ())", WAYS),
    "two operands": Mutant(walk._ways, "counts[number % len(counts)]", "counts[0]", WAYS),
    "the last operand never held": Mutant(
        walk._held, "for name in way.names)", "for name in way.names[:-1])", WAYS
    ),
    "bounds held together alone": Mutant(
        walk._held, ", *(frozenset({name}) for name in sorted(way.alike))", ",", WAYS
    ),
    "bits alone": Mutant(walk._random, "number % 2 and", "number % 2 and not", RANDOM),
    "no place at which a run stops": Mutant(walk.stopping, "[places] = outside", "[:0] = outside", STOPS),
    "a run stops everywhere": Mutant(walk.stopping, "[places] = outside", "[:] = outside", STOPS),
    "floats stop too": Mutant(walk.stopping, "not in domain.kinds", "in ()", STOPS),
    "one way to stop": Mutant(
        walk.stopping, "enumerate(_ways(operator, dtype))", "enumerate(_ways(operator, dtype)[:1])", STOPS
    ),
    "every trial stops": Mutant(walk._ways, "each != domain.ruling", "each", SHOWN),
    "one seed": Mutant(walk._every, "np.random.default_rng(seed)", "np.random.default_rng(0)", RANDOM),
}


@pytest.mark.no_cover
@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_trials_are_noticed(name: str) -> None:
    see_noticed(MUTANTS[name])
