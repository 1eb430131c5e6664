"""Tests of the fuzzer: a short run succeeds, and each deliberate fault is reported."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

import magicbyte as mb
from fuzz import planted
from magicbyte.engines.entry import read_entry
from magicbyte_formats.wire import Codec
from magicbyte_tools.fuzz import __main__ as fuzz
from magicbyte_tools.fuzz import (
    avro_values,
    corpus,
    mutate,
    numbers,
    partition,
    ranges,
    seed,
    seeds,
    segmented,
    value_seeds,
    whole,
)
from magicbyte_tools.fuzz.entry_fuzzer import Again, EntryFuzzTask
from magicbyte_tools.fuzz.folder_task import changed_folder
from magicbyte_tools.fuzz.group import NUM_CASES, Arrangement, group
from magicbyte_tools.fuzz.report import FuzzReport
from magicbyte_tools.fuzz.task import Failure, Task
from magicbyte_tools.fuzz.watch import watched
from paths import DATA

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no mprotect")

LIVES = DATA / "2.8" / "lives" / "log-0"


def failures(task: Task, hang_s: float = 60) -> Iterator[Failure]:
    return (news for news in watched(task, hang_s=hang_s) if isinstance(news, Failure))


# A short run


def test_mutated_entries_give_rows_or_our_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = LIVES / "v2-transactions-1"
    options = ["--cases", "1000", "--compare", "200", "--out", str(tmp_path), str(log)]
    assert fuzz.main(options) == 0
    out = capsys.readouterr().out
    total = next(line for line in out.splitlines() if line.startswith("all"))
    cases, accepted, refused, no_entry, compared, refused_too = map(int, total.split()[1:])
    assert cases == 1024 == accepted + refused + no_entry
    assert accepted > 200 <= compared
    assert refused_too > 0
    assert "0 faults, 0 hangs, 0 errors, 0 differences" in out
    for kind in ("v0 lz4", "v1 none", "v2 none", "v2 gzip", "v2 snappy", "v2 zstd"):
        assert kind in out


def test_changed_partitions_are_read_alike(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.main(["--whole", "--cases", "30", str(LIVES / "v2-transactions-0")]) == 0
    assert re.search(r"all +30 +[1-9]\d* +[1-9]\d*\n", capsys.readouterr().out)


def test_ranges_of_changed_partitions_agree_with_the_whole(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert fuzz.main(["--ranges", "--cases", "30", str(DATA / "4.3" / "transactions")]) == 0
    assert re.search(r"all +30 +\d+ +[1-9]", capsys.readouterr().out)


def test_the_corpus_of_the_vectors_has_each_entry_once_and_the_targets_read_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert corpus.main([str(tmp_path)]) == 0
    assert re.search(
        r"/entries: \d+ files\n.*/partitions: \d+ files\n.*/bytes: [\d,]+ files\n.*/values: [\d,]+ files\n",
        capsys.readouterr().out,
    )
    logs = sorted((tmp_path / "entries").iterdir())
    assert len({path.read_bytes() for path in logs}) == len(logs) > 500
    kinds = {one.kind for one in seeds.of_logs(logs)}
    assert {"v0 none", "v1 gzip", "v2 none", "v2 snappy", "v2 lz4", "v2 zstd"} <= kinds
    assert len(list(partition.partitions([tmp_path / "partitions"]))) > 500
    formats = {path.name for path in (tmp_path / "bytes").iterdir()}
    assert {"kafka_log", "kafka_varint", "kafka_producer_snapshot"} <= formats
    assert "log_dir" not in formats


@pytest.mark.parametrize("form", value_seeds.DRAW)
def test_the_targets_of_values_read_the_corpus(form: str, tmp_path: Path) -> None:
    for name, content in corpus.value_files():
        if name.startswith(f"{form}/00"):
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    target = ["avro_values"] if form == "avro" else ["mutated_values", form]
    command = [sys.executable, "-m", f"magicbyte_tools.fuzz.{target[0]}", *target[1:]]
    done = subprocess.run(
        [*command, "--values", "1000", "--corpus", str(tmp_path / form)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^none +\d{2,}", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("form", value_seeds.DRAW)
def test_seeds_of_values_are_read_from_a_corpus_as_they_were_drawn(
    form: str, tmp_path: Path
) -> None:
    for number in range(20):
        seeds = value_seeds.DRAW[form](Random(number))
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, content in seeds.files():
            (folder / name).write_bytes(content)
        assert value_seeds.read(folder) == seeds


def test_a_corpus_without_schemas_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no folder in it has a file 'schema'"):
        avro_values.main(["--corpus", str(tmp_path)])


# Faults that the fuzzer must report


def first_with_zstd(*, is_last: bool = True, **options: Any) -> EntryFuzzTask:
    """Return a task of one group that is decoded in one call and has a zstd-compressed entry."""
    task = EntryFuzzTask(0, NUM_CASES, seed=1)
    for first in range(0, 100 * NUM_CASES, NUM_CASES):
        one = task.group(first)
        codecs = {case.kind.split()[1] for case in one.calls[0]}
        if len(one.calls) == 1 and "zstd" in codecs and one.arrangement.is_last == is_last:
            return replace(task, first=first, end=first + NUM_CASES, **options)
    raise AssertionError("no group has such an entry")


def codec_of(failure: Failure) -> int:
    return read_entry(next(iter(failure.files.values())), 0).codec


@pytest.mark.parametrize(
    ("engine", "is_last", "is_alone"),
    [
        (planted.ReadsBehind, True, False),
        (planted.ReadsBefore, False, True),
        (planted.WritesBehind, True, True),
    ],
)
def test_a_byte_too_far_is_a_fault_of_the_one_entry(
    engine: type[planted.Planted], is_last: bool, is_alone: bool
) -> None:
    (fault,) = failures(first_with_zstd(is_last=is_last, make=engine, is_alone=is_alone))
    assert (fault.what, fault.message) == ("fault", "the process ended by SIGSEGV")
    assert codec_of(fault) == Codec.ZSTD


def test_kernels_are_seen_to_leave_memory_that_is_too_small() -> None:
    task = EntryFuzzTask(0, 100 * NUM_CASES, seed=1, make=planted.NoSlack)
    fault = next(failures(task))
    assert (fault.what, fault.message) == ("fault", "the process ended by SIGSEGV")


def test_engine_that_does_not_end_is_a_hang() -> None:
    hang = next(failures(first_with_zstd(make=planted.Loops, is_alone=True), hang_s=3))
    assert (hang.what, codec_of(hang)) == ("hang", Codec.ZSTD)


def test_foreign_exception_of_an_engine_is_a_failure() -> None:
    (error,) = failures(first_with_zstd(make=planted.Raises))
    assert (error.what, error.message) == ("error", "ValueError: not in the tree")
    assert codec_of(error) == Codec.ZSTD


@pytest.mark.parametrize("engine", [planted.Alters, planted.AltersRows])
def test_different_results_of_the_engines_are_a_failure(engine: type[planted.Planted]) -> None:
    (difference,) = failures(first_with_zstd(make=engine, most_compared=1))
    assert difference.what == "difference"


def test_a_partition_that_is_read_differently_is_a_difference(tmp_path: Path) -> None:
    paths = (LIVES / "v2-transactions-0",)
    (found,) = failures(whole.PartitionFuzzTask(0, 1, 1, paths, tell=planted.one_row_less))
    assert (found.what, found.case) == ("difference", 0)
    assert found.message.startswith("read_uncommitted: rows")
    assert any(name.endswith(".log") for name in found.files)


@pytest.mark.parametrize(
    ("reader", "message"),
    [
        (planted.range_with_more, "1 rows that the whole read does not deliver"),
        (planted.range_with_less, "rows missing without range-unread"),
        (planted.range_with_less_and_another_finding, "rows missing without range-unread"),
    ],
)
def test_a_range_that_disagrees_with_the_whole_is_a_difference(
    reader: Callable[..., ranges.RangeRead], message: str
) -> None:
    found = next(failures(ranges.RangeFuzzTask(0, 20, 1, (), read_log=reader)))
    assert found.what == "difference" and message in found.message


def test_a_range_may_withhold_with_a_finding() -> None:
    task = ranges.RangeFuzzTask(0, 5, 1, (), read_log=planted.range_that_withholds)
    assert not list(failures(task))


def test_built_logs_of_several_segments_are_sound(tmp_path: Path) -> None:
    for built in list(segmented.segmented_partitions((), 1))[:10]:
        for name, data in built.files.items():
            path = tmp_path / "log" / built.name / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    findings = mb.verify(tmp_path / "log").findings
    assert {finding.code for finding in findings} <= {"transaction-open", "high-watermark-stale"}


def test_failed_case_is_written_and_can_be_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = FuzzReport(seed=1, out=tmp_path)
    fuzz.run([first_with_zstd(make=planted.Raises)], report, jobs=1, hang_s=60)
    assert report.finish() == 1
    line = capsys.readouterr().out.splitlines()[0]
    (failure,) = report.failures
    path = tmp_path / f"error-1-{failure.case}" / "entries.bin"
    assert line == (
        f"error: ValueError: not in the tree: case {failure.case} (v2 zstd), seed 1: {path}"
    )
    again = Again(path.read_bytes(), make=planted.Raises, end=1)
    assert [one.what for one in failures(again)] == ["error"]
    assert not list(failures(replace(again, make=None)))


def test_missing_path_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        fuzz.main(["--replay", "nowhere"])
    assert ended.value.code == 2
    assert "nowhere: there is no such file or folder" in capsys.readouterr().err


# Cases


def test_a_number_and_a_seed_give_the_same_case_each_time() -> None:
    one, again = (group(7, seed=3, seeds=seeds.built(3)) for _ in range(2))
    assert one == again
    assert one != group(8, seed=3, seeds=seeds.built(3))
    assert isinstance(one.arrangement, Arrangement)


def test_seeds_have_every_format_and_codec() -> None:
    kinds = {one.kind for one in seeds.built(1)}
    codecs = ("none", "gzip", "snappy", "lz4", "zstd")
    legacy = {f"v{magic} {codec}" for magic in (0, 1) for codec in codecs[:4]}
    assert kinds == {f"v2 {codec}" for codec in codecs} | legacy


def test_a_seed_that_holds_its_own_payload_is_itself() -> None:
    for one in seeds.built(1):
        if one.payload is not None and one.payload:
            made = one.holding(one.payload, one.num_records if one.magic == 2 else None)
            seed.seal(made)
            assert bytes(made) == one.data


def test_most_mutations_change_something_and_few_change_all() -> None:
    chance, found = Random(1), seeds.built(1)
    one = next(seed for seed in found if seed.kind == "v2 none" and len(seed.data) > 200)
    made = [mutate.mutated(chance, one, found) for _ in range(300)]
    assert sum(data != one.data for data in made) > 280
    assert sum(data[16:17] == b"\2" for data in made) > 250


@pytest.mark.parametrize("number", [0, -1, 1, 63, 64, -65, 2**31 - 1, -(2**31), 2**63 - 1])
def test_a_varint_is_read_as_it_was_written(number: int) -> None:
    for length in (0, 3, 10):
        data = numbers.varint(number, length)
        assert len(data) >= length
        assert numbers.read_varint(data, 0) == (number, len(data))


def test_most_partitions_that_are_made_are_sound_before_they_are_mutated(tmp_path: Path) -> None:
    made = list(partition.built(1))
    num_sound = 0
    for one in made:
        with changed_folder(tmp_path / one.name, one, {}) as folder:
            num_sound += not whole.read_partition(folder, "columnar", "read_committed").has_error
    assert num_sound > 0.75 * len(made)


def test_partitions_that_are_made_have_transactions_that_end() -> None:
    made = list(partition.built(1))
    assert len(made) == partition.NUM_BUILT
    entries = [read_entry(data, 0) for one in made for data in one.entries[one.logs[0]] if data]
    assert sum(entry.is_control for entry in entries) > 20
    assert {entry.magic for entry in entries} == {0, 1, 2}
