"""The engines of this package: the definitions, compiled kernels, and emitted C."""

import ctypes
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from sonnx import __version__
from sonnx.conformance.runtimes.kept import Kept
from sonnx.conformance.runtimes.libraries import called, compiled, compiler, workspace
from sonnx.conformance.runtimes.question import Question, graph, question
from sonnx.conformance.runtimes.runtime import UnavailableError
from sonnx.engines import CompiledGraph, NoCompilerWarning
from sonnx.evaluate.apply import apply
from sonnx.evaluate.execution import Accumulate, Settings
from sonnx.model.dtype import DType
from sonnx.operators.catalogue import NODE_OPERATORS
from sonnx.operators.shared.cases import load_cases
from sonnx.vocabulary.kernel import KernelStyle
from sonnx.vocabulary.trial import Trial

_CC = ("cc", "gcc", "clang")
_FLAGS: Mapping[KernelStyle, tuple[str, ...]] = {
    "plain": ("-std=c99", "-O2"),
    "fast": ("-std=c99", "-O3", "-march=native"),
}
_NO_CONTRACTION = "-ffp-contract=off"


def _first() -> Question:
    """A question whose kernel is the first to be compiled: a case by hand of any node."""
    operator = next(iter(NODE_OPERATORS.values()))
    tried = (
        {name: tensor.array() for name, tensor in case.inputs.items()}
        for case in load_cases(operator.identifier)
        if all(tensor.type.dtype is DType.FLOAT for tensor in case.inputs.values())
    )
    return question(operator, Trial("first", next(tried), (), "a first kernel"))


def _is_node(question: Question) -> bool:
    return question.definition in NODE_OPERATORS.values()


class Reference:
    """The definitions themselves."""

    name = "reference"
    version = __version__

    def __init__(self, accumulate: Accumulate = "separate") -> None:
        """Choose how sums are rounded."""
        self._accumulate = Settings(accumulate=accumulate).accumulate

    def supports(self, question: Question) -> bool:
        """Every operator has a definition."""
        return True

    def run(self, question: Question) -> Sequence[Any]:
        """Apply the definition."""
        modes = {"accumulate": self._accumulate, "domain": "ieee"}
        known = {attribute.name for attribute in question.definition.contract.attributes}
        chosen = {name: mode for name, mode in modes.items() if name in known}
        results = apply(question.definition, question.operands, {**question.attributes, **chosen})
        return [results[name] for name in question.outputs]


class Native:
    """Compiled kernels, on one thread."""

    name = "native"
    version = __version__

    def __init__(self, accumulate: Accumulate = "separate") -> None:
        """Choose how sums are rounded; a first kernel shows whether there is a compiler."""
        self._accumulate = Settings(accumulate=accumulate).accumulate
        self._compiled = Kept(self._compile)
        self._compiled(_first())

    def supports(self, question: Question) -> bool:
        """Tell whether it is a node of a model."""
        return _is_node(question)

    def run(self, question: Question) -> Sequence[Any]:
        """Execute the model."""
        results = self._compiled(question)(dict(question.inputs))
        return [results[name] for name in question.outputs]

    def _compile(self, question: Question) -> CompiledGraph:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoCompilerWarning)
            made = graph(question).compile(accumulate=self._accumulate)
        if made.engine != "native":
            raise UnavailableError(f"there is no C compiler: install {' or '.join(_CC)}")
        return made


class Emitted:
    """The C that the model is emitted as, compiled and called; `kernels` is plain or fast."""

    version = __version__

    def __init__(
        self, accumulate: Accumulate = "separate", kernels: KernelStyle = "plain", cc: str = ""
    ) -> None:
        """Look for a compiler."""
        if kernels not in _FLAGS:
            raise ValueError(f"`kernels` must be one of {', '.join(_FLAGS)}, not {kernels!r}")
        self._accumulate = Settings(accumulate=accumulate).accumulate
        self._kernels = kernels
        self._cc = compiler((cc,) if cc else _CC)
        self._folder = workspace(self, "emitted")
        self._functions = Kept(self._function)

    @property
    def name(self) -> str:
        """The name, with the kernels where they are not the plain ones."""
        return "emitted" if self._kernels == "plain" else f"emitted ({self._kernels} kernels)"

    def supports(self, question: Question) -> bool:
        """Tell whether it is a node of a model, of types that C has."""
        return _is_node(question) and DType.STRING not in question.dtypes

    def run(self, question: Question) -> Sequence[Any]:
        """Call the entry point of the project."""
        function = self._functions(question)
        return called(function, question.inputs.values(), question.outputs.values(), answers=True)

    def _function(self, question: Question) -> Any:
        made = graph(question)
        files = made.to_c(accumulate=self._accumulate, kernels=self._kernels)
        folder = Path(mkdtemp(dir=self._folder))
        for name, content in files.items():
            (folder / name).write_bytes(content)
        sources = [name for name in files if name.endswith(".c") and name != "test_model.c"]
        library = compiled(self._cc, (*_FLAGS[self._kernels], _NO_CONTRACTION), sources, folder)
        weights = files.get("weights.bin")
        if weights is not None:  # too many for literals
            load = getattr(library, f"{made.name}_load")
            if load(weights, ctypes.c_size_t(len(weights))):
                raise RuntimeError("the emitted project refuses its own weights")
        return getattr(library, f"{made.name}_run")
