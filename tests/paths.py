"""Paths of the folders with test data."""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[1]

SCRIPT_ENVIRONMENT = {**os.environ, "PYTHONPATH": str(CHECKOUT / "tests")}
"""Environment variables for test scripts run as new processes, which import the tests' helpers."""

DATA = CHECKOUT / "tests" / "data"
"""Logs of real brokers, by release and cluster, and what Kafka itself read from them."""


CAPTURE = CHECKOUT / "tests" / "captures" / "orders.pcap"
"""Loopback traffic of a broker of Kafka 4.3 with Java's and librdkafka's clients, by tcpdump."""


def shared() -> Path:
    """Return the folder with larger test data that is not part of the repository.

    It is next to the checkout, or at the path in MAGICBYTE_SHARED. A test that needs it is skipped
    where it is absent.
    """
    return Path(os.environ.get("MAGICBYTE_SHARED") or CHECKOUT.parent / "shared")


@cache
def _manifest() -> list[dict[str, Any]]:
    manifest = shared() / "vectors" / "manifest.json"
    entries: list[dict[str, Any]] = []
    if manifest.is_file():
        entries = json.loads(manifest.read_text())["entries"]
    return entries


def vectors(*kinds: str) -> list[dict[str, Any]]:
    """Return other projects' test vectors of *kinds* (default: all); none without the folder."""
    return [entry for entry in _manifest() if not kinds or entry["kind"] in kinds]
