"""What a campaign has found out: values that can be sent, compared and reported."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from sonnx.conformance.judge import Difference, Sums
from sonnx.model.dtype import DType
from sonnx.model.tensor_type import TensorType
from sonnx.numeric.arrays import Array
from sonnx.vocabulary.trial import Trial

# From the worst to the best.
Verdict = Literal["crashes", "departs", "unsupported", "conforms"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
# What tells two departures apart: the identifier of a rule or ruling, the clause in words, and the kind of
# difference; of a crash "crashes" and what was said, without its numbers.
Key = tuple[str, str, str]


def worst(verdicts: "Counter[Verdict]") -> Verdict:
    """The verdict on many cases; on none of them, that nothing was supported."""
    return next((verdict for verdict in VERDICTS if verdicts[verdict]), "unsupported")


@dataclass(frozen=True)
class CaseVerdict:
    """What became of one vector; `about` names the identifiers that it breaks, or is what was said.

    `broken` are its departures.
    """

    name: str
    verdict: Verdict
    about: str = ""
    broken: tuple[Key, ...] = ()


@dataclass(frozen=True)
class RuleVerdict:
    """What became of one rule or ruling, and of how many cases each verdict was.

    These are all vectors, and what the search has found.
    """

    identifier: str
    cases: Mapping[Verdict, int]

    @property
    def verdict(self) -> Verdict:
        """The worst of them."""
        return worst(Counter(self.cases))


@dataclass(frozen=True, eq=False)
class Departure:
    """One way of departing, with the smallest trial that was found to show it.

    `cases` counts the vectors that show it, `source` is the first of them, or "search" where only the search
    has found it. `expected` are the specified outputs by name, and `found` those of the runtime, of which one
    that is no array of the profile's types is described. `against` says with which other trial the runtime
    contradicts itself: that of the same operands, none of them a constant; then `expected` is its own word.
    `cause` is a plainer departure that its example turns into when that is simplified further, and so perhaps
    the fault behind both.
    """

    identifier: str
    clause: str
    cases: int
    source: str
    trial: Trial
    difference: Difference
    expected: Mapping[str, Array]
    found: tuple[Array | TensorType, ...]
    against: str = ""
    cause: Key | None = None

    @property
    def key(self) -> Key:
        """What tells it from others."""
        return self.identifier, self.clause, self.difference.kind

    @property
    def elements(self) -> int:
        """How many elements all operands of the trial have."""
        return sum(array.size for array in self.trial.inputs.values())


@dataclass(frozen=True, eq=False)
class Stop:
    """Why some cases had no result: they crashed, or were not supported; with the first such trial.

    The trial of a crash is made small. `cases` counts vectors; `source` is the first of them, or the search.
    `printed` is the last line that the first crash left on the standard error.
    """

    verdict: Verdict
    said: str
    cases: int
    source: str
    trial: Trial
    printed: str = ""


@dataclass(frozen=True, eq=False)
class Cell:
    """One operator on one type.

    `outside_profile` says that another operator stood in for it, ONNX's Cast, whose results the profile does
    not specify. `grades` counts how results conform, `searched` the cases of the search, which are not
    listed, `unasked` the vectors that were left out because so many before them crashed.
    """

    operator: str
    dtype: DType
    cases: tuple[CaseVerdict, ...]
    rules: tuple[RuleVerdict, ...]
    departures: tuple[Departure, ...] = ()
    stops: tuple[Stop, ...] = ()
    grades: Mapping[str, int] = field(default_factory=dict)
    searched: int = 0
    unasked: int = 0
    outside_profile: bool = False

    @property
    def counts(self) -> Mapping[Verdict, int]:
        """How many vectors each verdict has."""
        counted = Counter(case.verdict for case in self.cases)
        return {verdict: counted[verdict] for verdict in VERDICTS}

    @property
    def verdict(self) -> Verdict:
        """The worst of all vectors and of what the search has found."""
        if self.counts["crashes"] or any(stop.verdict == "crashes" for stop in self.stops):
            return "crashes"
        return "departs" if self.departures else worst(Counter(self.counts))


@dataclass(frozen=True, eq=False)
class Report:
    """What became of a runtime; `asked` is how it was named, `seconds` how long everything took.

    `takes_models` says that it is given ONNX models, `partial` why not everything was asked; `settings` and
    `environment` say how much was asked, on what and with what.
    """

    runtime: str
    version: str
    asked: str
    options: Mapping[str, Any]
    sums: Sums
    seed: int
    sonnx: str
    cells: tuple[Cell, ...]
    seconds: float = 0.0
    partial: str = ""
    takes_models: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def counts(self) -> Mapping[Verdict, int]:
        """How many vectors each verdict has, without those outside the profile."""
        counted = Counter[Verdict]()
        for cell in self.cells:
            counted.update({} if cell.outside_profile else cell.counts)
        return {verdict: counted[verdict] for verdict in VERDICTS}

    @property
    def cases(self) -> int:
        """How many cases there were, those of the search included."""
        return sum(len(cell.cases) + cell.searched for cell in self.cells)

    @property
    def outside_profile(self) -> bool:
        """Tell whether nothing else was asked than what the profile does not specify."""
        return all(cell.outside_profile for cell in self.cells)

    @property
    def verdict(self) -> Verdict:
        """The verdict on the runtime: what it does not support does not count where something conforms.

        Outside the profile every result is right, and no crash.
        """
        if any(cell.verdict == "crashes" for cell in self.cells):
            return "crashes"
        if any(cell.verdict == "departs" and not cell.outside_profile for cell in self.cells):
            return "departs"
        answered = any(cell.verdict != "unsupported" or cell.counts["conforms"] for cell in self.cells)
        conforms = answered if self.outside_profile else self.counts["conforms"]
        return "conforms" if conforms else "unsupported"
