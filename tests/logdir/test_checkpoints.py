"""Offset checkpoints are read as CheckpointFile and OffsetCheckpointFile of Kafka read them."""

import pytest

from magicbyte.errors import FormatError
from magicbyte.logdir.checkpoints import LogDir, parse_offsets, parse_topic_id

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
        (f"version: 0\ntopic_id: {TOPIC_ID}==", f"{TOPIC_ID}=="),
    ],
    ids=["as written", "ended twice", "other blanks", "CR LF", "padded"],
)
def test_a_topic_id_that_a_start_takes_is_read(text: str, found: str) -> None:
    assert parse_topic_id(text.encode()) == found


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "line 1"),
        (f"version: 1\ntopic_id: {TOPIC_ID}", "line 1"),
        (f"version:0\ntopic_id: {TOPIC_ID}", "line 1"),
        (f"version:\n0\ntopic_id: {TOPIC_ID}", "line 1"),
        (f"# ours\nversion: 0\ntopic_id: {TOPIC_ID}", "line 1"),
        (f" version: 0\ntopic_id: {TOPIC_ID}", "line 1"),
        ("version: 0", "line 2"),
        (f"version: 0\n\ntopic_id: {TOPIC_ID}", "line 2"),
        (f"version: 0\nid: {TOPIC_ID}", "line 2"),
        (f"version: 0\ntopic_id: {'A' * 22}", "line 2"),
        (f"version: 0\ntopic_id: {TOPIC_ID[:-4]}", "line 2"),
        (f"version: 0\ntopic_id: {TOPIC_ID[:-1]}.", "line 2"),
        (f"version: 0\ntopic_id: #{TOPIC_ID}==", "line 2"),
        (f"version: 0\ntopic_id: {TOPIC_ID}\nversion: 0", "line 3"),
    ],
)
def test_a_topic_id_that_ends_a_start_is_refused_with_its_line(text: str, place: str) -> None:
    with pytest.raises(FormatError) as refused:
        parse_topic_id(text.encode())
    assert (refused.value.code, refused.value.field) == ("checkpoint-invalid", place)
