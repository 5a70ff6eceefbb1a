"""The C whose contracts are proved, under sanitizers: each operator on elements, each move, type by type."""

from pathlib import Path

import pytest
from examples.kernels import ELEMENTS, build_elements
from tests.emit.support import assert_passes, make, needs_gcc, written

import sonnx


@needs_gcc
@pytest.mark.sanitizer
@pytest.mark.parametrize("dtype", ELEMENTS)
def test_what_is_proved_has_the_bits_of_the_definitions(dtype: str, tmp_path: Path) -> None:
    model = tmp_path / "elements.onnx"
    model.write_bytes(build_elements(dtype).SerializeToString())
    folder = written(tmp_path / "p", sonnx.load(model))
    assert_passes(make(folder, cflags="-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"))
