"""The real XLA as an engine: a graph compiled for this machine's processor and executed.

It needs jax, which brings XLA; nothing here imports it before a graph is executed.
"""

from collections import OrderedDict
from collections.abc import Mapping
from hashlib import sha256
from threading import Lock
from typing import Any

import numpy as np

from sonnx.model.graph import Graph
from sonnx.numeric.arrays import Array, describe
from sonnx.stablehlo.domains import handing_out, looks, require_all_defined
from sonnx.stablehlo.module import stablehlo

# Compiled graphs that are kept; each holds a copy of its constants.
_KEPT = 16
_LONGEST_MESSAGE = 500
# Whatever the environment says: every rounding in the text is made (else XLA may leave out a conversion and
# the way back), and no arithmetic is fast at the cost of NaN, infinities or zeros.
_OPTIONS = {
    "xla_allow_excess_precision": False,
    "xla_cpu_enable_fast_math": False,
    "xla_cpu_enable_fast_min_max": False,
}


class EngineError(RuntimeError):
    """XLA is not there, or does not take what it was given; the text says which."""


def execute(graph: Graph, inputs: Mapping[str, Any]) -> dict[str, Array]:
    """Execute a graph that has been found to conform, on arrays that have the types of its inputs.

    The results are new arrays. XLA flushes subnormal numbers where it calculates, and takes sums in an order
    of its own; a byte of a bool that is neither 0 nor 1 comes back as 1. Raises ExportError where XLA has no
    such types, EngineError where jax is missing or XLA refuses, DomainError where a node is given an element
    for which its operator is not defined.
    """
    asked = looks(graph) if graph.dialect == "onnx" else ()
    whole = handing_out(graph, asked)
    text = stablehlo(whole)
    jax = _jax()
    try:
        device, executable = _compiled(text)
        # Only inside are arrays of 64 bits taken as they are; the caller's settings stay.
        with jax.enable_x64(True):
            given = [jax.device_put(_array(inputs[value.name]), device) for value in graph.inputs]
            results = executable.execute(given)
            names = (value.name for value in whole.outputs)
            made = {name: np.array(result) for name, result in zip(names, results, strict=True)}
    # jax's own errors are RuntimeErrors; a platform that is not there fails an assertion of jax's.
    except (RuntimeError, AssertionError, TypeError, ValueError) as error:
        raise EngineError(f"XLA refuses the graph: {_plain(error)}") from None
    if asked:
        constants = {constant.name: constant.data for constant in whole.constants}
        require_all_defined(asked, {**constants, **{name: _array(inputs[name]) for name in inputs}, **made})
    return {value.name: made[value.name] for value in graph.outputs}


def _jax() -> Any:
    try:
        import jax  # noqa: PLC0415  not everybody has it, and it is slow to import
        import jax.extend.backend  # noqa: PLC0415  (same)
    except ImportError as error:
        if getattr(error, "name", None) != "jax":  # it is there, and something that it needs is not
            raise EngineError(f"jax cannot be imported: {_plain(error)}") from None
        raise EngineError('XLA comes with jax, which is not here: pip install "jax>=0.8"') from None
    if not hasattr(jax, "enable_x64") or not hasattr(jax.extend.backend, "get_compile_options"):
        raise EngineError(f"jax {jax.__version__} is too old, or too new; 0.8 to 0.10 are known to do")
    return jax


def _plain(error: Exception) -> str:
    return str(error)[:_LONGEST_MESSAGE].encode("unicode_escape").decode("ascii")


def _array(value: Any) -> Array:
    array = describe(value)[1]
    assert array is not None  # the caller has looked at it
    return array.view(np.uint8) != 0 if array.dtype.kind == "b" else np.ascontiguousarray(array)


_lock = Lock()
_executables: OrderedDict[bytes, tuple[Any, Any]] = OrderedDict()


def _compiled(text: str) -> tuple[Any, Any]:
    """XLA's device and a module compiled for it; the latest ones are kept."""
    encoded = text.encode()
    key = sha256(encoded).digest()
    with _lock:
        if key in _executables:
            _executables.move_to_end(key)
            return _executables[key]
    compiled = _compile(encoded)
    with _lock:
        _executables[key] = compiled
        while len(_executables) > _KEPT:
            _executables.popitem(last=False)
    return compiled


def _compile(encoded: bytes) -> tuple[Any, Any]:
    backend = _jax().extend.backend
    client = backend.get_backend("cpu")
    device = client.local_devices()[0]
    options = backend.get_compile_options(
        num_replicas=1, num_partitions=1, env_options_overrides=dict(_OPTIONS)
    )
    return device, client.compile_and_load(encoded, [device], options)
