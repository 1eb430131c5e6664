"""Tests of docs/reference/ndjson.md: the fields of each object are those that the command prints."""

import json
import shutil
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from magicbyte_cli import main
from magicbyte_tools.reference.ndjson_objects import NDJSON_OBJECTS
from magicbyte_tools.reference.ndjson_page import ndjson_page
from paths import DATA

LOG_DIR = DATA / "4.3/transactions/log-0"

NOT_IN_A_DRY_RUN = {"command"}
"""Kinds of objects that `restore` prints about an output alone."""


def printed_fields(*arguments: str | Path) -> dict[str | None, set[tuple[str, ...]]]:
    """Return the names of the fields of the objects that a command prints, by their kind."""
    result = CliRunner().invoke(main, [*map(str, arguments), "--format", "ndjson"])
    assert result.exit_code in (0, 1), result.output
    found: dict[str | None, set[tuple[str, ...]]] = defaultdict(set)
    for line in result.stdout.splitlines():
        names = json.loads(line)
        found[names.pop("kind", None)].add(tuple(names))
    return dict(found)


def described(command: str) -> dict[str | None, tuple[str, ...]]:
    return {each.kind: tuple(each.fields) for each in NDJSON_OBJECTS[command]}


@pytest.fixture(scope="module")
def replicas(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Provide two log.dirs with damaged replicas of a partition, and a file that is not read."""
    folder = tmp_path_factory.mktemp("replicas")
    paths = [folder / "broker-1", folder / "broker-2"]
    for path in paths:
        path.mkdir()
        shutil.copy(LOG_DIR / "meta.properties", path)
        shutil.copytree(LOG_DIR / "append-time-0", path / "append-time-0")
    (paths[0] / "notes.txt").write_text("not a file of Kafka\n")
    log = paths[0] / "append-time-0/00000000000000000000.log"
    log.write_bytes(log.read_bytes()[:900] + b"\xff" + log.read_bytes()[901:])
    return paths


COMMANDS: dict[str, Sequence[str | Path]] = {
    "transactions": ("transactions", LOG_DIR, "--topic", "open"),
    "stats": ("stats", LOG_DIR, "--topic", "open"),
    "stats --what-if": ("stats", LOG_DIR, "--topic", "open", "--what-if", "codec=zstd"),
    "groups": ("groups", LOG_DIR),
    "topics": ("topics", LOG_DIR, "--topic", "open"),
    "compact --dry-run": ("compact", LOG_DIR, "--topic", "open", "--dry-run"),
    "erase --prove-absent": (
        "erase",
        LOG_DIR,
        "--topic",
        "committed",
        "--key-pattern",
        "1$",
        "--prove-absent",
    ),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_objects_have_the_fields_of_the_page_in_their_order(command: str) -> None:
    expected = described(command)
    printed = printed_fields(*COMMANDS[command])
    assert printed
    for kind, names in printed.items():
        assert names == {expected[kind]}
    assert expected.keys() - printed.keys() <= {"unsearched"}


def test_objects_of_verify_have_the_fields_of_the_page(replicas: list[Path]) -> None:
    printed = printed_fields("verify", *replicas)
    printed |= printed_fields("verify", replicas[1] / "append-time-0", "--for-restore")
    expected = described("verify")
    assert printed.keys() == expected.keys()
    for kind, names in printed.items():
        assert {frozenset(each) for each in names} == {frozenset(expected[kind])}, kind


def test_objects_of_produced_batches_have_the_fields_of_the_page(tmp_path: Path) -> None:
    (path := tmp_path / "batch.bin").write_bytes(b"")
    printed = printed_fields("verify", "--produced", path)
    assert {kind: {names} for kind, names in described("verify --produced").items()} == printed


@pytest.mark.parametrize("command", ["rewrite", "convert", "salvage", "erase", "restore"])
def test_reports_of_commands_that_write_have_the_fields_of_the_page(command: str) -> None:
    options = {"convert": ["--codec", "gzip"], "erase": ["--key-pattern", "1$"]}
    printed = printed_fields(
        command, LOG_DIR, "--topic", "committed", "--dry-run", *options.get(command, [])
    )
    expected = described("rewrite, convert, salvage, erase, compact, restore")
    for kind, names in expected.items():
        assert {each[: len(names)] for each in printed[kind]} == {names}


def test_byte_strings_of_records_have_the_encodings_that_the_page_states() -> None:
    page = ndjson_page()
    for option, names in (("text", {"value_encoding"}), ("hex", set())):
        fields = printed_fields(
            "dump", LOG_DIR, "--limit", "1", "--columns", "value", "--bytes", option
        )
        assert fields == {None: {("value", *names)}}
    assert "`value_encoding` is `utf-8`, or `base64`" in page
    result = CliRunner().invoke(
        main, ["dump", str(LOG_DIR), "--limit", "1", "--columns", "timestamp", "--format", "ndjson"]
    )
    assert isinstance(json.loads(result.stdout)["timestamp"], int)


def test_every_field_has_a_sentence() -> None:
    page = ndjson_page()
    for objects in NDJSON_OBJECTS.values():
        for each in objects:
            for name, sentence in each.fields.items():
                assert sentence.endswith("."), (each.kind, name)
                assert f"| `{name}` | {sentence.splitlines()[0]}" in page
