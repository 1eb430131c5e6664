"""Control records: keys, transaction markers and KRaft's records (KIP-98, KIP-595, KIP-853).

org.apache.kafka.common.record.ControlRecordType defines the types and the key. The values of KRaft's
control records are messages of Kafka's generator, with the names of their JSON files.
"""

from typing import Any

from construct import Bytes, Default, If, Int16sb, Int16ub, Int32sb, Int64sb

from magicbyte_construct.fields import AtLeast, Fields, Ignored
from magicbyte_construct.flexible import CompactArray, CompactString, Tags

CONTROL_TYPES = (
    *("ABORT", "COMMIT", "LEADER_CHANGE", "SNAPSHOT_HEADER", "SNAPSHOT_FOOTER"),
    *("KRAFT_VERSION", "KRAFT_VOTERS"),
)
"""Types by their numbers. In 2.7 and 2.8 LEADER_CHANGE was 3, and its value had no version."""

NO_UUID = bytes(16)

Version = Default(AtLeast(0, Int16sb), 0)
"""Versions above the known ones are read like the newest one; negative versions are an error."""

ControlRecordKey = Fields("version" / Version, "control_type" / Int16sb, "trailing" / Ignored)
"""Key of a control record. Unknown types neither commit nor abort a transaction."""

EndTransactionMarker = Fields(
    "version" / Version, "coordinator_epoch" / Default(Int32sb, 0), "trailing" / Ignored
)
"""Value of an ABORT or COMMIT marker (org.apache.kafka.common.record.EndTransactionMarker)."""


def names_directories(context: Any) -> bool:
    """Return whether the message contains the voters' directory ids: since version 1 (KIP-853)."""
    return bool(context["_"]["version"] >= 1)


Voter = Fields(
    "voter_id" / Int32sb,
    "voter_directory_id" / If(names_directories, Default(Bytes(16), NO_UUID)),
    "tags" / Tags,
)

LeaderChangeMessage = Fields(
    "version" / Default(Int16sb, 0),
    "leader_id" / Int32sb,
    "voters" / CompactArray(Voter),
    "granting_voters" / CompactArray(Voter),
    "tags" / Tags,
    "trailing" / Ignored,
)
"""Leader, voters, and the voters that granted their votes (LeaderChangeMessage.json)."""

EarlyVoter = Fields("voter_id" / Int32sb, "tags" / Tags)

EarlyLeaderChangeMessage = Fields(
    "leader_id" / Int32sb,
    "voters" / CompactArray(EarlyVoter),
    "granting_voters" / CompactArray(EarlyVoter),
    "tags" / Tags,
    "trailing" / Ignored,
)
"""Leader change in the preview of KRaft in 2.8: type 3, without a version (JSON of that release)."""

SnapshotHeaderRecord = Fields(
    "version" / Default(Int16sb, 0),
    "last_contained_log_timestamp" / Int64sb,
    "tags" / Tags,
    "trailing" / Ignored,
)
"""First record of a KRaft snapshot (SnapshotHeaderRecord.json)."""

SnapshotFooterRecord = Fields("version" / Default(Int16sb, 0), "tags" / Tags, "trailing" / Ignored)
"""Last record of a complete KRaft snapshot (SnapshotFooterRecord.json)."""

KRaftVersionRecord = Fields(
    "version" / Default(Int16sb, 0),
    "protocol_version" / Int16sb,
    "tags" / Tags,
    "trailing" / Ignored,
)
"""Version of KRaft from this record on (KRaftVersionRecord.json)."""

Endpoint = Fields("name" / CompactString, "host" / CompactString, "port" / Int16ub, "tags" / Tags)

KRaftVersionFeature = Fields(
    "min_supported_version" / Int16sb, "max_supported_version" / Int16sb, "tags" / Tags
)

VoterWithEndpoints = Fields(
    "voter_id" / Int32sb,
    "voter_directory_id" / Default(Bytes(16), NO_UUID),
    "endpoints" / CompactArray(Endpoint),
    "k_raft_version_feature" / KRaftVersionFeature,
    "tags" / Tags,
)

VotersRecord = Fields(
    "version" / Default(Int16sb, 0),
    "voters" / CompactArray(VoterWithEndpoints),
    "tags" / Tags,
    "trailing" / Ignored,
)
"""Voters from this record on, and their endpoints (VotersRecord.json)."""
