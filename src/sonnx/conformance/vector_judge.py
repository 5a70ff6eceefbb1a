"""Judges a runtime by test vectors: python judge.py DIR [OPERATOR/TYPE ...]."""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator


def run(model: Path | None, inputs: dict[str, Any]) -> Sequence[Any]:
    """The outputs of the runtime on trial, in their order: put yours here. An exception is a refusal."""
    if model is None or model.suffix != ".onnx":
        raise NotImplementedError("no ONNX model can ask this")
    return list(ReferenceEvaluator(str(model)).run(None, inputs))


def read(path: Path) -> Any:
    """A tensor. Strings are read here, because `to_array` loses a NUL at the end of one."""
    tensor = onnx.load_tensor(str(path))
    if tensor.data_type == onnx.TensorProto.STRING:
        texts = [text.decode() for text in tensor.string_data]
        return np.array(texts, object).reshape(tuple(tensor.dims))
    return onnx.numpy_helper.to_array(tensor)


def differ(found: Any, right: Any, any_nan: bool) -> Any:
    """Tell which elements have other bits; of complex numbers each part counts."""
    if right.dtype == object:
        return found != right
    parts = 2 if right.dtype.kind == "c" else 1
    size = right.dtype.itemsize // parts
    kind = f"f{size}" if parts == 2 else right.dtype
    a, b = (np.ascontiguousarray(array).reshape(-1).view(kind) for array in (found, right))
    same = a.view(f"u{size}") == b.view(f"u{size}")
    if any_nan:
        with np.errstate(invalid="ignore"):
            same |= np.isnan(a) & np.isnan(b)
    return ~same.reshape(-1, parts).all(axis=1).reshape(right.shape)  # an array has 64 axes at most


def outside(found: Any, low: Any, high: Any, special: Any) -> Any:
    """Tell which elements no order of summation gives."""
    with np.errstate(invalid="ignore"):
        value = found.astype(np.float64)  # exact
    kind = special & 3
    above, below = (special & 4 > 0) | (kind == 2), (special & 8 > 0) | (kind == 3)
    nan = (kind == 1) | (above & below)
    number = (kind == 0) & (low <= value) & (value <= high)
    number &= ~((special & 16 > 0) & (value == 0) & np.signbit(value))
    infinite = np.where(value > 0, above & (kind != 3), below & (kind != 2)) & (kind != 1)
    return ~np.where(np.isnan(value), nan, np.where(np.isfinite(value), number, infinite))


def judge_output(folder: Path, about: dict[str, Any], found: Any, compare: str) -> str:
    """How an output conforms: `bits`, or of sums `separate`, `fused` or `enclosure`; else what is wrong."""
    right = read(folder / about["pb"])
    if right.dtype == object and found.dtype.kind in "OTU":
        found = found.astype(object)
    if found.dtype != right.dtype or found.shape != right.shape:
        return f"departs: {about['name']} has another type or shape"
    wrong = differ(found, right, compare != "bits")
    if compare != "enclosure":
        return f"departs: {wrong.sum()} elements of {about['name']}" if wrong.any() else "bits"
    fused, low, high, special = (
        np.load(folder / about[key], allow_pickle=False) for key in ("fused", "low", "high", "special")
    )
    if not wrong.any():
        return "separate"
    if not differ(found, fused.view(right.dtype), True).any():
        return "fused"
    wrong = outside(found, low, high, special)
    return f"departs: {wrong.sum()} elements of {about['name']}" if wrong.any() else "enclosure"


def judge_case(root: Path, case: dict[str, Any], earlier: dict[str, Sequence[Any]]) -> str:
    """What becomes of one case; `earlier` keeps the outputs to which later ones must be equal."""
    folder = root / case["path"]
    inputs = {each["name"]: read(folder / each["pb"]) for each in case["inputs"]}
    try:
        outputs = run(folder / case["model"] if case["model"] else None, inputs)
        found = [np.asarray(output) for output in outputs]
    except Exception as error:
        return "stop" if case["compare"] == "stop" else f"refused: {type(error).__name__}"
    if case["compare"] == "stop":
        return "departs: outputs where the run must stop"
    if len(found) != len(case["outputs"]):
        return "departs: another number of outputs"
    pairs = zip(case["outputs"], found, strict=True)
    said = [judge_output(folder, about, each, case["compare"]) for about, each in pairs]
    worst = min(said, key=lambda text: not text.startswith("departs"))
    if case["compare"] == "enclosure" and not worst.startswith("departs"):
        earlier[case["path"]] = found
        twin = earlier.get(case["twin"], found)
        if any(differ(a, b, True).any() for a, b in zip(found, twin, strict=True)):
            return f"departs: other bits than {case['twin']}"
    return worst


def main(root: Path, wanted: Sequence[str]) -> int:
    """Judge all cases, or those whose paths begin with one of the texts; prints all that do not conform.

    Answers 0 where all that was not refused conforms, 1 where something departs, 2 where nothing was judged.
    """
    counts: Counter[str] = Counter()
    earlier: dict[str, Sequence[Any]] = {}
    for case in json.loads((root / "manifest.json").read_text(encoding="utf-8"))["cases"]:
        if wanted and not case["path"].startswith(tuple(wanted)):
            continue
        said = judge_case(root, case, earlier)
        counts[said.partition(":")[0]] += 1
        if ":" in said:
            sys.stdout.write(f"{case['path']} {said}\n")
    told = ", ".join(f"{number} {said}" for said, number in sorted(counts.items()))
    sys.stdout.write(f"{told or 'no such case'}\n")
    if counts["departs"]:
        return 1
    return 0 if counts.keys() - {"refused", "stop"} else 2


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
