"""Builds the cases of a log: entries in a row, at most one of them at fault."""

from collections.abc import Mapping, Sequence
from typing import Any

from magicbyte_tools.vectors.case import (
    TWIN,
    ExpectedFault,
    ExpectedFinding,
    ExpectedRow,
    VectorCase,
)
from magicbyte_tools.vectors.entry_parts import EntryPart, batch, rec

Finding = tuple[str, int]
"""A code, and the part at which it is found, counted from 0; -1 is the last."""

FIRST = batch(rec(0, b"before the fault"))
"""First entry of a case with one fault."""


def last(after: EntryPart) -> EntryPart:
    """Return a sound batch that follows *after*."""
    return batch(rec(after.next_offset, b"behind the fault"))


def between(part: EntryPart) -> list[EntryPart]:
    """Return *part*, which begins at offset 1, between two sound entries."""
    return [FIRST, part, last(part)]


def valid(
    name: str,
    *parts: EntryPart,
    why: str,
    source: str,
    made: str = TWIN,
    classes: Sequence[int] = (),
    findings: Sequence[Finding] = (),
    limits: Mapping[str, int] | None = None,
    front: str | None = None,
    front_code: str | None = None,
) -> VectorCase:
    """Return the case of a log of *parts* that are all sound."""
    return VectorCase(
        format="kafka_log",
        name=name,
        why=why,
        verdict="valid",
        data=_data(parts),
        made=made,
        source=source,
        classes=tuple(classes),
        rows=_rows(parts),
        findings=_found(parts, findings),
        limits=limits or {},
        front=front,
        front_code=front_code,
    )


def invalid(
    name: str,
    parts: Sequence[EntryPart],
    *,
    code: str,
    caught_by: str,
    why: str,
    source: str,
    made: str = TWIN,
    classes: Sequence[int] = (),
    payload_position: int | None = None,
    also: Sequence[Finding] = (),
    findings: Sequence[Finding] | None = None,
    limits: Mapping[str, int] | None = None,
    has_fields: bool | None = None,
    fields: Any = None,
) -> VectorCase:
    """Return the case of a log of *parts*, exactly one of them at fault.

    The only finding is *code* at that part; *also* are further findings after it, *findings* replaces
    them all where the order differs. A fault that the grammar catches leaves no fields; *fields* is
    the tree where the twin is stricter than a grammar can be.
    """
    at = next(n for n, part in enumerate(parts) if part.is_faulty)
    all_findings = [(code, at), *also] if findings is None else findings
    return VectorCase(
        format="kafka_log",
        name=name,
        why=why,
        verdict="invalid",
        data=_data(parts),
        made=made,
        source=source,
        classes=tuple(classes),
        rows=(),
        fault=_fault(parts, at, code, caught_by, payload_position, remaining_parts=parts),
        findings=_found(parts, all_findings),
        limits=limits or {},
        has_fields=caught_by != "grammar" if has_fields is None else has_fields,
        fields=fields,
    )


def either(
    name: str,
    parts: Sequence[EntryPart],
    *,
    doubtful: int,
    caught_by: str,
    why: str,
    source: str,
    reason: str,
    made: str = TWIN,
    classes: Sequence[int] = (),
    code: str | None = None,
    payload_position: int | None = None,
    findings: Sequence[Finding] = (),
    is_kafka_refusal: bool = False,
    is_delivered: bool = False,
    has_fields: bool = True,
) -> VectorCase:
    """Return the case of a log of *parts*, where a reader may refuse the part numbered *doubtful*.

    With *code* magicbyte refuses it, else it reads it. A reader that refuses delivers no row of it,
    unless *is_delivered*.
    """
    left = parts if is_delivered else [*parts[:doubtful], *parts[doubtful + 1 :]]
    return VectorCase(
        format="kafka_log",
        name=name,
        why=why,
        verdict="either",
        data=_data(parts),
        made=made,
        source=source,
        classes=tuple(classes),
        rows=_rows(parts),
        fault=_fault(parts, doubtful, code, caught_by, payload_position, remaining_parts=left),
        is_refused=code is not None,
        findings=_found(parts, [(code, doubtful), *findings] if code else findings),
        reason=reason,
        has_fields=has_fields,
        is_kafka_refusal=is_kafka_refusal,
    )


def _data(parts: Sequence[EntryPart]) -> bytes:
    return b"".join(part.data for part in parts)


def _rows(parts: Sequence[EntryPart]) -> tuple[ExpectedRow, ...]:
    return tuple(row for part in parts for row in part.rows)


def _position(parts: Sequence[EntryPart], number: int) -> int:
    return sum(len(part) for part in parts[: number % len(parts)])


def _found(parts: Sequence[EntryPart], findings: Sequence[Finding]) -> tuple[ExpectedFinding, ...]:
    return tuple(ExpectedFinding(code, _position(parts, number)) for code, number in findings)


def _fault(
    parts: Sequence[EntryPart],
    at: int,
    code: str | None,
    caught_by: str,
    payload_position: int | None,
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
