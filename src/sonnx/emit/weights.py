"""The constants of a model: as literals in C, or as a file with a loader."""

from zlib import crc32

from sonnx.derive.c_types import CType
from sonnx.emit.layout import Layout, Weight, type_text
from sonnx.emit.names import shown
from sonnx.emit.template import fill, own
from sonnx.emit.types import bit_initialiser, initialiser, little_endian

_PARTS = {"struct complex64": "float", "struct complex128": "double"}


def blob(layout: Layout) -> bytes:
    """The constants one after the other, little-endian."""
    return b"".join(little_endian(weight.data, weight.kind) for weight in layout.weights)


def header(layout: Layout, about: str) -> str:
    """The text of weights.h."""
    declared = [
        f"{_comment(weight)}\n{_union(layout, weight)}extern {_declared(layout, weight)};"
        for weight in layout.weights
    ]
    values: dict[str, str | int] = {
        "about": about,
        "guard": f"SONNX_{layout.prefix}_WEIGHTS_H",
        "prefix": layout.prefix,
        "declared": "\n\n".join(declared),
    }
    return fill(own("weights.h"), values, {"LOADED": layout.loaded})


def source(layout: Layout, about: str) -> str:
    """The text of weights.c."""
    parts = [f"/* {about} */", '#include "model.h"\n#include "weights.h"']
    if layout.loaded:
        parts += [f"{_declared(layout, weight)};" for weight in layout.weights]
        parts.append(_loader(layout))
    else:
        parts += [f"{_declared(layout, weight)} = {_initial(weight)};" for weight in layout.weights]
    return "\n\n".join(parts) + "\n"


def _comment(weight: Weight) -> str:
    return f"/* `{shown(weight.tensor)}`: {type_text(weight.type)} */"


def _union(layout: Layout, weight: Weight) -> str:
    """The type of a tensor that is held as bits, because no literal has those of its NaNs."""
    if not weight.as_bits:
        return ""
    elements, kind = max(weight.data.size, 1), weight.kind
    bits = f"uint{8 * kind.width}_t bits[{elements * kind.parts}]"
    values = f"{kind.spelled(layout.prefix)} values[{elements}]"
    return f"union {weight.name} {{\n    {bits};\n    {values};\n}};\n"


def _declared(layout: Layout, weight: Weight) -> str:
    aligned = "" if layout.kernels is None else " __attribute__((aligned(64)))"
    if weight.as_bits:
        return f"const union {weight.name} {weight.name}{aligned}"
    constant = "" if layout.loaded else "const "
    elements = max(weight.data.size, 1)
    return f"{constant}{weight.kind.spelled(layout.prefix)} {weight.name}[{elements}]{aligned}"


def _initial(weight: Weight) -> str:
    if weight.as_bits:
        return f"{{{bit_initialiser(weight.data, weight.kind)}}}"
    return initialiser(weight.data, weight.kind)


def _loader(layout: Layout) -> str:
    """The function that takes the bytes of the file, and what it needs."""
    kinds: dict[str, CType] = {weight.kind.name: weight.kind for weight in layout.weights}
    numbers = {name: number for number, name in enumerate(kinds)}
    parts = [_decoder(layout, kind, numbers[name]) for name, kind in kinds.items()]
    calls, offset = [], 0
    for weight in layout.weights:
        if weight.data.size:
            number = numbers[weight.kind.name]
            begin = f"bytes + {offset}" if offset else "bytes"
            calls.append(f"    decode_{number}({weight.name}, {weight.data.size}, {begin});")
        offset += weight.data.size * weight.kind.bytes
    values: dict[str, str | int] = {
        "prefix": layout.prefix,
        "size": offset,
        "crc": f"0x{crc32(blob(layout)):08x}",
        "calls": "\n".join(calls),
    }
    return "\n\n".join([*parts, fill(own("load.c"), values).rstrip()])


def _decoder(layout: Layout, kind: CType, number: int) -> str:
    values: dict[str, str | int] = {
        "number": number,
        "bits": f"uint{8 * kind.width}_t",
        "part": _PARTS.get(kind.name, kind.name),
        "element": kind.spelled(layout.prefix),
        "width": kind.width,
        "offset": "i" if kind.bytes == 1 else f"(size_t)i * {kind.bytes}",
    }
    return fill(own("decode.c"), values, {"COMPLEX": kind.parts == 2}).rstrip()
