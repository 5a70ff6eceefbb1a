"""Tiny emitted projects for tests, and Frama-C set up on one of them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from tests.emit.support import Author, example_of, files_of
from tests.prove.support import installed_tools

import sonnx
from sonnx.prove import wp
from sonnx.prove.configuration import write_configuration
from sonnx.prove.projects import driver_files
from sonnx.prove.running import Ran
from sonnx.prove.tools import ALL_TOOLS, ToolsMissingError


def _missing() -> str:
    try:
        installed_tools(ALL_TOOLS)
    except ToolsMissingError as error:
        return str(error)
    return ""


MISSING = _missing()
needs_frama_c = pytest.mark.skipif(bool(MISSING), reason=MISSING or "the tools are here")


def tiny(operator: str, dtype: str = "float", accumulate: str = "separate") -> dict[str, str]:
    """The sources of a project with one node, which follows from the contract; a Conv has one by hand."""
    graph = small_conv(dtype) if operator == "Conv" else example_of(operator, dtype)
    files = files_of(graph, accumulate)
    return {name: text.decode() for name, text in files.items() if name.endswith((".c", ".h"))}


def small_conv(dtype: str) -> sonnx.Graph:
    """Strides, pads and a bias, and all of it small."""
    author = Author(np.random.default_rng(1))
    attributes: dict[str, Any] = {"strides": (2, 1), "dilations": (1, 1), "pads": (1, 0, 1, 1), "group": 1}
    inputs = [author.given_input(dtype, shape) for shape in ((1, 2, 3, 3), (2, 2, 2, 2), (2,))]
    author.node("Conv", inputs, dtype, (1, 2, 2, 3), **attributes, kernel_shape=(2, 2), auto_pad="NOTSET")
    return author.finished()


def changed(sources: Mapping[str, str], old: str, new: str) -> dict[str, str]:
    """The same sources with one place in model.c changed."""
    assert sources["model.c"].count(old) == 1, "the place must be there, and once"
    return {**sources, "model.c": sources["model.c"].replace(old, new)}


@dataclass(frozen=True)
class Asked(wp.Frama):
    """Frama-C, asked for the goals of some properties alone, such as `@ensures`; of all without any."""

    properties: str = ""

    def run(self, options: Sequence[str | Path], seconds: float = 600.0) -> Ran:
        chosen = ["-wp-prop", self.properties] if self.properties and "-wp" in options else []
        return super().run([*chosen, *options], seconds)


@contextmanager
def frama_on(sources: Mapping[str, str], properties: str = "") -> Iterator[wp.Frama]:
    """Frama-C in a folder with these sources."""
    tools = installed_tools(ALL_TOOLS)
    assert tools.frama_c is not None
    with TemporaryDirectory() as name:
        folder = Path(name)
        configuration = write_configuration(folder, tools)
        for file, text in {**sources, **driver_files()}.items():
            (folder / file).write_text(text, encoding="utf-8")
        provers = [each for each in ("z3brief", "cvc4nofp", "z3new") if each in configuration.provers]
        environment = wp.program_environment(configuration.environment)
        yield Asked(tools.frama_c.path, folder, environment, provers, "tiny", properties)
