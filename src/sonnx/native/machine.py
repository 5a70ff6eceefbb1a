"""What code for this machine depends on: the width of its vectors, and which processor it has."""

import platform
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")
# The first processor's entry fits, and machines with hundreds of processors are not read to the end.
_ENTRY = 16384
# Fields of /proc/cpuinfo that say which instructions there are: of x86, Arm, POWER, RISC-V and z.
_FIELDS = (
    *("vendor_id", "cpu family", "model", "model name", "stepping", "flags"),
    *("CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision", "Features"),
    *("cpu", "revision", "isa", "uarch", "features"),
)
_SETS = ("flags", "Features", "features")


@cache
def vector_bytes() -> int:
    """The width of the processor's vectors: 64 with AVX-512, 32 with AVX, else 16."""
    return _vector_bytes(_fields(_entry(_CPUINFO)))


@cache
def fingerprint() -> str:
    """A text that differs between machines for which a compiler would make different code."""
    fields = _fields(_entry(_CPUINFO))
    # Without a description of the processor, code is not carried from one machine to another.
    return _fingerprint(fields) if fields else f"{platform.system()} {platform.machine()} {platform.node()}"


def _entry(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_ENTRY).split("\n\n")[0]
    except OSError:
        return ""


def _fields(entry: str) -> Mapping[str, str]:
    pairs = (line.partition(":") for line in entry.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs if name.strip() in _FIELDS}


def _vector_bytes(fields: Mapping[str, str]) -> int:
    flags = fields.get("flags", "").split()
    return 64 if "avx512f" in flags else 32 if "avx" in flags else 16


def _fingerprint(fields: Mapping[str, str]) -> str:
    lines = (
        f"{name}: {' '.join(sorted(fields[name].split())) if name in _SETS else fields[name]}"
        for name in _FIELDS
        if name in fields
    )
    return "\n".join([platform.machine(), *lines])
