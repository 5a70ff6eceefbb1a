"""Test vectors: every trial as files that need no sonnx, with what the specification says of it."""

import json
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any

from sonnx import __version__
from sonnx.conformance.folders import is_free, require_elsewhere, whole_folder
from sonnx.conformance.runtimes.question import (
    NEWEST_OPSET,
    Question,
    model_bytes,
    question,
    require_opset,
    stablehlo_text,
)
from sonnx.conformance.spreading import HERE
from sonnx.conformance.subjects import Subject, Unit, subject_named
from sonnx.conformance.vector_files import interval, npy_bytes, npy_type, tensor_bytes
from sonnx.conformance.vector_readme import COMPARE, readme
from sonnx.model.dtype import IEEE, DType
from sonnx.numeric.arrays import Array, held_type
from sonnx.numeric.convert import PART
from sonnx.vocabulary.trial import Trial

# What a reader of the manifest must know: it grows with every change that old readers do not understand.
FORMAT = 2
# Cases in a part: what is sent between processes stays small, the large ones apart.
_MOST_CASES = 128
# The folder of a case's tensors, as in ONNX's own test data.
_DATA = "test_data_set_0"
_FLOATS = (*IEEE, DType.BFLOAT16, *PART)


@dataclass(frozen=True)
class Share:
    """Some cases of one operator and type: from the number `first` up to the one before `last`."""

    operator: str
    dtype: DType
    seed: int
    first: int
    last: int
    opset: int = NEWEST_OPSET


@dataclass(frozen=True)
class Made:
    """The files of a part by their paths, and what the manifest says of each case, by its path."""

    files: tuple[tuple[str, bytes], ...]
    entries: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Written:
    """What was written; `digest` is the SHA-256 of the list of all others."""

    cases: int
    files: int
    bytes: int
    digest: str


# Makes all parts, each with one argument, wherever it likes: results come in the order of the parts.
Run = Callable[[Callable[[Share], Made], Sequence[tuple[Share]]], Iterator[Made]]
# Cases done, cases in all, and what is done.
Watch = Callable[[int, int, str], None]


def parts(units: Iterable[Unit], seed: int = 0, opset: int = NEWEST_OPSET) -> tuple[Share, ...]:
    """All cases of operators and types, in parts that can be made one by one; raises ValueError."""
    require_opset(opset)
    if seed < 0:
        raise ValueError(f"the seed is a whole number from 0 on, not {seed}")
    return tuple(
        Share(operator, dtype, seed, first, min(first + _MOST_CASES, number), opset)
        for operator, dtype in units
        for number in (len(_trials(operator, dtype, seed)),)
        for first in range(0, number, _MOST_CASES)
    )


# --- one case ----------------------------------------------------------------------------------------------


def cell_files(part: Share) -> Made:
    """Make the files of a part; the same part gives the same bytes, in any process."""
    subject = subject_named(part.operator)
    files: list[tuple[str, bytes]] = []
    entries: list[tuple[str, str]] = []
    trials = _trials(part.operator, part.dtype, part.seed)
    for number in range(part.first, part.last):
        trial, before = trials[number], trials[number - 1].name if number else ""
        twin = before if subject.enclose and trial.name == f"{before}-constant" else None
        made, entry = _case(subject, part, trial, twin)
        files += ((f"{entry['path']}/{name}", content) for name, content in made.items())
        entries.append((entry["path"], json.dumps(entry, sort_keys=True)))
    return Made(tuple(files), tuple(entries))


def case_files(operator: str, dtype: DType, trial: Trial) -> Mapping[str, bytes]:
    """The files of one trial, such as the example of a report; `case.json` is what a manifest would say."""
    files, entry = _case(subject_named(operator), Share(operator, dtype, 0, 0, 1), trial, None)
    told = {key: value for key, value in entry.items() if key not in ("path", "twin")}
    return {**files, "case.json": (json.dumps(told, sort_keys=True, indent=1) + "\n").encode()}


# Parts of one operator and type follow each other.
@lru_cache(1)
def _trials(operator: str, dtype: DType, seed: int) -> tuple[Trial, ...]:
    return tuple(subject_named(operator).trials(dtype, seed))


def _case(
    subject: Subject, part: Share, trial: Trial, twin: str | None
) -> tuple[dict[str, bytes], dict[str, Any]]:
    asked = question(subject.operator, trial)
    model, content, reason = _model(asked, part.opset)
    files = {model: content} if model else {}
    specified = subject.specified(trial, part.dtype)
    # Where a run must stop, no output is demanded, and none may come.
    results = {} if specified.stop else specified.results(specified.modes[0] if specified.modes else "")
    outputs = [_tensor(files, f"output_{i}", *result) for i, result in enumerate(results.items())]
    if specified.enclosure:
        fused = specified.results("fused")
        for number, (name, enclosure) in enumerate(specified.enclosure().items()):
            low, high, special = interval(enclosure)
            arrays = {"fused": fused[name], "low": low, "high": high, "special": special}
            for key, array in arrays.items():
                outputs[number][key] = _file(files, f"output_{number}_{key}.npy", npy_bytes(array))
    cell = f"{part.operator}/{part.dtype}"
    entry = {
        "path": f"{cell}/{trial.name}",
        "operator": part.operator,
        "type": str(part.dtype),
        "text": trial.text,
        "shows": sorted(set(trial.shows)),
        "compare": _comparison(subject, results, enclosed=specified.enclosure is not None),
        "twin": f"{cell}/{twin}" if twin else None,
        "model": model,
        "onnx": _onnx(asked, part.opset),
        "inputs": [_tensor(files, f"input_{i}", *given) for i, given in enumerate(asked.inputs.items())],
        "constants": [
            _tensor(files, f"constant_{i}", *held) for i, held in enumerate(asked.constants.items())
        ],
        "attributes": {name: _told(value) for name, value in asked.attributes.items()},
        "outputs": outputs,
    }
    return files, entry if model else {**entry, "no_model": reason}


def _model(asked: Question, opset: int) -> tuple[str | None, bytes, str]:
    """The name and the bytes of a model; or why there is none."""
    if asked.has_model_in(opset):
        return "model.onnx", model_bytes(asked, opset), ""
    try:
        return "model.mlir", stablehlo_text(asked).encode(), ""
    except ValueError as error:
        return None, b"", str(error)


def _told(value: Any) -> Any:
    """An attribute as JSON has it, which has no infinity and no NaN: those are texts."""
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def _onnx(asked: Question, opset: int) -> Mapping[str, Any] | None:
    """What stands in the ONNX model."""
    if not asked.has_model_in(opset):
        return None
    stand_in = asked.definition.trying.asked_as
    name = stand_in.name if stand_in else asked.definition.name
    return {"operator": name, "opset": opset, "outside_profile": asked.outside_profile}


def _comparison(subject: Subject, results: Mapping[str, Array], *, enclosed: bool) -> str:
    if enclosed:
        return "enclosure"
    if not results:
        return "stop"
    floats = any(held_type(array) in _FLOATS for array in results.values())
    return "any NaN" if subject.nan == "any" and floats else "bits"


def _tensor(files: dict[str, bytes], stem: str, name: str, array: Array) -> dict[str, Any]:
    """Add the files of a tensor; answers what the manifest says of it."""
    dtype = held_type(array)
    stored = npy_type(dtype)
    return {
        "name": name,
        "type": str(dtype),
        "shape": list(array.shape),
        "pb": _file(files, f"{stem}.pb", tensor_bytes(name, array)),
        "npy": _file(files, f"{stem}.npy", npy_bytes(array)) if stored else None,
        "npy_type": stored,
    }


def _file(files: dict[str, bytes], name: str, content: bytes) -> str:
    path = f"{_DATA}/{name}"
    files[path] = content
    return path


# --- the folder --------------------------------------------------------------------------------------------


def require_new(path: str | Path) -> Path:
    """The folder that vectors may be written to; raises FileExistsError where something is there already."""
    target = Path(os.path.realpath(path))
    require_elsewhere(target)
    if not is_free(target):
        raise FileExistsError(f"{path} is there already and is no empty folder; name a new one")
    return target


def _unwatched(done: int, total: int, name: str) -> None:
    """Nobody looks."""


def write_vectors(
    path: str | Path, work: Sequence[Share], *, run: Run = HERE, watch: Watch = _unwatched
) -> Written:
    """Write the vectors of all parts into a new folder, which appears whole or not at all; raises OSError.

    The same parts give the same bytes, whatever `run` does them with.
    """
    ((seed, opset),) = {(part.seed, part.opset) for part in work}  # the manifest has one of each
    total, done, size = sum(part.last - part.first for part in work), 0, 0
    entries: dict[str, str] = {}
    sums: dict[str, str] = {}
    # Whatever does the work ends before the folder is gone, and also where something goes wrong.
    with (
        whole_folder(require_new(path)) as folder,
        _closing(run(cell_files, [(part,) for part in work])) as results,
    ):

        def write(name: str, content: bytes) -> None:
            nonlocal size
            (folder / name).write_bytes(content)
            sums[name] = sha256(content).hexdigest()
            size += len(content)

        for part, made in zip(work, results, strict=True):
            for case, _ in made.entries:
                (folder / case / _DATA).mkdir(parents=True)
            for name, content in made.files:
                write(name, content)
            entries.update(made.entries)
            done += part.last - part.first
            watch(done, total, f"{part.operator} {part.dtype}")
        write("manifest.json", _manifest(entries, seed, opset).encode())
        write("README.md", readme(__version__, seed, opset, FORMAT, _counts(work)).encode())
        listed = "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items())).encode()
        write("SHA256SUMS", listed)
    return Written(total, len(sums), size, sha256(listed).hexdigest())


@contextmanager
def _closing(results: Iterator[Made]) -> Iterator[Iterator[Made]]:
    """What gives results, ended at the end; not every iterator needs that."""
    try:
        yield results
    finally:
        if isinstance(results, Generator):
            results.close()


def _counts(work: Iterable[Share]) -> Mapping[str, Mapping[str, int]]:
    """Cases by operator and type."""
    counts: dict[str, dict[str, int]] = {}
    for part in work:
        of = counts.setdefault(part.operator, {})
        of[str(part.dtype)] = of.get(str(part.dtype), 0) + part.last - part.first
    return counts


def _manifest(entries: Mapping[str, str], seed: int, opset: int) -> str:
    """One line a case, so that two manifests can be compared line by line."""
    cases = ",\n".join(entry for _, entry in sorted(entries.items()))
    rest = {"compare": COMPARE, "format": FORMAT, "opset": opset, "seed": seed, "sonnx": __version__}
    lines = [f"{json.dumps(key)}: {json.dumps(value, sort_keys=True)}" for key, value in rest.items()]
    return "{\n" + ",\n".join([f'"cases": [\n{cases}\n]', *lines]) + "\n}\n"
