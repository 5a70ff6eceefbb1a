"""Every operator in every operator set of ONNX: what is taken means the same there, the rest is a finding.

What ONNX says of a version is read off its schemas, which the contracts know nothing of.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from onnx import defs, helper
from tests import budgets
from tests.check.files import graph_of
from tests.normalize.support import normalize, read

from sonnx.check.models import check_graph
from sonnx.load.writer import to_proto
from sonnx.model.dtype import DType
from sonnx.model.graph import Graph
from sonnx.operators import NODE_OPERATORS
from sonnx.operators.rules.values import as_float
from sonnx.vocabulary.call import Call
from sonnx.vocabulary.operator import Attribute, Operand, Operator, goes_by

pytestmark = pytest.mark.measured

NEWEST = defs.onnx_opset_version()
# In operator set 13 profile and contracts begin; before set 7 attributes said how operators broadcast.
FIRST, BROADCASTING_IMPLIED = 13, 7
# Versions since operator set 13 that are not covered, and why.
REFUSED: Mapping[tuple[str, int], str] = {}
OPERATORS = pytest.mark.parametrize("operator", NODE_OPERATORS.values(), ids=lambda op: op.name)
Schema = Any


@cache
def schemas(name: str) -> Mapping[int, Schema]:
    """The schema of an operator in each operator set that has it."""
    found = {}
    for opset in range(1, NEWEST + 1):
        try:
            found[opset] = defs.get_schema(name, opset, "")
        except defs.SchemaError:
            continue
    return found


def asked_sets(operator: Operator) -> Iterator[tuple[int, Schema]]:
    """The operator sets, each with its schema; in the quick tier the first and last of a schema."""
    found = schemas(operator.contract.name)
    ends = {BROADCASTING_IMPLIED - 1, BROADCASTING_IMPLIED, FIRST - 1, FIRST, NEWEST}
    for opset, schema in found.items():
        beside = [found[near] for near in (opset - 1, opset + 1) if near in found]
        changes = len(beside) < 2 or any(other.since_version != schema.since_version for other in beside)
        if budgets.deep or opset in ends or changes:
            yield opset, schema


def good_call(operator: Operator, version: int | None = None) -> Call:
    """A call that obeys every rule, without attributes that a version does not have."""
    contract = operator.contract
    good = contract.rules[0].passing
    assert isinstance(good, Call)
    given = {n: v for n, v in good.attributes.items() if contract.named[n].is_in(version)}
    return replace(good, attributes=given, version=version, outputs={})


def model(operator: Operator, opset: int, **types: DType) -> Graph:
    """A file's model of one node; operands may have other types than those of the good call."""
    since = schemas(operator.contract.name)[opset].since_version
    asked = good_call(operator, since)
    inputs = {name: replace(kind, dtype=types.get(name, kind.dtype)) for name, kind in asked.inputs.items()}
    return read(to_proto(graph_of(replace(asked, inputs=inputs), opset)))


def sharing(operator: Operator, operand: Operand) -> list[str]:
    """The operands that have the type of one, by name, itself among them."""
    variable = operand.variable
    same = [
        each
        for each in operator.contract.inputs
        if each is operand or (variable and each.variable == variable)
    ]
    return [name for name in good_call(operator).inputs if any(goes_by(each, name) for each in same)]


def types_in(schema: Schema, position: int) -> set[str]:
    formal = schema.inputs[min(position, len(schema.inputs) - 1)]
    return {text.removeprefix("tensor(").removesuffix(")") for text in formal.types}


@pytest.mark.thinned
@OPERATORS
def test_in_every_operator_set_a_call_passes_or_the_version_is_a_finding(operator: Operator) -> None:
    versions = operator.contract.versions
    for opset, schema in asked_sets(operator):
        if opset < FIRST:
            continue
        done = normalize(model(operator, opset))
        if schema.since_version in versions:
            assert done.findings == (), opset
        else:
            assert (operator.name, schema.since_version) in REFUSED
            (found,) = done.findings
            assert found.rule == "graph.D9"
            assert found.values[0].value == str(schema.since_version)
            assert operator.name in found.values[0].note
            assert all(str(version) in found.help for version in versions)


@OPERATORS
def test_what_is_covered_has_the_operands_of_the_schema(operator: Operator) -> None:
    option = defs.OpSchema.FormalParameterOption
    for version in operator.contract.versions:
        schema = defs.get_schema(operator.contract.name, version, "")
        for mine, formal in (
            *zip(operator.contract.inputs, schema.inputs, strict=True),
            *zip(operator.contract.outputs, schema.outputs, strict=False),
        ):
            assert mine.variadic == (formal.option == option.Variadic), (version, mine.name)
            leaves_out = mine.optional or mine.optional_in_onnx
            assert leaves_out == (formal.option == option.Optional), (version, mine.name)
        # Outputs that the profile does not have may be left out.
        rest = schema.outputs[len(operator.contract.outputs) :]
        assert all(formal.option == option.Optional for formal in rest), version


@OPERATORS
def test_operands_are_called_as_in_onnx(operator: Operator) -> None:
    schema = defs.get_schema(operator.contract.name, operator.contract.versions[-1], "")
    # A schema calls the first tensor of several data_0.
    wanted = [formal.name for formal in schema.inputs]
    mine = [
        f"{o.name}0" if o.variadic and f"{o.name}0" in wanted else o.name for o in operator.contract.inputs
    ]
    assert mine == wanted


@OPERATORS
def test_every_type_that_passes_is_one_of_the_version(operator: Operator) -> None:
    contract = operator.contract
    for version in contract.versions:
        schema = defs.get_schema(contract.name, version, "")
        for position, operand in enumerate(contract.inputs):
            for dtype in () if operand.constant else set(operand.types) - {DType.REAL}:
                types = dict.fromkeys(sharing(operator, operand), dtype)
                findings = check_graph(model(operator, max(version, FIRST), **types))
                if dtype.value in types_in(schema, position):
                    assert findings == (), (version, dtype)
                else:
                    assert [each.rule for each in findings if each.rule.endswith(".D9")], (version, dtype)


def written_default(schema: Schema, attribute: Attribute) -> Any:
    """The default of ONNX's schema; None where it has none."""
    proto = schema.attributes[attribute.name].default_value
    if not proto.type:
        return None
    value = helper.get_attribute_value(proto)
    return value.decode() if isinstance(value, bytes) else value


@OPERATORS
def test_defaults_are_those_of_the_schema(operator: Operator) -> None:
    contract = operator.contract
    for version in contract.versions:
        schema = defs.get_schema(contract.name, version, "")
        for attribute in contract.attributes:
            if attribute.mode or not attribute.is_in(version):
                continue
            assert attribute.name in schema.attributes, (version, attribute.name)
            said, default = written_default(schema, attribute), attribute.default_in_onnx
            if said is not None and not callable(default):
                said = as_float(said) if attribute.kind == "float" else said
                mine = as_float(default) if attribute.kind == "float" else default
                assert mine == said, (version, attribute.name)
            assert (default is None) == (schema.attributes[attribute.name].required), attribute.name


@pytest.mark.thinned
@OPERATORS
def test_what_is_left_out_is_written(operator: Operator) -> None:
    for opset, schema in asked_sets(operator):
        if opset < FIRST or schema.since_version not in operator.contract.versions:
            continue
        given = model(operator, opset)
        (node,) = given.nodes
        needed = {n: v for n, v in node.attributes.items() if schema.attributes[n].required}
        bare = replace(given, nodes=(replace(node, attributes=needed),))
        done = normalize(bare)
        written = done.graph.nodes[-1].attributes
        there = {a.name for a in operator.contract.attributes if not a.mode and a.is_in(schema.since_version)}
        assert set(written) == there, opset
        for attribute in operator.contract.attributes:
            if attribute.name in there - set(needed) and written_default(schema, attribute) is not None:
                said = written_default(schema, attribute)
                assert written[attribute.name] == (as_float(said) if attribute.kind == "float" else said)


def old_sets(operator: Operator) -> Iterator[tuple[int, Schema]]:
    for opset, schema in asked_sets(operator):
        if BROADCASTING_IMPLIED <= opset < FIRST:
            yield opset, schema


def in_old_form(given: Graph, formerly: Sequence[str]) -> Graph:
    """The model with these operands as attributes, each the number 0."""
    (node,) = given.nodes
    taken = tuple(name for name in node.inputs if name not in formerly)
    inputs = tuple(value for value in given.inputs if value.name in taken)
    held = {**node.attributes, **dict.fromkeys(formerly, 0.0)}
    return replace(given, inputs=inputs, nodes=(replace(node, inputs=taken, attributes=held),))


@pytest.mark.thinned
@OPERATORS
def test_a_model_of_an_old_set_is_written_anew_or_the_set_is_a_finding(operator: Operator) -> None:
    contract = operator.contract
    for opset, schema in old_sets(operator):
        formerly = [*contract.formerly.get(schema.since_version, {})]
        given = in_old_form(model(operator, opset), formerly)
        done = normalize(given)
        if contract.oldest > opset:
            assert [found.rule for found in done.findings][:1] == ["graph.D9"], opset
            assert operator.name in done.findings[0].help
            assert done.graph == given
            continue
        assert done.findings == (), opset
        assert done.graph.opsets == (("", FIRST),)
        assert done.graph.nodes[-1].version == schemas(contract.name)[FIRST].since_version


@pytest.mark.thinned
@OPERATORS
def test_what_is_written_anew_has_the_same_form_in_the_old_schema(operator: Operator) -> None:
    contract = operator.contract
    for opset, schema in old_sets(operator):
        if contract.oldest > opset:
            continue
        newer = schemas(contract.name)[FIRST]
        formerly = contract.formerly.get(schema.since_version, {})
        assert [i.name for i in schema.inputs] == [i.name for i in newer.inputs if i.name not in formerly]
        assert set(schema.attributes) == {*newer.attributes, *formerly}
        if any(rule.made_from == "no broadcasting" for rule in contract.rules):
            assert "broadcasting" in schema.doc, opset
        for name, default in formerly.items():
            assert default == as_float(helper.get_attribute_value(schema.attributes[name].default_value))
        for name in newer.attributes:
            old, new = schema.attributes[name].default_value, newer.attributes[name].default_value
            assert old.SerializeToString() == new.SerializeToString(), (opset, name)
            assert schema.attributes[name].required == newer.attributes[name].required


@pytest.mark.thinned
@OPERATORS
def test_a_set_before_the_seventh_is_a_finding_whatever_it_holds(operator: Operator) -> None:
    for opset, _ in asked_sets(operator):
        if opset >= BROADCASTING_IMPLIED:
            continue
        given = model(operator, opset)
        done = normalize(given)
        assert done.graph == given
        found = done.findings[0]
        assert found.rule == "graph.D9"
        assert "sets before 7 write broadcasting as attributes of operators" in found.help
