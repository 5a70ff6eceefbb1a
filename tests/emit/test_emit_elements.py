"""Chains of operators on elements, emitted for every type on which their contracts are proved."""

from pathlib import Path

import pytest
from examples.kernels import ELEMENTS, build_elements
from tests.emit.support import assert_passes, make, needs_gcc, written

import sonnx


@needs_gcc
@pytest.mark.parametrize("dtype", ELEMENTS)
def test_a_chain_on_elements_has_the_bits_of_the_definitions(dtype: str, tmp_path: Path) -> None:
    model = tmp_path / "elements.onnx"
    model.write_bytes(build_elements(dtype).SerializeToString())
    folder = written(tmp_path / "p", sonnx.load(model))
    assert_passes(make(folder, cflags="-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"))
