"""What a runtime is, and how one is found by its name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module, metadata
from inspect import Parameter, signature
from typing import Any, Protocol

from sonnx.conformance.runtimes.question import Question
from sonnx.conformance.words import did_you_mean, meant_by

_HERE = "sonnx.conformance.runtimes"


class Runtime(Protocol):
    """Anything that executes operators.

    `run` answers the outputs in their order: NumPy arrays, whatever their number, types and shapes; it is for
    the judge to say what is wrong with them. Whatever it raises is a refusal. A runtime that asks ONNX models
    has an attribute `takes_models` that is true: what those ask in other words is outside the profile.
    """

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    @property
    def version(self) -> str:
        """Its version, as it says itself."""
        ...

    def supports(self, question: Question) -> bool:
        """Tell whether the question can be put to it at all."""
        ...

    def run(self, question: Question) -> Sequence[Any]:
        """Execute the operator."""
        ...


class UnavailableError(Exception):
    """A runtime cannot be had here; the text says what is missing, and what to do."""


class ProgramError(Exception):
    """A program that a runtime consists of has crashed: not the runtime's word on a question."""

    def __init__(self, code: int, said: bytes) -> None:
        """Keep the exit code, below 0 for a signal, and what the program printed."""
        super().__init__(f"ended with {code}")
        self.code = code
        self.said = said


class NoAnswerError(Exception):
    """A program that a runtime consists of said something that is no answer: nothing that it says counts."""


class LateError(Exception):
    """A program that a runtime consists of did not end in time."""


@dataclass(frozen=True)
class _Known:
    """Where an adapter is, and what it may be told."""

    module: str
    attribute: str
    options: tuple[str, ...] = ()


_KNOWN: Mapping[str, _Known] = {
    "onnxruntime": _Known("onnxruntime", "OnnxRuntime", ("provider", "level", "opset")),
    "reference-evaluator": _Known("evaluator", "Evaluator", ("opset",)),
    "jax": _Known("jax", "Jax", ("platform", "jit")),
    "emx": _Known("emx", "Emx", ("cc", "flags", "opset")),
    "native": _Known("ours", "Native", ("accumulate",)),
    "reference": _Known("ours", "Reference", ("accumulate",)),
    "emitted": _Known("ours", "Emitted", ("accumulate", "kernels", "cc")),
    "command": _Known("command", "Command", ("line", "seconds", "opset", "alive")),
}
# A program is named by its command line; nobody asks for `command` alone.
NAMES = tuple(name for name in _KNOWN if name != "command")
# What a runtime of somebody's has.
_MEMBERS = ("run", "supports", "name", "version")
# What a backend of somebody's may be told.
_BACKEND = ("device", "opset")


def named(text: str, /, **options: Any) -> Callable[[], Runtime]:
    """Find a runtime: one of `NAMES`, or `module:attribute`; calling what is answered makes it.

    The attribute is a backend in the sense of ONNX (it has `prepare`), a runtime, or what makes one of the
    options. Raises ValueError where there is no such name or option. What is answered raises
    UnavailableError where something is missing on this machine.
    """
    if ":" in text:
        module, _, attribute = text.partition(":")
        if not all(part.isidentifier() for part in (*module.split("."), *attribute.split("."))):
            raise ValueError(f"{text[:80]!r} is not of the form module:attribute")
        return lambda: _imported(module, attribute, options)
    known = _KNOWN.get(text)
    if known is None:
        there = f"there are {', '.join(NAMES)}, and any backend as module:attribute"
        near = tuple(meant_by([text], {name: name for name in NAMES}))
        raise ValueError(f"no runtime {text[:80]!r}; {there}{did_you_mean(near)}")
    unknown = [name for name in options if name not in known.options]
    if unknown:
        has = f"it has {', '.join(known.options)}" if known.options else "it has none"
        raise ValueError(f"the runtime {text} has no option {', '.join(unknown)}; {has}")
    return lambda: _made(known, options)


def _made(known: _Known, options: Mapping[str, Any]) -> Runtime:
    found: Runtime = getattr(import_module(f"{_HERE}.{known.module}"), known.attribute)(**options)
    return found


def _imported(module: str, attribute: str, options: Mapping[str, Any]) -> Runtime:
    whole = f"{module}:{attribute}"
    found = _found(module, attribute)
    if hasattr(found, "prepare"):
        from sonnx.conformance.runtimes.backend import Backend  # noqa: PLC0415  imports onnx

        _require_taken(whole, options, _BACKEND)
        return Backend(whole, found, **options)
    _require_taken(whole, options, _taken(found))
    runtime: Any = _called(whole, found, options) if callable(found) else found
    missing = [f"`{name}`" for name in _MEMBERS if not hasattr(runtime, name)]
    if "`run`" in missing:
        raise UnavailableError(f"{whole} is neither a backend (`prepare`) nor a runtime (`run`)")
    if missing:
        raise UnavailableError(f"{whole} is no runtime yet: it has `run`, and lacks {', '.join(missing)}")
    made: Runtime = runtime
    return made


def _found(module: str, attribute: str) -> Any:
    """What a module has under a name; raises UnavailableError."""
    try:
        found: Any = import_module(module)
    except ModuleNotFoundError as error:
        raise UnavailableError(f"{module} cannot be imported: {error}") from None
    except Exception as error:  # of a module that nobody here knows
        raise UnavailableError(f"{module} cannot be imported: {_named_error(error)}") from None
    try:
        for part in attribute.split("."):
            found = getattr(found, part)
    except AttributeError as error:
        raise UnavailableError(f"{module}:{attribute} is not there: {error}") from None
    return found


def _called(whole: str, found: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    """What somebody's class or function makes of the options; raises UnavailableError."""
    lacking = [f"`{name}`" for name in _wanted(found) if name not in options]
    if lacking:
        given = "what is not a backend (`prepare`) is made with what --option gives"
        raise UnavailableError(f"{whole} cannot be made without {', '.join(lacking)}; {given}")
    try:
        return found(**options)
    except UnavailableError:
        raise
    except Exception as error:  # (same)
        raise UnavailableError(f"{whole} cannot be made: {_named_error(error)}") from None


def _named_error(error: Exception) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # an error whose text is another error
        return type(error).__name__


def _wanted(found: Callable[..., Any]) -> tuple[str, ...]:
    """The parameters that something cannot be called without; none where that cannot be told."""
    try:
        parameters = signature(found).parameters.values()
    except (TypeError, ValueError):  # of something that is not written in Python
        return ()
    various = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return tuple(
        each.name for each in parameters if each.default is Parameter.empty and each.kind not in various
    )


def _taken(found: Any) -> tuple[str, ...] | None:
    """The options that something can be made with; None where that cannot be told, or where it takes any."""
    if not callable(found):
        return ()
    try:
        parameters = signature(found).parameters.values()
    except (TypeError, ValueError):  # of something that is not written in Python
        return None
    if any(each.kind is Parameter.VAR_KEYWORD for each in parameters):
        return None
    named_ones = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    return tuple(each.name for each in parameters if each.kind in named_ones)


def _require_taken(runtime: str, options: Mapping[str, Any], taken: tuple[str, ...] | None) -> None:
    """Refuse options that somebody's runtime does not take; raises UnavailableError."""
    unknown = [] if taken is None else [name for name in options if name not in taken]
    if unknown:
        has = f"it has {', '.join(taken)}" if taken else "it has none"
        raise UnavailableError(f"the runtime {runtime} has no option {', '.join(unknown)}; {has}")


def needed(module: str, package: str) -> Any:
    """A package that not everybody has; raises UnavailableError with what to install."""
    try:
        return import_module(module)
    except ImportError as error:
        name = getattr(error, "name", None) or module
        if (
            name.partition(".")[0] != module.partition(".")[0]
        ):  # it is there, and something that it needs is not
            raise UnavailableError(f"{module} cannot be imported: {error}") from None
        raise UnavailableError(f'{module} is not installed: pip install "{package}"') from None


def version_of(package: str) -> str:
    """The version of an installed package; nothing where it has none."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
