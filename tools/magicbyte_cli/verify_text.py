"""The text of `magicbyte verify`: what a startup loses, partitions by severity, what to do."""

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import magicbyte as mb
from magicbyte import CODES, Finding
from magicbyte.findings import SEVERITIES, Severity, worst
from magicbyte.reading.table_rows import finding_order
from magicbyte.verification.verdicts import BAD_VERDICTS, VERDICTS
from magicbyte_cli.display import counted, printable
from magicbyte_cli.painter import Painter
from magicbyte_cli.stderr_messages import counted_severities

MAX_PER_CODE = 10
"""Findings of one code that are printed for a partition."""

MAX_UNFOLDED_NOTES = 3
"""Notes of one code that are printed where they belong; more are one line at the end."""

MAX_NAMES = 3
"""Partitions that a sentence names."""

SCREEN_LINES = 20
"""Lines after which the first thing to do is printed before them too."""

Row = dict[str, Any]


@dataclass(slots=True)
class PartitionGroup:
    """A partition with its findings; a replica is a partition of its own."""

    name: str
    row: Row
    findings: list[Finding] = field(default_factory=list)

    @property
    def is_bad(self) -> bool:
        return self.row["verdict"] in BAD_VERDICTS

    @property
    def gravity(self) -> tuple[int, int]:
        """Sort key: verdicts that lose something, the worst first; then severities."""
        severity = worst(self.findings)
        return (
            list(VERDICTS).index(self.row["verdict"]) if self.is_bad else len(VERDICTS),
            len(SEVERITIES) if severity is None else SEVERITIES.index(severity),
        )


class VerifyText:
    """Lines of text for a verification, with findings of *severity* and above."""

    def __init__(
        self, verification: mb.Verification, *, severity: Severity, painter: Painter
    ) -> None:
        self._verification = verification
        self._painter = painter
        self._severities = SEVERITIES[: SEVERITIES.index(severity) + 1]
        self._groups, self._others = _grouped(verification)
        counts = Counter(finding.code for finding in verification.findings)
        self._folded = {
            code
            for code, count in counts.items()
            if CODES[code].severity == "note" and count > MAX_UNFOLDED_NOTES
        }

    def lines(self) -> Iterator[str]:
        """Yield the lines; unprintable characters are escaped."""
        first = self._first_thing()
        body = list(self._body())
        head = list(self._losses())
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
        for finding in self._selected(self._others):
            yield self._finding_line(finding, finding.where, indent="")
        for group in sorted(self._groups, key=lambda group: group.gravity):
            yield from self._group_lines(group)
        yield from self._folded_lines()
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

    def _losses(self) -> Iterator[str]:
        """Yield what a startup would lose, and what consumers cannot read."""
        paint = self._painter
        refusing = [group for group in self._groups if group.row["verdict"] == "refuses-to-start"]
        if refusing:
            names = _names(refusing, [_refusal(group.row) for group in refusing])
            yield f"{paint.bad('the broker would not start')}: {printable(names)}"
        not_served = [
            group
            for group in self._groups
            if group.row["verdict"] in ("missing", "stray", "not-served")
        ]
        if not_served:
            yield f"{paint.bad('not served after startup')}: {printable(_names(not_served))}"
        losing = [group for group in self._groups if group.row["offsets_lost"]]
        if losing:
            lost = counted(sum(group.row["offsets_lost"] for group in losing), "offset")
            names = _names(losing, [_lost_text(group.row) for group in losing])
            yield (
                f"{paint.bad(f'{lost} lost')} in {counted(len(losing), 'partition')}: "
                f"{printable(names)}"
            )
        damaged = [group for group in self._groups if _remaining_ranges(group.row)]
        if damaged:
            names = _names(damaged, [_stuck_text(group.row) for group in damaged])
            yield (
                f"{paint.bad('consumers would get stuck')} in {counted(len(damaged), 'partition')}: "
                f"{printable(names)}"
            )

    def _first_thing(self) -> str | None:
        """Return a line that says what to do first; None where nothing is wrong."""
        findings = self._verification.findings
        text = _first_thing(self._groups, findings)
        if text is None:
            return None
        return f"{self._painter.strong('first:')} {printable(text)}"

    # Partitions

    def _group_lines(self, group: PartitionGroup) -> Iterator[str]:
        findings = self._selected(group.findings)
        row = group.row
        is_unpredicted = self._verification.quick and row["verdict"] == "unknown"
        if not findings and not group.is_bad and not row["recovery"]:
            return
        name = self._painter.strong(group.name)
        if is_unpredicted:
            yield f"{name}:"
        else:
            paint = self._painter.bad if group.is_bad else self._painter.good
            yield f"{name} [{paint(row['verdict'])}]: {printable(_prediction(row))}"
        for sentence in row["recovery"]:
            yield printable(f"  {sentence}")
        yield from self._finding_lines(findings)
        yield from map(printable, _damage_lines(row))

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


def _grouped(verification: mb.Verification) -> tuple[list[PartitionGroup], list[Finding]]:
    """Return the partitions with their findings, and the findings that are about none of them."""
    names = Counter(partition_name(row) for row in verification.partitions)
    groups = []
    by_partition: defaultdict[tuple[str | None, int | None], list[PartitionGroup]] = defaultdict(
        list
    )
    for row in verification.partitions:
        name = partition_name(row)
        if names[name] > 1:
            name = f"{row['log_dir']}/{name}"
        group = PartitionGroup(name, row)
        groups.append(group)
        by_partition[row["topic"], row["partition"]].append(group)
    others = []
    for finding in verification.findings:
        replicas = by_partition.get((finding.topic, finding.partition), [])
        own = [group for group in replicas if group.row["log_dir"] == finding.replica]
        if replicas:
            (own or replicas)[0].findings.append(finding)
        else:
            others.append(finding)
    return groups, others


def _where_in_partition(finding: Finding) -> str:
    """Return file and position of *finding*, without the names of the partition and the replica."""
    return replace(finding, topic=None, partition=None, replica=None).where


def partition_name(row: Row) -> str:
    return "these segments" if row["topic"] is None else f"{row['topic']}-{row['partition']}"


def _prediction(row: Row) -> str:
    """Return in words what a broker would do on startup with the partition of *row*."""
    if not row["offsets_lost"]:
        return f"on startup {VERDICTS[row['verdict']]}"
    lost = f"offsets {_lost_text(row)} of this partition ({counted(row['offsets_lost'], 'offset')})"
    end = f"its log end offset would be {row['log_end_offset_after_recovery']}"
    if row["verdict"] == "truncated":
        return f"on startup the broker would lose {lost}; {end}"
    return f"on startup {VERDICTS[row['verdict']]}; {lost} are lost; {end}"


def _refusal(row: Row) -> str:
    """Return the reason why the partition of *row* is not loaded."""
    return f"({row['recovery'][-1].partition(': ')[2]})" if row["recovery"] else ""


def _lost_text(row: Row) -> str:
    return ", ".join(_range_text(first, end) for first, end in row["lost_ranges"])


def _range_text(first: int, end: int | None) -> str:
    if end is None:
        return f"{first} and later"
    return str(first) if end == first + 1 else f"{first} to {end - 1}"


def _remaining_ranges(row: Row) -> list[Row]:
    """Return the damaged ranges of a partition that a startup does not remove."""
    return [damaged for damaged in row["damaged_ranges"] if damaged["remains"]]


def _stuck_text(row: Row) -> str:
    ranges = [
        _range_text(damaged["first_offset"], damaged["end_offset"])
        for damaged in _remaining_ranges(row)
    ]
    more = f" and {len(ranges) - MAX_NAMES:,} more" if len(ranges) > MAX_NAMES else ""
    return f"{', '.join(ranges[:MAX_NAMES])}{more}"


def _names(groups: Sequence[PartitionGroup], details: Sequence[str] = ()) -> str:
    """Return the names of the first partitions, each with its detail, and how many more there are."""
    names = [group.name for group in groups[:MAX_NAMES]]
    if details:
        names = [f"{name} {detail}" for name, detail in zip(names, details, strict=False)]
    more = f"; {len(groups) - MAX_NAMES:,} more" if len(groups) > MAX_NAMES else ""
    return f"{('; ' if details else ', ').join(names)}{more}"


def _damage_lines(row: Row) -> Iterator[str]:
    """Yield the offsets of each damaged range, and the command that moves a consumer group past one."""
    ranges = row["damaged_ranges"]
    for damaged in ranges[:MAX_PER_CODE]:
        first, end = damaged["first_offset"], damaged["end_offset"]
        noun = "offset" if end == first + 1 else "offsets"
        yield (
            f"  {damaged['file']} bytes {damaged['position']} to "
            f"{damaged['position'] + damaged['length'] - 1} hold {noun} {_range_text(first, end)}; "
            f"{_follows(damaged)}"
        )
    if len(ranges) > MAX_PER_CODE:
        yield f"  and {len(ranges) - MAX_PER_CODE:,} more damaged ranges: see --format ndjson"
    stuck = [
        damaged
        for damaged in ranges
        if damaged["remains"] is not False and damaged["seek_offset"] is not None
    ]
    if stuck and row["topic"] is not None:
        yield "  to move a consumer group that is stuck there (stop its consumers first):"
        yield f"    {reset_command(row['topic'], row['partition'], stuck[0]['seek_offset'])}"


def _follows(damaged: Row) -> str:
    """Return in words which sound offset follows a damaged range, and which one a broker finds."""
    next_offset, seek_offset = damaged["next_offset"], damaged["seek_offset"]
    if next_offset is None:
        return "no sound offset follows"
    text = f"the next sound offset is {next_offset}"
    if seek_offset == next_offset:
        return text
    if seek_offset is None:
        return f"{text}, which a broker does not find behind the wrong size"
    return f"{text}; {seek_offset} is the first that a broker finds behind the wrong size"


def reset_command(topic: str, partition: int, offset: int) -> str:
    """Return the command of Kafka that makes a consumer group go on at *offset*."""
    return (
        "kafka-consumer-groups.sh --bootstrap-server HOST:PORT --group GROUP --topic "
        f"{shlex.quote(f'{topic}:{partition}')} --reset-offsets --to-offset {offset} --execute"
    )


def _first_thing(groups: Sequence[PartitionGroup], findings: Sequence[Finding]) -> str | None:
    """Return what to do first; None where there are no findings."""
    by_verdict: defaultdict[str, list[PartitionGroup]] = defaultdict(list)
    for group in groups:
        by_verdict[group.row["verdict"]].append(group)
    if refusing := by_verdict["refuses-to-start"]:
        return (
            f"keep a copy of these files; then repair what keeps the broker from starting, in "
            f"{_names(refusing)}"
        )
    if truncated := by_verdict["truncated"]:
        return (
            f"do not start a broker on these files before you have a copy: it would lose offsets of "
            f"{_names(truncated)}; look for them in other replicas"
        )
    if not_served := [
        group for name in ("missing", "stray", "not-served") for group in by_verdict[name]
    ]:
        return f"keep a copy of these files before a broker starts: it would not serve {_names(not_served)}"
    if damaged := by_verdict["unchanged-damaged"]:
        return (
            f"keep a copy of these files, and compare {_names(damaged)} with other replicas; a "
            "startup repairs nothing"
        )
    if worst(findings) == "error":
        of_errors = [group for group in groups if worst(group.findings) == "error"]
        return f"look at the errors of {_names(of_errors)}" if of_errors else "look at the errors"
    return "nothing needs to be done: no offset would be lost" if findings else None


def _summary(verification: mb.Verification) -> str:
    summary = verification.summary
    parts = [
        counted(summary["partitions"], "partition"),
        counted(summary["segments"], "segment"),
        counted(summary["size_bytes"], "byte"),
    ]
    if summary["records"] is not None:
        parts.append(counted(summary["records"], "record"))
    if summary["damaged_bytes"]:
        parts.append(f"{counted(summary['damaged_bytes'], 'byte')} damaged")
    if summary["unreadable_bytes"]:
        parts.append(f"{counted(summary['unreadable_bytes'], 'byte')} unreadable")
    line = f"{', '.join(parts)}: {counted_severities(summary)}"
    return line if summary["crc_checked"] else f"{line}; CRC not checked"
