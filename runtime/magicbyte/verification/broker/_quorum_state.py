"""The file `quorum-state` of the metadata log (FileQuorumStateStore)."""

import json
from dataclasses import dataclass

from magicbyte.errors import FormatError
from magicbyte.findings import Finding

QUORUM_STATE = "quorum-state"

MAX_QUORUM_STATE_BYTES = 1 << 20
KNOWN_VERSIONS = (0, 1)


@dataclass(frozen=True, slots=True)
class QuorumState:
    """The part of the file that tells the role of a node."""

    voters: frozenset[int] | None
    """Node ids of the voters; None in version 1, which does not list them."""


def parse_quorum_state(data: bytes) -> QuorumState:
    """Return the content of a `quorum-state` file.

    Raises FormatError (`quorum-state-invalid`) where a broker ends with an exception: the file is
    empty, is no JSON object, or has an unknown version.
    """
    try:
        state = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        found = f"{len(data)} bytes that are no JSON" if data else "an empty file"
        raise _invalid(found, "a JSON object") from error
    if not isinstance(state, dict) or "data_version" not in state:
        raise _invalid("JSON without data_version", "a JSON object with data_version")
    version = state["data_version"]
    if version not in KNOWN_VERSIONS or isinstance(version, bool):
        raise _invalid(f"data_version {str(version)[:40]}", "data_version 0 or 1")
    voters = state.get("currentVoters")
    if not isinstance(voters, list):
        return QuorumState(None)
    ids = [voter.get("voterId") for voter in voters if isinstance(voter, dict)]
    return QuorumState(frozenset(id_ for id_ in ids if isinstance(id_, int)) or None)


def _invalid(found: str, expected: str) -> FormatError:
    return FormatError(
        Finding(
            code="quorum-state-invalid",
            message=f"{found}, expected {expected}",
            file=QUORUM_STATE,
            field="data_version",
            found=found,
            expected=expected,
        )
    )
