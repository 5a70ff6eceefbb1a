"""The C sources of kernels, each as one text."""

import re
from functools import cache
from pathlib import Path

import sonnx.operators
from sonnx.vocabulary.kernel import KernelCall

_FOLDER = Path(sonnx.operators.__file__).parent
_INCLUDE = re.compile(r'^#include "([\w/]+\.h)"$', re.MULTILINE)


def kernel_source(call: KernelCall) -> str:
    """The source of a kernel, with our own headers written into it."""
    return _file(call.source) if call.text is None else _with_headers(call.text)


def _with_headers(text: str) -> str:
    return _INCLUDE.sub(lambda found: _file(found[1]), text)


@cache
def _file(name: str) -> str:
    """A source under `operators/`, such as `shared/boxes.c`."""
    return _with_headers((_FOLDER / name).read_text(encoding="utf-8"))
