"""The C whose contracts are proved, under sanitizers: each operator on elements, each move, on all types."""

from pathlib import Path

import pytest
from examples.kernels import build_operator, names
from tests.emit.support import assert_passes, make, needs_gcc, written

import sonnx


@needs_gcc
@pytest.mark.sanitizer
@pytest.mark.parametrize("name", list(names()))
def test_what_is_proved_has_the_bits_of_the_definitions(name: str, tmp_path: Path) -> None:
    model = tmp_path / "operator.onnx"
    model.write_bytes(build_operator(name).SerializeToString())
    folder = written(tmp_path / "p", sonnx.load(model))
    assert_passes(make(folder, cflags="-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"))
