"""From an exporter's file to a verdict and a result: what `make demo` shows.

    python examples/demo.py [FOLDER]

Writes a model as an exporter would, checks it, makes it conform, runs it in IEEE arithmetic and exactly in
the reals, shows how far apart the two are, and writes it as StableHLO for XLA and as C. All files stay in
FOLDER (build/demo).
"""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from textwrap import wrap
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

import sonnx
from sonnx.numeric.rounding import nearest

WIDTH = 110
MODES = ("separate", "fused")
# Distances beyond the last of these share one line of the picture.
LARGEST_STEPS = (0, 1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Distance:
    """How far a float tensor lies from the exact one, as numbers and in steps from float to float (ulp)."""

    absolute: Any
    steps: Any

    @property
    def equal(self) -> float:
        """The share of elements that are the exact result, correctly rounded."""
        return float(np.mean(self.steps == 0))


def distance(computed: Any, exact: Any) -> Distance:
    """Compare a float tensor with the exact one, element by element."""
    pairs = list(zip(computed.reshape(-1), exact.reshape(-1), strict=True))
    absolute = [float(abs(Fraction(float(value)) - truth)) for value, truth in pairs]
    rounded = np.array([nearest(truth, sonnx.DType.FLOAT) for _, truth in pairs], np.float32)
    return Distance(np.array(absolute), sonnx.ulp_distance(computed.reshape(-1), rounded))


def layers(model: Path, image: Any, **how: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run a model; answers what its Convs made, by the name of the node, and what the model gives."""
    made: dict[str, Any] = {}

    def keep(step: Any) -> None:
        if step.node.operator == "Conv":
            (made[step.node.name],) = step.results.values()

    return made, sonnx.load(model).run({"image": image}, watch=keep, **how)


class Show:
    """Prints headings, commands with what they print, and tables."""

    def __init__(self) -> None:
        """Take the terminal's width, or one that suits a file."""
        wide = None if sys.stdout.isatty() else WIDTH
        self.console = Console(width=wide, highlight=False)
        self.bar = "█" if _has("█", self.console.encoding) else "#"

    def text(self, text: str = "", style: str = "") -> None:
        """Print a line."""
        self.console.print(Text(text, style=style))

    def heading(self, text: str) -> None:
        """Begin a part."""
        self.text()
        self.text(text, "bold")

    def command(self, shown: str, *command: str, expected: int = 0) -> None:
        """Run a program that prints for itself, and stop where it does not end as expected."""
        lines = wrap(f"$ {shown}", WIDTH - 2, subsequent_indent="    ", break_long_words=False)
        self.text(" \\\n".join(lines), "cyan")
        sys.stdout.flush()
        done = subprocess.run(command, check=False)
        if done.returncode != expected:
            sys.exit(f"expected exit code {expected}, not {done.returncode}")

    def sonnx(self, *arguments: str, expected: int = 0) -> None:
        """Run the command `sonnx`."""
        shown = " ".join(["sonnx", *map(quote, arguments)])
        self.command(shown, sys.executable, "-m", "sonnx", *arguments, expected=expected)

    def program(self, *command: str) -> None:
        """Run any other program."""
        self.command(" ".join(map(quote, command)), *command)


def _has(character: str, encoding: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def by_layer(distances: dict[str, dict[str, Distance]], mode: str) -> Table:
    """One line per Conv: how far one mode lies from the exact tensor."""
    table = _table(f"sums {mode}")
    for column in ("elements", "largest", "mean", "largest ulp", "median ulp", "correctly rounded"):
        table.add_column(column, justify="right")
    for name, found in distances.items():
        absolute, steps = found[mode].absolute, found[mode].steps
        row = [str(steps.size), f"{absolute.max():.1e}", f"{absolute.mean():.1e}", str(steps.max())]
        table.add_row(*map(Text, [name, *row, f"{np.median(steps):g}", f"{found[mode].equal:.0%}"]))
    return table


def _table(first: str) -> Table:
    table = Table(show_edge=False, pad_edge=False, box=SIMPLE_HEAD)
    table.add_column(first, no_wrap=True)
    return table


def picture(distances: dict[str, Distance], bar: str, width: int = 30) -> Table:
    """Bars: how many elements lie so many steps from the correctly rounded exact result."""
    table = Table(show_edge=False, pad_edge=False, box=None)
    table.add_column("ulp", justify="right")
    for mode in MODES:
        table.add_column(mode, min_width=width + 8)
    lowest = (0, *(largest + 1 for largest in LARGEST_STEPS))
    numbers = {mode: _histogram(distances[mode].steps, lowest) for mode in MODES}
    most = max(max(column) for column in numbers.values())
    for index, (low, large) in enumerate(zip(lowest, (*LARGEST_STEPS, None), strict=True)):
        bars = [
            f"{bar * -(-width * column[index] // most)} {column[index]}".lstrip()
            for column in numbers.values()
        ]
        table.add_row(*map(Text, [_interval(low, large), *bars]))
    return table


def _histogram(steps: Any, lowest: Sequence[int]) -> list[int]:
    """How many of the steps are at least each number and below the next one."""
    at_least = [int(np.count_nonzero(steps >= low)) for low in lowest]
    return [here - above for here, above in zip(at_least, (*at_least[1:], 0), strict=True)]


def _interval(lowest: int, largest: int | None) -> str:
    if largest is None:
        return f"{lowest} and more"
    return str(largest) if lowest == largest else f"{lowest} to {largest}"


def scores(exact: Any, computed: dict[str, Any]) -> Table:
    """The result itself: exact, and what each mode makes of it."""
    table = _table("class")
    table.add_column("exact, as the nearest double", justify="right")
    for mode in MODES:
        table.add_column(mode, justify="right")
        table.add_column("ulp", justify="right")
    steps = {mode: distance(computed[mode], exact).steps for mode in MODES}
    for index, truth in enumerate(exact.reshape(-1)):
        row = [str(index), repr(float(truth))]
        for mode in MODES:
            row += [str(computed[mode].reshape(-1)[index]), str(steps[mode][index])]
        table.add_row(*map(Text, row))
    return table


def in_words(value: Fraction) -> str:
    """Say how long an exact number is; denominators of floats' sums are powers of two."""
    digits = len(str(abs(value.numerator)))
    return f"an integer of {digits} digits divided by 2^{value.denominator.bit_length() - 1}"


def main() -> None:
    """Show the whole way."""
    show = Show()
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/demo")
    folder.mkdir(parents=True, exist_ok=True)
    exported, conforming, image = (
        folder / name for name in ("exported.onnx", "conforming.onnx", "image.npy")
    )

    show.heading("1. A small network, written as an exporter writes it")
    script = Path(__file__).with_name("mobilenet_like.py")
    arguments = [str(exported), "--input", str(image)]
    show.command(
        " ".join(["python examples/mobilenet_like.py", *map(quote, arguments)]),
        sys.executable,
        str(script),
        *arguments,
    )

    show.heading("2. Does it lie in the profile? (without --brief: every place, with values and advice)")
    show.sonnx("check", str(exported), "--brief", expected=1)

    show.heading("3. Made explicit, with the same meaning (without --brief: every change, with its reason)")
    show.sonnx("normalize", str(exported), "-o", str(conforming), "--dim", "batch=1", "--brief")
    show.sonnx("check", str(conforming))

    show.heading("4. Run by the specification: each bit of it specified, or nothing rounded at all")
    given = ["run", str(conforming), "--input", f"image={image}", "--output-dir"]
    show.sonnx(*given, str(folder / "ieee"), "--engine", "reference")
    show.text("The same bits with compiled kernels, which is what `sonnx run` does wherever it can:\n")
    show.sonnx(*given, str(folder / "ieee"))
    show.sonnx(*given, str(folder / "fused"), "--accumulate", "fused")
    show.sonnx(*given, str(folder / "real"), "--domain", "real")

    compare(show, conforming, np.load(image, allow_pickle=False))

    show.heading("7. The same meaning for XLA's compilers")
    show.sonnx("export", str(conforming), "-o", str(folder / "conforming.mlir"))
    if find_spec("jax") is None:
        show.text("After `pip install jax`, `sonnx run --engine xla` executes that on the real XLA.")
    else:
        show.sonnx(*given, str(folder / "xla"), "--engine", "xla")

    show.heading("8. The same bits in C, with a test that shows it")
    project = folder / "c"
    shutil.rmtree(project, ignore_errors=True)
    show.sonnx("emit", str(conforming), "-o", str(project))
    if shutil.which("make") and shutil.which("cc"):
        show.program("make", "-s", "-C", str(project), "test")
    else:
        show.text("With a C compiler, `make test` in that folder compiles it and compares every bit.\n")
    show.text("A tour of the single operators: sonnx tour")


def compare(show: Show, model: Path, image: Any) -> None:
    """Run once more in Python, keep every layer, and show the distances."""
    exact, truth = layers(model, image, domain="real")
    computed, results = {}, {}
    for mode in MODES:
        computed[mode], given = layers(model, image, accumulate=mode)
        results[mode] = given["scores"]
    distances = {
        name: {mode: distance(computed[mode][name], exact[name]) for mode in MODES} for name in exact
    }

    show.heading("5. IEEE against exact, after each Conv: Clip, Where and Expand round nothing")
    show.text("Absolute distances, and distances in units in the last place (ulp), gathered since the image.")
    show.text("Where a sum nearly cancels, a small absolute distance is many ulp.\n")
    for mode in MODES:
        show.console.print(by_layer(distances, mode))
        show.text()
    name = max(distances, key=lambda name: distances[name]["separate"].steps.size)
    number = distances[name]["separate"].steps.size
    show.text(f"Distances of the {number} elements after {name}, in ulp", "bold")
    show.console.print(picture(distances[name], show.bar))

    show.heading("6. The result")
    show.console.print(scores(truth["scores"], results))
    first = truth["scores"].reshape(-1)[0]
    show.text(f"\nExactly, the first score is {in_words(first)}.")
    show.text(f"All of them are in {model.parent / 'real' / 'scores.json'}.")


if __name__ == "__main__":
    main()
