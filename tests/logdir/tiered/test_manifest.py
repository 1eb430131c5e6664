"""Tests of segments as Aiven's plugin uploads them: chunks, manifests, and faults in both."""

import base64
import json
import pickle
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import zstandard

import magicbyte as mb
from io_faults import FaultyDisk, faulty_disk
from magicbyte.logdir._manifest import MAX_MANIFEST_BYTES, parse_manifest
from magicbyte.logdir.embedded_file import EmbeddedFile, EmbeddedRange
from magicbyte.logdir.log_file import LogFile
from magicbyte.reading.split import Split
from magicbyte.spark._pipeline_plan import decode, encode
from surveys import surveys_of
from tiered_segments import aiven_partition, chunk_table, segments_of

NAME = "tiered-0"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def chunked(remote: Path, store: Path) -> Path:
    """The folder of tiered-0 in *store*: its segments uploaded in chunks of 1000 bytes."""
    return aiven_partition(remote, store, NAME)


@pytest.fixture
def manifest(chunked: Path) -> Path:
    """The manifest of the second segment of tiered-0."""
    return sorted(chunked.glob("*.rsm-manifest"))[1]


def offsets(*paths: Any, **options: Any) -> list[int]:
    return [row["offset"] for row in mb.open(*paths, **options).records(["offset"]).to_pylist()]


def changed(manifest: Path, **fields: Any) -> None:
    """Set *fields* in the manifest file, or in its chunk index if that has the name."""
    made = json.loads(manifest.read_text())
    for name, value in fields.items():
        part = made["chunkIndex"] if name in made["chunkIndex"] or name[0] == "_" else made
        part[name.removeprefix("_")] = value
    manifest.write_text(json.dumps(made))


def encrypt(manifest: dict[str, Any]) -> None:
    manifest["encryption"] = {"dataKey": "key1:AAAA", "aad": "AAAA"}


@pytest.mark.parametrize("prefix", ["", "some/prefix"])
@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize("chunk_bytes", [1, 61, 1000, 1 << 22])
def test_chunks_are_read_as_the_segment(
    remote: Path, store: Path, chunk_bytes: int, compress: bool, prefix: str
) -> None:
    options = {"chunk_bytes": chunk_bytes, "compress": compress}
    folder = aiven_partition(remote, store / prefix, NAME, **options)
    columns = ["topic", "partition", "offset", "timestamp", "key", "value"]
    plain = mb.open(remote, topics=["tiered"], partitions=[0]).records(columns).to_table()
    assert mb.open(store).records(columns).to_table() == plain
    assert mb.open(folder).records(columns).to_table() == plain
    found = mb.verify(store)
    assert found.findings == []
    assert found.summary["size_bytes"] == sum(
        segment.stat().st_size for segment in segments_of(remote, NAME)
    )


def test_test_data_has_both_kinds_of_chunk_index(remote: Path, tmp_path: Path) -> None:
    """Chunks of 1 byte and of 1000 bytes give both kinds, so the tests above read both."""
    kinds = set()
    for chunk_bytes in (1, 1000):
        folder = aiven_partition(remote, tmp_path / str(chunk_bytes), NAME, chunk_bytes=chunk_bytes)
        for manifest in folder.glob("*.rsm-manifest"):
            kinds.add(json.loads(manifest.read_text())["chunkIndex"]["type"])
    assert kinds == {"fixed", "variable"}


@pytest.mark.parametrize("transactions", ["markers", "index"])
def test_transactions_go_from_chunks_into_the_local_log(
    tiered: Any, tmp_path: Path, transactions: str
) -> None:
    aiven_partition(tiered.remote, tmp_path, "tiered-transactions-1")
    chosen = {"topics": ["tiered-transactions"], "partitions": [1], "transactions": transactions}
    assert offsets(tiered.log_dir, tmp_path, **chosen) == offsets(
        tiered.log_dir, tiered.remote, **chosen
    )
    told = [one.code for one in surveys_of(mb.open(tiered.log_dir, tmp_path, **chosen))[0].findings]
    assert told == ([] if transactions == "markers" else ["txnindex-trusted"])


@pytest.mark.usefixtures("chunked")
def test_indexes_lie_in_one_object(remote: Path, store: Path) -> None:
    columns = ["file", "file_kind", "size_bytes"]
    rows = mb.open(store).segments(columns).to_pylist()
    plain = mb.open(remote, topics=["tiered"], partitions=[0]).segments(columns).to_table()
    indexes = [row for row in plain.to_pylist() if row["file_kind"] != "metadata"]
    assert [row for row in rows if row["file_kind"] != "metadata"] == indexes


@pytest.mark.parametrize("chunk_bytes", [61, 1 << 22])
def test_a_segment_that_is_named_is_read_by_the_manifest_beside_it(
    remote: Path, tmp_path: Path, chunk_bytes: int
) -> None:
    folder = aiven_partition(remote, tmp_path / "store", NAME, chunk_bytes=chunk_bytes)
    assert offsets(sorted(folder.glob("*.log"))[1]) == list(range(99, 208))


def test_an_encrypted_segment_is_refused_by_name(remote: Path, store: Path) -> None:
    folder = aiven_partition(remote, store, NAME, change=encrypt)
    for path in (store, next(folder.glob("*.log"))):
        with pytest.raises(mb.InputError, match=r"manifest: .* encrypted segment \(key 'key1'\)"):
            mb.open(path)
    with pytest.raises(mb.InputError, match="encrypted"):
        mb.verify(folder)


def test_encryption_does_not_matter_where_the_local_log_has_it_all(
    tiered: Any, tmp_path: Path
) -> None:
    aiven_partition(tiered.remote, tmp_path, "tiered-some-local-0", change=encrypt)
    chosen = {"topics": ["tiered-some-local"], "partitions": [0]}
    assert offsets(tiered.log_dir, tmp_path, **chosen) == list(range(338))


def test_a_segment_without_its_manifest_is_an_unfinished_upload(
    chunked: Path, store: Path, remote: Path
) -> None:
    last = sorted(chunked.glob("*.rsm-manifest"))[-1]
    last.unlink()
    found = mb.verify(store)
    assert [one.code for one in found.findings] == ["remote-unfinished"]
    assert found.findings[0].file == last.name.replace("rsm-manifest", "log")
    assert offsets(store) == list(range(208))


def fixed(chunk_bytes: int) -> dict[str, Any]:
    sizes = {"_transformedChunkSize": chunk_bytes, "_finalTransformedChunkSize": 5}
    return {"type": "fixed", **sizes}


DAMAGE: dict[str, tuple[dict[str, Any], str]] = {
    "another version": ({"version": "2"}, "version"),
    "a version that is a number": ({"version": 1}, "version"),
    "no compression flag": ({"compression": None}, "compression"),
    "a chunk index that is a list": ({"chunkIndex": []}, "chunkIndex"),
    "indexes that are none": ({"segmentIndexes": 7}, "segmentIndexes"),
    "an unknown kind": ({"type": "other"}, "type"),
    "no chunk size": ({"originalChunkSize": None}, "originalChunkSize"),
    "a chunk size of 0": ({"originalChunkSize": 0}, "originalChunkSize"),
    "a chunk size that is true": ({"originalChunkSize": True}, "originalChunkSize"),
    "chunks too large for memory": (
        {"originalChunkSize": (1 << 31) - 1, "originalFileSize": (1 << 31) - 1},
        "originalChunkSize",
    ),
    "more chunks than bytes": (
        {"originalChunkSize": 1, "originalFileSize": (1 << 31) - 1},
        "originalChunkSize",
    ),
    "a file size below 0": ({"originalFileSize": -1}, "originalFileSize"),
    "a file size that is no number": ({"originalFileSize": "5"}, "originalFileSize"),
    "a file size beyond a segment's": ({"originalFileSize": 1 << 31}, "originalFileSize"),
    "a table that is no text": ({"transformedChunks": 5}, "transformedChunks"),
    "a table that is no base64": ({"transformedChunks": "é"}, "transformedChunks"),
    "a table that is no zstd": ({"transformedChunks": "AAAA"}, "transformedChunks"),
    "a table of too few": ({"transformedChunks": chunk_table([5, 5])}, "transformedChunks"),
    "a table of too many": ({"transformedChunks": chunk_table([5] * 5000)}, "transformedChunks"),
    "chunks beyond the object": (
        {"transformedChunks": chunk_table([900, 901, 900, 901])},
        "chunkIndex",
    ),
    "fixed chunks below 0": (fixed(-1), "transformedChunkSize"),
    "fixed chunks beyond the object": (fixed(1 << 30), "transformedChunkSize"),
    "fixed chunks that do not add up": (fixed(5), "chunkIndex"),
    "fixed chunks of a size that is true": (fixed(True), "transformedChunkSize"),
    "not compressed, and of another size": ({"compression": False}, "originalFileSize"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_a_damaged_manifest_is_named_and_its_segment_left_out(
    manifest: Path, store: Path, case: str
) -> None:
    fields, field = DAMAGE[case]
    changed(manifest, **fields)
    check_damaged(store, manifest, field)


def check_damaged(store: Path, manifest: Path, field: str | None) -> None:
    with pytest.raises(mb.FormatError) as raised:
        mb.open(store)
    assert (raised.value.code, raised.value.field) == ("manifest-invalid", field)
    assert str(raised.value).startswith(str(manifest))
    found = mb.verify(store)
    (one,) = [one for one in found.findings if one.code == "manifest-invalid"]
    assert (one.file, one.field, one.severity) == (manifest.name, field, "error")
    assert "offsets 99 to 207 are missing" in [one.message for one in found.findings]
    assert offsets(store, on_damage="skip") == [*range(99), *range(208, 310)]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda table: table[:3] + b"\x03" + table[4:], id="a count too low"),
        pytest.param(lambda table: table[:8] + b"\0" + table[9:], id="numbers of no byte"),
        pytest.param(
            lambda table: table[:4] + bytes(4) + b"\x05" + table[9:], id="numbers of five bytes"
        ),
        pytest.param(lambda table: table[:-1], id="a byte too few"),
        pytest.param(lambda table: table[:-4] + b"\0" + table[-4:], id="a byte too many"),
        pytest.param(lambda table: b"", id="nothing"),
    ],
)
def test_a_damaged_table_of_chunks_is_named(manifest: Path, store: Path, change: Any) -> None:
    text = json.loads(manifest.read_text())["chunkIndex"]["transformedChunks"]
    table = zstandard.decompress(base64.b64decode(text))
    assert (table[3], table[8]) == (4, 1)
    text = base64.b64encode(zstandard.compress(change(table))).decode()
    changed(manifest, transformedChunks=text)
    check_damaged(store, manifest, "transformedChunks")


def test_more_bytes_behind_a_table_of_chunks_are_not_passed_over() -> None:
    """A table of chunk sizes with a surplus byte is an error: 16 bytes, where 15 are expected."""
    table = (3).to_bytes(4, "big") + bytes(4) + b"\x01" + b"\1\1" + bytes([0, 0, 0, 1]) + b"\0"
    made = {
        "version": "1",
        "compression": True,
        "chunkIndex": {
            "type": "variable",
            "originalChunkSize": 10,
            "originalFileSize": 30,
            "transformedChunks": base64.b64encode(zstandard.compress(table)).decode(),
        },
    }
    with pytest.raises(mb.FormatError, match="a table of 16 bytes, expected 15"):
        parse_manifest(json.dumps(made).encode(), path="m", object_bytes=3, indexes_bytes=None)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "1" * 5000, '{"version": ' * 100_000, "\xff", '{"version": NaN}']
)
def test_a_manifest_that_is_no_json_object_is_named(manifest: Path, store: Path, text: str) -> None:
    manifest.write_bytes(text.encode("latin-1"))
    fields = {"[]": "the manifest", '{"version": NaN}': "version"}
    check_damaged(store, manifest, fields.get(text))


def test_a_manifest_that_is_too_long_is_not_read(manifest: Path, store: Path) -> None:
    with manifest.open("ab") as file:
        file.truncate(MAX_MANIFEST_BYTES + 1)
    check_damaged(store, manifest, None)
    with pytest.raises(mb.FormatError, match=f"at most {MAX_MANIFEST_BYTES}"):
        mb.open(store)


@pytest.mark.parametrize("field", ["offset", "timestamp", "producerSnapshot", "leaderEpoch"])
@pytest.mark.parametrize(
    "place", [None, {"position": 0}, {"position": 1 << 40, "size": 1}, {"position": 50, "size": 90}]
)
def test_an_index_that_lies_nowhere_is_named(
    manifest: Path, store: Path, field: str, place: Any
) -> None:
    made = json.loads(manifest.read_text())
    made["segmentIndexes"][field] = place
    manifest.write_text(json.dumps(made))
    wrong = field if place is None else "position" if place["position"] > 100 else "size"
    check_damaged(store, manifest, wrong)


def test_an_object_that_was_cut_is_not_the_manifests(manifest: Path, store: Path) -> None:
    log = manifest.with_suffix(".log")
    log.write_bytes(log.read_bytes()[:-1])
    check_damaged(store, manifest, "chunkIndex")


def chunks_of(folder: Path, number: int) -> tuple[Path, list[int]]:
    """Return the path of a chunked `.log` and the byte at which each chunk begins, then the end."""
    log = sorted(folder.glob("*.log"))[number]
    data, begins = log.read_bytes(), [0]
    magic = b"\x28\xb5\x2f\xfd"
    while (at := data.find(magic, begins[-1] + 1)) >= 0:
        begins.append(at)
    return log, [*begins, len(data)]


def lying(chunk: bytes) -> bytes:
    """Return the zstd frame *chunk* with a content size that is 100 bytes too small."""
    descriptor = chunk[4]
    assert descriptor >> 6 == 1  # two bytes of content size, less 256
    at = 5 if descriptor & 0x20 else 6
    size = int.from_bytes(chunk[at : at + 2], "little") - 100
    return chunk[:at] + size.to_bytes(2, "little") + chunk[at + 2 :]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda chunk: bytes(len(chunk)), id="zeros"),
        pytest.param(lambda chunk: b"\xff" * len(chunk), id="ones"),
        pytest.param(lying, id="content size"),
        pytest.param(
            lambda chunk: zstandard.compress(b"").ljust(len(chunk), b"\0"), id="an empty frame"
        ),
    ],
)
@pytest.mark.parametrize("number", [0, 1, -1])
def test_a_chunk_that_does_not_decompress_is_damage_around_which_is_read(
    chunked: Path, store: Path, number: int, damage: Any
) -> None:
    log, begins = chunks_of(chunked, -1)
    begin, end = begins[:-1][number], begins[1:][number]
    data = log.read_bytes()
    log.write_bytes(data[:begin] + damage(data[begin:end]) + data[end:])
    found = mb.verify(store)
    (one,) = [one for one in found.findings if one.code == "chunk-unreadable"]
    assert (one.severity, one.file) == ("error", log.name)
    assert f"at byte {begin} of the object" in one.message
    assert found.summary["damaged_bytes"] > 0
    with pytest.raises(mb.FormatError, match=f"at byte {begin} of the object"):
        offsets(store)
    left = offsets(store, on_damage="skip")
    assert left == sorted(set(left))
    lost = set(range(208, 310)) - set(left)
    assert lost == set(range(min(lost), max(lost) + 1))
    assert 0 < len(lost) < 70
    assert left[:208] == list(range(208))
    rows = mb.open(store, on_damage="skip").batches(["crc_valid", "disposition"]).to_pylist()
    assert {row["crc_valid"] for row in rows if row["disposition"] == "damaged"} <= {None}


def test_chunks_of_an_object_that_cannot_be_read_are_unreadable_and_others_are_read(
    chunked: Path, store: Path
) -> None:
    log, begins = chunks_of(chunked, 0)
    expected = offsets(store)
    with faulty_disk() as disk:
        disk.blocks[str(log)] = {0}
        rows = mb.open(store, on_damage="skip").records(["offset"])
        left = [row["offset"] for row in rows.to_pylist()]
        assert rows.report.bytes.total() == sum(
            row["size_bytes"] for row in mb.verify(store).partitions
        )
    assert 0 < len(left) < len(expected) and set(left) < set(expected)
    num_chunks = sum(begin < FaultyDisk.BLOCK for begin in begins[:-1])
    unread = [finding for finding in rows.report.findings if finding.code == "unreadable"]
    assert sum(finding.length or 0 for finding in unread) == rows.report.bytes["unreadable"]
    assert (num_chunks - 1) * 1000 < rows.report.bytes["unreadable"] <= num_chunks * 1000
    assert "chunk-unreadable" not in {finding.code for finding in rows.report.findings}


@pytest.mark.parametrize(
    ("change", "found"),
    [
        # The frame claims 100 MiB in some 9 KB; the reader does not allocate them.
        pytest.param(lambda chunk: bytes(100 << 20), "104857600 bytes", id="too many bytes"),
        pytest.param(lambda chunk: chunk[:-1], "999 bytes, expected 1000", id="too few bytes"),
    ],
)
def test_a_frame_of_another_length_is_damage(
    chunked: Path, store: Path, change: Any, found: str
) -> None:
    log, begins = chunks_of(chunked, 1)
    data = log.read_bytes()
    frame = zstandard.compress(change(zstandard.decompress(data[begins[1] : begins[2]])))
    log.write_bytes(data[: begins[1]] + frame + data[begins[2] :])
    sizes = [end - begin for begin, end in pairwise(begins)]
    sizes[1] = len(frame)
    changed(log.with_suffix(".rsm-manifest"), transformedChunks=chunk_table(sizes))
    (one,) = [one for one in mb.verify(store).findings if one.code == "chunk-unreadable"]
    assert (one.found, one.expected) == (found, "1000 bytes")


def test_any_place_is_read_and_few_chunks_are_kept(remote: Path, tmp_path: Path) -> None:
    segment = segments_of(remote, NAME)[0]
    plain = segment.read_bytes()
    folder = aiven_partition(remote, tmp_path, NAME, chunk_bytes=100)
    (log, *_) = mb.open(folder).logs[0].logs
    with log.open() as file:
        assert isinstance(file, EmbeddedFile)
        assert file.size_bytes == len(plain)
        for position in range(0, len(plain), 37):
            length = min(position % 450, len(plain) - position)
            assert file.read_at(position, length) == plain[position : position + length]
            assert file.reader(64)(position) == plain[position : position + 64]
            assert len(file._chunks) <= 2
        with pytest.raises(mb.ChangedError):
            file.read_at(len(plain), 1)
    assert pickle.loads(pickle.dumps(log)) == log


def test_object_that_became_shorter_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(b"abc")
    file = LogFile(str(path), "x.log", "log", 0, 2, embedded=EmbeddedRange(4, 2, 1))
    with pytest.raises(mb.ChangedError, match="3 bytes"):
        file.open()


def test_companions_as_objects_of_their_own_are_read(
    chunked: Path, store: Path, remote: Path
) -> None:
    """The plugin uploaded each index as an object of its own until October 2023."""
    for indexes in chunked.glob("*.indexes"):
        indexes.unlink()
    for segment in segments_of(remote, NAME):
        for beside in segment.parent.glob(f"{segment.stem}.*"):
            if beside.suffix != ".log":
                shutil.copy(beside, chunked / beside.name.replace("_", "-"))
    assert mb.verify(store).findings == []


def test_a_plan_that_is_kept_says_where_chunks_lie(chunked: Path) -> None:
    splits = mb.open(chunked).plan(1000)
    assert len(splits) > 10
    assert [decode(Split, json.loads(json.dumps(encode(split)))) for split in splits] == splits
