"""All outputs of a node are planned, computed and emitted; a stand-in has two, which no operator has yet."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.emit.support import assert_passes, files_of, fold, make, needs_gcc, written
from tests.native.support import constant, node, value

import sonnx
from sonnx.emit.project import project, write_folder
from sonnx.evaluate.execution import Settings, execute
from sonnx.model.dtype import DType
from sonnx.model.graph import Graph, Node
from sonnx.model.tensor_type import TensorType
from sonnx.native.engine import Executable
from sonnx.numeric.arrays import Array
from sonnx.operators import catalogue
from sonnx.plan.program import Defined, program
from sonnx.terms.tensors import Given, Made, tensor
from sonnx.terms.tracing import tensorwise
from sonnx.vocabulary.kernel import KernelCall, KernelRequest, KernelStyle, NodeKernels, Variant
from sonnx.vocabulary.operator import Contract, Operand, Operator

INT32 = (DType.INT32,)
X = np.array([-3, 0, 2**30, 7, -(2**31)], np.int32)
DOUBLED = np.array([-6, 0, -(2**31), 14, 0], np.int32)
INVERTED = np.array([2, -1, -(2**30) - 1, -8, 2**31 - 1], np.int32)

KERNELS = """\
#include "shared/kernel.h"
struct parameters { int64_t count; };
void KERNEL(doubled)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)
{
    const uint32_t *const x = (const uint32_t *)operands[0];
    uint32_t *const y = (uint32_t *)operands[1];
    (void)task, (void)rank;
    for (int64_t i = 0; i < p->count; i++) y[i] = x[i] << 1;
}
void KERNEL(inverted)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)
{
    const uint32_t *const x = (const uint32_t *)operands[0];
    uint32_t *const y = (uint32_t *)operands[1];
    (void)task, (void)rank;
    for (int64_t i = 0; i < p->count; i++) y[i] = ~x[i];
}
"""


def kernels(request: KernelRequest) -> NodeKernels:
    """A call for each output; those for outputs that nobody has named are left out."""
    x = request.inputs["x"]
    return NodeKernels(
        tuple(
            KernelCall(
                "onnx/apart.c",
                operand,
                Variant("int32", (("VARIANT", "int32"),)),
                (("count", request.types[x].sizes[0]),),  # type: ignore[index]  # it is known
                (x,),
                (name,),
                1,
                KERNELS,
            )
            for operand, name in request.outputs.items()
        )
    )


DEFINED = Operator(
    Contract(
        "SonnxApart",
        (1,),
        "Twice x modulo 2^32, and its bits inverted.",
        (Operand("x", "x", "any", INT32),),
        (
            Operand("doubled", "y", "twice x", INT32),
            Operand("inverted", "z", "every bit inverted", INT32, optional=True),
        ),
        (),
        (),
        lambda call: {"doubled": call.inputs["x"], "inverted": call.inputs["x"]},
    ),
    meaning=lambda arrays, _: {"doubled": arrays["x"] << 1, "inverted": ~arrays["x"]},
)
COMPILED = replace(DEFINED, kernels=kernels)


@pytest.fixture(params=[DEFINED, COMPILED], ids=["defined", "compiled"])
def apart(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Operator:
    monkeypatch.setitem(catalogue._BY_KEY, DEFINED.key, request.param)
    found: Operator = request.param
    return found


def graph(*outputs: str) -> Graph:
    """One node, whose outputs may be the model's."""
    return Graph(
        "example",
        (value("x", "int32", X.shape),),
        tuple(value(name, "int32", X.shape) for name in outputs if name),
        (Node("SonnxApart", ("x",), outputs, {}, "n"),),
        opsets=(("", 22),),
    )


@pytest.mark.parametrize("outputs", [("y", "z"), ("y", ""), ("y",), ("", "z")])
def test_every_output_that_has_a_name_is_computed(outputs: tuple[str, ...], apart: Operator) -> None:
    given = {"x": X}
    wanted = {"y": DOUBLED, "z": INVERTED}
    planned = program(graph(*outputs), "separate")
    assert {name for step in planned.steps for name in step.writes} == {name for name in outputs if name}
    assert set(planned.nodes) == {(0,)}
    assert any(isinstance(step, Defined) for step in planned.steps) == (apart is DEFINED)
    for found in (execute(graph(*outputs), given, Settings()), Executable(planned).run(given)):
        assert {name: array.tolist() for name, array in found.items()} == {
            name: wanted[name].tolist() for name in outputs if name
        }


def test_an_output_that_only_another_node_takes_has_a_place_of_its_own(apart: Operator) -> None:
    bounds = [constant(name, np.array(bound, np.int32)) for name, bound in (("low", -5), ("high", 5))]
    limited = replace(
        graph("y", "z"),
        nodes=(*graph("y", "z").nodes, node("Clip", ("z", "low", "high"), "t")),
        outputs=(value("t", "int32", X.shape), value("y", "int32", X.shape)),
        constants=tuple(bounds),
        values=(value("z", "int32", X.shape),),
    )
    planned = program(limited, "separate")
    assert [each.name for each in planned.temporaries()] == ["z"]
    found = Executable(planned).run({"x": X})
    assert found["t"].tolist() == [2, -1, -5, -5, 5]
    assert found["y"].tolist() == DOUBLED.tolist()


def test_what_follows_is_done_with_the_first_output_and_the_others_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[KernelRequest] = []

    def noted(request: KernelRequest) -> NodeKernels:
        asked.append(request)
        return kernels(replace(request, after=None))

    fusing = replace(COMPILED, kernels=noted, is_followed=True)
    monkeypatch.setitem(catalogue._BY_KEY, DEFINED.key, fusing)
    bounds = [constant(name, np.array(bound, np.int32)) for name, bound in (("low", -5), ("high", 5))]
    limited = replace(
        graph("y", "z"),
        nodes=(*graph("y", "z").nodes, node("Clip", ("y", "low", "high"), "t")),
        outputs=(value("t", "int32", X.shape), value("z", "int32", X.shape)),
        constants=tuple(bounds),
        values=(value("y", "int32", X.shape),),
    )
    planned = program(limited, "separate")
    assert [dict(request.outputs) for request in asked] == [{"doubled": "t", "inverted": "z"}]
    assert asked[0].after is not None
    assert asked[0].after.reads == ("low", "high")
    assert planned.nodes == ((0, 1), (0, 1))


def test_every_output_is_emitted_in_one_function_of_the_node(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(catalogue._BY_KEY, DEFINED.key, COMPILED)
    model = sonnx.Graph.of(graph("y", "z"))
    text = files_of(model, kernels="fast")["model.c"].decode()
    assert text.count("static void node_0_n(void)\n{") == 1
    done = make(written(tmp_path / "project", model, kernels="fast"))
    assert done.returncode == 0, done.stdout + done.stderr


def parted(x: Given) -> tuple[Made, Made]:
    """The first two elements, and the rest."""
    (size,) = x.shape
    return tensor([2], lambda i: x[i]), tensor([size - 2], lambda i: x[i + 2])


PARTED = Operator(
    replace(
        DEFINED.contract,
        name="SonnxParted",
        outputs=(
            Operand("head", "y", "the first two", INT32),
            Operand("tail", "z", "the rest", INT32, optional=True),
        ),
        output_types=lambda call: {
            name: TensorType(DType.INT32, shape) for name, shape in {"head": (2,), "tail": (3,)}.items()
        },
    ),
    tensorwise(parted),
)


def parted_by_a_loop(given: Mapping[str, Array]) -> Mapping[str, Array]:
    """Both parts, one element after the other."""
    head, tail = np.zeros(2, np.int32), np.zeros(3, np.int32)
    for i in range(2):
        head[i] = given["x"][i]
    for i in range(3):
        tail[i] = given["x"][2 + i]
    return {"y": head, "z": tail}


@needs_gcc
@pytest.mark.parametrize("outputs", [("y", "z"), ("y", ""), ("y",), ("", "z")])
def test_outputs_of_one_definition_are_copied_where_they_have_a_name(
    outputs: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(catalogue._BY_KEY, PARTED.key, PARTED)
    kinds = {name: value(name, "int32", (size,)) for name, size in {"y": 2, "z": 3}.items()}
    model = replace(
        graph(*outputs),
        outputs=tuple(kinds[name] for name in outputs if name),
        nodes=(Node("SonnxParted", ("x",), outputs, {}, "n"),),
    )
    wanted = [name for name in outputs if name]

    def by_a_loop(given: Mapping[str, Array]) -> Mapping[str, Array]:
        made = parted_by_a_loop(given)
        return {name: made[name] for name in wanted}

    planned = program(model, "separate")
    assert not planned.defines
    assert [step.writes for step in planned.steps] == [(name,) for name in wanted]
    for found in (execute(model, {"x": X}, Settings()), Executable(planned).run({"x": X})):
        assert list(found) == wanted
        for name, array in by_a_loop({"x": X}).items():
            assert found[name].tobytes() == array.tobytes()
    styles: tuple[KernelStyle, ...] = ("plain", "fast")
    for style in styles:
        write_folder(tmp_path / style, project(model, by_a_loop, version="test", kernels=style, fold=fold))
        assert_passes(make(tmp_path / style))
