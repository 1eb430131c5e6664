"""Runners of this project: its own engines, its parsers in other languages, and other readers."""

import sys
from pathlib import Path

from magicbyte_tools.conformance.child import ProcessBounds
from magicbyte_tools.conformance.runner import Runner
from magicbyte_tools.generate.kaitai import CHECKOUT
from magicbyte_tools.parsers import ToolchainUnavailable, dumper

__all__ = ["NAMES", "ToolchainUnavailable", "known_failures", "runner"]

TARGETS = {
    "kaitai-python": "python",
    "kaitai-javascript": "javascript",
    "kaitai-java": "java",
    "kaitai-go": "go",
    "kaitai-rust": "rust",
    "kaitai-cpp": "cpp_stl",
    "kaitai-csharp": "csharp",
}
"""The compiler's target of each engine that is its parsers."""

MODULES = {
    "runtime": ("runtime", "reference"),
    "columnar": ("runtime", "columnar"),
    "construct": ("construct",),
    "kafka-python": ("peers", "kafka.record.memory_records"),
    "aiokafka": ("peers", "aiokafka.record.memory_records"),
}
"""The module of each other engine, and the argument that selects it there."""

NAMES = (*MODULES, *TARGETS)

KNOWN = CHECKOUT / "tests" / "conformance" / "known"


def runner(name: str, bounds: ProcessBounds) -> Runner:
    """Return the engine *name* as a runner; what must be built, is.

    Raises ToolchainUnavailable where that is not possible here.
    """
    if name in MODULES:
        module, *selection = MODULES[name]
        command = [sys.executable, "-m", f"{__name__}.{module}", *selection]
        return Runner(command=command, process_per="run", bounds=bounds)
    return Runner(
        command=dumper(TARGETS[name]),
        process_per="format",
        bounds=bounds,
        aliases={"kafka_produced": "kafka_log"},
        unread={"log_dir": "a folder has no grammar"},
    )


def known_failures(name: str) -> Path | None:
    """Return the file of the engine's known failures, None where it has none."""
    file = KNOWN / f"{name}.json"
    return file if file.is_file() else None
