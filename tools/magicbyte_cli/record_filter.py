"""Which records are wanted: by what is in them, by who wrote them, and by what became of that."""

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import click
import pyarrow as pa

from magicbyte import Dataset, Report, Rows
from magicbyte.tables.arrays import array_of
from magicbyte.tables.schemas import OUTCOMES, RECORDS
from magicbyte_cli import parameters
from magicbyte_cli.selection import Decorator, with_options

Test = Callable[[pa.Array], pa.Array]
"""Returns, for each value of a column, whether it is wanted; null is no."""


@dataclass(frozen=True, slots=True)
class Condition:
    column: str
    test: Test


def pattern(text: str) -> Test:
    """Return the test for `TEXT` or `/REGEX/` anywhere in a value, or for `=TEXT` or `0xHEX`, all of it."""
    import pyarrow.compute as pc

    if len(text) > 1 and text.startswith("/") and text.endswith("/"):
        expression = text[1:-1]
        try:
            pc.match_substring_regex(array_of([b""], pa.binary()), expression)
        except pa.ArrowInvalid as error:
            raise click.BadParameter(f"{text!r} is no regular expression: {error}") from error
        return lambda column: pc.match_substring_regex(column, expression)
    if text.startswith("0x"):
        if not re.fullmatch("0x(?:[0-9A-Fa-f]{2})*", text):
            raise click.BadParameter(f"{text!r}; expected 0x and pairs of hexadecimal digits")
        return _equals(bytes.fromhex(text[2:]), pa.binary())
    if text.startswith("="):
        return _equals(text[1:].encode(), pa.binary())
    return lambda column: pc.match_substring(column, text)


def header(text: str) -> Test:
    """Return the test for a header `NAME`, or `NAME=PATTERN` with a pattern for its value."""
    name, mark, value = text.partition("=")
    test = pattern(value) if mark else None
    return lambda column: _has_header(column, name, test)


def _has_header(column: pa.Array, name: str, test: Test | None) -> pa.Array:
    import pyarrow.compute as pc

    items, rows = pc.list_flatten(column), pc.list_parent_indices(column)
    is_wanted = _equals(name, pa.string())(pc.struct_field(items, "key"))
    if test is not None:
        is_wanted = pc.and_kleene(is_wanted, test(pc.struct_field(items, "value")))
    numbers = pc.cumulative_sum(pc.fill_null(pa.nulls(len(column), pa.int64()), _ONE))
    return pc.is_in(pc.subtract(numbers, _ONE), value_set=rows.filter(is_wanted).cast(pa.int64()))


_ONE = array_of([1], pa.int64())[0]


def _equals(value: Any, kind: pa.DataType) -> Test:
    import pyarrow.compute as pc

    wanted = array_of([value], kind)[0]
    return lambda column: pc.equal(column, wanted)


def _number(text: str, kind: pa.DataType) -> Test:
    return _equals(parameters.offset(text), kind)


_TYPES = {field.name: field.type for field in RECORDS.schema(RECORDS.names)}

_OPTIONS: dict[str, tuple[str, Callable[[str], Test], str, str]] = {
    "--where-key": ("key", pattern, "PATTERN", "TEXT or /REGEX/ anywhere in it, =TEXT, or 0xHEX."),
    "--where-value": ("value", pattern, "PATTERN", "The same of its value."),
    "--where-header": ("headers", header, "NAME[=PATTERN]", "A header, and what is in it."),
    "--where-producer-id": (
        "producer_id",
        functools.partial(_number, kind=_TYPES["producer_id"]),
        "ID",
        "Written by this producer.",
    ),
    "--where-leader-epoch": (
        "leader_epoch",
        functools.partial(_number, kind=_TYPES["leader_epoch"]),
        "EPOCH",
        "Appended in this leader epoch.",
    ),
}


def where_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the block of options to *command*, which gets them as `where`, some Conditions."""
    options: list[Decorator] = [
        click.option(name, metavar=metavar, multiple=True, help=f"Only records: {help_}")
        for name, (_, _, metavar, help_) in _OPTIONS.items()
    ]
    options.append(
        click.option(
            "--where-outcome",
            type=click.Choice(OUTCOMES),
            help="Only records of transactions that ended so.",
        )
    )

    @functools.wraps(command)
    def gathered(**arguments: Any) -> Any:
        found: list[Condition] = []
        for name, (column, parse, _, _) in _OPTIONS.items():
            given = arguments.pop(name.lstrip("-").replace("-", "_"))
            found.extend(Condition(column, parse(text)) for text in given)
        outcome = arguments.pop("where_outcome")
        if outcome is not None:
            found.append(Condition("outcome", _equals(outcome, pa.string())))
        return command(where=tuple(found), **arguments)

    return with_options(options)(gathered)


def records_where(
    dataset: Dataset,
    columns: Sequence[str],
    dispositions: Sequence[str],
    where: Sequence[Condition],
) -> Rows:
    """Return the records of *dataset* of which all of *where* hold."""
    if not where:
        return dataset.records(columns, dispositions=dispositions)
    needed = {*columns, *(condition.column for condition in where)}
    rows = dataset.records([*needed], dispositions=dispositions)

    def read(report: Report) -> Iterator[pa.RecordBatch]:
        for batch in rows.read_into(report):
            for condition in where:
                batch = batch.filter(condition.test(batch.column(condition.column)))
            if batch.num_rows:
                yield batch.select(list(columns))

    return Rows(pa.schema([rows.schema.field(name) for name in columns]), read)
