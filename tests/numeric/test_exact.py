"""Sums of products over the reals: exact, whichever engine computes them."""

import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.loops import for_each
from tests.numeric.sliding import sliding

from sonnx.numeric import exact
from sonnx.numeric.exact import exact_sum_of_products
from sonnx.numeric.windows import Windows

Array = NDArray[Any]
Draw = Callable[[], Fraction]


def fill(draw: Draw, *shape: int) -> Array:
    result = np.empty(shape, dtype=object)
    result.reshape(-1)[:] = [draw() for _ in range(result.size)]
    return result


def plain_loop(x: Array, weights: Array, start: Array, taps: int, positions: int) -> Array:
    """start[g,c] + Σ_channel Σ_tap x[b,channel,p+tap]·w[g,c,k], term by term with Fractions."""
    groups, outputs, terms = weights.shape
    result = np.empty((len(x), groups, outputs, positions), dtype=object)
    for b, g, c, p in np.ndindex(result.shape):
        total = start[g, c]
        for k in range(terms):
            channel = g * (x.shape[1] // groups) + k // taps
            total += x[b, channel, p + k % taps] * weights[g, c, k]
        result[b, g, c, p] = total
    return result


def check(x_of: Draw, w_of: Draw, s_of: Draw, *, groups: int = 2, inputs: int = 3, taps: int = 2) -> None:
    batch, outputs, positions = 2, 3, 4
    x = fill(x_of, batch, groups * inputs, positions + taps - 1)
    weights, start = fill(w_of, groups, outputs, inputs * taps), fill(s_of, groups, outputs)
    result = exact_sum_of_products(x, sliding(groups, taps, positions), weights, start)
    assert result.shape == (batch, groups, outputs, positions)
    assert result.tolist() == plain_loop(x, weights, start, taps, positions).tolist()
    assert {type(value) for value in result.flat} == {Fraction}


GENERATOR = random.Random(8)


def small() -> Fraction:
    return Fraction(GENERATOR.randint(-9, 9), GENERATOR.randint(1, 9))


def lifted_float() -> Fraction:
    return Fraction(float(np.float32(GENERATOR.gauss(0, 1))))


def integer(bits: int) -> Draw:
    return lambda: Fraction(GENERATOR.choice([-1, 1]) * GENERATOR.randrange(2 ** (bits - 1), 2**bits))


def wide() -> Fraction:
    """Doubles of any exponent: no fixed point of reasonable length holds two of them."""
    return Fraction(GENERATOR.uniform(-2, 2)) * Fraction(2) ** GENERATOR.randint(-1000, 1000)


def wild() -> Fraction:
    """Denominators without common factors; a 0 would have none."""
    return Fraction(GENERATOR.choice([-1, 1]) * GENERATOR.randint(1, 99), GENERATOR.getrandbits(800) * 2 + 1)


DRAWS = [small, lifted_float, integer(10), integer(200), wide, wild]


def no_slices(*_: Any) -> None:
    """What the slices say where exponents spread too far."""


def never(*_: Any) -> None:
    raise AssertionError("this engine is not wanted here")


@for_each("x_of", DRAWS)
@for_each("w_of", DRAWS)
def test_sums_of_products_are_exact_whatever_the_numbers(x_of: Draw, w_of: Draw) -> None:
    check(x_of, w_of, small)


@pytest.mark.parametrize("draw", [small, lifted_float, integer(62), integer(200)])
def test_slices_of_doubles_alone_are_exact(draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "_by_flint", never)
    check(draw, draw, draw)


@pytest.mark.parametrize("draw", DRAWS)
def test_rational_matrices_alone_are_exact(draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "_by_slices", no_slices)
    check(draw, draw, draw)


def test_rational_matrices_are_multiplied_in_pieces_between_which_a_run_can_be_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flint_matrix, largest = exact._flint_matrix, [0]

    def noted(values: Array) -> Any:
        largest.append(values.size)
        return flint_matrix(values)

    monkeypatch.setattr(exact, "_flint_matrix", noted)
    # Numbers of about 807 bits; 6 terms, 3 rows, 4 columns.
    for most, size in ((1, 1), (1700, 2), (6 * 810, 6), (6 * 3 * 810, 18), (2**26, 24)):
        monkeypatch.setattr(exact, "_WORK_AT_ONCE", most)
        largest[:] = [0]
        check(wild, wild, wild)
        assert max(largest) == size
    for sizes in ((1, 1, 1), (5, 9, 70), (2304, 256, 3136)):
        for bits in (2, 900, 2**20, 2**30):
            work = math.prod(exact._steps(*sizes, bits)) * bits
            assert work <= max(2**26, bits)


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("draw", [wide, wild])
def test_numbers_that_would_need_many_slices_go_to_rational_matrices(
    draw: Draw, place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = []
    by_flint = exact._by_flint

    def noted(*arguments: Any) -> Any:
        called.append(True)
        return by_flint(*arguments)

    monkeypatch.setattr(exact, "_by_flint", noted)
    draws = [small, small, small]
    draws[place] = draw
    if draw is wide:
        draws[0] = draws[1] = wide
    check(draws[0], draws[1], draws[2])
    assert called


@pytest.mark.parametrize("bits", [1, 24, 25, 26, 52, 53, 61, 62, 63, 64, 128])
@pytest.mark.parametrize(("inputs", "taps"), [(1, 1), (3, 1), (7, 1), (2, 4), (5, 3), (4, 4)])
def test_the_largest_numerators_of_a_length_and_the_most_terms_stay_exact(
    bits: int, inputs: int, taps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact, "_by_flint", never)
    for sign in (1, -1):
        check(
            lambda: Fraction(2**bits - 1),
            lambda sign=sign: Fraction(sign * (2**bits - 1)),  # type: ignore[misc]  # the default binds it
            lambda: Fraction(1),
            inputs=inputs,
            taps=taps,
        )


def test_the_start_may_have_any_denominator() -> None:
    check(small, small, lambda: Fraction(GENERATOR.randint(-9, 9), 2**70 + 1))


@pytest.mark.parametrize("engine", ["_by_slices", "_by_flint"])
def test_zeros_give_the_start(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if engine == "_by_flint":
        monkeypatch.setattr(exact, "_by_slices", no_slices)
    for x_of, w_of in ((Fraction, small), (small, Fraction), (Fraction, Fraction)):
        check(x_of, w_of, small)
        check(x_of, w_of, Fraction)


@pytest.mark.parametrize("draw", [small, wild])
def test_a_sum_without_terms_is_its_start(draw: Draw) -> None:
    x, weights, start = fill(small, 2, 0, 4), np.empty((2, 3, 0), dtype=object), fill(draw, 2, 3)
    result = exact_sum_of_products(x, sliding(2, 1, 4), weights, start)
    assert result.tolist() == [[[[value] * 4 for value in row] for row in start.tolist()]] * 2


@pytest.mark.parametrize(("batch", "outputs", "positions"), [(0, 3, 4), (2, 0, 4), (2, 3, 0)])
def test_a_result_without_elements_needs_no_engine(
    batch: int, outputs: int, positions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact, "_by_slices", never)
    monkeypatch.setattr(exact, "_by_flint", never)
    result = exact_sum_of_products(
        fill(small, batch, 2, 5),
        sliding(2, 2, positions),
        fill(small, 2, outputs, 2),
        fill(small, 2, outputs),
    )
    assert result.shape == (batch, 2, outputs, positions)


def test_windows_over_zeros_around_an_empty_tensor_give_the_start() -> None:
    windows = Windows(lambda x: [np.zeros((len(x), 1, 2), dtype=x.dtype)], (2,))
    result = exact_sum_of_products(
        np.empty((1, 1, 0), dtype=object), windows, fill(small, 1, 1, 1), np.array([[Fraction(5)]])
    )
    assert result.tolist() == [[[[5, 5]]]]


def test_positions_of_several_axes_keep_their_shape() -> None:
    x = fill(small, 1, 1, 2, 3)
    result = exact_sum_of_products(
        x, Windows(lambda y: [y], (2, 3)), np.array([[[Fraction(2)]]]), np.array([[Fraction(1)]])
    )
    assert result.tolist() == [[[[[1 + 2 * value for value in row] for row in x[0, 0].tolist()]]]]
