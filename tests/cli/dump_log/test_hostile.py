"""Tests of damaged records of internal topics: only `ToolError` is raised; memory is limited."""

import random
import tracemalloc

import pytest

from magicbyte_cli.dump_log import ToolError
from magicbyte_cli.dump_log.decoders.internal_topics import TOPICS
from magicbyte_cli.dump_log.releases import Release

from .drawn import DRAWN, damaged

SEED = 1
RECORDS = 400
"""Number of damaged records that each decoder reads."""

RELEASES = ("2.8", "3.3", "3.6", "3.9", "4.0", "4.1", "4.3", "4.4")

MOST_PER_BYTE = 500
"""Bytes of memory allowed per byte of a record's value; small arrays of numbers take most."""

MOST = 100_000
"""Bytes of memory allowed for any record, in addition to `MOST_PER_BYTE`."""


@pytest.mark.parametrize("flag", DRAWN)
def test_damaged_record_ends_the_output_or_is_printed(flag: str) -> None:
    chance = random.Random(f"{SEED} {flag}")
    topic = TOPICS[flag]
    releases = [release for release in map(Release.of, RELEASES) if release.since(*topic.since)]
    decoders = [(release, topic.decoder(release)) for release in releases]
    ends = 0
    for _ in range(RECORDS):
        release, decode = chance.choice(decoders)
        key, value = (
            data if data is None else damaged(chance, data)
            for data in DRAWN[flag](chance, release.version)
        )
        tracemalloc.start()
        try:
            decode(0, key, value)
        except ToolError:
            ends += 1
        finally:
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        assert peak < MOST + MOST_PER_BYTE * len(value or b""), (release, key, value)
    assert ends < RECORDS
