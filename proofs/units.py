"""What of the project is proved: modules of theories, functions of emitted C; and what each hangs on."""

import json
import re
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from onnx import ModelProto

import sonnx
from examples import kernels, mobilenet_like
from proofs.lock import Unit
from sonnx.definitions import definitions, theory_sources
from sonnx.prove.configuration import write_configuration
from sonnx.prove.contracts import assumed, called_functions, contracts, texts_of_functions
from sonnx.prove.eva import WHOLE
from sonnx.prove.mlw import read_theory
from sonnx.prove.projects import PROVERS, driver_files
from sonnx.prove.running import Options
from sonnx.prove.theories import NO_DEFINITIONS, reached
from sonnx.prove.tools import Tools

ROOT = Path(__file__).parent.parent
THEORIES = "operators"
# Operators are proved one by one: who adds one, or changes it, has nothing else proved anew.
OPERATORS = tuple(kernels.names())
PROJECTS = ("example", "kernels", "fused", *OPERATORS)
# How proofs are sought and believed, with all limits and options: a change of it proves everything anew.
_WAYS = ("configuration.py", "mlw.py", "modules.py", "result.py", "smoke.py")
_WAYS_IN_C = ("configuration.py", "eva.py", "result.py", "wp.py")
# It names the model's file, which says nothing of what is proved.
_HEADING = re.compile(r"\A/\*(?!@).*?\*/\n", re.DOTALL)
_NAME = re.compile(r"\w+")
# Lines outside of functions by which these get their meaning, and the numbers of arrays in them.
_DECLARES = re.compile(
    r"(?:static [\w ]*?|#define |/\*@ predicate | +predicate | +logic \w+ )(\w+)(?:\[|\(| )"
)
_NUMBERED = re.compile(r"\bbuffer_\d+\b")
# What the tree's digest is made of: all that people write, but for the lock, so that nobody who writes an
# entry chooses who is drawn.
_FOLDERS = ("bench", "docs", "examples", "proofs", "src", "tests")
_FILES = ("Makefile", "constraints.txt", "pyproject.toml")
_WRITTEN = frozenset({".c", ".driver", ".h", ".md", ".mlw", ".py", ".toml"})


@cache
def emitted(name: str) -> Mapping[str, bytes]:
    """The files of an example project, as `sonnx emit` writes them."""
    with tempfile.TemporaryDirectory(prefix="sonnx-") as folder:
        path = Path(folder) / f"{name}.onnx"
        model = _model(name)
        path.write_bytes(model.SerializeToString(deterministic=True))
        graph = sonnx.load(path)
    if name == "example":
        return graph.normalize(dims={"batch": 1}).to_c()
    return graph.to_c(accumulate="fused" if name == "fused" else "separate")


def _model(name: str) -> ModelProto:
    if name in OPERATORS:
        return kernels.build_operator(name)
    return mobilenet_like.build() if name == "example" else kernels.build(convolutions=name == "fused")


@cache
def emitted_texts(name: str) -> Mapping[str, str]:
    """The sources of an example project that proofs read."""
    return {
        file: content.decode("ascii")
        for file, content in emitted(name).items()
        if file.endswith((".c", ".h")) and file != "test_model.c"
    }


def theory_units(
    sources: Mapping[str, str],
    tools: str,
    options: Options | None = None,
    definitions: Mapping[str, str] = NO_DEFINITIONS,
) -> list[Unit]:
    """The modules of theories; `tools` is the digest of what proves them."""
    texts = {**sources, **definitions}
    ways = (_ways(_WAYS), (options or Options()).seconds)
    return [
        Unit(
            f"{theory.subject} {module.name}",
            _digest("theory", theory.file, module.name, ways, reached(theory, texts)),
            tools,
            goals=len(module.laws),
            searches=1,
        )
        for theory in (read_theory(file, text) for file, text in sources.items())
        for module in theory.modules
    ]


def repeated(projects: Mapping[str, Mapping[str, str]]) -> frozenset[str]:
    """The names of functions that stand in the project of another one as well."""
    seen, found = set[str](), set[str]()
    for name, texts in projects.items():
        alone = _standing_alone(texts["model.c"]) if name in OPERATORS else {}
        found |= {f"{name} {function}" for function, digest in alone.items() if digest in seen}
        seen.update(alone.values())
    return frozenset(found)


def _standing_alone(text: str) -> dict[str, str]:
    """The digests of functions that call no other: of their text, and of lines elsewhere that it hangs on.

    These are definitions of arrays and predicates; which number an array has makes no difference.
    """
    functions = texts_of_functions(text)
    calls = called_functions(text)
    outside = text
    for said in functions.values():
        outside = outside.replace(said, "")
    declared = {line: word[1] for line in outside.splitlines() if (word := _DECLARES.match(line))}
    found = {}
    for name, said in functions.items():
        if calls.get(name):
            continue
        above, words = list[str](), {*_NAME.findall(said)}
        while more := [line for line, word in declared.items() if word in words and line not in above]:
            above += more
            words = {word for line in more for word in _NAME.findall(line)}
        found[name] = _digest([_NUMBERED.sub("buffer", line) for line in above], said)
    return found


def project_units(
    name: str,
    texts: Mapping[str, str],
    tools: str,
    options: Options | None = None,
    without: Collection[str] = (),
) -> list[Unit]:
    """The functions of a project, `without` some by name, and the whole of it, by what the sources say."""
    ways = (_ways(_WAYS_IN_C), (options or Options()).seconds, PROVERS, driver_files())
    bare = {file: _HEADING.sub("", text, count=1) for file, text in texts.items()}
    read = {file: text for file, text in bare.items() if file != "weights.c"}  # WP looks at model.c alone
    trusted = assumed(texts["model.c"])
    left_out = {*trusted, *(each.removeprefix(f"{name} ") for each in without if each.startswith(f"{name} "))}
    functions = [function for function in contracts(texts["model.c"]) if function not in left_out]
    digests = {each: _digest("function", each, ways, read) for each in functions}
    digests[WHOLE] = _digest("program", ways, bare)
    # To look at a project at all takes about as long as to prove the functions of a small one.
    together = name if name in OPERATORS else ""
    return [Unit(f"{name} {each}", text, tools, together=together) for each, text in digests.items()]


def all_units(tools: Mapping[str, str]) -> list[Unit]:
    """Everything of this project that is proved."""
    found = theory_units(theory_sources(), tools[THEORIES], definitions=definitions())
    projects = {name: emitted_texts(name) for name in PROJECTS}
    without = repeated(projects)
    for name, texts in projects.items():
        found += project_units(name, texts, tools[name], without=without)
    return found


def tools_digests(tools: Tools) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """The digest of the tools for theories and for each project, and names and versions by digest."""
    with tempfile.TemporaryDirectory(prefix="sonnx-") as folder:
        canonical = write_configuration(Path(folder), tools).canonical
    shown = tuple(f"{name} {version}" for name, version in tools.versions)
    frama_c = f"frama-c {tools.frama_c.version}" if tools.frama_c else ""
    of_theories = tuple(text for text in shown if text != frama_c)
    theories, projects = _digest("theories", canonical, of_theories), _digest("projects", canonical, shown)
    return (
        {THEORIES: theories, **dict.fromkeys(PROJECTS, projects)},
        {theories: of_theories, projects: shown},
    )


def tree_digest(root: Path = ROOT) -> str:
    """The digest of all that people have written below a folder, which decides who is drawn."""
    return _digest("tree", {file: sha256((root / file).read_bytes()).hexdigest() for file in _written(root)})


def _written(root: Path) -> Iterator[str]:
    yield from (file for file in _FILES if (root / file).is_file())
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in _WRITTEN and path.is_file():
                yield path.relative_to(root).as_posix()


def _ways(names: Sequence[str]) -> dict[str, str]:
    folder = files("sonnx.prove")
    return {name: (folder / name).read_text(encoding="utf-8") for name in names}


def _digest(*parts: object) -> str:
    """The same on every machine, whatever the order in which texts were found."""
    return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
