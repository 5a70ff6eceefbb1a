"""Emitted projects in builds of every kind: other options, one's own build, options that change results."""

import platform
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from tests.emit.support import (
    Author,
    assert_passes,
    example_of,
    large,
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
from sonnx.vocabulary.kernel import KernelStyle

pytestmark = needs_gcc

HAS_FMA = (
    "fma" in Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").exists() else False
)
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
    quoted = """-DA='"two words"' -DB="'x'" -DD=%s\\\\n"""
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


ROUNDED = "sums are not rounded to nearest, ties to even"
FLUSHED = "subnormal numbers are flushed to zero"
# The register of x86 that says how floats are computed, and what is then wrong.
MODES = {
    "up": (0x5F80, ROUNDED),
    "down": (0x3F80, ROUNDED),
    "to zero": (0x7F80, ROUNDED),
    "subnormal results are 0": (0x9F80, FLUSHED),
    "subnormal operands are 0": (0x1FC0, FLUSHED),
    "as it should be": (0x1F80, ""),
}


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="there is no MXCSR")
def test_flushed_subnormals_and_other_roundings_are_noticed(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", one_conv())
    driver = folder / "test_model.c"
    check = "    const char *wrong = arithmetic();"
    changed = f"    __builtin_ia32_ldmxcsr((unsigned)strtoul(arguments[2], NULL, 0));\n{check}"
    text = driver.read_text(encoding="utf-8")
    assert text.count(check) == 1
    driver.write_text(f"#include <stdlib.h>\n{text.replace(check, changed)}", encoding="utf-8")
    assert compiled(folder, "gcc -std=c99 -O1").returncode == 0
    for mode, problem in MODES.values():
        done = ran(folder, ".", hex(mode))
        assert done.returncode == (2 if problem else 0)
        assert done.stderr.partition(": ")[2].strip() == problem


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
    folder = written(tmp_path / "p", random_model(14, 20))
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


Geometry = tuple[tuple[int, int, int, int], tuple[int, int, int, int], tuple[int, int]]
IMAGE = (1, 1, 4, 5)
SANITIZED = "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"


def padded_convs(cases: Iterable[Geometry]) -> sonnx.Graph:
    """Convs with one channel of output beside one another, by pads, shape of the input and of the kernel."""
    author = Author(np.random.default_rng(5))
    for number, (pads, shape, kernel) in enumerate(cases):
        x = f"x{number}"
        author.types[x] = tensor_type(f"float[{','.join(map(str, shape))}]")
        author.inputs.append(Value(x, author.types[x]))
        drawn = author.random.uniform(-1, 1, (1, shape[1], *kernel)).astype(np.float32)
        lines, columns = (shape[i + 2] + pads[i] + pads[i + 2] - kernel[i] + 1 for i in (0, 1))
        attributes = {"strides": (1, 1), "dilations": (1, 1), "pads": pads, "group": 1}
        more = {"kernel_shape": kernel, "auto_pad": "NOTSET"}
        inputs = [x, author.constant(drawn, "float")]
        author.node("Conv", inputs, "float", (shape[0], 1, lines, columns), **attributes, **more)
    return author.finished("padded")


LINE, COLUMN = ("0 <= at_m0", "at_m0 < 4"), ("0 <= at_m1", "at_m1 < 5")
ASKED = {
    (1, 1, 1, 1): [*LINE, *COLUMN],
    (2, 0, 0, 0): [LINE[0]],
    (0, 0, 3, 0): [LINE[1]],
    (0, 1, 0, 0): [COLUMN[0]],
    (0, 0, 0, 1): [COLUMN[1]],
    (1, 0, 0, 2): [LINE[0], COLUMN[1]],
    (0, 0, 0, 0): [],
}


def test_nothing_is_asked_whose_answer_is_known(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", padded_convs((pads, IMAGE, (2, 2)) for pads in ASKED))
    asked = re.findall(r"const float x = (.*) \? ", (folder / "model.c").read_text(encoding="utf-8"))
    assert asked == [" && ".join(conditions) for conditions in ASKED.values() if conditions]
    assert_passes(make(folder, cflags=SANITIZED))


IDLE = re.compile(r"[/%*] 1\b(?!\.)|[+-] 0\b(?!x|\.)|(?<!\.)\b0 [*+]|(?<!\.)\b1 \*")
NARROW: tuple[Geometry, ...] = (
    ((0, 0, 0, 0), (1, 1, 1, 1), (1, 1)),
    ((1, 0, 0, 0), (1, 1, 1, 1), (1, 1)),
    ((0, 1, 0, 1), (1, 1, 1, 3), (1, 2)),
    ((1, 0, 1, 0), (1, 3, 3, 1), (2, 1)),
    ((1, 1, 1, 1), (2, 1, 0, 2), (2, 2)),
)


def test_indices_have_no_factor_of_one_and_no_sum_with_zero(tmp_path: Path) -> None:
    narrow = padded_convs(NARROW)
    for number, graph in enumerate((narrow, random_model(1, 60), random_model(3, 60), large())):
        folder = written(tmp_path / f"p{number}", graph)
        for name in ("model.c", "weights.c"):
            text = (folder / name).read_text(encoding="utf-8")
            # Contracts say the definition in full.
            text = re.sub(r"/\*.*?\*/|//@[^\n]*", "", text, flags=re.DOTALL)
            found = [line for line in text.splitlines() if "for (" not in line and IDLE.search(line)]
            assert found == []
    assert_passes(make(tmp_path / "p0", cflags=SANITIZED))


def test_every_file_says_where_it_comes_from_and_every_kernel_what_it_obeys(tmp_path: Path) -> None:
    for kernels, nodes in (("plain", 40), ("fast", 8)):
        folder = written(tmp_path / kernels, random_model(3, nodes), kernels=kernels)  # type: ignore[arg-type]  # one of the two
        for file in folder.iterdir():
            if file.suffix in (".c", ".h") or file.name == "Makefile":
                head = "\n".join(file.read_text(encoding="utf-8").splitlines()[:2])
                assert "Written by sonnx test from the model `random model`" in head
                assert f"sums separate, kernels {kernels}" in head
                assert "sha256 unknown" in head
    text = (tmp_path / "plain" / "model.c").read_text(encoding="utf-8")
    for ruling in ("D-CONV-5", "D-CONV-6", "D-CLIP-1", "D-CLIP-2", "D-WHERE-1", "D-WHERE-2", "D-BCAST-1"):
        assert ruling in text


PAGE = Path(__file__).parents[2] / "docs" / "emit.md"


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_the_caller_and_the_cmake_lines_of_the_page_work(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    blocks = dict(re.findall(r"^```(c|cmake)\n(.*?)^```", page, re.DOTALL | re.MULTILINE))
    author = Author(np.random.default_rng(0))
    author.types["x"] = tensor_type("float[1,1,4,4]")
    author.inputs.append(Value("x", author.types["x"]))
    weights = author.constant(np.full((1, 1, 3, 3), 0.5, np.float32), "float")
    attributes = {"strides": (1, 1), "dilations": (1, 1), "pads": (1,) * 4, "group": 1}
    more = {"kernel_shape": (3, 3), "auto_pad": "NOTSET"}
    author.node("Conv", ["x", weights], "float", (1, 1, 4, 4), **attributes, **more)
    written(tmp_path / "edge", author.finished("edge"))
    (tmp_path / "main.c").write_text(blocks["c"], encoding="utf-8")
    (tmp_path / "CMakeLists.txt").write_text(blocks["cmake"], encoding="utf-8")
    for command in ("cmake -S . -B built -DCMAKE_C_COMPILER=gcc", "cmake --build built"):
        done = subprocess.run(
            command.split(), cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr
    # Half of 1 + 2 + 5 + 6.
    assert ran(tmp_path, program="./built/product").stdout == "0x1.cp+2\n"


def test_a_library_whose_fma_rounds_twice_is_noticed(tmp_path: Path) -> None:
    folder = written(tmp_path / "p", one_conv(), "fused")
    assert compiled(folder, "gcc -std=c99").returncode == 0
    assert ran(folder).returncode == 0
    (folder / "wrong.c").write_text(
        "float fmaf(float a, float b, float c);\n"
        "float fmaf(float a, float b, float c) { volatile float product = a * b; return product + c; }\n",
        encoding="utf-8",
    )
    assert compiled(folder, "gcc -std=c99").returncode == 0
    done = ran(folder)
    assert done.returncode == 2
    assert "fmaf rounds twice" in done.stderr


@pytest.mark.parametrize("kernels", ["plain", "fast"])
def test_roots_are_linked_however_little_is_optimised(tmp_path: Path, kernels: KernelStyle) -> None:
    folder = written(tmp_path / "roots", example_of("Sqrt", "float"), kernels=kernels)
    said = (folder / "README.md").read_text(encoding="ascii")
    assert "link with `-lm`" in said
    assert "calls no function of a library, `sqrtf` and `sqrt` apart" in said
    for flags in ("-O0", "-O2"):
        assert_passes(make(folder, cflags=flags))


@pytest.mark.parametrize("operator", ["Abs", "Sqrt"])
def test_what_has_a_contract_here_has_no_other_one_of_the_library(tmp_path: Path, operator: str) -> None:
    for dtype, suffix in (("float", "f"), ("double", "")):
        folder = written(tmp_path / dtype, example_of(operator, dtype))
        text = (folder / "model.c").read_text(encoding="ascii")
        function = {"Abs": "fabs", "Sqrt": "sqrt"}[operator]
        assert f"extern {dtype} {function}{suffix}({dtype} x);" in text
        assert "#ifndef __FRAMAC__\n#include <math.h>\n#endif\n" in text
    other = written(tmp_path / "other", example_of("Neg", "float"))
    assert "__FRAMAC__\n#include" not in (other / "model.c").read_text(encoding="ascii")
