"""On what and with what something was measured."""

import os
import platform
import shutil
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("sonnx", "numpy", "onnx", "onnxruntime", "jax", "jaxlib", "emx-onnx-cgen")


def machine() -> dict[str, object]:
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "system": f"{platform.system()} {platform.release()}",
        "processor": processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "compiler": compiler(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def processor() -> str:
    """The name the processor gives itself, with family and model, since clouds shorten the name."""
    facts: dict[str, str] = {}
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition(":")
            facts.setdefault(key.strip(), value.strip())
    words = [facts.get("model name", platform.processor() or platform.machine())]
    words += [f"{key} {facts[key]}" for key in ("cpu family", "model") if key in facts]
    return ", ".join(words)


def compiler() -> str | None:
    """The first line of what `cc` says of itself."""
    if shutil.which("cc") is None:
        return None
    said = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=True).stdout
    return said.splitlines()[0]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
