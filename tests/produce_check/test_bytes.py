"""Tests of the produce check: real producers' batches pass; hostile bytes raise no exception."""

import gzip
import random
from typing import Any

import lz4.frame
import pytest

import magicbyte as mb
from log_builder import TIME
from paths import shared, vectors

from .produced import PAYLOAD, SOUND, produced

SENT = [
    vector
    for vector in vectors("record_batches")
    if vector["origin"]["cls"] in ("client-capture", "peer-run")
    and vector["validity"] == "valid"
    and "fetch" not in vector["file"]
]


@pytest.mark.skipif(not SENT, reason=f"no vectors in {shared()}; set MAGICBYTE_SHARED")
def test_batches_of_real_producers_have_at_most_notes() -> None:
    wrong = {}
    for vector in SENT:
        data = (shared() / "vectors" / vector["file"]).read_bytes()
        found = [f.code for f in mb.check_produced(data) if f.severity != "note"]
        if found:
            wrong[vector["file"]] = found
    assert wrong == {}


SEEDS = {
    "plain": SOUND,
    "gzip": produced(flags=1, section=gzip.compress(PAYLOAD, mtime=0)),
    "lz4": produced(flags=3, section=lz4.frame.compress(PAYLOAD)),
}


def check(data: bytes) -> list[mb.Finding]:
    return mb.check_produced(data, limits=mb.Limits(max_batch_bytes=1 << 20))


@pytest.mark.parametrize("seed", SEEDS.values(), ids=SEEDS)
def test_every_cut_is_an_error(seed: bytes) -> None:
    for end in range(len(seed)):
        assert [f.severity for f in check(seed[:end])] == ["error"]


@pytest.mark.parametrize("seed", SEEDS.values(), ids=SEEDS)
def test_any_byte_changed_gives_findings_and_no_other_exception(seed: bytes) -> None:
    for position in range(len(seed)):
        for flip in (0x01, 0x80, 0xFF):
            data = bytearray(seed)
            data[position] ^= flip
            assert check(bytes(data)), (position, flip)


@pytest.mark.parametrize("seed", SEEDS, ids=SEEDS)
def test_hostile_bytes_under_a_right_checksum_give_no_other_exception(seed: str) -> None:
    chance = random.Random(seed)
    fields: dict[str, Any] = {}
    for _ in range(400):
        payload = bytearray(SEEDS[seed][61:])
        for _ in range(chance.randint(1, 3)):
            payload[chance.randrange(len(payload))] = chance.choice((0, 1, 127, 128, 255))
        fields = {
            "flags": chance.choice((0, 1, 2, 3, 4, 123, -1)),
            "count": chance.choice((2, 0, -1, 2**31 - 1)),
            "max_time": TIME + 5,
            "time": chance.choice((0, -1, -(2**63), 2**63 - 1)),
            "producer": chance.choice((-1, 0, -(2**63))),
            "base": chance.choice((0, -(2**63), 2**63 - 1)),
        }
        for finding in check(produced(section=bytes(payload), **fields)):
            assert finding.severity in ("error", "warning", "note")


def test_bytes_without_form_give_no_other_exception() -> None:
    chance = random.Random(7)
    for size in range(1, 200):
        assert check(chance.randbytes(size))
