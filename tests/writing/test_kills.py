"""Tests that a command that is killed at any moment leaves whole partitions, and that the next run finishes."""

import random
import subprocess
import sys
import time
from pathlib import Path

import log_builder as build
import magicbyte as mb

KILLS = 20


def write_topics(path: Path, num_partitions: int) -> None:
    folder = build.Folder(path)
    for partition in range(num_partitions):
        for base in (0, 40):
            batches = [build.batch_of(n, b"%d " % n * 50) for n in range(base, base + 40)]
            folder.segment(f"t-{partition}", b"".join(batches), base)


def check_whole(out: Path, source: Path, codec: str) -> int:
    """Check that each partition in *out* has all records of its source; return how many there are."""
    names = ["offset", "timestamp", "value"]
    folders = sorted(path for path in out.glob("t-*"))
    for folder in folders:
        copies = mb.open(folder)
        expected = mb.open(source / folder.name).records(names).to_table()
        assert copies.records(names).to_table().equals(expected)
        assert {row["codec"] for row in copies.batches(["codec"]).to_pylist()} == {codec}
        assert (folder / "leader-epoch-checkpoint").exists()
    return len(folders)


def test_output_is_whole_or_absent_after_each_of_20_kills(tmp_path: Path) -> None:
    chance = random.Random(40)
    write_topics(tmp_path / "in", 60)
    out = tmp_path / "out"
    command = [
        sys.executable, "-c", "from magicbyte_cli import main; main()",
        "convert", str(tmp_path / "in"), "--codec", "zstd", "-o", str(out),
    ]  # fmt: skip
    num_killed = 0
    for _ in range(KILLS):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.3, 1.2))
        process.kill()
        num_killed += process.wait() != 0
        if out.exists():
            check_whole(out, tmp_path / "in", "zstd")
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert check_whole(out, tmp_path / "in", "zstd") == 60
    assert sorted(path.name for path in out.iterdir() if not path.name.startswith("t-")) == [
        "magicbyte-manifest.json"
    ]
    assert num_killed > 2
