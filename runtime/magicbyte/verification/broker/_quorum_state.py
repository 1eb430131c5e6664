"""The file `quorum-state` of the metadata log (FileQuorumStateStore)."""

import json
from dataclasses import dataclass

from magicbyte.errors import FormatError
from magicbyte.findings import Finding
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


def parse_quorum_state(data: bytes, *, release: KafkaRelease = NEWEST) -> QuorumState:
    """Return the content of a `quorum-state` file, as a broker of *release* reads it.

    Raises FormatError (`quorum-state-invalid`) where a broker ends with an exception: the file is
    empty, is no JSON object, or has an unknown version.
    """
    knows_version_1 = release >= SINCE_VERSION_1
    if not data and not knows_version_1:
        return QuorumState(None)
    try:
        state = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        found = f"{len(data)} bytes that are no JSON" if data else "an empty file"
        raise _invalid(found, "a JSON object") from error
    if not isinstance(state, dict) or "data_version" not in state:
        raise _invalid("JSON without data_version", "a JSON object with data_version")
    version = state["data_version"]
    known = (0, 1) if knows_version_1 else (0,)
    if version not in known or isinstance(version, bool):
        expected = " or ".join(map(str, known))
        raise _invalid(f"data_version {str(version)[:40]}", f"data_version {expected}")
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
