"""Other ways to execute the file: onnxruntime, ONNX's reference evaluator, JAX, and C by emx-onnx-cgen."""

import importlib
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from bench.engines.engine import Prepared, UnavailableError
from bench.engines.shared_library import address, command, shared_library
from bench.engines.subjects import Array, Case

_TYPES = {"tensor(float)": np.float32, "tensor(int32)": np.int32}


def needed(module: str) -> Any:
    """An optional package."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UnavailableError(f"{module} is not installed") from error


def onnxruntime(threads: int) -> dict[str, Callable[[Case], Prepared]]:
    """onnxruntime with its default optimisations, in all ways that may be the fastest.

    `run` makes new arrays, bound results are written to memory of ours. Idle threads of its pool spin or
    sleep; that they spin disturbs nobody here, because `settle` waits for the end of it.
    """
    spinning = {"": True, ", no spinning": False} if threads > 1 else {"": True}
    return {
        f"{way}{words}": partial(_onnxruntime, make, threads, spin)
        for words, spin in spinning.items()
        for way, make in (("run", _unbound), ("bound results", _bound))
    }


def _onnxruntime(
    make: Callable[[Any, Any, Case], Prepared], threads: int, spinning: bool, case: Case
) -> Prepared:
    ort = needed("onnxruntime")
    return make(ort, _session(ort, case.path, threads, spinning), case)


def _session(ort: Any, path: Path, threads: int, spinning: bool) -> Any:
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", str(int(spinning)))
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _unbound(_: Any, session: Any, case: Case) -> Prepared:
    return Prepared(lambda: session.run(None, case.inputs), lambda: session.run(None, case.inputs))


def _bound(ort: Any, session: Any, case: Case) -> Prepared:
    binding = session.io_binding()
    for name, array in case.inputs.items():
        binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(array))
    for one in session.get_outputs():
        binding.bind_ortvalue_output(
            one.name, ort.OrtValue.ortvalue_from_shape_and_type(one.shape, _TYPES[one.type], "cpu")
        )

    def outputs() -> list[Array]:
        session.run_with_iobinding(binding)
        return list(binding.copy_outputs_to_cpu())

    return Prepared(lambda: session.run_with_iobinding(binding), outputs)


def reference_evaluator(case: Case) -> Prepared:
    from onnx.reference import ReferenceEvaluator  # noqa: PLC0415  takes a while to load

    evaluator = ReferenceEvaluator(str(case.path))

    def run() -> list[Array]:
        return list(evaluator.run(None, case.inputs))

    return Prepared(run, run)


def jax(case: Case) -> Prepared:
    """The same operators in JAX, compiled by XLA with the weights as constants.

    XLA makes its threads when it starts, one a core; they are kept on the cores of the contestant.
    """
    library = needed("jax")
    graph = onnx.load(case.path).graph
    constants = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    compiled = library.jit(lambda inputs: _in_jax(library, graph, constants, inputs))
    inputs = {name: library.device_put(array) for name, array in case.inputs.items()}

    def run() -> Any:
        return library.block_until_ready(compiled(inputs))

    return Prepared(run, lambda: [np.asarray(array) for array in run()])


def _in_jax(library: Any, graph: Any, constants: dict[str, Array], inputs: dict[str, Any]) -> list[Any]:
    jnp, lax = library.numpy, library.lax
    values: dict[str, Any] = {**constants, **inputs}
    for node in graph.node:
        operands = [values[name] for name in node.input]
        match node.op_type:
            case "Conv":
                result = _conv_in_jax(lax, node, *operands)
            case "Clip":
                x, low, high = operands
                result = jnp.where(x < low, low, jnp.where(x > high, high, x))
            case "Where":
                result = jnp.where(*operands)
            case "Expand":
                result = jnp.broadcast_to(operands[0], tuple(map(int, operands[1])))
            case other:
                raise UnavailableError(f"{other} is not written in JAX here")
        values[node.output[0]] = result
    return [values[one.name] for one in graph.output]


def _conv_in_jax(lax: Any, node: Any, X: Any, W: Any, B: Any) -> Any:
    given = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
    top, left, bottom, right = given["pads"]
    Y = lax.conv_general_dilated(
        X,
        W,
        given["strides"],
        [(top, bottom), (left, right)],
        rhs_dilation=given["dilations"],
        feature_group_count=given["group"],
    )
    return Y + B[None, :, None, None]


def emx(case: Case) -> Prepared:
    """C by emx-onnx-cgen with its default settings; weights above its limit are in a file that it loads."""
    needed("emx_onnx_cgen")
    folder = case.folder / f"emx-{case.subject.key}"
    folder.mkdir(exist_ok=True)
    generator: list[str | Path] = [sys.executable, "-m", "emx_onnx_cgen", "compile", case.path]
    command([*generator, "subject.c", "--model-name", "subject"], folder)
    library = shared_library(folder / "subject.c")
    weights = folder / "subject.bin"
    if weights.exists():
        library.subject_load.restype = bool
        if not library.subject_load(str(weights).encode()):
            raise UnavailableError("its weights could not be loaded")
    return in_library(case, library.subject)


def in_library(case: Case, entry: Any) -> Prepared:
    """A C function that takes pointers to the inputs and then to the outputs, in the order of the model."""
    graph = onnx.load(case.path).graph
    results = [
        np.empty([d.dim_value for d in one.type.tensor_type.shape.dim], np.float32) for one in graph.output
    ]
    inputs = [np.ascontiguousarray(case.inputs[one.name]) for one in graph.input]
    pointers = [address(array) for array in (*inputs, *results)]
    entry.restype = None

    def run(_kept: list[Array] = inputs) -> list[Array]:
        entry(*pointers)
        return results

    return Prepared(run, run)
