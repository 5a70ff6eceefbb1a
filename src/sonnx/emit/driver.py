"""test_model.c and the file of vectors that it reads."""

from collections.abc import Sequence

from sonnx.emit.layout import Layout, Port
from sonnx.emit.model import declared
from sonnx.emit.names import shown
from sonnx.emit.template import fill, own
from sonnx.emit.types import little_endian
from sonnx.emit.vectors import Vector


def vectors_file(layout: Layout, vectors: Sequence[Vector]) -> bytes:
    """For every vector the inputs, then the outputs, in the order of the model, little-endian."""
    parts = []
    for vector in vectors:
        parts += [little_endian(vector.inputs[port.tensor], port.kind) for port in layout.inputs]
        parts += [little_endian(vector.outputs[port.tensor], port.kind) for port in layout.outputs]
    return b"".join(parts)


def source(layout: Layout, vectors: Sequence[Vector], about: str) -> str:
    """The text of test_model.c."""
    ports = (*layout.inputs, *layout.outputs)
    arrays = [f"static {declared(port, layout.prefix)};" for port in ports]
    call = f"{layout.prefix}_run({', '.join(port.parameter for port in ports)})"
    values: dict[str, str | int] = {
        "about": about,
        "prefix": layout.prefix,
        "arrays": "\n".join(arrays),
        "tensors": "\n".join([_tensor(port, port in layout.outputs) for port in ports]),
        "vectors": "\n".join(f'    "{shown(vector.label)}",' for vector in vectors),
        "call": f"if ({call} != 0) {{\n            return 2;\n        }}" if layout.loaded else f"{call};",
        "weight_bytes": sum(weight.data.size * weight.kind.bytes for weight in layout.weights),
    }
    return fill(own("test_model.c"), values, {"LOADED": layout.loaded})


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
