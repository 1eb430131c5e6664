"""Loads conformance cases from a folder of test vectors."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

KINDS = ("valid", "invalid")
"""Folders of cases. A case with verdict `either` is in the folder of the verdict of Kafka's own reader."""

SETTING_KEYS = (
    "limits",
    "compacted",
    "fetch_offset",
    "aborted_transactions",
    "encode",
    "topic",
    "releases",
)
"""Keys of a case that are passed on to the runner as settings."""

Verdict = Literal["valid", "invalid", "either"]


class CaseError(Exception):
    """A folder holds no conformance cases, or an invalid one."""


@dataclass(frozen=True, slots=True)
class Case:
    """Conformance case: a file or folder, and the answer that is expected of a reader."""

    path: str
    """Path of the case in the folder, without a suffix: valid/kafka_log/v2-gzip."""
    data_path: Path
    """Path of the case's bytes: a file, or a folder if the format is log_dir."""
    content: dict[str, Any]
    """Content of the case's JSON file (schema: tests/vectors/case.schema.json)."""

    @property
    def id(self) -> str:
        """Name of the case, which never changes: its path without `valid/` or `invalid/`."""
        return self.path.partition("/")[2]

    @property
    def levels(self) -> Sequence[str]:
        """Levels in which the case counts (see LEVELS); a part of a format counts in none."""
        levels: Sequence[str] = self.content.get("levels", ())
        return levels

    @property
    def format(self) -> str:
        return str(self.content["format"])

    @property
    def verdict(self) -> Verdict:
        verdict: Verdict = self.content["verdict"]
        return verdict

    @property
    def why(self) -> str:
        return str(self.content["why"])

    @property
    def settings(self) -> dict[str, Any]:
        """Settings with which a runner must read the case, such as limits; empty for most cases."""
        return {key: self.content[key] for key in SETTING_KEYS if key in self.content}


def load_cases(folder: Path) -> list[Case]:
    """Return the cases in *folder*: valid ones, then invalid ones, each sorted by name.

    Raises CaseError if there are none, or if a case lacks its bytes or a required key.
    """
    files = [file for kind in KINDS for file in sorted((folder / kind).glob("*/*.json"))]
    if not files:
        raise CaseError(f"{folder}: no case; expected valid/FORMAT/NAME.json")
    return [_load_case(folder, file) for file in files]


def _load_case(folder: Path, path: Path) -> Case:
    try:
        content = json.loads(path.read_bytes())
    except ValueError as error:
        raise CaseError(f"{path}: {error}") from error
    missing = {"format", "verdict", "why"} - set(content if isinstance(content, dict) else ())
    if missing:
        raise CaseError(f"{path}: no {', '.join(sorted(missing))}")
    is_folder = content["format"] == "log_dir"
    data = path.with_suffix("" if is_folder else ".bin")
    if not (data.is_dir() if is_folder else data.is_file()):
        raise CaseError(f"{data}: missing")
    return Case(path.relative_to(folder).with_suffix("").as_posix(), data, content)


def load_version(folder: Path) -> str | None:
    """Return the version of the vectors in *folder*; None if they have no manifest."""
    manifest = folder / "manifest.json"
    if not manifest.is_file():
        return None
    try:
        version = json.loads(manifest.read_bytes())["version"]
    except (ValueError, TypeError, KeyError) as error:
        raise CaseError(f"{manifest}: expected an object with the key version") from error
    return str(version)


def selected(cases: list[Case], pattern: str | None, level: str | None = None) -> list[Case]:
    """Return the *cases* of *level* whose paths or ids match the shell pattern *pattern*.

    None matches all.
    """
    return [
        case
        for case in cases
        if (pattern is None or fnmatchcase(case.path, pattern) or fnmatchcase(case.id, pattern))
        and (level is None or level in case.levels)
    ]
