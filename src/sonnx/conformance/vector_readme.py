"""The README of test vectors: how they are read and compared, with a program that does it."""

from collections.abc import Mapping
from importlib.resources import files

# How results are compared; the manifest names one for each case.
COMPARE = {
    "bits": "Every bit of every element is that of the file, signs of zeros and all bits of NaNs included.",
    "any NaN": "As bits, but for a NaN any NaN will do; of a complex number, in each part.",
    "enclosure": (
        "A sum of floats. Right are the bits of output_i (mode separate) and those of output_i_fused, with "
        "any NaN for a NaN; and what another order of summation gives, if it lies in the enclosure."
    ),
    "stop": (
        "There is no output: an operand holds an element for which the operator has no result, such as a "
        "divisor 0 of integers. The run must end with an error."
    ),
}

_TEXT = """\
# Test vectors

Cases of {operators}, with the results that the specification of the safety-related ONNX profile demands.
Written by sonnx {version} with seed {seed}, for ONNX's operator set {opset}. To use them needs no sonnx, and
the same version writes the same bytes again. `sha256sum -c SHA256SUMS` tells whether they are whole.

{table}

## A case

A case is a folder `OPERATOR/TYPE/CASE`. It has one operator, applied once:

| file | content |
|---|---|
| `model.onnx` | a model of one node; or |
| `model.mlir` | a function in MLIR's StableHLO dialect, for operations of XLA that no ONNX model asks |
| `test_data_set_0/input_i.pb` | the inputs of the model in their order, as ONNX's `TensorProto` |
| `test_data_set_0/output_i.pb` | the outputs that are demanded; none where the run must stop |
| `test_data_set_0/constant_i.pb` | the operands that the model holds itself, for those who read no models |
| `test_data_set_0/*.npy` | the same tensors for NumPy, and of sums of floats the enclosure |

This is the layout of ONNX's own test data, so whatever runs those runs these, `OPERATOR` by `OPERATOR`. But
most such programs compare with a tolerance, and so find little.

Files `.npy` are little-endian and never pickled. NumPy has no bfloat16: such a tensor is there as `uint16`,
its bits. Strings have no `.npy`, because NumPy's strings lose a NUL at their end; in a `.pb` they are UTF-8.
Where a bool is a condition, every byte but 0 is true, and a few cases have such bytes.

## The manifest

`manifest.json` has a line for each case, sorted by `path`:

- `operator`, `type`: what is on trial, and on which element type; `text` says what is looked at, and `shows`
  names the rules and rulings of the specification that it is about;
- `model`: the file, or null with the reason in `no_model`. `onnx` has the operator and the operator set of an
  ONNX model. Where it says `outside_profile`, an operator of XLA is asked as one of ONNX's, some results of
  which ONNX leaves open: there a departure is no fault of a runtime for ONNX;
- `attributes` by name; `inputs`, `constants` and `outputs`, each with `name`, `type`, `shape`, the files `pb`
  and `npy`, and what the latter holds (`npy_type`);
- `compare`: how to compare, as below; `twin`: the same case without constants, or null.

`format` is {format}; it grows when an old reader would go wrong.

## How to compare

Type and shape must be those of the file. Then, by `compare`:

- `bits`: {bits}
- `any NaN`: {any_nan}
- `enclosure`: {enclosure}
- `stop`: {stop}

The specification has two modes of summation, both in the order of the terms: `separate` rounds every product
and every sum, `fused` both at once. Who claims a mode is held to its bits, compared as `any NaN`. Who sums in
an order of their own is held to the enclosure, in three more files of each output, of its shape:

- `output_i_special.npy`, as `uint8`: 0 where the result is a number, 1 where it is a NaN, 2 where it is
  +infinity, 3 where it is -infinity; 4 more where a partial sum may overflow to +infinity, and 8 more where
  one may to -infinity; 16 more where a zero must be +0;
- `output_i_low.npy` and `output_i_high.npy`, as doubles: the least and the greatest double that may come. All
  floats here are doubles, so nothing is lost by comparing with them. Both ends are infinite where nothing can
  be told, and one where no finite number can come.

So a result is right:

| special | a finite number | +infinity | -infinity | NaN |
|---|---|---|---|---|
| 0 | from low to high | no | no | no |
| 1, 5, 9, 13 | no | no | no | yes |
| 2, 6 | no | yes | no | no |
| 3, 11 | no | no | yes | no |
| 4 | from low to high | yes | no | no |
| 7, 15 | no | no | yes | yes |
| 8 | from low to high | no | yes | no |
| 10, 14 | no | yes | no | yes |
| 12 | from low to high | yes | yes | yes |

With 16 more the same, but -0 is not right; else zeros of either sign are equal. A runtime has one order of
summation, which must not depend on whether operands are constants: a case and its `twin` give the same bits.

## A program that judges a runtime

It needs onnx and NumPy, and onnx 1.19 or newer for bfloat16. As it stands it judges ONNX's own reference
evaluator; to judge another runtime, change `run`. It prints all cases that depart or are refused, and counts
those that conform. Its exit code is 0 where all that was not refused conforms, 1 where something departs, 2
where nothing was judged, or every case was refused.

```python
{program}```
"""


def readme(version: str, seed: int, opset: int, form: int, counts: Mapping[str, Mapping[str, int]]) -> str:
    """The text; `counts` are the cases by operator and type."""
    rows = [f"| `{name}` | {sum(of.values())} | {', '.join(of)} |" for name, of in counts.items()]
    table = "\n".join(["| operator | cases | types |", "|---|---|---|", *rows])
    return _TEXT.format(
        operators="the operator" if len(counts) == 1 else f"{len(counts)} operators",
        version=version,
        seed=seed,
        opset=opset,
        format=form,
        table=table,
        bits=COMPARE["bits"],
        any_nan=COMPARE["any NaN"],
        enclosure=COMPARE["enclosure"],
        stop=COMPARE["stop"],
        program=files("sonnx.conformance").joinpath("vector_judge.py").read_text(encoding="utf-8"),
    )
