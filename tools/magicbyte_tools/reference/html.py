"""Converts the format reference to one HTML file that contains all pages and pictures."""

import posixpath
import re
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token

from magicbyte_tools.reference.anchors import slug
from magicbyte_tools.reference.svg import ORIGIN
from magicbyte_tools.reference.svg import STYLE as PICTURE_STYLE

STYLE = """
:root { color-scheme: light dark; --paper: #fbfaf7; --card: #fff; --ink: #1d2329; --soft: #5c6670;
  --line: #e3e1db; --accent: #1f6f66; --code: #f1efe9; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181c; --card: #1b2026; --ink: #e4e7ea;
  --soft: #9aa6b1; --line: #2d343c; --accent: #62c4b6; --code: #232a31; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
nav { position: fixed; inset: 0 auto 0 0; width: 17rem; overflow-y: auto; padding: 1.4rem 1.2rem;
  border-right: 1px solid var(--line); background: var(--card); font-size: .86rem; }
nav b { display: block; margin: 0 0 .8rem; font-size: 1rem; }
nav a { display: block; padding: .2rem .5rem; border-radius: .3rem; color: var(--ink); }
nav a:hover { background: var(--code); }
main { margin-left: 17rem; padding: 2.2rem 2.4rem 6rem; max-width: 80rem; }
section + section { margin-top: 5rem; border-top: 3px solid var(--line); padding-top: 2.5rem; }
h1 { font-size: 1.8rem; line-height: 1.2; letter-spacing: -.01em; margin: 0 0 .6rem; }
h2 { font-size: 1.25rem; margin: 2.6rem 0 .8rem; } h3 { font-size: 1.02rem; margin: 2rem 0 .6rem; }
p, ul { max-width: 46rem; } a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
code { font: .88em ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  background: var(--code); padding: .08em .32em; border-radius: .25em; }
.scroll { overflow-x: auto; margin: 1rem 0; border: 1px solid var(--line); border-radius: .5rem;
  background: var(--card); width: fit-content; max-width: 100%; }
.scroll > svg { display: block; width: 100%; min-width: 46rem; height: auto; }
.picture { border: 0; width: auto; }
table { border-collapse: collapse; font-size: .88rem;
  font-variant-numeric: tabular-nums; }
th, td { padding: .42rem .7rem; text-align: left; vertical-align: top; }
th { color: var(--soft); font-weight: 600; font-size: .8rem; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
tr + tr td { border-top: 1px solid var(--line); }
.wide td:last-child { min-width: 16rem; } td em { color: var(--soft); font-size: .92em; }
.hex, td:first-child { white-space: nowrap; }
h3 code { background: none; padding: 0; font-size: 1em; font-weight: 600; }
td:nth-last-child(n + 2) { overflow-wrap: normal; }
@media (max-width: 60rem) { nav { position: static; width: auto; border: 0; columns: 2; }
  main { margin: 0; padding: 1.4rem 1rem 4rem; } .scroll { margin-inline: -.4rem; }
  section + section { margin-top: 3rem; } }
@media print { nav { display: none; } main { margin: 0; } }
"""


def html(files: dict[str, str]) -> str:
    """Convert *files*, Markdown pages and SVG pictures by path, to one HTML document."""
    names = [name for name in files if name.endswith(".md")]
    sections = "\n".join(_section(name, files) for name in names)
    entries = "\n".join(
        f'<a href="#{_anchor(name)}">{escape(_title(name, files[name]))}</a>' for name in names
    )
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Kafka's record formats</title>\n<style>{STYLE}{PICTURE_STYLE}</style>\n"
        f"<nav><b>Kafka's record formats</b>\n{entries}\n</nav>\n"
        f"<main>\n{sections}\n</main>\n</html>\n"
    )


def _anchor(name: str, heading: str = "") -> str:
    """Return the HTML id of the page *name*, or of its heading with the anchor *heading*."""
    page = name.removesuffix(".md")
    return f"{page}--{heading}" if heading else page


def _title(name: str, text: str) -> str:
    page = posixpath.basename(name).removesuffix(".md")
    return "Overview" if name == "README.md" else page.removeprefix("kafka_")


def _section(name: str, files: dict[str, str]) -> str:
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    tokens = parser.parse(files[name])
    for number, token in enumerate(tokens):
        if token.type == "heading_open":
            heading = slug(tokens[number + 1].content)
            token.attrSet("id", _anchor(name, heading) if token.tag != "h1" else _anchor(name))
        for child in token.children or []:
            if child.type == "link_open":
                _relink(child, name, files)
            elif child.type == "html_inline":
                child.content = re.sub(
                    r'(?<=<a id=")[^"]+', lambda match: _anchor(name, match[0]), child.content
                )
    body: str = parser.renderer.render(tokens, parser.options, {})
    body = re.sub(
        r"<table>(?=\s*<thead>(?:(?!</thead>).)*>meaning<)",
        '<table class="wide">',
        body,
        flags=re.DOTALL,
    )
    body = re.sub(r"(?=<table)", '<div class="scroll">', body)
    body = body.replace("</table>", "</table></div>")
    body = re.sub(r"<code>((?:[0-9a-f]{2} ?)+)</code>", r'<code class="hex">\1</code>', body)
    body = re.sub(r"<!--.*?-->\s*", "", body)
    return f"<section>\n{_with_pictures(body, files)}</section>"


def _relink(link: Token, name: str, files: dict[str, str]) -> None:
    """Point *link* on the page *name* to an id in the HTML file; unlink files outside it."""
    target = str(link.attrGet("href"))
    if target.startswith("https://"):
        return
    page, _, heading = target.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(name), page)) if page else name
    if path in files and path.endswith(".md"):
        link.attrSet("href", f"#{_anchor(path, heading)}")
    else:
        link.attrs.pop("href")


def _with_pictures(body: str, files: dict[str, str]) -> str:
    def picture(match: re.Match[str]) -> str:
        drawn = re.sub(
            r"<style>.*?</style>\n?", "", files[match[1]].removeprefix(ORIGIN), flags=re.DOTALL
        )
        return f'<div class="scroll picture">{drawn}</div>'

    return re.sub(r'<p><img src="(pictures/[^"]+)"[^>]*/?></p>', picture, body)
