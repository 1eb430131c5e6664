"""The flags of internal topics beside others."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from magicbyte_cli.dump_log.decoders.internal_topics import TOPICS
from magicbyte_cli.kafka_dump_log import kafka_dump_log

from .cases import COMMIT, COMMIT_KEY, METADATA, OFFSETS, TRANSACTIONS, Case, segment

COMMITTED = " key: offset_commit::group=g,partition=topic-7 payload: offset=42,metadata=note"


def call(tmp_path: Path, *arguments: str, case: Case) -> Result:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(segment(case))
    return CliRunner().invoke(kafka_dump_log, [*arguments, "--files", str(path)])


@pytest.fixture
def commit() -> Case:
    return Case("a commit", OFFSETS, COMMIT_KEY, COMMIT)


@pytest.mark.parametrize("flag", [flag for flag, topic in TOPICS.items() if topic.since > (2, 8)])
def test_a_release_without_a_decoder_prints_nothing(
    flag: str, commit: Case, tmp_path: Path
) -> None:
    result = call(tmp_path, "--kafka-version", "3.8", flag, case=commit)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert flag in result.stderr and "see --kafka-version" in result.stderr


def test_first_decoder_flag_that_the_tool_knows_counts(commit: Case, tmp_path: Path) -> None:
    flags = [METADATA, TRANSACTIONS, OFFSETS]
    result = call(tmp_path, "--kafka-version", "3.6", *flags, case=commit)
    assert result.stdout.endswith(f"headerKeys: []{COMMITTED}\n")


def test_a_topic_counts_before_the_classes_of_keys_and_values(commit: Case, tmp_path: Path) -> None:
    name = "kafka.serializer.LongDecoder"
    flags = ["--key-decoder-class", name, "--value-decoder-class", name, OFFSETS]
    result = call(tmp_path, "--kafka-version", "3.6", *flags, case=commit)
    assert result.stdout.endswith(f"headerKeys: []{COMMITTED}\n")


def test_without_metadata_of_records_the_line_is_key_and_payload(
    commit: Case, tmp_path: Path
) -> None:
    flags = ["--skip-record-metadata", OFFSETS]
    result = call(tmp_path, "--kafka-version", "3.6", *flags, case=commit)
    assert result.stdout.splitlines()[-1] == f"|{COMMITTED}"


def test_where_the_tool_ends_the_line_ends_before_the_key(commit: Case, tmp_path: Path) -> None:
    case = commit._replace(value=COMMIT[:-1])
    result = call(tmp_path, "--kafka-version", "3.6", OFFSETS, case=case)
    assert result.exit_code == 1
    assert result.stdout.endswith("headerKeys: []")
