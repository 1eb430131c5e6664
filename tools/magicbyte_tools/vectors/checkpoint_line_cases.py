"""Test vectors of lines in checkpoints and `partition.metadata`: their order, damage, rests and spelling."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from magicbyte_tools.vectors.case import VectorCase
from magicbyte_tools.vectors.companion_cases import TOPIC_ID, checkpoint, epochs
from magicbyte_tools.vectors.single_structure import FormatCases

ZEROS = "A file of zeros, as a file system leaves it after a power failure."

SPELLING = "Java's readLine, split and parseInt take it; no broker writes it."
VERSION_ALONE = "Kafka takes a file that ends behind its version for one without entries."


def cases() -> Iterator[VectorCase]:
    return chain(offset_checkpoints(), leader_epoch_checkpoints(), partition_metadata())


def offset_checkpoints() -> Iterator[VectorCase]:
    form = FormatCases("kafka_offset_checkpoint", "CheckpointFile, OffsetCheckpointFile", "text")
    code = "checkpoint-invalid"
    yield form.whole(
        "partitions-not-sorted",
        checkpoint(("t", 9, 5), ("s", 0, 7), ("t", 0, 6)),
        "Entries are in no order.",
    )
    for name, data, why in (
        ("zeros", bytes(24), ZEROS),
        ("cut-in-the-topic", b"0\n2\nt 0 5\na-to", "The second entry ends in its topic."),
        ("empty-line-behind", b"0\n1\nt 0 5\n\n", "A line without fields is no entry."),
    ):
        yield form.broken(name, data, why, code=code)
    for name, line, why in (
        ("fourth-field", ("t", "0", "5 6"), "An entry has three fields."),
        ("partition-above-int32", ("t", str(2**31), "5"), "Partitions have 32 bits."),
        ("offset-with-a-point", ("t", "0", "5.0"), "An offset is a decimal number."),
    ):
        entry = dict(zip(("topic", "partition", "offset"), line, strict=True))
        yield form.broken(
            name,
            f"0\n1\n{' '.join(line)}\n".encode(),
            why,
            caught_by="exact",
            code=code,
            fields={"version": "0", "num_entries": "1", "entries": [entry]},
        )
    yield form.broken(
        "count-line-empty",
        b"0\n\n",
        "The count is a number.",
        caught_by="exact",
        code=code,
        fields={"version": "0", "num_entries": "", "entries": []},
    )
    yield form.doubtful(
        "topic-twice",
        checkpoint(("t", 0, 5), ("t", 0, 6)),
        "A partition has one offset.",
        caught_by="exact",
        reason="Kafka keeps the last of two lines silently; no broker writes two.",
    )
    yield form.doubtful(
        "offset-negative",
        checkpoint(("t", 0, -1)),
        "An offset is 0 or more.",
        caught_by="exact",
        reason="CheckpointFile reads any number; no broker writes a negative one.",
    )
    for name, data, why, reason in (
        ("version-alone", b"0\n", "The file ends behind its version.", VERSION_ALONE),
        ("version-00", b"00\n1\nt 0 5\n", "A zero before the version.", SPELLING),
        ("carriage-returns", b"0\r1\rt 0 5\r", "Lines end as they once did.", SPELLING),
    ):
        yield form.doubtful(name, data, why, caught_by="grammar", reason=reason)


def leader_epoch_checkpoints() -> Iterator[VectorCase]:
    form = FormatCases("kafka_leader_epoch_checkpoint", "LeaderEpochCheckpointFile", "text")
    cache = "LeaderEpochCheckpointFile, LeaderEpochFileCache.assign"
    yield form.whole("no-entries", epochs(), "Version 0, a count of 0, and no lines.")
    for name, data, why in (
        ("zeros", bytes(8), ZEROS),
        ("cut-in-an-entry", b"0\n2\n0 0\n3", "The second entry ends in its epoch."),
        ("empty-line-behind", b"0\n1\n0 0\n\n", "A line without fields is no entry."),
    ):
        yield form.broken(name, data, why)
    for name, count, line, why in (
        ("count-2-of-1", "2", ("0", "0"), "An entry is missing."),
        ("third-field", "1", ("0", "0 0"), "An entry has two fields."),
        ("epoch-above-int32", "1", (str(2**31), "0"), "Epochs have 32 bits."),
        ("offset-above-int64", "1", ("0", str(2**63)), "Offsets have 64 bits."),
        ("offset-no-number", "1", ("0", "zero"), "An offset is a decimal number."),
    ):
        entry = dict(zip(("epoch", "start_offset"), line, strict=True))
        yield form.broken(
            name,
            f"0\n{count}\n{' '.join(line)}\n".encode(),
            why,
            caught_by="exact",
            fields={"version": "0", "num_entries": count, "entries": [entry]},
        )
    for name, entries, dropped, why in (
        ("epochs-go-back", [(0, 0), (4, 120), (3, 200)], "earlier", "Epochs rise."),
        (
            "offsets-go-back",
            [(0, 0), (3, 200), (4, 120)],
            "earlier",
            "Start offsets rise with the epochs.",
        ),
        ("epoch-twice", [(0, 0), (3, 120), (3, 200)], "later", "An epoch begins once."),
        ("offset-twice", [(0, 0), (3, 120), (4, 120)], "earlier", "One epoch begins at an offset."),
    ):
        yield form.doubtful(
            name,
            epochs(*entries),
            why,
            caught_by="directory",
            source=cache,
            reason="LeaderEpochCheckpointFile reads all entries. LeaderEpochFileCache, into which a "
            f"broker loads them, drops the {dropped} of two that contradict each other. No broker "
            "writes it.",
        )
    for name, entries, why in (
        ("epoch-negative", [(-1, 0), (3, 120)], "An epoch is 0 or more."),
        ("offset-negative", [(0, -1), (3, 120)], "An offset is 0 or more."),
    ):
        yield form.doubtful(
            name,
            epochs(*entries),
            why,
            caught_by="directory",
            source=cache,
            reason="LeaderEpochCheckpointFile reads any number; LeaderEpochFileCache refuses negative "
            "ones. No broker writes one.",
        )
    for name, data, why, reason in (
        ("version-alone", b"0\n", "The file ends behind its version.", VERSION_ALONE),
        ("crlf", b"0\r\n1\r\n0 0\r\n", "Lines end as on Windows.", SPELLING),
        ("last-line-not-ended", b"0\n1\n0 0", "The last line has no end.", SPELLING),
        ("tabs", b"0\n1\n0\t0\n", "Fields are behind tabs.", SPELLING),
    ):
        yield form.doubtful(name, data, why, caught_by="grammar", reason=reason)


def partition_metadata() -> Iterator[VectorCase]:
    form = FormatCases("kafka_partition_metadata", "PartitionMetadataFile", "text")
    identifier = TOPIC_ID.encode()

    def text(topic_id: bytes, version_text: bytes = b"0") -> bytes:
        return b"version: " + version_text + b"\ntopic_id: " + topic_id

    for name, data, why in (
        ("empty", b"", "A file of no bytes, as a crash leaves it."),
        ("zeros", bytes(42), ZEROS),
        ("version-alone", b"version: 0", "The file ends behind its version."),
        ("keys-without-a-colon", b"version 0\ntopic_id " + identifier, "A colon follows a key."),
    ):
        yield form.broken(name, data, why)
    fields: dict[str, Any] = {
        "version_key": "version:",
        "version": "0",
        "topic_id_key": "topic_id:",
        "topic_id": TOPIC_ID,
    }
    for name, data, changes, why in (
        ("version-minus-1", text(identifier, b"-1"), {"version": "-1"}, "A version is 0 or more."),
        (
            "version-no-number",
            text(identifier, b"zero"),
            {"version": "zero"},
            "A version is a number.",
        ),
        (
            "id-zero",
            text(b"A" * 22),
            {"topic_id": "A" * 22},
            "The id of nothing but zeros is none.",
        ),
    ):
        yield form.broken(name, data, why, caught_by="exact", fields=fields | changes)
    for name, data, why in (
        ("crlf", text(identifier).replace(b"\n", b"\r\n"), "The first line ends as on Windows."),
        ("id-padded", text(identifier + b"=="), "Base64 of 16 bytes may end in two equals signs."),
        ("two-spaces", text(b" " + identifier), "Two spaces follow the key of the id."),
    ):
        yield form.doubtful(
            name,
            data,
            why,
            caught_by="grammar",
            has_fields=False,
            reason="Kafka's reader takes it; no broker writes it.",
        )
