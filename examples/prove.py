"""Prove all that can be proved: the operators' theories, the example network in C, every kernel in small.

    python examples/prove.py FOLDER

Everything is written below FOLDER: the emitted projects, and for each subject a report as JSON and one as
JUnit XML. Ends with 1 where something is not proved, with 2 where the tools are missing.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from time import monotonic

import click

EXAMPLES = Path(__file__).parent
# What is proved, the command that writes its model, and how that is emitted.
PROJECTS: dict[str, tuple[list[str], list[str]]] = {
    "example": (["mobilenet_like.py"], ["--normalize", "--dim", "batch=1"]),
    "kernels": (["kernels.py"], []),
    "fused": (["kernels.py", "--convolutions"], ["--accumulate", "fused"]),
}


def main() -> int:
    """Prove one subject after the other; what was proved before and has not changed is not proved again."""
    parser = argparse.ArgumentParser(description="Prove theories and emitted C.")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    began, codes = monotonic(), {}
    click.echo("== the theories of the operators, by Why3")
    codes["operators"] = _prove(folder, "operators", ["--operators"])
    projects = {name: os.fspath(_emitted(folder, name)) for name in PROJECTS}
    large, *small = PROJECTS
    click.echo(f"\n== the project `{large}` in C, by Frama-C")
    codes[large] = _prove(folder, large, [projects[large]])
    # A small project seldom has work for every processor: these are proved side by side.
    begun = {name: _begun(folder, name, [projects[name]]) for name in small}
    for name, process in begun.items():
        click.echo(f"\n== the project `{name}` in C, by Frama-C")
        click.echo(process.communicate()[0], nl=False)
        codes[name] = process.returncode
    words = {0: "proved", 1: "NOT PROVED", 2: "could not be tried"}
    click.echo(f"\n{monotonic() - began:.0f} s in all; reports are in {folder}")
    for name, code in codes.items():
        click.echo(f"  {name}: {words.get(code, f'ended with {code}')}")
    return max(codes.values())


def _emitted(folder: Path, name: str) -> Path:
    (script, *options), how = PROJECTS[name]
    model, project = folder / f"{name}.onnx", folder / name
    shutil.rmtree(project, ignore_errors=True)
    subprocess.run([sys.executable, EXAMPLES / script, model, *options], check=True)
    command = [sys.executable, "-m", "sonnx", "emit", os.fspath(model), "-o", os.fspath(project), *how]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return project


def _prove(folder: Path, name: str, what: list[str]) -> int:
    return subprocess.run(_command(folder, name, what), check=False).returncode


def _begun(folder: Path, name: str, what: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(_command(folder, name, what), stdout=subprocess.PIPE, text=True)


def _command(folder: Path, name: str, what: list[str]) -> list[str]:
    reports = ["--format", "json", "-o", f"{folder / name}.json", "--junit", f"{folder / name}.xml"]
    return [sys.executable, "-m", "sonnx", "prove", *what, *reports]


if __name__ == "__main__":
    sys.exit(main())
