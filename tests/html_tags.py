"""Counts the tags of HTML pages for tests, and has a topic name that would break a page."""

from collections import Counter
from html.parser import HTMLParser

EVIL = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>&\x1b[2J\u202e"


class Tags(HTMLParser):
    """Counts the tags of a page, and checks that they are closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: Counter[str] = Counter()
        self.open: list[str] = []
        self.attributes: dict[str, list[str | None]] = {}
        self.feed(page.removeprefix("<!doctype html>"))
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen[tag] += 1
        for name, value in attrs:
            self.attributes.setdefault(name, []).append(value)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
