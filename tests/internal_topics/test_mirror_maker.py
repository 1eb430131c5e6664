"""Tests of the records of MirrorMaker."""

import json
import random
import struct
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from cli.dump_log.drawn import damaged
from magicbyte.errors import FormatError
from magicbyte.internal_topics.mirror_maker import (
    Heartbeat,
    MirrorCheckpoint,
    OffsetSync,
    is_checkpoint,
    is_heartbeat,
    is_offset_sync,
    parse_checkpoint,
    parse_heartbeat,
    parse_offset_sync,
)


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


GROUP_KEY = text("g") + text("src.t") + struct.pack(">i", 3)
CHECKPOINT = struct.pack(">hqq", 0, 5, 7) + text("m")
SYNC_KEY, SYNC = text("t") + struct.pack(">i", 3), struct.pack(">qq", 5, 7)
CLUSTERS, HEARTBEAT = text("src") + text("dst"), struct.pack(">hq", 0, 99)

EXAMPLES: list[tuple[Callable[..., Any], bytes, bytes, tuple[Any, ...]]] = [
    (parse_checkpoint, GROUP_KEY, CHECKPOINT, MirrorCheckpoint("g", "src.t", 3, 5, 7, "m")),
    (parse_offset_sync, SYNC_KEY, SYNC, OffsetSync("t", 3, 5, 7)),
    (parse_heartbeat, CLUSTERS, HEARTBEAT, Heartbeat("src", "dst", 99)),
]


def in_json(data: bytes) -> bytes:
    schema = {"type": "bytes", "optional": False}
    return json.dumps({"schema": schema, "payload": b64encode(data).decode()}).encode()


@pytest.mark.parametrize(("parse", "key", "value", "expected"), EXAMPLES)
def test_record_is_parsed_in_each_form(
    parse: Callable[..., Any], key: bytes, value: bytes, expected: tuple[Any, ...]
) -> None:
    assert parse(key, value) == expected
    assert parse(in_json(key), in_json(value)) == expected
    bare = [json.dumps(b64encode(data).decode()).encode() for data in (key, value)]
    assert parse(*bare) == expected
    assert parse(in_json(key), value) == expected


@pytest.mark.parametrize(("parse", "key", "value", "expected"), EXAMPLES)
def test_tombstone_has_the_key_alone(
    parse: Callable[..., Any], key: bytes, value: bytes, expected: tuple[Any, ...]
) -> None:
    parsed = parse(key, None)
    num_key_fields = {MirrorCheckpoint: 3, OffsetSync: 2, Heartbeat: 2}[type(parsed)]
    assert parsed[:num_key_fields] == expected[:num_key_fields]
    assert set(parsed[num_key_fields:]) == {None}


@pytest.mark.parametrize(("parse", "key", "value", "expected"), EXAMPLES)
def test_record_of_other_length_is_a_fault(
    parse: Callable[..., Any], key: bytes, value: bytes, expected: tuple[Any, ...]
) -> None:
    pairs = [(None, value), (key + b"\0", value), (key, value + b"\0"), (b"{", value)]
    pairs += [(key[:end], value) for end in range(len(key))]
    pairs += [(key, value[:end]) for end in range(len(value))]
    for pair in pairs:
        with pytest.raises(FormatError) as caught:
            parse(*pair)
        assert caught.value.finding.code == "internal-record-invalid"


def test_later_version_is_unknown() -> None:
    with pytest.raises(FormatError) as caught:
        parse_heartbeat(CLUSTERS, struct.pack(">hq", 1, 99))
    assert caught.value.finding.code == "internal-record-unknown"


def test_kinds_of_records_are_told_apart() -> None:
    tests = (is_checkpoint, is_offset_sync, is_heartbeat)
    for number, (_, key, value, _) in enumerate(EXAMPLES):
        assert [test(key, value) for test in tests] == [other == number for other in range(3)]


@pytest.mark.parametrize(("parse", "key", "value", "expected"), EXAMPLES)
def test_damaged_records_raise_no_other_error(
    parse: Callable[..., Any], key: bytes, value: bytes, expected: tuple[Any, ...]
) -> None:
    chance = random.Random(7)
    for _ in range(3000):
        wrap = chance.choice((bytes, in_json))
        with suppress(FormatError):
            parse(damaged(chance, wrap(key)), damaged(chance, wrap(value)))
