"""Builds the cases of formats other than logs: the file is one structure and gives no rows."""

from collections.abc import Sequence
from typing import Any

from magicbyte_tools.vectors.case import ExpectedFault, VectorCase
from magicbyte_tools.vectors.log_case import TWIN


def whole(
    format_id: str,
    name: str,
    data: bytes,
    *,
    why: str,
    source: str,
    made: str = TWIN,
    classes: Sequence[int] = (),
    fields: Any = None,
) -> VectorCase:
    """Return the case of *data* that every reader of the format accepts.

    *fields* is its tree where the twin lacks the format.
    """
    return VectorCase(
        format=format_id,
        name=name,
        why=why,
        verdict="valid",
        data=data,
        made=made,
        source=source,
        classes=tuple(classes),
        fields=fields,
    )


def broken(
    format_id: str,
    name: str,
    data: bytes,
    *,
    caught_by: str,
    why: str,
    source: str,
    made: str = TWIN,
    classes: Sequence[int] = (),
    code: str | None = None,
    error: str | None = None,
    position: int = 0,
    fields: Any = None,
) -> VectorCase:
    """Return the case of *data* that violates the format.

    *code* and *error* are the runtime's, where it reads such a file alone; *fields* is the tree of a
    grammar where the twin is stricter.
    """
    return VectorCase(
        format=format_id,
        name=name,
        why=why,
        verdict="invalid",
        data=data,
        made=made,
        source=source,
        classes=tuple(classes),
        fault=ExpectedFault(position=position, caught_by=caught_by, code=code, error=error),
        has_fields=caught_by != "grammar",
        fields=fields,
    )


def doubtful(
    format_id: str,
    name: str,
    data: bytes,
    *,
    caught_by: str,
    why: str,
    source: str,
    reason: str,
    made: str = TWIN,
    classes: Sequence[int] = (),
    is_kafka_refusal: bool = False,
) -> VectorCase:
    """Return the case of *data* that a reader may refuse."""
    return VectorCase(
        format=format_id,
        name=name,
        why=why,
        verdict="either",
        data=data,
        made=made,
        source=source,
        classes=tuple(classes),
        fault=ExpectedFault(position=0, caught_by=caught_by),
        reason=reason,
        is_kafka_refusal=is_kafka_refusal,
    )
