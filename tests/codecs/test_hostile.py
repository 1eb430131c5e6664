"""Tests of codecs on hostile bytes: no foreign exception, bounded memory and time."""

import gzip
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cramjam
import lz4.frame
import pytest
import zstandard

from magicbyte import codecs
from magicbyte.errors import CodecError, LimitError
from paths import SCRIPT_ENVIRONMENT

from .spend_on_section import AT_THE_LIMIT, BOMBS, OF_NOTHING

MIB = 1 << 20
TEXT = b"what a record holds, " * 6 + bytes(range(64))
XERIAL = b"\x82SNAPPY\0" + b"\0\0\0\1" * 2


def lz4_section(*, checksums: bool) -> bytes:
    section: bytes = lz4.frame.compress(
        TEXT,
        block_linked=False,
        block_checksum=checksums,
        content_checksum=checksums,
        store_size=checksums,
    )
    return section


def zstd_section() -> bytes:
    stream = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    return stream.compress(TEXT) + stream.flush() + zstandard.compress(TEXT)


BLOCK = bytes(cramjam.snappy.compress_raw(TEXT))
SMALL = {
    "gzip": (1, gzip.compress(TEXT) + gzip.compress(b"")),
    "snappy chunks": (2, (XERIAL + len(BLOCK).to_bytes(4, "big") + BLOCK) * 2),
    "snappy block": (2, BLOCK),
    "lz4": (3, lz4_section(checksums=False)),
    "lz4 with checksums": (3, lz4_section(checksums=True)),
    "zstd": (4, zstd_section()),
}


def mutations(section: bytes) -> Iterator[bytes]:
    for length in range(len(section)):
        yield section[:length]
    for position in range(len(section)):
        for bits in (0x01, 0x80, 0xFF):
            changed = bytearray(section)
            changed[position] ^= bits
            yield bytes(changed)
    rng = random.Random(20240425)
    for _ in range(2000):
        changed = bytearray(section)
        for _ in range(rng.randint(1, 6)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        if rng.random() < 0.3:
            at = rng.randrange(len(changed))
            del changed[at : at + rng.randint(1, 9)]
        yield bytes(changed)
        yield rng.randbytes(rng.randint(0, 64))
        yield section[: rng.randint(1, 12)] + rng.randbytes(rng.randint(0, 64))


@pytest.mark.parametrize(
    ("name", "magic"), [(name, 2) for name in SMALL] + [("lz4", 0), ("lz4 with checksums", 0)]
)
def test_damaged_section_gives_plain_bytes_or_an_error_with_a_position(
    name: str, magic: int
) -> None:
    codec, section = SMALL[name]
    outcomes = set()
    for damaged in mutations(section):
        try:
            plain = codecs.decompress(codec, memoryview(damaged), magic=magic, max_bytes=MIB)
        except (CodecError, LimitError) as error:
            assert 0 <= error.position <= len(damaged)
            outcomes.add("error")
        else:
            assert type(plain) is bytes
            assert len(plain) <= MIB
            outcomes.add("plain")
    assert outcomes == {"error", "plain"}


LIMIT = 16 * MIB


def spend(name: str) -> dict[str, Any]:
    """Decompress section *name* in a new process; return its cost (see ``spend_on_section.py``)."""
    script = Path(__file__).with_name("spend_on_section.py")
    ran = subprocess.run(
        [sys.executable, script, name, str(LIMIT)],
        env=SCRIPT_ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    spent: dict[str, Any] = json.loads(ran.stdout)
    assert spent["grown_bytes"] <= 1.5 * LIMIT + spent["input_bytes"]
    return spent


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="memory is measured by Linux's /proc"
)


@needs_proc
@pytest.mark.parametrize("name", BOMBS)
def test_bomb_is_over_the_limit_and_costs_no_more_than_the_limit(name: str) -> None:
    spent = spend(name)
    assert f"max_batch_bytes allows {LIMIT}" in str(spent["outcome"])
    assert spent["seconds"] < 5


@needs_proc
@pytest.mark.parametrize("name", AT_THE_LIMIT)
def test_section_at_the_limit_costs_no_more_than_the_limit(name: str) -> None:
    assert spend(name)["outcome"] == LIMIT


@needs_proc
@pytest.mark.parametrize("name", OF_NOTHING)
def test_a_great_many_parts_of_nothing_cost_time_in_their_number(name: str) -> None:
    assert spend(name)["outcome"] in (0, 200_000)
