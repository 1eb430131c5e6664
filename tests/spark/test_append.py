"""Tests of `pipeline --append`: each offset is written once, however logs grow and runs are killed."""

import itertools
import json
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pytest
from click.testing import CliRunner, Result
from pyarrow import fs

import magicbyte as mb
from data_source import InProcessSpark
from file_damage import flip
from log_builder import TIME, batch, record
from magicbyte.errors import FormatError, InputError
from magicbyte.spark import write_parquet
from magicbyte.spark.session import LazySession
from magicbyte.storage.output_folder import LocalFolder, StoreFolder
from magicbyte_cli import main
from s3_server import BUCKET, S3Server
from spark.growing_log import write_part

COLUMNS = ("topic", "partition", "offset", "value")

Place = tuple[str, int, int]
"""Topic, partition and offset of a record."""


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture(autouse=True)
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LazySession, "get", lambda self: InProcessSpark())


def append(logs: Path, out: str | Path, **options: Any) -> Any:
    options = {"append": True, "columns": COLUMNS, "max_partition_bytes": 16384, **options}
    return write_parquet(logs, out=out, **options)


def written(out: Path) -> Counter[Place]:
    """Return how often each record is in the output, also in files that no commit lists."""
    table = pa.dataset.dataset(out / "records", partitioning="hive").to_table(list(COLUMNS[:3]))
    return Counter(zip(*table.to_pydict().values(), strict=True))


def expected(logs: Path) -> Counter[Place]:
    table = mb.open(logs).records(list(COLUMNS[:3])).to_table()
    return Counter(zip(*table.to_pydict().values(), strict=True))


@contextmanager
def killed_at(number: int) -> Iterator[None]:
    """Raise Killed in the change of the disk with this number: a file is created, written, moved or deleted."""
    count = itertools.count()

    def or_die(act: Any) -> Any:
        def change(self: LocalFolder, *arguments: Any) -> Any:
            if next(count) >= number:
                raise Killed
            return act(self, *arguments)

        return change

    with pytest.MonkeyPatch.context() as patch:
        for name in ("create", "write", "transfer", "delete", "delete_folder"):
            patch.setattr(LocalFolder, name, or_die(getattr(LocalFolder, name)))
        yield


@pytest.mark.parametrize("seed", range(3))
def test_each_offset_is_written_once_however_logs_grow_and_runs_are_killed(
    tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    logs, out = tmp_path / "in", tmp_path / "out"
    num_killed = 0
    for share in (*sorted(rng.uniform(0, 1) for _ in range(5)), 1.0):
        write_part(logs, share)
        for _ in range(3):
            try:
                with killed_at(rng.randint(0, 15)):
                    append(logs, out)
            except Killed:
                num_killed += 1
        append(logs, out)
        assert written(out) == expected(logs)
        assert {path.name for path in tmp_path.iterdir()} == {"in", "out"}
    assert num_killed > 5
    assert len(written(out)) > 500


def test_run_without_new_offsets_changes_nothing(tmp_path: Path) -> None:
    logs, out = tmp_path / "in", tmp_path / "out"
    write_part(logs, 0.6)
    append(logs, out)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    said: list[str] = []
    append(logs, out, say=said.append)
    assert said == ["no new offsets"]
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before


def test_open_transaction_is_written_when_it_has_ended(tmp_path: Path) -> None:
    logs, out = tmp_path / "in", tmp_path / "out"
    for number in range(8):
        write_part(logs, 0.3 + number / 100)
        append(logs, out)
        assert written(out) == expected(logs)


def test_records_are_in_folders_by_topic_and_by_date_in_utc(tmp_path: Path) -> None:
    day = 86_400_000
    (tmp_path / "in" / "orders-0").mkdir(parents=True)
    times = [TIME, TIME + day, TIME + 400 * day, -1]
    entries = [batch([record()], base, time=time) for base, time in enumerate(times)]
    (tmp_path / "in" / "orders-0" / f"{0:020}.log").write_bytes(b"".join(entries))
    append(tmp_path / "in", tmp_path / "out", partition_by=["date", "topic"])
    files = {
        path.relative_to(tmp_path / "out").parent.as_posix()
        for path in tmp_path.rglob("out/records/**/*.parquet")
    }
    dates = [datetime.fromtimestamp(time / 1000, UTC).date().isoformat() for time in times[:3]]
    dates.append("__HIVE_DEFAULT_PARTITION__")
    assert files == {f"records/topic=orders/date={date}" for date in dates}
    assert written(tmp_path / "out") == expected(tmp_path / "in")


def test_output_in_a_store_grows_too(tmp_path: Path, s3: S3Server) -> None:
    out, logs = f"s3://{BUCKET}/grown/out", tmp_path / "in"
    system = fs.S3FileSystem(**s3.options)
    for share in (0.4, 0.7):
        write_part(logs, share)
        with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
            patch.setattr(StoreFolder, "transfer", lambda *_: (_ for _ in ()).throw(Killed))
            append(logs, out, storage_options=s3.options)
        append(logs, out, storage_options=s3.options)
        path = f"{BUCKET}/grown/out/records"
        table = pa.dataset.dataset(path, filesystem=system).to_table(list(COLUMNS[:3]))
        assert Counter(zip(*table.to_pydict().values(), strict=True)) == expected(logs)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("offsets.json", "half a li"),
        ("offsets.json", '{"format": "magicbyte offsets 1"}'),
        ("offsets.json", "[]"),
        ("commit.json", "{}"),
        (
            "commit.json",
            '{"digest": "d", "files": [["a", "../../b"]], "ready": [], "is_whole": true}',
        ),
    ],
)
def test_malformed_state_of_an_output_is_refused(tmp_path: Path, name: str, text: str) -> None:
    logs, out = tmp_path / "in", tmp_path / "out"
    write_part(logs, 0.5)
    append(logs, out)
    (out / "_magicbyte" / name).write_text(text)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match=f"_magicbyte/{name}: the (file|list) "):
        append(logs, out)
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert {path for path in after if ".out.part" not in str(path)} == set(before)


def test_lost_offsets_are_an_error_unless_they_are_allowed(tmp_path: Path) -> None:
    logs, out = tmp_path / "in", tmp_path / "out"
    write_part(logs, 0.5)
    append(logs, out)
    shutil.rmtree(logs / "open-0")
    first = json.loads((out / "_magicbyte" / "offsets.json").read_text())["offsets"]["open"]["0"]
    (logs / "open-0").mkdir()
    later = batch([record()], first + 5)
    (logs / "open-0" / f"{first + 5:020}.log").write_bytes(later)
    with pytest.raises(InputError, match=f"offsets {first} to {first + 4} of open-0 were deleted"):
        append(logs, out)
    before = written(out)
    append(logs, out, allow_data_loss=True)
    assert written(out) - before == Counter([("open", 0, first + 5)])
    (logs / "open-0" / f"{first + 5:020}.log").unlink()
    (logs / "open-0" / f"{0:020}.log").write_bytes(batch([record()], 0))
    with pytest.raises(InputError, match=f"open-0 ends at offset 1, but {first + 6} was written"):
        append(logs, out)


def test_damage_at_the_end_ends_the_run_or_waits(tmp_path: Path) -> None:
    logs, out = tmp_path / "in", tmp_path / "out"
    write_part(logs, 0.5)
    append(logs, out)
    write_part(logs, 0.6)
    log = max((logs / "interleaved-1").glob("*.log"))
    sound = log.read_bytes()
    flip(log, len(sound) - 20)
    with pytest.raises(FormatError):
        append(logs, out)
    summary = append(logs, out, on_damage="skip")
    assert any(finding.severity == "error" for finding in summary.findings)
    log.write_bytes(sound)
    append(logs, out)
    assert written(out) == expected(logs)


def pipeline(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["pipeline", *map(str, arguments)])


def test_command_appends_and_refuses_what_does_not_fit(tmp_path: Path) -> None:
    logs, out = tmp_path / "in", tmp_path / "out"
    write_part(logs, 0.5)
    result = pipeline(logs, out, "--append")
    assert result.exit_code == 0, result.output
    write_part(logs, 1)
    assert pipeline(logs, out, "--append").exit_code == 0
    assert written(out) == expected(logs)
    for more, message in (
        (["--columns=offset"], "the output was written with columns"),
        (["--partition-by=date"], "the output was written with partition_by"),
        (["--tables=records,batches"], "batches with --append"),
        (["--overwrite"], "--overwrite with --append"),
        (["--verify"], "--verify with --append"),
        (["--from-offset=3"], "offsets or times with --append"),
    ):
        refused = pipeline(logs, out, "--append", *more)
        assert refused.exit_code == 2 and message in refused.stderr, refused.output
    assert "the output exists" in pipeline(logs, out).stderr
    assert pipeline(logs, tmp_path / "whole", "--tables=records").exit_code == 0
    refused = pipeline(logs, tmp_path / "whole", "--append")
    assert "the output was not written with --append" in refused.stderr
    assert "inside of the input" in pipeline(logs, logs / "out", "--append").stderr
