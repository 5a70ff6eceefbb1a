"""What the figures of operators show, by hand."""

from itertools import product
from math import inf, isnan, nan

from docs.folders import run
from tests.drawing.test_figures import FIGURES, SVG, labels, parsed

from sonnx.drawing import svg
from sonnx.drawing.curves import shown
from sonnx.operators.onnx.clip.figures import clip
from sonnx.operators.xla.clamp.figures import clamp

MINUS = "\u2212"


def words(name: str) -> str:
    """All texts of a figure, in the order in which they are drawn."""
    return " ".join(labels(tuple(FIGURES), name))


def written(text: str) -> str:
    return text.replace("-", MINUS).replace("oo", "\u221e")


def painted(name: str, look: svg.Look) -> int:
    """How many rectangles of a figure have the colour of a look."""
    (figure,) = (figure for figure in FIGURES if figure.name == name)
    return sum(node.attrib["fill"] == look.fill for node in parsed(figure.draw()).iter(f"{SVG}rect"))


def test_clip_table_lets_a_nan_bound_limit_nothing() -> None:
    table = words("clip-nan-bounds")
    for column in (
        "is min -oo -1 -oo is max 1 +oo +oo",
        "of -oo -oo -1 -oo of -3 -3 -1 -3 of 0.5 0.5 0.5 0.5 of 3 1 3 3 of +oo 1 +oo +oo of NaN NaN NaN NaN",
    ):
        assert written(column) in table


def test_where_figure_shows_the_documented_result() -> None:
    assert "output (3, 2) 1 2 3 9 8 6" in words("where-choice")
    # The condition, its operand and the output have an element in the colour of Y; the key has one more.
    assert painted("where-choice", svg.ORANGE) == 2 + 6 + 2 + 1


def test_expand_figure_shows_the_resulting_shape() -> None:
    assert "output (2, 3, 6) [0, :, :] 1 1 1 1 1 1 2 2 2 2 2 2 3" in words("expand-example")
    assert "input 1 3 1 shape 2 1 6 output 2 3 6" in words("expand-example")


def test_broadcast_figures_make_ranks_and_sizes_equal() -> None:
    assert "X0 2 3 4 X1 1 3 1 X2 1 1 1 Z  2 3 4" in words("broadcast-sizes")
    assert painted("broadcast-sizes", svg.ORANGE) == 1 + 3
    assert "Z0 (2, 3) 1 2 3 1 2 3 Z1 (2, 3) 10 10 10 20 20 20" in words("broadcast-whole")


def test_stride_figure_shows_two_lines_and_three_columns() -> None:
    assert "\u230a(5 \u2212 2)/2\u230b + 1 = 2 lines, \u230a(8 \u2212 2)/3\u230b + 1 = 3 columns" in words(
        "conv-strides"
    )
    # Each place is once in X and once in Y.
    assert all(words("conv-strides").count(f"{m},{n}") == 2 for m, n in product(range(2), range(3)))
    assert painted("conv-strides", svg.BLUE) == 4 + 1


def test_padding_figure_puts_the_zeros_where_the_pads_say() -> None:
    cells = words("conv-padding").split()[: 6 * 9]
    rows = [" ".join(cells[9 * line :][:9]) for line in range(6)]
    assert rows[0] == rows[4] == rows[5] == "0 0 0 0 0 0 0 0 0"
    assert rows[1:4] == ["0 0 1 2 3 4 0 0 0", "0 0 5 6 7 8 0 0 0", "0 0 9 10 11 12 0 0 0"]


def test_order_figure_shows_that_the_modes_differ() -> None:
    assert "acc becomes 2\u207b\u00b9\u00b9 acc becomes 2\u207b\u00b9\u00b9 + 2\u207b\u00b2\u2074" in words(
        "conv-order"
    )


def test_concatenate_figure_shows_the_documents_example_and_paints_by_operand() -> None:
    name = "xla-concatenate-move"
    assert (
        "dimension = 0 operands0 (3, 2) 1 2 3 4 5 6 operands1 (1, 2) 7 8 output (4, 2) 1 2 3 4 5 6 7 8"
        in (words(name))
    )
    assert "output (3, 4) 1 2 7 8 3 4 9 10 5 6 11 12" in words(name)
    # The first operand has 6 elements, the second 2 and then 6; each is drawn once more in the output.
    assert (painted(name, svg.BLUE), painted(name, svg.ORANGE)) == (4 * 6, 2 * 2 + 2 * 6)


def test_collapse_figure_keeps_one_order_in_all_results() -> None:
    figure = words("xla-collapse-move")
    for shape in ("(8, 3)", "(4, 6)"):
        assert f"output {shape} {' '.join(map(str, range(1, 25)))}" in figure
    # Every plane has a colour of its own, which its six elements keep.
    assert painted("xla-collapse-move", svg.PURPLE) == 2 * 2 * 6


def test_broadcast_figure_puts_the_new_sizes_first_and_copies_the_operand_eight_times() -> None:
    figure = words("xla-broadcast-move")
    assert "broadcast_sizes = [2, 4] operand (3,) 1 2 3 output (2, 4, 3) [0, :, :]" in figure
    assert figure.partition("broadcast_sizes = [3]")[0].count("1 2 3") == 1 + 2 * 4


def test_clamp_table_shows_where_clip_differs() -> None:
    table = words("xla-clamp-clip")
    assert written("Clamp +0 -0 -0 NaN NaN NaN -1 1 Clip -0 +0 +0 -3 -1 NaN -1 1") in table
    assert (table.count("both alike"), painted("xla-clamp-clip", svg.PURPLE)) == (3, 5)


def test_clamp_and_clip_differ_only_for_nan_bounds_and_zeros_as_the_caption_says() -> None:
    found = set()
    for x, low, high in product((-inf, -2.0, -1.0, -0.0, 0.0, 1.0, 2.0, inf, nan), repeat=3):
        if shown(clamp(run, low, high, x)) != shown(clip(run, low, high, x)):
            unlike = {"0.0", "-0.0"} <= {str(value) for value in (x, low, high)}
            assert isnan(low) or isnan(high) or unlike
            found.add("NaN" if isnan(low) or isnan(high) else "zeros")
    assert found == {"NaN", "zeros"}


def test_rounding_once_and_twice_end_at_different_numbers() -> None:
    figure = words("xla-convert-element-type-twice")
    assert "the nearest 1.0009765625" in figure
    assert "is lost 1.00048828125 f16, the even one 1.0" in figure


def test_integer_figure_truncates_saturates_and_makes_zero_of_nan() -> None:
    figure = words("xla-convert-element-type-integers")
    assert written("x -oo -129 -128.9 -1.9 -0.9 127.9 128 255.9 256 +oo NaN") in figure
    assert written("s8 -128 -128 -128 -1 0 127 127 127 127 127 0") in figure
    assert "u8 0 0 0 0 0 127 128 255 255 255 0" in figure


def test_dilation_figure_puts_zeros_between_and_leaves_holes() -> None:
    figure = words("xla-conv-with-general-padding-dilations")
    assert "1 0 0 2 0 0 0 0 3 0 0 4 0 0 0 0 5 0 0 6 lines" in figure
    # The window's holes are cells without a label.
    assert "0,0 0,1 1,0 1,1 lines" in figure


def test_deconvolution_figure_shows_seven_sums() -> None:
    figure = words("xla-conv-with-general-padding-deconvolution")
    assert "1 10 100 low 2, high 2 0 0 1 0 2 0 3 0 0 100 10 201 20 302 30 3" in figure


def test_negative_padding_figure_shows_what_is_left() -> None:
    name = "xla-conv-with-general-padding-negative"
    for row in ("(-1, 2) 1 2 3 4 5 2 3 4 5 0 0", "(0, -2) 1 2 3 4 5 1 2 3 (", "(2, -1) 1 2 3 4 0 0 1 2 3"):
        assert written(row) in words(name)
    assert written("(-5, 5) 1 2 3 0 0 0 element") in words(name)
    assert painted(name, svg.FADED) == 1 + 2 + 1 + 3 + 1


def test_order_figure_shows_both_orders() -> None:
    figure = words("xla-conv-with-general-padding-order")
    assert "then padded 1 2 1 0 0 2 0 0 2 0 right" in figure
    assert "then dilated 1 2 2 0 2 0 0 0 wrong" in figure


def test_same_figures_put_the_odd_zero_at_the_high_end_and_count() -> None:
    for row in (
        "1 10 low 0, high 1 1 2 3 0 21 32 3",
        "1 10 100 low 1, high 1 0 1 2 3 0 210 321 32",
        "1 10 100 1000 low 1, high 2 0 1 2 3 0 0 3210 321 32",
    ):
        assert row in words("xla-conv-same")
    figure = words("xla-conv-same-strides")
    assert "0 1 2 3 4 5 0 210 432 54 positions \u23085 / 2\u2309 = 3" in figure
    assert "1 2 3 4 0 321 43 positions \u23084 / 2\u2309 = 2" in figure
    assert "+ 3 \u2212 5 = 2" in figure
    assert "+ 3 \u2212 4 = 1" in figure
