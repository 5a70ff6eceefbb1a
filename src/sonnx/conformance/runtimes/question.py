"""What a runtime is asked: one operator with its operands, as a model of one node."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sonnx.conformance.runtimes.packing import Packed, pack, unpack
from sonnx.evaluate.apply import require
from sonnx.model.dtype import XLA_TYPES, DType
from sonnx.model.graph import Constant, Graph, Node, Value
from sonnx.model.tensor_type import Dialect, TensorType
from sonnx.numeric.arrays import Array, describe
from sonnx.operators.catalogue import NODE_OPERATORS
from sonnx.operators.catalogue import operator as operator_named
from sonnx.operators.shared.xla_types import COMPLEX
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import Contract, Operator, operand_names
from sonnx.vocabulary.trial import Trial

if TYPE_CHECKING:
    from sonnx.api import Graph as RunnableGraph

# The newest operator set that onnxruntime 1.31 and onnx 1.23 both know, and the oldest of the profile. The
# format's version is the first that may name it.
NEWEST_OPSET = 26
OLDEST_OPSET = 13
_IR_VERSIONS = {13: 7, 15: 8, 19: 9, 21: 10, 23: 11, 24: 12, 25: 13}
# A graph of XLA operations is in no file; its number means nothing.
_IR_OF_XLA = 8
_XLA_OPSET = 1

# Models that are kept: most questions differ from earlier ones in their inputs alone.
_KEPT = 512

Types = tuple[tuple[str, TensorType], ...]
Attributes = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Structure:
    """All of a question but the elements of its inputs: what a model of it consists of."""

    operator: str
    inputs: Types
    constants: tuple[tuple[str, Packed], ...]
    attributes: Attributes
    outputs: Types
    # The attributes as text: 0.0 and -0.0 are equal to Python, and so are 1 and 1.0.
    spelled: str


@dataclass(frozen=True, eq=False)
class Question:
    """An operator by its identifier, such as `clip` or `xla.clamp`, and what it is applied to.

    `inputs` are the operands that are inputs of the model, `constants` those that it holds itself, both in
    the order of the operator's operands. `attributes` are those that a model can have: nothing says how to
    evaluate.
    """

    operator: str
    inputs: Mapping[str, Array]
    constants: Mapping[str, Array]
    attributes: Mapping[str, Any]
    outputs: Mapping[str, TensorType]

    @cached_property
    def structure(self) -> Structure:
        """What questions have in common that differ in the elements of their inputs alone."""
        return Structure(
            self.operator,
            tuple((name, describe(array)[0]) for name, array in self.inputs.items()),
            tuple((name, pack(array)) for name, array in self.constants.items()),
            tuple(self.attributes.items()),
            tuple(self.outputs.items()),
            repr(self.attributes),
        )

    @property
    def definition(self) -> Operator:
        """The operator itself."""
        return operator_named(self.operator)

    @property
    def operands(self) -> Mapping[str, Array]:
        """Inputs and constants together, in the operator's order."""
        given = {**self.inputs, **self.constants}
        return {name: given[name] for name in _ordered(self.definition, given)}

    @property
    def dtypes(self) -> frozenset[DType | None]:
        """The element types of all operands and outputs."""
        kinds = [describe(array)[0] for array in self.operands.values()]
        return frozenset(kind.dtype for kind in (*kinds, *self.outputs.values()))

    @property
    def has_model(self) -> bool:
        """Tell whether an ONNX model can ask it."""
        if self.outside_profile:
            return self.dtypes.isdisjoint(COMPLEX)  # ONNX's Cast has no complex numbers
        return self.definition in NODE_OPERATORS.values()

    def has_model_in(self, opset: int) -> bool:
        """Tell whether a model of that operator set can ask it: whether that has all of it."""
        contract = self.definition.contract
        if self.outside_profile or not self.has_model:
            return self.has_model
        version = max((each for each in contract.versions if each <= opset), default=0)
        return version > 0 and not _unsaid(contract, self.attributes, version)

    @property
    def outside_profile(self) -> bool:
        """Tell whether its ONNX model lies outside the profile, as conversions do, asked as ONNX's Cast."""
        return self.definition.trying.asked_as is not None


def question(operator: Operator | str, trial: Trial) -> Question:
    """Ask a trial of an operator.

    An operand whose elements decide a shape is a constant, whatever the trial says. Raises RuleError where
    the trial breaks a rule, ValueError where no runtime can be asked: about reals, or about a call.
    """
    found = operator_named(operator) if isinstance(operator, str) else operator
    if any(attribute.kind == "computation" for attribute in found.contract.attributes):
        raise ValueError("a call cannot be asked: its computation is a graph; ask its operations")
    contract = found.contract
    defaults = {each.name: each.default for each in contract.attributes if each.default is not None}
    attributes = {**defaults, **{name: _plain(name, value) for name, value in trial.attributes.items()}}
    described = {name: describe(trial.inputs[name]) for name in _ordered(found, trial.inputs)}
    for name, (kind, array) in described.items():
        if array is None or kind.dtype is DType.REAL:
            raise ValueError(f"`{name}` is {kind}: no runtime takes such an operand")
    arrays = {name: array for name, (_, array) in described.items() if array is not None}
    held = contract.settled | trial.constants
    modes = {attribute.name for attribute in contract.attributes if attribute.mode}
    return Question(
        found.identifier,
        {name: array for name, array in arrays.items() if name not in held},
        {name: array for name, array in arrays.items() if name in held},
        {name: value for name, value in attributes.items() if name not in modes},
        dict(
            _output_types(
                found.identifier,
                tuple((name, kind) for name, (kind, _) in described.items()),
                tuple(attributes.items()),
                tuple((name, tuple(arrays[name].tolist())) for name in arrays if name in contract.settled),
            )
        ),
    )


def _ordered(operator: Operator, given: Mapping[str, Any]) -> list[str]:
    """The names of operands in the operator's order; what it does not have comes last, for a rule to name."""
    known = [name for name in operand_names(operator.contract.inputs, len(given)) if name in given]
    return known + [name for name in given if name not in known]


def _plain(name: str, value: Any) -> Any:
    """An attribute of Python's own numbers and texts, lists as tuples: what a message can carry."""
    if isinstance(value, list | tuple | np.ndarray):
        return tuple(_plain(name, element) for element in value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.floating):
        return float(value)
    if not isinstance(value, int | float | str):
        raise ValueError(f"the attribute `{name}` is a {type(value).__name__}: no runtime can be given it")
    return value


@lru_cache(_KEPT)
def _output_types(
    operator: str, inputs: Types, attributes: Attributes, constants: tuple[tuple[str, Any], ...]
) -> Types:
    found = operator_named(operator)
    kinds = {name: replace(kind, dialect=found.dialect) for name, kind in inputs}
    call = Call(found.name, kinds, dict(attributes), constants=dict(constants))
    require(found, call)
    return tuple(found.contract.output_types(call).items())


def model_bytes(question: Question, opset: int = NEWEST_OPSET) -> bytes:
    """An ONNX file that asks the question; the same structure gives the same bytes.

    Raises ValueError where ONNX has no such operator, or the profile no such operator set.
    """
    if not question.has_model:
        raise ValueError(f"{question.definition.name} on such types is no operator of ONNX")
    require_opset(opset)
    return _model_bytes(question.structure, opset)


def require_opset(opset: int) -> int:
    """The number of an operator set that models can be written for; raises ValueError for any other."""
    if type(opset) is not int or not OLDEST_OPSET <= opset <= NEWEST_OPSET:
        raise ValueError(f"`opset` must be a number from {OLDEST_OPSET} to {NEWEST_OPSET}, not {opset!r}")
    return opset


@lru_cache(_KEPT)
def _model_bytes(structure: Structure, opset: int) -> bytes:
    # Loaded by what needs it: not every runtime is given models, and a child that has died starts anew.
    from sonnx.load.types import TO_ONNX  # noqa: PLC0415  see above
    from sonnx.load.writer import to_bytes  # noqa: PLC0415  see above

    trying = operator_named(structure.operator).trying
    stand_in = trying.asked_as
    if stand_in is not None:
        to = XLA_TYPES[dict(structure.attributes)[trying.converts_to]]
        node = Node(stand_in.name, *_names(structure), {stand_in.attribute: TO_ONNX[to]})
    else:
        node = _onnx_node(structure, opset)
    return to_bytes(_graph(structure, node, opset))


def graph(question: Question, opset: int = NEWEST_OPSET) -> "RunnableGraph":
    """The question as a graph of the profile: of ONNX's operators, or of XLA's.

    Raises ValueError for what no graph holds as a node.
    """
    from sonnx.api import Graph as RunnableGraph  # noqa: PLC0415  as above

    definition, structure = question.definition, question.structure
    if definition.dialect == "xla":
        attributes = dict(structure.attributes)
        node = Node(definition.contract.name, *_names(structure), attributes, domain="xla")
        return RunnableGraph.of(_graph(structure, node, _XLA_OPSET))
    if definition.name not in NODE_OPERATORS:
        raise ValueError(f"{definition.name} is no node of a graph")
    return RunnableGraph.of(_graph(structure, _onnx_node(structure, require_opset(opset)), opset))


def stablehlo_text(question: Question) -> str:
    """The question as text of MLIR in the StableHLO dialect; raises ValueError where XLA has no such type."""
    return graph(question).to_stablehlo()


def _onnx_node(structure: Structure, opset: int) -> Node:
    contract = operator_named(structure.operator).contract
    version = max((version for version in contract.versions if version <= opset), default=0)
    written = {name: value for name, value in structure.attributes if contract.named[name].is_in(version)}
    unsaid = _unsaid(contract, dict(structure.attributes), version)
    if not version or unsaid:
        what = f"{contract.name} with {', '.join(unsaid)}" if unsaid else contract.name
        raise ValueError(f"operator set {opset} has no {what}")
    return Node(contract.name, *_names(structure), written, version=version)


def _unsaid(contract: Contract, attributes: Mapping[str, Any], version: int) -> list[str]:
    """Attributes that a version does not have, and that say something else than what that means."""
    meant = contract.whole({})
    later = [name for name in attributes if not contract.named[name].is_in(version)]
    return [f"{name} = {attributes[name]}" for name in later if attributes[name] != meant[name]]


def _names(structure: Structure) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tensors that the node takes and makes: operands by their own names, an absent one as nothing."""
    present = {name for name, _ in (*structure.inputs, *structure.constants)}
    inputs = operator_named(structure.operator).contract.inputs
    taken = [name if name in present else "" for name in operand_names(inputs, len(present))]
    while taken and not taken[-1]:
        taken.pop()
    return tuple(taken), tuple(name for name, _ in structure.outputs)


def _graph(structure: Structure, node: Node, opset: int) -> Graph:
    return Graph(
        operator_named(structure.operator).folder,
        _values(structure.inputs, node.domain),
        _values(structure.outputs, node.domain),
        (node,),
        tuple(Constant(name, packed.type, unpack(packed)) for name, packed in structure.constants),
        opsets=((node.domain, opset),),
        ir_version=max((ir for first, ir in _IR_VERSIONS.items() if first <= opset), default=_IR_OF_XLA),
        dialect="xla" if node.domain else "onnx",
    )


def _values(types: Iterable[tuple[str, TensorType]], domain: str) -> tuple[Value, ...]:
    dialect: Dialect = "xla" if domain else "onnx"
    return tuple(Value(name, replace(kind, dialect=dialect)) for name, kind in types)
