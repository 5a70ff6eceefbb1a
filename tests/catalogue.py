"""Every operator that a model holds, asked what its cases and trials ask: many questions as one program.

Nothing here names an operator: what the catalogue lists is asked, each on all types that it has.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from tests.emit.support import fold
from tests.native.support import executable, planned

import sonnx
from sonnx.conformance.runtimes.libraries import called, compiled
from sonnx.conformance.runtimes.question import graph, question
from sonnx.conformance.subjects import Subject, subject_named
from sonnx.emit.project import project
from sonnx.evaluate.execution import Accumulate, Settings, execute
from sonnx.model.dtype import DType
from sonnx.model.graph import Graph
from sonnx.numeric.arrays import numpy_dtype
from sonnx.numeric.bits import NanRule, same_bits
from sonnx.operators import NODE_OPERATORS
from sonnx.operators.shared.cases import load_cases
from sonnx.stablehlo import engine
from sonnx.vocabulary.kernel import KernelStyle
from sonnx.vocabulary.trial import Trial

Array = Any
SUBJECTS = tuple(subject_named(operator.identifier) for operator in NODE_OPERATORS.values())
CELLS = tuple((subject, dtype) for subject in SUBJECTS for dtype in subject.types)
MODES: tuple[Accumulate, ...] = ("separate", "fused")
# What the quick tier takes of trials: where vectors have rests, where axes are many, none or empty.
TOLD = ("special-values", "seams-", "shape-", "length-")
LARGEST = 2000
# C functions are called with so many arrays, and no more.
ARRAYS = 1000


@dataclass(frozen=True, eq=False)
class Asked:
    """A model of one node of an operator, what it is given, and what is known of its result beforehand."""

    name: str
    subject: Subject
    model: Graph
    given: Mapping[str, Array]
    # Whether NaNs are calculated, and so any NaN is right.
    nan: NanRule
    modes: tuple[Accumulate, ...] = MODES
    expected: Mapping[str, Array] | None = None

    @property
    def operands(self) -> list[Array]:
        """What is given, and what the model holds."""
        return [*self.given.values(), *(constant.data for constant in self.model.constants)]

    @property
    def dtypes(self) -> frozenset[DType | None]:
        return frozenset(kind.dtype for kind in self.model.types.values())


def by_hand(subject: Subject) -> Iterator[Asked]:
    """The cases of an operator, in the modes that they hold for; but those about reals."""
    named = {each.name for each in subject.operator.contract.attributes if each.mode}
    for case in load_cases(subject.identifier):
        if DType.REAL not in {tensor.type.dtype for tensor in case.inputs.values()}:
            inputs = {name: tensor.array() for name, tensor in case.inputs.items()}
            attributes = {name: value for name, value in case.attributes.items() if name not in named}
            asked = question(subject.operator, Trial("case", inputs, (), case.name, attributes))
            expected = {name: tensor.array() for name, tensor in case.outputs.items()}
            mode = case.attributes.get("accumulate", MODES[0])
            name = f"{subject.operator.name}: {case.name}"
            yield Asked(name, subject, graph(asked), asked.inputs, case.nan, (mode,), expected)


def tried(subject: Subject, dtype: DType) -> list[Asked]:
    """All systematic and random trials of an operator on a type."""
    return [_asked(subject, dtype, trial) for trial in subject.systematic(dtype, 0)]


def some_tried(subject: Subject, dtype: DType, most: int) -> list[Asked]:
    """Some small trials, of shapes and lengths one after the other: other ones for every type."""
    first = subject.types.index(dtype) * most
    small = filter(_is_small, subject.systematic(dtype, 0))
    # No more of them are made than are asked.
    named = list(islice((each for each in small if each.name.startswith(TOLD)), first + most))
    named = named or list(filter(_is_small, subject.systematic(dtype, 0)))
    return [_asked(subject, dtype, named[(first + k) % len(named)]) for k in range(most)]


def _asked(subject: Subject, dtype: DType, trial: Trial) -> Asked:
    asked = question(subject.operator, trial)
    name = f"{subject.operator.name}, {dtype}: {trial.name}"
    # Where nothing is summed, no mode changes anything.
    in_modes: tuple[Accumulate, ...] = MODES if subject.enclose else MODES[:1]
    return Asked(name, subject, graph(asked), asked.inputs, subject.nan, in_modes)


def _is_small(trial: Trial) -> bool:
    return max(array.size for array in trial.inputs.values()) <= LARGEST


def merged(asked: Sequence[Asked]) -> sonnx.Graph:
    """All models beside each other in one."""
    made = [_prefixed(each.model, f"{number}/") for number, each in enumerate(asked)]
    whole = replace(
        made[0],
        name="catalogue",
        inputs=tuple(value for each in made for value in each.inputs),
        outputs=tuple(value for each in made for value in each.outputs),
        nodes=tuple(node for each in made for node in each.nodes),
        constants=tuple(constant for each in made for constant in each.constants),
    )
    return sonnx.Graph.of(whole)


def _prefixed(model: Graph, prefix: str) -> Graph:
    nodes = (
        replace(
            node,
            inputs=tuple(prefix + name if name else "" for name in node.inputs),
            outputs=tuple(prefix + name for name in node.outputs),
            name=f"{prefix}{node.operator}",
        )
        for node in model.nodes
    )
    return replace(
        model,
        inputs=tuple(replace(value, name=prefix + value.name) for value in model.inputs),
        outputs=tuple(replace(value, name=prefix + value.name) for value in model.outputs),
        constants=tuple(replace(value, name=prefix + value.name) for value in model.constants),
        nodes=tuple(nodes),
    )


def inputs_of(asked: Sequence[Asked]) -> dict[str, Array]:
    return {f"{number}/{name}": a for number, each in enumerate(asked) for name, a in each.given.items()}


# --- engines: a model and what it is given → its results ---------------------------------------------------

Engine = Callable[[sonnx.Graph, Mapping[str, Array], Accumulate], Mapping[str, Array]]


def reference(model: sonnx.Graph, given: Mapping[str, Array], mode: Accumulate) -> Mapping[str, Array]:
    return execute(model, given, Settings(accumulate=mode))


def native(model: sonnx.Graph, given: Mapping[str, Array], mode: Accumulate) -> Mapping[str, Array]:
    """Compiled kernels, in memory that is watched."""
    return executable(planned(model, mode)).run(given)


def zeros(model: sonnx.Graph, _given: Mapping[str, Array]) -> Mapping[str, Array]:
    """Results of the right types: the program with which a project tests itself is not asked here."""
    kinds = {value.name: value.type for value in model.outputs}
    return {name: np.zeros(kind.sizes, numpy_dtype(kind.dtype)) for name, kind in kinds.items() if kind.dtype}


def emitted(folder: Path, kernels: KernelStyle, *flags: str) -> Engine:
    """C as it is emitted, compiled with these flags in a folder, and called."""

    def run(model: sonnx.Graph, given: Mapping[str, Array], mode: Accumulate) -> Mapping[str, Array]:
        home = folder / f"{kernels}-{mode}-{len(list(folder.iterdir()))}"
        home.mkdir()
        files = project(model, partial(zeros, model), version="", accumulate=mode, kernels=kernels, fold=fold)
        for name, content in files.items():
            (home / name).write_bytes(content)
        sources = [name for name in files if name.endswith(".c") and name != "test_model.c"]
        library = compiled("cc", ("-std=c99", "-ffp-contract=off", *flags), sources, home)
        if "weights.bin" in files:
            assert not library[f"{model.name}_load"](files["weights.bin"], len(files["weights.bin"]))
        function = library[f"{model.name}_run"]
        kinds = [value.type for value in model.outputs]
        made = called(function, [given[value.name] for value in model.inputs], kinds, answers=True)
        return dict(zip((value.name for value in model.outputs), made, strict=True))

    return run


def on_xla(model: sonnx.Graph, given: Mapping[str, Array], _mode: Accumulate) -> Mapping[str, Array]:
    return engine.execute(model, given)


# What is not compared: a mask of the elements of a result.
Excused = Callable[[Asked, Array], Array]


def nobody(_asked: Asked, _right: Array) -> Array:
    return np.False_


# --- judging -----------------------------------------------------------------------------------------------


def complaints(asked: Iterable[Asked], mode: Accumulate, run: Engine, excused: Excused = nobody) -> list[str]:
    """The questions of which an engine does not give what is known: by hand, or by the definition."""
    parts: list[list[Asked]] = [[]]
    arrays = 0
    for each in asked:
        if mode in each.modes:
            arrays += len(each.given) + len(each.model.outputs)
            if arrays > ARRAYS:
                parts.append([])
                arrays = len(each.given) + len(each.model.outputs)
            parts[-1].append(each)
    return [wrong for part in parts if part for wrong in _complaints(part, mode, run, excused)]


def _complaints(here: Sequence[Asked], mode: Accumulate, run: Engine, excused: Excused) -> Iterator[str]:
    model, given = merged(here), inputs_of(here)
    with np.errstate(all="ignore"):  # to compare signalling NaNs is no accident
        known, found = reference(model, given, mode), run(model, given, mode)
        for number, each in enumerate(here):
            for name in (value.name for value in each.model.outputs):
                right = each.expected[name] if each.expected else known[f"{number}/{name}"]
                result = found[f"{number}/{name}"]
                judged = result
                if result.shape == right.shape:
                    judged = np.asarray(np.where(excused(each, right), right, result)).astype(result.dtype)
                if not same_bits(judged, right, nan=each.nan):
                    yield f"{each.name}: {result} instead of {right}"
