"""Compares tables of groups, transactional ids and producers with the answers of Kafka's tools."""

from pathlib import Path
from typing import Any

import magicbyte as mb
from magicbyte.reading.group_positions import group_positions

RECORDED = Path(__file__).parent / "recorded"
"""Topics of coordinators and answers of the tools at some moments, that tests/brokers/test_groups.py recorded."""

Lines = list[dict[str, str]]
Row = dict[str, Any]


def offset_lines(lines: Lines) -> set[tuple[str, ...]]:
    """Return group, topic, partition, offset, log end offset, lag, member id, host and client id of each line."""
    names = ("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG")
    return {
        tuple(line[name] for name in (*names, "CONSUMER-ID", "HOST", "CLIENT-ID"))
        for line in lines
        if line["TOPIC"] != "-"
    }


def position_lines(rows: list[Row]) -> set[tuple[str, ...]]:
    """Return the positions of groups as `offset_lines` returns those of the tool."""
    names = ("group", "topic", "partition", "offset", "log_end_offset", "lag")
    return {
        tuple(text(row[name]) for name in (*names, "member_id", "client_host", "client_id"))
        for row in rows
        if row["type"] != "Share" and (row["offset"] is not None or row["member_id"])
    }


def member_lines(lines: Lines) -> set[tuple[str, ...]]:
    names = ("GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS")
    return {
        (
            *(line[name] for name in names),
            ";".join(sorted(_assignment_of(line).replace("), (", ");(").split(";"))),
        )
        for line in lines
    }


def _assignment_of(line: dict[str, str]) -> str:
    shown = line.get("CURRENT-ASSIGNMENT") or line.get("ASSIGNMENT") or "-"
    return "" if shown == "-" else shown


def member_rows_as_lines(rows: list[Row], *, with_topics: bool) -> set[tuple[str, ...]]:
    return {
        (
            row["group"],
            row["member_id"],
            row["client_host"],
            row["client_id"],
            str(len(row["assignment"] or ())),
            assigned(row["assignment"] or (), with_topics=with_topics),
        )
        for row in rows
    }


def assigned(partitions: Any, *, with_topics: bool = True) -> str:
    """Return an assignment as Kafka's tools print it; the tool of 3.9 leaves out the names of topics."""
    by_topic: dict[str, list[str]] = {}
    for each in partitions:
        by_topic.setdefault(each["topic"], []).append(str(each["partition"]))
    parts = [
        f"{topic}:{','.join(numbers)}" if with_topics else f"({','.join(numbers)})"
        for topic, numbers in by_topic.items()
    ]
    return ";".join(sorted(parts))


def text(value: object) -> str:
    return "-" if value is None else str(value)


def state_lines(lines: Lines) -> set[tuple[str, ...]]:
    names = ("GROUP", "STATE", "#MEMBERS")
    return {tuple(line[name] for name in names) for line in lines}


def transaction_lines(lines: Lines) -> set[tuple[str, ...]]:
    names = ("TransactionalId", "ProducerId", "TransactionState")
    return {tuple(line[name] for name in names) for line in lines}


def differences(log_dir: Path, answers: dict[str, Lines]) -> list[str]:
    """Return the subjects in which the tables of *log_dir* differ from the *answers* of the tools, with both."""
    dataset = mb.open(log_dir, on_damage="skip")
    tables = {
        name: dataset.table(name).to_pylist()
        for name in (
            "groups",
            "group_members",
            "transactional_ids",
            "share_group_offsets",
            "producers",
        )
    }
    type_by_group = {row["group"]: row["type"] for row in tables["groups"]}
    members = [row for row in tables["group_members"] if type_by_group[row["group"]] != "Share"]
    states = [row for row in tables["groups"] if row["type"] != "Share"]
    is_without_topics = any(_assignment_of(line).startswith("(") for line in answers["members"])
    pairs: dict[str, tuple[object, object]] = {
        "offsets": (
            position_lines(list(group_positions(dataset, mb.Report()))),
            offset_lines(answers["offsets"]),
        ),
        "members": (
            member_rows_as_lines(members, with_topics=not is_without_topics),
            member_lines(answers["members"]),
        ),
        "states": (
            {(row["group"], row["state"], str(row["member_count"])) for row in states},
            state_lines(answers["states"]),
        ),
        "transactions": (
            {
                (row["transactional_id"], str(row["producer_id"]), row["state"])
                for row in tables["transactional_ids"]
            },
            transaction_lines(answers["transactions"]),
        ),
        "producers": (
            {
                _producer_line(row)
                for row in tables["producers"]
                if row["topic"] == "copy" and row["partition"] == 0
            },
            {tuple(list(line.values())[:6]) for line in answers["producers"]},
        ),
    }
    for row in tables["transactional_ids"]:
        name = row["transactional_id"]
        for line in answers.get(f"transaction {name}", ()):
            partitions = {f"{each['topic']}-{each['partition']}" for each in row["partitions"]}
            shown = set(filter(None, line["TopicPartitions"].split(",")))
            epochs = str(row["producer_epoch"]), line["ProducerEpoch"]
            pairs[f"transaction {name}"] = ((partitions, epochs[0]), (shown, epochs[1]))
    if "share" in answers:
        names = ("group", "topic", "partition", "start_offset", "lag")
        shown_names = ("GROUP", "TOPIC", "PARTITION", "START-OFFSET", "LAG")
        pairs["share"] = (
            {tuple(text(row[name]) for name in names) for row in tables["share_group_offsets"]},
            {tuple(line[name] for name in shown_names) for line in answers["share"]},
        )
    return [
        f"{subject}: {_only(ours, theirs)}"
        for subject, (ours, theirs) in pairs.items()
        if ours != theirs
    ]


def _only(ours: Any, theirs: Any) -> str:
    if isinstance(ours, set):
        return f"only ours {sorted(ours - theirs)}, only the tool's {sorted(theirs - ours)}"
    return f"ours {ours}, the tool's {theirs}"


def _producer_line(row: Row) -> tuple[str, ...]:
    time, start = row["last_timestamp"], row["current_transaction_start_offset"]
    return (
        str(row["producer_id"]),
        str(row["producer_epoch"]),
        *(
            str(-1 if row[name] is None else row[name])
            for name in ("coordinator_epoch", "last_sequence")
        ),
        str(-1 if time is None else round(time.timestamp() * 1000)),
        str(start),
    )
