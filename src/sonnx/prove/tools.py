"""Finds the tools that prove, and asks for their versions."""

import os
import re
import shutil
import sysconfig
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sonnx.prove.running import run_tool
from sonnx.report.text import cut, printable

ToolName = Literal["why3", "frama-c", "z3", "cvc4"]
WHY3_TOOLS: tuple[ToolName, ...] = ("why3", "z3", "cvc4")
ALL_TOOLS: tuple[ToolName, ...] = ("why3", "frama-c", "z3", "cvc4")

# How each says its version, and the package of Debian that brings it.
_ASKING: dict[ToolName, tuple[str, str, str]] = {
    "why3": ("--version", r"Why3 platform, version (\S+)", "why3"),
    "frama-c": ("-version", r"([0-9]+\.\S+(?: \(\w+\))?)", "frama-c-base"),
    "z3": ("--version", r"Z3 version (\S+)", "z3"),
    "cvc4": ("--version", r"CVC4 version (\S+)", "cvc4"),
}
_SECONDS = 30.0
INSTALL = (
    "on Debian or Ubuntu run: apt-get install --no-install-recommends why3 frama-c-base z3 cvc4; "
    "then, for a newer z3: pip install z3-solver"
)


class ToolsMissingError(RuntimeError):
    """A tool that proofs need is not here, or is not what it should be; the text says what to install."""


@dataclass(frozen=True)
class Tool:
    """A program, where it is, and the version it says it has."""

    name: str
    path: Path
    version: str


@dataclass(frozen=True)
class Tools:
    """The tools that were found.

    `newer_z3` is that of the wheel `z3-solver`, where it is there and differs from `z3`.
    """

    why3: Tool
    z3: Tool
    cvc4: Tool
    frama_c: Tool | None = None
    newer_z3: Tool | None = None

    @property
    def versions(self) -> tuple[tuple[str, str], ...]:
        """Names and versions, for reports."""
        found = (self.why3, self.frama_c, self.cvc4, self.z3, self.newer_z3)
        return tuple((tool.name, tool.version) for tool in found if tool)


def find_tools(needed: Iterable[ToolName] = WHY3_TOOLS) -> Tools:
    """The tools of this machine; `why3`, `z3` and `cvc4` are always needed.

    Raises ToolsMissingError, naming everything that is missing.
    """
    wanted = tuple(dict.fromkeys((*WHY3_TOOLS, *needed)))
    wheel = wheel_z3()
    places = {name: _on_path(name) for name in wanted}
    places["z3"] = places["z3"] or wheel
    missing = [name for name, path in places.items() if path is None]
    if missing:
        raise ToolsMissingError(f"proofs need {', '.join(missing)}, which cannot be found; {INSTALL}")
    found = {name: _asked(name, path) for name, path in places.items() if path}
    newer = _asked("z3", wheel, "z3 of z3-solver") if wheel and wheel != found["z3"].path else None
    if newer and newer.version == found["z3"].version:
        newer = None
    return Tools(found["why3"], found["z3"], found["cvc4"], found.get("frama-c"), newer)


def wheel_z3() -> Path | None:
    """The z3 that the wheel `z3-solver` has put beside this Python, or None."""
    found = shutil.which("z3", path=sysconfig.get_path("scripts"))
    return Path(os.path.abspath(found)) if found else None


def _on_path(name: str) -> Path | None:
    # A program that happens to lie in the current folder is no tool of this machine; the scripts of this
    # Python come from wheels, and have their own way here.
    scripts = sysconfig.get_path("scripts")
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    path = os.pathsep.join(folder for folder in folders if os.path.isabs(folder) and folder != scripts)
    found = shutil.which(name, path=path) if path else None
    return Path(found) if found else None


def _asked(name: ToolName, path: Path, shown: str = "") -> Tool:
    option, pattern, package = _ASKING[name]
    try:
        with tempfile.TemporaryDirectory(prefix="sonnx-", ignore_cleanup_errors=True) as folder:
            ran = run_tool([path, option], seconds=_SECONDS, folder=Path(folder), most=65536)
    except OSError as error:
        raise ToolsMissingError(
            f"{path} cannot be run ({error.strerror}): install the package {package} anew"
        ) from None
    found = re.search(pattern, ran.out)
    if ran.how or not found:
        problem = ran.how or f"it says {printable(cut(ran.out.strip(), 80))!r}"
        raise ToolsMissingError(
            f"{path} does not say its version ({problem}): install the package {package} anew"
        )
    return Tool(shown or name, path, found[1])
