"""The file `quorum-state` of the metadata log (FileQuorumStateStore)."""

import json
import re
from dataclasses import dataclass
from typing import Any

from magicbyte.errors import FormatError
from magicbyte.findings import Finding, excerpt
from magicbyte.kafka_release import NEWEST, KafkaRelease

QUORUM_STATE = "quorum-state"

MAX_QUORUM_STATE_BYTES = 1 << 20

SINCE_VERSION_1 = KafkaRelease(3, 8)
"""The first release with version 1 (KIP-853). Before, an empty file counted as a missing one."""


@dataclass(frozen=True, slots=True)
class QuorumState:
    """The part of the file that tells the role of a node."""

    voters: frozenset[int] | None
    """Node ids of the voters; None in version 1, which does not list them."""


_READER_BYTES = 8192
"""Bytes that a java.io.BufferedReader decodes at a time."""

_INT32 = range(-(1 << 31), 1 << 31)
_INT64 = range(-(1 << 63), 1 << 63)

_NUMBERS: dict[int, dict[str, range]] = {
    0: {"leaderId": _INT32, "leaderEpoch": _INT32, "votedId": _INT32, "appliedOffset": _INT64},
    1: {"leaderId": _INT32, "leaderEpoch": _INT32, "votedId": _INT32},
}
"""The numbers that each version of the file must have, and their ranges (QuorumStateData.json)."""

_TEXTS: dict[int, str] = {0: "clusterId", 1: "votedDirectoryId"}
"""The string that each version of the file must have."""


def parse_quorum_state(data: bytes, *, release: KafkaRelease = NEWEST) -> QuorumState:
    """Return the content of a `quorum-state` file, as a broker of *release* reads it.

    A broker reads the first line alone, ignores what follows the JSON object and fields that it does not
    know, and demands each field of the version; one of 4.4.0 was asked.

    Raises FormatError (`quorum-state-invalid`) where a broker ends with an exception: the file is
    empty, is no JSON object, has an unknown version, or lacks a field of its version.
    """
    knows_version_1 = release >= SINCE_VERSION_1
    if not data and not knows_version_1:
        return QuorumState(None)
    try:
        line = re.split(r"\r\n|\r|\n", _text(data), maxsplit=1)[0]
        state, _ = json.JSONDecoder().raw_decode(line.lstrip(" \t"))
    except (ValueError, RecursionError) as error:
        found = "a first line that is no JSON" if data else "an empty file"
        raise _invalid("data_version", found, "a JSON object") from error
    if not isinstance(state, dict) or "data_version" not in state:
        raise _invalid(
            "data_version", "JSON without data_version", "a JSON object with data_version"
        )
    version = state["data_version"]
    known = (0, 1) if knows_version_1 else (0,)
    if version not in known or isinstance(version, bool):
        expected = " or ".join(map(str, known))
        raise _invalid(
            "data_version", f"data_version {excerpt(str(version))}", f"data_version {expected}"
        )
    for name, allowed in _NUMBERS[version].items():
        _check_number(state, name, allowed)
    if not isinstance(state.get(_TEXTS[version]), str):
        raise _invalid(_TEXTS[version], _shown(state, _TEXTS[version]), "a string")
    return QuorumState(_voters(state) if version == 0 else None)


def _text(data: bytes) -> str:
    """Return *data* as text.

    Raises UnicodeDecodeError, a ValueError, where Java's reader fails: it decodes 8,192 bytes at a time,
    so that wrong bytes after the first line count too.
    """
    return data.decode("utf-8", "strict" if len(data) <= _READER_BYTES else "replace")


def _voters(state: dict[str, Any]) -> frozenset[int] | None:
    """Return the node ids of the voters; None if the list is empty or null."""
    if "currentVoters" not in state:
        raise _invalid("currentVoters", "no currentVoters", "an array")
    voters = state["currentVoters"]
    if voters is None:
        return None
    if not isinstance(voters, list):
        raise _invalid("currentVoters", _shown(state, "currentVoters"), "an array")
    for voter in voters:
        if not isinstance(voter, dict):
            raise _invalid("currentVoters", f"the voter {excerpt(str(voter))}", "a JSON object")
        _check_number(voter, "voterId", _INT32)
    return frozenset(voter["voterId"] for voter in voters) or None


def _check_number(fields: dict[str, Any], name: str, allowed: range) -> None:
    value = fields.get(name)
    if type(value) is not int or value not in allowed:
        raise _invalid(name, _shown(fields, name), "a number")


def _shown(fields: dict[str, Any], name: str) -> str:
    """Return the field *name* as JSON, or a phrase if there is none."""
    return f"{name} {excerpt(json.dumps(fields[name]))}" if name in fields else f"no {name}"


def _invalid(field: str, found: str, expected: str) -> FormatError:
    return FormatError(
        Finding(
            code="quorum-state-invalid",
            message=f"{found}, expected {expected}",
            file=QUORUM_STATE,
            field=field,
            found=found,
            expected=expected,
        )
    )
