"""Tests of the estimates of sizes after a conversion."""

import random
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from magicbyte.writing.convert import conversion_of
from magicbyte.writing.what_if import what_if
from paths import DATA


@pytest.mark.parametrize(
    "options",
    [{"codec": "zstd"}, {"codec": "none"}, {"codec": "lz4", "magic": 2, "batch_bytes": 100_000}],
    ids=str,
)
def test_estimate_of_a_small_log_is_the_size_that_a_conversion_writes(
    options: dict[str, Any],
) -> None:
    dataset = mb.open(DATA / "4.3" / "transactions" / "log-0", on_damage="skip")
    estimates = list(what_if(dataset, conversion_of(**options)))
    report = mb.convert(dataset, None, **options)
    assert [each.row()["estimated_bytes"] for each in estimates] == [
        row["output_bytes"] for row in report.partitions
    ]
    assert all(each.error_bytes == 0 for each in estimates)


def test_estimate_from_samples_says_how_wrong_it_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("magicbyte.reading.planner.SPLIT_BYTES", 1 << 12)
    chance = random.Random(5)
    batches = []
    for number in range(300):
        noise = chance.randbytes(chance.randrange(0, 900))
        batches.append(build.batch_of(number, noise + bytes(1000 - len(noise))))
    build.Folder(tmp_path).segment("t-0", b"".join(batches))
    dataset, conversion = mb.open(tmp_path), conversion_of(codec="zstd")
    (exact,) = what_if(dataset, conversion, num_samples=1000)
    (sampled,) = what_if(mb.open(tmp_path), conversion, num_samples=10)
    assert exact.error_bytes == 0
    assert 0 < sampled.error_bytes < exact.log_bytes / 4
    assert sampled.sampled_bytes < exact.log_bytes / 4
    assert exact.estimated_bytes is not None
    assert sampled.estimated_bytes is not None
    assert abs(sampled.estimated_bytes - exact.estimated_bytes) < 2 * sampled.error_bytes


def test_partition_that_cannot_be_converted_has_the_reason(tmp_path: Path) -> None:
    build.Folder(tmp_path).segment("t-0", build.message(b"v"))
    (estimate,) = what_if(mb.open(tmp_path), conversion_of(codec="zstd"))
    assert estimate.estimated_bytes is None
    assert "zstd in format v1" in (estimate.refusal or "")


def test_single_sample_is_refused() -> None:
    dataset = mb.open(DATA / "4.3" / "transactions" / "log-0")
    with pytest.raises(mb.InputError, match="at least 2"):
        list(what_if(dataset, conversion_of(codec="zstd"), num_samples=1))
