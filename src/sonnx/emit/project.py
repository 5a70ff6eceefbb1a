"""A graph as a C project: the names and contents of its files, and the folder they are written to."""

import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from math import prod
from pathlib import Path

from sonnx.emit import driver, fast, model, plain, weights
from sonnx.emit.errors import EmitError
from sonnx.emit.layout import Layout
from sonnx.emit.places import places
from sonnx.emit.readme import About, readme, sources
from sonnx.emit.template import fill, own
from sonnx.emit.vectors import vectors
from sonnx.model.graph import Graph
from sonnx.numeric.arrays import Array
from sonnx.operators.composing import executable
from sonnx.operators.rules.limits import MOST_ELEMENTS
from sonnx.report.text import cut, printable
from sonnx.vocabulary.kernel import KernelStyle
from sonnx.vocabulary.rule import DomainError

# Compilers may call a function where the target has no instruction, or nothing is to be optimised.
_ROOT = re.compile(r"\b(?:__builtin_)?sqrtf?\(")
_REMAINDER = re.compile(r"\b__builtin_fmodf?\(")
KERNELS: tuple[KernelStyle, ...] = ("plain", "fast")


def project(
    graph: Graph,
    evaluate: Callable[[Mapping[str, Array]], Mapping[str, Array]],
    *,
    version: str,
    accumulate: str = "separate",
    kernels: KernelStyle = "plain",
    fold: fast.Fold | None = None,
    changes: int = 0,
    memory: int | None = None,
) -> dict[str, bytes]:
    """The files of a project for a conforming graph, contents by name; the same graph gives the same bytes.

    `evaluate` gives the outputs of the definitions for inputs, with the same mode of accumulation; it is
    called for every vector of the test. `fold` is what fast kernels need: it packs their weights. Raises
    EmitError where something has no place in C, or the project's static arrays would exceed `memory` bytes.
    """
    if kernels not in KERNELS:
        raise ValueError(f"`kernels` must be one of {', '.join(KERNELS)}, not {kernels!r}")
    flat = executable(graph).graph
    for name, kind in flat.types.items():
        if prod(kind.sizes or ()) > MOST_ELEMENTS:  # which no conforming graph has
            raise EmitError(f"`{printable(cut(name, 60))}` has more elements than an int32_t can count")
    if kernels == "plain":
        layout = plain.lay_out(flat, places(graph), accumulate)
    elif fold is not None:
        layout = fast.lay_out(flat, places(graph), accumulate, fold)
    else:
        raise ValueError("fast kernels need `fold`")
    static = layout.memory.bytes + sum(weight.data.nbytes for weight in layout.weights)
    if memory is not None and static > memory:
        raise EmitError(
            f"the project would have {static:,} bytes of static arrays, allowed are {memory:,}; "
            "allow more if the target has it (--memory)"
        )
    tested = vectors(flat, evaluate, partial(_status, graph), stops=bool(layout.guarded))
    about = About(version, accumulate, kernels, changes)
    head = about.head(layout)
    line = "\n   ".join(head)
    texts = {
        "model.h": model.header(layout, line),
        "model.c": model.source(layout, line),
        "test_model.c": driver.source(layout, tested, line, fused=accumulate == "fused"),
        "checks.h": _checks(layout, line),
        **{name: text.replace("$about", line, 1) for name, text in (layout.kernels or {}).items()},
    }
    called = _called(texts.values(), fused=accumulate == "fused")
    texts["Makefile"] = _makefile(layout, "\n# ".join(head), library=bool(called))
    texts["README.md"] = readme(layout, tested, about, called)
    if layout.weights:
        texts |= {"weights.h": weights.header(layout, line), "weights.c": weights.source(layout, line)}
    files = {name: text.encode("ascii") for name, text in texts.items()}
    files["vectors.bin"] = driver.vectors_file(layout, tested)
    if layout.loaded:
        files["weights.bin"] = weights.blob(layout)
    sums = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(files.items())]
    return {**files, "SHA256SUMS": "".join(sums).encode("ascii")}


def _called(texts: Iterable[str], *, fused: bool) -> list[str]:
    """The functions of the library that some of the texts may call."""
    found = ["`fmaf` and `fma`"] * fused
    for functions, calls in (("`sqrtf` and `sqrt`", _ROOT), ("`fmodf` and `fmod`", _REMAINDER)):
        found += [functions] * any(map(calls.search, texts))
    return found


def _status(graph: Graph, stopped: DomainError) -> int:
    """What the entry point returns where the definitions stop with this error."""
    (finding,) = stopped.findings
    nodes = zip(executable(graph).locations, places(graph), strict=True)
    return next(place.status for location, place in nodes if location == finding.location)


def _makefile(layout: Layout, line: str, *, library: bool) -> str:
    headers = ["checks.h", "model.h", *(["weights.h"] if layout.weights else [])]
    headers += [name for name in layout.kernels or {} if name.endswith(".h")]
    fast = layout.kernels is not None
    values = {
        # A dollar sign would be make's.
        "about": line.replace("$", "<U+0024>"),
        "objects": " ".join(name.removesuffix(".c") + ".o" for name in ["test_model.c", *sources(layout)]),
        "headers": " ".join(headers),
        "optimise": "-O3" if fast else "-O2",
    }
    return fill(own("Makefile"), values, {"LIBRARY": library, "FAST": fast})


def _checks(layout: Layout, line: str) -> str:
    guard = f"SONNX_{layout.prefix}_CHECKS_H"
    return fill(own("checks.h"), {"about": line, "guard": guard, "prefix": layout.prefix})


def require_new(path: str | Path) -> Path:
    """The folder that a project may be written to; raises EmitError where something is there already.

    Nothing of anybody's is ever overwritten, an earlier project neither.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise EmitError(f"{path} is there already and is no empty folder; name a new one")
    above = next(folder for folder in target.parents if folder.exists())
    if not above.is_dir():
        raise EmitError(f"{path} cannot be written: {above} is no folder")
    return target


def write_folder(path: str | Path, files: Mapping[str, bytes]) -> None:
    """Write files into a new folder, which appears whole or not at all; raises OSError, or EmitError.

    Folders that are missing above it are made, and are gone again where it could not be written.
    """
    target = require_new(path)
    missing = [folder for folder in target.parents if not folder.exists()]
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        part.mkdir(parents=True)
        for name, content in files.items():
            (part / name).write_bytes(content)
        os.rename(part, target)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        for folder in missing:
            # What another has put there meanwhile stays.
            with suppress(OSError):
                folder.rmdir()
        raise
