"""The safety-related ONNX profile as an executable specification.

`load` reads a model, which can then be checked, normalized and run. Each of the profile's operators is a
function on arrays (`clip`, `conv`, ...); `xla` has the XLA operations. All of it works exactly in the reals
(`real`), bit for bit in IEEE arithmetic, on integers and on types that are only moved.
"""

from importlib import import_module
from os import scandir
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sonnx import xla
    from sonnx.api import Graph, load
    from sonnx.emit.errors import EmitError
    from sonnx.engines import CompiledGraph, NoCompilerWarning
    from sonnx.evaluate.execution import InputError, MemoryLimitError
    from sonnx.evaluate.functions import error_bound, output_types
    from sonnx.load.limits import LoadError
    from sonnx.model.dtype import DType
    from sonnx.model.tensor_type import TensorType
    from sonnx.native.compiler import CompilerError
    from sonnx.numeric.arrays import RealArray
    from sonnx.numeric.balls import Ball, UndecidedError
    from sonnx.numeric.bits import same_bits, ulp_distance
    from sonnx.numeric.environment import NotIeeeError
    from sonnx.numeric.literals import format_float, parse_literal
    from sonnx.numeric.real import real
    from sonnx.operators.rulebook import rules
    from sonnx.stablehlo.engine import EngineError
    from sonnx.stablehlo.module import ExportError
    from sonnx.vocabulary.rule import DomainError, Finding, Rule, RuleError, Shown

__version__ = "0.1.0"

# The first import of a folder binds its name here. For `load` that must not happen later on, where it would
# hide the function of that name: so it happens now (the folder's own module is empty), and is undone.
import_module("sonnx.load")
del globals()["load"]

# Loaded at first use, so that `import sonnx` costs next to nothing.
_HOMES = {
    "Graph": "sonnx.api",
    "load": "sonnx.api",
    "CompiledGraph": "sonnx.engines",
    "CompilerError": "sonnx.native.compiler",
    "NoCompilerWarning": "sonnx.engines",
    "EmitError": "sonnx.emit.errors",
    "EngineError": "sonnx.stablehlo.engine",
    "ExportError": "sonnx.stablehlo.module",
    "InputError": "sonnx.evaluate.execution",
    "MemoryLimitError": "sonnx.evaluate.execution",
    "LoadError": "sonnx.load.limits",
    "error_bound": "sonnx.evaluate.functions",
    "output_types": "sonnx.evaluate.functions",
    "DType": "sonnx.model.dtype",
    "DomainError": "sonnx.vocabulary.rule",
    "Finding": "sonnx.vocabulary.rule",
    "Rule": "sonnx.vocabulary.rule",
    "RuleError": "sonnx.vocabulary.rule",
    "Shown": "sonnx.vocabulary.rule",
    "TensorType": "sonnx.model.tensor_type",
    "RealArray": "sonnx.numeric.arrays",
    "Ball": "sonnx.numeric.balls",
    "UndecidedError": "sonnx.numeric.balls",
    "same_bits": "sonnx.numeric.bits",
    "ulp_distance": "sonnx.numeric.bits",
    "NotIeeeError": "sonnx.numeric.environment",
    "format_float": "sonnx.numeric.literals",
    "parse_literal": "sonnx.numeric.literals",
    "real": "sonnx.numeric.real",
    "rules": "sonnx.operators.rulebook",
}

__all__ = [
    "Ball",
    "CompiledGraph",
    "CompilerError",
    "DType",
    "DomainError",
    "EmitError",
    "EngineError",
    "ExportError",
    "Finding",
    "Graph",
    "InputError",
    "LoadError",
    "MemoryLimitError",
    "NoCompilerWarning",
    "NotIeeeError",
    "RealArray",
    "Rule",
    "RuleError",
    "Shown",
    "TensorType",
    "UndecidedError",
    "error_bound",
    "format_float",
    "load",
    "output_types",
    "parse_literal",
    "real",
    "rules",
    "same_bits",
    "ulp_distance",
    "xla",
]


# Every operator of ONNX is a function; its folder has the same name.
_FOLDERS = [folder for path in __path__ for folder in scandir(f"{path}/operators/onnx") if folder.is_dir()]
_OPERATORS = sorted(folder.name for folder in _FOLDERS if not folder.name.startswith("_"))
__all__ += _OPERATORS  # noqa: PLE0605  # the names of folders, which only the disk knows


def __getattr__(name: str) -> Any:
    """Load a public name at its first use."""
    if name == "xla":
        return import_module("sonnx.xla")
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        functions = import_module("sonnx.evaluate.functions").FUNCTIONS if name in _OPERATORS else {}
        if name not in functions:
            raise AttributeError(f"module 'sonnx' has no attribute {name!r}")
        value = functions[name]
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List what can be loaded, for completion."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
