"""Findings by code: severity, meaning, advice, and the first examples."""

from collections.abc import Iterator
from typing import Any

from magicbyte.findings import CODES
from magicbyte_cli import display
from magicbyte_cli.report import cells
from magicbyte_cli.report.cells import DASH
from magicbyte_cli.report.figures.problem_figures import CodeFigures, ProblemFigures
from magicbyte_cli.report.markup import Content, Markup, element
from magicbyte_cli.report.tables import card, section, soft, table

HEADS = ("Partition", "File", ">Byte", ">Length", ">Offset", "Finding")


def findings(problems: ProblemFigures, *, is_verified: bool) -> Markup:
    """Return a card per code: its meaning, advice, and the first findings.

    If not *is_verified*, name the checks that were not made.
    """
    verify = element("code", "magicbyte verify")
    if is_verified:
        scope = soft("All checks of ", verify, " were made.")
    else:
        scope = soft(
            "Indexes, snapshots, checkpoint files and replicas were not checked: ",
            element("code", "magicbyte pipeline --verify"),
            " or ",
            verify,
            " checks them.",
        )
    nothing = None if problems.codes else soft("No findings.")
    return section("findings", "Findings", scope, nothing, *map(_code, problems.codes))


def _code(code_figures: CodeFigures) -> Markup:
    code = CODES.get(code_figures.code)
    in_partitions = f"in {display.counted(code_figures.num_partitions, 'partition')}"
    return card(
        element(
            "h3",
            cells.severity(code_figures.severity),
            " ",
            element("code", code_figures.code),
            element("span", f"{code_figures.count:,} {in_partitions}", class_="count"),
        ),
        element("p", *with_code(f"{code.sentence} {code.consequence}" if code else "")),
        element(
            "p",
            element("b", "What to do: "),
            *with_code(code.remedy if code else ""),
            class_="advice",
        ),
        table(
            cells.partial_caption(
                "Where",
                len(code_figures.examples),
                code_figures.count,
                "problems",
                "the first in the table",
            ),
            HEADS,
            [_row(row) for row in code_figures.examples],
            wide=5,
        ),
        class_=f"card finding of-{code_figures.severity}",
        id=code_figures.code,
    )


def with_code(text: str) -> Iterator[Content]:
    """Yield *text* with the parts between backticks as code."""
    for number, part in enumerate(text.split("`")):
        yield element("code", part) if number % 2 else part


def _row(row: dict[str, Any]) -> tuple[Content, ...]:
    payload_position = row["payload_position"]
    position = cells.identifier(row["position"])
    return (
        cells.partition(row["topic"], row["partition"]),
        element("code", row["file"]) if row["file"] else DASH,
        position
        if payload_position is None
        else cells.stacked(position, f"payload {payload_position}"),
        cells.number(row["length"]),
        cells.identifier(row["base_offset"]),
        row["message"],
    )
