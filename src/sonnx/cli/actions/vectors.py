"""What `sonnx vectors` does."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sonnx.cli.progress import bar, ended_by_signals
from sonnx.cli.terminal import CONFORMS, fail, say
from sonnx.conformance.runtimes.question import NEWEST_OPSET
from sonnx.conformance.runtimes.runtime import UnavailableError
from sonnx.conformance.spreading import Spread, SpreadError, over_dask, over_processes
from sonnx.conformance.subjects import units
from sonnx.conformance.vectors import parts, require_new, write_vectors
from sonnx.numeric.environment import NotIeeeError
from sonnx.report.text import printable

# So many parts take about as long as a process takes to begin.
_FEW = 4


@dataclass(frozen=True)
class VectorOptions:
    """What `sonnx vectors` was asked for; without names all operators or types are meant."""

    output: Path
    operators: Sequence[str] = ()
    types: Sequence[str] = ()
    seed: int = 0
    jobs: int | None = None
    dask: str | None = None
    opset: int = NEWEST_OPSET


@ended_by_signals()
def write_vectors_asked(options: VectorOptions) -> int:
    """Write test vectors into a new folder; answers the exit code."""
    output = options.output
    if output == Path("-"):
        return fail("vectors are a folder of files, which `-` has no place for; name a new folder")
    try:
        chosen = units(options.operators, options.types)
        require_new(output)
        with bar("writing") as advance:
            work = parts(chosen, options.seed, options.opset)
            written = write_vectors(
                output,
                work,
                run=_spread(options, len(work)),
                watch=lambda done, total, name: advance(done, total, name, done),
            )
    except (NotIeeeError, SpreadError, UnavailableError, ValueError) as problem:
        return fail(str(problem))
    except FileExistsError as problem:
        return fail(str(problem) if problem.errno is None else f"{output}: {problem.strerror}")
    except OSError as problem:
        return fail(f"{output}: cannot be written: {problem.strerror}")
    say(printable(f"{output}: {written.cases:,} cases, {written.files:,} files, {written.bytes:,} bytes"))
    say(f"sha256 {written.digest}  SHA256SUMS")
    say(printable(f"how to use them: {output / 'README.md'}"))
    return CONFORMS


def _spread(options: VectorOptions, work: int) -> Spread:
    """Over a cluster, or over as many processes as are worth their beginning."""
    if options.dask:
        return over_dask(options.dask)
    return over_processes(max(1, min(options.jobs or os.cpu_count() or 1, work // _FEW)))
