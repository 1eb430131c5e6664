"""Test vectors of bytes that real brokers wrote, cut from the logs in tests/data.

The expected records are what Kafka's own consumer read from the same logs (the folders `oracle`).
"""

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from magicbyte_tools.vectors.case import ExpectedHeader, ExpectedRow, VectorCase
from magicbyte_tools.vectors.directory_cases import META
from magicbyte_tools.vectors.entry_parts import EntryPart
from magicbyte_tools.vectors.log_case import valid
from magicbyte_tools.vectors.single_structure import FormatCases

DATA = Path(__file__).parents[3] / "tests" / "data"

LOG_DIRS = ("log-0", "log-1")
NO_TIMESTAMP = -1


def cases() -> Iterator[VectorCase]:
    return chain(formats(), lives(), compacted(), companions(), folders())


# What Kafka itself read from the logs


@cache
def batches(cluster: str, partition_name: str) -> tuple[dict[str, Any], ...]:
    return _oracle(DATA / cluster / "oracle" / "batches" / f"{partition_name}.ndjson.gz")


@cache
def records(cluster: str, partition_name: str, isolation: str) -> tuple[dict[str, Any], ...]:
    folder = DATA / cluster / "oracle" / "records"
    file = folder / f"{partition_name}.{isolation}.ndjson.gz"
    if not file.exists():  # read_committed gives the same records
        file = folder / f"{partition_name}.read_uncommitted.ndjson.gz"
    return _oracle(file)


def _oracle(path: Path) -> tuple[dict[str, Any], ...]:
    return tuple(map(json.loads, gzip.decompress(path.read_bytes()).decode().splitlines()))


def row_of(oracle_row: Mapping[str, Any]) -> ExpectedRow:
    timestamp, kind = oracle_row["timestamp"], oracle_row["timestamp_type"]
    return ExpectedRow(
        offset=oracle_row["offset"],
        timestamp=None if timestamp == NO_TIMESTAMP else timestamp,
        timestamp_type=None if kind == "NoTimestampType" else kind,
        key=_bytes(oracle_row["key"]),
        value=_bytes(oracle_row["value"]),
        headers=tuple(
            ExpectedHeader(key.encode(), _bytes(value)) for key, value in oracle_row["headers"]
        ),
    )


def _bytes(text: str | None) -> bytes | None:
    """Decode a key or value from hex; above 256 bytes only a hash was stored: a ValueError."""
    return None if text is None else bytes.fromhex(text)


def find_path(cluster: str, name: str) -> Path:
    """Return the path of the file or folder *name* in whichever log.dir of *cluster* has it."""
    return next(path for log_dir in LOG_DIRS if (path := DATA / cluster / log_dir / name).exists())


# Entries


def entries(
    cluster: str, partition_name: str, position: int, count: int, *, base: int = 0
) -> list[EntryPart]:
    """Read *count* log entries from byte *position* of the segment with base offset *base*."""
    name = f"{base:020}.log"
    data = find_path(cluster, f"{partition_name}/{name}").read_bytes()
    there = [one for one in batches(cluster, partition_name) if one["file"] == name]
    first = next(n for n, one in enumerate(there) if one["position"] == position)
    parts = []
    for one in there[first : first + count]:
        low, high = one["base_offset"], one["last_offset"]
        held = () if one["is_control"] else records(cluster, partition_name, "read_uncommitted")
        parts.append(
            EntryPart(
                data[one["position"] : one["position"] + one["size"]],
                tuple(row_of(found) for found in held if low <= found["offset"] <= high),
                high + 1,
            )
        )
    return parts


def source_of(cluster: str) -> str:
    return f"Kafka {cluster.partition('/')[0]}, {cluster} of tests/data"


def cut_from(
    name: str,
    path: str,
    position: int,
    why: str,
    *,
    count: int = 1,
    base: int = 0,
    classes: Sequence[int] = (),
) -> VectorCase:
    """Return the test vector of *count* log entries of the partition *path* below tests/data.

    The entries begin at byte *position* of the segment with base offset *base*.
    """
    cluster, _, partition_name = path.rpartition("/")
    parts = entries(cluster, partition_name, position, count, base=base)
    end = position + sum(map(len, parts))
    return valid(
        f"broker-{name}",
        why,
        *parts,
        source=source_of(cluster),
        made=f"bytes {position} to {end - 1} of {path}/{base:020}.log",
        classes=classes,
    )


WRITERS = {
    "java": "Kafka's Java client",
    "librdkafka": "librdkafka",
    "kafkapython": "kafka-python",
    "broker": "the broker itself, which recompressed what a client sent",
}

FORMATS = {
    "v0-broker-gzip": 2726, "v0-broker-lz4": 5074, "v0-broker-snappy": 4995,
    "v0-java-gzip": 0, "v0-java-lz4": 0, "v0-java-snappy": 0,
    "v0-kafkapython-gzip": 1210, "v0-kafkapython-snappy": 90,
    "v0-librdkafka-gzip": 3739, "v0-librdkafka-lz4": 48, "v0-librdkafka-snappy": 1255,
    "v1-broker-gzip": 0, "v1-broker-lz4": 0, "v1-broker-snappy": 0,
    "v1-java-gzip": 1178, "v1-java-lz4": 0, "v1-java-snappy": 3863,
    "v1-kafkapython-gzip": 0, "v1-kafkapython-lz4": 0, "v1-kafkapython-snappy": 5267,
    "v1-librdkafka-snappy": 0,
    "v2-broker-gzip": 2127, "v2-broker-lz4": 1039, "v2-broker-snappy": 1189,
    "v2-broker-zstd": 2094,
    "v2-java-gzip": 2896, "v2-java-lz4": 3748, "v2-java-none": 0, "v2-java-snappy": 1058,
    "v2-java-zstd": 2193,
    "v2-librdkafka-none": 1135, "v2-librdkafka-snappy": 1030,
    "v2-kafkapython-none": 0,
}  # fmt: skip
"""Position of a wrapper or batch of two or more records in each topic of 2.8/formats."""


def formats() -> Iterator[VectorCase]:
    for topic, position in FORMATS.items():
        magic, writer, codec = topic.split("-")
        how = "uncompressed" if codec == "none" else f"compressed with {codec}"
        yield cut_from(
            topic,
            f"2.8/formats/{topic}-0",
            position,
            f"{magic}, {how}, as written by {WRITERS[writer]}.",
        )


def lives() -> Iterator[VectorCase]:
    yield cut_from(
        "upgrade-from-v0-to-v1",
        "2.8/lives/upgraded-one-segment-0",
        2980,
        "The topic's format was raised: the next entry of the same segment is of v1.",
        count=2,
        classes=[12],
    )
    yield cut_from(
        "upgrade-from-v1-to-v2",
        "2.8/lives/upgraded-one-segment-0",
        7229,
        "The topic's format was raised once more, to v2.",
        count=2,
        classes=[12],
    )
    yield cut_from(
        "v1-append-time",
        "2.8/lives/v1-append-time-gzip-0",
        1259,
        "The broker stamped the wrapper; the messages inside still say the producer's time.",
    )
    yield cut_from(
        "v2-append-time",
        "2.8/lives/v2-append-time-none-0",
        4592,
        "The broker stamped the batch; base and deltas still say the producer's time.",
        classes=[56],
    )
    yield cut_from(
        "transaction-of-version-2",
        "4.3/transactions/many-epochs-0",
        78,
        "Every transaction has its own epoch, and its marker the next one (KIP-890).",
        count=6,
        base=4,
    )
    yield cut_from(
        "transaction-aborted-by-fencing",
        "3.9/transactions/fenced-0",
        0,
        "Fenced: the marker at 5 aborts data of the segment before, with a newer epoch; the "
        "producer's next incarnation goes on with the one after.",
        count=3,
        base=5,
    )
    yield cut_from(
        "transactions-interleaved",
        "2.8/lives/v2-transactions-0",
        78,
        "Three producers' transactions overlap, each ended by its own marker.",
        count=8,
        base=2,
    )
    yield cut_from(
        "headers",
        "4.3/plain/headers-0",
        8228,
        "Headers with keys that come twice, are empty, or have no value.",
    )
    yield cut_from(
        "times-of-long-ago", "4.3/plain/old-times-0", 2132, "A producer gives any time it likes."
    )
    yield cut_from(
        "metadata-log",
        "4.3/transactions/__cluster_metadata-0",
        0,
        "A log of KRaft begins with a control batch of the leader, which no consumer sees.",
        count=3,
    )


def compacted() -> Iterator[VectorCase]:
    old, new = "2.8/compacted", "4.3/compacted"
    wrappers = {
        "v0-compacted-gzip": (0, 0), "v0-compacted-lz4": (83, 0), "v0-compacted-snappy": (165, 461),
        "v1-compacted-gzip": (185, 261), "v1-compacted-lz4": (165, 320),
        "v1-compacted-snappy": (87, 433),
    }  # fmt: skip
    for topic, (base, position) in wrappers.items():
        yield cut_from(
            topic,
            f"{old}/{topic}-0",
            position,
            "The cleaner took messages out of a wrapper: the offsets of the others stay, in v1 "
            "by the last one that is left.",
            base=base,
            classes=[36],
        )
    v2 = {
        "v2-compacted-gzip": (old, "v2-compacted-gzip-0", 114, 0),
        "v2-compacted-lz4": (old, "v2-compacted-lz4-0", 104, 121),
        "v2-compacted-none": (old, "v2-compacted-none-0", 92, 569),
        "v2-compacted-snappy": (old, "v2-compacted-snappy-0", 103, 413),
        "v2-compacted-zstd": (new, "compacted-zstd-0", 0, 283),
    }
    for name, (cluster, partition, base, position) in v2.items():
        yield cut_from(
            name,
            f"{cluster}/{partition}",
            position,
            "The cleaner took records out of a batch, which keeps its first and last offset.",
            base=base,
            classes=[17],
        )
    horizons = {
        "delete-horizon-gzip": ("compacted-gzip-0", 0, 728),
        "delete-horizon-lz4": ("compacted-lz4-0", 0, 235),
        "delete-horizon-snappy": ("compacted-snappy-0", 0, 665),
        "delete-horizon-zstd": ("compacted-zstd-0", 0, 0),
        "delete-horizon-none": ("tombstones-gone-0", 0, 117),
        "delete-horizon-of-append-time": ("compacted-append-time-0", 169, 582),
        "delete-horizon-of-a-marker": ("transactional-0", 0, 0),
    }
    for name, (partition, base, position) in horizons.items():
        yield cut_from(
            name,
            f"{new}/{partition}",
            position,
            "The cleaner set a delete horizon: the batch's base time is when its tombstones or "
            "its marker may go.",
            base=base,
            classes=[52],
        )
    yield cut_from(
        "emptied-batches",
        f"{new}/emptied-batches-0",
        0,
        "Five batches without records, which hold their producers' sequences, and one with.",
        count=6,
        classes=[19],
    )
    yield cut_from(
        "emptied-marker",
        f"{new}/markers-gone-0",
        0,
        "A marker that the cleaner emptied: it says no more what it was.",
        classes=[20],
    )


# Companion files


def companions() -> Iterator[VectorCase]:
    new = "4.3/transactions"
    files = {
        "kafka_offset_index": (new, "interleaved-one-segment-1/00000000000000000028.index"),
        "kafka_time_index": (new, "interleaved-one-segment-1/00000000000000000028.timeindex"),
        "kafka_transaction_index": (new, "interleaved-one-segment-1/00000000000000000028.txnindex"),
        "kafka_producer_snapshot": (new, "open-1/00000000000000000010.snapshot"),
        "kafka_partition_metadata": (new, "open-1/partition.metadata"),
        "kafka_offset_checkpoint": (new, "replication-offset-checkpoint"),
        "kafka_leader_epoch_checkpoint": ("4.3/plain", "epochs-0/leader-epoch-checkpoint"),
        "kafka_kraft_snapshot": (
            "3.9/transactions",
            "__cluster_metadata-0/00000000000000000031-0000000001.checkpoint",
        ),
    }
    for format_id, (cluster, name) in files.items():
        yield _file(format_id, "broker", cluster, name)
    for cluster in ("3.9/transactions", "4.3/plain"):
        release = cluster.partition("/")[0].replace(".", "-")
        yield _file("kafka_kraft_snapshot", f"bootstrap-{release}", cluster, "bootstrap.checkpoint")
    form = FormatCases("kafka_metadata_record", source_of(new))
    for row in map(row_of, records(new, "__cluster_metadata-0", "read_uncommitted")[:3]):
        assert row.value is not None
        yield form.whole(
            f"broker-offset-{row.offset}",
            row.value,
            "The value of a record of __cluster_metadata, as a controller wrote it.",
            made=f"the value of offset {row.offset} of 4.3/transactions/__cluster_metadata-0",
        )


def _file(format_id: str, name: str, cluster: str, path: str) -> VectorCase:
    return FormatCases(format_id, source_of(cluster)).whole(
        name,
        find_path(cluster, path).read_bytes(),
        f"As a broker of Kafka {cluster.partition('/')[0]} wrote it, whatever the descriptions say.",
        made=f"{cluster}/{path}",
    )


# Whole partitions


def folders() -> Iterator[VectorCase]:
    for name, cluster, partition, why in (
        (
            "broker-fenced-4-3",
            "4.3/transactions",
            "fenced-0",
            "A producer was fenced: the coordinator aborted its transaction with the next epoch.",
        ),
        (
            "broker-fenced-3-9",
            "3.9/transactions",
            "fenced-0",
            "A producer was fenced, under the transactions of version 1.",
        ),
        (
            "broker-many-epochs",
            "4.3/transactions",
            "many-epochs-0",
            "Transactions of version 2, committed and aborted in turn.",
        ),
    ):
        topic, _, number = partition.rpartition("-")
        data = {"meta.properties": META}
        for file in sorted(find_path(cluster, partition).iterdir()):
            data[f"{partition}/{file.name}"] = file.read_bytes()
        yield VectorCase(
            format="log_dir",
            name=name,
            why=why,
            verdict="valid",
            data=data,
            made=f"the folder {cluster}/{partition}, and a meta.properties",
            source=source_of(cluster),
            rows=tuple(
                replace(row_of(found), topic=topic, partition=int(number))
                for found in records(cluster, partition, "read_committed")
            ),
        )
