"""Proves an emitted project: every function by WP, the whole by Eva."""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from hashlib import file_digest
from importlib.resources import files
from math import ceil
from pathlib import Path
from time import monotonic

from sonnx.prove import eva, wp
from sonnx.prove.assumptions import project_sentences
from sonnx.prove.configuration import Configuration, write_configuration
from sonnx.prove.contracts import (
    assumed,
    called_functions,
    contracts,
    is_contract,
    lengths_of_functions,
    lines_of_functions,
    loopholes,
)
from sonnx.prove.eva import WHOLE
from sonnx.prove.forms import oddities
from sonnx.prove.keeping import keep, kept, key_of
from sonnx.prove.plan import ProofPlan, Wanted, carry_out, everything
from sonnx.prove.result import Goal, Proofs, digests
from sonnx.prove.running import Job, Options, Watch, cores
from sonnx.prove.tools import ALL_TOOLS, Tools, ToolsMissingError, find_tools

# Starting Frama-C takes two seconds, so that it is given several functions; not so many that a processor
# would have nothing to do in the end.
_MOST_AT_ONCE, _TURNS = 6, 4
_HEAVIEST = 1000
# So many characters of a function take about a second.
_CHARACTERS = 100
_NEEDED = ("model.c", "model.h", "checks.h")
_PERHAPS = ("weights.h", "weights.c")
_MOST_BYTES = 64 * 2**20
# The first proves most, and is quick; with the second it is nearly all.
PROVERS = ("z3brief", "cvc4nofp", "z3new", "z3nofp")


def prove_project(
    folder: Path,
    *,
    options: Options | None = None,
    tools: Tools | None = None,
    watch: Watch | None = None,
) -> Proofs:
    """Prove the C that `sonnx emit --kernels plain` wrote into a folder; nothing in it is changed.

    Raises ToolsMissingError, and ValueError where the folder holds no such project.
    """
    how = options or Options()
    with planned_project(folder, options=how, tools=tools) as plan:
        return carry_out([plan], how.jobs, watch)[0]


@contextmanager
def planned_project(
    folder: Path, *, options: Options, tools: Tools | None = None, wanted: Wanted = everything
) -> Iterator[ProofPlan]:
    """What there is to do for a project, of which only some functions may be wanted, or the `WHOLE`.

    That the sources are as they were emitted, can be read and take nothing for granted, and that every
    function has a contract, is looked at in any case.
    """
    began = monotonic()
    texts = read_project(folder)
    found = tools or find_tools(ALL_TOOLS)
    if found.frama_c is None:
        raise ToolsMissingError("projects need Frama-C")
    subject = Path(os.path.realpath(folder)).name
    heads = lines_of_functions(texts["model.c"])
    with tempfile.TemporaryDirectory(prefix="sonnx-", ignore_cleanup_errors=True) as name:
        place = Path(name)
        configuration = write_configuration(place, found)
        for file, text in {**texts, **driver_files()}.items():
            (place / file).write_text(text, encoding="utf-8")
        provers = [each for each in PROVERS if each in configuration.provers]
        environment = wp.program_environment(configuration.environment)
        frama = wp.Frama(found.frama_c.path, place, environment, provers, subject)
        names = proved_functions(frama, texts)
        campaign = _Campaign(frama, texts, options, configuration, found.versions)
        goals = [*_said(subject, texts), *_unlike(subject, folder, texts), *campaign.bare(names)]

        def finished(results: Sequence[list[Goal]]) -> Proofs:
            every = [*goals, *(goal for found in results for goal in found)]
            placed = tuple(_placed(goal, heads) for goal in every)
            sentences = project_sentences(texts)
            return Proofs(placed, found.versions, monotonic() - began, sentences, digests(texts))

        yield ProofPlan(list(campaign.jobs(names, partial(wanted, subject))), finished)


def proved_functions(frama: wp.Frama, texts: Mapping[str, str]) -> list[str]:
    """The functions of a project that are proved: all that Frama-C sees, but those of `ASSUMED`."""
    trusted = assumed(texts["model.c"])
    return [name for name in wp.defined_functions(frama) if name not in trusted]


def _placed(goal: Goal, heads: Mapping[str, int]) -> Goal:
    """A goal of a function has the line where that begins; a kept one may have it already."""
    line = heads.get(goal.unit)
    return goal if line is None else replace(goal, place=f"{goal.subject}/model.c:{line}")


def read_project(folder: Path) -> dict[str, str]:
    """The sources of a project of plain kernels; raises ValueError where it is none."""
    if (folder / "kernels.h").exists():
        raise ValueError(f"{folder} has fast kernels, which carry no contracts; emit it with --kernels plain")
    missing = [name for name in _NEEDED if not (folder / name).is_file()]
    if missing:
        raise ValueError(f"{folder} is no project that sonnx emit wrote: there is no {missing[0]}")
    lost = [name for name in _sums(folder) if not (folder / name).is_file()]
    if lost:
        raise ValueError(f"{folder}: there is no {lost[0]}, which SHA256SUMS names; emit the project anew")
    names = [*_NEEDED, *(name for name in _PERHAPS if (folder / name).is_file())]
    texts = {}
    for name in names:
        path = folder / name
        content = path.read_bytes() if path.stat().st_size <= _MOST_BYTES else b""
        if not content.isascii() or path.stat().st_size > _MOST_BYTES:
            raise ValueError(f"{folder / name} is not what sonnx emit writes: too large, or not ASCII")
        texts[name] = content.decode("ascii")
    return texts


def driver_files() -> dict[str, str]:
    """The driver that gives IEEE operations their meaning, and the theory that it names."""
    folder = files("sonnx.prove") / "acsl"
    return {name: (folder / name).read_text(encoding="utf-8") for name in (wp.DRIVER, "ieee.mlw")}


def _said(subject: str, texts: Mapping[str, str]) -> list[Goal]:
    """What in the sources would make proofs worthless."""
    granted, form = "annotations take nothing for granted", "sources have the form that is emitted"
    found = [("model.c", line, f"{granted}: {word}") for line, word in loopholes(texts["model.c"])]
    found += [(file, line, f"{form}: {what}") for file, line, what in oddities(texts)]
    return [Goal(subject, "", name, "failed", place=f"{subject}/{file}:{line}") for file, line, name in found]


def _unlike(subject: str, folder: Path, texts: Mapping[str, str]) -> list[Goal]:
    """The files that are not what SHA256SUMS says they were when they were written."""
    sums = _sums(folder)
    if not sums:
        detail = "there is no list of what was emitted"
        return [Goal(subject, "", "SHA256SUMS can be read", "failed", detail=detail, place=subject)]
    sources = {path.name for pattern in ("*.c", "*.h") for path in folder.glob(pattern)} | texts.keys()
    wrong = dict.fromkeys(sorted(sources - sums.keys()), "SHA256SUMS does not name it")
    for name, digest in sums.items():
        with (folder / name).open("rb") as file:
            found = file_digest(file, "sha256").hexdigest()
        if found != digest:
            wrong[name] = "it differs from what SHA256SUMS says was emitted"
    return [
        Goal(subject, "", f"{name} against SHA256SUMS", "failed", detail=detail, place=f"{subject}/{name}")
        for name, detail in wrong.items()
    ]


def _sums(folder: Path) -> dict[str, str]:
    """The digests of the files that were emitted, by name; none where there is no such list."""
    try:
        listed = (folder / "SHA256SUMS").read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return {}
    sums = {name: digest for digest, _, name in (line.partition("  ") for line in listed)}
    # Names only: nothing outside of the folder is looked at.
    return {name: digest for name, digest in sums.items() if name and name == Path(name).name}


class _Campaign:
    """One run over a project, in a folder that is its own."""

    def __init__(
        self,
        frama: wp.Frama,
        texts: Mapping[str, str],
        options: Options,
        configuration: Configuration,
        versions: tuple[tuple[str, str], ...],
    ) -> None:
        self._frama, self._texts, self._options = frama, texts, options
        self._identity, self._versions = configuration.identity, versions

    def bare(self, names: Sequence[str]) -> list[Goal]:
        """The functions without a contract, each as a goal that failed."""
        said = contracts(self._texts["model.c"])
        return [self._bare(name) for name in names if not is_contract(said.get(name, ""), name)]

    def jobs(self, names: Sequence[str], wanted: Callable[[str], bool]) -> Iterator[Job[list[Goal]]]:
        """What there is to do for the wanted functions, several at a time, and for the whole."""
        sources = [name for name in ("model.c", "weights.c") if name in self._texts]
        whole = partial(eva.analyse, self._frama, self._texts["model.h"], sources)
        if wanted(WHOLE):
            # On a large project it takes longest, so it begins first.
            yield Job(WHOLE, lambda: self._kept([WHOLE], lambda _: {WHOLE: whole()}), weight=_HEAVIEST)
        asked = [name for name in names if wanted(name)]
        calls, lengths = (
            called_functions(self._texts["model.c"]),
            lengths_of_functions(self._texts["model.c"]),
        )
        heaviest = sorted(asked, key=lambda name: -lengths.get(name, 0))
        most = min(_MOST_AT_ONCE, ceil(len(asked) / (_TURNS * (self._options.jobs or cores()))))
        turns = ceil(len(asked) / max(1, most))
        # Every batch gets its share of the heavy ones.
        mixed = [name for start in range(turns) for name in heaviest[start::turns]]
        for batch in wp.batches(mixed, calls, most):
            prove = partial(wp.prove_functions, self._frama, seconds=self._options.seconds, calls=calls)
            weight = sum(lengths.get(name, 0) for name in batch) // _CHARACTERS
            yield Job(", ".join(batch), partial(self._kept, batch, prove), weight=weight)

    def _bare(self, function: str) -> Goal:
        return Goal(
            self._frama.subject,
            function,
            "there is a contract",
            "failed",
            detail="it must say what is assigned and what is ensured",
            place=f"{self._frama.subject}/model.c",
        )

    def _kept(
        self, units: Sequence[str], prove: Callable[[Sequence[str]], Mapping[str, list[Goal]]]
    ) -> list[Goal]:
        """What an earlier run has found for the same texts and tools, or what is found now."""
        keys = {unit: self._key(unit) for unit in units}
        found: dict[str, Sequence[Goal]] = {}
        if self._options.cache:
            found = {unit: goals for unit, key in keys.items() if (goals := kept(key)) is not None}
        left = [unit for unit in units if unit not in found]
        proved = prove(left) if left else {}
        if self._options.cache:
            for unit in left:
                keep(keys[unit], proved[unit])
        return [goal for unit in units for goal in (found | dict(proved))[unit]]

    def _key(self, unit: str) -> str:
        ways = self._identity, self._versions, _ways(self._frama)
        return key_of((unit, self._frama.subject, *ways), {**self._texts, **driver_files()})


def _ways(frama: wp.Frama) -> tuple[object, ...]:
    """How proofs are sought, as far as it is not in the texts."""
    return frama.program.stat().st_size, tuple(frama.provers), wp.FLOATS, eva.PRECISION, eva.STATED
