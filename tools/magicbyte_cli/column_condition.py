"""`--where`: conditions on columns and on members of typed keys and values, such as `value.amount > 10`."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import click
import pyarrow as pa

from magicbyte import InputError
from magicbyte_cli import parameters

if TYPE_CHECKING:
    import pyarrow.compute as pc

NAME = r'"(?:[^"]|"")+"|[^\s".=!<>~]+'
CONDITION = re.compile(
    rf"\s*((?:{NAME})(?:\.(?:{NAME}))*)\s*(=|!=|<>|<=|>=|<|>|~|\bis\s+not\s+null\b|\bis\s+null\b)\s*(.*?)\s*",
    re.IGNORECASE | re.DOTALL,
)
"""Column and members, operator, and literal."""

FORM = "COLUMN OPERATOR LITERAL with =, !=, <, <=, >, >= or ~ (a regular expression), or COLUMN IS [NOT] NULL"

MAX_DIGITS = 76
"""Digits of Arrow's largest decimals."""

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "=": lambda column, literal: column == literal,
    "!=": lambda column, literal: column != literal,
    "<>": lambda column, literal: column != literal,
    "<": lambda column, literal: column < literal,
    "<=": lambda column, literal: column <= literal,
    ">": lambda column, literal: column > literal,
    ">=": lambda column, literal: column >= literal,
}


@dataclass(frozen=True, slots=True)
class ColumnCondition:
    """A condition on one column, or on a member of its struct."""

    text: str
    path: tuple[str, ...]
    """Names of the column and of members, as they were written between dots."""
    operator: str
    """A key of OPERATORS, `~`, `is null` or `is not null`."""
    literal: str

    def expression(self, schema: pa.Schema, topic: str | None) -> "pc.Expression":
        """Return the condition about columns of *schema*, the columns of *topic*.

        Raises InputError if *schema* has no such column, or the literal is none of its type.
        """
        import pyarrow.compute as pc

        data_type, member_names = self._member(schema, topic)
        member = pc.field(self.path[0])
        for name in member_names:
            member = pc.struct_field(member, name)
        if self.operator == "is null":
            return member.is_null()
        if self.operator == "is not null":
            return member.is_valid()
        if pa.types.is_dictionary(data_type):
            data_type = data_type.value_type
            member = member.cast(data_type)
        if self.operator == "~":
            return self._matching(member, data_type)
        scalar = self._scalar(data_type)
        if pa.types.is_decimal(data_type):
            # Arrow compares decimals of one type only, which must have enough digits for both.
            data_type = pa.decimal256(MAX_DIGITS, max(data_type.scale, scalar.type.scale))
            member, scalar = member.cast(data_type), scalar.cast(data_type)
        literal = pc.scalar(scalar)
        comparison: pc.Expression = OPERATORS[self.operator](member, literal)
        return comparison

    def _member(self, schema: pa.Schema, topic: str | None) -> tuple[pa.DataType, list[str]]:
        """Return the type that the path leads to, and the names of the members after the column."""
        if self.path[0] not in schema.names:
            raise InputError(
                f"--where {self.text!r}: no column {self.path[0]!r}",
                f"one of {', '.join(schema.names)}",
            )
        data_type = schema.field(self.path[0]).type
        member_names: list[str] = []
        rest = list(self.path[1:])
        while rest:
            if not pa.types.is_struct(data_type):
                raise self._no_member(rest[0], data_type, member_names, topic)
            names = {one.name for one in data_type}
            # A record's full name has dots: the longest name that is a member counts.
            sizes = [n for n in range(len(rest), 0, -1) if ".".join(rest[:n]) in names]
            if not sizes:
                raise self._no_member(rest[0], data_type, member_names, topic)
            name = ".".join(rest[: sizes[0]])
            member_names.append(name)
            data_type = data_type.field(name).type
            rest = rest[sizes[0] :]
        return data_type, member_names

    def _no_member(
        self, name: str, data_type: pa.DataType, member_names: Sequence[str], topic: str | None
    ) -> InputError:
        parent = ".".join((self.path[0], *member_names))
        is_struct = pa.types.is_struct(data_type)
        expected = (
            f"one of {', '.join(one.name for one in data_type)}"
            if is_struct
            else f"{parent} itself, which is {_type_name(data_type)}"
        )
        return InputError(
            f"--where {self.text!r}: {parent} of topic {topic or '-'} has no member {name!r}",
            expected,
        )

    def _matching(self, member: "pc.Expression", data_type: pa.DataType) -> "pc.Expression":
        import pyarrow.compute as pc

        if not (pa.types.is_string(data_type) or pa.types.is_binary(data_type)):
            raise InputError(
                f"--where {self.text!r}: ~ on {_type_name(data_type)}", "text or bytes"
            )
        try:
            pc.match_substring_regex(pa.array([""]), self.literal)
        except pa.ArrowInvalid as error:
            raise InputError(f"--where {self.text!r}: {error}", "a regular expression") from error
        return pc.match_substring_regex(member, self.literal)

    def _scalar(self, data_type: pa.DataType) -> pa.Scalar:
        """Return the literal with the type *data_type*; InputError if it has no such value."""
        try:
            return _scalar_of(self.literal, data_type)
        except (ValueError, KeyError, InvalidOperation, OverflowError, pa.ArrowException) as error:
            raise InputError(
                f"--where {self.text!r}: {self.literal!r}", _literals_of(data_type)
            ) from error


def _scalar_of(literal: str, data_type: pa.DataType) -> pa.Scalar:
    types = pa.types
    if types.is_string(data_type) or types.is_large_string(data_type):
        return pa.scalar(literal, pa.string())
    if types.is_binary(data_type) or types.is_fixed_size_binary(data_type):
        is_hex = re.fullmatch("0x(?:[0-9A-Fa-f]{2})*", literal)
        data = bytes.fromhex(literal[2:]) if is_hex else literal.encode()
        return pa.scalar(data, pa.binary())
    if types.is_integer(data_type):
        return pa.scalar(int(literal), data_type)
    if types.is_floating(data_type):
        return pa.scalar(float(literal), pa.float64())
    if types.is_decimal(data_type):
        return pa.scalar(Decimal(literal))
    if types.is_boolean(data_type):
        return pa.scalar({"true": True, "false": False}[literal.lower()])
    if types.is_timestamp(data_type):
        return _time_scalar(literal, data_type)
    if types.is_date(data_type):
        return pa.scalar(date.fromisoformat(literal), pa.date32())
    if types.is_time(data_type):
        return pa.scalar(time.fromisoformat(literal), pa.time64("us"))
    raise ValueError(data_type)


def _time_scalar(literal: str, data_type: pa.TimestampType) -> pa.Scalar:
    """Return a time; one without a zone is in UTC."""
    moment: datetime | int
    try:
        moment = parameters.time(literal)
    except click.BadParameter as error:
        raise ValueError(str(error)) from error
    if isinstance(moment, int):
        return pa.scalar(moment, pa.timestamp("ms", data_type.tz))
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    if data_type.tz is None:
        aware = aware.astimezone(UTC).replace(tzinfo=None)
    return pa.scalar(aware, pa.timestamp("us", data_type.tz))


LITERALS: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (pa.types.is_integer, "an integer"),
    (pa.types.is_floating, "a number"),
    (pa.types.is_decimal, "a decimal number"),
    (pa.types.is_boolean, "true or false"),
    (pa.types.is_timestamp, "a time such as 2024-05-01T12:00:00Z, or milliseconds"),
    (pa.types.is_date, "a date such as 2024-05-01"),
    (pa.types.is_time, "a time of day such as 12:00:00"),
)


def _literals_of(data_type: pa.DataType) -> str:
    """Return what can be compared with a column of *data_type*."""
    for is_type, literals in LITERALS:
        if is_type(data_type):
            return f"{literals}, because the column is {_type_name(data_type)}"
    return f"IS NULL or IS NOT NULL for {_type_name(data_type)}, or one of its members"


def _type_name(data_type: pa.DataType) -> str:
    """Return the kind of *data_type* in a word; the whole type of a struct has many lines."""
    for is_type, name in (
        (pa.types.is_struct, "a struct"),
        (pa.types.is_map, "a map"),
        (pa.types.is_list, "a list"),
        (pa.types.is_null, "not decoded"),
    ):
        if is_type(data_type):
            return name
    return str(data_type)


def column_condition(text: str) -> ColumnCondition:
    """Parse a condition; BadParameter if it is none."""
    match = CONDITION.fullmatch(text)
    operator = "" if match is None else " ".join(match[2].lower().split())
    literal = "" if match is None else match[3]
    if match is None or (operator.startswith("is ") and literal):
        raise click.BadParameter(f"{text!r}; expected {FORM}")
    path = tuple(
        name[1:-1].replace('""', '"') if name.startswith('"') else name
        for name in re.findall(NAME, match[1])
    )
    if len(literal) > 1 and literal[0] == literal[-1] == "'":
        literal = literal[1:-1].replace("''", "'")
    elif not operator.startswith("is ") and not literal:
        raise click.BadParameter(f"{text!r}; expected a literal, '' for the empty text")
    return ColumnCondition(text, path, operator, literal)
