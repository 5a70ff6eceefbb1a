"""The real XLA as an engine: what it leaves alone, what it gives back, what it says when it cannot."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.extend.backend
import ml_dtypes
import numpy as np
import pytest
from tests.stablehlo.xla_support import (
    HELD,
    Array,
    assert_equal_on_xla,
    case,
    defined,
    on_xla,
    random_bits,
    type_of,
)

from sonnx import xla
from sonnx.model.graph import Constant, Graph, Node, Value
from sonnx.model.tensor_type import TensorType, tensor_type
from sonnx.numeric.bits import same_bits
from sonnx.numeric.environment import require_ieee
from sonnx.stablehlo import engine
from sonnx.stablehlo.engine import EngineError


def clip(low: float, high: float) -> Graph:
    kind = tensor_type("float[3]")
    bounds = [
        Constant(name, tensor_type("float[]"), np.array(bound, np.float32))
        for name, bound in (("low", low), ("high", high))
    ]
    nodes = (Node("Clip", ("x", "low", "high"), ("y",)),)
    return Graph("clip", (Value("x", kind),), (Value("y", kind),), nodes, constants=tuple(bounds))


X = np.array([-1, 0.5, 7], np.float32)


def test_a_graph_runs_on_xla() -> None:
    found = engine.execute(clip(0, 6), {"x": X})
    assert same_bits(found["y"], np.array([0, 0.5, 6], np.float32))


def test_results_are_the_callers_own() -> None:
    first = engine.execute(clip(0, 6), {"x": X})["y"]
    first[...] = 9
    second = engine.execute(clip(0, 6), {"x": X})["y"]
    assert same_bits(second, np.array([0, 0.5, 6], np.float32))


@pytest.mark.parametrize("name", HELD)
def test_arrays_of_every_type_go_in_and_out_unchanged(name: str) -> None:
    array = random_bits(name, (3, 5), 1)
    value = Value("x", type_of(array))
    (found,) = on_xla(Graph("through", (value,), (value,), (), dialect="xla"), {"x": array})
    assert same_bits(found, array)
    assert found.flags.writeable


def test_settings_of_jax_stay_as_they_are() -> None:
    before = jax.config.values["jax_enable_x64"]
    engine.execute(clip(0, 6), {"x": X})
    on_xla(*case("xla.ConvertElementType", {"operand": np.array([1.5])}, {"new_element_type": "s64"}))
    assert jax.config.values["jax_enable_x64"] == before
    assert jax.numpy.ones(1).dtype == (np.float64 if before else np.float32)


def test_xla_leaves_the_arithmetic_of_the_process_alone() -> None:
    tiny = np.full((1, 1, 64, 64), 1e-40, np.float32)
    window = np.ones((1, 1, 3, 3), np.float32)
    attributes = {"window_strides": (1, 1), "padding": "SAME"}
    on_xla(*case("xla.Conv", {"lhs": tiny, "rhs": window}, attributes))
    require_ieee()


def test_the_layout_of_an_input_in_memory_means_nothing() -> None:
    flipped = X[::-1].copy()[::-1]
    swapped = X.astype(">f4")
    readonly = X.copy()
    readonly.flags.writeable = False
    for x in (flipped, swapped, np.repeat(X, 2)[::2], readonly):
        found = engine.execute(clip(0, 6), {"x": x})
        assert same_bits(found["y"], np.array([0, 0.5, 6], np.float32))


def test_any_byte_of_a_condition_but_0_is_true() -> None:
    condition = np.array([0, 1, 2, 255], np.uint8).view(bool)
    ones, twos = np.ones(4, np.float32), np.full(4, 2, np.float32)
    assert_equal_on_xla([case("Where", {"condition": condition, "X": ones, "Y": twos})])


def test_any_byte_of_a_bool_but_0_comes_back_as_1() -> None:
    kind = tensor_type("pred[4]")
    graph = Graph("through", (Value("x", kind),), (Value("x", kind),), (), dialect="xla")
    (found,) = on_xla(graph, {"x": np.array([0, 1, 2, 255], np.uint8).view(bool)})
    assert same_bits(found, np.array([False, True, True, True]))


def test_xla_is_told_to_make_every_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    # On this processor it does so anyway, as far as anybody has seen; elsewhere it does not.
    told: list[dict[str, Any]] = []
    real = jax.extend.backend.get_compile_options

    def recorded(**options: Any) -> Any:
        told.append(options["env_options_overrides"])
        return real(**options)

    monkeypatch.setattr(jax.extend.backend, "get_compile_options", recorded)
    engine.execute(clip(0, 1234), {"x": X})
    names = ("xla_allow_excess_precision", "xla_cpu_enable_fast_math", "xla_cpu_enable_fast_min_max")
    assert told == [dict.fromkeys(names, False)]


def test_float16_is_rounded_between_nodes() -> None:
    # 1 + 2^-12 is 1 in float16; an engine that kept it in float would end with 2^-12.
    attributes = {
        "strides": (1, 1),
        "pads": (0, 0, 0, 0),
        "dilations": (1, 1),
        "group": 1,
        "kernel_shape": (1, 1),
    }

    def half(name: str, values: list[float], shape: tuple[int, ...]) -> Constant:
        array = np.array(values, np.float16).reshape(shape)
        return Constant(name, type_of(array, "onnx"), array)

    graph = Graph(
        "two convolutions",
        (Value("x", tensor_type("float16[1,2,1,1]")),),
        (Value("z", tensor_type("float16[1,1,1,1]")),),
        (
            Node("Conv", ("x", "both"), ("y",), attributes),
            Node("Conv", ("y", "one", "less"), ("z",), attributes),
        ),
        constants=(
            half("both", [1, 1], (1, 2, 1, 1)),
            half("one", [1], (1, 1, 1, 1)),
            half("less", [-1], (1,)),
        ),
        values=(Value("y", tensor_type("float16[1,1,1,1]")),),
    )
    x = {"x": np.array([1, 2.0**-12], np.float16).reshape(1, 2, 1, 1)}
    (found,), (right,) = on_xla(graph, x), defined(graph, x)
    assert same_bits(found, np.zeros((1, 1, 1, 1), np.float16))
    assert same_bits(right, found)


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "c64"])
def test_bits_survive_a_chain_of_moves(name: str) -> None:
    x = random_bits(name, (2, 3), 8)
    dtype = type_of(x).dtype

    def kind(*shape: int) -> TensorType:
        return TensorType(dtype, shape, dialect="xla")

    graph = Graph(
        "moves",
        (Value("x", kind(2, 3)),),
        (Value("d", kind(2, 40, 3)),),
        (
            Node("Broadcast", ("x",), ("a",), {"broadcast_sizes": (4, 5)}, domain="xla"),
            Node("Collapse", ("a",), ("b",), {"dimensions": (0, 1, 2)}, domain="xla"),
            Node("Broadcast", ("b",), ("c",), {"broadcast_sizes": (2,)}, domain="xla"),
            Node("Concatenate", ("c",), ("d",), {"dimension": 0}, domain="xla"),
        ),
        values=(Value("a", kind(4, 5, 2, 3)), Value("b", kind(40, 3)), Value("c", kind(2, 40, 3))),
        dialect="xla",
    )
    assert_equal_on_xla([(graph, {"x": x})])


def test_compiled_graphs_are_kept_up_to_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[bytes] = []
    real = engine._compile

    def counted(encoded: bytes) -> tuple[Any, Any]:
        compiled.append(encoded)
        return real(encoded)

    monkeypatch.setattr(engine, "_compile", counted)
    monkeypatch.setattr(engine, "_KEPT", 2)
    monkeypatch.setattr(engine, "_executables", type(engine._executables)())
    for high in (10, 11, 10, 12, 10, 11):
        found = engine.execute(clip(0, high), {"x": np.array([-1, 99, 1], np.float32)})
        assert same_bits(found["y"], np.array([0, high, 1], np.float32))
    # 11 was the one that had not been used for longest when 12 came.
    assert len(compiled) == 4
    assert len(engine._executables) == 2


def test_threads_share_the_compiled_graphs() -> None:
    def run(number: int) -> Array:
        return engine.execute(clip(0, number % 3 + 100), {"x": np.full(3, 500, np.float32)})["y"]

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(run, range(24)))
    for number, result in enumerate(results):
        assert same_bits(result, np.full(3, number % 3 + 100, np.float32))


def test_without_jax_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(
        EngineError, match=r'XLA comes with jax, which is not here: pip install "jax>=0.8"'
    ) as caught:
        engine.execute(clip(0, 6), {"x": X})
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("missing", ["enable_x64", "extend.backend.get_compile_options"])
def test_a_jax_that_lacks_what_is_needed_is_named(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.delattr(f"jax.{missing}")
    with pytest.raises(EngineError, match=rf"jax {jax.__version__} is too old, or too new; 0.8 to 0.10"):
        engine.execute(clip(0, 6), {"x": X})


def test_what_xla_refuses_is_said_on_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "stablehlo", lambda graph: "module {\x1b\n")
    with pytest.raises(EngineError, match="XLA refuses the graph: ") as caught:
        engine.execute(clip(0, 6), {"x": X})
    assert str(caught.value).isprintable()
    assert str(caught.value).isascii()


def test_no_import_of_sonnx_imports_jax() -> None:
    code = "import sys, sonnx, sonnx.stablehlo.module, sonnx.stablehlo.engine; print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def joined(b: xla.ComputationBuilder) -> None:
    b.concatenate([b.constant("f32[1] {-0}"), b.constant("f32[2] {1, 2}")], 0)


def clamped(b: xla.ComputationBuilder) -> None:
    b.clamp(b.constant("f32[3] {-0, 0.5, 5}"), b.constant("f32[3] {-1, 1, 1}"), b.constant("f32 2"))


def converted(b: xla.ComputationBuilder) -> None:
    b.convert_element_type(b.constant("f64[3] {-1e-30, 1.0000001, 2}"), "f16")


@pytest.mark.parametrize(("compose", "kind"), [(joined, "f32"), (clamped, "f32"), (converted, "f16")])
def test_constants_mean_the_same_where_xla_could_calculate_with_them_beforehand(
    compose: Any, kind: str
) -> None:
    b = xla.ComputationBuilder("constants")
    compose(b)
    right, c = xla.parse_literal(f"{kind}[3] {{-0, 1, 2}}"), b.build()
    assert same_bits(c.run(), right)
    assert same_bits(c.run(engine="xla"), right)


def test_a_platform_that_is_not_there_is_said_in_one_line() -> None:
    code = (
        "import numpy as np; from sonnx import xla; b = xla.ComputationBuilder('b'); "
        "b.parameter(0, 'f32[1]'); b.build().run(np.ones(1, np.float32), engine='xla')"
    )
    environment = {**os.environ, "JAX_PLATFORMS": "nowhere"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, env=environment)
    assert b"sonnx.stablehlo.engine.EngineError: XLA refuses the graph: " in done.stderr.splitlines()[-1]


@pytest.mark.long
def test_fast_arithmetic_in_the_environment_changes_nothing() -> None:
    code = (
        "import numpy as np; from sonnx import xla; b = xla.ComputationBuilder('b'); "
        "x = b.parameter(0, 'f32[1,1,1]'); w = b.parameter(1, 'f32[1,1,2]'); "
        "b.conv_with_general_padding(x, w, (1,), ((1, 0),), (1,), (1,)); "
        "print(b.build().run(np.ones((1, 1, 1), np.float32), np.float32([[[np.inf, 1]]]), engine='xla'))"
    )
    flags = (
        "--xla_cpu_enable_fast_math=true --xla_cpu_fast_math_honor_nans=false "
        "--xla_cpu_fast_math_honor_infs=false --xla_cpu_enable_fast_min_max=true"
    )
    environment = {**os.environ, "XLA_FLAGS": flags}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, env=environment)
    assert done.stdout.strip() == b"[[[nan]]]", done.stderr


def test_subnormal_constants_are_kept_where_all_operands_are_constants() -> None:
    b = xla.ComputationBuilder("tiny")
    tiny = b.constant(np.array(2.0**-1074))
    b.clamp(b.constant(np.array([1.0, 2.0**-1074, -1.0])), tiny, tiny)
    assert same_bits(b.build().run(engine="xla"), np.full(3, 2.0**-1074))


def test_constants_given_to_a_call_are_not_calculated_with_beforehand() -> None:
    inner = xla.ComputationBuilder("product")
    x, w = inner.parameter(0, "s8[1,2]", "x"), inner.parameter(1, "s8[1,2]", "w")
    inner.conv(x, w, (), "VALID")
    b = xla.ComputationBuilder("outer")
    b.call(inner.build(), b.constant("s8[1,2] {{127, 42}}"), b.constant("s8[1,2] {{127, 5}}"))
    assert b.build().run(engine="xla").item() == (127 * 127 + 42 * 5) % 256 - 256 == -45
    join = xla.ComputationBuilder("join")
    join.concatenate([join.parameter(0, "f32[1]", "x"), join.parameter(1, "f32[2]", "y")], 0)
    b = xla.ComputationBuilder("outer")
    b.call(join.build(), b.constant("f32[1] {-0}"), b.constant("f32[2] {1, 2}"))
    assert same_bits(b.build().run(engine="xla"), xla.parse_literal("f32[3] {-0, 1, 2}"))


def joined_away(b: xla.ComputationBuilder) -> Any:
    empty = b.parameter(0, "s8[0,2]", "x")
    base = b.concatenate([empty, b.constant("s8[1,2] {{127, 42}}")], 0)
    return b.conv(base, b.constant("s8[1,2] {{127, 5}}"), (), "VALID")


def made_empty(b: xla.ComputationBuilder) -> Any:
    empty = b.collapse(b.broadcast(b.parameter(0, "s8[1,2]", "x"), (0,)), (0, 1))
    base = b.concatenate([b.constant("s8[1,2] {{127, 42}}"), empty], 0)
    return b.conv(base, b.constant("s8[1,2] {{127, 5}}"), (), "VALID")


def cut_away(b: xla.ComputationBuilder) -> Any:
    base = b.concatenate([b.parameter(0, "s8[1,2,1]", "x"), b.constant("s8[1,2,1] {{{127}, {42}}}")], 2)
    kernel = b.constant("s8[1,2,1] {{{127}, {5}}}")
    return b.conv_with_general_padding(base, kernel, (1,), ((-1, 0),), (1,), (1,))


def summed_over_nothing(b: xla.ComputationBuilder) -> Any:
    base = b.conv(b.parameter(0, "s8[1,0]", "x"), b.constant(np.zeros((2, 0), np.int8)), (), "VALID")
    hundred = b.constant(np.int8(100))
    return b.conv(b.clamp(base, hundred, hundred), b.constant("s8[1,2] {{3, 1}}"), (), "VALID")


@pytest.mark.parametrize(
    ("compose", "right"),
    [(joined_away, -45), (made_empty, -45), (cut_away, -45), (summed_over_nothing, 400 - 512)],
)
def test_integers_wrap_where_xla_can_find_them_out_beforehand(compose: Any, right: int) -> None:
    b = xla.ComputationBuilder("known")
    compose(b)
    c = b.build()
    ((_, shape),) = c.parameters
    x = np.ones(shape.dimensions, np.int8)
    assert c.run(x).ravel().tolist() == c.run(x, engine="xla").ravel().tolist() == [right]


def test_what_is_empty_opens_nothing() -> None:
    b = xla.ComputationBuilder("empty")
    parts = [b.parameter(0, "f32[0]", "x"), b.constant("f32[1] {-0}"), b.constant("f32[2] {1, 2}")]
    b.concatenate(parts, 0)
    found = b.build().run(np.zeros(0, np.float32), engine="xla")
    assert same_bits(found, xla.parse_literal("f32[3] {-0, 1, 2}"))


@pytest.mark.parametrize("sizes", [(2,), (2, 1), (1,)])
def test_payloads_of_bfloat16_survive_a_broadcast_alone(sizes: tuple[int, ...]) -> None:
    b = xla.ComputationBuilder("alone")
    b.broadcast(b.parameter(0, "bf16[3]", "x"), sizes)
    given = np.array([0x7F81, 0xFF85, 0x7FC5], np.uint16).view(ml_dtypes.bfloat16)
    assert same_bits(b.build().run(given, engine="xla"), np.broadcast_to(given, (*sizes, 3)))


def test_a_watch_and_a_seed_are_nothing_for_xla() -> None:
    b = xla.ComputationBuilder("b")
    b.parameter(0, "f32[1]", "x")
    c, x = b.build(), np.ones(1, np.float32)
    with pytest.raises(ValueError, match="cannot be told seed"):
        c.run(x, engine="xla", seed=1)
    with pytest.raises(ValueError, match="cannot be told accumulate, watch"):
        c.run(x, engine="xla", accumulate="fused", watch=lambda step: None)


@pytest.mark.long
def test_the_text_does_not_depend_on_the_order_of_sets() -> None:
    code = (
        "from sonnx import xla; b = xla.ComputationBuilder('b'); x = b.parameter(0, 'f32[2]', 'x'); "
        "y = b.clamp(x, b.constant('f32 0'), b.constant('f32 1')); b.concatenate([y, x, y], 0); "
        "print(b.build().to_stablehlo())"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(texts) == 1
