"""ONNX's backend interface: tools that drive ONNX backends can drive the specification.

A backend is given models as exporters write them, so this one normalizes each model for the very arrays it
is run on: open sizes become the arrays' sizes, an input that decides a shape becomes a constant. In one
respect it takes more than the profile: what a rule leaves out and the definition covers even so, such as
convolutions in any number of groups that divides the channels (conv.group.C1, conv.group.D1).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest import SkipTest

import numpy as np
from onnx import ModelProto, NodeProto, helper, version_converter
from onnx.backend.base import Backend, BackendRep, Device, DeviceType, namedtupledict
from onnx.defs import onnx_opset_version

from sonnx.check.inference import node_call
from sonnx.evaluate.execution import InputError, Settings, execute, require_inputs
from sonnx.load.reader import from_proto
from sonnx.load.types import TO_ONNX
from sonnx.model.graph import Graph, Node
from sonnx.model.location import Location
from sonnx.normalize.for_arrays import decided, sized
from sonnx.normalize.passes import normalize_graph
from sonnx.normalize.sizes import open_sizes
from sonnx.normalize.structure import without_formal_inputs
from sonnx.numeric.arrays import describe, type_name
from sonnx.operators import NODE_OPERATORS, node_operator
from sonnx.operators.graph.older import is_to_be_raised
from sonnx.operators.rules.wording import count
from sonnx.report.text import findings_text, printable, short
from sonnx.vocabulary.operator import OLDEST_OPSET
from sonnx.vocabulary.rule import Finding, RuleError

# The rules that leave out what the definition covers, and what tells whether it does.
_COVERED = {
    rule.identifier: (operator, rule.covered)
    for operator in NODE_OPERATORS.values()
    for rule in operator.contract.rules
    if rule.covered is not None
}
# What the definitions cannot run, whatever the arrays: other operators, random ones, branches and loops.
_LACKING = {"graph.D6", "graph.D7", "graph.D8"}
# What the arrays of a run decide: open sizes, and the elements of operands that must be constants.
_DECIDED_BY_ARRAYS = {"general.R2"} | {
    rule.identifier
    for operator in NODE_OPERATORS.values()
    for rule in operator.contract.rules
    if rule.made_from in {f"{operand} constant" for operand in operator.contract.settled}
}
# Sizes that open ones could be: one with which every shape broadcasts, and ones that kernels fit into.
_TRIAL_SIZES = (1, 32, 1024)
_OPTIONS = tuple(option.name for option in fields(Settings))
# A model in memory has no folder in which external data could lie.
_NO_FOLDER = Path("/dev/null")


class LackingOperatorError(RuleError, SkipTest):
    """The model has operators that the profile lacks.

    ONNX's own runner of backend tests, as every one of unittest's, skips a test that ends so; it takes any
    other error for a failure.
    """


class SonnxRep(BackendRep):
    """A model ready to be run."""

    def __init__(self, graph: Graph, settings: Settings) -> None:
        """Keep the model as it was given, without its formal defaults."""
        self._graph = without_formal_inputs(graph)
        self._settings = settings

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Run on a list of arrays, in the order of the model's inputs, or on a dict of arrays by name.

        A single array stands for a list of one. Answers a named tuple of outputs. Raises
        LackingOperatorError, a RuleError, where the profile lacks an operator of the model, RuleError where
        another rule is broken, InputError where an array is not what the model takes.
        """
        if kwargs:
            raise TypeError(f"run: unknown options {', '.join(kwargs)}")
        if self._lacking:
            raise LackingOperatorError(self._lacking, findings_text(self._lacking))
        arrays = _by_name([value.name for value in self._graph.inputs], inputs, "the model")
        # What is no array has no shape, and is refused with its name afterwards.
        found = {name: describe(array)[0].sizes for name, array in arrays.items()}
        shapes = {name: sizes for name, sizes in found.items() if sizes is not None}
        fixed = sized(self._graph, shapes).fixed
        given = require_inputs(fixed.inputs, arrays, self._settings.domain)
        graph = _conforming(decided(fixed, given))
        taken = {value.name: given[value.name] for value in graph.inputs}
        results = execute(graph, taken, self._settings)
        outputs = namedtupledict("Outputs", list(results))
        answer: tuple[Any, ...] = outputs(*results.values())
        return answer

    @cached_property
    def _lacking(self) -> list[Finding]:
        """The nodes that nothing here can run; one that no output depends on does not matter."""
        graph = self._graph
        nodes = [*graph.nodes, *(node for function in graph.functions for node in function.nodes)]
        if all(node_operator(node, graph.dialect) is not None for node in nodes):
            return []
        return [finding for finding in normalize_graph(graph).findings if finding.rule in _LACKING]

    def can_run(self) -> bool:
        """Tell whether some sizes of the inputs would let the model run."""
        # What is refused whatever the sizes are is refused for another reason.
        trials = (set(_refused(self._graph, size)) for size in _TRIAL_SIZES)
        return not set.intersection(*trials)


class SonnxBackend(Backend):
    """The backend; also available as functions of this module."""

    @classmethod
    def is_compatible(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Tell whether the model can be run, given arrays that fit it."""
        try:
            return cls.prepare(model, device, **kwargs).can_run()
        except ValueError:
            return False

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> SonnxRep:
        """Read a model; the options `accumulate` and `domain` are those of `Graph.run`.

        `run` of what is answered takes a list of arrays, or a dict by name. Raises ValueError for a model
        that cannot be read, TypeError for what is no ModelProto or an option that there is not.
        """
        if not isinstance(model, ModelProto):
            raise TypeError(f"prepare takes a ModelProto, not {type(model).__name__}; onnx.load reads a file")
        unknown = [name for name in kwargs if name not in _OPTIONS]
        if unknown:
            raise TypeError(f"prepare: unknown options {', '.join(unknown)}; there are {', '.join(_OPTIONS)}")
        if not cls.supports_device(device):
            raise ValueError(f"device {device!r} is not supported; there is CPU")
        settings = Settings(**kwargs)
        graph = from_proto(model, "model", _NO_FOLDER)
        old = [version for domain, version in graph.opsets if domain == ""]
        # What normalizing writes anew is exact: ONNX's converter gives a Clip of doubles bounds of floats.
        if old and max(old) < OLDEST_OPSET and not is_to_be_raised(graph):
            try:
                model = version_converter.convert_version(model, OLDEST_OPSET)
            except Exception as error:  # whatever its C++ code raises
                raise ValueError(f"operator set {max(old)} cannot be converted: {error}") from None
            graph = from_proto(model, "model", _NO_FOLDER)
        return SonnxRep(graph, settings)

    @classmethod
    def run_node(
        cls,
        node: NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[tuple[Any, Any]] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Run one node on arrays; `opset_version` chooses the operator set, the newest if not given."""
        opset = kwargs.pop("opset_version", onnx_opset_version())
        names = list(dict.fromkeys(name for name in node.input if name))
        arrays = _by_name(names, inputs, "the node")
        values = [_value(name, array) for name, array in arrays.items()]
        outputs = [helper.make_empty_tensor_value_info(name) for name in node.output if name]
        graph = helper.make_graph([node], "node", values, outputs)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        return cls.prepare(model, device, **kwargs).run(arrays)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Tell whether a device such as `CPU` or `CPU:0` is there."""
        try:
            return bool(Device(device).type == DeviceType.CPU)
        except (AttributeError, ValueError):
            return False


def _by_name(names: Sequence[str], inputs: Any, taker: str) -> dict[str, Any]:
    if isinstance(inputs, Mapping):
        return dict(inputs)
    if not isinstance(inputs, (np.ndarray, Iterable)) or isinstance(inputs, str):
        raise InputError(
            f"{taker} takes a list of arrays, or a dict of arrays by name, not {type_name(inputs)}"
        )
    listed = [inputs] if isinstance(inputs, np.ndarray) else list(inputs)
    if len(listed) != len(names):
        raise InputError(f"{taker} takes {count(len(names), 'input')}, not {len(listed)}")
    return dict(zip(names, listed, strict=True))


def _value(name: str, array: Any) -> Any:
    kind, _ = describe(array)
    if kind.dtype is None or kind.dtype not in TO_ONNX:
        raise InputError(printable(f"`{short(name)}` has the type {kind}, which no ONNX model has"))
    return helper.make_tensor_value_info(name, TO_ONNX[kind.dtype], kind.sizes)


def _conforming(graph: Graph) -> Graph:
    """The model normalized; raises RuleError where it lies outside what the definitions cover."""
    done = normalize_graph(graph)
    refused = [finding for finding in done.findings if not _tolerated(done.graph, finding)]
    if refused:
        raise RuleError(refused, findings_text(refused))
    return done.graph


def _refused(graph: Graph, size: int) -> Iterator[tuple[str, Location | None]]:
    """The rules that keep the model from running if every open size were this one, and where."""
    done = normalize_graph(graph, dict.fromkeys(open_sizes(graph), size))
    types = done.graph.types
    undecided = {
        place
        for place, node in _located(done.graph)
        if not all(name in types and types[name].sizes is not None for name in node.inputs if name)
    }
    for finding in done.findings:
        decided = finding.rule.startswith("graph.") or finding.location not in undecided
        if decided and finding.rule not in _DECIDED_BY_ARRAYS and not _tolerated(done.graph, finding):
            yield finding.rule, finding.location


def _located(graph: Graph) -> Iterator[tuple[Location, Node]]:
    scope = graph.scope
    return ((scope.node_location(index), node) for index, node in enumerate(graph.nodes))


def _tolerated(graph: Graph, finding: Finding) -> bool:
    """Tell whether the definition covers what the profile does not."""
    if finding.rule not in _COVERED:
        return False
    operator, covered = _COVERED[finding.rule]
    # A finding in a function that cannot be inlined is at no node of the graph itself.
    nodes = [node for place, node in _located(graph) if place == finding.location]
    return any(covered(node_call(operator, node, graph.types, graph.data)) for node in nodes)


is_compatible = SonnxBackend.is_compatible
prepare = SonnxBackend.prepare
run_model = SonnxBackend.run_model
run_node = SonnxBackend.run_node
supports_device = SonnxBackend.supports_device
