"""Derived kernels under the sanitizers of the compiler: no stray access, nothing that C leaves undefined."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.derive import test_fast_c_boxes as moving
from tests.derive import test_fast_c_elements as calculating
from tests.derive.kernel_support import any_bits, asked, stand_in, ways
from tests.operators.compiling import compiler
from tests.operators.support import HELD

from sonnx.plan.sources import kernel_source
from sonnx.terms.tracing import elementwise
from sonnx.vocabulary.kernel import KernelCall

pytestmark = pytest.mark.sanitizer

# Sanitizers do not look at the streaming instructions of x86.
FLAGS = ("-std=c99", "-O1", "-g", "-U__SSE2__", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
DRIVER = """
#include <stdlib.h>
#include <string.h>

/* Every buffer is memory of its own, full of bits that are no zeros. */
static void run(const int64_t *values, const int64_t *bytes, int64_t operands, int64_t tasks)
{
    void *buffers[8];
    for (int64_t i = 0; i < operands; i++) {
        buffers[i] = malloc((size_t)bytes[i]);
        for (int64_t k = 0; k < bytes[i]; k++) ((unsigned char *)buffers[i])[k] = (unsigned char)(37 * k + i);
    }
    for (int64_t task = 0; task < tasks; task++) {
        FUNCTION((const struct parameters *)values, buffers, task, 0);
    }
    for (int64_t i = 0; i < operands; i++) free(buffers[i]);
}

int main(void)
{
RUNS
    return 0;
}
"""
# A call, and the bytes of its operands in their order.
Driven = tuple[KernelCall, list[int]]


def sanitized(driven: list[Driven], folder: Path) -> None:
    """Compile a program that makes calls of one kernel, each cut and streamed in every way, and run it."""
    first = driven[0][0]
    lines = []
    for call, sizes in driven:
        for way in ways(dict(call.parameters)["elements"]):
            values = {**dict(call.parameters), **way}
            tasks = -(-values["elements"] // values["task_elements"])
            tables = [
                f"(const int64_t[]){{{', '.join(map(str, each))}}}" for each in (values.values(), sizes)
            ]
            lines.append(f"    run({', '.join(tables)}, {len(sizes)}, {tasks});")
    text = DRIVER.replace("RUNS", "\n".join(lines)).replace("FUNCTION", first.symbol)
    source, program = folder / "driver.c", folder / "driver"
    source.write_text(kernel_source(first) + text, encoding="utf-8")
    probe = subprocess.run(
        [compiler(), *FLAGS, "-xc", "-", "-o", str(program)],
        input="int main(void) { return 0; }",
        text=True,
        check=False,
    )
    if probe.returncode:
        pytest.skip("the compiler has no sanitizers")
    macros = [f"-D{macro}={value}" for macro, value in first.variant.macros]
    subprocess.run([compiler(), *FLAGS, *macros, str(source), "-lm", "-o", str(program)], check=True)
    # Whether memory leaks can be told not everywhere, and nothing here keeps any.
    done = subprocess.run(
        [program], env={"ASAN_OPTIONS": "detect_leaks=0"}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def of_elements(case: calculating.Case, name: str) -> Iterator[Driven]:
    operator = stand_in(elementwise(case.defined), "X", "Y")
    for count in (*range(1, 70, 7), 300, 1000):
        X = any_bits(name, count)
        (call,) = asked(operator, {"X": X, "Y": X}, name, (count,)).calls
        yield call, [X.nbytes] * 3


@pytest.mark.parametrize("name", ["float16", "float", "double"])
@pytest.mark.parametrize("word", calculating.ON_FLOATS)
def test_sanitizers_find_nothing_in_loops_over_floats(word: str, name: str, tmp_path: Path) -> None:
    sanitized(list(of_elements(calculating.ON_FLOATS[word], name)), tmp_path)


@pytest.mark.parametrize("name", ["int8", "uint16", "int32", "int64"])
@pytest.mark.parametrize("word", calculating.ON_INTEGERS)
def test_sanitizers_find_nothing_in_loops_over_integers(word: str, name: str, tmp_path: Path) -> None:
    sanitized(list(of_elements(calculating.ON_INTEGERS[word], name)), tmp_path)


@pytest.mark.parametrize("name", ["int8", "float16", "float", "double", "complex128"])
def test_sanitizers_find_nothing_in_what_is_only_chosen(name: str, tmp_path: Path) -> None:
    operator = stand_in(elementwise(calculating.chosen), *"TXY", truths="T")
    driven = []
    for count in (*range(1, 70, 7), 300, 1000):
        given = {"T": np.zeros(count, bool), "X": any_bits(name, count), "Y": any_bits(name, count)}
        (call,) = asked(operator, given, name, (count,)).calls
        driven.append((call, [*(array.nbytes for array in given.values()), count * HELD[name].itemsize]))
    sanitized(driven, tmp_path)


@pytest.mark.parametrize("name", ["int8", "float16", "float", "double"])
def test_sanitizers_find_nothing_in_boxes(name: str, tmp_path: Path) -> None:
    driven = []
    for move in moving.MOVES.values():
        arrays = {
            each: any_bits(name, int(np.prod(shape))).reshape(shape)
            for each, shape in zip("XY", move.shapes, strict=False)
        }
        made = move.expected(*arrays.values())
        (call,) = asked(stand_in(move.definition, *arrays), arrays, name, made.shape).calls
        driven.append((call, [*(array.nbytes for array in arrays.values()), made.size * made.itemsize]))
    sanitized(driven, tmp_path)
