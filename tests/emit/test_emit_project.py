"""A project as a whole: the same bytes for the same model, a verdict that can fail, memory as stated."""

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.budgets import examples
from tests.check.support import BODY, calling, function
from tests.emit.support import (
    Author,
    assert_passes,
    files_of,
    fold,
    large,
    make,
    needs_gcc,
    one_conv,
    random_model,
    written,
)

import sonnx
from sonnx import xla
from sonnx.emit.errors import EmitError
from sonnx.emit.project import KERNELS, project, write_folder
from sonnx.emit.vectors import draw
from sonnx.model.graph import Constant, Graph, Node, Value
from sonnx.model.tensor_type import tensor_type

pytestmark = pytest.mark.measured

PRINT_DIGEST = """
import hashlib, sys
from tests.emit.support import files_of, random_model
for kernels in ("plain", "fast"):
    files = files_of(random_model(11, 25), kernels=kernels)
    text = b"".join(name.encode() + content for name, content in sorted(files.items()))
    print(hashlib.sha256(text).hexdigest())
"""


@needs_gcc
def test_what_memory_held_before_is_in_no_project(monkeypatch: pytest.MonkeyPatch) -> None:
    # An image among the constants is padded beforehand, and its channels lie apart.
    author = Author(np.random.default_rng(2))
    x = author.constant(np.ones((1, 3, 5, 5), np.float32), "float")
    attributes = {"strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "group": 1}
    more: dict[str, Any] = {**attributes, "kernel_shape": (3, 3), "auto_pad": "NOTSET"}
    author.node("Conv", [x, author.given_input("float", (20, 3, 3, 3))], "float", (1, 20, 5, 5), **more)
    empty = np.empty

    def project_on(byte: int) -> dict[str, bytes]:
        def used(*shape: Any, **how: Any) -> Any:
            array = empty(*shape, **how)
            if array.dtype == np.uint8:
                array[...] = byte
            return array

        with monkeypatch.context() as patch:
            patch.setattr(np, "empty", used)
            return files_of(author.finished(), kernels="fast")

    assert project_on(0) == project_on(0xA5)


@needs_gcc
def test_two_processes_with_other_hashes_write_the_same_bytes() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PRINT_DIGEST],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


@needs_gcc
@pytest.mark.parametrize("kernels", ["plain", "fast"])
def test_no_file_says_where_or_when_it_was_written(kernels: str, tmp_path: Path) -> None:
    for content in files_of(random_model(11, 10), kernels=kernels).values():  # type: ignore[arg-type]  # one of the two
        assert str(Path.cwd()).encode() not in content
        assert not re.search(rb"\b20\d\d-\d\d-\d\d|\d\d:\d\d", content[:2000])


def flipped(content: bytes) -> bytes:
    """The literals with one bit of the first fraction changed."""
    return re.sub(
        rb"(0x1\.[0-9a-f]*?)([0-9a-f])p", lambda found: found[1] + (b"%x" % (int(found[2], 16) ^ 2)) + b"p",
        content, count=1,
    )  # fmt: skip


@needs_gcc
@pytest.mark.parametrize("kernels", ["plain", "fast"])
def test_one_flipped_bit_of_a_weight_fails_the_test(kernels: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "p", one_conv(), kernels=kernels)  # type: ignore[arg-type]  # one of the two
    assert_passes(make(folder))
    weights = folder / "weights.c"
    changed = flipped(weights.read_bytes())
    assert changed != weights.read_bytes()
    weights.write_bytes(changed)
    done = make(folder)
    assert done.returncode != 0
    assert "0 of 1 agree" in done.stdout
    assert "elements differ" in done.stdout
    assert subprocess.run(["./test_model"], cwd=folder, capture_output=True, check=False).returncode == 1


@needs_gcc
def test_a_moved_nan_must_keep_its_bits_and_a_calculated_one_need_not(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", one_conv())
    port = re.search(rb'\{"t\d+", [^}]*\}', (folder / "test_model.c").read_bytes())
    assert port is not None
    assert port[0].endswith(b", 1, 1}")
    moved = files_of(large())["test_model.c"]
    assert all(found.endswith(b", 0, 1}") for found in re.findall(rb'\{"t\d+", [^}]*\}', moved))


@needs_gcc
@pytest.mark.parametrize("kernels", ["plain", "fast"])
def test_many_weights_come_from_a_file_that_is_checked(kernels: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "p", large(), kernels=kernels)  # type: ignore[arg-type]  # one of the two
    assert (folder / "weights.bin").stat().st_size == 9000 * (4 + 8 + 2 + 8 + 1 + 8 + 16 + 1)
    assert_passes(make(folder, cflags="-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"))
    weights = folder / "weights.bin"
    whole = weights.read_bytes()
    for broken in (whole[:-1], whole + b"\0", bytes([whole[0] ^ 1]) + whole[1:], b""):
        weights.write_bytes(broken)
        done = subprocess.run(["./test_model"], cwd=folder, capture_output=True, check=False)
        assert done.returncode == 2
        assert b"weights.bin" in done.stderr
    weights.unlink()
    assert subprocess.run(["./test_model"], cwd=folder, capture_output=True, check=False).returncode == 2


@needs_gcc
def test_a_model_without_its_weights_refuses_to_run(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", large())
    driver = folder / "test_model.c"
    text = driver.read_text(encoding="utf-8")
    driver.write_text(text.replace("if (load_weights(folder) != 0)", "if (0)"), encoding="utf-8")
    assert "unused" in make(folder).stderr
    done = make(folder, cflags="-Wno-unused-function")
    assert done.returncode != 0
    assert "agree" not in done.stdout


@needs_gcc
@pytest.mark.parametrize("cflags", ["-O0", "-O3"])
@pytest.mark.parametrize("kernels", ["plain", "fast"])
def test_the_stack_stays_below_the_stated_bound(kernels: str, cflags: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "p", random_model(13, 12), kernels=kernels)  # type: ignore[arg-type]  # one of the two
    assert make(folder, "all", cflags=f"{cflags} -fstack-usage").returncode == 0
    rows = [
        line.split("\t")
        for file in folder.glob("*.su")
        if file.name != "test_model.su"
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    assert all(kind in ("static", "dynamic,bounded") for _, _, kind in rows)
    largest = sorted((int(size) for _, size, _ in rows), reverse=True)
    stated = re.search(r"\| stack, at most \| ([\d,]+) ", (folder / "README.md").read_text(encoding="utf-8"))
    assert stated is not None
    # No call is deeper than: entry point, node, element or kernel, what that calls.
    assert sum(largest[:4]) <= int(stated[1].replace(",", ""))


@needs_gcc
def test_the_model_needs_nothing_from_a_library(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", random_model(14, 40))
    assert make(folder, "all", cflags="-O2 -ffreestanding").returncode == 0
    symbols = subprocess.run(
        ["nm", "-u", "model.o", "weights.o"], cwd=folder, capture_output=True, text=True, check=True
    ).stdout
    wanted = {line.split()[-1] for line in symbols.splitlines() if " U " in line}
    own = {name for name in wanted if name.startswith("random_model_")}
    # Compilers make these calls of loops and structures by themselves, in freestanding programs too.
    assert wanted - own <= {"memcpy", "memset", "memmove", "_GLOBAL_OFFSET_TABLE_"}


@needs_gcc
def test_the_header_serves_cpp(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", large())
    (folder / "user.cpp").write_text('#include "model.h"\n#include "model.h"\n', encoding="utf-8")
    command = ["gcc", "-x", "c++", "-std=c++11", "-Wall", "-Werror", "-fsyntax-only", "user.cpp"]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if "cc1plus" in found.stderr:
        pytest.skip("gcc comes without C++ here")
    assert found.returncode == 0, found.stderr


@needs_gcc
def test_functions_of_a_model_are_executed_by_their_bodies(tmp_path: Path) -> None:
    graph = sonnx.Graph.of(calling(function(BODY)))
    assert graph.check() == ()
    for kernels in KERNELS:
        folder = written(tmp_path / kernels, graph, kernels=kernels)
        assert_passes(make(folder))
        assert "Clip | `y`" in (folder / "README.md").read_text(encoding="utf-8")


@needs_gcc
@pytest.mark.parametrize("kernels", ["plain", "fast"])
def test_sums_without_terms_are_the_bias(kernels: str, tmp_path: Path) -> None:
    author = Author(np.random.default_rng(3))
    for name, text in {"x": "float16[1,0,3,3]", "w": "float16[2,0,1,1]", "b": "float16[2]"}.items():
        author.types[name] = tensor_type(text)
        author.inputs.append(Value(name, author.types[name]))
    attributes = {"strides": (1, 1), "dilations": (1, 1), "pads": (0, 1, 0, 0), "group": 1}
    more = {"kernel_shape": (1, 1), "auto_pad": "NOTSET"}
    author.node("Conv", ["x", "w", "b"], "float16", (1, 2, 3, 4), **attributes, **more)
    folder = written(tmp_path / "p", author.finished("bias"), kernels=kernels)  # type: ignore[arg-type]  # one of the two
    done = make(folder, cflags="-O1 -fsanitize=address,undefined -fno-sanitize-recover=all")
    assert_passes(done)
    assert done.stdout.count("24 of 24 agree") == 5


def test_what_plain_c_has_no_word_for_is_said() -> None:
    builder = xla.ComputationBuilder("c")
    x = builder.parameter(0, "f32[2]", "x")
    graph = builder.build(builder.clamp(x, x, x)).graph
    with pytest.raises(EmitError, match="Clamp: there is no plain C that tells -0"):
        project(graph, dict, version="test")


@needs_gcc
def test_nodes_on_constants_alone_are_constants_of_a_fast_project(tmp_path: Path) -> None:
    author = Author(np.random.default_rng(2))
    zero, one = (author.constant(np.array(value, np.float32), "float") for value in (0, 1))
    x = author.constant(np.array([-1, 0.5, 2], np.float32), "float")
    folded = author.node("Clip", [x, zero, one], "float", (3,))
    author.node("Clip", [folded, zero, one], "float", (3,))
    graph = author.finished("constants")
    folder = written(tmp_path / "p", graph, kernels="fast")
    assert_passes(make(folder))
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert "| none: its result is a constant | 1 " in text
    assert not re.search(r"\| `node_", text)


@pytest.mark.thinned
@pytest.mark.no_cover
def test_many_nodes_with_one_long_name_are_emitted_in_bounded_time() -> None:
    kind, count = tensor_type("float[1]"), examples(3000)
    bounds = tuple(Constant(name, tensor_type("float[]"), np.zeros((), np.float32)) for name in "lh")
    chain = [f"{'x' * 300} {index}" for index in range(count)]
    nodes = tuple(
        Node("Clip", (before, "l", "h"), (name,), {}, "n" * 3000, version=13)
        for before, name in pairwise(chain)
    )
    ends = (Value(chain[0], kind),), (Value(chain[-1], kind),)
    inner = tuple(Value(name, kind) for name in chain[1:-1])
    files = files_of(sonnx.Graph.of(Graph("g" * 5000, *ends, nodes, bounds, inner, opsets=(("", 22),))))
    assert files["model.c"].count(b"static void node_") == count - 1
    assert sum(map(len, files.values())) < 5000 * count


def test_tensors_that_are_never_needed_together_share_memory() -> None:
    kind = tensor_type("float[100]")
    bounds = tuple(
        Constant(name, tensor_type("float[]"), np.float32(0) * np.ones((), np.float32)) for name in "lh"
    )
    chain = [f"t{index}" for index in range(20)]
    nodes = tuple(
        Node("Clip", (before, "l", "h"), (name,), {}, name, version=13) for before, name in pairwise(chain)
    )
    ends = (Value(chain[0], kind),), (Value(chain[-1], kind),)
    inner = tuple(Value(name, kind) for name in chain[1:-1])
    graph = sonnx.Graph.of(Graph("chain", *ends, nodes, bounds, inner, opsets=(("", 22),)))
    files = files_of(graph)
    assert re.findall(rb"static float buffer_\d+\[(\d+)\];", files["model.c"]) == [b"100", b"100"]
    assert b"| tensors, static | 800 |" in files["README.md"]


def test_strings_have_no_place_in_c() -> None:
    text = tensor_type("string[2]")
    nodes = (Node("Where", ("c", "a\n*/", "a\n*/"), ("y",), {}, "w", version=16),)
    inputs = (Value("c", tensor_type("bool[2]")), Value("a\n*/", text))
    graph = sonnx.Graph.of(Graph("g", inputs, (Value("y", text),), nodes, opsets=(("", 22),)))
    for kernels in KERNELS:
        with pytest.raises(EmitError, match=r"^`a<U\+000A><U\+002A>/` is string\[2\]: elements of that type"):
            files_of(graph, kernels=kernels)


@needs_gcc
def test_fast_kernels_need_somebody_who_packs_their_weights() -> None:
    graph = one_conv()
    with pytest.raises(ValueError, match="need `fold`"):
        project(graph, graph.run, version="test", kernels="fast")
    assert project(graph, graph.run, version="test", kernels="fast", fold=fold)


FLOATING: dict[str, Any] = {
    "float16": np.float16,
    "float": np.float32,
    "double": np.float64,
    "complex64": np.float32,
    "complex128": np.float64,
}


def drawn(*texts: str, nodes: tuple[Node, ...] = ()) -> dict[str, dict[str, np.ndarray]]:
    inputs = tuple(Value(text.partition("[")[0], tensor_type(text)) for text in texts)
    return dict(draw(Graph("g", inputs, (), nodes)))


def test_vectors_hold_what_their_names_say() -> None:
    found = drawn(*(f"{name}[400]" for name in (*FLOATING, "bfloat16", "bool", "int8")))
    assert list(found) == [
        "ordinary numbers",
        "ordinary numbers, bools of any byte",
        "zeros and subnormal numbers",
        "one NaN in every float input",
        "one +infinity in every float input",
        "one -infinity in every float input",
        "many NaNs, infinities and zeros",
    ]
    for name, part in FLOATING.items():
        ordinary, _, small, nan, plus, minus, many = (arrays[name].view(part) for arrays in found.values())
        assert (np.abs(ordinary) <= 2).all()
        assert np.isfinite(small).all()
        assert ((small != 0) & (np.abs(small) < np.finfo(part).tiny)).any()
        assert {False, True} <= set(np.signbit(small[small == 0]).tolist())
        assert (np.isnan(nan).sum(), np.isinf(nan).sum()) == (1, 0)
        for array, infinity in ((plus, np.inf), (minus, -np.inf)):
            assert (array == infinity).sum() == 1
            assert np.isfinite(array).sum() == array.size - 1
        assert np.isnan(many).sum() > 20
        assert np.isinf(many).sum() > 5
    halves = [arrays["bfloat16"].view(np.uint16) for arrays in found.values()]
    assert [int(((words & 0x7FFF) > 0x7F80).sum()) for words in halves[:6]] == [0, 0, 0, 1, 0, 0]
    bools = [arrays["bool"].view(np.uint8).max() for arrays in found.values()]
    assert bools[0] == 1
    assert bools[1] > 1


def test_no_vector_has_a_name_for_what_its_inputs_cannot_hold() -> None:
    assert list(drawn("int8[3]")) == ["ordinary numbers"]
    assert list(drawn("bool[3]", "float[0]")) == ["ordinary numbers", "ordinary numbers, bools of any byte"]
    assert list(drawn()) == ["constants alone"]
    assert np.isnan(drawn("float[]")["one NaN in every float input"]["float"]).all()


def test_special_values_leave_something_to_be_seen_in_a_convolution() -> None:
    author = Author(np.random.default_rng(0))
    author.types["x"] = tensor_type("float[1,2,8,8]")
    author.inputs.append(Value("x", author.types["x"]))
    weights = author.constant(np.ones((3, 2, 3, 3), np.float32), "float")
    attributes = {"strides": (1, 1), "dilations": (1, 1), "pads": (1,) * 4, "group": 1}
    author.node(
        "Conv", ["x", weights], "float", (1, 3, 8, 8), **attributes, kernel_shape=(3, 3), auto_pad="NOTSET"
    )
    graph = author.finished("seen")
    vectors = draw(graph)
    assert [label for label, _ in vectors][2:] == [
        f"one {what} in every float input" for what in ("NaN", "+infinity", "-infinity")
    ]
    for _, inputs in vectors[2:]:
        (output,) = graph.run(inputs).values()
        # A number takes part in nine sums of each channel at most.
        assert 12 <= np.count_nonzero(~np.isfinite(output)) <= 27


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "project"
    with pytest.raises((OSError, ValueError)):
        write_folder(target, {"good.c": b"1", "no/such/folder.c": b"2"})
    assert list(tmp_path.iterdir()) == []
    target.mkdir()
    write_folder(target, {"good.c": b"1"})
    assert [file.name for file in target.iterdir()] == ["good.c"]
    with pytest.raises(EmitError, match="is there already and is no empty folder"):
        write_folder(target, {"other.c": b"2"})
    assert [file.name for file in tmp_path.iterdir()] == ["project"]
    with pytest.raises(EmitError, match=r"good\.c is no folder"):
        write_folder(target / "good.c" / "below" / "project", {"good.c": b"1"})


def test_folders_above_are_made_and_gone_again_where_writing_fails(tmp_path: Path) -> None:
    with pytest.raises((OSError, ValueError)):
        write_folder(tmp_path / "a" / "b" / "p", {"good.c": b"1", "no/such/folder.c": b"2"})
    assert list(tmp_path.iterdir()) == []
    write_folder(tmp_path / "a" / "b" / "p", {"good.c": b"1"})
    assert [str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*.c")] == ["a/b/p/good.c"]
    with pytest.raises((OSError, ValueError)):
        write_folder(tmp_path / "a" / "c" / "p", {"no/such/folder.c": b"2"})
    assert sorted(file.name for file in (tmp_path / "a").iterdir()) == ["b"]


def test_kernels_of_another_name_are_refused_with_the_names_that_there_are() -> None:
    with pytest.raises(ValueError, match=r"^`kernels` must be one of plain, fast, not 'x'$"):
        one_conv().to_c(kernels="x")  # type: ignore[arg-type]  # what is tested


def test_a_graph_that_nobody_checked_with_too_many_elements_is_refused() -> None:
    author = Author(np.random.default_rng(1))
    x = author.given_input("float", (1,))
    shape = author.constant(np.array([2**31], np.int64), "int64")
    author.node("Expand", [x, shape], "float", (2**31,))
    outputs = (Value("t2", author.types["t2"]),)
    graph = Graph("huge", tuple(author.inputs), outputs, tuple(author.nodes), tuple(author.constants))
    with pytest.raises(EmitError, match="more elements than an int32_t can count"):
        project(graph, lambda inputs: {}, version="test")
