"""Every runtime that is known here answers a Clip and a Conv, and is found by its name."""

import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from tests.conformance.runtimes_support import ATTRIBUTES, F, clip_question, conv_question, every_type, trial

from sonnx import TensorType, same_bits
from sonnx.conformance.runtimes import libraries, ours
from sonnx.conformance.runtimes.child import Child
from sonnx.conformance.runtimes.command import read_outputs, tensor_bytes
from sonnx.conformance.runtimes.kept import Kept
from sonnx.conformance.runtimes.question import Question, question
from sonnx.conformance.runtimes.runtime import (
    NAMES,
    LateError,
    ProgramError,
    Runtime,
    UnavailableError,
    named,
    needed,
    version_of,
)
from sonnx.conformance.runtimes.worker import answer_to

BF = ml_dtypes.bfloat16
PACKAGES = {"onnxruntime": "onnxruntime", "jax": "jax", "emx": "emx_onnx_cgen"}
COMPILED = ("emx", "native", "emitted")


def made(name: str, **options: Any) -> Runtime:
    """A runtime, in this process; the test is skipped where it is not there."""
    package = PACKAGES.get(name)
    if package is not None and find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    if name in COMPILED and not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("there is no C compiler")
    return named(name, **options)()


def clip_outcome() -> list[Any]:
    """By hand."""
    return [np.array([-1, 0.5, 1], F)]


def conv_outcome(asked: Question) -> list[Any]:
    """By the sum itself, in integers, which are exact: strides 1 and 2, a line of zeros above and below."""
    X, W, B = (asked.operands[name].astype(np.int64) for name in ("X", "W", "B"))
    padded = np.zeros((2, 2, 6, 5), np.int64)
    padded[:, :, 1:5] = X
    Y = np.zeros((2, 3, 5, 2), F)
    for n, m, i, j in np.ndindex(Y.shape):
        terms = padded[n, :, i : i + 2, 2 * j : 2 * j + 2] * W[m]
        Y[n, m, i, j] = int(B[m]) + sum(terms.reshape(-1).tolist())
    return [Y]


def agree(found: Any, expected: list[Any]) -> bool:
    return len(found) == len(expected) and all(map(same_bits, found, expected))


IN_PROCESS = ("onnxruntime", "reference-evaluator", "jax", "native", "reference", "emitted")


@pytest.mark.parametrize("name", IN_PROCESS)
def test_a_runtime_answers_a_clip_and_a_conv(name: str) -> None:
    runtime = made(name)
    assert runtime.name == name
    assert runtime.version
    asked = clip_question()
    assert runtime.supports(asked)
    assert agree(runtime.run(asked), clip_outcome())
    for constants in ((), ("W", "B")):
        asked = conv_question(*constants)
        assert agree(runtime.run(asked), conv_outcome(asked))


@pytest.mark.long
def test_emx_answers_in_a_child() -> None:
    if find_spec("emx_onnx_cgen") is None or not shutil.which("gcc"):
        pytest.skip("emx-onnx-cgen or gcc is not installed")
    asked = conv_question("W", "B")
    with Child("emx") as child:
        clip, conv, string = child.ask_many(
            [clip_question(), asked, question("where", trial(_strings()))], seconds=120
        )
        assert (child.name, child.version) == ("emx", version_of("emx-onnx-cgen"))
    assert agree(clip.outputs, clip_outcome())
    assert agree(conv.outputs, conv_outcome(asked))
    assert string.kind == "unsupported"


def _strings() -> dict[str, Any]:
    texts = {"X": np.array(["ä\0", "b"], object), "Y": np.array(["c", ""], object)}
    return {"condition": np.array([True, False]), **texts}


@pytest.mark.parametrize(
    ("name", "options", "called"),
    [
        ("onnxruntime", {"level": "none", "opset": 13}, "onnxruntime (level none)"),
        ("reference-evaluator", {"opset": 22}, "reference-evaluator"),
        ("jax", {"jit": False}, "jax (without jit)"),
        ("emitted", {"kernels": "fast"}, "emitted (fast kernels)"),
    ],
)
def test_options_reach_a_runtime(name: str, options: dict[str, Any], called: str) -> None:
    runtime = made(name, **options)
    assert runtime.name == called
    assert agree(runtime.run(clip_question()), clip_outcome())


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("onnxruntime", {"level": "best"}, "`level` must be one of none, basic, extended, all"),
        ("onnxruntime", {"opset": 99}, "`opset`"),
        ("jax", {"jit": "no"}, "`jit` is true or false, not 'no'"),
        ("emitted", {"kernels": "slow"}, "`kernels` must be one of plain, fast"),
        ("native", {"accumulate": "twice"}, "accumulate must be"),
    ],
)
def test_options_that_there_are_not_are_refused(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made(name, **options)


@pytest.mark.parametrize("name", ["reference-evaluator", "native", "reference", "onnxruntime"])
def test_strings_are_moved_whole(name: str) -> None:
    found = made(name).run(question("where", trial(_strings())))
    assert agree(found, [np.array(["ä\0", ""], object)])


@pytest.mark.parametrize("name", ["onnxruntime", "reference-evaluator", "jax", "reference"])
def test_conversions_are_asked_of_runtimes(name: str) -> None:
    runtime = made(name)
    for operand, to, expected in (
        (np.array([1.5, -2.5], F), "bf16", np.array([1.5, -2.5], BF)),
        (np.array([1.5, -2.5], BF), "f32", np.array([1.5, -2.5], F)),
        (np.array([3, -4], np.int32), "f64", np.array([3.0, -4.0])),
    ):
        asked = question("xla.convert_element_type", trial({"operand": operand}, {"new_element_type": to}))
        assert runtime.supports(asked)
        assert agree(runtime.run(asked), [expected])


def xla_questions() -> list[tuple[Question, list[Any]]]:
    """Operations with outcomes by hand."""
    x, one, four = np.array([[1, 5, 3]], F), np.array(2, F), np.array(4, F)
    lhs, rhs = np.array([[[1, 2, 3]]], F), np.array([[[1, 10]]], F)
    general = {"window_strides": (1,), "padding": ((1, -1),), "lhs_dilation": (2,), "rhs_dilation": (2,)}
    cases: list[tuple[str, dict[str, Any], dict[str, Any], list[Any]]] = [
        ("xla.clamp", {"operand": x, "min": one, "max": four}, {}, [np.array([[2, 4, 3]], F)]),
        ("xla.broadcast", {"operand": one}, {"broadcast_sizes": (2, 1)}, [np.array([[2], [2]], F)]),
        ("xla.collapse", {"operand": x}, {"dimensions": (0, 1)}, [np.array([1, 5, 3], F)]),
        (
            "xla.concatenate",
            {"operands0": x, "operands1": x},
            {"dimension": 0},
            [np.array([[1, 5, 3], [1, 5, 3]], F)],
        ),
        (
            "xla.conv",
            {"lhs": lhs, "rhs": rhs},
            {"window_strides": (1,), "padding": "SAME"},
            [np.array([[[21, 32, 3]]], F)],
        ),
        # The base area is 0 1 0 2 0 (a zero before, the last element taken away), the window 1 . 10.
        (
            "xla.conv_with_general_padding",
            {"lhs": lhs, "rhs": rhs},
            general,
            [np.array([[[0, 21, 0]]], F)],
        ),
        (
            "broadcast",
            {"X0": x, "X1": np.array([[1], [2]], np.int8)},
            {},
            [np.array([[1, 5, 3]] * 2, F), np.array([[1] * 3, [2] * 3], np.int8)],
        ),
    ]
    return [(question(op, trial(inputs, told)), outcome) for op, inputs, told, outcome in cases]


@pytest.mark.parametrize("name", ["jax", "reference"])
def test_xla_operations_are_asked_of_those_who_know_them(name: str) -> None:
    runtime = made(name)
    for asked, outcome in xla_questions():
        assert runtime.supports(asked)
        assert agree(runtime.run(asked), outcome), asked.operator


@pytest.mark.parametrize("name", ["onnxruntime", "reference-evaluator", "native", "emitted"])
def test_xla_operations_are_not_asked_of_others(name: str) -> None:
    runtime = made(name)
    assert not any(runtime.supports(asked) for asked, _ in xla_questions())


@pytest.mark.parametrize("name", ["jax", "emitted"])
def test_strings_are_not_asked_of_those_who_have_none(name: str) -> None:
    assert not made(name).supports(question("where", trial(_strings())))


@pytest.mark.parametrize("name", [*IN_PROCESS[2:], "reference-evaluator"])
def test_expand_and_where_are_written_for_every_runtime(name: str) -> None:
    runtime = made(name)
    asked = question("expand", trial({"input": np.array([[1], [2]], F), "shape": np.array([3, 1, 2])}))
    assert agree(runtime.run(asked), [np.array([[[1, 1], [2, 2]]] * 3, F)])
    operands = {"condition": np.array([True, False]), "X": np.array([1, 2], F), "Y": np.array([3, 4], F)}
    assert agree(runtime.run(question("where", trial(operands))), [np.array([1, 4], F)])


def test_emitted_projects_with_weights_in_a_file_are_called() -> None:
    runtime = made("emitted")
    W = (np.arange(70_000, dtype=np.int64) % 7 - 3).astype(F).reshape(7000, 10, 1, 1)
    X = np.ones((1, 10, 1, 1), F)
    told = {**ATTRIBUTES, "strides": (1, 1), "pads": (0, 0, 0, 0), "kernel_shape": (1, 1)}
    asked = question("conv", trial({"X": X, "W": W}, told, "W"))
    exact = [float(sum(line)) for line in W.reshape(7000, 10).astype(int).tolist()]
    assert agree(runtime.run(asked), [np.array(exact, F).reshape(1, 7000, 1, 1)])


def test_empty_arrays_have_a_place_in_c() -> None:
    operands = {"input": np.zeros((0, 3), F), "min": np.array(0, F), "max": np.array(1, F)}
    assert agree(made("emitted").run(question("clip", trial(operands))), [np.zeros((0, 3), F)])
    room = []
    libraries.called(lambda *pointers: room.append(pointers), [np.zeros(0, F)], [TensorType("float", (0, 3))])  # type: ignore[arg-type]  # by its spelling
    assert all(pointer.value for pointer in room[0])
    assert libraries.room((0, 3), np.dtype(F)).nbytes == 12


def test_an_output_that_nobody_writes_is_no_right_answer_by_chance() -> None:
    (left,) = libraries.called(lambda *_: None, [], [TensorType("uint8", (2,))])  # type: ignore[arg-type]  # by its spelling
    assert left.tolist() == [0xA5, 0xA5]


def test_a_compiler_that_fails_says_why(tmp_path: Path) -> None:
    (tmp_path / "bad.c").write_text("int f(void) { return nowhere; }", encoding="ascii")
    cc = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if cc is None:
        pytest.skip("there is no C compiler")
    with pytest.raises(RuntimeError, match=r"fails: bad\.c.*nowhere"):
        libraries.compiled(cc, (), ["bad.c"], tmp_path)


def test_a_missing_compiler_is_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnavailableError, match="install no-such-cc or no-other"):
        libraries.compiler(("no-such-cc", "no-other"))
    monkeypatch.setenv("PATH", "/nowhere")
    for name in ("CC", "SONNX_CC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sonnx.native.compiler.find_compiler", lambda: None)
    with pytest.raises(UnavailableError, match="there is no C compiler"):
        ours.Native()


def test_a_backend_is_given_models_and_a_list_of_arrays() -> None:
    runtime = named("tests.conformance.runtimes_support:FakeBackend")()
    assert runtime.name == "tests.conformance.runtimes_support:FakeBackend"
    assert runtime.version == ""
    assert runtime.supports(clip_question())
    assert agree(runtime.run(clip_question(1, 2)), [np.array([2, 3], F)])
    own = named("sonnx.backend:SonnxBackend", device="CPU", opset=22)()
    assert own.version == version_of("sonnx")
    asked = conv_question()
    assert agree(own.run(asked), conv_outcome(asked))


@pytest.mark.parametrize("text", ["tensorflow", "", "Native", "reference evaluator"])
def test_a_name_that_there_is_not_is_refused_with_those_there_are(text: str) -> None:
    with pytest.raises(ValueError, match=f"there are {', '.join(NAMES)}, and any backend"):
        named(text)


def test_other_names_and_options_are_refused() -> None:
    with pytest.raises(ValueError, match="not of the form module:attribute"):
        named("os:path; rm -r")
    with pytest.raises(ValueError, match="has no option threads; it has provider, level, opset"):
        named("onnxruntime", threads=3)


def test_a_missing_package_is_said_to_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnavailableError, match='no_such is not installed: pip install "no-such>=3"'):
        needed("no_such", "no-such>=3")
    (tmp_path / "half_there.py").write_text("import no_such_part", encoding="ascii")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UnavailableError, match=r"half_there cannot be imported: .*no_such_part"):
        needed("half_there", "half-there")


def test_finding_a_runtime_imports_none() -> None:
    code = (
        "import sys\n"
        "from sonnx.conformance.runtimes.runtime import NAMES, named\n"
        "assert all(callable(named(name)) for name in NAMES)\n"
        "print(sorted({'onnxruntime', 'jax', 'emx_onnx_cgen', 'onnx'} & set(sys.modules)))\n"
    )
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("runtime", "option", "message"),
    [
        ("Evil", "level", "Evil has no option level; it has none"),
        ("EVIL_MADE", "level", "EVIL_MADE has no option level; it has none"),
        ("CannotBeMade", "level", "CannotBeMade has no option level; it has way"),
        ("FakeBackend", "name", "FakeBackend has no option name; it has device, opset"),
    ],
)
def test_options_that_somebodys_runtime_does_not_take_are_named(
    runtime: str, option: str, message: str
) -> None:
    with pytest.raises(UnavailableError, match=f"^the runtime tests.conformance.runtimes_support:{message}$"):
        named(f"tests.conformance.runtimes_support:{runtime}", **{option: "none"})()


@pytest.mark.parametrize("runtime", ["argparse:Namespace", "types:SimpleNamespace"])
def test_what_takes_any_option_or_does_not_say_which_is_given_it(runtime: str) -> None:
    assert named(runtime, run=1, supports=2, name="n", version="v")().version == "v"


def test_what_is_no_runtime_is_refused() -> None:
    support = "tests.conformance.runtimes_support"
    with pytest.raises(UnavailableError, match="NoSuch is not there"):
        named(f"{support}:NoSuch")()
    with pytest.raises(UnavailableError, match=r"neither a backend .* nor a runtime"):
        named(f"{support}:F")()
    with pytest.raises(UnavailableError, match="onnxruntime has no provider 'Abacus'"):
        made("onnxruntime", provider="Abacus")
    assert named(f"{support}:EVIL_MADE")().version == "6.6"


@pytest.mark.parametrize(
    ("runtime", "message"),
    [
        (
            "tests.conformance.runtimes_support:OnlyRuns",
            "is no runtime yet: it has `run`, and lacks `supports`, `name`",
        ),
        ("onnx.reference:ReferenceEvaluator", "cannot be made without `proto`; what is not a backend"),
        ("sonnx.backend:prepare", "cannot be made without `model`; what is not a backend"),
    ],
)
def test_what_is_almost_a_runtime_is_told_what_it_lacks(runtime: str, message: str) -> None:
    with pytest.raises(UnavailableError, match=f"^{runtime} {message}"):
        named(runtime)()


def test_a_module_that_raises_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "booming.py").write_text("raise RuntimeError('boom')", encoding="ascii")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UnavailableError, match=r"^booming cannot be imported: RuntimeError: boom$"):
        named("booming:Runtime")()


def test_the_array_of_a_backend_is_not_taken_for_its_rows() -> None:
    answer = answer_to(named("tests.conformance.runtimes_support:BareBackend")(), clip_question(1, 2))
    assert [str(output) for output in answer.outputs] == ["array, where a list is wanted"]


def test_what_was_made_is_kept_for_questions_of_the_same_structure() -> None:
    calls: list[Question] = []
    kept = Kept(lambda asked: calls.append(asked) or len(calls), most=2)  # type: ignore[func-returns-value]  # always None
    first, same, other, third = (
        clip_question(1),
        clip_question(2),
        clip_question(1, 2),
        clip_question(1, 2, 3),
    )
    assert [kept(first), kept(same), kept(other), kept(first), kept(third)] == [1, 1, 2, 1, 3]
    assert kept(first) == 1
    assert kept(other) == 4


SCRIPT = """
import os, signal, sys, time
import numpy as np, onnx
from onnx import numpy_helper

model, inputs, outputs, way = sys.argv[1:]
read = lambda n: numpy_helper.to_array(onnx.load_tensor(f"{inputs}/input_{n}.pb"))
def write(n, array):
    onnx.save_tensor(numpy_helper.from_array(array), f"{outputs}/output_{n}.pb")
sys.stdout.write("rubbish")
assert onnx.load(model).graph.node[0].op_type == "Clip"
if way == "right":
    x, low, high = map(read, range(3))
    write(0, np.where(x < low, low, np.where(x > high, high, x)))
elif way == "refuse":
    sys.exit("no such operator")
elif way == "crash":
    os.kill(os.getpid(), signal.SIGSEGV)
elif way == "hang":
    time.sleep(1000)
elif way == "script":
    sys.exit(128 + signal.SIGABRT)
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("a runtime") / "it's.py"
    path.write_text(SCRIPT, encoding="ascii")
    return f'{sys.executable} "{path}" {{model}} {{inputs}} {{outputs}}'


def test_a_program_is_a_runtime(script: str) -> None:
    runtime = named("command", line=f"{script} right")()
    assert runtime.name == f"{Path(sys.executable).name} it's.py"
    assert re.fullmatch("sha256 [0-9a-f]{16}", runtime.version)
    assert agree(runtime.run(clip_question()), clip_outcome())


def test_what_a_program_does_is_its_answer(script: str) -> None:
    def run(way: str, **options: Any) -> Any:
        return named("command", line=f"{script} {way}", **options)().run(clip_question())

    with pytest.raises(RuntimeError, match="exit code 1: no such operator"):
        run("refuse")
    with pytest.raises(RuntimeError, match=r"^exit code 1: it printed nothing to its standard error$"):
        named("command", line="false {model} {outputs}")().run(clip_question())
    for way, code in (("crash", -11), ("script", -6)):
        with pytest.raises(ProgramError) as crash:
            run(way)
        assert crash.value.code == code
    with pytest.raises(LateError, match=r"did not end within 0\.3 seconds"):
        run("hang", seconds=0.3)
    assert run("nothing") == []


def test_what_a_program_has_written_is_read_with_care(tmp_path: Path) -> None:
    first = tmp_path / "output_0.pb"
    for name, array in every_type().items():
        first.write_bytes(tensor_bytes(name, array))
        (found,) = read_outputs(tmp_path)
        assert same_bits(found, array) or name == "strange_bool"  # any byte but 0 is true there
    onnx.save_tensor(onnx.helper.make_tensor("x", onnx.TensorProto.FLOAT8E4M3FN, [2], [1.0, 2.0]), first)
    (tmp_path / "output_1.pb").write_bytes(tensor_bytes("y", np.array(1, F)))
    foreign, known = read_outputs(tmp_path)
    assert str(foreign) == "float8e4m3fn[2]"
    assert same_bits(known, np.array(1, F))
    first.write_bytes(b"rubbish")
    unread, _ = read_outputs(tmp_path)
    assert str(unread).startswith("no TensorProto")
    onnx.save_tensor(onnx.TensorProto(data_type=1, dims=[3], raw_data=b"1234"), first)
    unread, same = read_outputs(tmp_path)
    assert str(unread).startswith("TensorProto that cannot be read: its type and shape need 12 bytes")
    assert same_bits(same, np.array(1, F))
    first.unlink()
    assert list(read_outputs(tmp_path)) == []
    os.mkfifo(first)
    assert unreadable(tmp_path) == "file that cannot be read: it is not a plain file"
    first.unlink()
    first.mkdir()
    assert unreadable(tmp_path) == "file that cannot be read: Is a directory"
    first.rmdir()
    first.symlink_to(tmp_path / "nowhere")
    assert unreadable(tmp_path) == "file that cannot be read: No such file or directory"
    first.unlink()
    with first.open("wb") as file:
        file.truncate(2**30)
    assert unreadable(tmp_path) == "file that cannot be read: it has 1,073,741,824 bytes"


def unreadable(folder: Path) -> str | None:
    found, *_ = read_outputs(folder)
    assert isinstance(found, TensorType)
    return found.foreign


SAYING = """
import sys, tempfile
model, inputs, outputs = sys.argv[1:]
sys.exit(f"{model} {inputs}/input_0.pb {outputs} {outputs[:-4]} {tempfile.gettempdir()}")
"""


def test_what_a_program_says_has_no_names_of_chance(tmp_path: Path) -> None:
    script = tmp_path / "saying.py"
    script.write_text(SAYING, encoding="ascii")
    with Child("command", line=f"{sys.executable} {script} {{model}} {{inputs}} {{outputs}}") as child:
        answer = child.ask(clip_question(), 60)
    places = "{model} {inputs}/input_0.pb {outputs} {folder} {temporary}"
    assert answer.text == f"refused: RuntimeError: exit code 1: {places}"


def test_the_script_of_a_program_stands_behind_its_options(tmp_path: Path) -> None:
    script = tmp_path / "prog.py"
    script.write_text("", encoding="ascii")
    runtimes = [
        named("command", line=f"{sys.executable} {options} {script} {{model}} {{outputs}}")()
        for options in ("", "-S -E")
    ]
    assert [runtime.name for runtime in runtimes] == [f"{Path(sys.executable).name} prog.py"] * 2
    assert len({runtime.version for runtime in runtimes}) == 1


def test_a_program_in_a_child_crashes_alone(script: str) -> None:
    with Child("command", line=f"{script} crash") as child:
        answer = child.ask(clip_question(), 60)
    assert answer.text == "crashed: signal 11 (SIGSEGV)"


def _processes_about(word: str) -> list[Path]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended meanwhile
            found += [path] if word.encode() in path.read_bytes() else []
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")
def test_a_program_ends_with_the_child(script: str) -> None:
    with Child("command", line=f"{script} hang") as child:
        assert child.ask(clip_question(), 2.0).kind == "late"
        deadline = time.monotonic() + 5
        while (left := _processes_about(child._folder.name)) and time.monotonic() < deadline:
            time.sleep(0.05)
    assert not left


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("run 'it", "cannot be read"),
        ("run {model} {output}", r"there is no \{output\} in a command line; there are \{model\}"),
        ("run {model}", r"names a program, \{model\} and \{outputs\}"),
        ("", "names a program"),
    ],
)
def test_a_command_line_that_is_none_is_refused(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        named("command", line=line)()


def test_a_program_that_is_not_there_is_said_to_be_missing() -> None:
    with pytest.raises(UnavailableError, match="there is no program 'no-such-program'"):
        named("command", line="no-such-program {model} {outputs}")()
