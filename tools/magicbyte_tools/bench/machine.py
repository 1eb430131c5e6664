"""Describes the machine of a benchmark: processor, memory, system, releases; nothing that identifies it."""

import os
import platform
import re
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "pyarrow",
    "numpy",
    "numba",
    "crc32c",
    "lz4",
    "zstandard",
    "cramjam",
    "isal",
    "aiokafka",
    "kafka-python",
    "confluent-kafka",
)


def machine() -> dict[str, str]:
    """Return the properties of this machine that affect the figures, by name."""
    return {
        "processor": f"{os.cpu_count()} cores of {_processor()}",
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / (1 << 30):.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "Java": _version("java", "-version"),
        "Go": _version("go", "version"),
        "Rust": _version("rustc", "--version"),
        "packages": ", ".join(filter(None, map(_package, PACKAGES))),
    }


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8", "replace")
    except OSError:
        return platform.processor() or "processor unknown"
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def _version(program: str, argument: str) -> str:
    found = shutil.which(program)
    if found is None:
        return "none"
    # Java prints its version on stderr.
    told = subprocess.run([found, argument], capture_output=True, text=True)
    version = re.search(r"\d+(\.\d+)+", told.stdout + told.stderr)
    return version[0] if version else "unknown"


def _package(name: str) -> str | None:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return None
