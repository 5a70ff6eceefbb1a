"""The comparison with the definitions can fail: kernels with one error each are noticed."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.native.support import (
    Conv,
    assert_defined,
    assert_same,
    defined,
    executable,
    planned,
    quick_compiler,
)

from sonnx.native import cache, tape
from sonnx.native.machine import fingerprint
from sonnx.plan.program import Step
from sonnx.plan.sources import joined, kernel_source
from sonnx.vocabulary.kernel import KernelCall

pytestmark = pytest.mark.mutant

DENSE = Conv((1, 3, 5, 11), 7, (3, 3), pads=(1, 1, 1, 1), clipped="constant", limits=(-2, 3))
STRIDED = Conv((1, 3, 5, 31), 7, (3, 3), (1, 2), pads=(1, 1, 1, 1))
SWAPPED = Conv((1, 3, 3, 3), 40, (2, 2), clipped="input", limits=(-2, 3))
DEPTHWISE = Conv(
    (1, 3, 9, 19), 3, (3, 3), pads=(1, 1, 1, 1), depthwise=True, clipped="constant", limits=(-2, 3)
)
ACROSS = Conv((1, 20, 5, 2), 20, (2, 2), depthwise=True)

CPU = fingerprint().split()


@dataclass(frozen=True)
class Mutant:
    """A text of a kernel's source in place of which another one stands."""

    case: Conv
    before: str
    after: str


MUTANTS = {
    "terms backwards": Mutant(DENSE, "weights[k + i]", "weights[terms - 1 - k - i]"),
    "no bias": Mutant(DENSE, "p->biased && !idle", "0 && !idle"),
    "bounds in the other order": Mutant(DENSE, "input < min ?", "input < max ?"),
    "a NaN as bound": Mutant(
        replace(SWAPPED, limits=(float("nan"), 3)), "input < min ?", "!(input >= min) ?"
    ),
    "a piece too short": Mutant(DENSE, "p->out_width, count};", "p->out_width, count - 1};"),
    "a channel twice": Mutant(SWAPPED, "c < at->channels; c++", "c < at->channels - 1; c++"),
    "a piece from elsewhere": Mutant(DEPTHWISE, "operands[p->beside] + place,", "operands[p->beside],"),
    "padding of ones": Mutant(DEPTHWISE, "to[j] = 0;", "to[j] = 1;"),
    "a product of the bias": Mutant(ACROSS, "vector sums = load(packed);", "vector sums = load(packed) * 2;"),
    "sums rounded once": Mutant(
        DEPTHWISE,
        "const vector product = x * w;\n    return sum + product;",
        "return x * w - (0 - sum) * 1.0000001f;",
    ),
}


@pytest.fixture
def _fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of its own: no mutant is ever loaded elsewhere."""
    monkeypatch.setenv("SONNX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_loaded", {})
    monkeypatch.setenv("SONNX_CC", quick_compiler(tmp_path))


def notices(case: Conv, **how: Any) -> bool:
    try:
        assert_defined(*case.model("float"), **how)
    except AssertionError:
        return True
    return False


@pytest.mark.usefixtures("_fresh")
@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_kernel_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = MUTANTS[name]
    changed: list[str] = []

    def spoilt(text: str) -> str:
        changed.extend([mutant.before] * (mutant.before in text))
        return text.replace(mutant.before, mutant.after)

    monkeypatch.setattr(tape, "kernel_source", lambda call: spoilt(kernel_source(call)))
    monkeypatch.setattr(tape, "joined", lambda calls: spoilt(joined(calls)))
    noticed = notices(mutant.case)
    assert changed, "the text of the kernels has changed: spoil them anew"
    assert noticed


# Parameters of a step that are not what they should be; `tasks` is how many there are.
CHANGED = {
    "a task left out": (DENSE, "sums_dense", "tasks", -1),
    "a channel left out": (ACROSS, "sums_across", "tasks", -1),
    "columns moved": (STRIDED, "sums_pad", "pad_left", 1),
    "lines moved": (DEPTHWISE, "sums_depthwise", "pad_top", 1),
    "a term left out": (SWAPPED, "sums_swapped", "kernel_height", -1),
}


@pytest.mark.usefixtures("_fresh")
@pytest.mark.parametrize("name", CHANGED)
def test_a_wrong_step_is_noticed(name: str) -> None:
    case, function, field, change = CHANGED[name]
    graph, arrays = case.model("float")
    right = planned(graph, width=32)

    def spoilt(step: Step) -> Step:
        if not isinstance(step, KernelCall) or step.function != function:
            return step
        values = {**dict(step.parameters), "tasks": step.tasks}
        values[field] += change
        tasks = values.pop("tasks")
        return replace(step, parameters=tuple(values.items()), tasks=tasks)

    wrong = replace(right, steps=tuple(map(spoilt, right.steps)))
    expected = defined(graph, arrays)
    assert_same(executable(right).run(arrays), expected)
    with pytest.raises(AssertionError):
        assert_same(executable(wrong).run(arrays), expected)


@pytest.mark.usefixtures("_fresh")
@pytest.mark.skipif("fma" not in CPU, reason="the processor multiplies and adds separately")
def test_a_compiler_that_contracts_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not notices(STRIDED)
    monkeypatch.setenv("SONNX_CC", quick_compiler(tmp_path, "-O2 -ffp-contract=fast"))
    assert notices(STRIDED)


@pytest.mark.usefixtures("_fresh")
def test_kernels_without_an_error_are_not() -> None:
    assert not any(notices(mutant.case) for mutant in MUTANTS.values())
