"""Tests of predictions against recorded starts of brokers 2.8, 3.9 and 4.3 on damaged log.dirs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
from magicbyte.logdir.discover import discover
from magicbyte.verification.startup import predict_startup
from paths import shared

DAMAGED = shared() / "logs-damage"

WORDS = {
    "ok": {"intact", "recovered"},
    "starts-damaged": {"unchanged-damaged"},
    "recovers": {"recovered", "truncated"},
    "refuses-to-start": {"refuses-to-start", "not-served"},
}
"""Our verdicts, by the words of the recorded cases."""

BESIDE = "release", "cluster metadata"
"""Facts that decide a start's outcome but are not in the files: such cases are left out."""


def cases() -> Iterator[Any]:
    for path in sorted(DAMAGED.glob("*/*/case.json")):
        case = json.loads(path.read_text())
        if case.get("needs") not in BESIDE:
            yield pytest.param(path.parent / "dir", case, id="-".join(path.parts[-3:-1]))


needs_shared = pytest.mark.skipif(
    not DAMAGED.is_dir(), reason="no damaged logs beside the checkout (MAGICBYTE_SHARED)"
)


@needs_shared
@pytest.mark.parametrize(("log_dir", "case"), list(cases()))
def test_prediction_is_what_the_broker_did(log_dir: Path, case: dict[str, Any]) -> None:
    interval = case["topic_settings"]["index.interval.bytes"]
    found = mb.verify(log_dir, index_interval_bytes=interval)
    (row,) = [row for row in found.partitions if row["topic"] == case["topic"]]
    accepted = set().union(*(WORDS[verdict] for verdict in case["verdict_accept"]))
    assert row["verdict"] in accepted, row["recovery"]
    if case["verdict"] == "refuses-to-start":
        assert row["log_end_offset_after_recovery"] is None
        return
    assert row["log_end_offset_after_recovery"] == case["log_end_offset_after"]
    after = {segment["file"]: segment["bytes_after_recovery"] for segment in found.segments}
    for name, size in case["segments"].items():
        if size["before"] is not None:
            assert after[name] == (size["after"] or 0), name


@needs_shared
@pytest.mark.parametrize(
    ("log_dir", "case"),
    [case for case in cases() if case.values[1]["clean_shutdown_file"]],
)
def test_transaction_open_after_a_clean_start_ends_read_committed(
    log_dir: Path, case: dict[str, Any]
) -> None:
    if case["consumer"] is None or case["verdict"] == "refuses-to-start":
        assert case["verdict"] == "refuses-to-start"
        return
    logs = discover([str(log_dir)]).partitions
    (log,) = [log for log in logs if log.topic == case["topic"]]
    opened = predict_startup(log).open_transactions or {}
    end = min(opened.values(), default=case["log_end_offset_after"])
    assert case["consumer"]["read_committed"]["end"] == end


@needs_shared
def test_recorded_starts_have_every_verdict() -> None:
    verdicts = {case.values[1]["verdict"] for case in cases()}
    assert verdicts == {"ok", "recovers", "starts-damaged", "refuses-to-start"}
