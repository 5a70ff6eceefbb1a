"""Reports by hand: what a runtime answered is made up, what is specified is not."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sonnx.conformance.campaign import compared, outcome, twin
from sonnx.conformance.result import CaseVerdict, Cell, Departure, Report, RuleVerdict, Stop, Verdict
from sonnx.conformance.runtimes.answer import Answer
from sonnx.conformance.subjects import SUBJECTS
from sonnx.model.dtype import DType
from sonnx.numeric.arrays import Array, numpy_dtype
from sonnx.vocabulary.trial import Trial

F = np.float32
NAN = np.array(0x7FC00000, np.uint32).view(F)
BY_NAME = {subject.identifier: subject for subject in SUBJECTS}
GEOMETRY = {
    "auto_pad": "NOTSET",
    "dilations": (1, 1),
    "group": 1,
    "kernel_shape": (1, 1),
    "pads": (0, 0, 0, 0),
    "strides": (1, 1),
}
HOSTILE = (
    "</script><img src=x onerror=alert(1)>\x1b[31m\u202egnp.exe\u2066\x00\ud800 --> ]]> {{data}} \"'&\n# x"
)


def trial(
    inputs: Mapping[str, Array],
    attributes: Mapping[str, Any] | None = None,
    constants: Sequence[str] = (),
    name: str = "example",
) -> Trial:
    return Trial(name, inputs, ("D-ALL-4",), "An example.", attributes or {}, frozenset(constants))


def departure(
    operator: str,
    dtype: DType,
    asked: Trial,
    found: Sequence[Any],
    *,
    cases: int = 1,
    source: str = "first-case",
    twin_gives: Sequence[Any] = (),
) -> Departure:
    """What the judge makes of a made-up answer."""
    subject = BY_NAME[operator]
    judged = outcome(subject, dtype, asked, Answer("outputs", tuple(found)), "free")
    expected = dict(subject.specified(asked, dtype).results("separate" if subject.enclose else ""))
    against = ""
    if twin_gives:
        other = outcome(subject, dtype, twin(asked), Answer("outputs", tuple(twin_gives)), "free")
        judged = compared(judged, other)
        expected = dict(zip(expected, twin_gives, strict=True))
        against = "the same operands as inputs of the model"
    first = judged.differences[0]
    return Departure(
        first.identifier, first.clause, cases, source, asked, first, expected, judged.outputs, against
    )


def nan_min(dtype: DType) -> Departure:
    """A NaN that bounds: the reference evaluator's answer."""
    held = numpy_dtype(dtype)
    nan = np.array(np.nan, held)
    asked = trial({"input": np.array([-0.0], held), "min": nan, "max": np.array(1, held)})
    return departure(
        "clip", dtype, asked, [np.array([np.nan], held)], cases=24, source="from-quiet-nan-to-one"
    )


def nan_max(dtype: DType) -> Departure:
    """The same of the other bound."""
    held = numpy_dtype(dtype)
    nan = np.array(np.nan, held)
    asked = trial({"input": np.array([-0.0], held), "min": np.array(-1, held), "max": nan})
    return departure("clip", dtype, asked, [np.array([np.nan], held)])


def lost_sign(dtype: DType = DType.FLOAT, **how: Any) -> Departure:
    """A negative zero that becomes a positive one: onnxruntime's Where."""
    held = numpy_dtype(dtype)
    operands = {"condition": np.array([True]), "X": np.array([-0.0], held), "Y": np.array([2], held)}
    return departure("where", dtype, trial(operands), [np.array([0], held)], **how)


def lost_value(dtype: DType = DType.FLOAT, **how: Any) -> Departure:
    """A number that becomes another one."""
    held = numpy_dtype(dtype)
    operands = {"condition": np.array([True]), "X": np.array([3], held), "Y": np.array([2], held)}
    return departure("where", dtype, trial(operands), [np.array([0], held)], **how)


def other_sum() -> Departure:
    """A sum that comes out otherwise where the weights are constants."""
    X = np.array([1, 2.0**-24, 2.0**-24], F).reshape(1, 3, 1, 1)
    W = np.ones((1, 3, 1, 1), F)
    ordered, paired = np.ones((1, 1, 1, 1), F), np.full((1, 1, 1, 1), 1 + 2.0**-23, F)
    asked = trial({"X": X, "W": W}, GEOMETRY, ["W"], "sum-constant")
    return departure("conv", DType.FLOAT, asked, [paired], cases=3, twin_gives=[ordered])


def cases(
    departs: int = 0,
    conforms: int = 5,
    unsupported: int = 0,
    about: str = "D-CLIP-1",
    broken: Sequence[Departure] = (),
) -> tuple[CaseVerdict, ...]:
    keys = tuple(each.key for each in broken)
    listed = [CaseVerdict(f"from-quiet-nan-to-{n}", "departs", about, keys) for n in range(departs)]
    listed += [CaseVerdict(f"random-{n}", "conforms") for n in range(conforms)]
    said = "unsupported: no kernel"
    return (*listed, *(CaseVerdict(f"shape-{n}", "unsupported", said) for n in range(unsupported)))


def rules(**counts: Mapping[Verdict, int]) -> tuple[RuleVerdict, ...]:
    return tuple(RuleVerdict(name.replace("_", "-"), count) for name, count in counts.items())


def report(*cells: Cell, **changes: Any) -> Report:
    settings: dict[str, Any] = {
        "runtime": "onnxruntime",
        "version": "1.31.1",
        "asked": "onnxruntime",
        "options": {"level": "all"},
        "sums": "free",
        "seed": 0,
        "sonnx": "0.9.0",
        "seconds": 12.5,
    }
    return Report(**{**settings, "cells": cells, **changes})


def stop(operator: str, dtype: DType, verdict: Verdict, said: str, cases: int = 1) -> Stop:
    held = numpy_dtype(dtype)
    value: Any = "text" if dtype is DType.STRING else 1
    operands = {"input": np.array([value], held), "shape": np.array([2, 1])}
    if operator == "where":
        operands = {"condition": np.array([True]), "X": np.array([value], held), "Y": np.array([value], held)}
    return Stop(verdict, said, cases, "first-stop", trial(operands))


def sample() -> Report:
    """A bit of everything."""
    clip = [
        Cell(
            "clip",
            dtype,
            cases(departs=3, broken=[nan_min(dtype)]),
            rules(D_CLIP_1={"departs": 3, "conforms": 2}, D_CLIP_2={"conforms": 5}),
            (nan_min(dtype),),
            grades={"bits": 5},
            searched=100,
        )
        for dtype in (DType.FLOAT16, DType.FLOAT, DType.DOUBLE)
    ]
    clip.append(Cell("clip", DType.INT8, cases(), rules(D_CLIP_5={"conforms": 5}), grades={"bits": 5}))
    conv = Cell(
        "conv",
        DType.FLOAT,
        cases(departs=1, about="D-CONV-6", broken=[other_sum()]),
        rules(D_CONV_6={"departs": 1}),
        (other_sum(),),
        grades={"separate": 3, "enclosure": 2},
    )
    where = [
        Cell("where", DType.FLOAT, cases(), (), (lost_sign(source="search", cases=0),), searched=70),
        Cell(
            "where",
            DType.BFLOAT16,
            cases(conforms=0, unsupported=4),
            (),
            stops=(stop("where", DType.BFLOAT16, "unsupported", "refused: NotImplemented: no kernel", 4),),
        ),
        Cell(
            "where",
            DType.INT8,
            cases(conforms=2, unsupported=1),
            (),
            stops=(stop("where", DType.INT8, "unsupported", "refused: NotImplemented: no shape", 1),),
        ),
    ]
    crash = stop("expand", DType.STRING, "crashes", "crashed: signal 11 (SIGSEGV)", 2)
    fallen = tuple(CaseVerdict(f"long-{n}", "crashes", crash.said) for n in range(2))
    expand = Cell("expand", DType.STRING, (*fallen, *cases()), (), stops=(crash,), unasked=17)
    outside = Cell(
        "xla.convert_element_type",
        DType.FLOAT,
        cases(departs=1, about="D-XLA-3"),
        (),
        (converted(),),
        outside_profile=True,
    )
    return report(*clip, conv, *where, expand, outside)


def converted() -> Departure:
    asked = trial({"operand": np.array([np.inf], F)}, {"new_element_type": "s8", "domain": "ieee"})
    return departure("xla.convert_element_type", DType.FLOAT, asked, [np.array([0], np.int8)])


def hostile() -> Report:
    """Every text that a runtime or a model can have a say in, as bad as can be."""
    text = np.array([HOSTILE], object)
    operands = {"condition": np.array([True]), "X": text, "Y": text}
    bad = departure(
        "where", DType.STRING, trial(operands), [np.array([HOSTILE + "!"], object)], source=HOSTILE
    )
    cell = Cell(
        "where",
        DType.STRING,
        (CaseVerdict(HOSTILE, "departs", HOSTILE), CaseVerdict("x", "crashes", HOSTILE)),
        (RuleVerdict(HOSTILE, {"departs": 1}),),
        (bad,),
        (Stop("crashes", HOSTILE, 1, HOSTILE, trial(operands, name=HOSTILE)),),
        {HOSTILE: 3},
    )
    return report(
        cell, runtime=HOSTILE, version=HOSTILE, asked=HOSTILE, options={HOSTILE: HOSTILE}, partial=HOSTILE
    )


def many(number: int) -> Report:
    """A report of so many cases, spread over three types; one of them departs."""
    each = number // 3
    lists = [[CaseVerdict(f"random-case-number-{n}", "conforms") for n in range(each)] for _ in range(3)]
    lists[1] += [CaseVerdict(f"another-case-{n}", "conforms") for n in range(number - 3 * each)]
    lists[1][each // 2] = CaseVerdict("the-needle", "departs", "D-CLIP-1")
    types = (DType.FLOAT16, DType.FLOAT, DType.DOUBLE)
    return report(
        *(
            Cell("clip", dtype, tuple(listed), (), (nan_min(dtype),) if dtype is DType.FLOAT else ())
            for dtype, listed in zip(types, lists, strict=True)
        )
    )
