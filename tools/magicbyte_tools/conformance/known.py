"""Reads lists of known failures of a runner, with a reason for each."""

import json
from pathlib import Path

Known = dict[str, str]
"""Reasons of known failures, by the case's id."""


class KnownError(Exception):
    """A file of known failures cannot be read, or is not in the form {id: {reason}}."""


def load_known(known_file: Path) -> Known:
    """Return the reasons in the JSON file *known_file*, {"id": {"reason": "..."}}, by id."""
    try:
        content = json.loads(known_file.read_bytes())
    except (OSError, ValueError) as error:
        raise KnownError(f"{known_file}: {error}") from error
    if not isinstance(content, dict):
        raise KnownError(f"{known_file}: expected an object")
    for name, entry in content.items():
        if not (isinstance(entry, dict) and set(entry) == {"reason"} and entry["reason"]):
            raise KnownError(f'{known_file}: {name}: expected {{"reason": "..."}}')
    return {name: str(entry["reason"]) for name, entry in content.items()}
