"""Folds in plain kernels: loops in C, and in ACSL what the running value is after so many steps."""

from collections.abc import Sequence
from dataclasses import dataclass

from sonnx.derive.c_types import C_TYPES, same
from sonnx.derive.plain_expressions import CWriter, LogicWriter
from sonnx.derive.plain_statements import Body, Names, head
from sonnx.derive.plain_terms import NoPlainError, Setting
from sonnx.model.dtype import DType
from sonnx.terms.term import Term
from sonnx.terms.walking import parts

_STEP = "    "
_INNER = " " * 6


def fold_in(term: Term) -> Term | None:
    """The fold of a term; raises NoPlainError where there are several."""
    found = [each for each in parts(term) if each.word == "fold"]
    if len(found) > 1:
        raise NoPlainError("there is no plain C for several folds in one element")
    return found[0] if found else None


@dataclass(frozen=True)
class Steps:
    """What a fold is in a contract: the function that says what the running value is after so many steps.

    `indices` are those of the result, as arguments; `names` and `sizes` those of the fold.
    """

    function: str
    indices: tuple[str, ...]
    sizes: tuple[int, ...]
    names: tuple[str, ...]
    kind: DType

    def after(self, *counts: str) -> str:
        """The running value after so many steps on every axis, the innermost last."""
        return f"{self.function}_after({', '.join([*self.indices, *counts])})"

    @property
    def whole(self) -> str:
        """The running value in the end."""
        return self.after(*[str(self.sizes[0]), *["0"] * (len(self.sizes) - 1)])

    def held(self, running: str, *counts: str) -> str:
        """That a variable has this value."""
        return f"{same(C_TYPES[self.kind].name)}({running}, {self.after(*counts)})"


def steps_of(fold: Term, setting: Setting, function: str, indices: Sequence[str]) -> Steps:
    """What a fold is in the contract of a function."""
    sizes, _, names = fold.data
    writer = LogicWriter(setting)
    start, step = fold.arguments
    kind = writer.kind(start) or writer.kind(step) or setting.element
    return Steps(function, tuple(indices), sizes, tuple(setting.called[name] for name in names), kind)


def logic(fold: Term, steps: Steps, writer: LogicWriter, label: str) -> list[str]:
    """The logic functions of a fold: one step, and the value after so many."""
    start, step = fold.arguments
    setting, indices, names, sizes = writer.setting, steps.indices, steps.names, steps.sizes
    running = setting.called[fold.data[1]]
    fresh = Names()
    for each in (running, *indices, *names):
        fresh.fresh(each)
    element = setting.logic_name(steps.kind)
    integers = [f"integer {each}" for each in (*indices, *names)]
    lines = head(element, f"{steps.function}_step{label}", [f"{element} {running}", *integers])
    lines += Body(writer, fresh, is_logic=True).defined(step, steps.kind, _INNER)
    lines[-1] += "; */"
    *outer, last = names
    arguments = [steps.after(*outer, f"{last} - 1"), *indices, *outer, f"{last} - 1"]
    cases = [f"{last} > 0 ? {steps.function}_step({', '.join(arguments)})"]
    for axis in range(len(names) - 2, -1, -1):
        counts = [*names[:axis], f"{names[axis]} - 1", str(sizes[axis + 1]), *["0"] * (len(names) - axis - 2)]
        cases.append(f"{names[axis]} > 0 ? {steps.after(*counts)}")
    writer.known, writer.values = {}, {}
    cases.append(writer.held(start, steps.kind).text)
    lines += head(element, f"{steps.function}_after{label}", integers)
    return [*lines, _INNER + f"\n{_INNER}: ".join(cases) + "; */"]


def loops(fold: Term, steps: Steps, writer: CWriter, names: Names, index: str) -> list[str]:
    """The loops that leave the value of a fold in a variable; axes of one step have none.

    Assertions lead a prover from one step to the next over the axes that are left out.
    """
    start, step = fold.arguments
    sizes, running, kept = fold.data
    running, kept = writer.setting.called[running], [writer.setting.called[name] for name in kept]
    element = writer.setting.c_name(steps.kind)
    lines = [f"{_STEP}{element} {running} = {writer.held(start, steps.kind).text};"]
    counts, pad = dict.fromkeys(steps.names, "0"), _STEP
    for name, size in zip(kept, sizes, strict=True):
        counts[name] = name
        lines += [
            f"{pad}/*@ loop invariant 0 <= {name} <= {size};",
            f"{pad}    loop invariant {steps.held(running, *counts.values())};",
            f"{pad}    loop assigns {name}, {running};",
            f"{pad}    loop variant {size} - {name}; */",
            f"{pad}for ({index} {name} = 0; {name} < {size}; {name}++) {{",
        ]
        pad += _STEP
    lines += Body(writer, names, index=index).assigned(running, step, steps.kind, pad)
    for name in reversed(steps.names):
        if name == steps.names[-1] or name not in kept:
            after = {**counts, name: f"{name} + 1" if name in kept else "1"}
            lines.append(f"{pad}//@ assert step: {steps.held(running, *after.values())};")
        if name in kept:
            pad = pad.removesuffix(_STEP)
            lines.append(f"{pad}}}")
        counts[name] = "0"
    return lines
