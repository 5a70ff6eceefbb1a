"""JAX: the operators by the functions that somebody would write for them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sonnx.conformance.runtimes.kept import Kept
from sonnx.conformance.runtimes.question import Question
from sonnx.conformance.runtimes.runtime import UnavailableError, needed
from sonnx.model.dtype import XLA_TYPES, DType
from sonnx.numeric.arrays import numpy_dtype

# jax itself, operands by name, attributes → what the operator gives.
_Written = Callable[[Any, Mapping[str, Any], Mapping[str, Any]], Any]


def _clip(jax: Any, x: Mapping[str, Any], _: Mapping[str, Any]) -> Any:
    return jax.numpy.clip(x["input"], x["min"], x["max"])


def _where(jax: Any, x: Mapping[str, Any], _: Mapping[str, Any]) -> Any:
    return jax.numpy.where(x["condition"], x["X"], x["Y"])


def _expand(jax: Any, x: Mapping[str, Any], _: Mapping[str, Any]) -> Any:
    wanted = np.broadcast_shapes(x["input"].shape, tuple(int(size) for size in x["shape"]))
    return jax.numpy.broadcast_to(x["input"], wanted)


def _conv(jax: Any, x: Mapping[str, Any], told: Mapping[str, Any]) -> Any:
    pads = told["pads"]
    half = len(pads) // 2
    Y = jax.lax.conv_general_dilated(
        x["X"],
        x["W"],
        told["strides"],
        list(zip(pads[:half], pads[half:], strict=True)),
        rhs_dilation=told["dilations"],
        feature_group_count=told["group"],
    )
    return Y if "B" not in x else Y + x["B"].reshape(-1, *(1,) * half)


def _broadcast(jax: Any, x: Mapping[str, Any], _: Mapping[str, Any]) -> Any:
    return jax.numpy.broadcast_arrays(*x.values())


def _xla_broadcast(jax: Any, x: Mapping[str, Any], told: Mapping[str, Any]) -> Any:
    return jax.lax.broadcast(x["operand"], told["broadcast_sizes"])


def _xla_clamp(jax: Any, x: Mapping[str, Any], _: Mapping[str, Any]) -> Any:
    return jax.lax.clamp(x["min"], x["operand"], x["max"])


def _xla_collapse(jax: Any, x: Mapping[str, Any], told: Mapping[str, Any]) -> Any:
    dimensions = told["dimensions"]
    return jax.lax.collapse(x["operand"], dimensions[0], dimensions[-1] + 1)


def _xla_concatenate(jax: Any, x: Mapping[str, Any], told: Mapping[str, Any]) -> Any:
    return jax.lax.concatenate(list(x.values()), told["dimension"])


def _xla_convert(jax: Any, x: Mapping[str, Any], told: Mapping[str, Any]) -> Any:
    return jax.lax.convert_element_type(x["operand"], numpy_dtype(XLA_TYPES[told["new_element_type"]]))


def _xla_conv(jax: Any, x: Mapping[str, Any], told: Mapping[str, Any]) -> Any:
    return jax.lax.conv_general_dilated(
        x["lhs"],
        x["rhs"],
        told["window_strides"],
        told["padding"],
        lhs_dilation=told.get("lhs_dilation"),
        rhs_dilation=told.get("rhs_dilation"),
    )


_WRITTEN: Mapping[str, _Written] = {
    "clip": _clip,
    "conv": _conv,
    "where": _where,
    "expand": _expand,
    "broadcast": _broadcast,
    "xla.broadcast": _xla_broadcast,
    "xla.clamp": _xla_clamp,
    "xla.collapse": _xla_collapse,
    "xla.concatenate": _xla_concatenate,
    "xla.convert_element_type": _xla_convert,
    "xla.conv": _xla_conv,
    "xla.conv_with_general_padding": _xla_conv,
}


class Jax:
    """JAX with 64-bit types; `jit` compiles each operator as a whole, with its constants.

    `platform` is one of JAX's, such as cpu.
    """

    def __init__(self, platform: str = "cpu", jit: bool = True) -> None:
        """Look whether it is there."""
        if not isinstance(jit, bool):  # any text would be true
            raise ValueError(f"`jit` is true or false, not {jit!r}")
        self._jax = needed("jax", "jax>=0.8")
        try:
            self._device = self._jax.devices(platform)[0]
        except RuntimeError as error:
            raise UnavailableError(f"jax has no platform {platform!r}: {error}") from None
        self._platform, self._jit = platform, jit
        self._functions = Kept(self._function)

    @property
    def name(self) -> str:
        """The name, with what is not the default."""
        chosen = [self._platform] if self._platform != "cpu" else []
        chosen += [] if self._jit else ["without jit"]
        return f"jax ({', '.join(chosen)})" if chosen else "jax"

    @property
    def version(self) -> str:
        """The package's version."""
        return str(self._jax.__version__)

    def supports(self, question: Question) -> bool:
        """Tell whether it is written above, on types that JAX has."""
        return question.operator in _WRITTEN and DType.STRING not in question.dtypes

    def run(self, question: Question) -> Sequence[Any]:
        """Call the function."""
        with self._jax.enable_x64(True), self._jax.default_device(self._device):
            made = self._functions(question)(dict(question.inputs))
            listed = made if isinstance(made, list | tuple) else [made]
            return [np.asarray(one) for one in listed]

    def _function(self, question: Question) -> Callable[[Mapping[str, Any]], Any]:
        written, order = _WRITTEN[question.operator], tuple(question.operands)
        constants, attributes = dict(question.constants), dict(question.attributes)

        def function(inputs: Mapping[str, Any]) -> Any:
            given = {name: self._jax.numpy.asarray(array) for name, array in inputs.items()}
            # What decides a shape stays an array of NumPy's.
            operands = given | constants
            return written(self._jax, {name: operands[name] for name in order}, attributes)

        compiled: Callable[[Mapping[str, Any]], Any] = self._jax.jit(function)
        return compiled if self._jit else function
