"""Writes SVG pictures: boxes, texts and paths in one style, with a light and a dark scheme."""

from dataclasses import dataclass, field
from html import escape

MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
SANS = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"

ORIGIN = "<!-- Generated from spec/ by `make docs`. Do not edit. -->\n"
"""The first line of every file of the reference."""

HUES = 8
"""Number of colours for neighbouring fields."""

# A picture draws its own background: a site may show a light page to a reader with a dark system.
STYLE = f"""
.paper {{ fill: #fbfaf7; }}
.ink {{ fill: #1d2329; }} .soft {{ fill: #5c6670; }} .accent {{ fill: #1f6f66; }}
.box {{ fill: #ffffff; stroke: #b9b5aa; }} .covered {{ fill: #e2f1ee; stroke: #7fb5ac; }}
.bar {{ fill: #2f8f83; }} .optional {{ stroke-dasharray: 4 3; }}
.zoom {{ fill: #e9e6dd; opacity: .55; }}
.h0 {{ fill: #cfe3f5; }} .h1 {{ fill: #f7dcb8; }} .h2 {{ fill: #cdebd8; }} .h3 {{ fill: #f3d0d0; }}
.h4 {{ fill: #ded6f2; }} .h5 {{ fill: #f3ecb4; }} .h6 {{ fill: #cfeaec; }} .h7 {{ fill: #ecd5e6; }}
@media (prefers-color-scheme: dark) {{
.paper {{ fill: #14181c; }}
.ink {{ fill: #e8ebee; }} .soft {{ fill: #9aa6b1; }} .accent {{ fill: #62c4b6; }}
.box {{ fill: #1f252c; stroke: #4a545e; }} .covered {{ fill: #173a37; stroke: #3b7a72; }}
.bar {{ fill: #45b3a4; }} .zoom {{ fill: #2a3138; opacity: .6; }}
.h0 {{ fill: #1f4160; }} .h1 {{ fill: #5c3f17; }} .h2 {{ fill: #1d4a31; }} .h3 {{ fill: #5a2a2a; }}
.h4 {{ fill: #3d3263; }} .h5 {{ fill: #4e4814; }} .h6 {{ fill: #1b4a4e; }} .h7 {{ fill: #522e49; }}
}}
text {{ font-family: {SANS}; font-size: 12px; }} .mono {{ font-family: {MONO}; }}
.small {{ font-size: 10.5px; }} .name {{ font-size: 13px; font-weight: 600; }}
.tiny {{ font-size: 9px; }} .hex {{ font-size: 13px; }} .bold {{ font-weight: 600; }}
"""


def width_of(text: str, size: float = 13) -> float:
    """Estimate the width in pixels of *text* in a monospaced font; rather too wide."""
    return len(text) * size * 0.615


@dataclass(slots=True)
class Picture:
    """An SVG picture under construction; coordinates are pixels from the left and the top."""

    width: float
    title: str
    about: str
    parts: list[str] = field(default_factory=list)

    def box(self, x: float, y: float, w: float, h: float, kind: str, radius: float = 3) -> None:
        self.parts.append(
            f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="{radius:g}"/>'
        )

    def text(self, x: float, y: float, words: str, kind: str, anchor: str = "start") -> None:
        self.parts.append(
            f'<text class="{kind}" x="{x:g}" y="{y:g}"'
            + (f' text-anchor="{anchor}"' if anchor != "start" else "")
            + f">{escape(words, quote=False)}</text>"
        )

    def path(self, commands: str, kind: str) -> None:
        self.parts.append(f'<path class="{kind}" d="{commands}"/>')

    def finish(self, height: float) -> str:
        """Return the text of the SVG file, *height* pixels high."""
        size = f"{self.width:g}", f"{height:g}"
        return ORIGIN + "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}"'
                f' width="{size[0]}" height="{size[1]}" role="img">',
                f"<title>{escape(self.title)}</title>",
                f"<desc>{escape(self.about)}</desc>",
                f"<style>{STYLE}</style>",
                f'<rect class="paper" width="{size[0]}" height="{size[1]}" rx="8"/>',
                *self.parts,
                "</svg>\n",
            ]
        )
