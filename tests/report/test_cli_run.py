"""`sonnx run`: arrays in, results out, and what it makes of files that hold anything else."""

import json
import os
import pickle
import re
import struct
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from click.testing import Result
from onnx import helper
from tests.report.cli_support import (
    BFLOAT16,
    BOOL,
    FLOAT,
    STRING,
    columns,
    conv_model,
    model_of,
    run,
    saved,
    tensor,
    two_clips,
    where_model,
    written,
)

import sonnx

CONDITION = np.array([[True, False, True], [False, True, False]])
X = np.array([[0, 1, 2], [3, 4, -0.0]], np.float32)
Y = np.array([[9, 8, 7], [6, 5, np.nan]], np.float32)
CHOSEN = np.array([[0, 8, 2], [6, 4, np.nan]], np.float32)


def choose(folder: Path, x: Any = X, *options: object, kind: int = FLOAT, y: Any = Y) -> Result:
    """Run one Where on c, x and y; an `x` that is a path is taken as it is."""
    model = written(folder / "where.onnx", where_model(kind))
    arrays = {"c": CONDITION, "x": x, "y": y}
    files = {
        name: array if isinstance(array, Path) else saved(folder / f"{name}.npy", array)
        for name, array in arrays.items()
    }
    inputs = [part for name, file in files.items() for part in ("--input", f"{name}={file}")]
    return run("run", model, *inputs, "--output-dir", folder / "out", *options)


def test_a_run_prints_and_writes_the_result(tmp_path: Path) -> None:
    result = choose(tmp_path)
    assert result.exit_code == 0
    model, elements = (tmp_path / "where.onnx").read_bytes(), CHOSEN.astype("<f4").tobytes()
    head, engine, *rest = result.stdout.splitlines()
    assert head == f"sonnx {sonnx.__version__}, model sha256 {sha256(model).hexdigest()}"
    assert engine.startswith("engine ")
    assert ", domain ieee, sums separate" in engine
    assert [line for line in rest if " bytes for tensors between nodes, " not in line] == [
        "z: float[2,3]  0.0 to 8.0, 1 NaN",
        f"   sha256 {sha256(elements).hexdigest()} (elements, little-endian, C order)",
        f"   written to {tmp_path / 'out' / 'z.npy'}",
    ]
    assert np.load(tmp_path / "out" / "z.npy").tobytes() == CHOSEN.tobytes()


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([0.1, 0.7], "0.1 to 0.7"),
        ([np.nan, -1], "0.0 to 0.0, 1 NaN"),
        ([np.nan, np.nan], "nothing finite, 2 NaN"),
    ],
)
def test_ranges_are_shown_with_the_digits_that_a_float_has(
    tmp_path: Path, values: list[float], shown: str
) -> None:
    model = written(tmp_path / "a.onnx", two_clips())
    image = saved(tmp_path / "x.npy", np.array(values, np.float32))
    assert f"y: float[2]  {shown}\n   sha256" in run("run", model, "--input", f"x={image}").stdout


def test_without_a_folder_nothing_is_written(tmp_path: Path) -> None:
    model = written(tmp_path / "a.onnx", two_clips())
    image = saved(tmp_path / "x.npy", np.array([-1, 9], np.float32))
    before = sorted(tmp_path.iterdir())
    result = run("run", model, "--input", f"x={image}", "--trace")
    assert result.exit_code == 0
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "stored",
    [X.astype(">f4"), np.asfortranarray(X), np.asfortranarray(X).astype(">f4"), X[::1, ::1], X[::-1][::-1]],
    ids=["big-endian", "Fortran order", "both", "plain", "reversed twice"],
)
def test_the_layout_of_a_file_does_not_matter(tmp_path: Path, stored: Any) -> None:
    assert choose(tmp_path, stored).exit_code == 0
    assert np.load(tmp_path / "out" / "z.npy").tobytes() == CHOSEN.tobytes()


def npy(path: Path, header: str, content: bytes = b"", version: int = 1) -> Path:
    """A .npy file by hand, as the format's description says."""
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    path.write_bytes(b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() + content)
    return path


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n",
        '{"shape":(2,3),"descr":"<f4","fortran_order":False}',
        "{ 'fortran_order' : False,'shape' : ( 2,3 , ) , 'descr':'<f4' , }   \n",
    ],
)
def test_headers_of_other_programs_are_read(tmp_path: Path, header: str, version: int) -> None:
    file = npy(tmp_path / "other.npy", header, X.astype("<f4").tobytes(), version)
    assert choose(tmp_path, file).exit_code == 0
    assert np.load(tmp_path / "out" / "z.npy").tobytes() == CHOSEN.tobytes()


def test_any_byte_but_zero_is_true(tmp_path: Path) -> None:
    header = "{'descr': '|b1', 'fortran_order': False, 'shape': (2, 3), }"
    odd = npy(tmp_path / "odd.npy", header, bytes([0, 1, 2, 255, 128, 0]))
    y = np.zeros((2, 3), bool)
    model = written(tmp_path / "a.onnx", where_model(BOOL))
    files = {"c": saved(tmp_path / "c.npy", ~y), "x": odd, "y": saved(tmp_path / "y.npy", y)}
    inputs = [part for name, file in files.items() for part in ("--input", f"{name}={file}")]
    assert run("run", model, *inputs, "--output-dir", tmp_path).exit_code == 0
    # D-WHERE-1; the result holds the two plain values.
    assert np.load(tmp_path / "z.npy").view(np.uint8).tolist() == [[0, 1, 1], [1, 1, 0]]


def test_bfloat16_keeps_its_bits_through_a_format_that_has_no_name_for_it(tmp_path: Path) -> None:
    x = np.array([[0x3F80, 0x8000, 0x7FC1], [1, 2, 3]], np.uint16)
    y = np.array([[4, 5, 6], [7, 8, 0xFF80]], np.uint16)
    result = choose(tmp_path, x.view("V2"), kind=BFLOAT16, y=y.view("V2"))
    assert result.exit_code == 0
    bits = np.load(tmp_path / "out" / "z.npy").view(np.uint16)
    assert bits.tolist() == [[0x3F80, 5, 0x7FC1], [7, 2, 0xFF80]]


def test_strings_come_as_text_and_go_as_json(tmp_path: Path) -> None:
    x = np.array([["a", "", "\u00e9"], ["d", "\x1b[31m", "f"]])
    y = np.array([["A", "\n", "C"], ["D", "E", "long text"]])
    result = choose(tmp_path, x, kind=STRING, y=y)
    assert result.exit_code == 0
    document = json.loads((tmp_path / "out" / "z.json").read_bytes())
    assert document["elements"] == ["a", "\n", "\u00e9", "D", "\x1b[31m", "long text"]
    assert document["shape"] == [2, 3]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["z.json"]
    assert "\x1b" not in result.output


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize(
    ("character", "fine"), [(0x10FFFF, True), (0x110000, False), (2**32 - 1, False), (0xD800, False)]
)
def test_text_is_made_of_characters_that_there_are(
    tmp_path: Path, character: int, fine: bool, order: str
) -> None:
    header = f"{{'descr': '{order}U1', 'fortran_order': False, 'shape': (2, 3), }}"
    file = npy(tmp_path / "odd.npy", header, struct.pack(f"{order}6I", *[character] * 6))
    result = choose(tmp_path, file, kind=STRING, y=np.full((2, 3), "a"))
    assert result.exit_code == (0 if fine else 2)
    assert ("characters that there are not" in result.stderr) is not fine


class _Program:
    """What a pickle can do when it is read."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, ("executed",)


def _files(folder: Path) -> dict[str, Path]:
    """Files that hold no array of six floats."""
    plain = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
    objects = folder / "objects.npy"
    with objects.open("wb") as file:
        np.save(file, np.array([[_Program(), 1, 2], [3, 4, 5]], object), allow_pickle=True)
    (folder / "pickle.npy").write_bytes(pickle.dumps(_Program()))
    np.savez(folder / "several.npz", x=X)
    (folder / "text.npy").write_bytes(b"0 1 2")
    (folder / "empty.npy").write_bytes(b"")
    (folder / "start.npy").write_bytes(b"\x93NUMPY")
    (folder / "folder.npy").mkdir()
    os.mkfifo(folder / "pipe.npy")
    named = {
        path.stem: path for path in folder.iterdir() if path.suffix in (".npy", ".npz") and path != objects
    }
    headers = {
        "no entries": "{}",
        "no shape": "{'descr': '<f4', 'fortran_order': False, }",
        "two shapes": "{'descr': '<f4', 'shape': (2, 3), 'shape': (2, 3), }",
        "four entries": f"{plain[:-2]} 'shape': (2, 3)}}",
        "more entries": f"{plain[:-2]} 'more': 1, }}",
        "a program": "{'descr': '<f4', 'fortran_order': False, 'shape': (__import__('os').getpid(), 3), }",
        "brackets": "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "(" * 5000 + "), }",
        "signs": "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "-" * 9000 + "2, 3), }",
        "negative": "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, -3), }",
        "digits": "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "9" * 5000 + ",), }",
        "structured": "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3), }",
        "no type": "{'descr': '<f3', 'fortran_order': False, 'shape': (2, 3), }",
        "huge type": "{'descr': '<U999999999', 'fortran_order': False, 'shape': (2, 3), }",
        "long": plain + " " * 20_000,
        "escape": "{'descr': '\x1b[31m', 'fortran_order': False, 'shape': (2, 3), }",
    }
    for name, header in headers.items():
        named[name] = npy(folder / f"{name}.npy", header, bytes(24))
    named["version 9"] = npy(folder / "version.npy", plain, bytes(24), version=2)
    named["version 9"].write_bytes(named["version 9"].read_bytes().replace(b"\x02\x00", b"\x09\x00", 1))
    named["objects"] = objects
    named["too short"] = npy(folder / "short.npy", plain, bytes(23))
    named["too long"] = npy(folder / "more.npy", plain, bytes(25))
    named["cut"] = npy(folder / "cut.npy", plain[:20])
    named["missing"] = folder / "missing.npy"
    return named


def test_a_file_that_holds_no_such_array_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "files").mkdir()
    monkeypatch.chdir(tmp_path)
    for name, file in _files(tmp_path / "files").items():
        result = choose(tmp_path, file)
        assert result.exit_code == 2, name
        assert re.fullmatch(r"error: `x`: .+: .+\n", result.stderr), (name, result.stderr)
        assert "\x1b" not in result.output
        assert result.stdout == ""
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("objects", "it holds Python objects, which are not read because they could be programs"),
        ("digits", "a size in its header is too large for any array"),
        ("no type", "there is no element type '<f3'"),
        ("structured", "its header is not that of an array of numbers or text"),
        ("several", "it is no .npy file; write one with numpy.save"),
        ("too short", "float[2,3] takes 24 bytes, after its header the file has 23"),
        ("too long", "float[2,3] takes 24 bytes, after its header the file has 25"),
        ("missing", "there is no such file"),
        ("folder", "cannot be read: Is a directory"),
        ("pipe", "cannot be read: it is not a plain file"),
    ],
)
def test_the_line_says_why(tmp_path: Path, name: str, problem: str) -> None:
    file = _files(tmp_path)[name]
    assert choose(tmp_path, file).stderr == f"error: `x`: {file}: {problem}\n"


def test_a_header_that_announces_gigabytes_takes_no_memory(tmp_path: Path) -> None:
    file = tmp_path / "long.npy"
    file.write_bytes(b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**32 - 1))
    os.truncate(file, 2**33)  # holes, no disk
    assert "its header has 4294967295 bytes" in choose(tmp_path, file).stderr


def test_an_array_of_another_shape_is_refused_without_being_read(tmp_path: Path) -> None:
    file = npy(tmp_path / "large.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296,), }")
    os.truncate(file, 2**34 + 200)  # holes, no disk
    assert "must hold float[2,3], not float[4294967296]\n" in choose(tmp_path, file).stderr


@pytest.mark.parametrize(
    ("array", "held"),
    [
        (X.astype(np.float64), "double[2,3]"),
        (X[:1], "float[1,3]"),
        (X.reshape(6), "float[6]"),
        (np.zeros((0, 3), np.float32), "float[0,3]"),
        (np.array(1, np.float32), "float[]"),
        (np.full((2, 3), "a"), "string[2,3]"),
        (np.full((2, 3), b"a"), "NumPy |S1[2,3]"),
        (np.zeros((2, 3), "V2"), "NumPy |V2[2,3]"),
    ],
)
def test_nothing_is_converted(tmp_path: Path, array: Any, held: str) -> None:
    result = choose(tmp_path, array)
    assert result.exit_code == 2
    told = "" if held.startswith("float[") else "; nothing is converted"
    assert f"must hold float[2,3], not {held}{told}\n" in result.stderr


def test_every_wrong_file_is_named_at_once(tmp_path: Path) -> None:
    result = choose(tmp_path, X[:1], y=Y[:1])
    assert [line.split(":")[0] for line in result.stderr.splitlines()] == ["error", "`y`"]
    assert result.stderr.count(": must hold float[2,3], not float[1,3]\n") == 2


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (["c", "x"], "`y` is missing; it must be float[2,3]"),
        (["c", "x", "y", "y"], "`y` is given twice"),
        (["c", "x", "y", "q"], "`q` is no input of the model"),
        ([], "`c` is missing; it must be bool[2,3]"),
    ],
)
def test_missing_unknown_and_repeated_inputs_are_named(
    tmp_path: Path, names: list[str], problem: str
) -> None:
    files = {name: saved(tmp_path / f"{name}.npy", array) for name, array in (("c", CONDITION), ("x", X))}
    files["y"] = files["q"] = saved(tmp_path / "y.npy", Y)
    model = written(tmp_path / "a.onnx", where_model())
    result = run("run", model, *(part for name in names for part in ("--input", f"{name}={files[name]}")))
    assert result.exit_code == 2
    assert problem in result.stderr
    if "twice" not in problem:
        assert "inputs of the model: c: bool[2,3], x: float[2,3], y: float[2,3]" in result.stderr


def test_all_that_is_wrong_with_the_inputs_is_said_at_once(tmp_path: Path) -> None:
    model = written(tmp_path / "a.onnx", where_model())
    flat = saved(tmp_path / "flat.npy", X.reshape(6))
    given = [f"x={flat}", "q=q.npy", f"x={flat}", "r=r.npy"]
    result = run("run", model, *(part for binding in given for part in ("--input", binding)))
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        "error: `q` is no input of the model",
        "`x` is given twice",
        "`r` is no input of the model",
        f"`x`: {flat}: must hold float[2,3], not float[6]",
        "`c` is missing; it must be bool[2,3]",
        "`y` is missing; it must be float[2,3]",
        "inputs of the model: c: bool[2,3], x: float[2,3], y: float[2,3]",
    ]


@pytest.mark.parametrize("binding", ["x", "=x.npy", "x=", "="])
def test_an_input_without_a_name_or_a_file_is_a_usage_error(tmp_path: Path, binding: str) -> None:
    result = run("run", tmp_path / "a.onnx", "--input", binding)
    assert result.exit_code == 2
    assert f"--input takes NAME=FILE.npy, not {binding!r}" in result.stderr


def test_names_and_files_may_hold_equals_signs(tmp_path: Path) -> None:
    model = two_clips(output="y")
    model.graph.input[0].name = model.graph.node[0].input[0] = "a=b"
    path = written(tmp_path / "a.onnx", model)
    image = saved(tmp_path / "seed=1.npy", np.array([-1, 9], np.float32))
    result = run("run", path, "--input", f"a=b={image}", "--output-dir", tmp_path)
    assert result.exit_code == 0
    assert np.load(tmp_path / "y.npy").tolist() == [0, 1]


def test_an_equals_sign_that_leaves_two_readings_is_refused(tmp_path: Path) -> None:
    inputs = [tensor(name, FLOAT, []) for name in ("a", "a=b", "low")]
    node = helper.make_node("Clip", ["a", "low", "a=b"], ["y"], name="clip")
    path = written(tmp_path / "a.onnx", model_of([node], inputs, [tensor("y", FLOAT, [])]))
    result = run("run", path, "--input", "a=b=c.npy")
    assert result.exit_code == 2
    assert "could mean several inputs" in result.stderr


# where results go


def named_outputs(names: list[str]) -> onnx.ModelProto:
    """One Clip for each name."""
    bounds = {"low": np.array(0, np.float32), "high": np.array(9, np.float32)}
    nodes = [
        helper.make_node("Clip", [f"x{index}", "low", "high"], [name], name=f"clip{index}")
        for index, name in enumerate(names)
    ]
    inputs = [tensor(f"x{index}", FLOAT, [1]) for index in range(len(names))]
    return model_of(nodes, inputs, [tensor(name, FLOAT, [1]) for name in names], bounds)


def test_outputs_stay_in_their_folder_whatever_their_names(tmp_path: Path) -> None:
    names = ["../up", "/absolute", "a/b", "..", ".", ".hidden", "a%2Fb", "%2E", "n" * 500, "n" * 501]
    names += ["\u00e9", "e\u0301", "trace", "x.npy", "con", "a b", "~", "-o", "*"]
    path = written(tmp_path / "a.onnx", named_outputs(names))
    inputs = []
    for index in range(len(names)):
        file = saved(tmp_path / f"x{index}.npy", np.array([index / 4], np.float32))
        inputs += ["--input", f"x{index}={file}"]
    before = sorted(tmp_path.iterdir())
    out = tmp_path / "one" / "two"
    assert run("run", path, *inputs, "--output-dir", out, "--trace").exit_code == 0
    assert sorted(tmp_path.iterdir()) == sorted([*before, tmp_path / "one"])
    files = [file for file in out.iterdir() if file.is_file()]
    # One file per name, and each value once: no two names share a file.
    assert sorted(np.load(file).item() for file in files) == [index / 4 for index in range(len(names))]
    assert len(list((out / "trace").iterdir())) == len(names)
    assert {file.parent for file in out.rglob("*.npy")} == {out, out / "trace"}
    assert all(re.fullmatch(r"[\w%~-][\w%.~-]*\.npy", file.name, re.ASCII) for file in files)


@pytest.mark.parametrize("where", ["x.npy", "x.npy/below"])
def test_a_folder_that_cannot_be_made_has_exit_code_2(tmp_path: Path, where: str) -> None:
    model = written(tmp_path / "a.onnx", two_clips())
    image = saved(tmp_path / "x.npy", np.zeros(2, np.float32))
    result = run("run", model, "--input", f"x={image}", "--output-dir", tmp_path / where)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {tmp_path / 'x.npy'}")


# domains, modes, orders


def conv(folder: Path, model: onnx.ModelProto, x: Any, *options: str) -> Result:
    path = written(folder / "conv.onnx", model)
    image = saved(folder / "x.npy", x)
    return run("run", path, "--input", f"x={image}", "--output-dir", folder, *options)


def test_real_results_are_exact_in_json_and_nearest_in_npy(tmp_path: Path) -> None:
    # By hand: the float nearest to 1/3 is 11184811/2^25, to 1/7 it is 9586981/2^26; 3, 2^30 and 1 + 2^-23
    # are floats themselves. The sum needs 80 bits, more than a double has.
    result = conv(tmp_path, conv_model(), columns(1 + 2**-23, 2**30), "--domain", "real")
    assert result.exit_code == 0
    exact = Fraction(11184811 * (2**23 + 1), 2**48) + 3 * 2**30 + Fraction(9586981, 2**26)
    document = json.loads((tmp_path / "y.json").read_bytes())
    assert document == {"name": "y", "type": "real", "shape": [1, 1, 1, 1], "elements": [str(exact)]}
    stored = np.load(tmp_path / "y.npy")
    assert stored.dtype == np.float64
    # Python divides integers with one rounding.
    assert stored.item() == exact.numerator / exact.denominator
    assert Fraction(stored.item()) != exact
    _, how, _, digest, *_ = result.stdout.splitlines()
    assert how == "engine reference, domain real"
    hashed = sha256(json.dumps(document["elements"]).encode()).hexdigest()
    assert digest == f"   sha256 {hashed} (elements, as texts in a JSON list)"


@pytest.mark.parametrize(("mode", "expected"), [("separate", 2**-11), ("fused", 2**-11 + 2**-24)])
def test_the_mode_decides_how_sums_are_rounded(tmp_path: Path, mode: str, expected: float) -> None:
    # By hand: (1 + 2^-12)^2 - 1 is 2^-11 after two roundings and 2^-11 + 2^-24 after one.
    model = conv_model(W=(1 + 2**-12, 0), B=-1)
    result = conv(tmp_path, model, columns(1 + 2**-12, 0), "--accumulate", mode)
    assert f", domain ieee, sums {mode}" in result.stdout.splitlines()[1]
    assert np.load(tmp_path / "y.npy").item() == expected


def test_what_is_no_real_number_is_refused_in_the_reals(tmp_path: Path) -> None:
    result = conv(tmp_path, conv_model(), columns(1, np.inf), "--domain", "real")
    assert result.exit_code == 2
    assert "`x` cannot be taken into the reals: element 1 is inf" in result.stderr


def test_a_trace_prints_and_writes_every_tensor(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", two_clips())
    image = saved(tmp_path / "x.npy", np.array([-1, 9], np.float32))
    result = run("run", path, "--input", f"x={image}", "--trace", "--output-dir", tmp_path)
    lines = result.stdout.splitlines()
    assert lines[0] == f"1/2  {path}: node 0 `clip` (Clip)"
    assert re.fullmatch(r"   t: float\[2\]  0\.0 to 6\.0  sha256 [0-9a-f]{16}", lines[1])
    assert lines[2] == f"2/2  {path}: node 1 `last` (Clip)"
    traced = {file.name: np.load(file).tolist() for file in (tmp_path / "trace").iterdir()}
    assert traced == {"00001-t.npy": [0, 6], "00002-y.npy": [0, 1]}


def test_a_trace_numbers_nodes_as_the_named_file_does_and_new_ones_not_at_all(tmp_path: Path) -> None:
    model = where_model()
    model.graph.input[1].CopyFrom(tensor("x", FLOAT, [3]))
    path = written(tmp_path / "a.onnx", model)
    arrays = {"c": CONDITION, "x": X[0], "y": Y}
    files = {name: saved(tmp_path / f"{name}.npy", array) for name, array in arrays.items()}
    inputs = [part for name, file in files.items() for part in ("--input", f"{name}={file}")]
    lines = run("run", path, "--normalize", "--trace", *inputs).stdout.splitlines()
    expand, where = [line for line in lines if re.match(r"\d/2  ", line)]
    assert re.fullmatch(r"1/2  new node `[^`]+` \(Expand\)", expand)
    assert re.fullmatch(re.escape(f"2/2  {path}: node 0 ") + r".*\(Where\)", where)
    # The written model has numbers of its own.
    out = tmp_path / "b.onnx"
    run("normalize", path, "-o", out)
    lines = run("run", out, "--trace", *inputs).stdout.splitlines()
    assert [line.split(" `")[0] for line in lines if re.match(r"\d/2  ", line)] == [
        f"1/2  {out}: node 0",
        f"2/2  {out}: node 1",
    ]


def diamond(wide: int) -> onnx.ModelProto:
    """Clips side by side, and a chain of Wheres that joins them."""
    bounds = {f"b{index}": np.array(index, np.float32) for index in range(wide + 1)}
    nodes = [
        helper.make_node("Clip", ["x", f"b{index}", f"b{index + 1}"], [f"t{index}"], name=f"clip{index}")
        for index in range(wide)
    ]
    joined = ["t0", *(f"j{index}" for index in range(1, wide - 1)), "y"]
    nodes += [
        helper.make_node("Where", ["c", before, f"t{index + 1}"], [after], name=f"where{index}")
        for index, (before, after) in enumerate(pairwise(joined))
    ]
    inner = [f"t{index}" for index in range(wide)] + joined[1:-1]
    inputs = [tensor("x", FLOAT, [8]), tensor("c", BOOL, [8])]
    types = [tensor(name, FLOAT, [8]) for name in inner]
    return model_of(nodes, inputs, [tensor("y", FLOAT, [8])], bounds, value_info=types)


def test_every_order_gives_the_same_bits_and_one_seed_the_same_order(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", diamond(6))
    x = saved(tmp_path / "x.npy", np.linspace(-1, 8, 8).astype(np.float32))
    c = saved(tmp_path / "c.npy", np.arange(8) % 2 == 0)
    inputs = ["--input", f"x={x}", "--input", f"c={c}", "--trace", "--output-dir", tmp_path]
    orders, results = [], set()
    for options in (["--order", "given"], *(["--order", "random", "--seed", str(s)] for s in (1, 2, 3, 1))):
        result = run("run", path, *inputs, *options)
        assert result.exit_code == 0
        orders.append(re.findall(r"node (\d+)", result.stdout))
        results.add((tmp_path / "y.npy").read_bytes())
    assert len(results) == 1
    assert orders[0] == [str(index) for index in range(11)]
    assert orders[1] == orders[4]
    assert len({tuple(order) for order in orders}) == 4


# refusals, normalizing, memory


def test_a_model_outside_the_profile_is_refused_with_its_findings(tmp_path: Path) -> None:
    result = conv(tmp_path, conv_model(bare=True), columns(1, 2))
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "error[general.R1]" in result.stderr
    advice = "it was not run; `--normalize` makes explicit what it can"
    assert result.stderr.endswith(f"1 finding, 1 rule broken; {advice}\n")
    assert not (tmp_path / "y.npy").exists()


def test_normalize_does_both_steps_and_says_so(tmp_path: Path) -> None:
    result = conv(tmp_path, conv_model(bare=True, W=(2, 3), B=1), columns(1, 2), "--normalize")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == "normalized: 6 changes, which `sonnx normalize` lists"
    assert np.load(tmp_path / "y.npy").item() == 9


def test_dim_without_normalize_is_a_usage_error(tmp_path: Path) -> None:
    result = run("run", tmp_path / "a.onnx", "--dim", "batch=1")
    assert result.exit_code == 2
    assert "say --normalize too" in result.stderr


def test_a_run_beyond_the_memory_allowed_is_refused_before_it_starts(tmp_path: Path) -> None:
    path = written(tmp_path / "a.onnx", two_clips(size=2**20))
    image = saved(tmp_path / "x.npy", np.zeros(2**20, np.float32))
    result = run("run", path, "--input", f"x={image}", "--memory", "0.005")
    assert result.exit_code == 2
    assert result.stderr.endswith("(--memory)\n")
    # Less than the input alone: then it is not even read.
    less = run("run", path, "--input", f"x={image}", "--memory", "0.003")
    assert "float[1048576] takes more memory than is allowed" in less.stderr


def test_a_model_without_inputs_needs_none(tmp_path: Path) -> None:
    constants = {name: np.array(value, np.float32) for name, value in (("x", 5), ("low", 0), ("high", 2))}
    node = helper.make_node("Clip", ["x", "low", "high"], ["y"], name="clip")
    path = written(tmp_path / "a.onnx", model_of([node], [], [tensor("y", FLOAT, [])], constants))
    result = run("run", path)
    assert result.exit_code == 0
    assert "y: float[]  2.0 to 2.0" in result.stdout
    unknown = run("run", path, "--input", "x=x.npy")
    assert "`x` is no input of the model\ninputs of the model: none\n" in unknown.stderr
