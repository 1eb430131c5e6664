"""Read from ZooKeeper's data folder which partitions a broker has (FileTxnLog, FileSnap, DataTree).

Kafka's default settings put ZooKeeper's data into a folder beside the log.dir. Only the nodes below
`/brokers/topics` and the cluster id are read, and nothing is written.
"""

import json
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from magicbyte.errors import InputError
from magicbyte.storage import Storage, is_url

DATA_FOLDER = "zookeeper/version-2"
"""Path of the data folder from the folder that holds a log.dir (dataDir)."""

MAX_FILE_BYTES = 256 << 20

LOG_MAGIC, SNAPSHOT_MAGIC = b"ZKLG", b"ZKSN"
FILE_HEADER_BYTES = 16

DELETE, SET_DATA, MULTI = 2, 5, 14
CREATE = (1, 15, 19, 21)
"""Transactions that create a node: plain, with its state, container, and with a time to live (ZooDefs.OpCode)."""

CLUSTER_ID = "/cluster/id"

_NAME = re.compile(r"(log|snapshot)\.([0-9a-f]{1,16})")
_TOPIC = re.compile(r"/brokers/topics/([^/]+)")
_ENTRY = struct.Struct(">qi")
_HEADER = struct.Struct(">qiqqi")
_STAT_BYTES = 8 * 4 + 4 * 3 + 8 * 2
"""StatPersisted: four ids and times, three versions, the session of an ephemeral node, and an id."""


class _MalformedError(Exception):
    """The bytes end, or a length is impossible: reading stops here."""


@dataclass(slots=True)
class _JuteReader:
    """Reads the primitive types of ZooKeeper's serialization (jute)."""

    data: bytes
    position: int = 0

    def take(self, size: int) -> bytes:
        if not 0 <= size <= len(self.data) - self.position:
            raise _MalformedError
        self.position += size
        return self.data[self.position - size : self.position]

    def int32(self) -> int:
        number: int = struct.unpack(">i", self.take(4))[0]
        return number

    def buffer(self) -> bytes:
        size = self.int32()
        return b"" if size == -1 else self.take(size)

    def text(self) -> str:
        return self.buffer().decode("utf-8", "replace")


@dataclass(slots=True)
class ZookeeperTopics:
    """Topics and the replicas of their partitions, as ZooKeeper's data folder has them."""

    replicas: dict[str, dict[int, tuple[int, ...]]] = field(default_factory=dict)
    cluster_id: str | None = None

    def on_broker(self, broker: int) -> set[tuple[str, int]]:
        """Return topic and number of each partition with a replica on *broker*."""
        return {
            (topic, number)
            for topic, partitions in self.replicas.items()
            for number, replicas in partitions.items()
            if broker in replicas
        }

    def put(self, path: str, data: bytes) -> None:
        match = _TOPIC.fullmatch(path)
        if match is None and path != CLUSTER_ID:
            return
        try:
            node_data = json.loads(data)
            if match is None:
                self.cluster_id = str(node_data["id"])
                return
            self.replicas[match[1]] = {
                int(number): tuple(map(int, replicas))
                for number, replicas in node_data["partitions"].items()
            }
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return

    def remove(self, path: str) -> None:
        match = _TOPIC.fullmatch(path)
        if match is not None:
            self.replicas.pop(match[1], None)


def read_zookeeper(log_dir: str, storage: Storage) -> ZookeeperTopics | None:
    """Return the topics in the ZooKeeper data folder beside *log_dir*; None if there is none."""
    folder = f"{log_dir.rpartition('/')[0]}/{DATA_FOLDER}"
    if is_url(log_dir) or not storage.exists(folder):
        return None
    try:
        file_names = [item.name for item in storage.list_folder(folder) if not item.is_folder]
    except InputError:
        return None
    files = sorted((int(m[2], 16), m[1], m[0]) for m in map(_NAME.fullmatch, file_names) if m)
    zookeeper_topics = ZookeeperTopics()
    # The newest snapshot, and the transactions after it; earlier ones are in the snapshot already.
    newest = max((zxid for zxid, kind, _ in files if kind == "snapshot"), default=-1)
    try:
        for zxid, kind, name in sorted(files, key=lambda file: (file[1] == "log", file[0])):
            if kind == "snapshot" and zxid < newest:
                continue
            data = storage.read_small(f"{folder}/{name}", max_bytes=MAX_FILE_BYTES)
            if kind == "snapshot":
                _apply_snapshot(data, zookeeper_topics)
            else:
                _apply_log(data, zookeeper_topics, after=newest)
    except InputError:
        return None
    return zookeeper_topics if zookeeper_topics.replicas else None


def _apply_snapshot(data: bytes, zookeeper_topics: ZookeeperTopics) -> None:
    if not data.startswith(SNAPSHOT_MAGIC):
        return
    reader = _JuteReader(data, FILE_HEADER_BYTES)
    try:
        for _ in range(reader.int32()):  # sessions
            reader.take(12)
        for _ in range(reader.int32()):  # access control lists
            reader.take(8)
            for _ in range(max(reader.int32(), 0)):
                reader.take(4)
                reader.buffer(), reader.buffer()
        while (path := reader.text()) != "/":
            node_bytes = reader.buffer()
            reader.take(8 + _STAT_BYTES)
            zookeeper_topics.put(path, node_bytes)
    except _MalformedError:
        return


def _apply_log(data: bytes, zookeeper_topics: ZookeeperTopics, *, after: int) -> None:
    if not data.startswith(LOG_MAGIC):
        return
    for transaction in _transactions(data):
        _, _, zxid, _, kind = _HEADER.unpack_from(transaction)
        if zxid <= after:
            continue
        try:
            _apply(kind, _JuteReader(transaction, _HEADER.size), zookeeper_topics)
        except _MalformedError:
            continue


def _transactions(data: bytes) -> Iterator[bytes]:
    """Yield the transactions of a log up to the first that is incomplete or has a wrong checksum."""
    position = FILE_HEADER_BYTES
    while position + _ENTRY.size <= len(data):
        checksum, size = _ENTRY.unpack_from(data, position)
        begin = position + _ENTRY.size
        transaction = data[begin : begin + max(size, 0)]
        if size < _HEADER.size or len(transaction) < size or zlib.adler32(transaction) != checksum:
            return
        yield transaction
        position = begin + size + 1  # one byte ends each entry


def _apply(kind: int, reader: _JuteReader, zookeeper_topics: ZookeeperTopics) -> None:
    if kind in CREATE or kind == SET_DATA:
        path = reader.text()
        zookeeper_topics.put(path, reader.buffer())
    elif kind == DELETE:
        zookeeper_topics.remove(reader.text())
    elif kind == MULTI:
        for _ in range(max(reader.int32(), 0)):
            part_kind = reader.int32()
            part = _JuteReader(reader.buffer())
            if part_kind != MULTI:
                _apply(part_kind, part, zookeeper_topics)
