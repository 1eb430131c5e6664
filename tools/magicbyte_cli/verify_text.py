"""The text of `magicbyte verify`: what a startup loses, partitions by severity, what to do."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import magicbyte as mb
from magicbyte import CODES, Finding
from magicbyte.findings import SEVERITIES, Severity
from magicbyte.logdir.metadata_snapshots import METADATA_TOPIC
from magicbyte.logdir.unread_path import UnreadPath
from magicbyte.reading.table_rows import finding_order
from magicbyte.verification.broker import BrokerPrediction
from magicbyte.verification.verdicts import BROKER_VERDICTS, VERDICTS
from magicbyte_cli.display import counted, printable
from magicbyte_cli.painter import Painter
from magicbyte_cli.stderr_messages import counted_severities
from magicbyte_cli.verify_advice import first_thing
from magicbyte_cli.verify_damage import (
    damage_lines,
    lost_text,
    offsets_lost_text,
    ranges_text,
    remaining_ranges,
    removed_ranges,
    stuck_text,
)
from magicbyte_cli.verify_groups import (
    MAX_NAMES,
    PartitionGroup,
    Row,
    broker_name,
    grouped,
    names_of,
    shown_path,
)

MAX_PER_CODE = 10
"""Findings of one code that are printed for a partition."""

MAX_ALIKE = 20
"""Partitions with the same prediction and findings that are named before these."""

MAX_UNFOLDED_NOTES = 3
"""Notes of one code that are printed where they belong; more are one line at the end."""

SCREEN_LINES = 20
"""Lines after which the first thing to do is printed before them too."""


class VerifyText:
    """Lines of text for a verification, with findings of *severity* and above."""

    def __init__(
        self, verification: mb.Verification, *, severity: Severity, painter: Painter
    ) -> None:
        self._verification = verification
        self._painter = painter
        self._severities = SEVERITIES[: SEVERITIES.index(severity) + 1]
        self._groups, self._others = grouped(verification)
        self._is_any_refusing = any(
            broker.verdict == "refuses-to-start" for broker in verification.brokers
        )
        counts = Counter(finding.code for finding in verification.findings)
        self._folded = {
            code
            for code, count in counts.items()
            if CODES[code].severity == "note" and count > MAX_UNFOLDED_NOTES
        }

    def lines(self) -> Iterator[str]:
        """Yield the lines; unprintable characters are escaped."""
        first = self._first_line()
        body = list(self._body())
        if body and not body[0]:
            del body[0]  # a blank line before the first part
        head = [*self._broker_lines(), *self._losses()]
        if first is not None and len(body) > SCREEN_LINES:
            head.append(first)
        yield from head
        if head and body:
            yield ""
        yield from body
        if body:
            yield ""
        yield printable(_summary(self._verification))
        if first is not None:
            yield first

    def _body(self) -> Iterator[str]:
        of_brokers = {
            finding for broker in self._verification.brokers for finding in self._causes(broker)
        }
        for finding in self._selected(self._others):
            if finding not in of_brokers:
                yield self._finding_line(finding, finding.where, indent="")
        alike: dict[tuple[str, ...], list[PartitionGroup]] = {}
        for group in sorted(self._groups, key=lambda group: group.gravity):
            if lines := tuple(self._group_lines(group)):
                alike.setdefault(lines, []).append(group)
        for (head, *details), groups in alike.items():
            names = names_of(groups, max_names=MAX_ALIKE)
            yield f"{self._painter.strong(names)}{head}"
            yield from details
        yield from self._folded_lines()
        yield from map(printable, _unread_lines(self._verification.unread))
        yield from self._remedy_lines()

    def _selected(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return the findings that are printed one by one, the most severe first."""
        selected = [
            finding
            for finding in findings
            if finding.severity in self._severities and finding.code not in self._folded
        ]
        return sorted(
            selected, key=lambda each: (SEVERITIES.index(each.severity), finding_order(each))
        )

    # The first screen

    def _broker_lines(self) -> Iterator[str]:
        """Yield whether each broker would start, and why not."""
        order = list(BROKER_VERDICTS)
        for broker in sorted(
            self._verification.brokers, key=lambda broker: order.index(broker.verdict)
        ):
            paint = self._painter.good if broker.verdict == "starts" else self._painter.bad
            paths = ", ".join(map(shown_path, broker.log_dirs[:MAX_NAMES]))
            if len(broker.log_dirs) > MAX_NAMES:
                paths += f" and {len(broker.log_dirs) - MAX_NAMES} more"
            yield (
                f"{self._painter.strong(broker_name(broker))} [{paint(broker.verdict)}]: on startup "
                f"Kafka {broker.kafka_version} {BROKER_VERDICTS[broker.verdict]} ({printable(paths)})"
            )
            causes = self._causes(broker)
            for finding in causes[:MAX_PER_CODE]:
                yield self._finding_line(finding, finding.where, indent="  ")
            if len(causes) > MAX_PER_CODE:
                yield f"  and {len(causes) - MAX_PER_CODE:,} more"

    def _causes(self, broker: BrokerPrediction) -> list[Finding]:
        """Return the findings that are printed with *broker*, and not with a partition or later."""
        return [
            finding
            for finding in self._selected(broker.findings)
            if (finding.severity != "note" or broker.verdict == "unknown")
            and (
                finding.topic is None
                or finding.topic == METADATA_TOPIC
                or (broker.verdict == "refuses-to-start" and finding.code in broker.reasons)
            )
        ]

    def _losses(self) -> Iterator[str]:
        """Yield what a startup would lose, and what consumers cannot read."""
        paint = self._painter
        refusing = [group for group in self._groups if group.row["verdict"] == "refuses-to-start"]
        if refusing and not self._verification.brokers:
            names = names_of(refusing, [_refusal(group.row) for group in refusing])
            yield f"{paint.bad('the broker would not start')}: {printable(names)}"
        not_served = [
            group
            for group in self._groups
            if group.row["verdict"] in ("missing", "stray", "not-served")
        ]
        if not_served:
            yield f"{paint.bad('not served after startup')}: {printable(names_of(not_served))}"
        losing = [group for group in self._groups if group.row["offsets_lost"]]
        if losing:
            lost = counted(sum(group.row["offsets_lost"] for group in losing), "offset")
            names = names_of(losing, [lost_text(group.row) for group in losing])
            yield (
                f"{paint.bad(f'{lost} lost')} in {counted(len(losing), 'partition')}: "
                f"{printable(names)}"
            )
        damaged = [group for group in self._groups if remaining_ranges(group.row)]
        if damaged:
            names = names_of(damaged, [stuck_text(group.row) for group in damaged])
            yield (
                f"{paint.bad('consumers would get stuck')} in {counted(len(damaged), 'partition')}: "
                f"{printable(names)}"
            )

    def _first_line(self) -> str | None:
        """Return a line that says what to do first; None where nothing is wrong."""
        findings = self._verification.findings
        text = first_thing(
            self._verification.brokers, self._groups, findings, self._verification.unread
        )
        if text is None:
            return None
        return f"{self._painter.strong('first:')} {printable(text)}"

    # Partitions

    def _group_lines(self, group: PartitionGroup) -> Iterator[str]:
        """Yield the lines of a partition; its name belongs before the first one."""
        findings = self._selected(group.findings)
        row = group.row
        is_unpredicted = self._verification.quick and row["verdict"] == "unknown"
        if not findings and not group.is_bad and not row["recovery"]:
            return
        if is_unpredicted:
            yield ":"
        else:
            paint = self._painter.bad if group.is_bad else self._painter.good
            prediction = _prediction(row)
            if row["verdict"] == "unknown" and self._is_any_refusing:
                prediction = "the broker would not start"
            yield f" [{paint(row['verdict'])}]: {printable(prediction)}"
        messages = {finding.message for finding in findings}
        for sentence in row["recovery"]:
            if sentence not in messages:
                yield printable(f"  {sentence}")
        yield from self._finding_lines(findings)
        yield from map(printable, damage_lines(row))

    def _finding_lines(self, findings: Sequence[Finding]) -> Iterator[str]:
        counts: Counter[str] = Counter()
        totals = Counter(finding.code for finding in findings)
        for finding in findings:
            counts[finding.code] += 1
            if counts[finding.code] <= MAX_PER_CODE:
                yield self._finding_line(finding, _where_in_partition(finding), indent="  ")
            elif counts[finding.code] == totals[finding.code]:
                num_more = totals[finding.code] - MAX_PER_CODE
                yield printable(
                    f"  {finding.severity} {finding.code}: {num_more:,} more, the last at "
                    f"{_where_in_partition(finding)}"
                )

    def _finding_line(self, finding: Finding, where: str, *, indent: str) -> str:
        severity = self._painter.severity(finding.severity)
        text = f"{where}: {finding.message}" if where else finding.message
        return f"{indent}{severity} {finding.code}: {printable(text)}"

    # After the partitions

    def _folded_lines(self) -> Iterator[str]:
        """Yield a line for each code of repeated notes."""
        if "note" not in self._severities:
            return
        for code in CODES:
            if code not in self._folded:
                continue
            notes = [finding for finding in self._verification.findings if finding.code == code]
            first = min(notes, key=finding_order)
            partitions = len({(each.topic, each.partition) for each in notes})
            severity = self._painter.severity("note")
            yield f"{severity} {code}: " + printable(
                f"{len(notes):,} times in {counted(partitions, 'partition')}, first {first}"
            )

    def _remedy_lines(self) -> Iterator[str]:
        """Yield what to do about each code of an error or a warning."""
        codes = {
            finding.code
            for finding in self._verification.findings
            if finding.severity in self._severities and finding.severity != "note"
        }
        if not codes:
            return
        yield ""
        yield self._painter.strong("what to do:")
        for severity in SEVERITIES:
            for name, code in CODES.items():
                if name in codes and code.severity == severity:
                    yield printable(f"  {name}: {code.remedy}")


def _where_in_partition(finding: Finding) -> str:
    """Return file and position of *finding*, without the names of the partition and the replica."""
    return replace(finding, topic=None, partition=None, replica=None).where


def _prediction(row: Row) -> str:
    """Return in words what a broker would do on startup with the partition of *row*."""
    if row["verdict"] == "recovered" and remaining_ranges(row):
        return "on startup the broker would recover this partition, and leave damage in it"
    if row["verdict"] == "recovered" and (removed := removed_ranges(row)):
        return (
            "on startup the broker would recover this partition; no valid record is lost, and damaged bytes that "
            f"held offsets {ranges_text(removed)} are removed"
        )
    if not row["offsets_lost"]:
        if row["verdict"] == "unknown":  # its sentence says "on startup" itself
            return VERDICTS["unknown"]
        return f"on startup {VERDICTS[row['verdict']]}"
    lost = f"{offsets_lost_text(row)} of this partition ({counted(row['offsets_lost'], 'offset')})"
    end = f"its log end offset would be {row['log_end_offset_after_recovery']}"
    if row["verdict"] == "truncated":
        return f"on startup the broker would lose {lost}; {end}"
    are = "is" if row["offsets_lost"] == 1 else "are"
    return f"on startup {VERDICTS[row['verdict']]}; {lost} {are} lost; {end}"


def _refusal(row: Row) -> str:
    """Return the reason why the partition of *row* is not loaded."""
    return f"({row['recovery'][-1].partition(': ')[2]})" if row["recovery"] else ""


def _unread_lines(unread_paths: Sequence[UnreadPath]) -> Iterator[str]:
    """Yield the paths that were not read, by kind, with their reasons."""
    by_kind: defaultdict[str, list[UnreadPath]] = defaultdict(list)
    for unread in unread_paths:
        if unread.kind == "foreign-file" and unread.topic is not None:
            continue  # the note `foreign-file` of the partition has it
        by_kind[unread.kind].append(unread)
    if by_kind:
        yield ""
        yield "not read:"
    for kind, of_kind in by_kind.items():
        for unread in of_kind[:MAX_NAMES]:
            size = "" if unread.size_bytes is None else f" ({counted(unread.size_bytes, 'byte')})"
            yield f"  {kind} {shown_path(unread.path)}{size}: {unread.reason}"
        if len(of_kind) > MAX_NAMES:
            yield f"  {kind}: {len(of_kind) - MAX_NAMES:,} more; --format ndjson has all of them"


def _summary(verification: mb.Verification) -> str:
    summary = verification.summary
    parts = [
        counted(summary["partitions"], "partition"),
        counted(summary["segments"], "segment"),
        counted(summary["size_bytes"], "byte"),
    ]
    if summary["records"] is not None:
        parts.append(counted(summary["records"], "record"))
    if summary["control_records"]:
        parts.append(counted(summary["control_records"], "control record"))
    if summary["damaged_bytes"]:
        parts.append(f"{counted(summary['damaged_bytes'], 'byte')} damaged")
    if summary["unreadable_bytes"]:
        parts.append(f"{counted(summary['unreadable_bytes'], 'byte')} unreadable")
    line = f"{', '.join(parts)}: {counted_severities(summary)}"
    return line if summary["crc_checked"] else f"{line}; CRC not checked"
