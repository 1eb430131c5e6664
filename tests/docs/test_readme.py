"""Tests that commands and examples of the README and the guides print what the pages show."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from doc_examples import blocks, example_output, examples, shell_transcript
from magicbyte.tables.stats_table import STATS
from magicbyte_cli import COMMANDS
from paths import CHECKOUT

README = (CHECKOUT / "README.md").read_text(encoding="utf-8")


def environment() -> dict[str, str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.defpath])
    return {**os.environ, "PATH": path}


TRANSCRIPTS = [block.removeprefix("$ ").split("\n", 1) for block in blocks("README.md", "console")]


@pytest.mark.parametrize(("command", "shown"), TRANSCRIPTS)
def test_a_command_prints_what_the_readme_shows(command: str, shown: str) -> None:
    done = subprocess.run(
        shlex.split(command), cwd=CHECKOUT, env=environment(), stdout=subprocess.PIPE, text=True
    )
    assert done.stdout == shown


@pytest.mark.parametrize(
    ("page", "least"),
    [
        ("docs/incident.md", 12),
        ("docs/stats.md", 3),
        ("docs/clusters.md", 4),
        ("docs/restore-check.md", 3),
        ("docs/compaction.md", 4),
        ("docs/writing.md", 5),
        ("docs/groups.md", 4),
        ("docs/viewer.md", 1),
        ("docs/cluster-metadata.md", 5),
        ("docs/captures.md", 3),
        ("docs/command-line.md", 1),
    ],
)
def test_a_guide_shows_what_happens(page: str, least: int, tmp_path: Path) -> None:
    """The page's commands run in order in a folder that contains only `tests`."""
    (tmp_path / "tests").symlink_to(CHECKOUT / "tests")
    transcripts = blocks(page, "console")
    assert len(transcripts) >= least
    for block in transcripts:
        assert shell_transcript(block, tmp_path) == block


def test_the_readme_has_an_example_for_each_front() -> None:
    assert [command.split()[1] for command, _ in TRANSCRIPTS] == ["verify", "sql"]
    assert len(blocks("README.md", "python")) == 2


def test_the_readme_has_every_command_and_every_page() -> None:
    for name in COMMANDS:
        assert f"| `magicbyte {name}" in README, name
    pages = {path.name for path in CHECKOUT.glob("docs/*.md")}
    assert [name for name in sorted(pages) if f"(docs/{name}" not in README] == []


def test_the_figures_of_the_readme_are_those_of_the_page_on_performance() -> None:
    page = (CHECKOUT / "docs/performance.md").read_text(encoding="utf-8")
    rows: dict[str, list[str]] = {}
    for line in page.splitlines():
        if line.startswith("| "):
            name, *cells = [cell.strip() for cell in line.strip("|").split("|")]
            rows.setdefault(name, cells)  # the first table is that of speeds
    section = README.partition("\n## Figures\n")[2].partition("\n## ")[0]
    for figure in (
        *(f"{float(rows[f'v2-100B-16k-{codec}'][0]):.1f} million" for codec in ("none", "lz4")),
        rows["as a share of consumer's"][0],
        rows["as a share of dump-log's"][0],
    ):
        assert figure in section, figure


def test_the_python_example_runs() -> None:
    (example,) = (block for block in blocks("README.md", "python") if "spark" not in block)
    example_output(example)


def test_the_guide_to_statistics_has_an_example_that_runs_and_all_columns() -> None:
    (example,) = blocks("docs/stats.md", "python")
    example_output(example)
    page = (CHECKOUT / "docs/stats.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.*) \| (.*) \|$", page, re.MULTILINE)
    assert [(name, sentence) for name, _, sentence in rows] == [
        (column.name, column.sentence) for column in STATS.columns
    ]


def test_the_record_taken_apart_stands_in_the_log() -> None:
    block = next(block for block in README.split("```") if "kafka_record_batch.ksy" in block)
    taken_apart = bytes.fromhex("".join(re.findall(r"^((?:[0-9a-f]{2} )+) ", block, re.MULTILINE)))
    log = CHECKOUT / "tests/data/4.3/plain/log-0/java-none-0/00000000000000000000.log"
    assert len(taken_apart) == 85
    assert taken_apart in log.read_bytes()


@pytest.mark.parametrize(
    ("page", "count"),
    [
        ("docs/restore-check.md", 1),
        ("docs/compaction.md", 2),
        ("docs/writing.md", 1),
        ("docs/cluster-metadata.md", 1),
        ("docs/captures.md", 1),
    ],
)
def test_a_guide_has_examples_that_run(page: str, count: int) -> None:
    pairs = examples(page)
    assert len(pairs) == count
    for code, shown in pairs:
        assert example_output(code) == shown
