"""Tests of what only a terminal shows: lines that are cut, bold heads, and progress."""

import io
from itertools import count

import pyarrow as pa
import pytest

from magicbyte_cli import progress
from magicbyte_cli.cell_texts import CellTexts
from magicbyte_cli.painter import Painter
from magicbyte_cli.progress import ERASE_LINE, ProgressBar
from magicbyte_cli.terminal_table import TerminalWriter

BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


@pytest.fixture(autouse=True)
def twelve_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "12")
    monkeypatch.delenv("NO_COLOR", raising=False)


def lines(*values: str) -> list[str]:
    batch = pa.record_batch({"value": pa.array(values)})
    out = io.BytesIO()
    writer = TerminalWriter(
        out,
        batch.schema,
        cell_texts=CellTexts(bytes_as="text"),
        painter=Painter.for_stdout(),
    )
    writer.write(batch)
    writer.finish()
    return out.getvalue().decode().splitlines()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("twelve chars", "twelve chars"),
        ("thirteen char", "thirteen ch…"),
        ("大阪大阪大阪", "大阪大阪大阪"),
        ("大阪大阪大阪1", "大阪大阪大…"),
        ("e\u0301" * 12, "e\u0301" * 12),
        ("e\u0301" * 13, "e\u0301" * 11 + "…"),
        ("🚀" * 7, "🚀" * 5 + "…"),
    ],
)
def test_lines_are_cut_at_the_columns_of_the_terminal(value: str, shown: str) -> None:
    assert lines(value)[1:] == [shown]


def test_only_the_head_is_bold_and_colors_can_be_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert lines("x") == [f"{BOLD}value{PLAIN}", "x"]
    monkeypatch.setenv("NO_COLOR", "1")
    assert lines("x") == ["value", "x"]


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each look at the clock be half a second after the one before."""
    clock = count(0, 0.5)
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))


@pytest.mark.usefixtures("seconds")
def test_progress_is_shown_after_a_second_and_erased_at_the_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with ProgressBar(is_shown=True) as bar:
        for done in (100, 512, 1024):
            bar.show(done << 20, 2 << 30)
    shown = [
        "512.0 MiB of 2.0 GiB (25.0 %), 512.0 MiB/s, 3 s left",
        "1.0 GiB of 2.0 GiB (50.0 %), 682.7 MiB/s, 2 s left",
        "",
    ]
    assert capsys.readouterr().err == "".join(ERASE_LINE + line for line in shown)


@pytest.mark.usefixtures("seconds")
def test_progress_without_a_total_counts_rows_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ProgressBar(is_shown=True) as bar:
        bar.show(1)
        bar.show(1_234_567)
    assert capsys.readouterr().err == f"{ERASE_LINE}1,234,567 r{ERASE_LINE}"


@pytest.mark.usefixtures("seconds")
def test_progress_of_an_unknown_number_of_bytes_has_a_rate(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with ProgressBar(is_shown=True) as bar:
        bar.show_bytes(1)
        bar.show_bytes(3 << 20)
    assert capsys.readouterr().err == f"{ERASE_LINE}3.0 MiB, 3.0 MiB/s{ERASE_LINE}"


@pytest.mark.usefixtures("seconds")
@pytest.mark.parametrize("is_shown", [False, None])
def test_progress_is_for_terminals(
    is_shown: bool | None, capsys: pytest.CaptureFixture[str]
) -> None:
    with ProgressBar(is_shown=is_shown) as bar:
        for done in range(5):
            bar.show(done)
    assert capsys.readouterr().err == ""
