"""Every kernel of Conv gives the bits of the definition: all types, modes, widths of vectors and tails."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle, islice, product

import numpy as np
import pytest
from tests import budgets
from tests.budgets import examples, thinned
from tests.loops import for_each
from tests.native.support import WIDTHS, Conv, assert_defined, functions, planned, quick_compiler

from sonnx.native.machine import vector_bytes

KINDS = [(dtype, mode) for dtype in ("float", "double") for mode in ("separate", "fused")]
KINDS += [("float16", "separate")]  # which is fused as well: products of two are exact in float
THREADS = (1, 2, 3, 40)
# In the quick tier other widths than the machine's are tried in one type: compiling takes most of the time.
KINDS_AND_WIDTHS = [
    (*kind, width)
    for kind in KINDS
    for width in WIDTHS
    if budgets.deep or kind == KINDS[0] or width == vector_bytes()
]
each_kind = pytest.mark.parametrize(("dtype", "mode", "width"), KINDS_AND_WIDTHS, indirect=["width"])


@pytest.fixture(scope="session")
def quick(tmp_path_factory: pytest.TempPathFactory) -> str:
    return quick_compiler(tmp_path_factory.mktemp("quick"))


@pytest.fixture
def width(request: pytest.FixtureRequest, quick: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """A width of vectors; code for another one than the machine's is compiled in a hurry."""
    if request.param != vector_bytes():
        monkeypatch.setenv("SONNX_CC", quick)
    return int(request.param)


# Shapes by the kernel that they are for, with a reason each.
SHAPES: dict[str, tuple[str, Conv]] = {
    "one element": ("sums_dense", Conv((1, 1, 1, 1), 1, (1, 1))),
    "1x1 that reads X itself": ("sums_dense", Conv((2, 7, 5, 9), 13, (1, 1))),
    "3x3 with whole lines": ("sums_dense", Conv((1, 1, 4, 40), 11, (3, 3), pads=(1, 1, 1, 1))),
    "3x3 with lines that end within vectors": (
        "sums_dense",
        Conv((2, 2, 4, 11), 9, (3, 3), pads=(1, 0, 2, 3), clipped="constant"),
    ),
    "lines shorter than vectors": ("sums_dense", Conv((1, 2, 40, 3), 5, (2, 2), pads=(1, 1, 0, 0))),
    "one column": ("sums_dense", Conv((1, 2, 40, 1), 6, (3, 1))),
    "several blocks of terms": ("sums_dense", Conv((1, 65, 4, 10), 4, (3, 3), clipped="input")),
    "several blocks and idle rows": ("sums_dense", Conv((2, 98, 3, 4), 3, (3, 2), pads=(0, 1, 0, 0))),
    "several tiles a task": ("sums_dense", Conv((1, 1, 40, 40), 4, (1, 2), clipped="constant")),
    "stride 2": ("sums_dense", Conv((1, 2, 11, 39), 8, (3, 3), (2, 2), pads=(1, 1, 1, 1))),
    "stride 2 of a short line": ("sums_dense", Conv((1, 3, 30, 6), 8, (2, 3), (1, 2), pads=(0, 1, 0, 2))),
    "stride 2 of a line shorter than two": ("sums_dense", Conv((1, 2, 30, 3), 8, (2, 1), (1, 2))),
    "stride 2, all padding": ("sums_dense", Conv((1, 1, 2, 1), 4, (3, 2), (2, 2), pads=(3, 7, 2, 9))),
    "dilations that nobody takes": ("sums_dense", Conv((1, 2, 3, 4), 2, (1, 1), (1, 1), (2**62, 2**61))),
    "dilations that nobody takes, depthwise": (
        "sums_depthwise",
        Conv((1, 3, 3, 40), 3, (1, 1), (1, 1), (2**62, 2**61), depthwise=True),
    ),
    "dilations that nobody takes, few columns": (
        "sums_across",
        Conv((1, 3, 3, 1), 3, (1, 1), (1, 1), (2**62, 2**61), depthwise=True),
    ),
    "strides that nobody takes": ("sums_dense", Conv((1, 2, 3, 4), 1, (1, 1), (2**40, 2**62))),
    "stride 3": ("sums_dense", Conv((1, 2, 20, 40), 9, (3, 3), (3, 3), pads=(2, 1, 0, 2))),
    "stride 2 down alone": ("sums_dense", Conv((1, 2, 20, 20), 9, (3, 3), (2, 1))),
    "dilations": ("sums_dense", Conv((1, 2, 17, 33), 6, (3, 3), (1, 2), (2, 3), (2, 3, 2, 1))),
    "few pixels, many channels": ("sums_swapped", Conv((2, 3, 4, 5), 40, (3, 3), clipped="constant")),
    "one pixel of a whole image": ("sums_swapped", Conv((1, 1, 40, 40), 9, (40, 40))),
    "seven pixels": ("sums_swapped", Conv((1, 65, 3, 9), 9, (3, 3), clipped="input")),
    "few pixels at stride 2": ("sums_swapped", Conv((3, 4, 5, 5), 40, (3, 3), (2, 2), pads=(1, 1, 0, 0))),
    "five pixels": ("sums_swapped", Conv((1, 3, 1, 5), 48, (1, 1))),
    "nine pixels": ("sums_swapped", Conv((1, 2, 3, 3), 48, (1, 1))),
    "depthwise 3x3": ("sums_depthwise", Conv((1, 3, 19, 37), 3, (3, 3), pads=(1, 1, 1, 1), depthwise=True)),
    "depthwise 3x3 at stride 2": (
        "sums_depthwise",
        Conv((1, 5, 39, 40), 5, (3, 3), (2, 2), pads=(0, 1, 1, 1), depthwise=True, clipped="constant"),
    ),
    "depthwise 3x3 at stride 3": (
        "sums_depthwise",
        Conv((1, 3, 40, 40), 3, (3, 3), (3, 2), depthwise=True, clipped="input"),
    ),
    "depthwise 3x3 at strides of its own": (
        "sums_depthwise",
        Conv((1, 3, 12, 40), 3, (3, 3), (1, 2), dilations=(1, 3), depthwise=True),
    ),
    "depthwise 3x3 with dilation": (
        "sums_depthwise",
        Conv((1, 3, 12, 40), 3, (3, 3), (2, 1), dilations=(2, 1), depthwise=True),
    ),
    "depthwise in strips": (
        "sums_depthwise",
        Conv((1, 2, 40, 20), 2, (5, 2), pads=(9, 0, 9, 0), depthwise=True, biased=False),
    ),
    "depthwise with a tall kernel": (
        "sums_depthwise",
        Conv((1, 2, 40, 20), 2, (20, 1), dilations=(2, 1), pads=(9, 0, 9, 0), depthwise=True),
    ),
    "depthwise of narrow maps": (
        "sums_across",
        Conv((2, 37, 4, 1), 37, (3, 3), pads=(1, 1, 1, 1), depthwise=True, clipped="constant"),
    ),
    "depthwise of lines of three": (
        "sums_across",
        Conv((1, 3, 5, 3), 3, (1, 1), (1, 2), depthwise=True),
    ),
    "depthwise to one pixel": ("sums_across", Conv((1, 20, 7, 9), 20, (7, 9), depthwise=True, biased=False)),
    "depthwise to one column at strides": (
        "sums_across",
        Conv((1, 9, 20, 5), 9, (3, 2), (3, 3), (2, 3), (1, 0, 2, 1), depthwise=True, clipped="input"),
    ),
}


@pytest.mark.thinned
@each_kind
def test_every_kernel_gives_the_bits_of_the_definition(dtype: str, mode: str, width: int) -> None:
    # All shapes in one type; in the quick tier half of them in others.
    some = list(SHAPES.values()) if (dtype, mode) == KINDS[0] else thinned(list(SHAPES.values()), 18)
    for data, (_, case) in zip(cycle(("ordinary", "special", "subnormal")), some, strict=False):
        for one in (case, variation(case, data)):
            assert_defined(*one.model(dtype), mode, threads=(1, 3), width=width, known=(one, dtype, mode))


def variation(case: Conv, data: str) -> Conv:
    """The same geometry, with weights that are packed at every run, and other data."""
    return replace(case, constant=not case.constant, biased=not case.biased, data=data, seed=1)


@for_each("name", SHAPES)
def test_the_shapes_are_for_the_kernels_that_they_are_said_to_be_for(name: str) -> None:
    wanted, case = SHAPES[name]
    # What a vector holds decides: as on most machines.
    graph, _ = case.model("float")
    assert wanted in functions(planned(graph, width=32))


def drawn(seed: int, most: int) -> Iterator[Conv]:
    """Geometries without end: every size from 1 to 40, strides and dilations to 3, pads of every side."""
    random = np.random.default_rng(seed)

    def between(low: int, high: int) -> int:
        return int(random.integers(low, high + 1))

    while True:
        depthwise = random.random() < 0.45
        channels = between(1, 40) if depthwise or random.random() < 0.3 else between(1, 8)
        outputs = channels if depthwise else between(1, 40)
        image = between(1, 40), between(1, 40)
        strides, dilations = ((between(1, 3), between(1, 3)) for _ in range(2))
        top, left, bottom, right = (between(0, 4) if random.random() < 0.6 else 0 for _ in range(4))
        room = image[0] + top + bottom, image[1] + left + right
        largest = [(size - 1) // dilation + 1 for size, dilation in zip(room, dilations, strict=True)]
        # Mostly small kernels; now and then one that fills the whole padded image.
        down, along = (
            size if random.random() < 0.05 else between(1, min(size, 3 if random.random() < 0.7 else 9))
            for size in largest
        )
        case = Conv(
            X=(1 if random.random() < 0.7 else between(2, 3), channels, *image),
            outputs=outputs,
            kernel=(down, along),
            strides=strides,
            dilations=dilations,
            pads=(top, left, bottom, right),
            depthwise=depthwise,
            biased=random.random() < 0.6,
            constant=random.random() < 0.5,
            clipped=str(random.choice(["", "", "constant", "input"])),
            data=str(random.choice(["ordinary", "special", "subnormal"])),
            seed=between(0, 2**30),
        )
        if case.products <= most and min(case.X) > 0:
            yield case


@pytest.mark.thinned
@each_kind
def test_any_geometry_gives_the_bits_of_the_definition(dtype: str, mode: str, width: int) -> None:
    # Fused definitions take a hundred times as long.
    most, count = (8_000, examples(35)) if mode == "fused" else (40_000, examples(50))
    seed = KINDS.index((dtype, mode)) + 10 * width
    for case, threads in zip(islice(drawn(seed, most), count), cycle(THREADS), strict=False):
        assert_defined(*case.model(dtype), mode, threads=(threads,), width=width)


@pytest.mark.parametrize("depthwise", [False, True])
def test_every_width_of_a_line_and_every_number_of_channels_has_its_tail_right(depthwise: bool) -> None:
    for size, stride in product(range(1, 41), (1, 2)):
        case = Conv((1, size if depthwise else 2, 3, size), size, (2, 2), (1, stride), pads=(0, 1, 0, 0))
        case = replace(case, depthwise=depthwise, clipped="constant", seed=size)
        assert_defined(*case.model("float"))


def test_every_number_of_pixels_has_its_tail_right() -> None:
    for pixels in range(1, 41):
        assert_defined(*Conv((1, 3, 1, pixels), 48, (1, 1)).model("float"))
        assert_defined(*Conv((1, 3, pixels, 1), 48, (1, 1)).model("double"), "fused")


def test_both_modes_are_one_in_float16() -> None:
    for _, case in SHAPES.values():
        assert_defined(*case.model("float16"), "fused")
