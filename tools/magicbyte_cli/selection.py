"""The block of options that says what is read and how; the same for all verbs that read."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

import click

import magicbyte as mb
from magicbyte import Dataset, Limits
from magicbyte.storage import StorageOptions
from magicbyte_cli import parameters

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

ISOLATION_LEVELS = ("read_uncommitted", "read_committed")
ON_DAMAGE = ("skip", "fail", "stop")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What is read, and how. The fields are named as the options are."""

    topic: tuple[str, ...]
    """Empty: all topics."""
    partition: tuple[int, ...]
    """Empty: all partitions."""
    from_offset: int | None
    to_offset: int | None
    from_time: datetime | int | None
    to_time: datetime | int | None
    isolation_level: str
    on_damage: str
    include_internal: bool
    replica: str | None
    max_batch_bytes: int | None
    max_entry_bytes: int | None
    storage_option: StorageOptions

    def open(self, paths: Sequence[str], *, threads: int = 1) -> Dataset:
        """Return the dataset that *paths* and the options choose; InputError where there is none."""
        return mb.open(
            *paths,
            topics=self.topic or None,
            partitions=self.partition or None,
            offsets=(self.from_offset, self.to_offset),
            times=(self.from_time, self.to_time),
            isolation_level=self.isolation_level,
            on_damage=self.on_damage,
            include_internal=self.include_internal,
            replica=self.replica,
            threads=threads,
            limits=limits_of(self.max_batch_bytes, self.max_entry_bytes),
            storage_options=self.storage_option,
        )


def limits_of(max_batch_bytes: int | None, max_entry_bytes: int | None) -> Limits:
    """Return the limits, those that were not given at their defaults."""
    given = {"max_batch_bytes": max_batch_bytes, "max_entry_bytes": max_entry_bytes}
    return Limits(**{name: size for name, size in given.items() if size is not None})


paths_argument = click.argument("paths", metavar="PATH...", nargs=-1, required=True)

topic_options: tuple[Decorator, ...] = (
    click.option(
        "--topic", multiple=True, metavar="TOPIC", help="Only this topic; may be repeated."
    ),
    click.option(
        "--partition",
        multiple=True,
        type=parameters.partition,
        metavar="NUMBER",
        help="Only this partition of each topic; may be repeated.",
    ),
)

limit_options: tuple[Decorator, ...] = (
    click.option(
        "--max-batch-bytes",
        type=parameters.size,
        metavar="SIZE",
        help="The most that one entry may come to when decompressed.  [default: 256MiB]",
    ),
    click.option(
        "--max-entry-bytes",
        type=parameters.size,
        metavar="SIZE",
        help="The most that one entry may take in the file.  [default: 1GiB]",
    ),
)

store_options: tuple[Decorator, ...] = (
    click.option(
        "--storage-option",
        multiple=True,
        callback=parameters.storage_options,
        metavar="NAME=VALUE",
        help="What opens the store that a PATH such as s3://bucket/name is in, as "
        "region=eu-north-1; may be repeated. Credentials are safer in the environment.",
    ),
)


def with_options(options: Sequence[Decorator]) -> Decorator:
    """Return a decorator that adds *options* to a command, in this order."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def selection_options(*, isolation_level: str, on_damage: str) -> Decorator:
    """Return a decorator that adds the block and passes it on as `selection`, a Selection."""
    options: tuple[Decorator, ...] = (
        *topic_options,
        click.option(
            "--from-offset", type=parameters.offset, metavar="OFFSET", help="From this offset on."
        ),
        click.option(
            "--to-offset",
            type=parameters.offset,
            metavar="OFFSET",
            help="Up to this one, without it.",
        ),
        click.option(
            "--from-time",
            type=parameters.time,
            metavar="TIME",
            help="From the first record of this time or later: ISO 8601 (UTC unless it says "
            "otherwise), or milliseconds since the Unix epoch.",
        ),
        click.option(
            "--to-time",
            type=parameters.time,
            metavar="TIME",
            help="Up to the first record of this time or later, without it.",
        ),
        click.option(
            "--isolation-level",
            type=click.Choice(ISOLATION_LEVELS),
            default=isolation_level,
            show_default=True,
            help="What a consumer of this level would have got.",
        ),
        click.option(
            "--on-damage",
            type=click.Choice(ON_DAMAGE),
            default=on_damage,
            show_default=True,
            help="Deliver what is sound before and after it; raise at the first; or end the "
            "partition there, as a broker's recovery would.",
        ),
        click.option(
            "--include-internal", is_flag=True, help="Kafka's own topics too, without naming them."
        ),
        click.option(
            "--replica",
            metavar="PATH",
            help="Of several replicas of a partition, the one in this log.dir.",
        ),
        *limit_options,
        *store_options,
    )
    names = tuple(field.name for field in fields(Selection))

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def gathered(**arguments: Any) -> Any:
            chosen = {name: arguments.pop(name) for name in names}
            return command(selection=Selection(**chosen), **arguments)

        return with_options(options)(gathered)

    return decorate
