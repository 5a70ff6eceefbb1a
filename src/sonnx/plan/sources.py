"""The C sources of kernels, each as one text."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import sonnx.operators
from sonnx.vocabulary.kernel import KernelCall

_FOLDER = Path(sonnx.operators.__file__).parent
_INCLUDE = re.compile(r'^#include "([\w/]+\.h)"$', re.MULTILINE)


def kernel_source(call: KernelCall) -> str:
    """The source of a kernel, with our own headers written into it."""
    if call.text is None:
        return _file(call.source)
    return _with_headers("\n\n".join([*call.shared, call.text]))


def joined(calls: Sequence[KernelCall]) -> str:
    """The source of several kernels that are derived: what they share stands there once.

    Each has its own name for VARIANT; all else that is defined for them is the same.
    """
    shared = dict.fromkeys(text for call in calls for text in call.shared)
    texts = []
    for call in calls:
        texts += [f"#undef VARIANT\n#define VARIANT {dict(call.variant.macros)['VARIANT']}", call.text or ""]
    return _with_headers("\n\n".join([*shared, *texts]))


def shared_text(name: str) -> str:
    """A header of kernels that callers need as well."""
    return _file(name)


def _with_headers(text: str) -> str:
    return _INCLUDE.sub(lambda found: _file(found[1]), text)


@cache
def _file(name: str) -> str:
    """A source under `operators/`, such as `shared/boxes.c`."""
    return _with_headers((_FOLDER / name).read_text(encoding="utf-8"))
