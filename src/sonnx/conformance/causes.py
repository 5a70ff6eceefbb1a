"""Which departures may be one fault: the example of one, made simpler, shows a plainer one.

A runtime that drops the bias breaks what is said of NaNs, of infinities and of subnormal numbers wherever
there is a bias, and to tell all of it alike would hide the fault. So the smallest examples are made simple
once more, now for whatever departs. It may not be the same fault: nothing is left out, and it is said so.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from sonnx.conformance.campaign import Outcome
from sonnx.conformance.reduction import reduced
from sonnx.conformance.result import Key
from sonnx.numeric.arrays import held_type
from sonnx.operators.shared.draws import simple_values
from sonnx.operators.shared.trials import Trial

# An example has a few elements by now, and each of them few simpler ones.
_TRIES = 100


def plainer(ask: Callable[[Trial], Outcome], smallest: Outcome, wanted: Key) -> Outcome | None:
    """The plainest departure on the way from an example to simpler ones; None where it stays the same."""
    departing: dict[int, Outcome] = {}

    def departs(trial: Trial) -> bool:
        found = ask(trial)
        if found.differences:
            departing[id(trial)] = found
        return bool(found.differences)

    ones = _of_ones(smallest)
    start = ones if departs(ones) else smallest.trial
    plainest = departing.get(id(reduced(smallest.subject, start, departs, tries=_TRIES)))
    return None if plainest is None or wanted in plainest.keys else plainest


def _of_ones(smallest: Outcome) -> Trial:
    """The trial with plain ones in all operands but those that are sizes."""
    sizes = {operand.name for operand in smallest.subject.operator.contract.inputs if operand.constant}
    changed = {
        name: np.full_like(array, simple_values(held_type(array))[1])
        for name, array in smallest.trial.inputs.items()
        if name not in sizes
    }
    return replace(smallest.trial, inputs={**smallest.trial.inputs, **changed})


def causes(plainer_ones: Mapping[Key, Key]) -> Mapping[Key, Key]:
    """The last of each chain of plainer departures; where some are plainer in turn, the first of them.

    The departures are in the order in which they were found.
    """
    found: dict[Key, Key] = {}
    for each in plainer_ones:
        chain = [each]
        while (following := plainer_ones.get(chain[-1])) is not None and following not in chain:
            chain.append(following)
        circle = chain[chain.index(following) :] if following is not None else chain[-1:]
        last = min(circle, key=list(plainer_ones).index) if len(circle) > 1 else circle[0]
        if last != each:
            found[each] = last
    return found
