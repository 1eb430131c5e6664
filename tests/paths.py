"""Folders of the data that tests read."""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[1]

SCRIPT_ENVIRONMENT = {**os.environ, "PYTHONPATH": str(CHECKOUT / "tests")}
"""Environment of scripts in processes of their own, so that they import the tests' helpers."""

DATA = CHECKOUT / "tests" / "data"
"""Logs of real brokers, by release and cluster, and what Kafka said of them."""


def shared() -> Path:
    """Return the folder of larger material that is not part of the project.

    It lies beside the checkout, or where MAGICBYTE_SHARED says; a test that needs it skips with
    that reason where it is absent.
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
    """Return other projects' vectors of *kinds*, by default all; none where they are absent."""
    return [entry for entry in _manifest() if not kinds or entry["kind"] in kinds]
