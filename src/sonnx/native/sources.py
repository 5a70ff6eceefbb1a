"""The C sources of kernels, each as one text."""

import re
from functools import cache
from importlib.resources import files

from sonnx.model.kernel import KernelCall

_INCLUDE = re.compile(r'^#include "([\w/]+\.h)"$', re.MULTILINE)


@cache
def kernel_source(name: str) -> str:
    """A source under `operators/`, such as `onnx/clip/fast.c`, with our own headers written into it."""
    return _INCLUDE.sub(lambda found: kernel_source(found[1]), _read("sonnx.operators", name))


@cache
def runtime_source() -> str:
    """What executes kernel calls on threads."""
    return _read("sonnx.native", "runtime.c")


def _read(package: str, name: str) -> str:
    return files(package).joinpath(*name.split("/")).read_text(encoding="utf-8")


def source_and_macros(call: KernelCall) -> tuple[str, tuple[tuple[str, str], ...]]:
    """What the compiler needs for a call."""
    return kernel_source(call.source), call.variant.macros
