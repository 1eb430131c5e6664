"""Failures that are known, with their reasons: a list that must shrink."""

import json
from pathlib import Path

Known = dict[str, str]
"""Reasons of known failures, by case name."""


class KnownError(Exception):
    """A list of known failures is none."""


def load(known_file: Path) -> Known:
    """Return the reasons in *known_file*, {"path": {"reason": "..."}}."""
    try:
        content = json.loads(known_file.read_bytes())
    except (OSError, ValueError) as error:
        raise KnownError(f"{known_file}: {error}") from error
    if not isinstance(content, dict):
        raise KnownError(f"{known_file}: expected an object")
    for path, entry in content.items():
        if not (isinstance(entry, dict) and set(entry) == {"reason"} and entry["reason"]):
            raise KnownError(f'{known_file}: {path}: expected {{"reason": "..."}}')
    return {path: str(entry["reason"]) for path, entry in content.items()}
