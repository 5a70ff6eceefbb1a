"""The XLA operations: composed with a builder, applied to arrays, printed, and handed to the real XLA.

`ComputationBuilder` composes computations; `clamp`, `conv_with_general_padding` and the others apply one
operation to arrays. `parse_literal` and `format_literal` read and write arrays as the documents do.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sonnx.xla.builder import BuildError as BuildError
    from sonnx.xla.builder import ComputationBuilder as ComputationBuilder
    from sonnx.xla.builder import Handle as Handle
    from sonnx.xla.computation import Computation as Computation
    from sonnx.xla.literals import LiteralError as LiteralError
    from sonnx.xla.literals import format_literal as format_literal
    from sonnx.xla.literals import parse_literal as parse_literal
    from sonnx.xla.shapes import Shape as Shape

# Loaded at first use, so that the builder does not cost what it does not need.
_HOMES = {
    "BuildError": "sonnx.xla.builder",
    "Computation": "sonnx.xla.computation",
    "ComputationBuilder": "sonnx.xla.builder",
    "Handle": "sonnx.xla.builder",
    "LiteralError": "sonnx.xla.literals",
    "Shape": "sonnx.xla.shapes",
    "format_literal": "sonnx.xla.literals",
    "parse_literal": "sonnx.xla.literals",
}


def __getattr__(name: str) -> Any:
    """Load a public name at its first use; beside those above there is a function for each operation."""
    if name == "__all__":
        return sorted({*_HOMES, *_functions()})
    value: Any = None
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif not name.startswith("_"):
        value = _functions().get(name)
    if value is None:
        raise AttributeError(f"module 'sonnx.xla' has no attribute {name!r}")
    globals()[name] = value
    return value


def _functions() -> Any:
    return import_module("sonnx.xla.functions").FUNCTIONS


def __dir__() -> list[str]:
    """List what can be loaded, for completion."""
    return sorted({*__getattr__("__all__"), *(name for name in globals() if name.startswith("__"))})
