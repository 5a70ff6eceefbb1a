"""The example network as C: every option of emission, several compilers and checkers, the same bits."""

from pathlib import Path

import pytest
from examples.mobilenet_like import build
from tests.emit.support import assert_passes, make, needs_clang, needs_gcc, needs_valgrind, written
from tests.report.cli_support import written as model_written

import sonnx

pytestmark = needs_gcc

SANITIZED = "-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all"


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> sonnx.Graph:
    path = model_written(tmp_path_factory.mktemp("model") / "net.onnx", build())
    return sonnx.load(path).normalize({"batch": 1})


@pytest.mark.parametrize(
    "cflags",
    [
        "-O0",
        pytest.param("-O3 -march=native", marks=pytest.mark.long),
        pytest.param(SANITIZED, marks=pytest.mark.sanitizer),
    ],
)
def test_plain_kernels_give_the_specified_bits(network: sonnx.Graph, cflags: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "p", network)
    for _ in range(2):
        assert_passes(make(folder, cflags=cflags))


@needs_clang
def test_clang_gives_them_too(network: sonnx.Graph, tmp_path: Path) -> None:
    assert_passes(make(written(tmp_path / "p", network, "fused"), cc="clang", cflags="-O2"))


@pytest.mark.parametrize("accumulate", ["separate", pytest.param("fused", marks=pytest.mark.long)])
def test_fast_kernels_give_them_too(network: sonnx.Graph, accumulate: str, tmp_path: Path) -> None:
    assert_passes(make(written(tmp_path / "p", network, accumulate, "fast"), cflags="-O2 -march=native"))


@pytest.mark.sanitizer
@needs_valgrind
@pytest.mark.parametrize("kernels", ["plain", "fast"])
def test_valgrind_has_nothing_to_say_of_the_network(
    network: sonnx.Graph, kernels: str, tmp_path: Path
) -> None:
    folder = written(tmp_path / "p", network, kernels=kernels)  # type: ignore[arg-type]  # one of the two
    assert make(folder, "all", cflags="-g -O1").returncode == 0
    runner = "exec valgrind --error-exitcode=9 --leak-check=full -q ./test_model"
    (folder / "Makefile").write_text(f"test:\n\t@{runner}\n", encoding="utf-8")
    assert_passes(make(folder))
