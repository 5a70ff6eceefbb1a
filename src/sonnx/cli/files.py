"""Which files may be written: never the model, nor what it is run on."""

import os
from pathlib import Path


def is_same_file(path: str | Path, other: Path) -> bool:
    """Tell whether two paths lead to one file that is there, by whatever name or link."""
    try:
        return os.path.samefile(path, other)
    except (OSError, ValueError):
        return False


def unfit(output: Path, model: Path) -> str:
    """Why a path is none that a model may be written to; nothing where it is."""
    if str(output) == "-":
        return "stands for the terminal, which is no place for a model"
    if is_same_file(output, model):
        return "is the model itself, which is never changed"
    return "is not a plain file" if output.exists() and not output.is_file() else ""
