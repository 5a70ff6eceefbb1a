"""The C sources of kernels, each as one text."""

import re
from functools import cache
from pathlib import Path

import sonnx.operators

_FOLDER = Path(sonnx.operators.__file__).parent
_INCLUDE = re.compile(r'^#include "([\w/]+\.h)"$', re.MULTILINE)


@cache
def kernel_source(name: str) -> str:
    """A source under `operators/`, such as `onnx/clip/fast.c`, with our own headers written into it."""
    text = (_FOLDER / name).read_text(encoding="utf-8")
    return _INCLUDE.sub(lambda found: kernel_source(found[1]), text)
