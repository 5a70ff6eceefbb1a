"""Constants that a domain refuses, found before anything runs (D-ALL-11)."""

from collections.abc import Mapping

import numpy as np

from sonnx.derive.domains import domain_of, kind_of
from sonnx.derive.evaluate import Walk
from sonnx.derive.tracing import suited
from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array, held_type
from sonnx.terms.term import truth
from sonnx.terms.tracing import called
from sonnx.terms.words import value
from sonnx.vocabulary.operator import Operator


def met_in_constants(
    operator: Operator, arrays: Mapping[str, Array], ranks: Mapping[str, int] | None = None
) -> tuple[tuple[str, str], ...]:
    """The elements at the first place outside the domain, by name, where it hangs on constants alone.

    `arrays` are the constants by operand; nothing is said where other rules say why it cannot be asked. Where
    one is repeated before it is taken, `ranks` says how many axes the operand has.
    """
    domain = domain_of(operator)
    if domain is None or not arrays.keys() >= {*domain.operands}:
        return ()
    asked = {name: arrays[name] for name in domain.operands}
    types = {held_type(array) for array in asked.values()}
    shapes = {array.shape for array in asked.values()}
    if len(types) > 1 or len(shapes) > 1 or kind_of(*types) not in domain.kinds:
        return ()
    (kind,), (shape,) = types, shapes
    term = suited(truth(called(domain.inside, {name: value(name) for name in asked}, {})), kind)
    held = np.broadcast_to(Walk(kind, DType.BOOL, asked, dict(asked))(term), shape)
    if held.all():
        return ()
    at = tuple(int(each) for each in np.unravel_index(int(np.argmin(held)), shape))
    found = []
    for name, array in asked.items():
        # Axes that repeating puts before, or makes longer, are first met at 0.
        index = (0,) * ((ranks or {}).get(name, array.ndim) - array.ndim) + at
        found.append((f"{name}[{','.join(map(str, index))}]" if index else name, str(array[at])))
    return tuple(found)
