"""Tests of the documentation site: its navigation, and with MAGICBYTE_WIDE=1 the site that `make docs-site` builds."""

import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt

from extent import only_wide
from magicbyte_tools.generate.kaitai import INSTALLED, NODE, install
from magicbyte_tools.webide.browser import chromium
from paths import CHECKOUT

DOCS = CHECKOUT / "docs"

CONFIGURATION = (CHECKOUT / "mkdocs.yml").read_text("utf-8")

PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))

QUERIES = {
    "checksum-mismatch": "findings.html#checksum-mismatch",
    "log start offset": "findings.html#log-start-beyond",
    "--isolation-level": "reference/commands.html",
    "records.disposition": "reference/tables.html#records",
}
"""Pages that a search for a text must show among its first results."""

COUNTED = ("li", "pre", "tr", "td", "h1", "h2", "h3", "img")
"""Elements of which GitHub and the site must show the same number."""


def test_navigation_has_every_page_once() -> None:
    navigation = re.findall(r"^ +- [^\n]+: (\S+\.md)$", CONFIGURATION, re.MULTILINE)
    of_docs = [name for name in navigation if not name.startswith("source/")]
    assert sorted(of_docs) == PAGES
    others = [name.removeprefix("source/") for name in navigation if name not in of_docs]
    assert [name for name in others if not (CHECKOUT / name).is_file()] == []


class Elements(HTMLParser):
    """Counts the elements of a page's text, and collects what the page loads, where it links to, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.counts = Counter[str]()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.anchors = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] += 1
        attributes = {name: value or "" for name, value in attrs}
        targets = [attributes[name] for name in ("src", "href") if name in attributes]
        if tag == "a":
            self.links += targets
        else:
            self.loaded += targets
        self.anchors.add(attributes.get("id", ""))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site, which fails at a warning."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(["make", "docs-site", f"OUT={folder}"], cwd=CHECKOUT, check=True)
    return folder


def html_pages(site: Path) -> Iterator[Path]:
    yield from sorted(path for path in site.rglob("*.html") if path.name != "404.html")


@only_wide("builds the site for ten seconds")
def test_nothing_is_loaded_from_another_host(site: Path) -> None:
    for path in html_pages(site):
        elements = Elements(path.read_text("utf-8"))
        assert [link for link in elements.loaded if re.match(r"(\w+:)?//", link)] == []
        assert elements.counts["script"] > 0
    for path in site.rglob("*.css"):
        assert re.findall(r"url\(['\"]?(?:\w+:)?//|@import", path.read_text("utf-8")) == []


@only_wide("builds the site for ten seconds")
def test_every_link_leads_to_a_file_and_an_anchor_of_the_site(site: Path) -> None:
    pages = {path.resolve(): Elements(path.read_text("utf-8")) for path in html_pages(site)}
    dangling = []
    for path, elements in pages.items():
        for link in {*elements.links, *elements.loaded}:
            name, _, anchor = unquote(link).partition("#")
            target = (path.parent / name).resolve() if name else path
            is_there = target.exists() and (target not in pages or anchor in pages[target].anchors)
            if not is_there and not re.match(r"\w+:|//|data:", link):
                dangling.append((path.name, link))
    assert len(pages) > 70
    assert dangling == []


@only_wide("builds the site for ten seconds")
def test_the_site_shows_the_lists_and_tables_that_github_shows(site: Path) -> None:
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    for page in PAGES:
        on_github = Elements(parser.render((DOCS / page).read_text("utf-8"))).counts
        html = (site / re.sub("README.md$", "index.md", page)).with_suffix(".html")
        (article,) = re.findall(r"<article.*?>(.*)</article>", html.read_text("utf-8"), re.DOTALL)
        on_site = Elements(article).counts
        assert [(page, tag) for tag in COUNTED if on_site[tag] != on_github[tag]] == []


@only_wide("builds the site for ten seconds, and opens it in Chromium")
def test_search_works_in_a_file_and_finds(site: Path) -> None:
    browser = chromium()
    if browser is None:
        pytest.skip("no Chromium on PATH (CHROMIUM says where)")
    install()
    script = Path(__file__).with_name("search.mjs")
    command = [NODE, script, INSTALLED, browser, site / "index.html", *QUERIES]
    found = json.loads(subprocess.check_output(command))
    assert found["requests"] == []
    for query, target in QUERIES.items():
        assert any(target in link for link in found["links"][query][:10]), found["links"][query]
