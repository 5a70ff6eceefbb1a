"""How tests compile fast kernels: with all warnings as errors."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

import sonnx

FOLDER = Path(sonnx.__file__).parent / "operators"
WARNINGS = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror", "-O3")


def compiler() -> str:
    found = shutil.which("cc")
    if found is None:
        pytest.skip("there is no C compiler")
    return found


def compiled(source: Path, target: Path, macros: Mapping[str, str], flags: tuple[str, ...]) -> str:
    """Compile into a shared library; returns what the compiler said."""
    definitions = [f"-D{name}={value}" for name, value in macros.items()]
    command = [compiler(), *WARNINGS, *flags, "-fPIC", "-shared", f"-I{FOLDER}", *definitions]
    done = subprocess.run(
        [*command, str(source), "-o", str(target)], capture_output=True, text=True, check=False
    )
    return done.stderr if done.returncode else ""
