"""The example network on the real XLA: within a derived bound of the exact result."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples.mobilenet_like import build, sample
from tests.stablehlo.network_bounds import Bounds

import sonnx
from sonnx.engines import ENGINES

pytestmark = pytest.mark.measured


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> sonnx.Graph:
    path: Path = tmp_path_factory.mktemp("network") / "net.onnx"
    path.write_bytes(build().SerializeToString())
    return sonnx.load(path).normalize({"batch": 1})


def beyond(found: Any, exact: Any, allowed: Any) -> list[float]:
    """How many times the bound each score is away from the exact one."""
    pairs = zip(found.flat, exact.flat, allowed.flat, strict=True)
    return [float(abs(Fraction(float(a)) - b) / Fraction(float(most))) for a, b, most in pairs]


@pytest.mark.no_cover
def test_the_example_network_on_xla_is_within_the_derived_bound_of_the_exact_result(
    network: sonnx.Graph,
) -> None:
    image = sample()
    bounds = Bounds(network, image)
    allowed, exact = bounds.of("scores"), bounds.exact["scores"]
    assert allowed.max() < 0.01  # of scores around 1: a bound that everything met would say nothing
    for engine in ENGINES:
        found = network.run({"image": image}, engine=engine)["scores"]
        assert max(beyond(found, exact, allowed)) <= 1, engine


@pytest.mark.long
@pytest.mark.no_cover
@pytest.mark.parametrize("name", ["stem/conv.weight", "block2/pointwise.bias", "head/classes.weight"])
def test_a_network_with_other_numbers_is_outside_the_bound(network: sonnx.Graph, name: str) -> None:
    image = sample()
    bounds = Bounds(network, image)
    changed = tuple(
        replace(constant, data=constant.data * np.float32(1.1)) if constant.name == name else constant
        for constant in network.constants
    )
    found = replace(network, constants=changed).run({"image": image}, engine="xla")["scores"]
    assert max(beyond(found, bounds.exact["scores"], bounds.of("scores"))) > 1


def test_the_text_of_the_example_network_is_the_same_every_time(network: sonnx.Graph) -> None:
    assert network.to_stablehlo() == network.to_stablehlo()
