import json
from pathlib import Path

import pytest

from extent import WIDE, mixed_part
from magicbyte_tools.vectors.build import WITHOUT_GRAMMAR
from magicbyte_tools.webide import kinds
from magicbyte_tools.webide.claims import Claims, in_javascript
from magicbyte_tools.webide.debug_parsers import Formats
from paths import CHECKOUT, DATA, shared

SPEC = CHECKOUT / "spec"
VALID = CHECKOUT / "tests" / "vectors" / "valid"

SMALL = 8 * 1024
"""Largest size, in bytes, of files that Python parses or rewrites; JavaScript reads all files."""

GRAMMARS = {"kafka_produced": "kafka_log"}
"""Vector formats without a grammar of their own, and the grammar that their files follow."""

LINE_ENDS = "the grammar has the line ends that brokers write"
SPACES = "the grammar has the spaces that brokers write"

REFUSED = {
    "kafka_leader_epoch_checkpoint/crlf": LINE_ENDS,
    "kafka_leader_epoch_checkpoint/last-line-not-ended": LINE_ENDS,
    "kafka_leader_epoch_checkpoint/tabs": SPACES,
    "kafka_leader_epoch_checkpoint/version-alone": LINE_ENDS,
    "kafka_offset_checkpoint/carriage-returns": LINE_ENDS,
    "kafka_offset_checkpoint/crlf": LINE_ENDS,
    "kafka_offset_checkpoint/last-line-not-ended": LINE_ENDS,
    "kafka_offset_checkpoint/tabs": SPACES,
    "kafka_offset_checkpoint/version-00": "the grammar has the version as brokers write it",
    "kafka_offset_checkpoint/version-alone": LINE_ENDS,
}
"""Valid vectors that the grammar refuses, with the reason."""

UNCLAIMED = {
    "kafka_producer_snapshot/bytes-behind": "Kafka ignores what follows the producers that are counted",
}
"""Valid vectors with bytes that are no field's, with the reason."""


@pytest.fixture(scope="session")
def debug() -> Formats:
    """Provide the specifications compiled to Python parsers that record each field's position."""
    return Formats(sorted(SPEC.glob("*.ksy")), "debug")


@pytest.fixture(scope="session")
def read_write() -> Formats:
    """Provide the specifications compiled to Python parsers that can also write what they read."""
    return Formats(sorted(SPEC.glob("*.ksy")), "read-write")


@pytest.fixture(scope="session")
def real() -> dict[Path, str]:
    """Provide the files of tests/data with their formats; of equal files, only the first."""
    return kinds.files_below(DATA)


@pytest.fixture(scope="session")
def small(real: dict[Path, str]) -> dict[Path, str]:
    """Provide files of tests/data of at most `SMALL` bytes, with their formats: a third of them, of each format."""
    found = [(path, name) for path, name in real.items() if path.stat().st_size <= SMALL]
    return dict(mixed_part(found, len(found) // 3, "small files", lambda file: file[1:]))


@pytest.fixture(scope="session")
def vectors() -> dict[Path, str]:
    """Provide the valid vectors that a grammar reads to the last byte, with their formats.

    The files of a log directory are included where it has only notes: other findings may mean that
    a companion file is damaged, although the directory is valid.
    """
    found: dict[Path, str] = {}
    for description in sorted(VALID.glob("*/*.json")):
        case = json.loads(description.read_text("utf-8"))
        if case["format"] in WITHOUT_GRAMMAR:
            continue
        if case["format"] != "log_dir":
            if case.get("fields") is not None and vector(description) not in REFUSED | UNCLAIMED:
                name = case["format"]
                found[description.with_suffix(".bin")] = GRAMMARS.get(name, name)
        elif all(finding["severity"] == "note" for finding in case["findings"]):
            found |= kinds.files_below(description.with_suffix(""))
    return found


@pytest.fixture(scope="session")
def wide() -> dict[Path, str]:
    """Provide the files of all logs in the shared folder; skip the test without MAGICBYTE_WIDE."""
    if not WIDE:
        pytest.skip("takes a minute or two; MAGICBYTE_WIDE=1 reads all logs beside the checkout")
    logs = shared() / "logs"
    if not logs.is_dir():
        pytest.skip(f"no real brokers' logs at {logs} (MAGICBYTE_SHARED says where)")
    return kinds.files_below(logs)


@pytest.fixture(scope="session")
def in_js(real: dict[Path, str], vectors: dict[Path, str]) -> dict[Path, Claims]:
    """Provide the bytes that fields of JavaScript's parsers claim in real files and vectors."""
    return claims_in_javascript(SPEC, real | vectors)


def claims_in_javascript(spec: Path, files: dict[Path, str]) -> dict[Path, Claims]:
    """Return the bytes that the fields of JavaScript's parsers claim in *files*, by path."""
    claims = in_javascript(spec, [(name, path) for path, name in files.items()])
    return dict(zip(files, claims, strict=True))


def relative(path: Path) -> str:
    return str(path.relative_to(CHECKOUT) if path.is_relative_to(CHECKOUT) else path)


def vector(path: Path) -> str:
    """Return the vector's name with its format's folder, such as `kafka_log/v2-one-record`."""
    return str(path.relative_to(VALID)).removesuffix(".bin").removesuffix(".json")
