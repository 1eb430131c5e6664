"""Section of the report about startups: verdicts on partitions, and the offsets they would lose."""

from typing import Any

from magicbyte.verification.verdicts import (
    BAD_BROKER_VERDICTS,
    BAD_VERDICTS,
    BROKER_VERDICTS,
    VERDICTS,
)
from magicbyte_cli import display
from magicbyte_cli.report import cells
from magicbyte_cli.report.cells import DASH
from magicbyte_cli.report.markup import Content, Markup, element, joined
from magicbyte_cli.report.tables import section, soft, table
from magicbyte_cli.verify_damage import lost_text
from magicbyte_cli.verify_groups import first_names

MAX_PARTITIONS = 200
"""Largest number of partitions that have a row."""

MAX_FINDINGS = 20
"""Largest number of findings that a broker has here."""

TITLE = "What a broker would do on startup"


def startup(verdicts: dict[str, list[dict[str, Any]]] | None) -> Markup:
    """Return a line for each broker, and a row for each partition that a startup would change or not
    serve, the worst first."""
    if verdicts is None:
        return section(
            "startup",
            TITLE,
            soft(
                "Not predicted: ",
                element("code", "magicbyte pipeline --verify"),
                " or ",
                element("code", "magicbyte verify"),
                " predicts it.",
            ),
        )
    brokers = [_broker(row) for row in verdicts["brokers"]]
    verified_partitions = verdicts["partitions"]
    order = list(VERDICTS)
    worst_first = sorted(verified_partitions, key=lambda row: order.index(row["verdict"]))
    listed = [row for row in worst_first if row["verdict"] != "intact" or row["recovery"]]
    num_intact = len(verified_partitions) - len(listed)
    summary = soft(f"{display.counted(num_intact, 'partition')} would be served as they are.")
    if not listed:
        return section("startup", TITLE, *brokers, summary)
    caption = cells.partial_caption(
        "By partition", min(len(listed), MAX_PARTITIONS), len(listed), "partitions", "the worst"
    )
    heads = ("Partition", "Verdict", ">Offsets lost", "Which", "What the broker would do")
    rows = [_row(row) for row in listed[:MAX_PARTITIONS]]
    return section("startup", TITLE, *brokers, summary, table(caption, heads, rows, wide=4))


def _broker(row: dict[str, Any]) -> Markup:
    """Return whether a broker would start, with its findings."""
    name = "The broker" if row["node_id"] is None else f"Broker {row['node_id']}"
    verdict = row["verdict"]
    return element(
        "p",
        element("b", name),
        " ",
        cells.severity("error", verdict) if verdict in BAD_BROKER_VERDICTS else verdict,
        f": Kafka {row['kafka_version']} {BROKER_VERDICTS[verdict]} ({first_names(row['log_dirs'])})",
        *(element("div", text) for text in row["findings"][:MAX_FINDINGS]),
    )


def _row(row: dict[str, Any]) -> tuple[Content, ...]:
    verdict = row["verdict"]
    sentences = [f"{VERDICTS[verdict]}", *row["recovery"]]
    return (
        cells.partition(row["topic"], row["partition"]),
        cells.severity("error", verdict) if verdict in BAD_VERDICTS else verdict,
        cells.number(row["offsets_lost"] or None),
        lost_text(row) or DASH,
        joined(element("div", sentence) for sentence in sentences),
    )
