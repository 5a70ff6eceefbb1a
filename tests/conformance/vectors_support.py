"""Test vectors of a few cases, and the program of their README."""

import json
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import onnx

from sonnx.conformance.subjects import subject_named
from sonnx.conformance.vectors import Share, write_vectors
from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array
from sonnx.vocabulary.trial import Trial

# Cases by operator and type: of every way to compare, of every kind of model and of file.
CASES = {
    ("clip", "float"): (
        *("beside-the-bounds", "from-quiet-nan-to-one", "from-minus-zero-to-one-constant"),
        *("from-minus-one-to-one", "shape-scalar", "shape-no-elements-in-the-middle"),
    ),
    ("clip", "int8"): ("beside-the-bounds",),
    ("conv", "float"): (
        *("sum-square-less-one-along-columns", "sum-square-less-one-along-columns-constant"),
        *("sum-cancel-along-channels", "sum-infinity-along-columns", "sum-nan-times-zero-along-columns"),
        *("sum-largest-and-back-along-columns", "sum-minus-zeros-along-columns", "no-batch", "random-1"),
        *("special-products-and-one",),
    ),
    ("conv", "float16"): ("everything-unlike", "everything-unlike-constant"),
    ("div", "int8"): ("special-values", "stops-at-the-last"),
    ("expand", "float"): ("special-values", "scalar-shape-2-3-1"),
    ("where", "bfloat16"): ("special-values",),
    ("where", "string"): ("special-values", "shape-no-elements"),
    ("xla.clamp", "float"): ("from-minus-one-to-zero-constant", "from-quiet-nan-to-smallest"),
    ("xla.conv", "bfloat16"): ("one-spatial-dimension-same",),
    ("xla.conv", "int8"): ("one-spatial-dimension-same-constant",),
    ("xla.convert_element_type", "complex64"): ("edges-of-c128", "random-1-to-pred"),
    ("xla.convert_element_type", "float"): ("special-values-to-s32", "special-values-to-bf16"),
}


@lru_cache(20)
def trials_of(operator: str, dtype: DType) -> tuple[Trial, ...]:
    return tuple(subject_named(operator).trials(dtype, 0))


@lru_cache(1)
def some_parts() -> tuple[Share, ...]:
    """Each of the cases as a part of its own."""
    found = []
    for (operator, kind), names in CASES.items():
        numbers = {trial.name: number for number, trial in enumerate(trials_of(operator, DType(kind)))}
        found += [Share(operator, DType(kind), 0, numbers[name], numbers[name] + 1) for name in names]
    return tuple(found)


def some_vectors(path: Path) -> Path:
    write_vectors(path, some_parts())
    return path


def cases(folder: Path) -> dict[str, Any]:
    """What the manifest says of each case, by its path."""
    listed = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["cases"]
    return {case["path"]: case for case in listed}


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def npy(folder: Path, case: str, name: str) -> Array:
    """An array as NumPy reads it."""
    array: Array = np.load(folder / case / "test_data_set_0" / f"{name}.npy", allow_pickle=False)
    return array


def tensor(folder: Path, case: str, name: str) -> Any:
    """A tensor as ONNX reads it."""
    return onnx.load_tensor(str(folder / case / "test_data_set_0" / f"{name}.pb"))


def words(raw: bytes, size: int = 4) -> list[str]:
    """Little-endian elements as hexadecimal numbers."""
    return [raw[at : at + size][::-1].hex() for at in range(0, len(raw), size)]


def program(folder: Path) -> str:
    """The program in the README."""
    _, _, rest = (folder / "README.md").read_text(encoding="utf-8").partition("```python\n")
    text, fence, _ = rest.partition("```")
    assert fence
    return text


def judge_of(folder: Path) -> ModuleType:
    """The same program, to be called in this process."""
    module = ModuleType("judge")
    exec(compile(program(folder), "judge.py", "exec"), module.__dict__)
    return module
