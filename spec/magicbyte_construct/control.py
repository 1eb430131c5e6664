"""Control records: keys, transaction markers, and those of KRaft (KIP-98, KIP-595, KIP-853).

org.apache.kafka.common.record.ControlRecordType names the types and says how a key is read; the
values of KRaft's are messages of Kafka's generator, named here as their JSON files are.
"""

from typing import Any

from construct import Bytes, Default, If, Int16sb, Int16ub, Int32sb, Int64sb

from magicbyte_construct.fields import AtLeast, Fields, Ignored
from magicbyte_construct.flexible import CompactArray, CompactString, Tags

CONTROL_TYPES = (
    *("ABORT", "COMMIT", "LEADER_CHANGE", "SNAPSHOT_HEADER", "SNAPSHOT_FOOTER"),
    *("KRAFT_VERSION", "KRAFT_VOTERS"),
)
"""By their numbers. In 2.7 and 2.8 LEADER_CHANGE was 3, and its value had no version."""

NO_UUID = bytes(16)

Version = Default(AtLeast(0, Int16sb), 0)
"""Versions above the known ones are read as if known; below 0 is an error."""

ControlRecordKey = Fields("version" / Version, "type" / Int16sb, "trailing" / Ignored)
"""The key of a control record; a type that is not known neither commits nor aborts."""

EndTransactionMarker = Fields(
    "version" / Version, "coordinator_epoch" / Default(Int32sb, 0), "trailing" / Ignored
)
"""The value of an ABORT or COMMIT (org.apache.kafka.common.record.EndTransactionMarker)."""


def names_directories(context: Any) -> bool:
    """Return whether the message that a voter is in names directories: version 1 (KIP-853)."""
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
"""Who leads, who votes, and whose votes were granted (LeaderChangeMessage.json)."""

EarlyVoter = Fields("voter_id" / Int32sb, "tags" / Tags)

EarlyLeaderChangeMessage = Fields(
    "leader_id" / Int32sb,
    "voters" / CompactArray(EarlyVoter),
    "granting_voters" / CompactArray(EarlyVoter),
    "tags" / Tags,
    "trailing" / Ignored,
)
"""The same in 2.8, when KRaft was for trying out: type 3, and no version (that release's JSON)."""

SnapshotHeaderRecord = Fields(
    "version" / Default(Int16sb, 0),
    "last_contained_log_timestamp" / Int64sb,
    "tags" / Tags,
    "trailing" / Ignored,
)
"""The first record of a KRaft snapshot (SnapshotHeaderRecord.json)."""

SnapshotFooterRecord = Fields("version" / Default(Int16sb, 0), "tags" / Tags, "trailing" / Ignored)
"""The last record of a KRaft snapshot, without which it is not whole (SnapshotFooterRecord.json)."""

KRaftVersionRecord = Fields(
    "version" / Default(Int16sb, 0),
    "k_raft_version" / Int16sb,
    "tags" / Tags,
    "trailing" / Ignored,
)
"""The version of KRaft from here on (KRaftVersionRecord.json)."""

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
"""The voters from here on, and where they listen (VotersRecord.json)."""
