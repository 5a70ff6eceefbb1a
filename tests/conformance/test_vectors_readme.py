"""The program in the README of test vectors judges runtimes as the specification does, and without sonnx."""

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from tests.conformance.vectors_support import (
    CASES,
    cases,
    judge_of,
    npy,
    program,
    some_parts,
    some_vectors,
    tensor,
    trials_of,
)

import sonnx
from sonnx.conformance.runtimes.question import question
from sonnx.conformance.subjects import subject_named
from sonnx.conformance.vector_files import interval
from sonnx.model.dtype import DType
from sonnx.numeric.enclosure import Enclosure

TOTAL = sum(map(len, CASES.values()))
BOUNDS = "clip/float/beside-the-bounds"
CLAMP = "xla.clamp/float/from-quiet-nan-to-smallest"
SQUARE = "conv/float/sum-square-less-one-along-columns"
OUTPUT = "test_data_set_0/output_0.pb"
Runtime = Callable[[Path, dict[str, Any]], Sequence[Any]]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return some_vectors(tmp_path_factory.mktemp("some") / "vectors")


@pytest.fixture
def judge(tree: Path) -> ModuleType:
    return judge_of(tree)


def from_files(model: Path, inputs: dict[str, Any]) -> list[Any]:
    """A stand-in that says what the .npy files say; strings have none."""
    case = model.parent
    if not (case / "test_data_set_0" / "output_0.npy").exists():  # which stops where it must
        return ours(model, inputs)
    array = npy(case.parent, case.name, "output_0")
    return [array.view(ml_dtypes.bfloat16) if array.dtype == np.uint16 else array]


def ours(model: Path, inputs: dict[str, Any]) -> list[Any]:
    """The specification as a runtime."""
    return list(sonnx.load(model).run(inputs).values())


def changed(runtime: Runtime, case: str, change: Callable[[Any], Any]) -> Runtime:
    """The same runtime, whose output to one case is changed."""

    def run(model: Path, inputs: dict[str, Any]) -> Sequence[Any]:
        (output,) = runtime(model, inputs)
        return [change(output.copy())] if str(model.parent).endswith(case) else [output]

    return run


def verdict(judge: ModuleType, folder: Path, case: str, runtime: Runtime) -> str:
    judge.__dict__["run"] = runtime
    said: str = judge.judge_case(folder, cases(folder)[case], {})
    return said


# --- the program as it stands ------------------------------------------------------------------------------


def test_the_program_needs_onnx_and_numpy_alone(tree: Path) -> None:
    modules = set()
    for node in ast.walk(ast.parse(program(tree))):
        if isinstance(node, ast.Import):
            modules |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add(str(node.module).split(".")[0])
    assert modules - set(sys.stdlib_module_names) == {"numpy", "onnx"}


def test_it_judges_the_reference_evaluator(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "judge.py").write_text(program(tree), encoding="utf-8")
    command = [sys.executable, "judge.py", str(tree)]
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=tmp_path, env=alone, capture_output=True, check=False, timeout=120)
    *lines, last = done.stdout.decode().splitlines()
    said = dict(line.split(" ", 1) for line in lines)
    assert done.returncode == 1
    # NumPy's minimum takes a NaN for a bound.
    assert said["clip/float/from-quiet-nan-to-one"].startswith("departs: ")
    assert said["xla.clamp/float/from-quiet-nan-to-smallest"] == "refused: NotImplementedError"
    assert said.keys().isdisjoint({BOUNDS, "clip/int8/beside-the-bounds", SQUARE})
    counts = {what: int(number) for number, what in (each.split(" ") for each in last.split(", "))}
    assert sum(counts.values()) == TOTAL
    assert counts["refused"] >= 5
    assert counts["bits"] >= 8


def test_the_specification_conforms(
    tree: Path, judge: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    judge.__dict__["run"] = from_files
    assert judge.main(tree, []) == 0
    assert capsys.readouterr().out == f"{TOTAL - 14} bits, 13 separate, 1 stop\n"
    judge.__dict__["run"] = ours
    onnx_ones = ("clip", "where", "expand")
    exact = sum(len(names) for (operator, _), names in CASES.items() if operator in onnx_ones)
    assert judge.main(tree, [*onnx_ones, "conv"]) == 0
    assert capsys.readouterr().out == f"{exact} bits, 12 separate\n"


def test_nothing_judged_is_no_success(
    tree: Path, judge: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judge.main(tree, ["xla.clamp"]) == 2
    assert capsys.readouterr().out.splitlines()[-1] == "2 refused"
    assert judge.main(tree, ["relu"]) == 2
    assert capsys.readouterr().out == "no such case\n"
    # Who refuses everything, what has no result among it, has not been judged.
    judge.__dict__["run"] = lambda *_: 1 / 0
    assert judge.main(tree, ["div"]) == 2
    assert capsys.readouterr().out.splitlines()[-1] == "1 refused, 1 stop"


def test_outputs_where_a_run_must_stop_depart(tree: Path, judge: ModuleType) -> None:
    case = "div/int8/stops-at-the-last"
    assert verdict(judge, tree, case, ours) == "stop"
    assert verdict(judge, tree, case, lambda *_: []) == "departs: outputs where the run must stop"
    given = np.zeros(67, np.int8)
    assert verdict(judge, tree, case, lambda *_: [given]) == "departs: outputs where the run must stop"


# --- what it notices ---------------------------------------------------------------------------------------


def damage(path: Path) -> None:
    """Turn the lowest bit of the last byte, which belongs to the last element."""
    proto = onnx.load_tensor(str(path))
    if proto.string_data:
        *head, last = proto.string_data
        del proto.string_data[:]
        proto.string_data.extend([*head, last[:-1] + bytes([last[-1] ^ 1])])
    else:
        proto.raw_data = proto.raw_data[:-1] + bytes([proto.raw_data[-1] ^ 1])
    path.write_bytes(proto.SerializeToString())


@pytest.mark.parametrize(
    "case",
    [
        *(BOUNDS, "clip/int8/beside-the-bounds", "where/bfloat16/special-values"),
        *("where/string/special-values", "expand/float/special-values"),
        *(
            "xla.clamp/float/from-minus-one-to-zero-constant",
            "xla.convert_element_type/complex64/edges-of-c128",
        ),
        *("xla.conv/int8/one-spatial-dimension-same-constant",),
    ],
)
def test_a_wrong_bit_in_an_output_file_is_noticed(
    case: str, judge: ModuleType, tree: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "mine"
    shutil.copytree(tree / case, mine / case)
    shutil.copy(tree / "manifest.json", mine)
    right = judge.read(tree / case / OUTPUT)
    assert verdict(judge, mine, case, lambda *_: [right]) == "bits"
    damage(mine / case / OUTPUT)
    assert verdict(judge, mine, case, lambda *_: [right]) == "departs: 1 elements of output"


def test_a_wrong_sign_of_a_sum_is_noticed(judge: ModuleType, tree: Path) -> None:
    assert verdict(judge, tree, SQUARE, from_files) == "separate"
    assert (
        verdict(judge, tree, SQUARE, changed(from_files, SQUARE, np.negative)) == "departs: 1 elements of Y"
    )


@pytest.mark.parametrize(
    ("bits", "said"),
    [
        (0x3A000000, "separate"),
        (0x3A000400, "fused"),
        (0x3A000200, "enclosure"),
        (0x3B000000, "departs: 1 elements of Y"),
        (0x7FC00000, "departs: 1 elements of Y"),
    ],
)
def test_sums_are_graded(bits: int, said: str, judge: ModuleType, tree: Path) -> None:
    result = np.array([bits], np.uint32).view(np.float32).reshape(1, 1, 1, 1)
    assert verdict(judge, tree, SQUARE, lambda *_: [result]) == said


def test_nans_differ_only_where_they_are_moved(judge: ModuleType, tree: Path) -> None:
    def other_nans(array: Any) -> Any:
        array[np.isnan(array)] = np.array(0x7FC01234, np.uint32).view(np.float32)
        return array

    case = "clip/float/from-quiet-nan-to-one"
    assert verdict(judge, tree, case, changed(from_files, case, other_nans)).startswith("departs: ")
    assert verdict(judge, tree, CLAMP, changed(from_files, CLAMP, other_nans)) == "bits"
    assert verdict(judge, tree, CLAMP, changed(from_files, CLAMP, np.zeros_like)).startswith("departs: ")


def test_the_sign_of_a_zero_is_noticed(judge: ModuleType, tree: Path) -> None:
    case = "clip/float/from-minus-one-to-one"

    def positive(array: Any) -> Any:
        array[array == 0] = 0.0
        return array

    said = verdict(judge, tree, case, changed(from_files, case, positive))
    assert said == "departs: 1 elements of output"


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        (lambda right: [right.astype(np.float64)], "departs: output has another type or shape"),
        (lambda right: [right.reshape(-1, 1)], "departs: output has another type or shape"),
        (lambda right: [right, right], "departs: another number of outputs"),
        (lambda right: [right.tolist()], "departs: output has another type or shape"),
        (lambda right: 1 / 0, "refused: ZeroDivisionError"),
    ],
)
def test_other_outputs_are_told(
    outputs: Callable[[Any], Any], said: str, judge: ModuleType, tree: Path
) -> None:
    right = npy(tree, BOUNDS, "output_0")
    assert verdict(judge, tree, BOUNDS, lambda *_: outputs(right)) == said


def test_a_twin_with_other_bits_is_noticed(
    tree: Path, judge: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    def fused(model: Path, _: dict[str, Any]) -> list[Any]:
        folder, case = model.parent.parent, model.parent.name
        return [npy(folder, case, "output_0_fused" if case.endswith("-constant") else "output_0")]

    judge.__dict__["run"] = fused
    assert judge.main(tree, [SQUARE]) == 1
    assert (
        capsys.readouterr().out
        == f"{SQUARE}-constant departs: other bits than {SQUARE}\n1 departs, 1 separate\n"
    )


def test_strings_are_read_whole(judge: ModuleType, tree: Path) -> None:
    case = "where/string/special-values"
    path = tree / case / OUTPUT
    assert [text.encode() for text in judge.read(path).reshape(-1)] == list(
        tensor(tree, case, "output_0").string_data
    )
    assert "a\0" in judge.read(path).reshape(-1).tolist()


# --- the enclosure -----------------------------------------------------------------------------------------


def test_the_files_judge_sums_as_the_enclosure_does(judge: ModuleType) -> None:
    seen = set()
    for part in some_parts():
        subject = subject_named(part.operator)
        if subject.enclose is None or part.dtype is DType.INT8:
            continue
        trial = trials_of(part.operator, part.dtype)[part.first]
        asked = question(subject.operator, trial)
        (enclosure,) = subject.enclose(asked.operands, asked.attributes).values()
        low, high, special = interval(enclosure)
        for ends in (low, high):
            for value in (ends, np.nextafter(ends, -np.inf), np.nextafter(ends, np.inf)):
                inside = enclosure.holds(value)
                assert np.array_equal(~judge.outside(value, low, high, special), inside)
                seen |= set(zip(special.reshape(-1).tolist(), inside.reshape(-1).tolist(), strict=True))
        for number in (0.0, -1.0, 1e300, np.inf, -np.inf, np.nan):
            value = np.full(low.shape, number)
            inside = enclosure.holds(value)
            assert np.array_equal(~judge.outside(value, low, high, special), inside)
            seen |= set(zip(special.reshape(-1).tolist(), inside.reshape(-1).tolist(), strict=True))
    assert {code for code, _ in seen} >= {0, 1, 2, 3, 4}
    assert {(code, inside) for code in (0, 1, 2, 3, 4) for inside in (False, True)} <= seen


SPECIAL = {0: 0.0, 1: np.nan, 2: np.inf, 3: -np.inf}


def test_table_program_and_enclosure_say_the_same(judge: ModuleType, tree: Path) -> None:
    _, _, rest = (tree / "README.md").read_text(encoding="utf-8").partition("| special | a finite number")
    rows = [line.strip("| ").split(" | ") for line in rest.splitlines()[2:11]]
    table = {int(code): row[1:] for row in rows for code in row[0].split(", ")}
    assert set(table) == set(range(16))
    found = np.array([0.25, 0.5, 1.5, 1.75, np.inf, -np.inf, np.nan])
    for code, (number, *others) in table.items():
        special = np.full(found.shape, SPECIAL[code & 3])
        exact = np.array([Fraction(1)] * len(found), object)
        above, below = (np.full(found.shape, bool(code & bit)) for bit in (4, 8))
        enclosure = Enclosure(special, exact, np.full(found.shape, 0.5), above, below, ~above & above)
        between = number == "from low to high"
        expected = [False, between, between, False, *(text == "yes" for text in others)]
        assert enclosure.holds(found).tolist() == expected
        low, high, codes = interval(enclosure)
        assert set(codes.tolist()) == {code}
        assert (~judge.outside(found, low, high, codes)).tolist() == expected


def test_program_and_enclosure_say_the_same_of_zeros(judge: ModuleType) -> None:
    found = np.array([0.0, -0.0, 0.0, -0.0, 1.0])
    exact = np.array([Fraction(0)] * len(found), object)
    no, positive = np.zeros(5, bool), np.array([True, True, False, False, True])
    enclosure = Enclosure(np.zeros(5), exact, np.ones(5), no, no, positive)
    low, high, codes = interval(enclosure)
    assert codes.tolist() == [16, 16, 0, 0, 16]
    assert enclosure.holds(found).tolist() == [True, False, True, True, True]
    assert (~judge.outside(found, low, high, codes)).tolist() == [True, False, True, True, True]
