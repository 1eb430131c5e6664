"""Tests of the viewer in Chromium: it shows what its scripts say in Node, and is used by keys and links."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import log_builder as build
from magicbyte_cli import main
from magicbyte_tools.generate.kaitai import INSTALLED, NODE, install
from magicbyte_tools.viewer.page_builder import PAGE
from magicbyte_tools.webide.browser import chromium
from paths import DATA

from .conftest import HERE, VECTORS, vectors

SEGMENT = DATA / "4.3/transactions/log-0/aborted-0/00000000000000000006.log"
DAMAGED = VECTORS / "invalid" / "kafka_log" / "size-minus-1.bin"
TREE = "#main [role=tree]"

Job = dict[str, Any]


@pytest.fixture(scope="module")
def browser() -> str:
    path = chromium()
    if path is None:
        pytest.skip("no Chromium on PATH (CHROMIUM says where)")
    install()
    return path


@pytest.fixture(scope="module")
def long_names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a segment with a long name and records with a long key, value and header."""
    path = tmp_path_factory.mktemp("long") / f"{'a-topic-with-a-long-name.' * 8}log"
    record = build.record(b"v" * 500, b"key" * 100, headers=[(b"header" * 40, b"text" * 90)])
    path.write_bytes(build.batch([record]))
    return path


@pytest.fixture(scope="module")
def page_of_view(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "page.html"
    result = CliRunner().invoke(main, ["view", f"{SEGMENT}@1100", "-o", str(path)])
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture(scope="module")
def states(browser: str, long_names: Path, page_of_view: Path) -> dict[str, Any]:
    """Provide the page after each of some sequences of actions, by a name for it; all in one browser."""
    sizes = {
        f"{width}-{scheme}": {
            "file": str(long_names),
            "hash": "#byte=100",
            "size": {"width": width, "height": 900},
            "scheme": scheme,
        }
        for width in (1440, 390)
        for scheme in ("light", "dark")
    }
    pictures = os.environ.get("VIEWER_PICTURES")
    for name, job in sizes.items():
        job |= {"picture": f"{pictures}/{name}.png"} if pictures else {}
    keys = ("Home", "ArrowDown", "ArrowRight", "ArrowRight")
    jobs: dict[str, Job] = {
        "empty": {},
        "vectors": {
            "files": [
                [name, str(case["path"])]
                for verdict in ("valid", "invalid")
                for name, case in sampled(verdict).items()
            ],
            "format": "kafka_log",
        },
        "keys back": {
            "file": str(SEGMENT),
            "actions": [
                ("state", "opened"),
                ("focus", TREE),
                *(("press", key) for key in keys),
                ("state", "keys"),
                *(("press", key) for key in ("ArrowLeft", "ArrowLeft", "End")),
            ],
        },
        "bytes by keys": {
            "file": str(SEGMENT),
            "actions": [
                ("click", "#main .bytes [data-at='17']"),
                ("state", "click on a byte"),
                ("focus", "#main .hex"),
                ("press", "ArrowDown"),
            ],
        },
        "damaged": {"file": str(DAMAGED), "hash": "#byte=77"},
        "damaged-dark": {"file": str(DAMAGED), "hash": "#byte=77", "scheme": "dark"},
        "view": {"page": str(page_of_view), "hash": "#byte=1001&payload=60", "wait": 300},
        "view at its position": {"page": str(page_of_view)},
        "beyond": {"page": str(page_of_view), "hash": "#byte=99999999"},
        "network": {
            "file": str(SEGMENT),
            "actions": [("fetch", "http://127.0.0.1:9/"), ("fetch", "data:,text")],
        },
        **sizes,
    }
    answer = run_jobs(browser, [*jobs.values()])
    found = dict(zip(jobs, answer["results"], strict=True))
    for name in ("keys back", "bytes by keys"):
        found |= found[name]["states"]
    return found | {name: answer[name] for name in ("messages", "requests")}


def run_jobs(browser: str, jobs: list[Job]) -> dict[str, Any]:
    """Run *jobs* in the stored page; return their results, errors of scripts, and requested URLs."""
    done = subprocess.run(
        [NODE, HERE / "browser.mjs", INSTALLED, browser, PAGE],
        input=json.dumps(jobs),
        stdout=subprocess.PIPE,
        check=True,
        encoding="utf-8",
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def sampled(verdict: str) -> dict[str, dict[str, Any]]:
    """Return every eighth vector; all of them with MAGICBYTE_WIDE."""
    step = 1 if os.environ.get("MAGICBYTE_WIDE") else 8
    return dict(list(vectors(verdict).items())[::step])


def test_the_browser_shows_what_node_says(
    states: dict[str, Any], shown: dict[str, dict[str, Any]]
) -> None:
    names = [f"{verdict}/{name}" for verdict in ("valid", "invalid") for name in sampled(verdict)]
    assert len(names) > 40
    for name, found in zip(names, states["vectors"], strict=True):
        assert found["fields"] == shown[name]["fields"], name
        assert found["findings"] == shown[name]["findings"], name


def test_no_script_fails_and_nothing_is_requested(states: dict[str, Any]) -> None:
    assert states["messages"] == []
    assert {request.split(":")[0] for request in states["requests"]} == {"file"}


def test_the_tree_says_what_a_screen_reader_needs(states: dict[str, Any]) -> None:
    rows = states["opened"]["rows"]
    assert [row["text"] for row in rows] == [f"entries[{number}]" for number in range(11)]
    assert {(row["level"], row["size"], row["expanded"]) for row in rows} == {("1", "11", "false")}
    assert [row["position"] for row in rows] == [str(number + 1) for number in range(11)]
    assert sum(row["selected"] == "true" for row in rows) == 1
    assert [row["badge"] for row in rows[:2]] == ["marker", "aborted"]


def test_keys_open_and_close_and_move(states: dict[str, Any]) -> None:
    inside = states["keys"]
    assert inside["activeText"] == "base_offset"
    assert inside["marked"] == list(range(78, 86))
    assert "Offset of the first record" in inside["details"] and "baseOffset" in inside["details"]
    assert inside["hash"] == "#byte=78"
    [opened] = [row for row in inside["rows"] if row["expanded"] == "true"]
    assert opened["text"] == "entries[1]"
    back = states["keys back"]
    assert back["activeText"] == "entries[10]"
    assert all(row["expanded"] == "false" for row in back["rows"])


def test_a_click_on_a_byte_selects_its_field(states: dict[str, Any]) -> None:
    found = states["click on a byte"]
    assert found["activeText"] == "crc"
    assert found["marked"] == [17, 18, 19, 20]
    below = states["bytes by keys"]
    assert below["activeText"] == "base_timestamp" and below["hash"] == "#byte=33"


def test_damage_is_marked_and_its_finding_is_a_link(states: dict[str, Any]) -> None:
    found = states["damaged"]
    assert found["unclaimed"] == list(range(77, 167))
    assert set(found["bad"]) == {*range(77, 167), 167}
    assert found["activeText"] == "damage"
    assert found["findings"][0].startswith("byte 77 bad-size: ")
    assert "bad-size" in found["details"]


def test_a_link_leads_into_a_payload(states: dict[str, Any]) -> None:
    found = states["view"]
    assert "727 bytes, decompressed (snappy)" in found["payload"]
    assert "key-111734" in found["payload"]
    assert "records[2]" in found["payload"]


def test_a_page_of_view_opens_at_its_position(states: dict[str, Any]) -> None:
    found = states["view at its position"]
    assert found["activeText"] == "compressed_payload"
    assert "the whole file" in found["note"]


def test_a_link_to_a_byte_that_is_not_there_says_so(states: dict[str, Any]) -> None:
    assert "Byte 99,999,999 is not among the bytes of this page" in states["beyond"]["error"]


@pytest.mark.parametrize("name", ["1440-light", "1440-dark", "390-light", "390-dark"])
def test_long_names_and_values_do_not_widen_the_page(name: str, states: dict[str, Any]) -> None:
    assert states[name]["overflow"] <= 0
    assert states[name]["rows"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_both_panes_are_in_the_page_at_each_width(
    width: int, scheme: str, states: dict[str, Any]
) -> None:
    look = states[f"{width}-{scheme}"]["look"]
    for pane in ("tree", "bytes"):
        place = look[pane]
        assert 0 <= place["left"] < place["right"] <= look["width"] == width
        assert place["width"] >= 300 and place["height"] >= 150, pane


@pytest.mark.parametrize(
    "name",
    [
        "1440-light",
        "1440-dark",
        "390-light",
        "390-dark",
        "damaged",
        "damaged-dark",
        "view",
        "empty",
    ],
)
def test_all_texts_stand_out_from_their_background(name: str, states: dict[str, Any]) -> None:
    look = states[name]["look"]
    assert look["faint"] == []
    assert look["count"] > (5 if name == "empty" else 40)


def test_a_segment_of_a_gib_opens_within_two_seconds(browser: str, tmp_path: Path) -> None:
    """Its first rows, with a million batches; the browser takes less than 500 MB for all of it."""
    if not os.environ.get("MAGICBYTE_WIDE"):
        pytest.skip("writes and scans 1 GiB, for a minute; MAGICBYTE_WIDE=1 does")
    batch = build.batch([build.record(bytes(80), b"key", delta=number) for number in range(10)])
    count = (1 << 30) // len(batch)
    path = tmp_path / "00000000000000000000.log"
    with path.open("wb") as file:
        for number in range(count):
            file.write((10 * number).to_bytes(8, "big") + batch[8:])
    [found] = run_jobs(browser, [{"large": str(path)}])["results"]
    print(found)
    assert found["count"] == count
    assert found["milliseconds"] < 2000
    assert 0 < found["memory"] < 500_000_000
