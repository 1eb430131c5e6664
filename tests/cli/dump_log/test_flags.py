"""Tests of `kafka-dump-log` with decoder flags of internal topics combined with other flags."""

from pathlib import Path

import pytest

from magicbyte_cli.dump_log.decoders.internal_topics import TOPICS

from .cases import COMMIT, COMMIT_KEY, METADATA, OFFSETS, TRANSACTIONS, Case
from .told import dump_log

COMMITTED = " key: offset_commit::group=g,partition=topic-7 payload: offset=42,metadata=note"

CASE = Case("a commit", OFFSETS, COMMIT_KEY, COMMIT)


@pytest.mark.parametrize("flag", [flag for flag, topic in TOPICS.items() if topic.since > (2, 8)])
def test_a_release_without_a_decoder_prints_nothing(flag: str, tmp_path: Path) -> None:
    result = dump_log(CASE, tmp_path, flag, release="3.8")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert flag in result.stderr and "see --kafka-version" in result.stderr


def test_first_decoder_flag_that_the_tool_knows_counts(tmp_path: Path) -> None:
    result = dump_log(CASE, tmp_path, METADATA, TRANSACTIONS, OFFSETS, release="3.6")
    assert result.stdout.endswith(f"headerKeys: []{COMMITTED}\n")


def test_a_topic_counts_before_the_classes_of_keys_and_values(tmp_path: Path) -> None:
    name = "kafka.serializer.LongDecoder"
    flags = ["--key-decoder-class", name, "--value-decoder-class", name, OFFSETS]
    result = dump_log(CASE, tmp_path, *flags, release="3.6")
    assert result.stdout.endswith(f"headerKeys: []{COMMITTED}\n")


def test_without_metadata_of_records_the_line_is_key_and_payload(tmp_path: Path) -> None:
    result = dump_log(CASE, tmp_path, "--skip-record-metadata", OFFSETS, release="3.6")
    assert result.stdout.splitlines()[-1] == f"|{COMMITTED}"


def test_where_the_tool_ends_the_line_ends_before_the_key(tmp_path: Path) -> None:
    result = dump_log(CASE._replace(value=COMMIT[:-1]), tmp_path, OFFSETS, release="3.6")
    assert result.exit_code == 1
    assert result.stdout.endswith("headerKeys: []")
