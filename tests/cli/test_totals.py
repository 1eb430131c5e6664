"""Tests that totals of one name are equal in all commands."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from extent import WIDE
from file_damage import flip
from paths import DATA

from .conftest import run, run_ndjson


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A log.dir with transactions, a raised log start offset and a damaged batch."""
    log_dir = tmp_path / "log-0"
    for name in ("aborted-0", "deleted-records-0", "open-0"):
        shutil.copytree(DATA / "4.3" / "transactions" / "log-0" / name, log_dir / name)
    for name in ("meta.properties", "log-start-offset-checkpoint"):
        shutil.copy(DATA / "4.3" / "transactions" / "log-0" / name, log_dir)
    flip(log_dir / "aborted-0" / f"{6:020}.log", 70)
    return log_dir


def total_of(name: str, rows: list[dict[str, Any]]) -> int:
    return sum(row[name] or 0 for row in rows)


SOURCES = ["damaged", "2.8/lives", "3.9/transactions", "4.3/compacted", "4.4/mixed"]


@pytest.mark.parametrize("source", SOURCES if WIDE else SOURCES[:1])
def test_totals_of_one_name_are_equal(source: str, request: pytest.FixtureRequest) -> None:
    path = request.getfixturevalue("damaged") if source == "damaged" else DATA / source / "log-0"
    verified = [
        json.loads(line) for line in run("verify", path, "--format", "ndjson").stdout.splitlines()
    ]
    summary = verified[-1]
    stats = [
        json.loads(line) for line in run("stats", path, "--format", "ndjson").stdout.splitlines()
    ]
    (total,) = (row for row in stats if row["kind"] == "total")
    assert summary["records"] == total["record_count"] > 0
    # The log cleaner leaves control batches without records.
    assert summary["control_records"] <= total["control_count"]

    status = int(source == "damaged")
    partitions = run_ndjson(
        "dump", path, "--table", "partitions", "--include-internal", status=status
    )
    columns = [name for name in partitions[0] if name.startswith("records_")]
    by_disposition = sum(total_of(name, partitions) for name in columns)
    assert summary["records"] + summary["control_records"] == by_disposition

    internal = ("--include-internal", "--isolation-level", "read_uncommitted")
    read = run("dump", path, *internal, "--disposition", ",".join(name[8:] for name in columns))
    assert len(read.stdout.splitlines()) - 1 == by_disposition
    committed = run("dump", path, "--include-internal")
    not_shown = sum(
        total_of(f"records_{name}", partitions)
        for name in ("aborted", "control", "below_log_start", "withheld")
    )
    printed = committed.stderr.partition("not shown: ")[2].partition("\n")[0]
    numbers = [
        part.partition(" ") for part in printed.split(", ") if part.endswith(("record", "records"))
    ]
    assert sum(int(number.replace(",", "")) for number, _, _ in numbers) == not_shown

    batches = run_ndjson("dump", path, "--table", "batches", *internal, status=status)
    sound = [row for row in batches if row["crc_valid"] and row["record_count"]]
    control = sum(row["record_count"] for row in sound if row["is_control"])
    assert control == summary["control_records"]
    assert source != "damaged" or min(control, summary["damaged_bytes"], not_shown) > 0
