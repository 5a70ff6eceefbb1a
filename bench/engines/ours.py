"""sonnx itself: the native engine, and the C that `sonnx emit` writes."""

import ctypes
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sonnx
from bench.engines.engine import Prepared, UnavailableError
from bench.engines.rivals import in_library
from bench.engines.shared_library import FLAGS, command, linked
from bench.engines.subjects import Array, Case


def native(accumulate: str, threads: int) -> Callable[[Case], Prepared]:
    def prepare(case: Case) -> Prepared:
        graph: Any = sonnx.load(case.path)
        if not hasattr(graph, "compile"):
            raise UnavailableError("sonnx has no native engine")
        compiled = graph.compile(accumulate=accumulate, threads=threads)
        if compiled.engine != "native":
            raise UnavailableError("no compiler: sonnx took the reference engine")

        def run() -> list[Array]:
            return list(compiled(case.inputs).values())

        return Prepared(run, run, {"arena_bytes": compiled.arena_bytes})

    return prepare


def emitted(kernels: str) -> Callable[[Case], Prepared]:
    """The emitted project, built by its own Makefile."""

    def prepare(case: Case) -> Prepared:
        folder = case.folder / f"emitted-{kernels}"
        command([sys.executable, "-m", "sonnx", "emit", case.path, "-o", folder, "--kernels", kernels])
        return in_library(case, _emitted_entry(folder))

    return prepare


def _emitted_entry(folder: Path) -> Any:
    """The project's function as its header names it, with the weights loaded."""
    objects = [f"{one.stem}.o" for one in sorted(folder.glob("*.c")) if one.stem != "test_model"]
    command(["make", f"CFLAGS={' '.join((*FLAGS, '-fPIC'))}", *objects], folder)
    library = linked([folder / one for one in objects], folder / "emitted.so")
    found = re.search(r"(\w+)_run\(", (folder / "model.h").read_text(encoding="ascii"))
    if found is None:
        raise UnavailableError("the emitted header declares no function")
    weights = folder / "weights.bin"
    if weights.exists():
        content = weights.read_bytes()
        if getattr(library, f"{found[1]}_load")(content, ctypes.c_size_t(len(content))):
            raise UnavailableError("the emitted weights could not be loaded")
    return getattr(library, f"{found[1]}_run")
