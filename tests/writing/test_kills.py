"""Tests that a command that is killed at any moment leaves whole partitions, and that the next run finishes."""

import random
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import log_builder as build
import magicbyte as mb
from forked_command import ForkedCommand

KILLS = 20

Rows = dict[str, list[tuple[Any, ...]]]


def write_topics(path: Path, num_partitions: int) -> None:
    folder = build.Folder(path)
    for partition in range(num_partitions):
        for base in (0, 40):
            batches = [build.batch_of(n, b"%d " % n * 50) for n in range(base, base + 40)]
            folder.segment(f"t-{partition}", b"".join(batches), base)


def rows_by_folder(folders: list[Path]) -> Rows:
    """Return offset, timestamp and value of the records in *folders*, in order, by the name of the folder."""
    rows: Rows = defaultdict(list)
    for row in mb.open(*folders).records(["partition", "offset", "timestamp", "value"]).to_pylist():
        rows[f"t-{row['partition']}"].append((row["offset"], row["timestamp"], row["value"]))
    return rows


def check_whole(out: Path, expected: Rows, codec: str) -> int:
    """Check that each partition in *out* has all records of its source; return how many there are."""
    folders = sorted(out.glob("t-*"))
    if folders:
        assert rows_by_folder(folders) == {path.name: expected[path.name] for path in folders}
        batches = mb.open(*folders).batches(["partition", "codec"]).to_pylist()
        assert {row["codec"] for row in batches} == {codec}
        assert all((path / "leader-epoch-checkpoint").exists() for path in folders)
    return len(folders)


def test_output_is_whole_or_absent_after_each_of_20_kills(tmp_path: Path) -> None:
    chance = random.Random(40)
    write_topics(tmp_path / "in", 60)
    expected = rows_by_folder([tmp_path / "in"])
    assert len(expected) == 60 and all(len(rows) == 80 for rows in expected.values())
    out = tmp_path / "out"
    arguments = ("convert", str(tmp_path / "in"), "--codec", "zstd", "-o", str(out))
    num_killed = 0
    for _ in range(KILLS):
        with ForkedCommand(*arguments) as command:
            time.sleep(chance.uniform(0, 0.6))
            num_killed += command.kill() != 0
        check_whole(out, expected, "zstd")
    command_line = [sys.executable, "-c", "from magicbyte_cli import main; main()", *arguments]
    done = subprocess.run(command_line, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert check_whole(out, expected, "zstd") == 60
    assert sorted(path.name for path in out.iterdir() if not path.name.startswith("t-")) == [
        "magicbyte-manifest.json"
    ]
    assert num_killed > 2
