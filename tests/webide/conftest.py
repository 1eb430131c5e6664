import json
import os
from pathlib import Path

import pytest

from magicbyte_tools.webide import kinds
from magicbyte_tools.webide.claims import Claims, in_javascript
from magicbyte_tools.webide.debug_parsers import Formats
from paths import CHECKOUT, DATA, shared

SPEC = CHECKOUT / "spec"
VALID = CHECKOUT / "tests" / "vectors" / "valid"

SMALL = 8 * 1024
"""Bytes of the largest file that Python reads alone or writes; JavaScript reads all."""

GRAMMARS = {"kafka_produced": "kafka_log"}
"""Formats of vectors that are another with further rules, which a broker has for producers."""

REFUSED = {
    "kafka_offset_checkpoint/crlf": "the grammar has the line ends that brokers write",
    "kafka_offset_checkpoint/last-line-not-ended": "the same",
    "kafka_offset_checkpoint/tabs": "the grammar has the spaces that brokers write",
}
"""Vectors that the grammar need not read, and does not."""


@pytest.fixture(scope="session")
def debug() -> Formats:
    """The specifications as Python that knows where its fields were."""
    return Formats(sorted(SPEC.glob("*.ksy")), "debug")


@pytest.fixture(scope="session")
def read_write() -> Formats:
    """The specifications as Python that writes what it has read."""
    return Formats(sorted(SPEC.glob("*.ksy")), "read-write")


@pytest.fixture(scope="session")
def real() -> dict[Path, str]:
    """The files of tests/data with their formats; of equal ones the first."""
    return kinds.files_below(DATA)


@pytest.fixture(scope="session")
def small(real: dict[Path, str]) -> dict[Path, str]:
    """Files that every check reads: all but the largest logs."""
    return {path: name for path, name in real.items() if path.stat().st_size <= SMALL}


@pytest.fixture(scope="session")
def vectors() -> dict[Path, str]:
    """The valid vectors that a grammar reads, with their formats; of log directories the files.

    A directory may be valid with a companion file that is not; it then has a finding.
    """
    found: dict[Path, str] = {}
    for description in sorted(VALID.glob("*/*.json")):
        case = json.loads(description.read_text("utf-8"))
        if case["format"] != "log_dir":
            if case["fields"] is not None and vector(description) not in REFUSED:
                name = case["format"]
                found[description.with_suffix(".bin")] = GRAMMARS.get(name, name)
        elif all(finding["severity"] == "note" for finding in case["findings"]):
            found |= kinds.files_below(description.with_suffix(""))
    return found


@pytest.fixture(scope="session")
def wide() -> dict[Path, str]:
    """The files of all logs that lie beside the checkout, if that is asked for."""
    if not os.environ.get("MAGICBYTE_WIDE"):
        pytest.skip("takes a minute or two; MAGICBYTE_WIDE=1 reads all logs beside the checkout")
    logs = shared() / "logs"
    if not logs.is_dir():
        pytest.skip(f"no real brokers' logs at {logs} (MAGICBYTE_SHARED says where)")
    return kinds.files_below(logs)


@pytest.fixture(scope="session")
def in_js(real: dict[Path, str], vectors: dict[Path, str]) -> dict[Path, Claims]:
    """Bytes that JavaScript's fields claim in all those files: one process for all."""
    return claims_in_javascript(SPEC, real | vectors)


def claims_in_javascript(spec: Path, files: dict[Path, str]) -> dict[Path, Claims]:
    """Return what the fields of *spec* claim of *files*, whose formats are given."""
    claims = in_javascript(spec, [(name, path) for path, name in files.items()])
    return dict(zip(files, claims, strict=True))


def relative(path: Path) -> str:
    return str(path.relative_to(CHECKOUT) if path.is_relative_to(CHECKOUT) else path)


def vector(path: Path) -> str:
    """Return the vector's name, with the folder of its format."""
    return str(path.relative_to(VALID)).removesuffix(".bin").removesuffix(".json")
