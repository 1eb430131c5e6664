"""Runners for the conformance vectors: magicbyte's engines, its parsers in other languages, and others."""

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
"""Target language of the Kaitai compiler, by the name of the runner of its parsers."""

MODULES = {
    "runtime": ("runtime", "reference"),
    "columnar": ("runtime", "columnar"),
    "construct": ("construct",),
}
"""Module of each other runner, and the argument that selects the runner in it."""

PEERS = ("kafka-python", "aiokafka")
"""Clients whose runners in tests/vectors/runners run with the packages that are installed here."""

NAMES = (*MODULES, *PEERS, *TARGETS)

KNOWN = CHECKOUT / "tests" / "conformance" / "known"
RUNNERS = CHECKOUT / "tests" / "vectors" / "runners"


def runner(name: str, bounds: ProcessBounds) -> Runner:
    """Return the runner called *name*; parsers in a compiled language are built first.

    Raises ToolchainUnavailable if the compiler or another tool is missing on this machine.
    """
    if name in MODULES:
        module, *selection = MODULES[name]
        command = [sys.executable, "-m", f"{__name__}.{module}", *selection]
        return Runner(command=command, process_per="run", bounds=bounds)
    if name in PEERS:
        command = [sys.executable, str(RUNNERS / name / "runner.py")]
        return Runner(command=command, process_per="run", bounds=bounds)
    return Runner(
        command=dumper(TARGETS[name]),
        process_per="format",
        bounds=bounds,
        aliases={"kafka_produced": "kafka_log"},
        unread={
            "log_dir": "a folder has no grammar",
            "kafka_fetched": "a grammar knows no transactions",
            "kafka_encoded": "a parser encodes nothing",
            "kafka_coordinator_record": "no grammar describes messages with versions",
        },
    )


def known_failures(name: str) -> Path | None:
    """Return the path of the known failures of the runner *name*; None if there is no such file."""
    file = RUNNERS / name / "known.json" if name in PEERS else KNOWN / f"{name}.json"
    return file if file.is_file() else None
