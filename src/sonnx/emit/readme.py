"""README.md of a project: what a reader needs before the C."""

from collections.abc import Sequence
from dataclasses import dataclass

from sonnx.emit.layout import Layout, Port, type_text
from sonnx.emit.model import parameters, returned
from sonnx.emit.names import shown
from sonnx.emit.places import Place
from sonnx.emit.template import fill, own
from sonnx.emit.vectors import Vector
from sonnx.model.graph import Node

_SUMS = {
    "separate": "the product is rounded, then the sum",
    "fused": "product and sum are rounded once, as `fmaf` and `fma` of C do",
}
_KERNELS = {
    "plain": "ISO C99, one loop after the other, to be read and proved",
    "fast": "C99 with the vector extensions of gcc and clang; give `CFLAGS='-O3 -march=native'`",
}
# Entry point, node, element, conversion: each has few scalars; gcc without optimisation needs half of this.
_PLAIN_STACK = 1024
# Here without optimisation every vector of a tile has its place on the stack: gcc needs 27 KiB.
_FAST_STACK = 65_536


@dataclass(frozen=True)
class About:
    """Where a project comes from and how it was made."""

    version: str
    accumulate: str
    kernels: str
    # How many changes made the model conform; none are in its file.
    changes: int = 0

    def head(self, layout: Layout) -> tuple[str, str]:
        """Two lines for the head of every file."""
        sha256 = layout.graph.file_sha256 or "unknown"
        changes = f", {self.changes} changes by normalizing" if self.changes else ""
        return (
            f"Written by sonnx {self.version} from the model `{shown(layout.graph.name)}`; "
            f"sums {self.accumulate}, kernels {self.kernels}.",
            f"Model file: sha256 {sha256}{changes}.",
        )


def stack_bytes(layout: Layout) -> int:
    """A bound of the stack: frames of known variables, and a pointer for every parameter."""
    frames = _PLAIN_STACK if layout.kernels is None else _FAST_STACK
    return frames + 16 * (len(layout.inputs) + len(layout.outputs))


def readme(layout: Layout, vectors: Sequence[Vector], about: About, called: Sequence[str]) -> str:
    """The text of README.md; `called` are functions of the library."""
    changes = f", after {about.changes} changes by normalizing" if about.changes else ""
    loaded, fused = layout.loaded, about.accumulate == "fused"
    entry = f"int32_t {layout.prefix}_run({parameters(layout)});"
    if loaded:
        entry = f"int {layout.prefix}_load(const unsigned char *bytes, size_t size);\n{entry}"
    files = {
        (False, False): "",
        (True, False): "| `weights.h`, `weights.c` | the constants, as hexadecimal literals |\n",
        (True, True): "| `weights.h`, `weights.c`, `weights.bin` | the constants, little-endian, and "
        f"`{layout.prefix}_load`, which takes the bytes of the file and checks their number and CRC-32 |\n",
    }[bool(layout.weights), loaded]
    values: dict[str, str | int] = {
        "prefix": layout.prefix,
        "model": shown(layout.graph.name),
        "version": about.version,
        "sha256": layout.graph.file_sha256 or "unknown",
        "changes": changes,
        "accumulate": about.accumulate,
        "sums": _SUMS[about.accumulate],
        "kernels": f"`{about.kernels}`: {_KERNELS[about.kernels]}",
        "sharing": "An output may be the same array as an input."
        if layout.kernels is None
        else "No output may share memory with an input or another output.",
        "entry": entry,
        "returns": "\n".join(
            line if line.startswith("R") else f"- {line.strip()}" for line in returned(layout)
        ),
        "ports": "\n".join(_port(port) for port in (*layout.inputs, *layout.outputs)),
        "weight_files": files,
        "kernel_files": _kernel_files(layout),
        "vectors": ", ".join(shown(vector.label) for vector in vectors),
        "weight_bytes": f"{sum(w.data.size * w.kind.bytes for w in layout.weights):,}",
        "weight_place": "static, filled by the loader" if loaded else "constant",
        "buffer_bytes": f"{layout.memory.bytes:,}",
        "stack_bytes": f"{stack_bytes(layout):,}",
        "sources": ", ".join(f"`{name}`" for name in sources(layout)),
        "link": "link with `-lm`; " if called else "",
        "library": f", {', '.join(called)} apart" if called else "",
        "fma_assumption": "| `fmaf` and `fma` round once | `test_model` |\n" if fused else "",
        "functions": "\n".join(
            f"| {function} | {' | '.join(place.cells)} | "
            f"{', '.join(f'`{shown(name)}`' for name in node.outputs)} |"
            for function, place, node in _executed(layout)
        ),
    }
    return fill(own("README.md"), values, {"CONTRACTS": layout.kernels is None})


def sources(layout: Layout) -> list[str]:
    """The C files of the model, without its test."""
    kernels = [name for name in layout.kernels or {} if name.endswith(".c")]
    return ["model.c", *(["weights.c"] if layout.weights else []), *kernels]


def _kernel_files(layout: Layout) -> str:
    if not layout.kernels:
        return ""
    return f"| {', '.join(f'`{name}`' for name in layout.kernels)} | the kernels that `model.c` calls |\n"


def _executed(layout: Layout) -> list[tuple[str, Place, Node]]:
    """Every node and the function that executes it; some were executed when the project was written."""
    found = [(f"`{each.name}`", *pair) for each in layout.functions for pair in each.nodes]
    return found + [("none: its result is a constant", *pair) for pair in layout.folded]


def _port(port: Port) -> str:
    return f"| `{port.parameter}` | `{shown(port.tensor)}` | {type_text(port.type)} |"
