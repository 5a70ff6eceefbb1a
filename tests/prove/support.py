"""Theories and tools for tests: tiny ones, changed ones, and tools that do not do what they should."""

import sys
from functools import cache
from pathlib import Path

import pytest

from sonnx.definitions import definitions
from sonnx.prove.mlw import subject_of
from sonnx.prove.result import Proofs
from sonnx.prove.running import Options
from sonnx.prove.theories import operators_sources, prove_theories
from sonnx.prove.tools import Tool, Tools, ToolsMissingError, find_tools

FILE = "onnx/tiny/theory.mlw"
QUICK = Options(seconds=2, jobs=1, cache=False, patience=10.0)


# Asking tools for their versions takes a while.
installed_tools = cache(find_tools)


def _missing() -> str:
    try:
        installed_tools()
    except ToolsMissingError as error:
        return str(error)
    return ""


MISSING = _missing()
needs_provers = pytest.mark.skipif(bool(MISSING), reason=MISSING or "the tools are here")


def module(body: str) -> str:
    return f"module Tiny\n  use int.Int\n{body}\nend\n"


def proofs_of(text: str, *, options: Options = QUICK, tools: Tools | None = None, **shared: str) -> Proofs:
    """What comes of one theory; `shared` has files that it may use."""
    sources = {f"shared/{name}.mlw": other for name, other in shared.items()} | {FILE: text}
    return prove_theories(sources=sources, options=options, tools=tools)


def proofs_of_mutant(file: str, old: str, new: str, *, options: Options = QUICK) -> Proofs:
    """What comes of a theory of the package, such as `onnx/clip/laws.mlw`, with one place in it changed."""
    sources = operators_sources()
    assert sources[file].count(old) == 1, "the place must be there, and once"
    sources[file] = sources[file].replace(old, new)
    return prove_theories([subject_of(file)], sources=sources, definitions=definitions(), options=options)


def script(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def with_prover(tools: Tools, path: Path) -> Tools:
    """The same tools, but one program in the place of all provers."""
    return Tools(tools.why3, Tool("z3", path, "4.8.12"), Tool("cvc4", path, "1.8"))


# Prints goals and answers as Why3 1.5.1 does; `ANSWERS` is the text of a function of the goals asked for.
_WHY3 = """#!{python}
import json, pathlib, re, sys

words = sys.argv[1:]
if words == ["--version"]:
    print("Why3 platform, version 1.5.1")
    sys.exit()
if words == ["--print-datadir"]:
    print({data!r})
    sys.exit()
file = next(word for word in words if word.endswith(".mlw"))
text = pathlib.Path(file).read_text()
every = [(match[1], text.count("\\n", 0, match.start()) + 1) for match in re.finditer(r"goal (\\w+)", text)]
if "-o" in words:
    for name, line in every:
        target = pathlib.Path(words[words.index("-o") + 1]) / ("theory-Tiny-" + name + ".smt2")
        place = ';; Goal ' + name + '\\n;; File "' + file + '", line ' + str(line) + ', characters 1-2\\n'
        target.write_text(place + "(assert\\n  (not (= 1 1)))\\n\\n(check-sat)\\n")
    sys.exit()


def answer(name, said="Valid", line=1):
    place = {{"filename": file, "line": line, "start-char": 1, "end-char": 2}}
    result = {{"answer": said, "ce-models": [], "status": "exited with status 0", "step": 1, "time": 0.01}}
    term = {{"explanations": [], "goal_name": name, "loc": place}}
    print(json.dumps({{"prover-result": result, "term": term}}), flush=True)


asked = [after for word, after in zip(words, words[1:]) if word == "-G"]
{answers}
"""


def fake_tools(folder: Path, answers: str, prover: str = "echo sat") -> Tools:
    """Tools that are all made up: `answers` is what Why3 does in Python, `prover` what provers do in sh."""
    drivers = folder / "data" / "drivers"
    drivers.mkdir(parents=True)
    for name in ("cvc4_17.drv", "z3_471.drv"):
        (drivers / name).write_text('import "smt-libv2-floats.gen"\n', encoding="utf-8")
    (drivers / "smt-libv2-floats.gen").write_text("", encoding="utf-8")
    text = _WHY3.format(python=sys.executable, data=str(folder / "data"), answers=answers)
    why3 = script(folder / "why3", text)
    solver = script(folder / "prover", f"#!/bin/sh\n{prover}\n")
    return with_prover(Tools(Tool("why3", why3, "1.5.1"), *[Tool("", solver, "")] * 2), solver)
