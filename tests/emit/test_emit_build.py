"""Emitted projects in builds of every kind: other options, one's own build, options that change results."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.emit.support import (
    Author,
    assert_passes,
    make,
    needs_clang,
    needs_gcc,
    one_conv,
    random_model,
    written,
)

import sonnx
from sonnx.model.graph import Value
from sonnx.model.tensor_type import tensor_type

pytestmark = needs_gcc

HAS_FMA = "fma" in Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").exists() else False
needs_fma = pytest.mark.skipif(not HAS_FMA, reason="the processor multiplies and adds separately")


def compiled(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Compile the project outside its Makefile, with its test."""
    sources = sorted(file.name for file in folder.glob("*.c"))
    return subprocess.run(
        [*command.split(), "-o", "own", *sources, "-lm"],
        cwd=folder, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def ran(folder: Path, *arguments: str, program: str = "./own") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )


def compilations(done: subprocess.CompletedProcess[str]) -> int:
    assert done.returncode == 0, done.stderr
    return done.stdout.count(" -c ")


def test_other_options_compile_everything_anew_and_the_same_ones_nothing(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", one_conv())
    first = make(folder, cflags="-O0")
    assert compilations(first) == 3
    assert compilations(make(folder, cflags="-O0")) == 0
    for variables in (["LDFLAGS=-Wl,-O1"], ["LDFLAGS=-Wl,-O1", "LDLIBS=-lm"], ["CC=gcc -pipe"]):
        assert compilations(make(folder, cflags="-O0", variables=variables)) == 3
        assert compilations(make(folder, cflags="-O0", variables=variables)) == 0
    quoted = """-DA='"two words"' -DB="'x'" -DC='a"b' -DD=%s\\\\n"""
    assert compilations(make(folder, cflags=quoted)) == 3
    assert compilations(make(folder, cflags=quoted)) == 0
    assert compilations(make(folder, cflags=quoted.replace("two words", "two  words"))) == 3


def test_an_option_that_is_refused_is_refused_after_a_build_without_it(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", one_conv())
    assert_passes(make(folder))
    assert make(folder, cflags="-ffast-math").returncode != 0
    assert_passes(make(folder))


def test_clean_leaves_what_was_written(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", one_conv())
    before = sorted(file.name for file in folder.iterdir())
    assert_passes(make(folder))
    assert make(folder, "clean").returncode == 0
    assert sorted(file.name for file in folder.iterdir()) == before


def test_the_list_of_digests_checks_every_file(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", random_model(15, 5))
    listed = {line.split()[1] for line in (folder / "SHA256SUMS").read_text(encoding="ascii").splitlines()}
    assert listed == {file.name for file in folder.iterdir()} - {"SHA256SUMS"}
    check = ["sha256sum", "-c", "SHA256SUMS"]
    assert subprocess.run(check, cwd=folder, capture_output=True, check=False).returncode == 0
    (folder / "model.h").write_bytes((folder / "model.h").read_bytes() + b"\n")
    assert subprocess.run(check, cwd=folder, capture_output=True, check=False).returncode == 1


@needs_fma
def test_gcc_outside_iso_modes_is_refused_where_it_would_contract(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", one_conv())
    refused = compiled(folder, "gcc -O2 -mfma")
    assert refused.returncode != 0
    assert "give -std=c99, or both -ffp-contract=off and -DSONNX_NO_CONTRACTION" in refused.stderr
    allowed = ["-mfma -std=c99", "-mfma -std=c11", "-mfma -ffp-contract=off -DSONNX_NO_CONTRACTION", ""]
    for options in allowed:
        assert compiled(folder, f"gcc -O2 {options}").returncode == 0
        assert ran(folder).returncode == 0
    # The promise is not kept: the test says so.
    assert compiled(folder, "gcc -O2 -mfma -DSONNX_NO_CONTRACTION").returncode == 0
    broken = ran(folder)
    assert broken.returncode == 2
    assert broken.stderr == (
        "this build does not compute as IEEE 754 says: "
        "products are contracted with sums (-ffp-contract=fast?)\n"
    )


@needs_clang
@needs_fma
def test_clang_contracts_no_product_of_itself(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", random_model(16, 12))
    assert compiled(folder, "clang -O3 -mfma").returncode == 0
    assert ran(folder).returncode == 0
    assert compiled(folder, "clang -O2 -mfma -ffp-contract=fast").returncode == 0
    assert ran(folder).returncode == 2


CHANGING = {
    "-fno-signed-zeros": "signs of zeros are not kept",
    "-fassociative-math -fno-signed-zeros -fno-trapping-math": "signs of zeros are not kept",
    "-fno-honor-nans": "NaNs are not expected",
    "-fno-honor-nans -ffp-model=strict": "",
}


@needs_clang
def test_options_that_no_macro_tells_of_are_noticed_before_the_vectors(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", one_conv())
    for options, problem in CHANGING.items():
        assert compiled(folder, f"clang -std=c99 -O2 -w {options}").returncode == 0
        done = ran(folder)
        assert done.returncode == (2 if problem else 0), options
        assert problem in done.stderr
        assert ("agree" in done.stdout) == (not problem)


@needs_clang
def test_reordered_sums_are_noticed_by_themselves(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", one_conv())
    driver = folder / "test_model.c"
    text = driver.read_text(encoding="utf-8")
    driver.write_text(text.replace("made.bits != 0)", "made.bits > sign_bits)"), encoding="utf-8")
    assert compiled(folder, "clang -O2 -fassociative-math -fno-signed-zeros -w").returncode == 0
    assert "sums are reordered" in ran(folder).stderr


@pytest.mark.skipif(shutil.which("uname") is None, reason="the start-up code of fast-math is gcc's on x86")
def test_flushed_subnormals_and_other_roundings_are_noticed(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", one_conv())
    driver = folder / "test_model.c"
    text = driver.read_text(encoding="utf-8")
    found = {}
    modes = {"up": "0x5f80", "down": "0x3f80", "to zero": "0x7f80", "flushed": "0x9f80", "taken as 0": "0x1fc0"}
    for name, mode in modes.items():
        set_mode = f"    __builtin_ia32_ldmxcsr({mode});\n    const char *wrong"
        driver.write_text(text.replace("    const char *wrong = arithmetic();", f"{set_mode} = arithmetic();"), encoding="utf-8")
        if compiled(folder, "gcc -std=c99 -O1").returncode != 0:
            pytest.skip("there is no MXCSR here")
        found[name] = ran(folder).stderr.partition(": ")[2].strip()
    rounded, flushed = "sums are not rounded to nearest, ties to even", "subnormal numbers are flushed to zero"
    assert found == {"up": rounded, "down": rounded, "to zero": rounded, "flushed": flushed, "taken as 0": flushed}


def test_a_missing_or_damaged_file_is_no_verdict_on_the_model(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", random_model(12, 6))
    assert_passes(make(folder))
    vectors = folder / "vectors.bin"
    whole = vectors.read_bytes()
    flipped = bytes([whole[0] ^ 1]) + whole[1:]
    for broken in (whole[:-1], whole + b"\0", flipped, whole[:-1] + bytes([whole[-1] ^ 1]), b""):
        vectors.write_bytes(broken)
        done = ran(folder, program="./test_model")
        assert done.returncode == 2
        assert done.stdout == ""
        assert "vectors.bin is damaged" in done.stderr
    vectors.unlink()
    done = ran(folder, program="./test_model")
    assert (done.returncode, done.stdout) == (2, "")
    assert "vectors.bin cannot be read" in done.stderr


@pytest.mark.parametrize("kernels", ["plain", "fast"])
def test_the_files_may_lie_elsewhere(kernels: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "p", one_conv(), kernels=kernels)  # type: ignore[arg-type]  # one of the two
    assert_passes(make(folder))
    elsewhere = tmp_path / "with a space"
    elsewhere.mkdir()
    (folder / "vectors.bin").rename(elsewhere / "vectors.bin")
    assert ran(folder, program="./test_model").returncode == 2
    assert ran(folder, str(elsewhere), program="./test_model").returncode == 0
    assert ran(folder, "x" * 5000, program="./test_model").returncode == 2


@needs_clang
@pytest.mark.parametrize(
    "compiler",
    ["gcc -O3 -ffreestanding -fno-tree-loop-distribute-patterns", "clang -O3 -ffreestanding"],
)
def test_with_the_stated_options_nothing_is_called(compiler: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "p", random_model(14, 40))
    for name in ("model", "weights"):
        command = [*compiler.split(), "-std=c99", "-c", f"{name}.c"]
        subprocess.run(command, cwd=folder, check=True, timeout=120)
    symbols = subprocess.run(
        ["nm", "-u", "model.o", "weights.o"], cwd=folder, capture_output=True, text=True, check=True
    ).stdout
    wanted = {line.split()[-1] for line in symbols.splitlines() if " U " in line}
    assert {name for name in wanted if not name.startswith("random_model_")} <= {"_GLOBAL_OFFSET_TABLE_"}
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert f"`{compiler.partition('-O3 ')[2]}`" in " ".join(text.split())


def padded_conv(pads: tuple[int, int, int, int], image: tuple[int, int] = (4, 5), **more: object) -> sonnx.Graph:
    """One Conv of one or more images, channels and lines."""
    batch, channels, outputs = (int(str(more.get(key, 1))) for key in ("batch", "channels", "outputs"))
    kernel = tuple(map(int, re.findall(r"\d", str(more.get("kernel", (2, 2))))))
    author = Author(np.random.default_rng(5))
    author.types["x"] = tensor_type(f"float[{batch},{channels},{image[0]},{image[1]}]")
    author.inputs.append(Value("x", author.types["x"]))
    weights = author.constant(
        author.random.uniform(-1, 1, (outputs, channels, *kernel)).astype(np.float32), "float"
    )
    lines, columns = (image[i] + pads[i] + pads[i + 2] - kernel[i] + 1 for i in (0, 1))
    attributes = {"strides": (1, 1), "dilations": (1, 1), "pads": pads, "group": 1, "kernel_shape": kernel}
    author.node(
        "Conv", ["x", weights], "float", (batch, outputs, lines, columns), **attributes, auto_pad="NOTSET"
    )
    return author.finished("padded")


def conditions(folder: Path) -> list[str]:
    return re.findall(r"if \((.*)\) \{", (folder / "model.c").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("pads", "expected"),
    [
        ((1, 1, 1, 1), ["i >= 0 && i < 4 && j >= 0 && j < 5"]),
        ((2, 0, 0, 0), ["i >= 0"]),
        ((0, 0, 3, 0), ["i < 4"]),
        ((0, 1, 0, 0), ["j >= 0"]),
        ((0, 0, 0, 1), ["j < 5"]),
        ((1, 0, 0, 2), ["i >= 0 && j < 5"]),
        ((0, 0, 0, 0), []),
    ],
)
def test_nothing_is_asked_whose_answer_is_known(
    pads: tuple[int, int, int, int], expected: list[str], tmp_path: Path
) -> None:
    folder = written(tmp_path / "p", padded_conv(pads))
    assert conditions(folder) == expected
    assert_passes(make(folder, cflags="-O0 -fsanitize=address,undefined -fno-sanitize-recover=all"))


IDLE = re.compile(r"[/%*] 1\b(?!\.)|[+-] 0\b(?!x|\.)|\b0 [*+]|\b1 \*")


def test_indices_have_no_factor_of_one_and_no_sum_with_zero(tmp_path: Path) -> None:
    graphs = [random_model(seed, 60) for seed in (1, 3)]
    graphs += [padded_conv((1, 0, 0, 0), (1, 1), kernel=(1, 1)), padded_conv((0, 0, 0, 0), (1, 1), kernel=(1, 1))]
    graphs += [padded_conv((0, 1, 0, 1), (1, 3), kernel=(1, 2)), padded_conv((0, 1, 0, 1), (3, 1), channels=3)]
    graphs += [padded_conv((1, 1, 1, 1), (0, 2), kernel=(2, 2), batch=2)]
    for number, graph in enumerate(graphs):
        folder = written(tmp_path / f"p{number}", graph)
        for name in ("model.c", "weights.c"):
            text = re.sub(r"/\*.*?\*/", "", (folder / name).read_text(encoding="utf-8"), flags=re.DOTALL)
            found = [line for line in text.splitlines() if "for (" not in line and IDLE.search(line)]
            assert found == []
        if number > 1:
            assert_passes(make(folder, cflags="-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"))


def test_every_file_says_where_it_comes_from_and_every_kernel_what_it_obeys(tmp_path: Path) -> None:
    for kernels in ("plain", "fast"):
        folder = written(tmp_path / kernels, random_model(3, 40), kernels=kernels)  # type: ignore[arg-type]  # one of the two
        for file in folder.iterdir():
            if file.suffix in (".c", ".h") or file.name == "Makefile":
                head = "\n".join(file.read_text(encoding="utf-8").splitlines()[:2])
                assert "Written by sonnx test from the model `random model`" in head
                assert f"sums separate, kernels {kernels}" in head
                assert "sha256 unknown" in head
    text = (tmp_path / "plain" / "model.c").read_text(encoding="utf-8")
    for ruling in ("D-CONV-5", "D-CONV-6", "D-CLIP-1", "D-CLIP-2", "D-WHERE-1", "D-WHERE-2", "D-BCAST-1"):
        assert ruling in text
