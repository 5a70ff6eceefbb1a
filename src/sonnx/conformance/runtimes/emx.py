"""C by emx-onnx-cgen, compiled and called."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import onnx

from sonnx.conformance.runtimes.kept import Kept
from sonnx.conformance.runtimes.libraries import called, compiled, compiler, workspace
from sonnx.conformance.runtimes.question import NEWEST_OPSET, Question, model_bytes, require_opset
from sonnx.conformance.runtimes.runtime import needed, version_of
from sonnx.model.dtype import DType

_CC = ("gcc", "cc", "clang")
# Nothing is contracted by the compiler that the generator did not write so.
_FLAGS = ("-O2", "-ffp-contract=off")
_ENTRY = "question"
_SOURCE = "question.c"
# Constants are literals, however many there are.
_MOST_LITERALS = 2**31


class Emx:
    """The generator with its default settings; `flags` are the compiler's, separated by spaces."""

    name = "emx"
    takes_models = True

    def __init__(self, cc: str = "", flags: str = "", opset: int = NEWEST_OPSET) -> None:
        """Look for the generator and a compiler."""
        library = needed("emx_onnx_cgen.compiler", "emx-onnx-cgen==1.4.0")
        self.version = version_of("emx-onnx-cgen")
        self._cc = compiler((cc,) if cc else _CC)
        self._flags, self._opset = tuple(flags.split()) or _FLAGS, require_opset(opset)
        options = library.CompilerOptions(model_name=_ENTRY, large_weight_threshold=_MOST_LITERALS)
        # One for all models: the first one takes seconds, because it reads the templates.
        self._generator = library.Compiler(options)
        self._folder = workspace(self, "emx")
        self._functions = Kept(self._function)

    def supports(self, question: Question) -> bool:
        """Tell whether there is a model of it, of types that C functions take; strings are none."""
        return question.has_model_in(self._opset) and DType.STRING not in question.dtypes

    def run(self, question: Question) -> Sequence[Any]:
        """Call the entry point."""
        return called(self._functions(question), question.inputs.values(), question.outputs.values())

    def _function(self, question: Question) -> Any:
        source = self._generator.compile(onnx.load_model_from_string(model_bytes(question, self._opset)))
        folder = Path(mkdtemp(dir=self._folder))
        (folder / _SOURCE).write_text(source, encoding="utf-8")
        return getattr(compiled(self._cc, self._flags, [_SOURCE], folder), _ENTRY)
