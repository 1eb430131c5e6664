"""Tests of the text files of a log.dir and of a partition, read as Kafka reads them."""

from pathlib import Path

import pytest

from magicbyte.errors import FormatError
from magicbyte.logdir.checkpoints import (
    LogDir,
    parse_offsets,
    parse_topic_id,
    read_first_epoch_start,
    read_log_dir,
    read_topic_id,
)
from magicbyte.storage import Storage

ONE = {("t", 0): 5}

READ = {
    "written by Kafka": (b"0\n1\nt 0 5\n", ONE),
    "empty": (b"", {}),
    "a version alone": (b"0", {}),
    "no line end behind the last": (b"0\n1\nt 0 5", ONE),
    "CR LF": (b"0\r\n1\r\nt 0 5\r\n", ONE),
    "CR": (b"0\r1\rt 0 5\r", ONE),
    "tabs and a form feed": (b"0\n1\nt\t0 \f5\f\n", ONE),
    "signs": (b"+0\n+1\nt -0 +5\n", ONE),
    "zeros in front": (b"00\n01\nt 000 05\n", ONE),
    "digits of another script": ("0\n1\nt 0 \u0665\n".encode(), ONE),
    "a partition twice": (b"0\n2\nt 0 4\nt 0 5\n", ONE),
    "a no-break space in a topic": ("0\n1\n\u00a0t 0 5\n".encode(), {("\u00a0t", 0): 5}),
    "the lowest": (
        b"0\n1\nt -2147483648 -9223372036854775808\n",
        {("t", -(1 << 31)): -(1 << 63)},
    ),
    "the highest": (
        b"0\n1\nt 2147483647 9223372036854775807\n",
        {("t", (1 << 31) - 1): (1 << 63) - 1},
    ),
}

REFUSED = {
    "version 1": (b"1\n0\n", "line 1"),
    "no version": (b"\n0\n", "line 1"),
    "a vertical tab in the version": (b"0\v0\n", "line 1"),
    "no count": (b"0\nt 0 5\n", "line 2"),
    "count above": (b"0\n2\nt 0 5\n", "line 2"),
    "count below": (b"0\n0\nt 0 5\n", "line 2"),
    "count beyond 32 bits": (b"0\n2147483648\nt 0 5\n", "line 2"),
    "two fields": (b"0\n1\nt 5\n", "line 3"),
    "four fields": (b"0\n1\nt 0 5 6\n", "line 3"),
    "blanks in front": (b"0\n1\n t 0 5\n", "line 3"),
    "a blank line": (b"0\n1\nt 0 5\n\n\n", "line 4"),
    "an underscore": (b"0\n1\nt 0 1_0\n", "line 3"),
    "no number": (b"0\n1\nt 0 five\n", "line 3"),
    "a separator that is none of Java's": (b"0\n1\nt 0\x1f5\n", "line 3"),
    "a partition beyond 32 bits": (b"0\n1\nt 2147483648 5\n", "line 3"),
    "a partition below 32 bits": (b"0\n1\nt -2147483649 5\n", "line 3"),
    "an offset beyond 64 bits": (b"0\n1\nt 0 9223372036854775808\n", "line 3"),
    "an offset below 64 bits": (b"0\n1\nt 0 -9223372036854775809\n", "line 3"),
    "a version beyond 32 bits": (b"4294967296\n0\n", "line 1"),
    "endless digits": (b"0\n1\nt 0 " + b"1" * 5000 + b"\n", "line 3"),
    "not UTF-8": (b"0\n1\n\xff 0 5\n", "byte 4"),
}


@pytest.mark.parametrize("what", READ)
def test_checkpoint_that_kafka_accepts_is_parsed(what: str) -> None:
    data, offsets = READ[what]
    assert parse_offsets(data) == offsets


@pytest.mark.parametrize("what", REFUSED)
def test_checkpoint_that_kafka_refuses_is_an_error_at_its_position(what: str) -> None:
    data, place = REFUSED[what]
    with pytest.raises(FormatError) as caught:
        parse_offsets(data)
    assert (caught.value.code, caught.value.field) == ("checkpoint-invalid", place)


@pytest.mark.parametrize(
    ("data", "place", "found", "expected"),
    [
        (b"2\n0\n", "line 1", "2", "version 0"),
        (b"0\nx\n", "line 2", "x", "a count of entries"),
        (b"0\n1\n", "line 2", "1", "0, the number of entries that follow"),
        (b"0\n0\nt 0 5\n", "line 2", "0", "1, the number of entries that follow"),
        (b"0\n2\nt 0 5\nt 1\n", "line 4", "t 1", "topic, partition, offset"),
        (b"0\n1\n\xff", "byte 4", "ff", "UTF-8"),
        (b"0\n1\nab\xff12345678", "byte 6", "ff31323334353637", "UTF-8"),
    ],
)
def test_evidence_of_a_bad_checkpoint(data: bytes, place: str, found: str, expected: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse_offsets(data)
    error = caught.value
    assert (error.field, error.found, error.expected) == (place, found, expected)


def test_zeros_in_front_of_a_number_end_somewhere() -> None:
    assert parse_offsets(b"0\n1\nt 0 " + b"5".rjust(4000, b"0")) == {("t", 0): 5}
    with pytest.raises(FormatError):
        parse_offsets(b"0\n1\nt 0 " + b"5".rjust(4001, b"0"))


def write(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (folder / name).write_text(text)
    return str(folder)


def test_a_log_dir_names_its_cluster(tmp_path: Path) -> None:
    assert read_log_dir(str(tmp_path), Storage()).cluster_id is None
    path = write(
        tmp_path, {"meta.properties": "version=1\n cluster.id = a\\:b\\=c=d \nnode.id=1\n"}
    )
    assert read_log_dir(path, Storage()).cluster_id == "a:b=c=d"
    path = write(tmp_path, {"meta.properties": "version=1\n"})
    assert read_log_dir(path, Storage()).cluster_id is None


def test_a_log_dir_has_four_checkpoints(tmp_path: Path) -> None:
    names = ("log-start", "cleaner", "replication", "recovery-point")
    fields = ("log_start", "cleaner", "high_watermark", "recovery_point")
    empty = read_log_dir(str(tmp_path), Storage())
    assert [getattr(empty, field) for field in fields] == [None] * 4
    assert not empty.clean_shutdown
    files = {f"{name}-offset-checkpoint": f"0\n1\nt 0 {n}\n" for n, name in enumerate(names)}
    path = write(tmp_path, {**files, ".kafka_cleanshutdown": ""})
    found = read_log_dir(path, Storage())
    assert [getattr(found, field) for field in fields] == [{("t", 0): n} for n in range(4)]
    assert found.clean_shutdown and found.findings == ()
    path = write(tmp_path, {"cleaner-offset-checkpoint": "9\n"})
    found = read_log_dir(path, Storage())
    (finding,) = found.findings
    assert (finding.code, finding.file) == ("checkpoint-invalid", "cleaner-offset-checkpoint")
    assert (finding.field, finding.found, finding.expected) == ("line 1", "9", "version 0")
    assert (found.cleaner, found.log_start) == (None, {("t", 0): 0})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("version: 0\ntopic_id: MufVBmDsQBKYnA7oHK_zrw\n", "MufVBmDsQBKYnA7oHK_zrw"),
        ("version: 0\n topic_id : MufVBmDsQBKYnA7oHK_zrw", "MufVBmDsQBKYnA7oHK_zrw"),
        ("version: 0\ntopic_id: abc\n", None),
        ("version: 0\ntopic_id: MufVBmDs:BKYnA7oHK_zrw\n", None),
        ("version: 0\n", None),
        ("", None),
    ],
)
def test_a_partition_names_its_topic(text: str, found: str | None, tmp_path: Path) -> None:
    assert read_topic_id(str(tmp_path), Storage()) is None
    assert read_topic_id(write(tmp_path, {"partition.metadata": text}), Storage()) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("0\n2\n3 40\n5 60\n", 40),
        ("0\n1\n3 0\n", 0),
        ("1\n1\n3 40\n", None),
        ("0\n0\n", None),
        ("0\n1\n3 x\n", None),
        ("0\n1\n3\n", None),
        ("0\n1\n0 " + "9" * 5000 + "\n", None),
        ("0\n1\n0 9223372036854775808\n", None),
        ("", None),
    ],
)
def test_a_partition_tells_where_its_first_epoch_began(
    text: str, found: int | None, tmp_path: Path
) -> None:
    assert read_first_epoch_start(str(tmp_path), Storage()) is None
    assert (
        read_first_epoch_start(write(tmp_path, {"leader-epoch-checkpoint": text}), Storage())
        == found
    )


def test_a_partition_takes_along_what_is_said_of_it_alone() -> None:
    both = {("t", 0): 5, ("u", 1): 6}
    log_dir = LogDir("d", "c", log_start=both, high_watermark=both, clean_shutdown=True)
    of_one = log_dir.of("t", 0)
    assert of_one.log_start == of_one.high_watermark == {("t", 0): 5}
    assert of_one.cleaner is of_one.recovery_point is None
    assert (of_one.path, of_one.cluster_id, of_one.clean_shutdown) == ("d", "c", True)
    assert log_dir.of("t", 1).log_start == {}


TOPIC_ID = "ZCogKMIm1BZGv7jgO9GnVQ"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"version: 0\ntopic_id: {TOPIC_ID}", TOPIC_ID),
        (f"version: 0\ntopic_id: {TOPIC_ID}\n\n", TOPIC_ID),
        (f"version:\t 0\ntopic_id:\f{TOPIC_ID}", TOPIC_ID),
        (f"version: 0\r\ntopic_id: {TOPIC_ID}\r\n", TOPIC_ID),
        (f"version: 0\ntopic_id: {TOPIC_ID}==", TOPIC_ID),
        (f"version: 0\ntopic_id: {TOPIC_ID[:-1]}R", TOPIC_ID),
        (f"version: 1\ntopic_id: {TOPIC_ID}", TOPIC_ID),
        (f" version: 0\ntopic_id: {TOPIC_ID}", TOPIC_ID),
        (f"number: 0: \nid: {TOPIC_ID}", TOPIC_ID),
        (f"version: 0\ntopic_id: {TOPIC_ID}\nversion: 0", TOPIC_ID),
    ],
    ids=[
        "as written",
        "ended twice",
        "other blanks",
        "CR LF",
        "padded",
        "unused bits",
        "a later version",
        "a blank first",
        "other names",
        "a third line",
    ],
)
def test_a_topic_id_that_a_start_takes_is_read(text: str, found: str) -> None:
    assert parse_topic_id(text.encode()) == found


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "line 1"),
        (f"version: -1\ntopic_id: {TOPIC_ID}", "line 1"),
        (f"version: x\ntopic_id: {TOPIC_ID}", "line 1"),
        (f"version:0\ntopic_id: {TOPIC_ID}", "line 1"),
        (f"version:\n0\ntopic_id: {TOPIC_ID}", "line 1"),
        (f"# ours\nversion: 0\ntopic_id: {TOPIC_ID}", "line 1"),
        (f"version: 0 \ntopic_id: {TOPIC_ID}", "line 1"),
        (f"version: 0: 1\ntopic_id: {TOPIC_ID}", "line 1"),
        ("version: 0", "line 2"),
        (f"version: 0\ntopic_id: {TOPIC_ID} ", "line 2"),
        (f"version: 0\n\ntopic_id: {TOPIC_ID}", "line 2"),
        (f"version: 0\ntopic_id: {'A' * 22}", "line 2"),
        (f"version: 0\ntopic_id: {TOPIC_ID[:-4]}", "line 2"),
        (f"version: 0\ntopic_id: {TOPIC_ID[:-1]}.", "line 2"),
        (f"version: 0\ntopic_id: +{TOPIC_ID[1:]}", "line 2"),
        (f"version: 0\ntopic_id: #{TOPIC_ID}==", "line 2"),
    ],
)
def test_a_topic_id_that_ends_a_start_is_refused_with_its_line(text: str, place: str) -> None:
    with pytest.raises(FormatError) as refused:
        parse_topic_id(text.encode())
    assert (refused.value.code, refused.value.field) == ("checkpoint-invalid", place)
