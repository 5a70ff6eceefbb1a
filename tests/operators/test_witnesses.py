"""JAX's own functions, which judge the kit: each gives what its operator's cases say, as far as shapes go."""

import numpy as np
import pytest

from sonnx.operators import OPERATORS
from sonnx.operators.shared.cases import load_cases
from sonnx.vocabulary.operator import Operator

pytestmark = pytest.mark.measured

CALLED = [op for op in OPERATORS if callable(op.trying.jax)]


@pytest.mark.parametrize("operator", CALLED, ids=lambda op: op.name)
def test_jax_gives_a_result_of_the_cases_shape(operator: Operator) -> None:
    jax = pytest.importorskip("jax")
    assert callable(operator.trying.jax)
    tried = 0
    for case in load_cases(operator.identifier):
        arrays = {name: tensor.array() for name, tensor in case.inputs.items()}
        if any(array.dtype.kind not in "biuf" for array in arrays.values()):
            continue  # neither reals nor text, and no type that needs an option of JAX
        with jax.enable_x64(True):
            given = {name: jax.numpy.asarray(array) for name, array in arrays.items()}
            found = operator.trying.jax(jax, given, case.attributes)
        first = found[0] if isinstance(found, (list, tuple)) else found
        (wanted, *_) = case.outputs.values()
        assert np.shape(first) == wanted.array().shape, case.name
        tried += 1
        if tried == 4:
            break
    assert tried
