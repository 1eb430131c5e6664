"""The report: escaped, whole, and usable however many partitions there are."""

from collections import Counter
from html.parser import HTMLParser

import pytest

from magicbyte.tables.schemas import PARTITIONS, PROBLEMS
from magicbyte_tools.report.figures import Figures, PartitionFigures, Share
from magicbyte_tools.report.markup import element
from magicbyte_tools.report.page import MAX_FLAT, render

EVIL = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>&\x1b[2J\u202e"


class Tags(HTMLParser):
    """Counts the tags of a page, and checks that they are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: Counter[str] = Counter()
        self.open: list[str] = []
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen[tag] += 1
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen[tag] += 1
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def figures(num_partitions: int, text: str) -> Figures:
    row = dict.fromkeys(PARTITIONS.names, 7)
    partitions = [
        PartitionFigures(
            f"{text}{number % 5}",
            number,
            row,
            bytes=Counter(delivered=number, aborted=3),
            problems=Counter(error=number % 3),
            times=(0, 1 << 62),
            is_read=True,
        )
        for number in range(num_partitions)
    ]
    problem = dict.fromkeys(PROBLEMS.names, text) | {
        "severity": "error",
        "position": 1,
        "length": 2,
    }
    problem |= {"base_offset": None}
    transaction = dict.fromkeys(
        ("partition", "producer_id", "first_offset", "last_offset", "record_count"), 1
    )
    return Figures(
        about={"paths": [text], "isolation_level": text},
        partitions=partitions,
        num_segments=1,
        codecs=[Share(text, 1, 1, 1)],
        formats=[],
        outcomes={"open": Counter(transactions=1)},
        endless=[{**transaction, "topic": text, "outcome": "open", "first_timestamp": None}],
        severities=Counter(error=1),
        codes=Counter({("error", text): 1}),
        problems=[problem],
    )


def parsed(page: str) -> Tags:
    tags = Tags()
    tags.feed(page.removeprefix("<!doctype html>"))
    tags.close()
    assert tags.open == []
    return tags


@pytest.mark.parametrize("number", [0, 1, 2000])
def test_nothing_from_a_log_becomes_markup(number: int) -> None:
    page = render(figures(number, EVIL))
    tags = parsed(page)
    assert not {"script", "img", "link", "iframe", "object"} & set(tags.seen)
    assert not {"src", "href", "onerror", "onclick"} & tags.attributes
    assert "\x1b" not in page and "\u202e" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_many_partitions_are_folded_by_topic() -> None:
    assert parsed(render(figures(MAX_FLAT, "t"))).seen["details"] == 0
    page = render(figures(2000, "t"))
    assert parsed(page).seen["details"] == 5
    assert len(page) < 5_000_000


def test_text_is_escaped_in_elements_and_in_attributes() -> None:
    assert element("p", "<&>", title='"') == '<p title="&quot;">&lt;&amp;&gt;</p>'
