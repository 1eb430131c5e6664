"""Builds test vectors of log files: a sequence of log entries, at most one of them faulty."""

from collections.abc import Sequence
from typing import Any

from magicbyte_tools.vectors.case import (
    ExpectedFault,
    ExpectedFinding,
    ExpectedRow,
    VectorCase,
)
from magicbyte_tools.vectors.entry_parts import EntryPart, batch, message, rec

Finding = tuple[str, int]
"""A finding code, and the index of the part that the finding is about; -1 is the last part."""


def _sound_entry(offset: int, value: bytes, magic: int = 2) -> EntryPart:
    record = rec(offset, value)
    return batch(record) if magic == 2 else message(record, magic=magic)


FIRST = _sound_entry(0, b"before")
"""Sound first batch of a log with one fault."""


CAUGHT_BY = {
    "checksum-mismatch": "checksum",
    "offset-out-of-order": "order",
    "entry-over-limit": "limits",
    "batch-over-limit": "limits",
    "bad-wrapper": "codec",
    "codec-error": "codec",
    "codec-not-allowed": "codec",
    "record-checksum-mismatch": "codec",
    "unknown-codec": "codec",
}
"""Kind of check that detects a fault, by finding code; the grammar detects all other codes."""


NEGATIVE_LENGTH = (
    "Kafka reads any negative length as null. Nothing writes one but -1, and many clients safely "
    "refuse the others."
)
"""Reason of cases with a length below -1."""


def last(after: EntryPart, magic: int = 2) -> EntryPart:
    """Return a sound log entry in format *magic* of one record whose offset follows *after*."""
    return _sound_entry(after.next_offset, b"behind", magic)


def between(part: EntryPart, magic: int = 2) -> list[EntryPart]:
    """Return a log of a sound entry, *part* (which must begin at offset 1), and a sound entry.

    Both sound entries have format *magic*: a reader of v0 and v1 alone can read the log of a
    faulty message.
    """
    return [_sound_entry(0, b"before", magic), part, last(part, magic)]


def valid(
    name: str, why: str, *parts: EntryPart, findings: Sequence[Finding] = (), **fields: Any
) -> VectorCase:
    """Return the test vector of a log of sound *parts*; *fields* are fields of the VectorCase."""
    return _case(name, why, parts, findings, verdict="valid", rows=_rows(parts), **fields)


def invalid(
    name: str,
    why: str,
    parts: Sequence[EntryPart],
    *,
    code: str,
    caught_by: str | None = None,
    payload_position: int | None = None,
    also: Sequence[Finding] = (),
    findings: Sequence[Finding] | None = None,
    **fields: Any,
) -> VectorCase:
    """Return the test vector of a log of *parts*, exactly one of them marked as faulty.

    The only finding is *code* at the faulty part. *also* appends findings; *findings* replaces the
    whole list. A fault that the grammar detects leaves no parsed fields, unless *fields* (further
    fields of the VectorCase) has some.
    """
    at = next(n for n, part in enumerate(parts) if part.is_faulty)
    check = caught_by or CAUGHT_BY.get(code, "grammar")
    return _case(
        name,
        why,
        parts,
        [(code, at), *also] if findings is None else findings,
        verdict="invalid",
        rows=(),
        fault=_fault(parts, at, code, check, payload_position, remaining_parts=parts),
        **{"has_fields": check != "grammar"} | fields,
    )


def either(
    name: str,
    why: str,
    parts: Sequence[EntryPart],
    *,
    doubtful: int = 1,
    caught_by: str,
    code: str | None = None,
    findings: Sequence[Finding] = (),
    is_delivered: bool = False,
    **fields: Any,
) -> VectorCase:
    """Return the test vector of a log whose part at index *doubtful* a reader may accept or refuse.

    With *code* magicbyte refuses the part, otherwise it accepts it. A reader that refuses the part
    delivers no record of it, unless *is_delivered*. *fields* are further fields of the VectorCase.
    """
    left = parts if is_delivered else [*parts[:doubtful], *parts[doubtful + 1 :]]
    return _case(
        name,
        why,
        parts,
        [(code, doubtful), *findings] if code else findings,
        verdict="either",
        fault=_fault(parts, doubtful, code, caught_by, remaining_parts=left),
        is_refused=code is not None,
        **{"rows": _rows(parts)} | fields,
    )


def _case(
    name: str, why: str, parts: Sequence[EntryPart], findings: Sequence[Finding], **fields: Any
) -> VectorCase:
    return VectorCase(
        format="kafka_log",
        name=name,
        why=why,
        data=b"".join(part.data for part in parts),
        findings=tuple(ExpectedFinding(code, _position(parts, at)) for code, at in findings),
        **fields,
    )


def _rows(parts: Sequence[EntryPart]) -> tuple[ExpectedRow, ...]:
    return tuple(row for part in parts for row in part.rows)


def _position(parts: Sequence[EntryPart], number: int) -> int:
    return sum(len(part) for part in parts[: number % len(parts)])


def _fault(
    parts: Sequence[EntryPart],
    at: int,
    code: str | None,
    caught_by: str,
    payload_position: int | None = None,
    *,
    remaining_parts: Sequence[EntryPart],
) -> ExpectedFault:
    return ExpectedFault(
        position=_position(parts, at),
        caught_by=caught_by,
        code=code,
        payload_position=payload_position,
        records=_rows(remaining_parts),
        records_before=len(_rows(parts[:at])),
    )
