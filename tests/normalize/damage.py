"""Models with something wrong in them, drawn with a seed, and what of a model its outputs depend on."""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from random import Random
from typing import Any

import numpy as np
from onnx import AttributeProto, ModelProto, NodeProto, ValueInfoProto, helper, numpy_helper

_SIZES = (1, 2, 3, 6, 7, "n", "batch", None)


def damaged(model: ModelProto, random: Random) -> None:
    """Change one thing, right or wrong: a name, a number, a type, a node."""
    bodies = [body for body in (model.graph.node, *(f.node for f in model.functions)) if len(body)]
    body = random.choice(bodies)
    node = random.choice(body)
    names = [name for nodes in bodies for one in nodes for name in (*one.input, *one.output) if name]
    kinds = (_tensors, _attributes, _body, _types, _functions, _initializers)
    random.choice(kinds)(model, body, node, names, random)


def _tensors(model: ModelProto, body: Any, node: NodeProto, names: list[str], random: Random) -> None:
    if node.input and random.random() < 0.6:
        node.input[random.randrange(len(node.input))] = random.choice([*names, ""])
    elif random.random() < 0.5:
        node.output[0] = random.choice(names)
    else:
        model.graph.output.append(helper.make_empty_tensor_value_info(random.choice(names)))


def _attributes(model: ModelProto, body: Any, node: NodeProto, names: list[str], random: Random) -> None:
    if not node.attribute:
        return
    one = random.choice(node.attribute)
    if random.random() < 0.3:
        node.attribute.remove(one)
    elif one.type == AttributeProto.INTS and one.ints:
        one.ints[random.randrange(len(one.ints))] = random.choice([-1, 0, 1, 2, 3])
    elif one.type == AttributeProto.INT:
        one.i = random.choice([0, 1, 2, 3, -1])
    elif one.type == AttributeProto.STRING:
        one.s = random.choice([b"SAME_UPPER", b"VALID", b"NOTSET", b"SAME_LOWER", b"same"])


def _body(model: ModelProto, body: Any, node: NodeProto, names: list[str], random: Random) -> None:
    change = random.choice(["remove", "repeat", "domain", "operator", "version"])
    if change == "remove":
        body.remove(node)
    elif change == "repeat":
        body.append(deepcopy(node))
    elif change == "domain":
        node.domain = random.choice(["", "own"])
    elif change == "operator":
        node.op_type = random.choice(["Clip", "Where", "Expand", "Conv", "Unheard", "Unseen"])
    else:
        model.opset_import[0].version = random.choice([11, 12, 13, 17, 21])


def _types(model: ModelProto, body: Any, node: NodeProto, names: list[str], random: Random) -> None:
    if random.random() < 0.5:
        model.graph.value_info.append(_value(random.choice(names), random))
    else:
        value = random.choice([*model.graph.input, *model.graph.output])
        value.CopyFrom(_value(value.name, random))


def _value(name: str, random: Random) -> ValueInfoProto:
    shape = [random.choice(_SIZES) for _ in range(random.choice([4, 4, 4, 3, 0]))]
    return helper.make_tensor_value_info(name, random.choice([1, 1, 1, 7, 11]), shape)


def _functions(model: ModelProto, body: Any, node: NodeProto, names: list[str], random: Random) -> None:
    if not model.functions:
        return
    function = random.choice(model.functions)
    if random.random() < 0.6:
        inner = [name for one in function.node for name in one.output]
        function.value_info.append(_value(random.choice([*function.input, *function.output, *inner]), random))
        model.ir_version = 10
    elif random.random() < 0.5:
        del function.attribute[:]
    else:
        function.output[0] = random.choice(["a", "m", "k"])


def _initializers(model: ModelProto, body: Any, node: NodeProto, names: list[str], random: Random) -> None:
    held = model.graph.initializer
    if held and random.random() < 0.6:
        one = random.choice(held)
        if one.dims:
            one.dims[random.randrange(len(one.dims))] = random.choice([1, 2, 3])
    else:
        held.append(
            numpy_helper.from_array(np.array(random.choice([0, 1]), np.float32), random.choice(names))
        )


def alive(model: ModelProto) -> ModelProto:
    """The same model without what no output depends on."""
    model = deepcopy(model)
    graph = model.graph
    before = {name for node in graph.node for name in node.output}
    needed = _keep_needed(graph.node, [value.name for value in graph.output])
    gone = before - {name for node in graph.node for name in node.output}
    inputs = {value.name for value in graph.input}
    _keep(graph.value_info, [value for value in graph.value_info if value.name not in gone])
    _keep(graph.initializer, [held for held in graph.initializer if held.name in needed | inputs])
    called: set[str] = set()
    todo = [node.op_type for node in graph.node]
    bodies = {function.name: function for function in model.functions}
    while todo:
        name = todo.pop()
        if name in bodies and name not in called:
            called.add(name)
            _keep_needed(bodies[name].node, bodies[name].output)
            todo += [node.op_type for node in bodies[name].node]
    _keep(model.functions, [function for function in model.functions if function.name in called])
    return model


def _keep_needed(nodes: Any, outputs: Iterable[str]) -> set[str]:
    """Remove nodes that no output needs, directly or through others; answers the names that are needed."""
    needed = set(outputs) - {""}
    size = -1
    while size < len(needed):
        size = len(needed)
        for node in nodes:
            if needed.intersection(node.output):
                needed.update(name for name in node.input if name)
    _keep(nodes, [node for node in nodes if needed.intersection(node.output)])
    return needed


def _keep(field: Any, kept: Sequence[Any]) -> None:
    copies = deepcopy(list(kept))
    del field[:]
    field.extend(copies)
