"""Emitted C names the nodes of the model: parts of compositions and functions, and what normalizing adds."""

import re

import pytest
from tests.emit.support import files_of

import sonnx
from sonnx.emit.places import places
from sonnx.model.graph import Function, Graph, Node, Value
from sonnx.model.tensor_type import tensor_type
from sonnx.prove.forms import oddities
from sonnx.vocabulary.kernel import KernelStyle

KIND = tensor_type("float[6]")
OPSETS = (("", 22), ("my", 1))


def values(*names: str) -> tuple[Value, ...]:
    return tuple(Value(name, KIND) for name in names)


def relu(taken: str, made: str, name: str) -> Node:
    return Node("Relu", (taken,), (made,), {}, name, version=14)


def swish(taken: str, made: str, name: str) -> Node:
    return Node("HardSwish", (taken,), (made,), {}, name, version=22)


BLOCK = Function(
    *("Block", "my", ("a",), ("c",), (relu("a", "b", "first"), swish("b", "c", "second"))),
    values=values("b"),
    opsets=OPSETS,
)
OUTER = Function(
    *(
        "Outer",
        "my",
        ("a",),
        ("c",),
        (Node("Block", ("a",), ("b",), {}, "block", "my"), relu("b", "c", "/x/")),
    ),
    values=values("b"),
    opsets=OPSETS,
)
NET = Graph(
    "net",
    values("x"),
    values("y"),
    (swish("x", "t", "swish"), Node("Outer", ("t",), ("u",), {}, "call", "my"), relu("u", "y", "")),
    values=values("t", "u"),
    functions=(BLOCK, OUTER),
    opsets=OPSETS,
)
TITLES = [
    "Node 0 `swish`: HardSwish (D-HARDSWISH), part 1 of 2: HardSigmoid",
    "Node 0 `swish`: HardSwish (D-HARDSWISH), part 2 of 2: Mul",
    "Node 1 `call`: Outer, part 1 of 4: `block` Block: `first` Relu",
    "Node 1 `call`: Outer, part 2 of 4: `block` Block: `second` HardSwish (D-HARDSWISH): HardSigmoid",
    "Node 1 `call`: Outer, part 3 of 4: `block` Block: `second` HardSwish (D-HARDSWISH): Mul",
    "Node 1 `call`: Outer, part 4 of 4: `/x/` Relu",
    "Node 2: Relu",
]
LABELS = ["0_1", "0_2", "1_1", "1_2", "1_3", "1_4", "2"]


def titles(model: str) -> list[str]:
    return re.findall(r"^/\* ((?:Node|New node) .*)$", model, re.MULTILINE)


@pytest.mark.parametrize("kernels", ["plain", "fast"])
@pytest.mark.parametrize("is_normalized", [False, True])
def test_comments_name_the_nodes_of_the_model_and_their_parts(
    kernels: KernelStyle, is_normalized: bool
) -> None:
    model = sonnx.Graph.of(NET)
    texts = files_of(model.normalize() if is_normalized else model, kernels=kernels)
    text, readme = texts["model.c"].decode(), texts["README.md"].decode()
    assert titles(text) == TITLES
    functions = re.findall(r"^static void node_(\w+)\(void\)\n\{", text, re.MULTILINE)
    # Of nodes that are done together the first one names the function.
    labels = LABELS if kernels == "plain" else LABELS[:1]
    assert [re.match(r"\d+(_\d)?", each)[0] for each in functions] == labels  # type: ignore[index]  # it does
    rows = [line.split(" | ") for line in readme.splitlines() if line.startswith("| `node_")]
    done = functions if kernels == "plain" else functions * len(LABELS)
    assert [row[0] for row in rows] == [f"| `node_{each}`" for each in done]
    assert rows[0][1:3] == ["0 `swish`, part 1 of 2", "HardSwish (D-HARDSWISH): HardSigmoid"]
    assert rows[5][1:3] == ["1 `call`, part 4 of 4", "Outer: `/x/` Relu"]
    assert rows[6][1:3] == ["2", "Relu"]


def test_contracts_keep_their_rulings_and_each_call_has_its_own_label() -> None:
    files = {
        name: text.decode()
        for name, text in files_of(sonnx.Graph.of(NET)).items()
        if name.endswith(("c", "h"))
    }
    model = files["model.c"]
    assert model.count("D-HARDSIGMOID: Otherwise it is alpha*x + beta") == 2
    assert model.count("D-RELU: What is below zero becomes +0.") >= 3
    assert re.findall(r"ghost after_(\w+): ;", model) == LABELS
    assert list(oddities(files)) == []
    for wrong in ("after_0_2", "after_00_1", "after_1"):
        changed = {**files, "model.c": model.replace("ghost after_0_1: ;", f"ghost {wrong}: ;")}
        assert [what for _, _, what in oddities(changed)] == ["a call of node 0 without its label"]


def test_the_only_node_of_a_function_is_a_part_of_its_call() -> None:
    alone = Function("Alone", "my", ("a",), ("b",), (relu("a", "b", "inside"),), opsets=OPSETS)
    call = Node("Alone", ("x",), ("y",), {}, "call", "my")
    net = Graph("one", values("x"), values("y"), (call,), functions=(alone,), opsets=OPSETS)
    (found,) = places(net)
    assert (found.title, found.label) == ("Node 0 `call`: Alone, part 1 of 1: `inside` Relu", "0_1")


def test_what_normalizing_adds_has_no_number_of_the_model() -> None:
    kinds = {"c": "bool[2,6]", "x": "float[6]", "y": "float[2,6]"}
    net = Graph(
        "wide",
        tuple(Value(name, tensor_type(text)) for name, text in kinds.items()),
        (Value("z", tensor_type("float[2,6]")),),
        (Node("Where", ("c", "x", "y"), ("t",), {}, "choose", version=16), relu("t", "z", "last")),
        values=(Value("t", tensor_type("float[2,6]")),),
        opsets=(("", 22),),
    )
    model = sonnx.Graph.of(net).normalize()
    found = places(model)
    assert [each.label for each in found] == ["new_1", "0", "1"]
    assert [each.title.split("`")[0] for each in found] == ["New node ", "Node 0 ", "Node 1 "]
    assert found[0].title.endswith("`: Expand")
    assert found[0].cells[0].startswith("new `")
    files = {name: text.decode() for name, text in files_of(model).items() if name.endswith(("c", "h"))}
    assert titles(files["model.c"]) == [each.title for each in found]
    assert list(oddities(files)) == []
    written = files["model.c"].replace("ghost after_new_1: ;", "ghost after_0: ;")
    assert [what for _, _, what in oddities({**files, "model.c": written})] == [
        "a call of node new_1 without its label"
    ]
