"""What was found wrong: how grave, where, and what to do."""

from collections.abc import Iterator
from typing import Any

from magicbyte.findings import CODES
from magicbyte_cli.report import display
from magicbyte_cli.report.advice import ADVICE
from magicbyte_cli.report.display import DASH
from magicbyte_cli.report.figures.problem_figures import CodeFigures, ProblemFigures
from magicbyte_cli.report.markup import Content, Markup, element
from magicbyte_cli.report.tables import card, section, soft, table

HEADS = ("Partition", "File", ">Byte", ">Length", ">Offset", "What was found")


def findings(problems: ProblemFigures) -> Markup:
    """Return a block for each code: what it means, what to do, and its first places."""
    if not problems.codes:
        return section("findings", "Findings", soft("Nothing was found wrong."))
    return section("findings", "Findings", *map(_code, problems.codes))


def _code(found: CodeFigures) -> Markup:
    known = CODES.get(found.code)
    in_partitions = f"in {display.counted(found.num_partitions, 'partition')}"
    return card(
        element(
            "h3",
            display.severity(found.severity),
            " ",
            element("code", found.code),
            element("span", f"{found.count:,} {in_partitions}", class_="count"),
        ),
        element("p", known.sentence if known else ""),
        element(
            "p",
            element("b", "What to do: "),
            *with_code(ADVICE.get(found.code, "")),
            class_="advice",
        ),
        table(
            display.part("Where", len(found.places), found.count, "problems", "that come first"),
            HEADS,
            [_place(row) for row in found.places],
            wide=5,
        ),
        class_=f"card finding of-{found.severity}",
    )


def with_code(text: str) -> Iterator[Content]:
    """Yield *text* with what stands between backticks as code."""
    for number, part in enumerate(text.split("`")):
        yield element("code", part) if number % 2 else part


def _place(row: dict[str, Any]) -> tuple[Content, ...]:
    inside = row["payload_position"]
    position = display.plain(row["position"])
    return (
        display.place(row["topic"], row["partition"]),
        element("code", row["file"]) if row["file"] else DASH,
        position if inside is None else display.two(position, f"payload {inside}"),
        display.number(row["length"]),
        display.plain(row["base_offset"]),
        row["message"],
    )
