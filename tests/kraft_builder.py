"""Builds the log.dirs of a KRaft broker, with the records of its metadata log."""

import base64
import json
import struct
from pathlib import Path
from typing import Any, ClassVar

import magicbyte as mb
from log_builder import CONTROL, batch_of, control, uvarint
from magicbyte.verification.broker import BrokerPrediction

CLUSTER = "5L6g3nShT-eMCtK--X86sw"
METADATA = "__cluster_metadata-0"
LEADER_CHANGE, SNAPSHOT_HEADER, SNAPSHOT_FOOTER = 2, 3, 4


def uuid(number: int) -> str:
    """Return the id whose last two bytes are *number*, above the reserved ones."""
    return base64.urlsafe_b64encode((0x1000 + number).to_bytes(16))[:22].decode()


def raw(id_: str) -> bytes:
    return base64.urlsafe_b64decode(id_ + "==")


def framed(type_: int, version: int, body: bytes) -> bytes:
    return uvarint(1) + uvarint(type_) + uvarint(version) + body + uvarint(0)


def text(value: str) -> bytes:
    return uvarint(len(value) + 1) + value.encode()


def array(*items: bytes) -> bytes:
    return uvarint(len(items) + 1) + b"".join(items)


def ints(*numbers: int) -> bytes:
    return array(*(struct.pack(">i", number) for number in numbers))


def topic_record(name: str, id_: str) -> bytes:
    return framed(2, 0, text(name) + raw(id_))


def partition_record(
    topic_id: str, number: int, replicas: tuple[int, ...], directories: tuple[str, ...]
) -> bytes:
    nodes = ints(*replicas)
    body = struct.pack(">i", number) + raw(topic_id) + nodes + nodes + ints() + ints()
    body += struct.pack(">iii", replicas[0], 0, 0) + array(*map(raw, directories))
    return framed(3, 1, body)


def removal_record(topic_id: str) -> bytes:
    return framed(9, 0, raw(topic_id))


def registration(node: int, directories: tuple[str, ...]) -> bytes:
    body = struct.pack(">i?", node, False) + raw(uuid(node)) + struct.pack(">q", 1)
    body += array() + array() + uvarint(0) + struct.pack(">??", False, False)
    log_dirs = array(*map(raw, directories))
    return (
        uvarint(1)
        + uvarint(0)
        + uvarint(3)
        + body
        + uvarint(1)
        + uvarint(0)
        + uvarint(len(log_dirs))
        + log_dirs
    )


def feature(name: str = "metadata.version", level: int = 20) -> bytes:
    return framed(12, 0, text(name) + struct.pack(">h", level))


def leader_change(base: int, *voters: int) -> bytes:
    members = array(*(struct.pack(">i", voter) + uvarint(0) for voter in voters))
    value = struct.pack(">hi", 0, voters[0]) + members + members + uvarint(0)
    return control(LEADER_CHANGE, base, -1, value=value, flags=CONTROL)


def snapshot(*values: bytes, footer: bool = True) -> bytes:
    """Return a snapshot of the metadata log with *values*."""
    header = control(
        SNAPSHOT_HEADER, 0, -1, value=struct.pack(">hq", 0, 0) + uvarint(0), flags=CONTROL
    )
    data = header + (batch_of(1, *values) if values else b"")
    if footer:
        end = 1 + len(values)
        data += control(
            SNAPSHOT_FOOTER, end, -1, value=struct.pack(">h", 0) + uvarint(0), flags=CONTROL
        )
    return data


class KraftBroker:
    """A broker with two log.dirs and two topics of two partitions; node 1 is broker and controller.

    Partition 0 of each topic is in log-0, partition 1 in log-1. Each has ten records.
    """

    topic_ids: ClassVar = {"alpha": uuid(1), "beta": uuid(2)}
    directory_ids = (uuid(100), uuid(101))
    end = 10

    def __init__(self, path: Path) -> None:
        self.path = path
        self.log_dirs = [path / "log-0", path / "log-1"]
        for log_dir, directory_id in zip(self.log_dirs, self.directory_ids, strict=True):
            log_dir.mkdir(parents=True)
            (log_dir / ".kafka_cleanshutdown").write_text("{}")
            self.properties(log_dir, directory_id=directory_id)
        self.place("alpha", 0, 0)
        self.place("beta", 0, 0)
        self.place("alpha", 1, 1)
        self.place("beta", 1, 1)
        self.batches = [leader_change(0, 1)]
        self.append(feature(), registration(1, self.directory_ids))
        for topic, id_ in self.topic_ids.items():
            self.append(
                topic_record(topic, id_),
                *(partition_record(id_, n, (1,), (self.directory_ids[n],)) for n in range(2)),
            )
        self.write_metadata()

    @property
    def metadata(self) -> Path:
        return self.log_dirs[0] / METADATA

    @property
    def next_offset(self) -> int:
        return sum(struct.unpack_from(">i", batch, 57)[0] for batch in self.batches)

    def properties(self, log_dir: Path, **values: Any) -> None:
        """Write meta.properties, with *values* in place of the right ones."""
        known = {"version": 1, "node_id": 1, "cluster_id": CLUSTER, "directory_id": uuid(100)}
        lines = [
            f"{name.replace('_', '.')}={value}"
            for name, value in (known | values).items()
            if value is not None
        ]
        (log_dir / "meta.properties").write_text("\n".join(lines) + "\n")

    def place(self, topic: str, number: int, log_dir: int, topic_id: str | None = None) -> Path:
        """Write the folder of a partition."""
        folder = self.log_dirs[log_dir] / f"{topic}-{number}"
        folder.mkdir()
        values = [b"v"] * self.end
        (folder / f"{0:020}.log").write_bytes(batch_of(0, *values))
        (folder / f"{0:020}.index").write_bytes(b"")
        id_ = topic_id or self.topic_ids[topic]
        (folder / "partition.metadata").write_text(f"version: 0\ntopic_id: {id_}\n")
        return folder

    def append(self, *values: bytes) -> None:
        """Append a batch to the metadata log, which `write_metadata` writes."""
        self.batches.append(batch_of(self.next_offset, *values))

    def write_metadata(self) -> None:
        self.metadata.mkdir(exist_ok=True)
        (self.metadata / f"{0:020}.log").write_bytes(b"".join(self.batches))
        state = {
            "clusterId": "",
            "leaderId": 1,
            "leaderEpoch": 1,
            "votedId": -1,
            "appliedOffset": 0,
        }
        state |= {"currentVoters": [{"voterId": 1}], "data_version": 0}
        (self.metadata / "quorum-state").write_text(json.dumps(state))

    def verify(self, *log_dirs: Path, **options: Any) -> mb.Verification:
        return mb.verify(*(log_dirs or self.log_dirs), **options)

    def predict(self, **options: Any) -> tuple[str, list[str], dict[str, str]]:
        """Return the verdict of the broker, its reasons, and the partitions that are not intact."""
        found = self.verify(**options)
        (broker,) = found.brokers
        verdicts = {
            f"{row['topic']}-{row['partition']}": row["verdict"] for row in found.partitions
        }
        return (
            broker.verdict,
            broker.reasons,
            {name: word for name, word in verdicts.items() if word != "intact"},
        )

    def prediction(self, **options: Any) -> BrokerPrediction:
        (broker,) = self.verify(**options).brokers
        return broker
