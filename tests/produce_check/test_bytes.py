"""Tests of the produce check: real producers' batches pass; hostile bytes raise no exception."""

import errno
import gzip
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import lz4.frame
import pytest

import magicbyte as mb
import read_bombs
from log_builder import TIME, message
from magicbyte import _produced_request
from magicbyte.storage import MemoryFile, unreadable_error
from paths import SCRIPT_ENVIRONMENT, shared, vectors

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


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="memory is measured by Linux's /proc"
)
def test_a_batch_of_many_records_or_headers_takes_little_memory() -> None:
    names = "records", "headers", "headers-count-too-high", "messages"
    done = subprocess.run(
        [sys.executable, read_bombs.__file__, "produced", "64", *names],
        capture_output=True,
        timeout=100,
        env=SCRIPT_ENVIRONMENT,
        check=True,
    )
    growth = json.loads(done.stdout)
    assert list(growth) == list(names)
    for name, (_, codes, bytes_per_byte) in growth.items():
        assert codes, name
        assert bytes_per_byte <= 64, name


class CountingFile(MemoryFile):
    """Counts the bytes of the largest read; bytes from *end* on cannot be read."""

    def __init__(self, data: bytes, end: int | None = None) -> None:
        super().__init__(data, "request")
        self.end, self.largest = len(data) if end is None else end, 0

    def read_at(self, position: int, length: int) -> bytes:
        self.largest = max(self.largest, length)
        if position + length > self.end:
            raise unreadable_error(self.name, OSError(errno.EIO, "Input/output error"))
        return super().read_at(position, length)


def test_a_long_file_is_read_in_parts_and_its_findings_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_produced_request, "CHUNK", 100)
    one = bytearray(message(b"x", attributes=8))
    one[12] ^= 1  # the first byte of its checksum
    file = CountingFile(bytes(one) * 1000 + SOUND + SOUND[:-1])
    found = {finding.code: finding for finding in mb.check_produced_file(file)}
    wrong = "checksum-mismatch", "produced-log-append-time"
    others = "produced-several-batches", "produced-bytes-behind-batch"
    assert list(found) == ["produced-old-magic", *wrong, *others]
    for code in wrong:
        assert found[code].position == 0
        assert found[code].message.endswith("; 999 more in this request")
    assert [found[code].position for code in others] == [
        len(one) * 1000,
        len(one) * 1000 + len(SOUND),
    ]
    assert file.largest == 100


def test_a_file_that_cannot_be_read_to_its_end_keeps_its_findings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_produced_request, "CHUNK", len(SOUND))
    file = CountingFile(SOUND * 3, end=len(SOUND) * 2)
    codes = [finding.code for finding in mb.check_produced_file(file)]
    assert codes == ["produced-several-batches", "unreadable"]


def test_faults_of_headers_are_counted_in_their_record() -> None:
    headers = ((b"\xff", b"x"), (b"h", None), (b"\xfe", b"x"), (b"\xfd", None))
    (finding,) = check(produced({"headers": headers}))
    assert (finding.code, finding.field, finding.found) == (
        "produced-header-key",
        "records[0].headers[0].key",
        "ff",
    )
    assert finding.message.endswith("; 2 more in this entry")
