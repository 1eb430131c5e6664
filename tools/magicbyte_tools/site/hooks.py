"""Hooks of MkDocs for the documentation site: files outside docs/ that pages link to, and GitHub's tables.

The pages are written for GitHub, where a link may lead to any file of the repository. The site has the files that a page
links to, below `source/`; a link to a folder becomes plain text.
"""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

CHECKOUT = Path(__file__).resolve().parents[3]

SOURCE = "source"
"""Folder of the site for files outside docs/."""

IN_NAVIGATION = ("tests/vectors/README.md", "CONTRIBUTING.md", "CHANGELOG.md")
"""Pages outside docs/ that mkdocs.yml lists in the navigation."""

SEARCH_BOOSTS = {
    "reference/": 4.0,
    "reference/commands.md": 6.0,
    "reference/tables.md": 6.0,
    "findings.md": 4.0,
    "scores.md": 0.3,
    f"{SOURCE}/": 0.3,
}
"""Factors of what pages score in a search, by the beginning of their paths: definitions come first. The last one counts."""

LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^)\s]+)\)")

FENCE = re.compile(r"^(```.*?^```$)", re.DOTALL | re.MULTILINE)

CODE = re.compile(r"(`[^`\n]*`)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files outside docs/ that pages link to; pages among them bring those that they link to."""
    waiting = [file for file in files if file.src_uri.endswith(".md")]
    there = {file.src_uri for file in files}
    paths = list(IN_NAVIGATION)
    while waiting or paths:
        for path in paths:
            uri = f"{SOURCE}/{path}"
            if path.startswith("docs/") or uri in there or not (CHECKOUT / path).is_file():
                continue
            source = str(CHECKOUT / path)
            level = InclusionLevel.NOT_IN_NAV
            file = File.generated(config, uri, abs_src_path=source, inclusion=level)
            files.append(file)
            there.add(uri)
            if path.endswith(".md"):
                waiting.append(file)
        paths = []
        if waiting:
            file = waiting.pop()
            text = Path(str(file.abs_src_path)).read_text("utf-8")
            paths = [_path_of(file.src_uri, target) for target in _targets(text)]
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links of a page to the files of the site, and write bars in the code of tables as MkDocs reads them."""
    there = {file.src_uri for file in files}
    uri = page.file.src_uri
    for beginning, boost in SEARCH_BOOSTS.items():
        if uri.startswith(beginning):
            page.meta["search"] = {"boost": boost}

    def relinked(match: re.Match[str]) -> str:
        words, target = match[1], match[2]
        if _is_elsewhere(target):
            return match[0]
        _, hash_mark, anchor = target.partition("#")
        path = _path_of(uri, target)
        found = path.removeprefix("docs/") if path.startswith("docs/") else f"{SOURCE}/{path}"
        if found not in there:
            found = next((each for each in (f"{found}/README.md",) if each in there), "")
        if not found:
            return words[1:-1] if not words.startswith("!") else match[0]
        return (
            f"{words}({posixpath.relpath(found, posixpath.dirname(uri) or '.')}{hash_mark}{anchor})"
        )

    parts = FENCE.split(markdown)
    for number in range(0, len(parts), 2):
        lines = parts[number].split("\n")
        parts[number] = "\n".join(LINK.sub(relinked, _with_bars(line)) for line in lines)
    return "".join(parts)


def _with_bars(line: str) -> str:
    """Return a row of a table with plain bars in code: GitHub needs a backslash before them, MkDocs shows it."""
    if not line.startswith("|"):
        return line
    return CODE.sub(lambda match: match[0].replace("\\|", "|"), line)


def _targets(text: str) -> Iterator[str]:
    for _, target in LINK.findall("".join(FENCE.split(text)[::2])):
        if not _is_elsewhere(target):
            yield target


def _is_elsewhere(target: str) -> bool:
    return target.startswith("#") or re.match(r"[a-z]+:", target) is not None


def _path_of(uri: str, target: str) -> str:
    """Return the path in the checkout to which *target* leads on the page *uri* of the site."""
    page_path = uri.removeprefix(f"{SOURCE}/") if uri.startswith(f"{SOURCE}/") else f"docs/{uri}"
    return posixpath.normpath(
        posixpath.join(posixpath.dirname(page_path), target.partition("#")[0])
    )
