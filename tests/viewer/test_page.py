"""Tests of the page as it ships: it loads nothing, runs nothing but its scripts, and keeps notices."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from magicbyte_tools.viewer import page_builder
from magicbyte_tools.viewer.page_builder import PAGE


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text("utf-8")


class Loads(HTMLParser):
    """Collects what a page would load, and what its markup would run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("src", "href", "action") or name.startswith("on") or name == "style":
                self.found.append(f"{tag} {name}={value}")


def test_the_page_loads_nothing_and_has_no_handlers(page: str) -> None:
    loads = Loads()
    loads.feed(page)
    assert loads.found == []
    assert "<link" not in page and "@import" not in page and "url(" not in page


def test_the_policy_allows_only_the_scripts_and_the_style_of_the_page(page: str) -> None:
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";"))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in policy[1]
    for directive, element in (("script-src", "script"), ("style-src", "style")):
        texts = re.findall(rf"<{element}>(.*?)</{element}>", page, re.DOTALL)
        digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()) for text in texts]
        assert rules[directive] == " ".join(f"'sha256-{digest.decode()}'" for digest in digests)


def test_the_page_keeps_the_notice_of_each_library(page: str) -> None:
    for name in page_builder.LIBRARIES:
        assert f"\n{name} " in page or f"<pre>{name} " in page
    assert page.count("Permission is hereby granted, free of charge") >= 3
    assert "Apache License" in page


def test_a_library_under_another_licence_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "node_modules" / "copyleft"
    folder.mkdir(parents=True)
    about = {"version": "1.0.0", "license": "GPL-3.0-only"}
    (folder / "package.json").write_text(json.dumps(about))
    monkeypatch.setattr(page_builder, "INSTALLED", tmp_path)
    with pytest.raises(ValueError, match=r"GPL-3\.0-only"):
        page_builder._title("copyleft")


def test_the_page_has_the_sentence_of_every_field(page: str) -> None:
    sentence = "Which incarnation of the producer wrote the batch; -1 stands for none."
    assert sentence in page
    assert page.count('"doc": ""') == 0


def test_the_page_is_small(page: str) -> None:
    assert len(page.encode()) < 512 * 1024
