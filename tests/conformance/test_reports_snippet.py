"""Python that shows a departure again: it is run, and prints the bits that were reported."""

import ast
import re
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tests.conformance.report_samples import (
    HOSTILE,
    F,
    converted,
    departure,
    hostile,
    lost_sign,
    nan_min,
    other_sum,
    report,
    sample,
    stop,
    trial,
)

from sonnx.conformance.reporting.snippet import crash_snippet, snippet
from sonnx.conformance.result import Cell, Departure, Report
from sonnx.model.dtype import DType

BF = ml_dtypes.bfloat16
needs_onnxruntime = pytest.mark.skipif(
    find_spec("onnxruntime") is None, reason="onnxruntime is not installed"
)


# Runtimes that are given no models.
KIT = ("reference", "jax", "tests.conformance.campaign_support:LosesZeros")


def of(operator: str, dtype: DType, shown: Departure, asked: str = "onnxruntime", **options: Any) -> str:
    cell = Cell(operator, dtype, (), (), (shown,))
    found = report(cell, asked=asked, runtime=asked, options=options, takes_models=asked not in KIT)
    return snippet(found, shown)


def printed(script: str) -> str:
    """What a script prints in a process of its own."""
    line = [sys.executable, "-W", "error::SyntaxWarning", "-c", script]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def printed_here(script: str) -> str:
    """The same in this process, which has loaded everything already."""
    with redirect_stdout(StringIO()) as words:
        exec(compile(script, "snippet", "exec"), {})
    return words.getvalue()


@needs_onnxruntime
def test_onnxruntime_loses_the_sign_of_a_zero_in_where() -> None:
    script = of("where", DType.FLOAT, lost_sign(), level="basic")
    assert "ORT_ENABLE_BASIC" in script
    assert "sonnx" not in script
    assert printed(script).split("\n") == [
        "specified output: float32[1] -0.0 (0x80000000)",
        "found output 0: float32[1] 0.0 (0x00000000)",
        "",
    ]


def test_the_reference_evaluator_is_bounded_by_a_nan() -> None:
    script = of("clip", DType.DOUBLE, nan_min(DType.DOUBLE), "reference-evaluator", opset=13)
    assert "sonnx" not in script
    assert 'make_opsetid("", 13)' in script
    assert printed(script).split("\n") == [
        "specified output: float64[1] -0.0 (0x8000000000000000)",
        "found output 0: float64[1] nan (0x7ff8000000000000)",
        "",
    ]


@needs_onnxruntime
def test_a_runtime_that_contradicts_itself_is_asked_both_ways() -> None:
    script = of("conv", DType.FLOAT, other_sum())
    assert 'zip(run(["W"]), run([]))' in script
    words = printed_here(script)
    found = re.fullmatch(
        r"operands as constants: float32\[1, 1, 1, 1\] [\d.]+ \((0x[0-9a-f]{8})\)\n"
        r"operands as inputs:    float32\[1, 1, 1, 1\] [\d.]+ \((0x[0-9a-f]{8})\)\n",
        words,
    )
    assert found is not None, words


@needs_onnxruntime
def test_bfloat16_goes_to_onnxruntime_and_comes_back_bit_for_bit() -> None:
    asked = trial(
        {"operand": np.array([0x7FC1, 0x8000, 0x3F80], np.uint16).view(BF)},
        {"new_element_type": "bf16", "domain": "ieee"},
    )
    shown = departure("xla.convert_element_type", DType.BFLOAT16, asked, [np.zeros(3, BF)])
    words = printed_here(of("xla.convert_element_type", DType.BFLOAT16, shown))
    for line in words.splitlines():
        assert re.findall(r"0x[0-9a-f]{4}", line) == ["0x7fc1", "0x8000", "0x3f80"]


@needs_onnxruntime
def test_strings_and_their_constants_are_written_whole() -> None:
    texts = np.array(["\u00e4\"'\\", "a\nb", "\U0001d11e"], object)
    operands = {"condition": np.array([True, False, True]), "X": texts, "Y": texts[::-1].copy()}
    asked = trial(operands, constants=["X"])
    shown = departure("where", DType.STRING, asked, [texts[[0, 0, 0]]])
    script = of("where", DType.STRING, shown)
    assert script.isascii()
    assert 'run(["X"])' in script
    specified, found = printed_here(script).splitlines()
    assert specified.partition(" object")[2] == found.partition(" object")[2]
    assert ascii("\U0001d11e") in found


def test_a_bool_keeps_its_byte() -> None:
    operands = {"condition": np.array([2], np.uint8).view(bool), "X": np.ones(1, F), "Y": np.zeros(1, F)}
    shown = departure("where", DType.FLOAT, trial(operands), [np.zeros(1, F)])
    assert "np.array([2], np.uint8).view(np.bool_)" in of("where", DType.FLOAT, shown)


def test_a_backend_is_prepared_by_its_own_name() -> None:
    script = of("clip", DType.FLOAT, nan_min(DType.FLOAT), "sonnx.backend:SonnxBackend", device="CPU")
    assert "import sonnx.backend\n" in script
    assert "sonnx.conformance" not in script
    assert "found output 0: float32[1] -0.0 (0x80000000)" in printed_here(script)


def test_a_runtime_that_takes_no_models_is_asked_by_the_kit() -> None:
    shown = nan_min(DType.FLOAT)
    assert f'ask("{KIT[-1]}", "clip", operands' in of("clip", DType.FLOAT, shown, KIT[-1])


def test_other_runtimes_are_asked_by_the_kit() -> None:
    script = of("clip", DType.FLOAT, nan_min(DType.FLOAT), "reference", accumulate="fused")
    assert 'ask("reference", "clip", operands, {}, constants, accumulate="fused")' in script
    assert "found output 0: float32[1] -0.0 (0x80000000)" in printed_here(script)


def test_operands_that_are_too_large_come_from_the_vectors() -> None:
    asked = trial({"input": np.zeros(1000, F), "min": np.array(np.nan, F), "max": np.array(1, F)})
    shown = departure("clip", DType.FLOAT, asked, [np.ones(1000, F)], source="shape-length-127")
    script = of("clip", DType.FLOAT, shown, "reference")
    assert len(script) < 4000
    assert '"shape-length-127"' in script
    assert printed_here(script) == "specified float32[127], found float32[127]\n"


def test_what_onnx_has_no_model_for_is_asked_by_the_kit() -> None:
    cell = Cell("xla.broadcast", DType.FLOAT, (), ())
    asked = stop("expand", DType.FLOAT, "unsupported", "")
    broadcast = trial({"operand": np.ones(1, F)}, {"broadcast_sizes": (2,)})
    script = crash_snippet(report(cell), cell, type(asked)("unsupported", "", 1, "x", broadcast))
    assert 'ask("onnxruntime", "xla.broadcast"' in script


def test_every_script_of_a_report_is_python() -> None:
    for asked in ("onnxruntime", "reference-evaluator", "jax", "a.b:C.d"):
        for each in scripts(Report(**{**vars(sample()), "asked": asked})).values():
            ast.parse(each)


def scripts(found: Report) -> Mapping[Any, str]:
    made: dict[Any, str] = {shown: snippet(found, shown) for cell in found.cells for shown in cell.departures}
    return made | {each: crash_snippet(found, cell, each) for cell in found.cells for each in cell.stops}


ASKED = {"bad": HOSTILE, "known": "onnxruntime", "call": "os:system('x')", "lines": "a:b\nimport os"}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_no_text_of_a_runtime_becomes_code(asked: str) -> None:
    bad = Report(
        **{
            **vars(hostile()),
            "asked": asked,
            "options": {HOSTILE: HOSTILE, "level": HOSTILE, "provider": HOSTILE},
        }
    )
    for script in scripts(bad).values():
        assert script.isascii()
        imported = [node for node in ast.walk(ast.parse(script)) if isinstance(node, ast.Import)]
        names = {alias.name for node in imported for alias in node.names}
        assert names <= {"numpy", "onnxruntime", "ctypes", "ml_dtypes"}
        code = {node.id for node in ast.walk(ast.parse(script)) if isinstance(node, ast.Name)}
        assert not {"alert", "img", "system", "x"} & code


def test_a_departure_of_another_report_has_no_snippet() -> None:
    with pytest.raises(ValueError, match="no such departure"):
        snippet(sample(), converted())
