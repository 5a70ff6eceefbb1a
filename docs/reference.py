"""The page of the public Python names, with signatures and docstrings as they are in the code."""

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import sonnx
from docs.markup import DocsError, block, prose
from sonnx.evaluate.functions import FUNCTIONS
from sonnx.operators import XLA_OPERATORS

_MODULES = re.compile(r"\b(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])")


@dataclass(frozen=True)
class Group:
    """Names that belong together, each with the modules of the package that lead to it."""

    title: str
    text: str
    names: tuple[str, ...]


GROUPS = (
    Group(
        "Models",
        "From a file to a verdict and a result; the page [Models](models.md) shows them at work.",
        (
            "load",
            "Graph",
            "CompiledGraph",
            "LoadError",
            "InputError",
            "MemoryLimitError",
            "CompilerError",
            "NoCompilerWarning",
            "EmitError",
            "ExportError",
            "EngineError",
        ),
    ),
    Group(
        "Values that models give",
        "`Graph.check()` answers [findings](#sonnx.Finding), which have a place; normalizing answers "
        "changes; a run can be watched step by step.",
        ("model.location.Location", "normalize.changes.Change", "evaluate.execution.ExecutedNode"),
    ),
    Group(
        "ONNX backend",
        "The interface by which tools drive [ONNX backends](models.md#onnx-backend). "
        "`run_model(model, inputs)`, which it takes over from ONNX, is `prepare` and then `run`.",
        (
            "backend.prepare",
            "backend.run_node",
            "backend.is_compatible",
            "backend.supports_device",
            "backend.SonnxRep",
        ),
    ),
    Group(
        "Conformance",
        "Runtimes asked and judged; what [the command](conformance.md) does, in Python and in tests.",
        (
            "conformance.run",
            "conformance.ask",
            "conformance.result.Report",
            "conformance.result.Cell",
            "conformance.result.Departure",
            "conformance.runtimes.runtime.Runtime",
            "conformance.testing.Case",
            "conformance.testing.cases",
            "conformance.testing.parameters",
            "conformance.testing.runtime_fixture",
        ),
    ),
    Group(
        "Operators",
        "The operators on arrays. Arguments that break a rule raise `sonnx.RuleError`; nothing is computed.",
        (*FUNCTIONS, "output_types", "error_bound"),
    ),
    Group(
        "XLA operations",
        "Computations composed with a builder, executed by their definitions or by the real XLA, and the "
        "operations on arrays; `import sonnx`, then `sonnx.xla.ComputationBuilder(...)`.",
        (
            "xla.ComputationBuilder",
            "xla.Handle",
            "xla.Computation",
            "xla.Shape",
            *(f"xla.{operator.folder}" for operator in XLA_OPERATORS),
            "xla.parse_literal",
            "xla.format_literal",
            "xla.LiteralError",
            "xla.BuildError",
        ),
    ),
    Group(
        "Numbers and bits",
        "The exact domain, comparison of bits, and literals that name one number exactly.",
        (
            "real",
            "RealArray",
            "Ball",
            "UndecidedError",
            "same_bits",
            "ulp_distance",
            "format_float",
            "parse_literal",
            "NotIeeeError",
        ),
    ),
    Group(
        "Rules and types",
        "What a finding is made of, and the small values that all of this speaks in.",
        ("rules", "Rule", "Finding", "Shown", "RuleError", "DomainError", "TensorType", "DType"),
    ),
)


def reference_page(groups: tuple[Group, ...] = GROUPS) -> str:
    """Write the page; every public name of the package must be in a group.

    Raises DocsError for a name that is missing here, that does not exist, or that has no docstring.
    """
    listed = [name for group in groups for name in group.names if "." not in name]
    public = set(sonnx.__all__) - {"xla"}  # a module, whose names are listed one by one
    if sorted(listed) != sorted(public):
        differing = ", ".join(sorted(set(listed) ^ public)) or "one is listed twice"
        raise DocsError(f"the names of docs/reference.py and of the package differ: {differing}")
    head = (
        "# Python interface\n\n"
        "Names of the package are used as `import sonnx`, then `sonnx.load(...)`; for the others it says "
        "where they are imported from."
    )
    return "\n\n".join((head, *(part for group in groups for part in _group(group)))) + "\n"


def reference_links(root: str) -> Mapping[str, str]:
    """Address every public name of the package from a page that lies under `root`."""
    paths = (path for group in GROUPS for path in group.names)
    return {f"sonnx.{path}": f"{root}reference.md#sonnx.{path}" for path in paths}


def _group(group: Group) -> Iterator[str]:
    yield f"## {group.title}\n\n{group.text}"
    for path in group.names:
        module, _, name = f"sonnx.{path}".rpartition(".")
        value = getattr(import_module(module), name, None)
        if not callable(value):
            raise DocsError(f"{module}.{name} is no function or class")
        origin = "" if module == "sonnx" else f"<p><code>from {module} import {name}</code></p>\n"
        yield _entry(name, value, f"### `{name}` {{ #sonnx.{path} }}\n\n{origin}")
        for method in _methods(value):
            head = f"#### `{name}.{method}` {{ #sonnx.{path}.{method} }}\n\n"
            yield _entry(f"{name}.{method}", getattr(value, method), head)


def _entry(name: str, value: Any, head: str) -> str:
    text = inspect.getdoc(value)
    if not text:
        raise DocsError(f"{name} has no docstring")
    paragraphs = (f"<p>{prose(' '.join(p.split()))}</p>" for p in re.split(r"\n\s*\n", text))
    return f"{head}{block(signature(name, value), 'signature')}\n" + "\n".join(paragraphs)


def _methods(value: Any) -> list[str]:
    """The public methods that a class itself defines, in the order of the code."""
    own = vars(value) if inspect.isclass(value) else ()
    public = ((name, getattr(value, name)) for name in own if not name.startswith("_"))
    return [name for name, found in public if inspect.isfunction(found) or inspect.ismethod(found)]


def signature(name: str, value: Any) -> str:
    """Write how a name is called, one parameter a line where one line does not hold all."""
    head = "class " if inspect.isclass(value) else ""
    if head and "__init__" not in vars(value):  # what it inherits is not ours to document
        return f"{head}{name}"
    found = inspect.signature(value)
    taken = [parameter for parameter in found.parameters.values() if parameter.name != "self"]
    parameters = [_parameter(parameter) for parameter in taken]
    kinds = [parameter.kind for parameter in taken]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        parameters.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    no_result = found.return_annotation in (inspect.Signature.empty, None)
    result = "" if no_result else f" -> {_annotation(found.return_annotation)}"
    line = f"{head}{name}({', '.join(parameters)}){result}"
    if len(line) <= 88:
        return line
    return f"{head}{name}(\n" + "".join(f"    {parameter},\n" for parameter in parameters) + f"){result}"


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(parameter.kind.name, "")
    known = parameter.annotation is not inspect.Parameter.empty
    annotation = f": {_annotation(parameter.annotation)}" if known else ""
    text = f"{stars}{parameter.name}{annotation}"
    if parameter.default is inspect.Parameter.empty:
        return text
    return f"{text} = {parameter.default!r}" if known else f"{text}={parameter.default!r}"


def _annotation(annotation: Any) -> str:
    text = _MODULES.sub("", inspect.formatannotation(annotation))
    # A class that is not there yet when its method is defined is named in quotes.
    text = re.sub(r"'(\w+)'", r"\1", text) if isinstance(annotation, str) else text
    return text.replace("ndarray[tuple[Any, ...], dtype[Any]]", "ndarray")
