"""Normalizing preserves meaning: onnxruntime on the model as it was, sonnx on what became of it.

Where nothing is added up, both must agree in every bit (any NaN for any NaN). Where sums occur, either all of
them are exact, so that their order does not matter, or the distance that the error bound of any order allows
is the limit. onnxruntime has a will of its own on the sign of zero in two places, and only these are excused:
its Where turns a chosen -0.0 into +0.0 (D-WHERE-2), and its Conv need not start from +0.
"""

from collections import Counter
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import onnxruntime
import pytest
from tests.budgets import examples, thinned
from tests.loops import for_each
from tests.normalize.damage import alive, damaged
from tests.normalize.generated import Made, convolution, moving, network
from tests.normalize.support import Array, normalize, read
from tests.operators.support import FLOATS, INTEGERS, special_values

import sonnx
from sonnx.check.models import check_graph
from sonnx.normalize.sizes import open_sizes

NETWORKS = range(80)
SINGLE = range(40)
# Which of the operators onnxruntime 1.31 has for a type; it lacks the rest.
HAS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("float16", "float", "double"), ("Clip", "Where", "Expand")),
    **dict.fromkeys(("int8", "int32", "int64", "uint8", "uint32"), ("Clip", "Where", "Expand")),
    "uint64": ("Clip", "Expand"),
    "string": ("Where", "Expand"),
    **dict.fromkeys(("int16", "uint16", "bool"), ("Expand",)),
}
HELD = FLOATS | INTEGERS | {"bool": np.dtype(bool), "string": np.dtype(object)}


def witness(made: Made) -> dict[str, Array]:
    """What onnxruntime makes of the model, on one thread and without optimisations."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3  # its warnings about unused initializers are meant for others
    session = onnxruntime.InferenceSession(
        made.model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, made.feeds), strict=True))


def conforming(made: Made) -> sonnx.Graph:
    """The model after normalizing; before, it does not conform."""
    given = read(made.model)
    assert check_graph(given) != ()
    done = normalize(given, made.dims)
    assert done.findings == ()
    return sonnx.Graph.of(done.graph)


def zeros_excused(ours: Array, theirs: Array) -> Array:
    """Our results with the sign of their zeros, where both are zeros."""
    return np.where((ours == 0) & (theirs == 0), theirs, ours).astype(ours.dtype)


@pytest.mark.thinned
@for_each("seed", thinned(NETWORKS, 40))
def test_networks_of_exact_sums_give_the_same_numbers(seed: int) -> None:
    made = network(seed)
    theirs, ours = witness(made), conforming(made).run(made.feeds)
    assert ours.keys() == theirs.keys()
    for name, result in ours.items():
        assert np.all(np.abs(result) < 2**24)  # so every sum was exact
        assert sonnx.same_bits(zeros_excused(result, theirs[name]), theirs[name])


@pytest.mark.thinned
@for_each("name", list(HAS))
@for_each("seed", thinned(range(8), 4))
def test_models_that_only_move_elements_give_the_same_bits(name: str, seed: int) -> None:
    special = np.empty(len(special_values(name)), HELD[name])
    special[:] = special_values(name)
    made = moving(seed, HELD[name], HAS[name], special)
    ((output, theirs),) = witness(made).items()
    ours = conforming(made).run(made.feeds)[output]
    chosen = any(node.op_type == "Where" for node in made.model.graph.node) and name in FLOATS
    compared = zeros_excused(ours, theirs) if chosen else ours
    assert sonnx.same_bits(compared, theirs, nan="any")
    if chosen:  # and only minus may become plus
        assert not np.any(np.signbit(theirs) & ~np.signbit(ours) & (ours == 0))


@pytest.mark.thinned
@for_each("seed", thinned(SINGLE, 20))
def test_a_convolution_is_as_near_to_the_exact_one_as_any_order_must_be(seed: int) -> None:
    made = convolution(seed)
    graph = conforming(made)
    ((output, theirs),) = witness(made).items()
    ours, exact = graph.run(made.feeds)[output], graph.run(made.feeds, domain="real")[output]
    bound = bound_of(graph, made.feeds)
    assert np.all(np.isfinite(bound))
    for result in (ours, theirs):
        distances = [abs(Fraction(float(a)) - b) for a, b in zip(result.flat, exact.flat, strict=True)]
        assert all(distance <= Fraction(limit) for distance, limit in zip(distances, bound.flat, strict=True))


def bound_of(graph: sonnx.Graph, feeds: dict[str, Array]) -> Array:
    """How far the result of the only node may be from the exact one, whatever the order of its sum."""
    (node,) = graph.nodes
    tensors: dict[str, Any] = {**graph.data, **feeds}
    operands = [tensors[name] for name in node.inputs]
    bound: Array = sonnx.error_bound("Conv", *operands, order="any", **node.attributes)
    return bound


@pytest.mark.thinned
def test_no_damage_gets_lost_on_the_way() -> None:
    """Whatever is wrong with a model, either it is left for the check, or what conforms means the same.

    What no output depends on is taken out before onnxruntime looks: that much may get lost.
    """
    conforming_after_all = 0
    number = examples(200)
    for seed in range(number):
        random = Random(seed)
        made = network(random.randrange(400))
        for _ in range(random.choice([1, 1, 2])):
            damaged(made.model, random)
        given = read(made.model)
        done = normalize(given, {name: made.dims[name] for name in open_sizes(given) if name in made.dims})
        wanted = {value.name: value.type.sizes for value in done.graph.inputs}
        fed = {name: array for name, array in made.feeds.items() if name in wanted}
        if done.findings or {name: array.shape for name, array in fed.items()} != wanted:
            continue
        conforming_after_all += 1
        ours = sonnx.Graph.of(done.graph).run(fed)
        theirs = witness(Made(alive(made.model), fed, {}, set()))
        for name, result in ours.items():
            assert sonnx.same_bits(zeros_excused(result, theirs[name]), theirs[name]), seed
    assert 0.2 * number <= conforming_after_all <= 0.6 * number


def test_the_family_has_every_kind_of_nonconformity_many_times() -> None:
    kinds = Counter(kind for seed in NETWORKS for kind in network(seed).kinds)
    assert len(NETWORKS) >= 60
    assert set(kinds) == {
        "absent attributes",
        "absent bound",
        "broadcasting",
        "Constant node",
        "dead node",
        "formal inputs",
        "function",
        "nested function",
        "SAME_LOWER",
        "SAME_UPPER",
        "symbolic size",
        "unnamed size",
        "unsorted",
        "untyped tensors",
        "unused initializer",
        "VALID",
    }
    assert min(kinds.values()) >= 5, kinds
    assert max(len(network(seed).model.graph.node) for seed in NETWORKS) >= 12


def test_the_sums_of_single_convolutions_are_rounded() -> None:
    """Else the bound would not be needed, and the comparison would show less than it seems to."""
    differing = 0
    for seed in SINGLE:
        made = convolution(seed)
        ((output, theirs),) = witness(made).items()
        differing += not sonnx.same_bits(conforming(made).run(made.feeds)[output], theirs)
    assert differing > 0
