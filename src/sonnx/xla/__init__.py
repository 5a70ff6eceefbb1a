"""The XLA operations: composed with a builder, applied to arrays, printed, and handed to the real XLA.

`ComputationBuilder` composes computations; `clamp`, `conv_with_general_padding` and the others apply one
operation to arrays. `parse_literal` and `format_literal` read and write arrays as the documents do.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sonnx.xla.builder import BuildError, ComputationBuilder, Handle
    from sonnx.xla.computation import Computation
    from sonnx.xla.functions import (
        broadcast,
        call,
        clamp,
        collapse,
        concatenate,
        conv,
        conv_with_general_padding,
        convert_element_type,
    )
    from sonnx.xla.literals import LiteralError, format_literal, parse_literal
    from sonnx.xla.shapes import Shape

# Loaded at first use, so that the builder does not cost what it does not need.
_HOMES = {
    "BuildError": "sonnx.xla.builder",
    "Computation": "sonnx.xla.computation",
    "ComputationBuilder": "sonnx.xla.builder",
    "Handle": "sonnx.xla.builder",
    "LiteralError": "sonnx.xla.literals",
    "Shape": "sonnx.xla.shapes",
    "broadcast": "sonnx.xla.functions",
    "call": "sonnx.xla.functions",
    "clamp": "sonnx.xla.functions",
    "collapse": "sonnx.xla.functions",
    "concatenate": "sonnx.xla.functions",
    "conv": "sonnx.xla.functions",
    "conv_with_general_padding": "sonnx.xla.functions",
    "convert_element_type": "sonnx.xla.functions",
    "format_literal": "sonnx.xla.literals",
    "parse_literal": "sonnx.xla.literals",
}

__all__ = [
    "BuildError",
    "Computation",
    "ComputationBuilder",
    "Handle",
    "LiteralError",
    "Shape",
    "broadcast",
    "call",
    "clamp",
    "collapse",
    "concatenate",
    "conv",
    "conv_with_general_padding",
    "convert_element_type",
    "format_literal",
    "parse_literal",
]


def __getattr__(name: str) -> Any:
    """Load a public name at its first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'sonnx.xla' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List what can be loaded, for completion."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
