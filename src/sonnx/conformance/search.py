"""Searches for departures that no vector shows: Hypothesis draws trials, and makes simple what it finds."""

import gc
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from time import monotonic

import numpy as np

from sonnx.conformance.campaign import Outcome
from sonnx.conformance.reduction import digest
from sonnx.conformance.result import Key
from sonnx.conformance.runtimes.runtime import needed
from sonnx.conformance.subjects import Subject
from sonnx.model.dtype import DType
from sonnx.processes import signals_heard_by
from sonnx.vocabulary.draws import Drawn
from sonnx.vocabulary.trial import Trial

_PACKAGE = "hypothesis>=6.100"
# Trials that may be drawn to make something simple, and asked about a crash: each of these costs a process.
_TRIES = 80
_TRIES_OF_A_CRASH = 12
# Bytes that integers are drawn by, and elements: a power of two, and more than most arrays have.
_INTEGERS, _CODES = 32, 64
# Each costs a process, or the time that an answer may take: a runtime that always crashes is not asked on,
# neither vectors nor what is drawn.
MOST_CRASHES = 10
# A runtime that departs in more ways is known well enough.
_MOST_FOUND = 32
# Hypothesis remembers all that it draws; so it begins anew from time to time.
_A_PASS = 2000


@dataclass(frozen=True)
class Searched:
    """Outcomes that depart or crash in ways not known before; `cases` trials were drawn and asked."""

    found: tuple[Outcome, ...]
    cases: int


def searched(
    subject: Subject,
    dtype: DType,
    ask: Callable[[Trial], Outcome],
    known: Collection[Key],
    *,
    examples: int,
    seed: int,
    seconds: float | None,
) -> Searched:
    """Draw `examples` trials of an operator and type, and ask them; departures in `known` do not count.

    What is found is made simple, by more trials, which are not counted. Equal arguments find the same unless
    `seconds` ends the search. Raises UnavailableError where Hypothesis is not installed.
    """
    needed("hypothesis", _PACKAGE)
    hunt = _Hunt(ask, set(known), examples, None if seconds is None else monotonic() + seconds)
    with _nothing_is_kept(), _ended_by_signals(hunt):
        while hunt.goes_on:
            _pass(hunt, subject.drawn, dtype, f"{seed} {subject.identifier} {dtype} {hunt.left}")
            hunt.conclude()
    hunt.add_seen()
    return Searched(tuple(hunt.found), hunt.cases)


class _DepartsError(Exception):
    """Tells Hypothesis that a trial shows what is looked for."""


class _EnoughError(BaseException):
    """Ends Hypothesis at once, which takes other errors for what it looks for."""


@dataclass
class _Hunt:
    """What is known while trials are drawn; within a pass, one departure is looked for once it was seen."""

    ask: Callable[[Trial], Outcome]
    known: set[Key]
    left: int
    until: float | None
    cases: int = 0
    found: list[Outcome] = field(default_factory=list)
    _wanted: Key | None = None
    _simplest: Outcome | None = None
    _tries: int = 0
    _asks: int = 0
    _crashes: int = 0
    ended: bool = False
    asks: bool = False
    # By their digests: Hypothesis refuses a runtime that says now this, now that about one trial.
    _asked: dict[bytes, Outcome | None] = field(default_factory=dict)
    _seen: dict[Key, Outcome] = field(default_factory=dict)

    @property
    def goes_on(self) -> bool:
        """Tell whether there is anything left to be done."""
        return not self.ended and self.left > 0 and len(self.found) < _MOST_FOUND

    def examine(self, trial: Trial) -> None:
        """Ask a trial; raises _DepartsError where it shows what is looked for, or something new."""
        found = self._outcome(trial)
        new = [] if found is None else [key for key in found.keys if key not in self.known]
        if found is None or not new:
            return
        for key in new:
            self._seen.setdefault(key, found)
        if self._wanted is None:
            self._wanted = new[0]
            self._tries = _TRIES
            # A hang would be waited for again and again; it is made small later, with less patience.
            of_a_crash = 0 if found.is_late else _TRIES_OF_A_CRASH
            self._asks = _TRIES if found.differences else of_a_crash
        if self._wanted in new:
            # What Hypothesis finds simpler has smaller bytes, not always fewer elements.
            self._simplest = min(self._simplest or found, found, key=lambda each: _weight(each.trial))
            raise _DepartsError

    def _outcome(self, trial: Trial) -> Outcome | None:
        """What became of a trial, now or before, where that is new."""
        self.ended |= self.until is not None and monotonic() >= self.until
        if self.ended:
            raise _EnoughError
        told = digest(trial)
        new = told not in self._asked
        if self._wanted is None:
            self.left -= 1
            self.cases += new
        else:
            self._tries -= 1
            self._asks -= new
            if self._tries < 0 or self._asks < 0:
                raise _EnoughError
        if new:
            found = self._ask(trial)
            self._crashes += found.verdict == "crashes" and self._wanted is None
            self.ended |= self._crashes >= MOST_CRASHES
            self._asked[told] = found if any(key not in self.known for key in found.keys) else None
        return self._asked[told]

    def _ask(self, trial: Trial) -> Outcome:
        self.asks = True
        try:
            return self.ask(trial)
        except Exception as error:
            raise _EnoughError from error
        finally:
            self.asks = False

    def conclude(self) -> None:
        """Record what a pass has found, and forget what it has asked where that is much."""
        if self._simplest is not None:
            self.found.append(self._simplest)
            self.known.update(self._simplest.keys)
            self._wanted = self._simplest = None
        if len(self._asked) > _A_PASS:
            self._asked.clear()

    def add_seen(self) -> None:
        """Record what was seen on the way to something else, and never again."""
        for key, found in self._seen.items():
            if key not in self.known:
                self.found.append(found)
                self.known.update(found.keys)


def _weight(trial: Trial) -> tuple[int, int, int]:
    """How much there is to look at: elements, those other than 0, constants."""
    arrays = trial.inputs.values()
    others = sum(int(np.count_nonzero(array)) for array in arrays)
    return sum(array.size for array in arrays), others, len(trial.constants)


# --- Hypothesis --------------------------------------------------------------------------------------------


class _Drawing:
    """Makes choices by the bytes of one short piece: Hypothesis takes long for every byte.

    Arrays share the bytes, each in an order of its own, which stays while shapes shrink. Where the bytes for
    integers are used up, the simplest choices are left.
    """

    def __init__(self, piece: bytes) -> None:
        """The first bytes are for integers."""
        self._integers, self._codes = iter(piece[:_INTEGERS]), piece[_INTEGERS:]
        self._arrays = 0

    def integer(self, low: int, high: int) -> int:
        """An integer by the next byte."""
        return low + next(self._integers, 0) % (high - low + 1)

    def codes(self, count: int) -> bytes:
        """Every so many bytes one; an odd number meets all of them, which are a power of two.

        Where they are used up, they begin again one further, so that no line repeats itself at once.
        """
        step, self._arrays = 2 * self._arrays + 1, self._arrays + 1
        places = (place + place // _CODES for place in range(1, count + 1))
        return bytes(self._codes[step * place % _CODES] for place in places)


def _pass(hunt: _Hunt, drawn: Drawn, dtype: DType, seed: str) -> None:
    """Let Hypothesis draw trials until one shows something new, and make that one simple."""
    hypothesis, strategies = needed("hypothesis", _PACKAGE), needed("hypothesis.strategies", _PACKAGE)

    watching = list(gc.callbacks)

    def examine(piece: bytes) -> None:
        # Hypothesis would measure how long garbage is collected, which takes long, and lose signals there.
        gc.callbacks[:] = watching
        hunt.examine(drawn(_Drawing(piece), dtype))

    settings = hypothesis.settings(
        max_examples=min(hunt.left, _A_PASS),
        database=None,
        deadline=None,
        derandomize=False,
        phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
        verbosity=hypothesis.Verbosity.quiet,
    )
    size = _INTEGERS + _CODES
    given = hypothesis.given(strategies.binary(min_size=size, max_size=size))(examine)
    try:
        hypothesis.seed(seed)(settings(given))()
    except _DepartsError:
        pass
    except _EnoughError as enough:
        if enough.__cause__ is not None:
            raise enough.__cause__ from None


@contextmanager
def _ended_by_signals(hunt: _Hunt) -> Iterator[None]:
    """End the search where this process is ended.

    Hypothesis takes a SystemExit for what it looks for; and what is raised while garbage is collected is
    lost, so that the next trial must know as well.
    """

    def hear(_: int) -> None:
        hunt.ended = True
        if hunt.asks:  # an answer may take long, and drawing does not
            raise _EnoughError

    with signals_heard_by(hear):
        yield


@contextmanager
def _nothing_is_kept() -> Iterator[None]:
    """Hypothesis keeps on disk what it reads in modules; here that is thrown away."""
    configuration = needed("hypothesis.configuration", _PACKAGE)
    before = configuration.storage_directory()
    with TemporaryDirectory(prefix="sonnx-search-", ignore_cleanup_errors=True) as folder:
        configuration.set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            # Older versions answer the folder itself.
            configuration.set_hypothesis_home_dir(getattr(before, "path", before))
