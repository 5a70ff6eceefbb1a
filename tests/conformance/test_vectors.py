"""Test vectors: read without sonnx, they hold what was worked out by hand; nothing half-written stays."""

import hashlib
import json
import pickle
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from importlib.resources import files
from math import inf, nan, nextafter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.backend.test.loader import load_model_tests
from tests.conformance.vectors_support import (
    CASES,
    cases,
    contents,
    npy,
    some_parts,
    some_vectors,
    tensor,
    words,
)
from tests.loops import for_each

from sonnx import __version__
from sonnx.conformance import vectors
from sonnx.conformance.subjects import SUBJECTS, subject_named
from sonnx.conformance.vector_files import interval, npy_bytes
from sonnx.conformance.vectors import Made, Share, case_files, cell_files, parts, write_vectors
from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array
from sonnx.numeric.enclosure import Enclosure
from sonnx.operators.rulebook import rules
from sonnx.vocabulary.rule import RULING

EXPAND = ("expand", DType.INT8)
SQUARE = "conv/float/sum-square-less-one-along-columns"


Make = Callable[[Share], Made]
Work = Sequence[tuple[Share]]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return some_vectors(tmp_path_factory.mktemp("some") / "vectors")


# --- what is in the files ----------------------------------------------------------------------------------


def test_every_case_has_a_folder_and_a_line(tree: Path) -> None:
    wanted = {f"{operator}/{kind}/{name}" for (operator, kind), names in CASES.items() for name in names}
    assert set(cases(tree)) == wanted
    answered = {str(path.parent.parent.relative_to(tree)) for path in tree.rglob("output_0.pb")}
    assert answered == wanted - {"div/int8/stops-at-the-last"}
    head = json.loads((tree / "manifest.json").read_text(encoding="utf-8"))
    assert (head["format"], head["seed"], head["opset"], head["sonnx"]) == (2, 0, 26, __version__)
    assert {case["compare"] for case in cases(tree).values()} == set(head["compare"])
    assert list(cases(tree)) == sorted(wanted)


def test_every_file_that_is_named_is_there_and_no_other(tree: Path) -> None:
    named = {"manifest.json", "README.md", "SHA256SUMS"}
    for path, case in cases(tree).items():
        tensors = [*case["inputs"], *case["constants"], *case["outputs"]]
        keys = ("pb", "npy", "fused", "low", "high", "special")
        found = [case["model"], *(each.get(key) for each in tensors for key in keys)]
        named |= {f"{path}/{name}" for name in found if name}
    assert named == set(contents(tree))


def test_a_number_beside_a_bound_is_limited_by_hand(tree: Path) -> None:
    case = "clip/float/beside-the-bounds"
    ten = ["411ffffe", "411fffff", "41200000", "41200001", "41200002"]
    hundred = ["42c7fffe", "42c7ffff", "42c80000", "42c80001", "42c80002"]
    assert words(tensor(tree, case, "input_0").raw_data) == ten + hundred
    assert words(tensor(tree, case, "input_1").raw_data) == ["41200000"]
    assert words(tensor(tree, case, "input_2").raw_data) == ["42c80000"]
    expected = ["41200000"] * 3 + ten[3:] + hundred[:2] + ["42c80000"] * 3
    assert words(tensor(tree, case, "output_0").raw_data) == expected
    small = tensor(tree, "clip/int8/beside-the-bounds", "output_0")
    assert list(small.raw_data) == [10, 10, 10, 11, 12, 98, 99, 100, 100, 100]


def test_where_a_run_must_stop_there_is_no_output(tree: Path) -> None:
    path = "div/int8/stops-at-the-last"
    case = cases(tree)[path]
    assert (case["compare"], case["outputs"], case["shows"]) == ("stop", [], ["D-ALL-11"])
    *rest, last = npy(tree, path, "input_1").tolist()
    assert (0 in rest, last, len(rest)) == (False, 0, 66)


def test_signalling_nans_and_signs_of_zeros_are_kept(tree: Path) -> None:
    case = "clip/float/from-minus-one-to-one"
    given, made = (words(tensor(tree, case, name).raw_data) for name in ("input_0", "output_0"))
    kept = [
        place
        for place, word in enumerate(given)
        if word == "80000000" or int(word, 16) & 2**31 - 1 > 2**31 - 2**23
    ]
    assert {"80000000"} < {given[place] for place in kept}
    # The greatest exponent, not quiet, of either sign.
    assert {0x1FE, 0x3FE} <= {int(given[place], 16) >> 22 for place in kept}
    assert [made[place] for place in kept] == [given[place] for place in kept]
    assert npy(tree, case, "output_0").tobytes() == tensor(tree, case, "output_0").raw_data


def test_shapes_and_names_are_those_of_the_model(tree: Path) -> None:
    for path, case in cases(tree).items():
        for kind in ("inputs", "constants", "outputs"):
            for number, each in enumerate(case[kind]):
                stem = f"{kind[:-1]}_{number}"
                assert each["pb"] == f"test_data_set_0/{stem}.pb"
                proto = tensor(tree, path, stem)
                assert (proto.name, list(proto.dims)) == (each["name"], each["shape"])
                assert onnx.TensorProto.DataType.Name(proto.data_type).lower() == each["type"]
    assert [each["shape"] for each in cases(tree)["clip/float/shape-scalar"]["outputs"]] == [[]]
    empty = cases(tree)["clip/float/shape-no-elements-in-the-middle"]
    assert [each["shape"] for each in empty["outputs"]] == [[2, 0, 3]]


def test_npy_and_pb_hold_the_same_bits(tree: Path) -> None:
    seen = set()
    for path, case in cases(tree).items():
        for each in (*case["inputs"], *case["constants"], *case["outputs"]):
            if each["npy"]:
                array = np.load(tree / path / each["npy"], allow_pickle=False)
                assert array.dtype.str == each["npy_type"]
                assert list(array.shape) == each["shape"]
                proto = onnx.load_tensor(str(tree / path / each["pb"]))
                assert array.tobytes() == proto.raw_data
                seen.add((each["type"], each["npy_type"]))
            else:
                assert (each["type"], each["npy_type"]) == ("string", None)
    assert {("bfloat16", "<u2"), ("complex64", "<c8"), ("bool", "|b1"), ("int8", "|i1")} <= seen


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (1,) * 40])
@pytest.mark.parametrize("dtype", [np.float16, np.complex128, np.int64, np.bool_])
def test_numpy_reads_the_arrays_that_are_written(shape: tuple[int, ...], dtype: Any, tmp_path: Path) -> None:
    array = np.arange(np.prod(shape, dtype=int)).astype(dtype).reshape(shape)
    (tmp_path / "a.npy").write_bytes(npy_bytes(array))
    read = np.load(tmp_path / "a.npy", allow_pickle=False)
    assert (read.shape, read.dtype, read.tobytes()) == (array.shape, array.dtype, array.tobytes())
    turned = np.arange(6, dtype=np.int16).reshape(2, 3).T
    (tmp_path / "t.npy").write_bytes(npy_bytes(turned))
    assert np.load(tmp_path / "t.npy").tolist() == [[0, 3], [1, 4], [2, 5]]
    with pytest.raises(ValueError, match="strings"):
        npy_bytes(np.array(["a"], object))


def test_strings_keep_a_nul_at_their_end(tree: Path) -> None:
    case = "where/string/special-values"
    assert b"a\0" in tensor(tree, case, "output_0").string_data
    assert not (tree / case / "test_data_set_0" / "output_0.npy").exists()
    (condition,) = [each for each in cases(tree)[case]["inputs"] if each["type"] == "bool"]
    assert condition["npy_type"] == "|b1"


def test_bfloat16_is_its_bits(tree: Path) -> None:
    array = npy(tree, "where/bfloat16/special-values", "output_0")
    assert array.dtype == np.dtype("<u2")
    found = {int(bits) for bits in array.reshape(-1)}
    # A negative sign, the greatest exponent, and a fraction that is not 0 and not quiet.
    assert any(bits >> 7 == 0x1FF and bits & 0x7F and not bits & 0x40 for bits in found)


# --- models ------------------------------------------------------------------------------------------------


def test_models_ask_what_the_manifest_says(tree: Path) -> None:
    asked = set()
    for path, case in cases(tree).items():
        if case["model"] == "model.onnx":
            model = onnx.load(str(tree / path / "model.onnx"))
            onnx.checker.check_model(model, full_check=True)
            (node,) = model.graph.node
            assert (node.op_type, model.opset_import[0].version) == (case["onnx"]["operator"], 26)
            assert [each.name for each in model.graph.input] == [each["name"] for each in case["inputs"]]
            made = [each.name for each in model.graph.output]
            # Where the run must stop, nothing is demanded of them.
            assert [each["name"] for each in case["outputs"]] == (made if case["compare"] != "stop" else [])
            held = {each.name: each.SerializeToString() for each in model.graph.initializer}
            stored = {each["name"]: (tree / path / each["pb"]).read_bytes() for each in case["constants"]}
            assert held == stored
            asked.add((node.op_type, case["onnx"]["outside_profile"]))
        else:
            assert case["onnx"] is None
            assert "stablehlo." in (tree / path / case["model"]).read_text(encoding="ascii")
    onnx_ones = ("Clip", "Conv", "Div", "Expand", "Where")
    assert asked == {*((name, False) for name in onnx_ones), ("Cast", True)}


def test_onnx_reads_the_folders_as_its_own(tree: Path) -> None:
    found = {case.name: Path(case.model_dir or "") for case in load_model_tests(str(tree / "clip"), "float")}
    assert set(found) == set(CASES["clip", "float"])
    assert all((folder / "model.onnx").is_file() for folder in found.values())


def test_constants_are_in_the_model_and_not_among_its_inputs(tree: Path) -> None:
    held = cases(tree)["clip/float/from-minus-zero-to-one-constant"]
    assert [each["name"] for each in held["inputs"]] == ["input"]
    assert [each["name"] for each in held["constants"]] == ["min", "max"]
    expand = cases(tree)["expand/float/special-values"]
    assert [each["name"] for each in expand["constants"]] == ["shape"]
    clamp = cases(tree)["xla.clamp/float/from-minus-one-to-zero-constant"]
    assert (clamp["model"], len(clamp["inputs"]), len(clamp["constants"])) == ("model.mlir", 1, 2)


def test_a_case_without_any_model_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> str:
        raise ValueError("XLA has no such thing")

    monkeypatch.setattr(vectors, "stablehlo_text", refuse)
    (part,) = [each for each in some_parts() if (each.operator, each.dtype) == ("xla.conv", "int8")]
    made = cell_files(part)
    (entry,) = [json.loads(text) for _, text in made.entries]
    assert (entry["model"], entry["no_model"], entry["onnx"]) == (None, "XLA has no such thing", None)
    assert not any("model" in path for path, _ in made.files)


# --- how results are compared ------------------------------------------------------------------------------


def test_each_case_is_compared_as_its_results_are_specified(tree: Path) -> None:
    compared = {path: case["compare"] for path, case in cases(tree).items()}
    assert {kind for path, kind in compared.items() if path.startswith(("clip", "where", "expand"))} == {
        "bits"
    }
    assert {kind for path, kind in compared.items() if path.startswith("conv")} == {"enclosure"}
    assert compared["xla.clamp/float/from-quiet-nan-to-smallest"] == "any NaN"
    assert compared["xla.conv/bfloat16/one-spatial-dimension-same"] == "enclosure"
    assert compared["xla.conv/int8/one-spatial-dimension-same-constant"] == "bits"
    assert compared["xla.convert_element_type/float/special-values-to-s32"] == "bits"
    assert compared["xla.convert_element_type/float/special-values-to-bf16"] == "any NaN"
    assert compared["xla.convert_element_type/complex64/edges-of-c128"] == "any NaN"
    assert compared["xla.convert_element_type/complex64/random-1-to-pred"] == "bits"


def test_both_modes_of_a_sum_are_there(tree: Path) -> None:
    # (1 + 2^-12)^2 - 1 = 2^-11 + 2^-24; a product that is rounded loses the last bit.
    assert words(tensor(tree, SQUARE, "output_0").raw_data) == ["3a000000"]
    assert words(npy(tree, SQUARE, "output_0_fused").tobytes()) == ["3a000400"]
    low, high = (float(npy(tree, SQUARE, f"output_0_{end}").item()) for end in ("low", "high"))
    assert 0 < low < 2**-11 < 2**-11 + 2**-24 < high < 2**-10
    assert npy(tree, SQUARE, "output_0_special").tolist() == [[[[16]]]]


@pytest.mark.parametrize(
    ("name", "bits", "special"),
    [
        ("sum-cancel-along-channels", "00000000", 16),
        ("sum-nan-times-zero-along-columns", None, 1),
        ("sum-infinity-along-columns", "ff800000", 3),
        ("sum-largest-and-back-along-columns", "7f800000", 28),
        ("sum-minus-zeros-along-columns", "80000000", 0),
    ],
)
def test_what_is_special_about_a_sum_is_told(name: str, bits: str | None, special: int, tree: Path) -> None:
    case = f"conv/float/{name}"
    (found,) = words(tensor(tree, case, "output_0").raw_data)
    assert found == bits or (bits is None and int(found, 16) & 0x7FFFFFFF > 0x7F800000)
    assert npy(tree, case, "output_0_special").reshape(-1).tolist() == [special]


def test_the_lost_one_of_a_sum_lies_in_the_enclosure(tree: Path) -> None:
    # 2^25 + 1 - 2^25 is 0 in the specified order and 1 in another.
    low, high = (
        npy(tree, "conv/float/sum-cancel-along-channels", f"output_0_{end}").item() for end in ("low", "high")
    )
    assert low <= 0
    assert 1 <= high < 2**6


@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.DOUBLE])
def test_sums_of_no_elements_can_be_written_too(dtype: DType) -> None:
    seen = 0
    for subject in SUBJECTS:
        for trial in (
            subject.trials(dtype, 0) if subject.enclose is not None and dtype in subject.types else ()
        ):
            if any(0 in array.shape for array in trial.inputs.values()):
                seen += 1
                assert {"model.onnx", "model.mlir"} & case_files(subject.identifier, dtype, trial).keys()
    assert seen >= 6


def test_a_case_with_constants_names_its_twin(tree: Path) -> None:
    twins = {path: case["twin"] for path, case in cases(tree).items() if case["twin"]}
    assert twins == {
        f"{SQUARE}-constant": SQUARE,
        "conv/float16/everything-unlike-constant": "conv/float16/everything-unlike",
        "xla.conv/int8/one-spatial-dimension-same-constant": "xla.conv/int8/one-spatial-dimension-same",
    }


def test_conversions_to_integers_are_those_of_the_ruling(tree: Path) -> None:
    case = "xla.convert_element_type/float/special-values-to-s32"
    pairs = dict(zip(npy(tree, case, "input_0").tolist(), npy(tree, case, "output_0").tolist(), strict=True))
    assert (pairs[inf], pairs[-inf], pairs[1.0], pairs[-0.0]) == (2**31 - 1, -(2**31), 1, 0)
    numbers = npy(tree, case, "output_0")[np.isnan(npy(tree, case, "input_0"))]
    assert set(numbers.tolist()) == {0}


# --- enclosures --------------------------------------------------------------------------------------------


def enclosure(
    special: float, exact: Fraction, bound: float, above: bool = False, below: bool = False
) -> Enclosure:
    numbers = np.empty(1, object)
    numbers[0] = exact
    flags = (np.array([each]) for each in (above, below, False))
    return Enclosure(np.array([special]), numbers, np.array([bound]), *flags)


@for_each("exact", [Fraction(1, 3), Fraction(-7, 2**1080), Fraction(2**60 + 1), Fraction(0)])
@for_each("bound", [0.0, 5e-324, 2.0**-60, 0.1, 3e300])
def test_the_ends_are_the_outermost_doubles_inside(exact: Fraction, bound: float) -> None:
    low, high, special = interval(enclosure(0.0, exact, bound))
    below, above = exact - Fraction(bound), exact + Fraction(bound)
    assert Fraction(nextafter(low[0], -inf)) < below <= Fraction(low[0])
    assert Fraction(high[0]) <= above < Fraction(nextafter(high[0], inf))
    assert special.tolist() == [0]
    assert special.dtype == np.uint8


def test_ends_beyond_all_doubles_hold_no_finite_number() -> None:
    largest = 1.7976931348623157e308
    low, high, _ = interval(enclosure(0.0, Fraction(2) ** 1024, 1.0, True))
    assert (low[0], high[0]) == (inf, largest)
    low, high, _ = interval(enclosure(0.0, Fraction(-(2**2000)), 1.0, False, True))
    assert (low[0], high[0]) == (-largest, -inf)
    low, high, special = interval(enclosure(0.0, Fraction(0), inf, True))
    assert (low[0], high[0], special[0]) == (-inf, inf, 4)


@pytest.mark.parametrize(("special", "code"), [(nan, 1), (inf, 2), (-inf, 3)])
@pytest.mark.parametrize("above", [False, True])
@pytest.mark.parametrize("below", [False, True])
def test_what_is_not_finite_has_a_code(special: float, code: int, above: bool, below: bool) -> None:
    low, high, codes = interval(enclosure(special, Fraction(0), 0.0, above, below))
    assert codes.tolist() == [code + 4 * above + 8 * below]
    assert np.array_equal([low, high], [[special], [special]], equal_nan=True)


# --- identifiers -------------------------------------------------------------------------------------------


def test_every_rule_and_ruling_that_is_shown_is_known(tree: Path) -> None:
    pages = files("sonnx.operators")
    folders = [
        folder for group in ("onnx", "xla") for folder in pages.joinpath(group).iterdir() if folder.is_dir()
    ]
    texts = [
        folder.joinpath("page.md")
        for folder in (*folders, pages.joinpath("general"), pages.joinpath("graph"))
    ]
    rulings = {name for page in texts if page.is_file() for name in RULING.findall(page.read_text("utf-8"))}
    known = {rule.identifier for rule in rules()} | rulings
    shown = {identifier for case in cases(tree).values() for identifier in case["shows"]}
    assert shown - known == set()
    assert {"D-CONV-6", "conv.pads.C1"} <= shown


# --- the whole ---------------------------------------------------------------------------------------------


def test_the_sums_are_those_of_all_files(tree: Path) -> None:
    lines = (tree / "SHA256SUMS").read_text(encoding="ascii").splitlines()
    expected = {
        f"{hashlib.sha256(content).hexdigest()}  {name}"
        for name, content in contents(tree).items()
        if name != "SHA256SUMS"
    }
    assert len(lines) == len(expected)
    assert set(lines) == expected


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="needs sha256sum")
def test_sha256sum_accepts_the_sums_and_notices_a_wrong_bit(tmp_path: Path) -> None:
    folder = tmp_path / "vectors"
    write_vectors(folder, some_parts()[:1])
    command = ["sha256sum", "-c", "--quiet", "SHA256SUMS"]
    assert subprocess.run(command, cwd=folder, check=False, timeout=60).returncode == 0
    path = next(folder.rglob("output_0.pb"))
    path.write_bytes(path.read_bytes()[:-1] + bytes([path.read_bytes()[-1] ^ 1]))
    assert subprocess.run(command, cwd=folder, check=False, timeout=60, capture_output=True).returncode == 1


def test_two_runs_give_the_same_bytes_wherever_they_are_made(tree: Path, tmp_path: Path) -> None:
    def elsewhere(make: Make, work: Work) -> Iterator[Made]:
        """As far away as another process: everything is sent there and back; the last comes first."""
        made = {}
        for number, each in reversed(list(enumerate(work))):
            there, given = pickle.loads(pickle.dumps((make, each)))
            made[number] = pickle.loads(pickle.dumps(there(*given)))
        return (made[number] for number in range(len(work)))

    seen: list[tuple[int, int, str]] = []
    written = write_vectors(
        tmp_path / "again", some_parts(), run=elsewhere, watch=lambda *step: seen.append(step)
    )
    assert contents(tmp_path / "again") == contents(tree)
    total = sum(map(len, CASES.values()))
    assert written.cases == total
    assert seen[0] == (1, total, "clip float")
    assert [done for done, _, _ in seen] == list(range(1, total + 1))
    assert written.files == len(contents(tree))
    assert written.bytes == sum(map(len, contents(tree).values()))
    assert written.digest == hashlib.sha256((tree / "SHA256SUMS").read_bytes()).hexdigest()


def test_a_cell_is_all_its_parts() -> None:
    (whole,) = parts([EXPAND])
    names = [trial.name for trial in subject_named("expand").trials(DType.INT8, 0)]
    assert (whole.first, whole.last) == (0, len(names))
    singles = [cell_files(replace(whole, first=at, last=at + 1)) for at in range(len(names))]
    assert [path for each in singles for path, _ in each.entries] == [f"expand/int8/{name}" for name in names]
    made = cell_files(whole)
    assert made.files == tuple(file for each in singles for file in each.files)
    assert made.entries == tuple(entry for each in singles for entry in each.entries)


def test_cases_beyond_one_part_are_in_the_next() -> None:
    found = parts([("clip", DType.FLOAT), EXPAND])
    assert [part.operator for part in found] == ["clip"] * (len(found) - 1) + ["expand"]
    clip = found[:-1]
    assert len(clip) > 1
    assert [part.first for part in clip] == [0, *(part.last for part in clip[:-1])]
    assert all(part.last - part.first <= 128 for part in found)


def test_another_seed_and_another_operator_set_are_other_vectors() -> None:
    (part,) = parts([EXPAND])
    names = [trial.name for trial in subject_named("expand").trials(DType.INT8, 0)]
    one = replace(part, first=names.index("random-3"), last=names.index("random-3") + 1)
    assert parts([EXPAND], 1) == (replace(part, seed=1),)
    assert cell_files(replace(one, seed=1)).files != cell_files(one).files
    old = dict(cell_files(replace(one, opset=13)).files)
    model = onnx.load_from_string(old["expand/int8/random-3/model.onnx"])
    assert [each.version for each in model.opset_import] == [13]


# --- what is refused, and what is left behind --------------------------------------------------------------


def test_a_seed_below_0_is_refused() -> None:
    with pytest.raises(ValueError, match="seed"):
        parts([EXPAND], -1)
    with pytest.raises(ValueError, match="opset"):
        parts([EXPAND], 0, 12)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_is_there_is_not_touched(what: str, tmp_path: Path) -> None:
    target = tmp_path / "there"
    if what == "file":
        target.write_text("mine", encoding="ascii")
    else:
        target.mkdir()
        (target / "mine").write_text("mine", encoding="ascii")
    before = contents(tmp_path)
    with pytest.raises(FileExistsError, match="no empty folder"):
        write_vectors(target, some_parts()[:1])
    assert contents(tmp_path) == before


def test_an_empty_folder_is_filled_and_folders_above_are_made(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    write_vectors(tmp_path / "empty", some_parts()[:1])
    write_vectors(tmp_path / "a" / "b", some_parts()[:1])
    assert contents(tmp_path / "empty") == contents(tmp_path / "a" / "b")
    assert "manifest.json" in contents(tmp_path / "empty")


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, SystemExit])
def test_nothing_half_written_stays(error: type[BaseException], tmp_path: Path) -> None:
    closed = []

    def ends(make: Make, work: Work) -> Iterator[Made]:
        try:
            yield make(*work[0])
            (part,) = tmp_path.joinpath("above").iterdir()
            assert contents(part)  # something has been written by now
            yield make(*work[1])
        finally:
            closed.append(True)

    def watch(done: int, *_: object) -> None:
        if done == 2:
            raise error

    with pytest.raises(error) as caught:
        write_vectors(tmp_path / "above" / "vectors", some_parts(), run=ends, watch=watch)
    assert list(tmp_path.iterdir()) == []
    assert closed  # although the error keeps everything alive
    assert caught.type is error


def test_results_that_are_missing_are_noticed(tmp_path: Path) -> None:
    def too_few(make: Make, work: Work) -> Iterator[Made]:
        return iter([make(*work[0])])

    with pytest.raises(ValueError, match="shorter"):
        write_vectors(tmp_path / "vectors", some_parts()[:2], run=too_few)
    assert list(tmp_path.iterdir()) == []


def test_arrays_are_as_wide_as_promised(tree: Path) -> None:
    def shapes(case: str) -> set[tuple[str, tuple[int, ...]]]:
        names = ("output_0_low", "output_0_high", "output_0_special", "output_0_fused")
        arrays: list[Array] = [npy(tree, case, name) for name in names]
        return {(array.dtype.str, array.shape) for array in arrays}

    found = {path: shapes(path) for path, case in cases(tree).items() if case["compare"] == "enclosure"}
    for path, case in cases(tree).items():
        if path in found:
            shape = tuple(case["outputs"][0]["shape"])
            stored = case["outputs"][0]["npy_type"]
            assert found[path] == {("<f8", shape), ("|u1", shape), (stored, shape)}
