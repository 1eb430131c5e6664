"""Formats the values and bytes of an example's fields as Markdown."""

from datetime import UTC, datetime
from enum import Enum
from typing import Any

from magicbyte_tools.reference.library import FormatStructure, Library, Spec
from magicbyte_tools.reference.walk import Leaf

ROW = 16
"""Number of bytes in a line of hex."""


def value_words(leaf: Leaf, library: Library) -> str:
    """Return the value of *leaf* for a table: as stored, with its enum name or time, if any."""
    if isinstance(leaf.value, dict):
        inner = library.of(leaf.field, leaf.owner)
        if inner is None:
            raise ValueError(f"{leaf.field_path} has bits and no structure")
        return "<br>".join(
            f"`{one['id']}` {_one(leaf.value[one['id']], one, inner, library)}"
            for one in inner.fields
        )
    return _one(leaf.value, leaf.field, leaf.owner, library)


def _one(value: Any, attribute: Spec, owner: FormatStructure, library: Library) -> str:
    if value is None:
        return "null"
    if isinstance(value, bytes):
        return _bytes(value)
    if isinstance(value, str):
        return code(f'"{value}"')
    if "-checksum" in attribute:
        return f"`0x{value:08x}`"
    number = int(value)
    if isinstance(value, Enum) and "enum" in attribute:
        found = library.enum(attribute["enum"], owner)
        enum_members: dict[Any, Spec] = found[1] if found else {}
        if number in enum_members:
            member = enum_members[number]
            return f"`{number}` {member.get('-orig-id', member['id'])}"
    return f"`{number}`" + _time(number, attribute)


def _time(number: int, attribute: Spec) -> str:
    """Return *number* as a UTC time if the field is a timestamp in milliseconds, else nothing."""
    doc = " ".join(str(attribute.get("doc", "")).split())
    if number <= 0 or "milliseconds since the unix epoch" not in doc.lower():
        return ""
    moment = datetime.fromtimestamp(number // 1000, UTC)
    return f" {moment:%Y-%m-%d %H:%M:%S}.{number % 1000:03} UTC"


def _bytes(value: bytes) -> str:
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = "\0"
    if text.isprintable():
        return code(f'"{text}"')
    return f"{len(value)} byte" + "s" * (len(value) != 1)


def code(text: str) -> str:
    """Format *text* as Markdown code, escaped for a cell of a table."""
    return f"`{text}`".replace("|", "\\|") if "`" not in text else f"`` {text} ``"


def hex_words(data: bytes) -> str:
    """Format *data* as lines of 16 bytes in hex, for a cell of a Markdown table."""
    lines = (data[at : at + ROW].hex(" ") for at in range(0, len(data), ROW))
    return "<br>".join(f"`{line}`" for line in lines)
