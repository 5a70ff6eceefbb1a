"""What a compiled model refuses, and what happens where there is no compiler or none that works."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from tests.native.support import Array, Conv, constant, defined, model, node, value
from tests.numeric.test_environment import (
    DENORMALS_ARE_ZERO,
    FLUSH_TO_ZERO,
    TO_NEAREST,
    UPWARD,
    needs_x86_linux,
    under_flags,
)

import sonnx
from sonnx.engines import NO_COMPILER, compile_graph, run_graph
from sonnx.evaluate.execution import Settings
from sonnx.model.graph import Graph
from sonnx.native import cache
from sonnx.numeric.environment import NotIeeeError

X = np.array([-1, 2, 9], np.float32)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, and a process that has loaded nothing; temporary files are seen."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("SONNX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.setattr(cache, "_loaded", {})
    return tmp_path


def clip() -> sonnx.Graph:
    bounds = [constant("low", np.array(0, np.float32)), constant("high", np.array(6, np.float32))]
    nodes = [node("Clip", ("x", "low", "high"), "y")]
    return model(nodes, [value("x", "float", (3,))], [value("y", "float", (3,))], bounds)


WRONG: dict[str, Any] = {
    "missing": {},
    "unknown": {"x": X, "y": X},
    "misnamed": {"X": X},
    "shape": {"x": X[:2]},
    "rank": {"x": X[None]},
    "type": {"x": X.astype(np.float64)},
    "integers": {"x": X.astype(np.int32)},
    "a list": {"x": [0.0, 1.0, 2.0]},
    "nothing": {"x": None},
    "text": {"x": np.array(["a", "b", "c"])},
    "no dict": [X],
    "a number": 7,
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_inputs_are_refused_in_the_words_of_the_reference(name: str) -> None:
    graph = clip()
    with pytest.raises(sonnx.InputError) as expected:
        graph.run(WRONG[name])
    with pytest.raises(sonnx.InputError) as compiled:
        graph.compile()(WRONG[name])
    with pytest.raises(sonnx.InputError) as run:
        graph.run(WRONG[name], engine="native")
    assert str(compiled.value) == str(run.value) == str(expected.value)


def test_a_refused_call_spoils_no_later_one() -> None:
    run = clip().compile()
    with pytest.raises(sonnx.InputError):
        run({})
    assert run({"x": X})["y"].tolist() == [0, 2, 6]


def test_inputs_need_not_be_a_dict_nor_plain_arrays() -> None:
    run = clip().compile()
    assert run(MappingProxyType({"x": X}))["y"].tolist() == [0, 2, 6]

    class Own(np.ndarray[Any, Any]):
        pass

    found = run({"x": X.view(Own)})["y"]
    assert type(found) is np.ndarray
    assert found.tolist() == [0, 2, 6]


@pytest.mark.parametrize("threads", [0, -1, 257, True, 1.5, "2", None])
def test_a_number_of_threads_that_is_none_is_refused(threads: Any) -> None:
    with pytest.raises(ValueError, match="threads must be an integer from 1 to 256"):
        clip().compile(threads=threads)
    with pytest.raises(ValueError, match="threads"):
        clip().run({"x": X}, engine="native", threads=threads)


def test_as_many_threads_as_are_allowed_work() -> None:
    graph, arrays = Conv((1, 3, 20, 20), 8, (3, 3)).model("float")
    assert sonnx.same_bits(graph.compile(threads=256)(arrays)["Y"], defined(graph, arrays)["Y"])


def test_other_engines_take_no_threads_and_native_no_order() -> None:
    with pytest.raises(ValueError, match="only the engine 'native' runs on several threads"):
        clip().run({"x": X}, threads=2)
    with pytest.raises(ValueError, match="cannot be told order, seed"):
        clip().run({"x": X}, engine="native", order="random", seed=3)
    with pytest.raises(ValueError, match="cannot be told domain"):
        clip().run({"x": X}, engine="native", domain="real")
    with pytest.raises(ValueError, match="cannot be told watch"):
        clip().run({"x": X}, engine="native", watch=print)
    with pytest.raises(ValueError, match="accumulate must be"):
        clip().compile(accumulate="both")  # type: ignore[arg-type]  # that is the point


def test_a_model_outside_the_profile_is_not_compiled() -> None:
    kind = value("x", "float", (3,))
    graph = sonnx.Graph.of(Graph("bad", (kind,), (value("y", "float", (3,)),), (node("Clip", ("x",), "y"),)))
    with pytest.raises(sonnx.RuleError):
        graph.compile()


def test_memory_is_limited_before_anything_is_made() -> None:
    graph, arrays = Conv((1, 3, 20, 20), 8, (3, 3), pads=(1, 1, 1, 1)).model("float")
    with pytest.raises(
        sonnx.MemoryLimitError, match=r"takes up to [0-9,]+ bytes for tensors, allowed are 10,000;"
    ):
        graph.compile(memory=10_000)
    with pytest.raises(sonnx.MemoryLimitError):
        graph.run(arrays, engine="native", memory=10_000)
    with pytest.raises(sonnx.MemoryLimitError):
        # Each thread has memory of its own.
        graph.compile(memory=200_000, threads=256)
    assert graph.compile(memory=200_000).arena_bytes < 200_000


def test_a_model_of_huge_tensors_is_refused_without_memory_for_them() -> None:
    graph = model(
        [node("Expand", ("x", "shape"), "y")],
        [value("x", "float", (1,))],
        [value("y", "float", (2**15, 2**15))],
        [constant("shape", np.array([2**15, 2**15]))],
    )
    with pytest.raises(sonnx.MemoryLimitError, match="takes up to"):
        graph.compile()


def test_definitions_are_limited_as_in_the_reference() -> None:
    text = model(
        [node("Expand", ("x", "shape"), "y")],
        [value("x", "string", (1,))],
        [value("y", "string", (10**7,))],
        [constant("shape", np.array([10**7]))],
    )
    builder = sonnx.xla.ComputationBuilder("padded")
    x = builder.parameter(0, sonnx.xla.Shape("f32", (1, 1, 2)), "x")
    w = builder.constant("f32[1,1,1] {{{1}}}")
    builder.conv_with_general_padding(
        x, w, window_strides=(10**7,), padding=((10**7, 10**7),), lhs_dilation=(1,), rhs_dilation=(1,)
    )
    for graph in (text, sonnx.Graph.of(builder.build().graph)):
        with pytest.raises(sonnx.MemoryLimitError, match="takes up to"):
            graph.compile(memory=2**20)


def refusal(run: Callable[[], object]) -> Callable[[], str | None]:
    def attempt() -> str | None:
        try:
            run()
        except NotIeeeError as error:
            return str(error)
        return None

    return attempt


@pytest.fixture
def libm() -> Iterator[ctypes.CDLL]:
    library = ctypes.CDLL("libm.so.6")
    saved = (ctypes.c_uint32 * 8)()
    library.fegetenv(saved)
    yield library
    library.fesetenv(saved)


@needs_x86_linux
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("flags", [FLUSH_TO_ZERO, DENORMALS_ARE_ZERO])
def test_a_process_that_flushes_subnormals_is_refused(libm: ctypes.CDLL, flags: int, threads: int) -> None:
    run = clip().compile(threads=threads)
    message = under_flags(libm, flags, refusal(lambda: run({"x": X})))
    assert message is not None
    assert "flushes subnormal numbers to zero" in message
    assert run({"x": X})["y"].tolist() == [0, 2, 6]


@needs_x86_linux
def test_a_process_that_rounds_in_another_direction_is_refused(libm: ctypes.CDLL) -> None:
    run = clip().compile()
    assert libm.fesetround(UPWARD) == 0
    try:
        message = refusal(lambda: run({"x": X}))()
    finally:
        libm.fesetround(TO_NEAREST)
    assert "does not round to nearest" in str(message)


HIRED = f"""
import ctypes
from tests.native.support import Conv, defined
from sonnx.numeric.environment import NotIeeeError

def attempt(work):
    try:
        return work()
    except NotIeeeError:
        return None

graph, arrays = Conv((1, 16, 64, 64), 32, (3, 3), data="subnormal").model("float")
expected = defined(graph, arrays)["Y"].tobytes()
libm = ctypes.CDLL("libm.so.6")
saved, changed = (ctypes.c_uint32 * 8)(), (ctypes.c_uint32 * 8)()
libm.fegetenv(saved)
libm.fegetenv(changed)
changed[7] |= {FLUSH_TO_ZERO}
libm.fesetenv(changed)
first = attempt(lambda: graph.compile(threads=2))
libm.fesetenv(saved)
print("refused" if first is None else "compiled")
# Whoever was hired then works as it should all the same.
run = graph.compile(threads=2)
found = [attempt(lambda: run(arrays)) for _ in range(100)]
print(sum(one is None for one in found))
print(sum(one is not None and one["Y"].tobytes() != expected for one in found))
"""


@needs_x86_linux
def test_helpers_that_were_hired_while_the_process_flushed_never_spoil_a_result() -> None:
    # Threads inherit the state of the one that makes them, and helpers stay for later runs.
    command = [sys.executable, "-c", HIRED]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == ["refused", "0", "0"]


def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SONNX_CC", raising=False)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sonnx.native.compiler.find_spec", lambda name: None)


def test_without_a_compiler_the_definitions_are_executed(monkeypatch: pytest.MonkeyPatch) -> None:
    no_compiler(monkeypatch)
    graph, arrays = Conv((1, 3, 5, 9), 4, (2, 2), clipped="constant").model("float")
    with pytest.warns(sonnx.NoCompilerWarning) as warned:
        run = graph.compile(accumulate="fused", threads=2)
    assert [str(each.message) for each in warned] == [NO_COMPILER]
    assert "\n" not in NO_COMPILER
    assert (run.engine, run.threads, run.arena_bytes, run.constant_bytes) == ("reference", 2, 0, 0)
    assert sonnx.same_bits(run(arrays)["Z"], defined(graph, arrays, "fused")["Z"])
    with pytest.raises(sonnx.InputError):
        run({})


def test_the_warning_points_at_who_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    no_compiler(monkeypatch)
    with pytest.warns(sonnx.NoCompilerWarning) as compiling:
        clip().compile()
    with pytest.warns(sonnx.NoCompilerWarning) as running:
        clip().run({"x": np.zeros(3, np.float32)}, engine="native")
    assert [Path(each.filename).name for each in (*compiling, *running)] == [Path(__file__).name] * 2


def test_without_a_compiler_memory_is_limited_too(monkeypatch: pytest.MonkeyPatch) -> None:
    no_compiler(monkeypatch)
    with pytest.warns(sonnx.NoCompilerWarning), pytest.raises(sonnx.MemoryLimitError):
        clip().compile(memory=10)


def scripted(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    script = folder / "cc"
    script.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setenv("SONNX_CC", str(script))


def left(folder: Path) -> list[str]:
    """Every file that is still there but the compiler itself."""
    return [path.name for path in folder.rglob("*") if path.is_file() and path.name != "cc"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("echo no room >&2; exit 3", "failed with exit code 3"),
        ("exit 0", "left no library"),
        ("kill -9 $$", "was ended by signal 9"),
        ("sleep 100", "did not end within 0.2 seconds"),
        ("for last; do :; done; : >library.so", "cannot be loaded"),
    ],
    ids=["fails", "makes nothing", "is killed", "hangs", "makes rubbish"],
)
def test_a_compiler_that_does_not_work_is_reported_and_leaves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, expected: str
) -> None:
    scripted(folder, monkeypatch, text)
    monkeypatch.setenv("SONNX_CC_TIMEOUT", "0.2" if "sleep" in text else "20")
    with pytest.raises(sonnx.CompilerError, match=expected):
        clip().compile()
    assert left(folder) == []


def test_after_a_compiler_that_failed_another_one_may_work(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(folder, monkeypatch, "exit 1")
    with pytest.raises(sonnx.CompilerError):
        clip().compile()
    scripted(folder, monkeypatch, 'exec cc "$@"')
    assert clip().compile()({"x": X})["y"].tolist() == [0, 2, 6]


def test_a_compiled_model_says_what_it_is() -> None:
    graph, _ = Conv((1, 3, 20, 20), 8, (3, 3), pads=(1, 1, 1, 1)).model("float")
    run = graph.compile(accumulate="fused", threads=2)
    assert (run.engine, run.threads, run.accumulate, run.graph) == ("native", 2, "fused", graph)
    # Padded input and sums; packed weights of 8·(1 + 27) floats and 9 offsets at least.
    assert run.arena_bytes > 22 * 22 * 3 * 4
    assert run.constant_bytes >= 8 * 28 * 4 + 9 * 8
    assert repr(run) == f"<CompiledGraph on native, 2 threads, arena of {run.arena_bytes:,} bytes>"


def test_an_engine_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="engine must be 'reference', 'native' or 'xla', not 'fast'"):
        run_graph(clip(), {"x": X}, Settings(), engine="fast")  # type: ignore[arg-type]  # that is the point


def test_a_cache_that_cannot_be_written_keeps_nobody_from_running(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "file").touch()
    monkeypatch.setenv("SONNX_CACHE_DIR", str(folder / "file" / "below"))
    assert compile_graph(clip())({"x": X})["y"].tolist() == [0, 2, 6]
    assert os.listdir(folder / "temporary") == []


def test_arrays_are_what_they_were_after_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    x: Array = X.copy()
    with pytest.raises(sonnx.InputError):
        clip().compile()({"x": x, "more": x})
    assert sonnx.same_bits(x, X)
