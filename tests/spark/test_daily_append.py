"""Tests that a daily `pipeline --append` writes each offset once, while segments are added and deleted."""

import itertools
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pyarrow.dataset
import pytest
from pyarrow import fs

import magicbyte as mb
from data_source import InProcessSpark
from magicbyte.spark import write_parquet
from magicbyte.spark.session import LazySession
from magicbyte.storage.output_folder import LocalFolder, StoreFolder
from magicbyte_tools.bench.log_writer import BatchStream, LogWriter, growing_log
from s3_server import BUCKET, S3Server

NUM_DAYS = 10
COLUMNS = ("topic", "partition", "offset", "value")
DAYS_OF_RETENTION = (3, 4, 6, 9)
"""Days before which the oldest segment of each partition is deleted."""
DAY_OF_TWO_RUNS = 5
DAYS_OF_A_KILL = {2: 1, 7: 4, 8: 9}
"""Days whose first run is killed, with the number of the change of the output at which it is."""
CHANGES = ("create", "write", "transfer", "delete", "delete_folder")

Place = tuple[str, int, int]
"""Topic, partition and offset of a record."""


class Killed(BaseException):
    """The process ends here."""


class GrowingPartition:
    """A partition of transactions to which segments are added each day, as a broker writes them."""

    def __init__(self, folder: Path, writer: LogWriter, batches: BatchStream) -> None:
        self.folder, self.writer, self.batches = folder, writer, batches

    def grow(self, day: int) -> None:
        """Append batches; the newest segment is not full at the end of a day."""
        for count in range(8 + day):
            if count == day % 5:
                self.writer.roll(self.batches.offset, self.batches.producer_offset)
            self.batches.append_to(self.writer)
        self.writer.flush()

    def delete_oldest(self) -> None:
        """Delete the segment with the lowest offsets and its companion files, as retention does."""
        oldest = min(self.folder.glob("*.log"))
        for kind in ("log", "index", "snapshot"):
            oldest.with_suffix(f".{kind}").unlink(missing_ok=True)


@pytest.fixture
def partitions(tmp_path: Path) -> Iterator[list[GrowingPartition]]:
    """Two partitions in the folder `in`."""
    with ExitStack() as stack:
        growing = []
        for number in range(2):
            folder = tmp_path / "in" / f"topic-{number}"
            log = growing_log(folder, transactions=True, rows_per_batch=5 + number)
            growing.append(GrowingPartition(folder, *stack.enter_context(log)))
        yield growing


@contextmanager
def killed_at(number: int) -> Iterator[None]:
    """Raise Killed in the change of the output with this number."""
    count = itertools.count()

    def or_die(act: Any) -> Any:
        def change(self: Any, *arguments: Any) -> Any:
            if next(count) >= number:
                raise Killed
            return act(self, *arguments)

        return change

    with pytest.MonkeyPatch.context() as patch:
        for folder_type, name in itertools.product((LocalFolder, StoreFolder), CHANGES):
            patch.setattr(folder_type, name, or_die(getattr(folder_type, name)))
        yield


@pytest.fixture(params=["local", "s3"])
def output(request: Any, tmp_path: Path, s3: S3Server) -> tuple[str, dict[str, Any]]:
    """The folder of an output, and the options of its store."""
    if request.param == "local":
        return str(tmp_path / "out"), {}
    return f"s3://{BUCKET}/daily/out", s3.options


def written(out: str, options: dict[str, Any]) -> Counter[Place]:
    system = fs.S3FileSystem(**options) if options else fs.LocalFileSystem()
    folder = f"{out.removeprefix('s3://')}/records"
    table = pyarrow.dataset.dataset(folder, filesystem=system, format="parquet").to_table()
    return Counter(zip(*(table.column(name).to_pylist() for name in COLUMNS[:3]), strict=True))


def places(logs: Path) -> set[Place]:
    table = mb.open(logs).records(COLUMNS[:3]).to_table()
    return set(zip(*(column.to_pylist() for column in table.columns), strict=True))


def test_ten_days_of_appends_write_each_offset_once(
    output: tuple[str, dict[str, Any]],
    partitions: list[GrowingPartition],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(LazySession, "get", lambda self: InProcessSpark())
    out, options = output
    logs = tmp_path / "in"
    ever_there: set[Place] = set()
    num_killed = num_deleted = 0

    def append() -> None:
        write_parquet(
            logs,
            out=out,
            append=True,
            columns=COLUMNS,
            max_partition_bytes=16384,
            storage_options=options,
        )

    for day in range(NUM_DAYS):
        for partition in partitions:
            partition.grow(day)
            if day in DAYS_OF_RETENTION:
                partition.delete_oldest()
                num_deleted += 1
        ever_there |= places(logs)
        if day in DAYS_OF_A_KILL:
            with pytest.raises(Killed), killed_at(DAYS_OF_A_KILL[day]):
                append()
            num_killed += 1
        append()
        if day == DAY_OF_TWO_RUNS:
            append()
        assert written(out, options) == Counter(ever_there), f"day {day}"
    assert num_killed == len(DAYS_OF_A_KILL) and num_deleted == 2 * len(DAYS_OF_RETENTION)
    assert len(ever_there) > len(places(logs)) > 500
