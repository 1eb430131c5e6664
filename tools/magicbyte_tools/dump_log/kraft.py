"""Control records of KRaft, as the tool writes them: the JSON of Kafka's own messages."""

import base64
import json
from typing import Any

from magicbyte_formats.kaitai.kafka_control_record import KafkaControlRecord
from magicbyte_formats.wire import ControlType
from magicbyte_tools.dump_log.releases import Release


def said(kind: int, value: bytes, release: Release) -> str | None:
    """Return what the tool says of a control record of KRaft; None of other kinds.

    Raises what the Kaitai classes raise where *value* is none of the kind.
    """
    match kind:
        case ControlType.LEADER_CHANGE:
            if not release.since(4, 1):
                return " controlType: LEADER_CHANGE(2)"
            message = KafkaControlRecord.LeaderChangeMessage.from_bytes(value)
            return f" LeaderChange: {_json(_leader_change(message))}"
        case ControlType.SNAPSHOT_HEADER:
            header = KafkaControlRecord.SnapshotHeaderRecord.from_bytes(value)
            timestamp = header.last_contained_log_timestamp
            told = {"version": header.version, "lastContainedLogTimestamp": timestamp}
            return f" SnapshotHeader {_json(told)}"
        case ControlType.SNAPSHOT_FOOTER:
            footer = KafkaControlRecord.SnapshotFooterRecord.from_bytes(value)
            return f" SnapshotFooter {_json({'version': footer.version})}"
        case ControlType.KRAFT_VERSION:
            level = KafkaControlRecord.KraftVersionRecord.from_bytes(value)
            told = {"version": level.version, "kRaftVersion": level.protocol_version}
            return f" KRaftVersion {_json(told)}"
        case ControlType.KRAFT_VOTERS:
            told_voters = KafkaControlRecord.VotersRecord.from_bytes(value)
            voters = [_voter(voter) for voter in told_voters.voters]
            return f" KRaftVoters {_json({'version': told_voters.version, 'voters': voters})}"
    return None


def _json(told: Any) -> str:
    return json.dumps(told, separators=(",", ":"), ensure_ascii=False)


def _uuid(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _leader_change(value: KafkaControlRecord.LeaderChangeMessage) -> dict[str, Any]:
    def voters(some: list[KafkaControlRecord.ElectionVoter]) -> list[dict[str, Any]]:
        return [
            {"voterId": voter.voter_id}
            if voter.voter_directory_id is None
            else {"voterId": voter.voter_id, "voterDirectoryId": _uuid(voter.voter_directory_id)}
            for voter in some
        ]

    return {
        "version": value.version,
        "leaderId": value.leader_id,
        "voters": voters(value.voters),
        "grantingVoters": voters(value.granting_voters),
    }


def _voter(voter: KafkaControlRecord.Voter) -> dict[str, Any]:
    return {
        "voterId": voter.voter_id,
        "voterDirectoryId": _uuid(voter.voter_directory_id),
        "endpoints": [
            {"name": endpoint.name, "host": endpoint.host, "port": endpoint.port}
            for endpoint in voter.endpoints
        ],
        "kRaftVersionFeature": {
            "minSupportedVersion": voter.min_supported_version,
            "maxSupportedVersion": voter.max_supported_version,
        },
    }
