"""Tests of the specifications and real files in the Kaitai Web IDE, without any set-up there."""

import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from magicbyte_cli import main
from magicbyte_tools.webide.browser import Opened, PageJob, chromium, in_page, in_site
from magicbyte_tools.webide.claims import in_javascript
from paths import CHECKOUT, DATA

from .conftest import SPEC

MIXED = DATA / "2.8/lives/log-0/upgraded-one-segment-0/00000000000000000000.log"
COMPRESSED = DATA / "4.3/plain/log-1/java-zstd-0/00000000000000000000.log"
GZIP = DATA / "4.3/plain/log-1/java-gzip-0/00000000000000000000.log"
INDEX = DATA / "4.3/plain/log-0/segments-0/00000000000000000229.index"
TRANSACTIONS = DATA / "4.3/transactions/log-0/aborted-0"


@pytest.fixture(scope="module")
def browser() -> str:
    path = chromium()
    if path is None:
        pytest.skip("no Chromium on PATH (CHROMIUM says where)")
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Provide a file of each of five formats, by format."""
    payload = tmp_path_factory.mktemp("payload") / "payload.bin"
    result = CliRunner().invoke(main, ["extract", f"{COMPRESSED}@147", "-o", str(payload)])
    assert result.exit_code == 0, result.output
    return {
        "kafka_log": MIXED,
        "kafka_offset_index": INDEX,
        "kafka_producer_snapshot": TRANSACTIONS / "00000000000000000055.snapshot",
        "kafka_transaction_index": TRANSACTIONS / "00000000000000000006.txnindex",
        "kafka_records": payload,
    }


def test_a_page_with_the_engine_reads_what_node_reads(browser: str, files: dict[str, Path]) -> None:
    jobs = list(files.items())
    found = in_page(browser, SPEC, jobs)
    assert [one for one in found if not one.whole] == []
    assert found == in_javascript(SPEC, jobs)


@pytest.fixture(scope="module")
def site() -> Path:
    folder = os.environ.get("KAITAI_WEBIDE")
    if not folder:
        pytest.skip("KAITAI_WEBIDE names no folder with the built Web IDE")
    return Path(folder)


@pytest.fixture(scope="module")
def shown_files(browser: str, site: Path, files: dict[str, Path]) -> dict[str, Opened]:
    """Provide the fields that the built IDE shows for each file, by format."""
    jobs = [PageJob(str(path), name) for name, path in files.items()]
    return dict(zip(files, in_site(browser, site, SPEC, jobs), strict=True))


def test_the_ide_parses_every_byte_without_an_error(shown_files: dict[str, Opened]) -> None:
    outcomes = {name: (one.error, one.unparsed) for name, one in shown_files.items()}
    assert outcomes == dict.fromkeys(shown_files, (None, 0))


def test_the_ide_shows_a_mixed_log(shown_files: dict[str, Opened]) -> None:
    magics = [entry["magic"] for entry in shown_files["kafka_log"].json["entries"]]
    assert magics == sorted(magics)
    assert set(magics) == {0, 1, 2}
    assert shown_files["kafka_log"].tree[0] == "entries"


def test_the_ide_shows_companion_files(shown_files: dict[str, Opened]) -> None:
    assert shown_files["kafka_offset_index"].json["entries"]
    assert shown_files["kafka_producer_snapshot"].json["producers"]
    transactions = shown_files["kafka_transaction_index"].json["abortedTransactions"]
    assert all(one["firstOffset"] < one["lastOffset"] for one in transactions)


def test_the_ide_shows_what_extract_gives_of_a_compressed_batch(
    shown_files: dict[str, Opened],
) -> None:
    records = shown_files["kafka_records"].json["records"]
    deltas = [record["body"]["offsetDelta"]["value"] for record in records]
    assert deltas == list(range(12))


def test_the_ide_inflates_gzip_as_the_documentation_says(browser: str, site: Path) -> None:
    page = (CHECKOUT / "docs" / "web-ide.md").read_text("utf-8")
    script, diff = (re.search(rf"```{name}\n(.*?)```", page, re.S) for name in ("js", "diff"))
    assert script and diff
    user_types = re.search(r"`(.*)`", script[1], re.S)
    lines = diff[1].splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if line[0] != "+")
    after = "".join(line[1:] for line in lines if line[0] != "-")
    assert user_types
    job = PageJob(
        str(GZIP),
        "kafka_log",
        open=("entries", "0", "content", "compressedPayload", "records"),
        edits=(("kafka_record_batch", before, after),),
        user_types=user_types[1],
    )
    [found] = in_site(browser, site, SPEC, [job])
    assert found.error is None
    assert "1 [KafkaRecord]: +1" in found.tree


def test_error_in_the_web_ide_is_noticed(browser: str, site: Path, tmp_path: Path) -> None:
    """The other tests rely on the IDE reporting a parse error where we look for it."""
    file = tmp_path / "wrong.log"
    file.write_bytes(bytes(11) + b"\x18" + bytes(4) + b"\x09" * 20)  # a length, and magic 9
    [wrong] = in_site(browser, site, SPEC, [PageJob(str(file), "kafka_log")])
    assert "ValidationNotAnyOfError" in (wrong.error or "")
