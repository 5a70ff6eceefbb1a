"""What the kit finds by itself on real runtimes, each by an example that fits into a line."""

from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from tests.budgets import thinned

from sonnx.conformance import ask, run
from sonnx.conformance.campaign import outcomes
from sonnx.conformance.reduction import reduced
from sonnx.conformance.result import Departure, Report
from sonnx.conformance.runtimes.child import Child
from sonnx.conformance.subjects import SUBJECTS, subject_named
from sonnx.model.dtype import DType
from sonnx.operators import NODE_OPERATORS
from sonnx.vocabulary.trial import Trial

F = np.float32


# Compiling well takes longer than being wrong.
OPTIONS: dict[str, dict[str, Any]] = {"jax": {"jit": False}}


@lru_cache
def judged(runtime: str, operator: str, dtype: str) -> Report:
    if find_spec("onnx" if runtime == "reference-evaluator" else runtime) is None:
        pytest.skip(f"{runtime} is not installed")
    options = OPTIONS.get(runtime, {})
    return run(runtime, operators=[operator], types=[dtype], plan={"examples": 5}, **options)


def departures(runtime: str, operator: str, dtype: str) -> tuple[Departure, ...]:
    (cell,) = judged(runtime, operator, dtype).cells
    return cell.departures


@pytest.mark.long
@pytest.mark.parametrize(
    ("runtime", "operator", "identifier", "clause", "kind"),
    [
        ("reference-evaluator", "Clip", "D-CLIP-1", "A NaN min does not bound.", "value"),
        ("reference-evaluator", "Clip", "D-CLIP-1", "A NaN max does not bound.", "value"),
        ("jax", "Clip", "D-CLIP-1", "A NaN min does not bound.", "value"),
        ("jax", "Clip", "D-CLIP-1", "A NaN max does not bound.", "value"),
        ("onnxruntime", "Where", "D-WHERE-2", "A zero is moved with its sign.", "sign of zero"),
        ("onnxruntime", "Conv", "D-CONV-5", "A zero of the padding times an infinity", "value"),
        ("onnxruntime", "Conv", "D-CONV-6", "Sums have the same bits whether operands", "value"),
    ],
)
def test_a_known_departure_is_found_and_made_small(
    runtime: str, operator: str, identifier: str, clause: str, kind: str
) -> None:
    found = [
        each
        for each in departures(runtime, operator, "float")
        if each.identifier == identifier and each.clause.startswith(clause) and each.difference.kind == kind
    ]
    assert len(found) == 1
    assert found[0].elements <= 4
    assert judged(runtime, operator, "float").verdict == "departs"


@pytest.mark.long
def test_emx_gives_min_for_a_nan_input() -> None:
    """A few vectors alone: each is compiled."""
    if find_spec("emx_onnx_cgen") is None:
        pytest.skip("emx is not installed")
    subject = subject_named("clip")
    trials = [
        trial for trial in subject.trials(DType.FLOAT, 0) if trial.name.startswith("from-minus-one-to-one")
    ]
    with Child("emx", flags="-O0 -ffp-contract=off") as child:
        found = list(outcomes(child, subject, DType.FLOAT, trials))

        def lost(trial: Trial) -> bool:
            (again,) = outcomes(child, subject, DType.FLOAT, [trial])
            return any(each.found == "-0x1p+0 (0xbf800000)" for each in again.differences)

        small = reduced(subject, trials[0], lost, tries=12)
    assert len(found) == 2
    for each in found:
        (difference,) = (one for one in each.differences if one.clause.startswith("A NaN input stays"))
        assert (difference.identifier, difference.found) == ("D-CLIP-1", "-0x1p+0 (0xbf800000)")
    assert sum(array.size for array in small.inputs.values()) <= 4


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["int16", "uint16"])
def test_missing_types_are_unsupported(dtype: str) -> None:
    report = judged("onnxruntime", "Clip", dtype)
    assert report.verdict == "unsupported"
    assert {case.verdict for case in report.cells[0].cases} == {"unsupported"}


def test_conversions_of_onnxruntime_are_outside_the_profile() -> None:
    report = judged("onnxruntime", "xla.ConvertElementType", "float")
    (cell,) = report.cells
    assert cell.outside_profile
    assert {each.clause for each in cell.departures} >= {"NaN becomes 0."}
    assert all(each.elements <= 4 for each in cell.departures)
    # What the profile does not specify is no departure from it.
    assert report.verdict != "departs"


@pytest.mark.long
def test_the_smallest_examples_can_be_asked_by_hand() -> None:
    nan = {"input": np.array([2], F), "min": np.array(np.nan, F), "max": np.array(3, F)}
    (found,) = ask("reference-evaluator", "clip", nan)
    assert np.isnan(found).all()
    zero = {"condition": np.array([True]), "X": np.array([-0.0], F), "Y": np.array([1], F)}
    (found,) = ask("onnxruntime", "where", zero, level="none")
    assert found.tobytes() == bytes(4)
    with pytest.raises(RuntimeError, match="refused"):
        ask("onnxruntime", "clip", {name: array.astype(np.int16) for name, array in zero_bounds().items()})


def zero_bounds() -> dict[str, Any]:
    return {"input": np.ones(1, F), "min": np.array(0, F), "max": np.array(1, F)}


def asked_of(engine: str) -> list[tuple[str, DType]]:
    """All operators on types that an engine has: definitions have all, models those that a file can hold."""
    subjects = [
        each for each in SUBJECTS if engine == "reference" or each.operator in NODE_OPERATORS.values()
    ]
    return [(each.operator.name, dtype) for each in subjects for dtype in each.types]


def one_type_each(engine: str) -> list[tuple[str, DType]]:
    """Another type of every operator, though all engines have them all."""
    names = dict.fromkeys(name for name, _ in asked_of(engine))
    types = {name: [dtype for each, dtype in asked_of(engine) if each == name] for name in names}
    return [(name, types[name][3 * place % len(types[name])]) for place, name in enumerate(names)]


# The definitions are what the kit compares with, so that some operators show that it judges them rightly.
OURS = [("reference", *cell) for cell in thinned(one_type_each("reference")[::3], 2)]
OURS += [("native", *cell) for cell in thinned(one_type_each("native"), 2)]


# A test each: together they take a minute, which workers share.
@pytest.mark.thinned
@pytest.mark.parametrize(("engine", "operator", "dtype"), OURS)
def test_our_own_engines_have_no_departure(engine: str, operator: str, dtype: DType) -> None:
    conforms(engine, operator, dtype, 5)


@pytest.mark.long
def test_emitted_c_has_no_departure() -> None:
    """What is asked least: every question is compiled. Other tests ask it all of all operators."""
    least = min(asked_of("native"), key=lambda each: len(list(trials_of(*each))))
    conforms("emitted", *least, 0)


def trials_of(operator: str, dtype: DType) -> Iterator[Trial]:
    return next(each for each in SUBJECTS if each.operator.name == operator).trials(dtype, 0)


def conforms(engine: str, operator: str, dtype: DType, drawn: int) -> None:
    plan = {"examples": drawn, "sums": "separate"}
    report = run(engine, operators=[operator], types=[str(dtype)], plan=plan)
    assert report.verdict == "conforms"
    assert report.cells[0].stops == ()
