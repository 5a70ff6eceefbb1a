"""test_model.c and the file of vectors that it reads."""

from collections.abc import Sequence
from zlib import crc32

from sonnx.emit.layout import Layout, Port
from sonnx.emit.model import declared
from sonnx.emit.names import shown
from sonnx.emit.template import fill, own
from sonnx.emit.types import little_endian
from sonnx.emit.vectors import Vector

# What the check of the build's arithmetic needs in each type: one, a NaN and the sign as bits; a number that
# added to 1 is a tie; a factor whose square lies `rest` above `square`; a number that swallows the tie.
_ARITHMETIC: tuple[dict[str, str | int], ...] = (
    {
        "real": "float",
        "bits": "uint32_t",
        "one": "0x3f800000u",
        "nan": "0x7fc00001u",
        "sign": "0x80000000u",
        "tie": "0x1p-24f",
        "factor": "0x1.001p0f",
        "square": "0x1.002p0f",
        "rest": "0x1p-24f",
        "large": "0x1p24f",
        "fma": "fmaf",
    },
    {
        "real": "double",
        "bits": "uint64_t",
        "one": "UINT64_C(0x3ff0000000000000)",
        "nan": "UINT64_C(0x7ff8000000000001)",
        "sign": "UINT64_C(0x8000000000000000)",
        "tie": "0x1p-53",
        "factor": "0x1.0000002p0",
        "square": "0x1.0000004p0",
        "rest": "0x1p-54",
        "large": "0x1p53",
        "fma": "fma",
    },
)


def vectors_file(layout: Layout, vectors: Sequence[Vector]) -> bytes:
    """For every vector the inputs, then the outputs if there are any, in the model's order, little-endian."""
    parts = []
    for vector in vectors:
        parts += [little_endian(vector.inputs[port.tensor], port.kind) for port in layout.inputs]
        made = layout.outputs if vector.status == 0 else ()
        parts += [little_endian(vector.outputs[port.tensor], port.kind) for port in made]
    return b"".join(parts)


def source(layout: Layout, vectors: Sequence[Vector], about: str, *, fused: bool) -> str:
    """The text of test_model.c."""
    content = vectors_file(layout, vectors)
    ports = (*layout.inputs, *layout.outputs)
    arrays = [f"static {declared(port, layout.prefix)};" for port in ports]
    call = f"{layout.prefix}_run({', '.join(port.parameter for port in ports)})"
    values: dict[str, str | int] = {
        "about": about,
        "prefix": layout.prefix,
        "arrays": "\n".join(arrays),
        "tensors": "\n".join([_tensor(port, port in layout.outputs) for port in ports]),
        "vectors": "\n".join(f'    "{shown(vector.label)}",' for vector in vectors),
        "call": call,
        "statuses": "\n".join(f"    {vector.status}," for vector in vectors),
        "arithmetic": "\n".join(
            fill(own("arithmetic.c"), words, {"FUSED": fused}) for words in _ARITHMETIC
        ).rstrip(),
        "vector_bytes": len(content),
        "vector_crc": f"0x{crc32(content):08x}",
        "weight_bytes": sum(weight.data.size * weight.kind.bytes for weight in layout.weights),
    }
    return fill(own("test_model.c"), values, {"LOADED": layout.loaded, "FUSED": fused})


def _tensor(port: Port, is_output: bool) -> str:
    kind = port.kind
    fields = [
        f'"{shown(port.tensor)}"',
        f"(unsigned char *){port.parameter}",
        str(port.elements * kind.parts),
        str(kind.width),
        f"UINT64_C(0x{kind.infinity:x})",
        str(int(port.any_nan)),
        str(int(is_output)),
    ]
    return f"    {{{', '.join(fields)}}},"
