"""Tests of the report: its figures agree with the log files, and its page opens offline."""

import json
import platform
import re
import shutil
import subprocess
from base64 import b64encode
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import magicbyte as mb
from cli.report.report_tables import (
    BEGUN,
    Rows,
    batch_row,
    large,
    output,
    output_of_logs,
    partition_rows,
)
from html_tags import EVIL, Tags
from magicbyte.findings import CODES
from magicbyte.tables.schemas import DISPOSITIONS
from magicbyte_cli.report.figures import ReportFigures, read_figures, scan
from magicbyte_cli.report.figures.partition_figures import (
    BYTE_DISPOSITIONS,
    PartitionFigures,
    summed,
)
from magicbyte_cli.report.figures.timeline import Panel
from magicbyte_cli.report.markup import element
from magicbyte_cli.report.page_origin import PageOrigin
from magicbyte_cli.report.plots import lanes
from magicbyte_cli.report.report_page import CONTENTS, render, write_report
from magicbyte_cli.report.script import POLICY
from magicbyte_cli.report.sections.findings_section import with_code
from magicbyte_cli.report.sections.partitions_section import MAX_PARTITIONS, MAX_TOPICS
from magicbyte_tools.generate.kaitai import INSTALLED, NODE, install
from magicbyte_tools.webide.browser import chromium
from paths import DATA

HERE = Path(__file__).parent


def one_partition(delivered: int, **tables: Rows) -> dict[str, list[Any]]:
    """Return the tables, as rows by row group, of one partition with further *tables*."""
    partition, segment = partition_rows("t", 0, delivered=delivered)
    rows = {"partitions": [partition], "segments": [segment], **tables}
    return {name: [group] for name, group in rows.items()}


def text_of(page: str) -> str:
    """Return the text of an HTML page, with a space in place of each tag."""
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


@pytest.fixture(scope="module")
def transactions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return output_of_logs(tmp_path_factory.mktemp("out"), DATA / "4.3/transactions")


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return output_of_logs(tmp_path_factory.mktemp("out"), DATA / "2.8/lives")


@pytest.fixture(scope="module")
def two_thousand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return large(tmp_path_factory.mktemp("out"), 2000)


# Figures


@pytest.mark.parametrize("name", ["transactions", "mixed"])
def test_bytes_of_each_partition_add_up_to_its_files(
    name: str, request: pytest.FixtureRequest
) -> None:
    figures = read_figures(request.getfixturevalue(name))
    cluster = {"transactions": "4.3/transactions", "mixed": "2.8/lives"}[name]
    assert len(figures.partitions) > 10
    for one in figures.partitions:
        (folder,) = DATA.glob(f"{cluster}/log-*/{one.topic}-{one.partition}")
        on_disk = sum(path.stat().st_size for path in folder.glob("*.log"))
        assert one.bytes.total() == one.size_bytes == on_disk
    text = text_of(render(figures))
    assert f"✓ equals the size of {figures.total.num_segments} live segments" in text
    assert f"{figures.total.size_bytes:,} 100.0 %" in text


def test_bytes_that_do_not_add_up_are_an_error(tmp_path: Path) -> None:
    tables = one_partition(1000)
    tables["segments"][0][0]["size_bytes"] = 1300
    page = render(read_figures(output(tmp_path, tables)))
    assert "1 partition does not add up" in text_of(page)
    assert "300 unaccounted for" in text_of(page)
    assert "✓" not in page


def test_withheld_records_are_counted_by_reason(transactions: Path) -> None:
    text = text_of(render(read_figures(transactions)))
    assert "15 in open transactions, 63 others after the first of these" in text


def test_every_disposition_has_a_place_in_the_order() -> None:
    assert sorted(BYTE_DISPOSITIONS) == sorted([*DISPOSITIONS, "tail"])


def test_figures_do_not_depend_on_row_groups(
    two_thousand: Path, transactions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = [render(read_figures(folder)) for folder in (two_thousand, transactions)]
    monkeypatch.setattr(scan, "ROWS", 97)
    monkeypatch.setattr(scan, "MERGE_AT", 50)
    assert [render(read_figures(folder)) for folder in (two_thousand, transactions)] == whole


def test_tables_in_folders_by_topic_give_the_same_figures(
    transactions: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(transactions, tmp_path / "out"))
    whole = pq.read_table(folder / "batches")
    shutil.rmtree(folder / "batches")
    pq.write_to_dataset(whole, folder / "batches", partition_cols=["topic"])
    assert (folder / "batches" / "topic=open").is_dir()
    assert render(read_figures(folder)) == render(read_figures(transactions))


def test_the_writer_asks_for_columns_of_tables_and_never_for_records(
    transactions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, int] = {}
    file = scan.pq.ParquetFile

    class Watched(file):  # type: ignore[misc, valid-type]
        def __init__(self, path: Path) -> None:
            super().__init__(path)
            self.name = path.parent.name

        def iter_batches(self, rows: int, *, columns: list[str], **more: bool):  # type: ignore[no-untyped-def]
            asked[self.name] = len(columns)
            assert rows == scan.ROWS
            return super().iter_batches(rows, columns=columns, **more)

    monkeypatch.setattr(scan.pq, "ParquetFile", Watched)
    read_figures(transactions)
    assert sorted(asked) == ["batches", "partitions", "problems", "segments", "transactions"]
    assert asked["batches"] < 15


def test_ratio_is_of_bytes_without_compression_to_stored_bytes(tmp_path: Path) -> None:
    rows = [
        batch_row("t", 0, 0, codec="gzip"),
        batch_row("t", 0, 1, codec="gzip", magic=1),
        batch_row("t", 0, 2, is_control=True),
        batch_row("t", 0, 3, disposition="damaged", codec="lz4"),
    ]
    tables = one_partition(300, batches=rows)
    kind = {"topic": "t", "partition": 0, "codec": "gzip", "entries": 1, "records": 1}
    contents = [
        {**kind, "magic": magic, "stored_bytes": 100, "content_bytes": content}
        | {"plain_bytes": content + 25}
        for magic, content in ((1, 250), (2, 500))
    ]
    figures = read_figures(output(tmp_path / "new", tables, contents=contents))
    (codec,) = figures.entries.codecs
    assert (codec.name, codec.entries, codec.bytes) == ("gzip", 2, 200)
    text = text_of(render(figures))
    assert "gzip 100.0 % 2 2 200 800 4.00 750" in text
    assert "v1 50.0 % 1 1 100 275 2.75 250 v2 50.0 % 1 1 100 525 5.25 500" in text
    old = text_of(render(read_figures(output(tmp_path / "old", tables))))
    assert "gzip 100.0 % 2 2 200 · · ·" in old
    assert "an earlier release wrote it" in old


def test_ratios_of_real_logs_are_told_for_each_format_and_codec(mixed: Path) -> None:
    entries = read_figures(mixed).entries
    assert {one.name for one in entries.formats} == {"v0", "v1", "v2"}
    for share in (*entries.formats, *entries.codecs):
        assert share.decoded_bytes == share.bytes
        assert 0 < share.content_bytes < share.bytes  # small records: the frame outweighs them


def test_a_producer_has_its_epochs_transactions_and_what_was_aborted(transactions: Path) -> None:
    shown, number = read_figures(transactions).entries.producers.largest(3)
    assert (len(shown), number) == (4, 23)
    assert shown[0].producer_id is None
    first = shown[1]
    assert (first.producer_id, first.epochs, first.batches, first.records) == (0, (0, 24), 62, 307)
    counts = (first.aborted_records, first.num_transactions, first.aborted_transactions)
    assert counts == (75, 39, 8)


def test_transactions_are_told_by_outcome_duration_and_time(tmp_path: Path) -> None:
    rows = [
        {"topic": "t", "partition": 0, "producer_id": number, "outcome": outcome, "record_count": 2,
         "size_bytes": 10, "first_offset": number, "last_offset": number,
         "first_timestamp": BEGUN, "marker_timestamp": None if lasted is None else BEGUN + lasted * 1000}
        for number, (outcome, lasted) in enumerate(
            [("committed", 5), ("committed", 70_000), ("aborted", -1), ("open", None), ("undecided", None)]
        )
    ]  # fmt: skip
    tables = one_partition(1000, transactions=rows, batches=[batch_row("t", 0, 2)])
    figures = read_figures(output(tmp_path, tables))
    found = figures.transaction_figures
    assert found.outcomes["committed"] == Counter(transactions=2, records=4, bytes=20)
    ended = {name: sum(counts) for name, counts in found.durations.items()}
    assert ended == {"committed": 2, "aborted": 1}
    assert [row["duration"] for row in found.longest] == [70_000, 5, -1]
    assert figures.partitions[0].unended == Counter(open=2, undecided=2)
    text = text_of(render(figures))
    assert "negative: the clocks disagree" in text
    assert "Use one only if the transaction hangs: magicbyte transactions says it." in text
    assert "1 min up to 15 min" in text
    assert re.search(r"t-0 3 · open 3 to 3 2 2023-11-14 22:13:20 2 h", text)


def test_batch_sizes_are_counted_in_classes_that_double(tmp_path: Path) -> None:
    sizes = [63, 64, 127, 128, 1 << 20]
    rows = [batch_row("t", 0, 0, size_bytes=size, record_count=size - 63) for size in sizes]
    found = read_figures(output(tmp_path, {"batches": [rows]})).entries
    by_size = [tuple(row.values()) for row in found.bytes.rows()]
    assert by_size == [(32, 1, 63), (64, 2, 191), (128, 1, 128), (1 << 20, 1, 1 << 20)]
    assert found.bytes.largest == 1 << 20
    by_records = [(row["at_least"], row["entry_count"]) for row in found.records.rows()]
    assert by_records == [(0, 1), (1, 1), (64, 2), (1 << 19, 1)]


# The page


@pytest.mark.parametrize("number", [0, 1, 2000])
def test_text_of_a_log_is_escaped_in_the_report(tmp_path: Path, number: int) -> None:
    pairs = [partition_rows(f"{EVIL}{one % 5}", one, delivered=100) for one in range(number)]
    place = {"topic": f"{EVIL}0", "partition": 0}
    problem = {"file": EVIL, "code": "bad-size", "severity": "error", "message": EVIL}
    folder = output(
        tmp_path,
        {
            "partitions": [[pair[0] for pair in pairs]],
            "segments": [[pair[1] | {"why_not": EVIL} for pair in pairs]],
            "batches": [[batch_row(EVIL, 0, 0, codec=EVIL)]],
            "transactions": [[{**place, "outcome": "open"}]],
            "problems": [[place | problem]],
        },
        paths=[EVIL],
    )
    page = render(read_figures(folder))
    tags = Tags(page)
    assert not {"img", "link", "iframe", "object"} & set(tags.seen)
    assert tags.seen["script"] == 1
    assert not {"src", "onerror", "onclick"} & set(tags.attributes)
    assert "\x1b" not in page and "\u202e" not in page
    assert page.count("&lt;script&gt;alert(1)") > 4


def test_text_is_escaped_in_elements_and_in_attributes() -> None:
    assert element("p", "<&>", title='"') == '<p title="&quot;">&lt;&amp;&gt;</p>'


@pytest.mark.parametrize("name", ["transactions", "mixed", "two_thousand"])
def test_the_page_needs_nothing_else(name: str, request: pytest.FixtureRequest) -> None:
    page = render(read_figures(request.getfixturevalue(name)))
    tags = Tags(page)
    assert tags.attributes["href"][: len(CONTENTS)] == [f"#{name}" for name in CONTENTS]
    anchors = {f"#{name}" for name in tags.attributes["id"]}
    assert {*tags.attributes["href"]} <= anchors
    assert "url(" not in page and "@import" not in page
    assert element("p", POLICY)[3:-4] in page
    (script,) = re.findall("<script>(.*?)</script>", page, re.DOTALL)
    assert b64encode(sha256(script.encode()).digest()).decode() in POLICY


@pytest.mark.parametrize("name", ["transactions", "mixed", "two_thousand"])
def test_tables_and_plots_say_what_they_are(name: str, request: pytest.FixtureRequest) -> None:
    page = render(read_figures(request.getfixturevalue(name)))
    tags = Tags(page)
    assert tags.seen["table"] == tags.seen["caption"] > 8
    assert "" not in re.findall(r"<caption><span>(.*?)</span>", page)
    plots = re.findall(r"<svg[^>]*>", page)
    assert len(plots) > 20
    assert all('role="img"' in plot and re.search('aria-label="[^"]+"', plot) for plot in plots)


def test_finding_has_its_severity_place_and_remedy(tmp_path: Path) -> None:
    rows = [
        {"topic": "t", "partition": 3, "file": "0.log", "position": 1000 + number, "length": 61,
         "code": "checksum-mismatch", "severity": "error", "base_offset": 7, "message": "it is wrong"}
        for number in range(40)
    ]  # fmt: skip
    rows.append({**rows[0], "code": "zero-tail", "severity": "warning", "topic": "u"})
    page = render(read_figures(output(tmp_path, {"problems": [rows]})))
    text = text_of(page)
    assert "error checksum-mismatch 40 in 1 partition" in text
    assert "t-3 0.log 1000 61 7 it is wrong" in text
    assert CODES["checksum-mismatch"].consequence in text
    assert "What to do: Check disk, memory and the copy." in text
    assert "12 of 40, the first in the table; the table problems has all" in text
    assert "1011" in text and "1012" not in text
    assert text.index("warning zero-tail 1 in 1 partition") > text.index("error checksum-mismatch")


def test_text_between_backticks_is_code() -> None:
    assert "".join(map(str, with_code("try `a <b>` or c"))) == "try <code>a &lt;b&gt;</code> or c"


def test_a_page_of_many_partitions_stays_small_and_its_sums_whole(two_thousand: Path) -> None:
    figures = read_figures(two_thousand)
    write_report(two_thousand)
    page = (two_thousand / "report.html").read_text(encoding="utf-8")
    tags = Tags(page)
    assert len(page) < 1_000_000
    assert tags.seen.total() < 15_000
    assert tags.seen["details"] == len(CONTENTS)
    text = text_of(page)
    assert f"{MAX_PARTITIONS} of 2,000 partitions" in text
    assert f"{2000 - MAX_PARTITIONS:,} others" in text
    assert f"together 2,000 partitions {figures.total.size_bytes}" not in text
    assert figures.total.bytes["delivered"] == sum(1000 + number for number in range(2000))
    assert text.count(f"{figures.total.bytes['delivered']:,} B") == 2  # by topic, by partition
    gravest = max(figures.partitions, key=lambda one: one.gravity)
    assert gravest.problems["error"] == 2
    assert f"{gravest.name} 2 errors" in text


def test_a_page_of_many_topics_shows_the_gravest(tmp_path: Path) -> None:
    figures = read_figures(large(tmp_path, 600, per_topic=2))
    text = text_of(render(figures))
    assert f"{MAX_TOPICS} of 300 topics" in text
    assert "200 other topics" in text


def shown_answers(figures: ReportFigures) -> dict[str, tuple[str, str]]:
    """Return the gravity and the text of the answer to each question of the page."""
    items = re.findall(r'<dt>(.*?)</dt><dd class="answer (\w+)">(.*?)</dd>', render(figures))
    return {question: (gravity, text_of(answer)) for question, gravity, answer in items}


def verified(
    figures: ReportFigures, *rows: dict[str, Any], broker: str = "starts"
) -> ReportFigures:
    """Return *figures* with the verdicts *rows* on partitions, and one on broker 1."""
    row = {"topic": "t", "partition": 0, "verdict": "intact", "recovery": [], "offsets_lost": 0}
    partitions = [{**row, "lost_ranges": [], **one} for one in rows]
    brokers = [
        {"node_id": 1, "cluster_id": None, "log_dirs": ["d"], "kafka_version": "4.4", "verdict": broker,
         "reasons": ["meta-properties-conflict"], "findings": ["two ids"]}
    ]  # fmt: skip
    return replace(figures, verdicts={"brokers": brokers, "partitions": partitions})


def test_the_page_answers_what_an_operator_asks(tmp_path: Path) -> None:
    figures = read_figures(output(tmp_path, one_partition(100)))
    assert [gravity for gravity, _ in shown_answers(figures).values()] == [
        "sound",
        *["unknown"] * 3,
    ]
    assert shown_answers(verified(figures, {})) == {
        "Is it sound?": ("sound", "Everything is sound."),
        "Will the brokers start?": (
            "sound",
            "Yes, and they would serve all partitions as they are.",
        ),
        "What is lost?": ("sound", "No offset and no byte."),
        "What to do first?": ("sound", "Nothing needs to be done."),
    }
    note = {"topic": "t", "partition": 0, "file": "0.log", "position": 1, "length": 1,
            "code": "transaction-open", "severity": "note", "message": "it is open"}  # fmt: skip
    tables = {**one_partition(100), "problems": [[note]]}
    with_note = verified(read_figures(output(tmp_path / "note", tables)), {})
    assert shown_answers(with_note)["What to do first?"] == (
        "sound",
        "Nothing needs to be done; the notes below are for your information.",
    )
    lost = {"verdict": "truncated", "offsets_lost": 5, "lost_ranges": [[3, 8]]}
    assert shown_answers(verified(figures, lost, {"partition": 1})) == {
        "Is it sound?": ("sound", "Everything is sound."),
        "Will the brokers start?": (
            "error",
            "Yes, but 1 partition of 2 would be truncated, damaged, incomplete or not served.",
        ),
        "What is lost?": ("error", "5 offsets in 1 partition on startup (t-0 offsets 3 to 7)."),
        "What to do first?": (
            "error",
            "Do not start a broker on these files before you have a copy: it would lose offsets of "
            "t-0; look for the records in other replicas.",
        ),
    }
    refusing = shown_answers(verified(figures, {}, broker="refuses-to-start"))
    assert refusing["Will the brokers start?"] == ("error", "No: broker 1 would refuse to start.")
    assert refusing["What to do first?"][1].startswith(
        "Keep a copy of these files. broker 1: two ids"
    )


def test_broker_that_starts_with_a_loss_is_not_said_to_refuse(tmp_path: Path) -> None:
    figures = read_figures(output(tmp_path, one_partition(100)))
    lost = {"verdict": "truncated", "offsets_lost": 5, "lost_ranges": [[3, 8]]}
    answers = shown_answers(verified(figures, lost, broker="starts-with-loss"))
    assert answers["Will the brokers start?"] == (
        "error",
        "Yes, but 1 partition of 1 would be truncated, damaged, incomplete or not served.",
    )
    assert answers["What to do first?"][1].startswith("Do not start a broker on these files")
    one = {"verdict": "truncated", "offsets_lost": 1, "lost_ranges": [[3, 4]]}
    answers = shown_answers(verified(figures, one, broker="starts-with-loss"))
    assert answers["What is lost?"][1] == "1 offset in 1 partition on startup (t-0 offset 3)."
    answers = shown_answers(verified(figures, {}, broker="starts-with-loss"))
    assert answers["Will the brokers start?"] == (
        "error",
        "Yes, but broker 1 would lose something or not serve it.",
    )
    assert answers["What to do first?"][1].startswith("broker 1: two ids.")


def test_start_that_the_files_do_not_tell_is_not_known(tmp_path: Path) -> None:
    figures = read_figures(output(tmp_path, one_partition(100)))
    answers = shown_answers(verified(figures, {}, broker="unknown"))
    not_known = "Not known: these files do not tell whether broker 1 would start."
    assert answers["Will the brokers start?"] == ("unknown", not_known)
    gravity, advice = answers["What to do first?"]
    assert gravity == "unknown"
    assert advice.startswith("broker 1: two ids.")
    damaged = {"verdict": "unchanged-damaged"}
    answers = shown_answers(verified(figures, {}, damaged, broker="unknown"))
    assert answers["Will the brokers start?"] == (
        "error",
        f"{not_known} If it does, 1 partition of 2 would be truncated, damaged, incomplete or not served.",
    )
    answers = shown_answers(verified(figures, {}, {"verdict": "unknown", "offsets_lost": None}))
    assert answers["Will the brokers start?"] == (
        "unknown",
        "Not known for 1 partition of 2; the other partitions would be served as they are.",
    )


def test_partition_whose_lost_offsets_are_not_known_is_not_counted(tmp_path: Path) -> None:
    figures = read_figures(output(tmp_path, one_partition(100)))
    lost = {"verdict": "truncated", "offsets_lost": 5, "lost_ranges": [[3, 8]]}
    stray = {"partition": 1, "verdict": "stray", "offsets_lost": None}
    refusing = {"partition": 2, "verdict": "refuses-to-start", "offsets_lost": None}
    answers = shown_answers(verified(figures, stray, lost))
    assert answers["What is lost?"] == (
        "error",
        "5 offsets in 1 partition on startup (t-0 offsets 3 to 7); 1 partition would not be served (t-1).",
    )
    assert answers["What to do first?"][1].endswith(
        "it would lose offsets of t-0 and not serve t-1; look for the records in other replicas."
    )
    answers = shown_answers(verified(figures, refusing))
    assert answers["Will the brokers start?"] == ("error", "No: the broker would refuse to start.")
    assert answers["What is lost?"] == ("error", "1 partition would not be served (t-2).")


def test_answers_name_the_worst_partitions_and_link_the_finding(two_thousand: Path) -> None:
    figures = read_figures(two_thousand)
    gravest = max(figures.partitions, key=lambda one: one.gravity)
    answers = shown_answers(figures)
    assert answers["Is it sound?"][1].startswith(
        f"No: 1,999 errors in 1,333 partitions: {gravest.name}, "
    )
    assert answers["What is lost?"] == ("error", "1,999 bytes of records cannot be read.")
    assert 'href="#checksum-mismatch"' in render(figures)


def test_worst_partitions_come_first_and_the_others_by_name(tmp_path: Path) -> None:
    sizes = {
        "a": {"delivered": 900},
        "b": {"delivered": 10, "damaged": 5},
        "c": {"delivered": 9000},
    }
    pairs = [partition_rows(topic, 0, **size) for topic, size in sizes.items()]
    tables = {"partitions": [[one for one, _ in pairs]], "segments": [[two for _, two in pairs]]}
    page = render(read_figures(output(tmp_path, tables)))
    names = re.findall(r'<th scope="row"><b>(\w-0)</b>', page)
    assert names == ["b-0", "a-0", "c-0"]


def test_growth_is_the_size_over_the_time_of_the_records(mixed: Path) -> None:
    figures = PartitionFigures("t", 0, {}, size_bytes=6000)
    for times, growth in (
        ((0, 43_200_000), 12_000),
        ((0, 3_600_000), 144_000),
        ((0, 3_599_999), None),  # under an hour
        ((5, 5), None),
        ((None, None), None),
    ):
        assert replace(figures, times=times).bytes_per_day == growth
    total = summed([replace(figures, times=(day * 86_400_000, None)) for day in range(2)])
    assert total.bytes_per_day is None
    total = summed([replace(figures, times=(0, (day + 1) * 86_400_000)) for day in range(2)])
    assert total.bytes_per_day == 6000
    assert re.search(r"<th [^>]*>Bytes per day</th>", render(read_figures(mixed)))


def test_heading_has_time_host_cluster_and_broker(transactions: Path) -> None:
    logs = mb.open(DATA / "4.3/transactions").logs
    heading = text_of(render(read_figures(transactions), PageOrigin.here(logs)))
    properties = (DATA / "4.3/transactions/log-0/meta.properties").read_text()
    (cluster,) = re.findall(r"cluster\.id=(.*)", properties)
    (broker,) = re.findall(r"node\.id=(.*)", properties)
    assert f"by magicbyte {mb.__version__} on {platform.node()}" in heading
    assert f"cluster {cluster} · broker {broker} " in heading


def test_commands_abort_the_open_transactions(transactions: Path) -> None:
    page = render(read_figures(transactions))
    assert "abort --topic open --partition 0 --start-offset 33\n" in page


def test_bars_of_all_panels_have_one_scale() -> None:
    panels = [Panel(0, 100, {"delivered": [10, 5]}), Panel(10**6, 100, {"aborted": [20]})]
    plots = lanes("title", panels, "record")
    heights = re.findall(r'<rect class="(\w+)" .*?height="([\d.]+)"', plots)
    assert heights == [("delivered", "50.0"), ("delivered", "25.0"), ("aborted", "100.0")]


def test_a_script_filters_and_sorts_the_rows(two_thousand: Path) -> None:
    write_report(two_thousand)
    (found,) = browser_windows(two_thousand / "report.html", 1440)
    rows = found["rows"]
    assert isinstance(rows, dict)
    assert len(rows["all"]) == MAX_PARTITIONS
    sizes = [int(size.replace(",", "")) for size in rows["sorted"]]
    assert sizes == sorted(sizes) and len(sizes) == MAX_PARTITIONS
    assert rows["filtered"] == [name for name in rows["all"] if "topic-19-" in name] != []


def browser_windows(page: Path, *widths: int) -> list[dict[str, object]]:
    """Open *page* in Chromium in windows of these widths, in pixels; return what each observed."""
    browser = chromium()
    if browser is None:
        pytest.skip("no Chromium on PATH (CHROMIUM says where)")
    install()
    command: list[str | Path] = [NODE, HERE / "open_page.mjs", INSTALLED, browser, page]
    windows: list[dict[str, object]] = json.loads(
        subprocess.check_output([*command, *map(str, widths)])
    )
    return windows


@pytest.mark.parametrize("name", ["transactions", "mixed", "two_thousand"])
def test_a_browser_opens_the_page_offline_and_nothing_sticks_out(
    name: str, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(name)
    write_report(folder)
    for width, found in zip(
        (1600, 375), browser_windows(folder / "report.html", 1600, 375), strict=True
    ):
        assert found["width"] == width
        assert found["asked"] == 1
        assert found["said"] == []
        assert found["last"] == "Files"


def test_an_output_of_nothing_has_a_report(tmp_path: Path) -> None:
    figures: ReportFigures = read_figures(output(tmp_path, {}))
    text = text_of(render(figures))
    assert "No findings." in text
    assert "No record has a timestamp." in text


def test_groups_are_listed_by_lag_and_open_transactions_first(tmp_path: Path) -> None:
    place = {"topic": EVIL, "partition": 3, "commit_timestamp": BEGUN}
    offsets: Rows = [
        {"group": "small", **place, "offset": 5, "log_end_offset": 6, "lag": 1},
        {"group": "large", **place, "offset": 5, "log_end_offset": 1005, "lag": 1000},
        {"group": "large", **place, "partition": 4, "offset": 5, "log_end_offset": None},
        {"group": "large", **place, "partition": 5, "offset": None, "pending_offset": 9},
    ]
    states = {"small": "Empty", "large": "Stable", EVIL: "Empty"}
    groups: Rows = [{"group": name, "type": "Classic", "state": states[name]} for name in states]
    partitions = [{"topic": "t", "partition": number} for number in range(12)]
    transactional_ids: Rows = [
        {"transactional_id": "a-done", "state": "CompleteCommit", "partitions": []},
        {
            "transactional_id": EVIL,
            "state": "Ongoing",
            "partitions": partitions,
            "timeout_ms": 60000,
        },
    ]
    tables = {
        **one_partition(100),
        "group_offsets": [offsets[:2], offsets[2:]],
        "groups": [groups],
        "transactional_ids": [transactional_ids],
    }
    figures = read_figures(output(tmp_path / "out", tables))
    page = render(figures)
    assert "img" not in Tags(page).seen and Tags(page).seen["script"] == 1
    assert EVIL not in page
    text = text_of(page)
    large, small = text.index("large Classic"), text.index("small Classic")
    assert large < small
    assert "1,000 unknown for 1 partition" in text[large:small]
    assert "2 transactional ids, 1 in a transaction" in text
    assert text.index("Ongoing") < text.index("a-done")
    assert "t-9 and 2 more" in text


def test_report_says_how_to_read_groups(transactions: Path) -> None:
    text = text_of(render(read_figures(transactions)))
    assert text.count("Not read: magicbyte pipeline --internal-tables reads them") == 2
