"""The `--where` and `--where-...` options: filters on key, value, headers, producer and transaction outcome."""

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Any

import click
import pyarrow as pa

from magicbyte import Dataset, Report, Rows
from magicbyte.tables.arrays import array_of
from magicbyte.tables.schemas import OUTCOMES, RECORDS
from magicbyte_cli import parameters
from magicbyte_cli.column_condition import ColumnCondition, column_condition
from magicbyte_cli.selection import Decorator, with_options

Predicate = Callable[[pa.Array], pa.Array]
"""Returns for each value of a column whether it matches; null counts as false."""


@dataclass(frozen=True, slots=True)
class Condition:
    column: str
    predicate: Predicate


def pattern(text: str) -> Predicate:
    """Return a predicate: `TEXT` or `/REGEX/` anywhere in a value, `=TEXT` or `0xHEX` as a whole."""
    import pyarrow.compute as pc

    if len(text) > 1 and text.startswith("/") and text.endswith("/"):
        expression = text[1:-1]
        try:
            pc.match_substring_regex(array_of([b""], pa.binary()), expression)
        except pa.ArrowInvalid as error:
            raise click.BadParameter(f"{text!r} is not a regular expression: {error}") from error
        return lambda column: pc.match_substring_regex(column, expression)
    if text.startswith("0x"):
        if not re.fullmatch("0x(?:[0-9A-Fa-f]{2})*", text):
            raise click.BadParameter(f"{text!r}; expected 0x and pairs of hexadecimal digits")
        return _equals(bytes.fromhex(text[2:]), pa.binary())
    if text.startswith("="):
        return _equals(text[1:].encode(), pa.binary())
    return lambda column: pc.match_substring(column, text)


def header(text: str) -> Predicate:
    """Return a predicate for a header `NAME`, or `NAME=PATTERN` with a pattern for its value."""
    name, equals, value = text.partition("=")
    value_matches = pattern(value) if equals else None
    return lambda column: _has_header(column, name, value_matches)


def _has_header(column: pa.Array, name: str, value_matches: Predicate | None) -> pa.Array:
    import pyarrow.compute as pc

    items, rows = pc.list_flatten(column), pc.list_parent_indices(column)
    matches = _equals(name, pa.string())(pc.struct_field(items, "key"))
    if value_matches is not None:
        matches = pc.and_kleene(matches, value_matches(pc.struct_field(items, "value")))
    numbers = pc.cumulative_sum(pc.fill_null(pa.nulls(len(column), pa.int64()), _ONE))
    return pc.is_in(pc.subtract(numbers, _ONE), value_set=rows.filter(matches).cast(pa.int64()))


_ONE = array_of([1], pa.int64())[0]


def _equals(value: Any, type_: pa.DataType) -> Predicate:
    import pyarrow.compute as pc

    scalar = array_of([value], type_)[0]
    return lambda column: pc.equal(column, scalar)


def _number(column_name: str) -> Callable[[str], Predicate]:
    """Return a parser: it turns a number into a predicate for the column *column_name* of records."""
    return lambda text: _equals(parameters.offset(text), RECORDS.fields[column_name].type)


_OPTIONS: dict[str, tuple[str, Callable[[str], Predicate], str, str]] = {
    "--where-key": (
        "key",
        pattern,
        "PATTERN",
        "whose key matches: TEXT or /REGEX/ anywhere in it, or =TEXT or 0xHEX as a whole",
    ),
    "--where-value": ("value", pattern, "PATTERN", "whose value matches, as for --where-key"),
    "--where-header": (
        "headers",
        header,
        "NAME[=PATTERN]",
        "with this header and, if PATTERN is given, a matching value",
    ),
    "--where-producer-id": (
        "producer_id",
        _number("producer_id"),
        "ID",
        "written by this producer",
    ),
    "--where-leader-epoch": (
        "leader_epoch",
        _number("leader_epoch"),
        "EPOCH",
        "appended in this leader epoch",
    ),
}
"""Column, parser, metavar and the clause of the help text, by option."""


def where_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the `--where-...` options to *command*, which gets Conditions as `where` and ColumnConditions as `columns_where`."""
    decorators: list[Decorator] = [
        click.option(
            "--where",
            "columns_where",
            multiple=True,
            type=column_condition,
            metavar="CONDITION",
            help="Only records for which COLUMN OPERATOR LITERAL is true, such as `offset >= 100`, `value.amount > 10` "
            "with --decode, `value.name ~ ^A` (a regular expression) or `value_error is not null`; may be repeated: all have "
            "to be true.",
        )
    ]
    decorators += [
        click.option(name, metavar=metavar, multiple=True, help=f"Only records {clause}.")
        for name, (_, _, metavar, clause) in _OPTIONS.items()
    ]
    decorators.append(
        click.option(
            "--where-outcome",
            type=click.Choice(OUTCOMES),
            help="Only records of transactions with this outcome.",
        )
    )

    @functools.wraps(command)
    def with_conditions(**arguments: Any) -> Any:
        conditions: list[Condition] = []
        for name, (column, parse, _, _) in _OPTIONS.items():
            texts = arguments.pop(name.lstrip("-").replace("-", "_"))
            conditions.extend(Condition(column, parse(text)) for text in texts)
        outcome = arguments.pop("where_outcome")
        if outcome is not None:
            conditions.append(Condition("outcome", _equals(outcome, pa.string())))
        return command(where=tuple(conditions), **arguments)

    return with_options(decorators)(with_conditions)


def records_where(
    dataset: Dataset,
    columns: Sequence[str],
    dispositions: Sequence[str],
    where: Sequence[Condition],
    *,
    latest: bool = False,
    columns_where: Sequence[ColumnCondition] = (),
) -> Rows:
    """Return the records of *dataset* that match all conditions; *latest*: the last of each key.

    Raises InputError for a condition on a column that does not exist.
    """

    def records_of(names: Sequence[str]) -> Rows:
        if latest:
            return dataset.latest(names)
        return dataset.records(names, dispositions=dispositions)

    if not columns_where:
        return rows_where(records_of, columns, where)
    from magicbyte.reading.dataset import planner_of
    from magicbyte.reading.filtered_records import filtered_records, filtered_rows

    schema = RECORDS.schema(RECORDS.names)
    arrow_filter = reduce(and_, (one.expression(schema, None) for one in columns_where))

    def filtered_of(names: Sequence[str]) -> Rows:
        if latest:
            return filtered_rows(records_of, tuple(names), arrow_filter)
        return filtered_records(
            planner_of(dataset),
            dataset.logs,
            tuple(names),
            tuple(dispositions),
            arrow_filter,
            dataset.unreadable,
        )

    return rows_where(filtered_of, columns, where)


def rows_where(
    records_of: Callable[[tuple[str, ...]], Rows],
    columns: Sequence[str],
    where: Sequence[Condition],
) -> Rows:
    """Return the records of *records_of*, which takes columns, that match all conditions of *where*."""
    if not where:
        return records_of(tuple(columns))
    needed = {*columns, *(condition.column for condition in where)}
    records = records_of((*needed,))

    def read(report: Report) -> Iterator[pa.RecordBatch]:
        for batch in records.read_into(report):
            for condition in where:
                batch = batch.filter(condition.predicate(batch.column(condition.column)))
            if batch.num_rows:
                yield batch.select(list(columns))

    return Rows(pa.schema([records.schema.field(name) for name in columns]), read)
