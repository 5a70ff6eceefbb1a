"""The C sources of kernels, each as one text."""

import re
from functools import cache
from importlib.resources import files

_INCLUDE = re.compile(r'^#include "([\w/]+\.h)"$', re.MULTILINE)


@cache
def kernel_source(name: str) -> str:
    """A source under `operators/`, such as `onnx/clip/fast.c`, with our own headers written into it."""
    text = files("sonnx.operators").joinpath(*name.split("/")).read_text(encoding="utf-8")
    return _INCLUDE.sub(lambda found: kernel_source(found[1]), text)
