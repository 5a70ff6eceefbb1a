"""model.h and model.c: the entry point, the memory, one function per node."""

import re
from collections.abc import Sequence

from sonnx.derive.c_types import C_NAMES
from sonnx.emit import acsl
from sonnx.emit.layout import Layout, Port, type_text
from sonnx.emit.lines import narrowed
from sonnx.emit.names import shown
from sonnx.emit.template import fill, own, shared

# Functions of which contracts say more than Frama-C's own header does.
_CONTRACTED = re.compile(r"\b(?:sqrt|fabs)f?\(")
_COMPLEX = {"struct complex64": "float", "struct complex128": "double"}


def parameters(layout: Layout) -> str:
    """The parameters of the entry point."""
    found = [f"const {declared(port, layout.prefix)}" for port in layout.inputs]
    found += [declared(port, layout.prefix) for port in layout.outputs]
    return ", ".join(found) or "void"


def declared(port: Port, begin: str) -> str:
    """A parameter, or the array that is given for it."""
    return f"{port.kind.spelled(begin)} {port.parameter}[{max(port.elements, 1)}]"


def returned(layout: Layout) -> list[str]:
    """What the entry point returns, line by line."""
    if not layout.fails:
        return ["Returns 0: every call succeeds."]
    lines = ["Returns 0; or else one of these, and then no output is written:"]
    lines += ["  -1 where the weights have not been loaded"] if layout.loaded else []
    stops = [(each.status, each.nodes[0][0].title) for each in layout.guarded]
    return lines + [f"  {status} where it is not defined for an element: {title}" for status, title in stops]


def header(layout: Layout, about: str) -> str:
    """The text of model.h."""
    begin = layout.prefix
    structures = [
        f"struct {begin}_{name.removeprefix('struct ')} {{\n    {part} real;\n    {part} imaginary;\n}};\n"
        for name, part in _COMPLEX.items()
        if name in _kinds(layout)
    ]
    values: dict[str, str | int] = {
        "about": about,
        "guard": f"SONNX_{begin}_H",
        "prefix": begin,
        "structures": "\n".join(structures),
        "ports": "\n".join(f"   {_port(port)}" for port in (*layout.inputs, *layout.outputs)),
        "returns": "\n".join(f"   {line}" for line in returned(layout)),
        "parameters": parameters(layout),
        "bytes": sum(weight.data.size * weight.kind.bytes for weight in layout.weights),
    }
    flags = {"LOADED": layout.loaded, "STRUCTURES": bool(structures), "COPIED": layout.kernels is None}
    return fill(own("model.h"), values, flags)


def _kinds(layout: Layout) -> set[str]:
    """The C types of all tensors."""
    found = {port.kind.name for port in (*layout.inputs, *layout.outputs)}
    found |= {weight.kind.name for weight in layout.weights}
    return found | {kind for kind, _ in layout.memory.slots.sizes}


def _port(port: Port) -> str:
    side = "input" if port.parameter.startswith("in") else "output"
    return f"{port.parameter}: {side} `{shown(port.tensor)}`, {type_text(port.type)}"


def source(layout: Layout, about: str) -> str:
    """The text of model.c."""
    own_headers = ["model.h", "checks.h"]
    own_headers += ["kernels.h"] if layout.kernels else []
    own_headers += ["weights.h"] if layout.weights else []
    code = [
        *(shared(f"{name}.c").rstrip() for name in layout.helpers if not name.startswith("<")),
        *layout.words.values(),
        _memory(layout),
        _pointers(layout),
        *(function.text for function in layout.functions),
        *_copies(layout),
        _run(layout),
    ]
    if layout.kernels is not None:  # contracts speak of the arrays of plain kernels
        code = [acsl.without_annotations(text) for text in code]
    parts = [
        f"/* {about} */",
        _includes([name for name in layout.helpers if name.startswith("<")], code),
        "\n".join(f'#include "{name}"' for name in own_headers),
        acsl.declarations(layout.prefix, code),
        *map(narrowed, code),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _includes(names: Sequence[str], code: Sequence[str]) -> str:
    """The headers of the library; Frama-C's own warn of second contracts, and roots write errno there."""
    found = "\n".join(f"#include {name}" for name in names)
    guarded = any(map(_CONTRACTED.search, code))
    return f"#ifndef __FRAMAC__\n{found}\n#endif" if guarded else found


def _memory(layout: Layout) -> str:
    begin, memory = layout.prefix, layout.memory
    if not memory.slots.sizes:
        return ""
    aligned = "" if layout.kernels is None else " __attribute__((aligned(64)))"
    lines = ["/* Tensors that are never needed at the same time share an array. */"]
    lines += [
        f"static {C_NAMES[kind].spelled(begin)} buffer_{number}[{elements}]{aligned};"
        for number, (kind, elements) in enumerate(memory.slots.sizes)
    ]
    lines += [f"#define {name} buffer_{memory.slots.places[tensor]}" for tensor, name in memory.names.items()]
    return "\n".join(lines)


def _pointers(layout: Layout) -> str:
    """Names for the caller's arrays, where those are used in place."""
    if layout.kernels is None:
        return ""
    begin = layout.prefix
    lines = ["/* The arrays of the caller. */"]
    lines += [f"static const {_pointer(port, begin)};" for port in layout.inputs]
    lines += [f"static {_pointer(port, begin)};" for port in layout.outputs]
    return "\n".join(lines)


def _pointer(port: Port, begin: str) -> str:
    return f"{port.kind.spelled(begin)} *caller_{port.parameter}"


def _copies(layout: Layout) -> list[str]:
    """The functions that copy what the caller gives, and what the caller wants."""
    inward = [] if layout.kernels is not None else layout.inputs
    found = [
        _copy(layout, port, layout.arrays[port.tensor], port.parameter) for port in inward if port.elements
    ]
    return found + [
        _copy(layout, port, port.parameter, layout.arrays[port.tensor])
        for port in layout.outputs
        if port.elements and not _in_place(layout, port)
    ]


def _copy(layout: Layout, port: Port, to: str, source: str) -> str:
    values: dict[str, str | int] = {
        "parameter": port.parameter,
        "declared": ("const " if source == port.parameter else "") + declared(port, layout.prefix),
        "valid": "valid_read" if source == port.parameter else "valid",
        "to": to,
        "source": source,
        "count": port.elements,
        "last": port.elements - 1,
        "equal_k": acsl.equal(port.kind.name, f"{to}[k]", f"{source}[k]"),
        "equal_i": acsl.equal(port.kind.name, f"{to}[i]", f"{source}[i]"),
    }
    return fill(own("copy.c"), values).rstrip()


def _in_place(layout: Layout, port: Port) -> bool:
    return layout.arrays.get(port.tensor) == f"caller_{port.parameter}"


def _run(layout: Layout) -> str:
    lines = [*acsl.entry(layout), f"int32_t {layout.prefix}_run({parameters(layout)})", "{"]
    if layout.loaded:
        lines += [f"    if (!{layout.prefix}_loaded) {{", "        return -1;", "    }"]
    if layout.kernels is not None:
        lines += [f"    caller_{port.parameter} = {port.parameter};" for port in layout.inputs]
        lines += [f"    caller_{port.parameter} = {port.parameter};" for port in layout.outputs]
    else:
        lines += [_copied(port) for port in layout.inputs]
    lines += acsl.steps(layout)
    for number, port in enumerate(layout.outputs):
        if not _in_place(layout, port):
            lines += [_copied(port), *acsl.handed_over(layout, number)]
    return "\n".join([*lines, "    return 0;", "}"])


def _copied(port: Port) -> str:
    """The call that copies; with nothing to copy, the parameter is idle."""
    return (
        f"    copy_{port.parameter}({port.parameter});" if port.elements else f"    (void){port.parameter};"
    )
