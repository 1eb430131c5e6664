"""Tests of the vectors, and of our reading, against the Java classes of four Kafka releases.

`make test-brokers` runs them; they need Maven and Java, and take some minutes. MAGICBYTE_SEED repeats
a run, MAGICBYTE_RELEASES selects releases, MAGICBYTE_DRAWN sets the number of mutations.
"""

import os
import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from crc32c import crc32c

import log_builder as build
import magicbyte as mb
from magicbyte.errors import FormatError
from magicbyte.logdir.checkpoints import parse_epochs, parse_offsets, parse_topic_id
from magicbyte.logdir.companions import read_producer_snapshot, read_transaction_index
from magicbyte.logdir.indexes import check_index
from magicbyte_formats.wire import Codec, OffsetIndexEntry, RecordBatchHeader, TimeIndexEntry
from magicbyte_tools.conformance.cases import Case, load_cases
from magicbyte_tools.conformance.child import ProcessBounds
from magicbyte_tools.conformance.engines import runtime
from magicbyte_tools.conformance.judge import judge
from magicbyte_tools.conformance.report import failure_line
from magicbyte_tools.conformance.runner import Answer, Runner
from magicbyte_tools.conformance.scoring import scored
from magicbyte_tools.conformance.vectors_folder import VECTORS
from magicbyte_tools.fuzz import seeds
from magicbyte_tools.fuzz.mutate import mutated
from magicbyte_tools.vectors.message_writer import includes_release, parse_release
from paths import CHECKOUT, DATA

from . import kafka_differences as differences
from .kafka_classes import BrokerAnswer, command, storage_answers

RUN = bool(os.environ.get("MAGICBYTE_BROKERS"))
SEED = int(os.environ.get("MAGICBYTE_SEED") or random.randrange(1 << 32))
MUTATIONS = int(os.environ.get("MAGICBYTE_DRAWN") or 2000)
RELEASES = (os.environ.get("MAGICBYTE_RELEASES") or "2.8.2 3.9.2 4.3.1 4.4.0").split()

with_java = pytest.mark.skipif(not RUN, reason="it takes Maven and Java: make test-brokers")

BOUNDS = ProcessBounds(timeout_s=60.0)

COORDINATOR_RELEASES = sorted({*RELEASES, "4.0.1"} if RELEASES[1:] else RELEASES)
"""The same, and the one that stored the state of share groups in its own way."""

RECORD_FORMATS = ("kafka_log", "kafka_varint", "kafka_varlong", "kafka_uvarint")

ORDER = ("offset-out-of-order", "offset-outside-segment")
"""Errors of entries that are delivered nevertheless (D29, D39)."""


def java_runner(version: str, *flags: str, main: str = "KafkaJava") -> Runner:
    """Return the runner *main*, by default of Kafka's record classes, as the vectors' protocol has it."""
    return Runner(command=[*command(main, version), *flags], process_per="run", bounds=BOUNDS)


@with_java
@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize("flags", [[], ["--file"]], ids=["MemoryRecords", "FileRecords"])
def test_record_classes_judge_the_vectors_as_expected(flags: list[str], version: str) -> None:
    chosen = [case for case in load_cases(VECTORS) if case.format in RECORD_FORMATS]
    outcomes = scored(java_runner(version, *flags).answers(chosen), {})
    failures = [failure_line(one) for one in outcomes if one.outcome == "failed"]
    assert not failures, "\n".join(failures)


@with_java
@pytest.mark.parametrize("version", RELEASES)
def test_the_consumer_judges_fetched_bytes_as_expected(version: str) -> None:
    chosen = [case for case in load_cases(VECTORS) if case.format == "kafka_fetched"]
    aborted = next(case for case in chosen if case.id == "kafka_fetched/aborted")
    unlisted = Case("unlisted", aborted.data_path, {**aborted.content, "aborted_transactions": []})
    runner = java_runner(version, main="KafkaFetches")
    *outcomes, last = scored(runner.answers([*chosen, unlisted]), {})
    assert [failure_line(one) for one in outcomes if one.outcome != "passed"] == []
    assert last.outcome == "failed", "the consumer does not see the list"


@with_java
@pytest.mark.parametrize("version", RELEASES)
def test_kafkas_builder_writes_the_encoded_cases(version: str) -> None:
    chosen = [case for case in load_cases(VECTORS) if case.format == "kafka_encoded"]
    answers = list(java_runner(version).answers(chosen))
    outcomes = scored(answers, {})
    assert [failure_line(one) for one in outcomes if one.outcome != "passed"] == []
    for case, answer in answers:
        if case.content["encode"]["codec"] == "none":
            assert answer.content["encoded"] == case.data_path.read_bytes().hex(), case.id


@with_java
@pytest.mark.parametrize("version", COORDINATOR_RELEASES)
def test_coordinators_classes_judge_the_vectors_as_expected(version: str) -> None:
    chosen = [case for case in load_cases(VECTORS) if case.format == "kafka_coordinator_record"]
    example = next(case for case in chosen if case.id.endswith("/offset-commit-v0"))
    key = {"type": 1, "data": {"group": "group-1", "topic": "topic-2", "partition": 70_004}}
    fields = {**example.content["fields"], "key": key}
    altered = Case("altered", example.data_path, {**example.content, "fields": fields})
    runner = java_runner(version, main="KafkaCoordinators")
    *outcomes, last = scored(runner.answers([*chosen, altered]), {})
    release = parse_release(version.rpartition(".")[0])
    for one in outcomes:
        is_asked = includes_release(one.case.content["releases"], release)
        assert one.outcome == ("passed" if is_asked else "not-judged"), failure_line(one)
        if one.choice is not None:
            assert one.choice == "accepted", one.case.id
    assert last.outcome == "failed", "the fields are not compared"


def mutated_entries() -> list[bytes]:
    """Return mutated log entries, most of them with right checksums; a seed gives the same again."""
    chance = random.Random(SEED)
    pool = [*seeds.built(SEED), *seeds.of_logs(sorted(DATA.glob("*/*/log-*/*/*.log")))]
    return [mutated(chance, chance.choice(pool), pool, sealed=0.9) for _ in range(MUTATIONS)]


def our_reading(name: str, path: Path) -> Case:
    """Return what we read from the file *path*, as a case for Kafka's classes."""
    answer = runtime.read("kafka_log", path, {}, engine="columnar")
    errors = [
        finding
        for finding in answer["findings"]
        if finding["severity"] == "error" and finding["code"] not in ORDER
    ]
    content: dict[str, Any] = {"format": "kafka_log", "why": "", "verdict": "valid"}
    content |= {"records": answer["records"], "codes": [one["code"] for one in answer["findings"]]}
    if errors:
        before = mb.from_bytes(path.read_bytes(), on_damage="stop").records(["offset"])
        content |= {"verdict": "invalid", "caught_by": "grammar", **errors[0]}
        content["records_before"] = before.to_table().num_rows
    return Case(name, path, content)


@with_java
def test_record_classes_read_mutated_entries_as_we_do(tmp_path: Path) -> None:
    cases, differing = [], []
    for number, data in enumerate(mutated_entries()):
        path = tmp_path / f"{number}.log"
        path.write_bytes(data)
        cases.append(our_reading(path.name, path))
    for version in RELEASES:
        for case, answer in java_runner(version).answers(cases):
            judgement = judge(case.content, answer.content)
            if judgement.outcome != "passed" and not known_difference(case, answer):
                codes = case.content["codes"]
                differing.append(f"{version} {case.data_path} {codes}: {judgement.complaints}")
    assert not differing, "\n".join([f"MAGICBYTE_SEED={SEED}", *differing[:20]])


@with_java
@pytest.mark.parametrize("codec", Codec)
def test_record_classes_refuse_an_empty_batch_whose_codec_has_a_header(
    codec: Codec, tmp_path: Path
) -> None:
    path = tmp_path / "empty.log"
    path.write_bytes(build.batch(b"", 5, count=0, section=b"", codec=codec, last_delta=9))
    assert path.stat().st_size == RecordBatchHeader.SIZE
    case = our_reading(path.name, path)
    assert case.content["records"] == case.content["codes"] == []
    for version in RELEASES:
        ((_, answer),) = java_runner(version).answers([case])
        assert answer.content is not None
        is_refused = answer.content["error"] is not None
        assert is_refused == (codec in differences.CODECS_WITH_A_HEADER)
        assert known_difference(case, answer) == ("D3" if is_refused else None)


def known_difference(case: Case, answer: Answer) -> str | None:
    error = (answer.content or {"error": {"message": answer.failure}})["error"]
    message = None if error is None else error["message"]
    return differences.of_entry(case.data_path.read_bytes(), case.content["codes"], message)


# Companion files and checkpoints


def index_rows(data: bytes, row: Any) -> list[list[int]]:
    table, finding = check_index(data, row, "index-invalid")
    if finding is not None:
        raise FormatError(finding)
    return [list(entry) for entry in table.tolist()]


def transaction_rows(data: bytes) -> list[list[int]]:
    return [list(entry[1:]) for entry in read_transaction_index(data)]


def producer_rows(data: bytes) -> list[list[int]]:
    rows = []
    for entry in read_producer_snapshot(data):
        has_batch = entry.last_offset >= 0  # else Kafka makes no batch of what is stored
        last = [entry.last_sequence, entry.last_offset] if has_batch else [-1, -1]
        end = [entry.timestamp, entry.coordinator_epoch]
        rows.append([entry.producer_id, entry.epoch, *last, *end])
    return rows


OURS: dict[str, Callable[[bytes], list[Any]]] = {
    "kafka_offset_index": partial(index_rows, row=OffsetIndexEntry),
    "kafka_time_index": partial(index_rows, row=TimeIndexEntry),
    "kafka_transaction_index": transaction_rows,
    "kafka_producer_snapshot": producer_rows,
    "kafka_offset_checkpoint": lambda data: sorted(
        [topic, partition, offset] for (topic, partition), offset in parse_offsets(data).items()
    ),
    "kafka_leader_epoch_checkpoint": lambda data: [list(pair) for pair in parse_epochs(data)],
    "kafka_partition_metadata": lambda data: [[parse_topic_id(data)]],
}
"""Our rows of a file, by format; they raise FormatError where the file is invalid."""

SUFFIXES = {
    "kafka_offset_index": ".index",
    "kafka_time_index": ".timeindex",
    "kafka_transaction_index": ".txnindex",
    "kafka_producer_snapshot": ".snapshot",
    "kafka_offset_checkpoint": "-offset-checkpoint",
    "kafka_leader_epoch_checkpoint": "leader-epoch-checkpoint",
    "kafka_partition_metadata": "partition.metadata",
}


def our_rows(kind: str, path: Path) -> list[Any] | None:
    try:
        return OURS[kind](path.read_bytes())
    except FormatError:
        return None


def real_files(kind: str) -> list[Path]:
    """Return files of brokers in tests/data, of different content."""
    paths = sorted(DATA.glob(f"*/*/log-*/**/*{SUFFIXES[kind]}"))
    return list({path.read_bytes(): path for path in paths}.values())


@with_java
@pytest.mark.parametrize("version", RELEASES)
def test_storage_classes_read_files_of_brokers_as_we_do(version: str) -> None:
    files = [(kind, path, False) for kind in OURS for path in real_files(kind)]
    differing = list(different_readings(version, files))
    assert not differing, "\n".join(differing[:20])


@with_java
@pytest.mark.parametrize("version", RELEASES)
def test_storage_classes_read_mutated_files_as_we_do(version: str, tmp_path: Path) -> None:
    chance = random.Random(SEED)
    files = []
    for kind in OURS:
        paths = [path for path in real_files(kind) if 0 < path.stat().st_size < 1 << 14]
        for number in range(MUTATIONS // len(OURS)):
            path = tmp_path / f"{number}-{kind}"
            path.write_bytes(mutated_file(chance, kind, chance.choice(paths).read_bytes()))
            files.append((kind, path, False))
    differing = list(different_readings(version, files))
    assert not differing, "\n".join([f"MAGICBYTE_SEED={SEED}", *differing[:20]])


def mutated_file(chance: random.Random, kind: str, data: bytes) -> bytes:
    changed = bytearray(data)
    while True:
        altered_bytes(chance, changed)
        if chance.random() < 0.6:
            break
    if kind == "kafka_producer_snapshot" and len(changed) > 10 and chance.random() < 0.9:
        changed[2:6] = crc32c(bytes(changed[6:])).to_bytes(4, "big")
    return bytes(changed)


def altered_bytes(chance: random.Random, data: bytearray) -> None:
    """Change a byte, or insert, delete or repeat a few."""
    at = chance.randrange(len(data) + 1)
    match chance.randrange(6):
        case 0 | 1:
            data[at : at + 1] = bytes([chance.choice((0, 1, 0x7F, 0x80, 0xFF, 9, 10, 13, 32, 48))])
        case 2:
            data[at : at + 1] = chance.randbytes(1)
        case 3:
            data[at:at] = chance.randbytes(chance.randrange(1, 5))
        case 4:
            del data[at : at + chance.choice((1, 2, 8, 12, 34))]
        case _:
            data[at:at] = data[at : at + chance.choice((1, 8, 12, 34))]


def different_readings(version: str, files: list[tuple[str, Path, bool]]) -> Iterator[str]:
    """Yield a line for each file that Kafka reads otherwise, for no reason in docs/differences.md."""
    for (kind, path, _), answer in zip(files, storage_answers(version, files), strict=True):
        rows = answer.rows
        if kind == "kafka_offset_checkpoint" and rows is not None:
            rows.sort()
        ours = our_rows(kind, path)
        is_same = rows == ours or answer.verdict == "absent"
        if not is_same and not differences.of_file(kind, path.read_bytes(), ours, rows):
            yield f"{version} {kind} {path}: Kafka: {answer.text[:300]}; we: {str(ours)[:300]}"


STORAGE_FORMATS = (*OURS, "kafka_metadata_record", "kafka_produced")


@with_java
@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize("flags", [[], ["--loaded"]], ids=["checked", "loaded"])
def test_storage_classes_judge_the_vectors_as_expected(flags: list[str], version: str) -> None:
    chosen = [case for case in load_cases(VECTORS) if case.format in STORAGE_FORMATS]
    files = [(case.format, case.data_path, bool(case.settings.get("compacted"))) for case in chosen]
    found = {
        case.id: f"{case.verdict}: {answer.verdict} {answer.text}"
        for case, answer in zip(chosen, storage_answers(version, files, *flags), strict=True)
        if answer.verdict != "absent" and case.verdict not in ("either", verdict_of(case, answer))
    }
    assert found == {}


def verdict_of(case: Case, answer: BrokerAnswer) -> str:
    """Return the verdict of Kafka's classes; produced bytes are judged with three settings of compression."""
    accepted = answer.verdict == "accept"
    if case.format == "kafka_produced" and accepted:
        settings = (answer.rows or [[]])[0]
        return {0: "invalid", 3: "valid"}.get(len(settings), "either")
    return "valid" if accepted else "invalid"


# Without Java


def test_each_difference_names_a_row_of_the_table() -> None:
    table = (CHECKOUT / "docs" / "differences.md").read_text("utf-8")
    for row in differences.ROWS:
        assert f"\n| {row} |" in table, row
