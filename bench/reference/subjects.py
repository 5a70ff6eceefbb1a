"""What is measured: each subject is sonnx, the thing it is compared with, and the bar."""

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sonnx
from bench.reference.definitions import definition_subjects
from bench.reference.subject import Subject

Array = NDArray[Any]
PLAIN: dict[str, Any] = {
    "strides": [1, 1],
    "pads": [1, 1, 1, 1],
    "dilations": [1, 1],
    "group": 1,
    "kernel_shape": [3, 3],
}


def image(rng: np.random.Generator, channels: int, size: int) -> tuple[Array, Array, Array]:
    """A random float image with kernel 3x3 and bias, as many channels out as in."""
    X = rng.standard_normal((1, channels, size, size)).astype(np.float32)
    W = rng.standard_normal((channels, channels, 3, 3)).astype(np.float32)
    return X, W, rng.standard_normal(channels).astype(np.float32)


def onnx_reference(X: Array, W: Array, B: Array) -> Callable[[], object]:
    """The same convolution by the ONNX reference evaluator."""
    from onnx import TensorProto, helper  # noqa: PLC0415  a witness, loaded where it is asked
    from onnx.reference import ReferenceEvaluator  # noqa: PLC0415  likewise

    node = helper.make_node("Conv", ["X", "W", "B"], ["Y"], **PLAIN)
    operands = {"X": X, "W": W, "B": B}
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, a.shape) for n, a in operands.items()]
    output = helper.make_tensor_value_info("Y", TensorProto.FLOAT, X.shape)
    graph = helper.make_graph([node], "conv", infos, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    evaluator = ReferenceEvaluator(model)
    return lambda: evaluator.run(None, operands)


def fraction_convolution(X: Array, W: Array, B: Array) -> Array:
    """The formula of the Conv page with `fractions.Fraction`, element by element: exactness untreated."""
    _, channels, lines, columns = X.shape
    padded = np.full((channels, lines + 2, columns + 2), Fraction(0), dtype=object)
    padded[:, 1:-1, 1:-1] = X[0]
    Y = np.empty((1, len(W), lines, columns), dtype=object)
    for c, m, n in np.ndindex(len(W), lines, columns):
        window = padded[:, m : m + 3, n : n + 3]
        Y[0, c, m, n] = B[c] + sum(x * w for x, w in zip(window.flat, W[c].flat, strict=True))
    return Y


def sequential_channel(X: Array, W: Array, B: Array, c: int) -> Array:
    """One output channel by the sequential sum of D-CONV-6 (`separate`): bias first, then term by term.

    `np.add.accumulate` keeps every partial sum, so it adds strictly one after the other.
    """
    _, channels, lines, columns = X.shape
    padded = np.pad(X[0], ((0, 0), (1, 1), (1, 1)))
    terms = np.empty((1 + channels * 9, lines, columns), np.float32)
    terms[0] = B[c]
    for k, (ci, kl, kc) in enumerate(np.ndindex(channels, 3, 3), 1):
        terms[k] = padded[ci, kl : kl + lines, kc : kc + columns] * W[c, ci, kl, kc]
    total: Array = np.add.accumulate(terms, axis=0)[-1]
    return total


def python(statement: str) -> Callable[[], object]:
    """A fresh interpreter that runs one statement."""
    return lambda: subprocess.run([sys.executable, "-c", statement], check=True)


def command(*arguments: str) -> Callable[[], object]:
    """A command of sonnx in a fresh interpreter."""
    line = [sys.executable, "-m", "sonnx", *arguments]
    return lambda: subprocess.run(line, check=True, stdout=subprocess.DEVNULL)


def model_subjects() -> list[Subject]:
    """Checking a large model, and how fast the command line answers."""
    from bench.reference.models import large_model  # noqa: PLC0415  loads onnx, which other subjects do without

    path = str(large_model())
    theirs = f"import onnx; onnx.checker.check_model(onnx.load({path!r}), full_check=True)"
    rival = "onnx.load and check_model(full_check)"

    def ours() -> None:
        if sonnx.load(path).check():
            raise AssertionError("the model of the benchmark must conform")

    return [
        Subject("check of 1,000 nodes, 100 MB", rival, ours, lambda: exec(theirs, {}), 2, 5),
        Subject("sonnx check of the same, as a command", f"python -c, {rival}",
                command("check", path), python(theirs), 2, 5),
        Subject("sonnx --help", "import numpy", command("--help"), python("import numpy"), 1.5, 15),
    ]  # fmt: skip


def subjects() -> list[Subject]:
    """All of them, on data from one seed."""
    rng = np.random.default_rng(2)
    X, W, B = image(rng, 64, 56)
    small = image(rng, 16, 32)
    exact = tuple(map(sonnx.real, small))
    x, y = (rng.standard_normal(10_000_000).astype(np.float32) for _ in range(2))
    condition = x > 0
    low, zero, high = np.float32(-1), np.float32(0), np.float32(1)
    spoiled = x.copy()
    spoiled[::2000], spoiled[1000::2000] = np.nan, 0
    column, row = x[:10_000].reshape(-1, 1), y[:1_000]
    return [
        Subject("Conv 64 to 64, 3x3, 56x56, float, separate", "ONNX reference evaluator",
                lambda: sonnx.conv(X, W, B, **PLAIN), onnx_reference(X, W, B), 5),
        Subject("Conv 64 to 64, 3x3, 56x56, float, fused", "ONNX reference evaluator",
                lambda: sonnx.conv(X, W, B, accumulate="fused", **PLAIN), onnx_reference(X, W, B), None, 3),
        Subject("Conv 16 to 16, 3x3, 32x32, exact", "fractions.Fraction",
                lambda: sonnx.conv(*exact, **PLAIN), lambda: fraction_convolution(*exact), 1 / 100, 2, False),
        Subject("Clip, 10 million floats", "np.clip",
                lambda: sonnx.clip(x, low, high), lambda: np.clip(x, low, high), 2.5),  # noqa: TID251  the rival
        Subject("Clip, 10 million floats", "np.where twice",
                lambda: sonnx.clip(x, low, high),
                lambda: np.where(x < low, low, np.where(x > high, high, x)), 2.5),
        Subject("Clip, 10 million floats, one in 1000 zero or NaN, min 0", "np.clip",
                lambda: sonnx.clip(spoiled, zero, high), lambda: np.clip(spoiled, zero, high), None),  # noqa: TID251  the rival
        Subject("Where, 10 million floats", "np.where",
                lambda: sonnx.where(condition, x, y), lambda: np.where(condition, x, y), 2.5),
        Subject("Broadcast to 10 million floats, views", "np.broadcast_arrays",
                lambda: sonnx.broadcast(column, row), lambda: np.broadcast_arrays(column, row), None, 99),
        Subject("Broadcast to 10 million floats, copied", "np.broadcast_arrays, copied",
                lambda: [z.copy() for z in sonnx.broadcast(column, row)],
                lambda: [z.copy() for z in np.broadcast_arrays(column, row)], 2.5),
        *definition_subjects(),
        Subject("import sonnx", "import numpy", python("import sonnx"), python("import numpy"), 1.5, 15),
        Subject("import sonnx and first use", "import numpy",
                python("import sonnx; sonnx.clip, sonnx.real"), python("import numpy"), None, 15),
        *model_subjects(),
    ]  # fmt: skip


def facts() -> dict[str, Any]:
    """What goes with the figures: memory, and whether results are the right ones."""
    rng = np.random.default_rng(2)
    X, W, B = image(rng, 64, 56)
    Y = sonnx.conv(X, W, B, **PLAIN)
    same = sum(
        int(np.count_nonzero(Y[0, c].view(np.uint32) == sequential_channel(X, W, B, c).view(np.uint32)))
        for c in range(len(W))
    )
    small = tuple(map(sonnx.real, image(rng, 16, 32)))
    equal = bool(np.all(sonnx.conv(*small, **PLAIN) == fraction_convolution(*small)))
    return {"bits": (same, Y.size), "exact": equal, "bytes": X.nbytes + Y.nbytes, "image": (X, W, B)}
