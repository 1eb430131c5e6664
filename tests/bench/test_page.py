"""Tests of the ratios, verdicts, page and plot that are computed from measurements."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from magicbyte_tools.bench import contenders as who
from magicbyte_tools.bench.__main__ import write
from magicbyte_tools.bench.damage_profile import PARTS
from magicbyte_tools.bench.goals import Goal, goals
from magicbyte_tools.bench.measure import Cell
from magicbyte_tools.bench.performance_page import page
from magicbyte_tools.bench.plot import plot
from magicbyte_tools.bench.ratios import per_second, ratio, spread
from magicbyte_tools.bench.results import Results, load

from .made_up import cell, headers, job, parts, results

GOOD = cell(
    "v2-100B-16k-lz4", ours=50, exact=101, columns=60, go=80, rust=49, floor=40, aiokafka=300
)
POOR = cell("v2-1000B-16k-none", ours=50, exact=40, columns=30, rust=45, floor=10, aiokafka=300)
NEAR = cell("v1-100B-16k-none", ours=50, exact=70)


def full_results(*cells: Cell, **others: object) -> Results:
    """Return results in which every part of the benchmark has a value."""
    measured: dict[str, object] = {
        "profiles": [parts("v2-100B-16k-lz4")],
        "threads": [cell("v2-100B-16k-gzip", one=100, two=60)],
        "sizes": {"10": cell("v2-100B-16k-lz4", opened=1)},
        "jobs": [job("export", 1.0)],
        "starts": [job("import pyarrow", 0.125)],
        "headers": headers(),
        "damage": cell("v2-100B-16k-lz4", sound=100, damaged=125),
        "damage_profiles": [parts(name, PARTS) for name in ("sound", "damaged")],
    }
    return results(*cells, **{**measured, **others})


def test_a_ratio_is_formed_inside_each_turn() -> None:
    uneven = cell("v2-100B-16k-lz4", ours=50, exact=100)
    uneven.cpu_ns[who.OURS] = [1.0, 100.0, 10.0]
    uneven.cpu_ns[who.JAVA_EXACT] = [3.0, 200.0, 50.0]
    assert ratio(uneven, who.JAVA_EXACT, who.OURS) == 3.0  # median of 3, 2 and 5; medians give 5
    assert ratio(uneven, who.AIOKAFKA, who.OURS) is None


def test_speed_and_spread_are_of_the_median() -> None:
    times = cell("v2-100B-16k-lz4", ours=1)
    times.cpu_ns[who.OURS] = [90.0, 100.0, 1.0, 110.0, 9999.0]
    assert per_second(times, who.OURS) == 1e7
    assert spread(times, who.OURS) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("measured", "is_least", "slack", "verdict"),
    [
        (2.0, True, 1.25, "met"),
        (1.6, True, 1.25, "accepted"),
        (1.59, True, 1.25, "missed"),
        (1.99, True, 1.0, "missed"),
        (2.0, False, 1.25, "met"),
        (2.5, False, 1.25, "accepted"),
        (2.51, False, 1.25, "missed"),
        (None, True, 1.25, "not measured"),
    ],
)
def test_a_goal_of_2(measured: float | None, is_least: bool, slack: float, verdict: str) -> None:
    goal = Goal(what="", cell="", measured=measured, bound=2.0, is_least=is_least, slack=slack)
    assert goal.verdict == verdict


def test_each_cell_has_the_goals_of_its_kind() -> None:
    found = {(goal.cell, goal.what): goal for goal in goals(results(GOOD, POOR, NEAR))}
    java = "times as fast as Java, exact"
    assert found["v2-100B-16k-lz4", java].bound == 2.0
    assert found["v2-100B-16k-lz4", java].verdict == "met"
    assert found["v2-1000B-16k-none", java].bound == 1.8
    assert found["v2-1000B-16k-none", java].verdict == "missed"
    assert found["v1-100B-16k-none", java].verdict == "accepted"
    assert found["v2-100B-16k-lz4", "time to the floor"].bound == 1.4
    assert found["v2-1000B-16k-none", "time to the floor"].measured == pytest.approx(5.0)
    assert ("v1-100B-16k-none", "time to the floor") not in found
    bare = "times as fast as aiokafka's iteration"
    assert found["v2-1000B-16k-none", bare].bound == 3.5
    assert found["v2-100B-16k-lz4", bare].bound == 1.25
    for peer, near, poor in (("Go", "met", "not measured"), ("Rust", "met", "missed")):
        assert found["v2-100B-16k-lz4", f"times as fast as {peer}"].verdict == near
        assert found["v2-1000B-16k-none", f"times as fast as {peer}"].verdict == poor
        assert ("v1-100B-16k-none", f"times as fast as {peer}") not in found
    mean = found["v2, 2 files", "geometric mean over Java, exact"]
    assert mean.measured == pytest.approx((2.02 * 0.8) ** 0.5)


def test_jobs_threads_and_memory_have_goals_too() -> None:
    measured = full_results(
        jobs=[job("export", 1.0), job("dump-log", 5.0), job("consumer", 2.0)],
        starts=[job("import magicbyte", 1.0), job("import pyarrow", 0.6)],
        damage=cell("v2-100B-16k-lz4", sound=100, damaged=151),
        damage_mb=64,
    )
    verdicts = {(goal.what, goal.cell): goal.verdict for goal in goals(measured)}
    assert verdicts["two threads, times as fast as one", "v2-100B-16k-gzip"] == "met"
    assert verdicts["peak memory, MB", "10 MiB of records"] == "missed"
    assert verdicts["peak memory, MB", "1024 MiB of records"] == "not measured"
    assert verdicts["CPU of an export to Parquet", "as a share of dump-log's"] == "met"
    assert verdicts["CPU of an export to Parquet", "as a share of consumer's"] == "missed"
    bits = "a flipped bit in every hundredth entry: times a sound file"
    assert verdicts[bits, "64 MiB of records"] == "missed"
    assert verdicts["import magicbyte, times import pyarrow", "CPU"] == "met"


def test_starts_are_compared_by_both_clocks() -> None:
    ours, arrow = job("import magicbyte", 1.0), job("import pyarrow", 1.0)
    ours.cpu_s, ours.wall_s = [1.0, 5.0, 90.0], [4.0, 6.0, 90.0]
    arrow.cpu_s, arrow.wall_s = [1.0, 1.0, 30.0], [1.0, 3.0, 90.0]
    found = {goal.cell: goal for goal in goals(results(starts=[ours, arrow])) if goal.bound == 2.0}
    assert (found["CPU"].measured, found["CPU"].verdict) == (3.0, "missed")
    assert (found["by the clock"].measured, found["by the clock"].verdict) == (2.0, "met")


def test_headers_have_goals_per_batch() -> None:
    bytes_read, cpu = "bytes that dump --quick reads, per batch", "CPU of a pass, µs per batch"
    found = {goal.cell: goal for goal in goals(results(headers=headers()))}
    assert (found[bytes_read].measured, found[bytes_read].verdict) == (61.0, "met")
    assert (found[cpu].measured, found[cpu].verdict) == (2.0, "missed")
    assert headers().command_us_per_batch == pytest.approx(30)
    uncounted = headers()
    uncounted.whole.read_bytes = [None, None, None]
    found = {goal.cell: goal for goal in goals(results(headers=uncounted))}
    assert found[bytes_read].verdict == "not measured"
    assert "| command: bytes read |  |" in page(results(headers=uncounted))


def test_the_page_shows_figures_verdicts_and_who_is_missing() -> None:
    text = page(results(GOOD, POOR, left_out={"Java": "there is no mvn on the PATH"}))
    assert "| left out: Java | there is no mvn on the PATH |" in text
    assert "| other programs took | 25% of the processors" in text
    assert "| v2-100B-16k-lz4 | 2.02 | ≥ 2.00 | met |" in text
    assert "| v2-1000B-16k-none | 0.80 | ≥ 1.80 | **missed** |" in text
    # Of 50, 500 and 5000 ns a record: two million a second.
    assert "\n| v2-100B-16k-lz4 | 2.00 | 0.99 | 1.67 | 1.25 | 2.04 | 0.33 |" in text


def test_a_reason_with_bars_stays_in_its_cell() -> None:
    text = page(results(left_out={"Rust": "cargo build fails: | ^^^"}))
    assert "| left out: Rust | cargo build fails: \\| ^^^ |" in text


def test_tables_have_as_many_cells_in_each_line() -> None:
    measured = full_results(GOOD, NEAR)
    assert "| sound | 1.0 | 2.0 | 3.0 | 4.0 | 5.0 | 15.0 |" in page(measured)
    assert "| damaged | 0.80 | 250 |" in page(measured)
    assert "| v2-100B-16k-lz4 | 1.0 | 2.0 | 3.0 | 4.0 | 10.0 |" in page(measured)
    assert "| import pyarrow | 0.12 | 0.25 | 100 |" in page(measured)
    for block in re.findall(r"(?:^\|.*\n)+", page(measured), re.MULTILINE):
        assert len({line.count("|") for line in block.splitlines()}) == 1


def test_results_are_read_as_they_were_saved(tmp_path: Path) -> None:
    saved = full_results(GOOD, left_out={"Java": "none"})
    saved.save(tmp_path / "results.json")
    assert load(tmp_path / "results.json") == saved


def test_the_plot_has_a_mark_for_each_ratio_and_lies_beside_the_page(tmp_path: Path) -> None:
    write(results(GOOD, POOR, NEAR), tmp_path / "speed.md")
    assert "(pictures/speed.svg)" in (tmp_path / "speed.md").read_text("utf-8")
    picture = ElementTree.parse(tmp_path / "pictures" / "speed.svg")
    titles = [title.text for title in picture.iter("{http://www.w3.org/2000/svg}title")]
    good = "ours: 1.25, Java exact: 2.52, Java columns: 1.50, Go: 2.00, Rust: 1.23, aiokafka: 7.50"
    poor = "ours: 5.00, Java exact: 4.00, Java columns: 3.00, Rust: 4.50, aiokafka: 30.00"
    assert titles == [
        *(f"v2-100B-16k-lz4, {ratio}" for ratio in good.split(", ")),
        *(f"v2-1000B-16k-none, {ratio}" for ratio in poor.split(", ")),
    ]


def test_without_a_floor_there_is_no_plot() -> None:
    assert plot([NEAR]) is None
