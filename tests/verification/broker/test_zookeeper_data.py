"""Tests of what is read from ZooKeeper's data folder."""

import json
import struct
import zlib
from pathlib import Path

from magicbyte.storage import Storage
from magicbyte.verification.broker._zookeeper import ZookeeperTopics, read_zookeeper

CREATE, DELETE, SET_DATA, MULTI = 1, 2, 5, 14


def buffer(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def node(path: str, *replicas: int) -> bytes:
    partitions = {str(n): [replica] for n, replica in enumerate(replicas)}
    return buffer(path.encode()) + buffer(json.dumps({"partitions": partitions}).encode())


def entry(zxid: int, kind: int, body: bytes) -> bytes:
    data = struct.pack(">qiqqi", 0, 0, zxid, 0, kind) + body
    return struct.pack(">qi", zlib.adler32(data), len(data)) + data + b"B"


def read(tmp_path: Path, **files: bytes) -> ZookeeperTopics | None:
    folder = tmp_path / "zookeeper" / "version-2"
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        magic = b"ZKLG" if name.startswith("log") else b"ZKSN"
        content = magic + struct.pack(">iq", 2, -1) + data
        (folder / name.replace("_", ".")).write_bytes(content)
    return read_zookeeper(str(tmp_path / "log-0"), Storage())


def test_without_a_data_folder_nothing_is_known(tmp_path: Path) -> None:
    assert read_zookeeper(str(tmp_path / "log-0"), Storage()) is None


def test_topics_are_those_that_were_created_and_not_deleted(tmp_path: Path) -> None:
    log = entry(1, CREATE, node("/brokers/topics/a", 0, 1))
    log += entry(2, CREATE, node("/brokers/topics/b", 0))
    log += entry(3, DELETE, buffer(b"/brokers/topics/b"))
    log += entry(4, CREATE, buffer(b"/cluster/id") + buffer(b'{"version":"1","id":"x"}'))
    found = read(tmp_path, log_1=log)
    assert found is not None
    assert (found.on_broker(0), found.on_broker(1)) == ({("a", 0)}, {("a", 1)})
    assert found.cluster_id == "x"


def test_transactions_of_several_operations_are_applied(tmp_path: Path) -> None:
    part = node("/brokers/topics/a", 3)
    body = struct.pack(">ii", 1, CREATE) + buffer(part)
    found = read(
        tmp_path, log_1=entry(1, MULTI, body) + entry(2, SET_DATA, node("/brokers/topics/a", 5))
    )
    assert found is not None and found.on_broker(5) == {("a", 0)}


def test_snapshot_holds_what_earlier_transactions_did(tmp_path: Path) -> None:
    stat = bytes(8 + 60)
    acl = struct.pack(">iqii", 1, 1, 1, 31) + buffer(b"world") + buffer(b"anyone")
    tree = buffer(b"") + buffer(b"") + stat + node("/brokers/topics/a", 2) + stat + buffer(b"/")
    snapshot = struct.pack(">iqi", 1, 7, 3000) + acl + tree
    log = entry(1, CREATE, node("/brokers/topics/old", 2))
    log += entry(9, CREATE, node("/brokers/topics/new", 2))
    found = read(tmp_path, snapshot_5=snapshot, log_1=log)
    assert found is not None and found.on_broker(2) == {("a", 0), ("new", 0)}


def test_damaged_transaction_ends_the_log(tmp_path: Path) -> None:
    log = bytearray(entry(1, CREATE, node("/brokers/topics/a", 0)) * 2)
    log[-20] ^= 1
    found = read(tmp_path, log_1=bytes(log), log_2=b"\xff" * 50)
    assert found is not None and found.on_broker(0) == {("a", 0)}
