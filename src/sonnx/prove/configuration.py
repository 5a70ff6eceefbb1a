"""A configuration of Why3 that is the project's own: which provers, with which options and drivers."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

from sonnx.prove.running import run_tool
from sonnx.prove.tools import Tool, Tools, ToolsMissingError

ProverName = Literal["cvc4", "cvc4nofp", "z3", "z3nofp", "z3new", "z3brief"]

_MAGIC = 14  # the version of Why3's format of configurations
MEMORY_MIB = 2000
_SECONDS = 10
# The seeds are fixed, so that what is proved once is proved again.
_CVC4 = "--stats --tlimit=%t000 --lang=smt2 %f"
_Z3 = "-smt2 -t:%t000 sat.random_seed=42 model.compact=false nlsat.randomize=false smt.random_seed=42 -st %f"
# What z3 proves at all it mostly proves in so few steps, a third of a second, and sooner than cvc4. Steps
# are the same on every machine.
_Z3_BRIEF = f"rlimit=500000 {_Z3}"
_CVC4_DRIVER, _Z3_DRIVER = "cvc4_17.drv", "z3_471.drv"
_FLOATS_IMPORT = re.compile(r'^import "smt-libv2-floats\.gen"\n', re.MULTILINE)
# What maps functions on floats to those of SMT-LIB, outside the file above.
_FLOATS_THEORY = re.compile(
    r"^theory ieee_float\.\w+\n(?:(?!end\b).*\n)*?.*\bfp\..*\n(?:(?!end\b).*\n)*end\b.*\n?", re.MULTILINE
)
_FLOATS_FILES = frozenset({"smt-libv2-floats.gen"})
_IMPORT = re.compile(r'^import "([^"]+)"', re.MULTILINE)


class ConfigurationError(ToolsMissingError):
    """The installed Why3 is not one that a configuration can be written for; the text says why."""


@dataclass(frozen=True)
class Configuration:
    """A written configuration.

    `provers` has the names that it defines and the tools behind them; `identity` changes with anything that
    may change a proof, and not with the folder. `canonical` does so too, but is the same on every machine
    with the same versions.
    """

    path: Path
    provers: dict[ProverName, Tool]
    identity: str
    canonical: str

    @property
    def environment(self) -> dict[str, str]:
        """What makes Why3, and Frama-C through it, use this configuration."""
        return {"WHY3CONFIG": os.fspath(self.path)}


def write_configuration(folder: Path, tools: Tools) -> Configuration:
    """Write `why3.conf` into a folder, and beside it drivers without SMT-LIB's theory of floats.

    Provers whose name ends in `nofp`, `z3new` and `z3brief`, which is the same for a first look, use those:
    floats have the axioms of Why3's library alone.
    Raises ConfigurationError where the drivers are not as expected.
    """
    installed = drivers_folder(tools)
    derived = derive_drivers(installed, folder / "drivers-without-floats")
    provers: dict[ProverName, tuple[Tool, str, Path]] = {
        "cvc4": (tools.cvc4, _CVC4, installed / _CVC4_DRIVER),
        "cvc4nofp": (tools.cvc4, _CVC4, derived / _CVC4_DRIVER),
        "z3": (tools.z3, _Z3, installed / _Z3_DRIVER),
        "z3nofp": (tools.z3, _Z3, derived / _Z3_DRIVER),
    }
    if tools.newer_z3:
        provers["z3new"] = (tools.newer_z3, _Z3, derived / _Z3_DRIVER)
        provers["z3brief"] = (tools.newer_z3, _Z3_BRIEF, derived / _Z3_DRIVER)
    head = {"magic": _MAGIC, "memlimit": MEMORY_MIB, "running_provers_max": 1, "timelimit": _SECONDS}
    text = "\n".join(
        [
            _section("main", head),
            *(_section("prover", _prover(name, *parts)) for name, parts in provers.items()),
        ]
    )
    path = folder / "why3.conf"
    path.write_text(text, encoding="utf-8")
    named = {name: tool for name, (tool, _, _) in provers.items()}
    versions = [(name, tool.version) for name, tool in named.items()]
    sizes = [tool.path.stat().st_size for tool in named.values()]
    drivers = [
        _contents(place, name) for place in (installed, derived) for name in (_CVC4_DRIVER, _Z3_DRIVER)
    ]
    library = [_digest(path) for path in sorted((installed.parent / "stdlib").rglob("*.mlw"))]
    ways = repr((_CVC4, _Z3, _Z3_BRIEF, MEMORY_MIB, tools.why3.version, versions, drivers, library))
    canonical, identity = (sha256(text.encode()).hexdigest() for text in (ways, f"{ways} {sizes}"))
    return Configuration(path, named, identity, canonical)


def drivers_folder(tools: Tools) -> Path:
    """Where the installed Why3 has its drivers."""
    ran = run_tool([tools.why3.path, "--print-datadir"], seconds=30, folder=Path(os.sep), most=65536)
    folder = Path(ran.out.strip()) / "drivers"
    if ran.how or not folder.is_absolute() or not folder.is_dir():
        raise ConfigurationError(f"{tools.why3.path} does not say where its drivers are: install why3 anew")
    return folder


def derive_drivers(installed: Path, target: Path) -> Path:
    """Copy drivers without anything that maps floats to SMT-LIB's theory of floats.

    Raises ConfigurationError if there was nothing to leave out, or if something is left: floats would then
    be something else than what reports say.
    """
    target.mkdir()
    for name in (_CVC4_DRIVER, _Z3_DRIVER):
        imports, left = 0, ""
        for file in _reached(installed, name):
            text = (installed / file).read_text("utf-8", errors="surrogateescape")
            kept, found = _FLOATS_IMPORT.subn("", text)
            kept = _FLOATS_THEORY.sub("", kept)
            if file not in _FLOATS_FILES:
                imports, left = imports + found, left + kept
                (target / file).write_text(kept, encoding="utf-8", errors="surrogateescape")
        if not imports:
            raise ConfigurationError(
                f"the driver {name} of the installed Why3 does not import smt-libv2-floats.gen: this is no "
                "version of Why3 that is known here (1.5.1 is)"
            )
        if re.search(r"\bfp\.|FloatingPoint", left):
            raise ConfigurationError(
                f"the driver {name} of the installed Why3 maps floats in a way that is not known here"
            )
    return target


def _reached(folder: Path, name: str) -> Iterator[str]:
    """The files of a driver: itself and what it imports."""
    waiting, seen = [name], set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        if not (folder / name).is_file():
            raise ConfigurationError(f"the installed Why3 has no driver {name}: install why3 1.5 or later")
        yield name
        waiting += _IMPORT.findall((folder / name).read_text("utf-8", errors="replace"))


def _contents(folder: Path, name: str) -> list[str]:
    files = sorted(_reached(folder, name))
    return [_digest(folder / file) for file in files]


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def _prover(name: ProverName, tool: Tool, options: str, driver: Path) -> dict[str, str | int | bool]:
    return {
        "name": name,
        "version": tool.version,
        "command": f"{_word(tool.path)} {options}",
        "driver": os.fspath(driver),
        "in_place": False,
        "interactive": False,
    }


def _section(name: str, values: dict[str, str | int | bool] | dict[str, int]) -> str:
    lines = [f"{key} = {_value(value)}" for key, value in values.items()]
    return "\n".join([f"[{name}]", *lines, ""])


def _value(value: str | int | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if not value.isprintable():
        raise ConfigurationError(f"Why3 cannot be told of a path with control characters: {value!r}")
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _word(path: Path) -> str:
    """A path as one word of a command that Why3 splits, and in which it replaces what follows a `%`."""
    return "".join(f"\\{c}" if c in " \t'\"\\" else "%%" if c == "%" else c for c in os.fspath(path))
