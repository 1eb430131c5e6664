"""Options that several commands share: the logs and records to read, and how to read them."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

import click

import magicbyte as mb
from magicbyte import Dataset, Limits
from magicbyte.reading.dataset import failing_at_damage, skip_gone_files
from magicbyte.reading.read_options import DAMAGE_POLICIES, ISOLATION_LEVELS
from magicbyte.storage import StorageOptions
from magicbyte.tables.schemas import ALL_TABLES
from magicbyte_cli import parameters
from magicbyte_cli.display import iso_time
from magicbyte_cli.option_completion import complete_path, complete_topic
from magicbyte_cli.stderr_messages import warn, warn_of_requests
from magicbyte_cli.topic_patterns import selected_topics

LIKE_SECONDS = range(100_000_000, 100_000_000_000)
"""Numbers that are times from 1973 on in seconds, and from 1970 to 1973 in milliseconds."""

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSelection:
    """Values of the options that select logs. The fields are named as the options are."""

    topic: tuple[str, ...]
    """Topics to read; empty: all topics."""
    partition: tuple[int, ...]
    """Numbers of the partitions to read; empty: all partitions."""
    max_batch_bytes: int | None
    max_entry_bytes: int | None
    search: bool
    storage_option: StorageOptions

    def topics(self, paths: Sequence[str], *, include_internal: bool) -> tuple[str, ...]:
        """Return the selected topics below *paths*; none if all are."""
        return selected_topics(
            self.topic, paths, self.storage_option, include_internal=include_internal
        )

    def arguments(self, paths: Sequence[str], *, include_internal: bool = True) -> dict[str, Any]:
        """Return arguments for `open`, `verify` and `stats` of *paths*."""
        return {
            "topics": self.topics(paths, include_internal=include_internal) or None,
            "partitions": self.partition or None,
            "limits": limits_of(self.max_batch_bytes, self.max_entry_bytes),
            "search": self.search,
            "storage_options": self.storage_option,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection(LogSelection):
    """Values of the options that select logs and records, and say how to read them."""

    from_offset: int | None
    to_offset: int | None
    from_time: datetime | int | None
    to_time: datetime | int | None
    isolation_level: str
    on_damage: str
    include_internal: bool
    replica: tuple[str, ...]
    """Log.dirs in order of preference, where there are several replicas; empty: the best one."""
    no_fill: bool

    def open(self, paths: Sequence[str], *, threads: int = 1) -> Dataset:
        """Return the dataset that *paths* and the options select; InputError if there is none."""
        for name, time in (("--from-time", self.from_time), ("--to-time", self.to_time)):
            if isinstance(time, int) and abs(time) in LIKE_SECONDS:
                warn(
                    f"{name} {time} is {iso_time(time)} in milliseconds; if it is in seconds, "
                    f"{iso_time(1000 * time)}, append 000"
                )
        dataset = mb.open(
            *paths,
            offsets=(self.from_offset, self.to_offset),
            times=(self.from_time, self.to_time),
            isolation_level=self.isolation_level,
            on_damage=self.on_damage,
            include_internal=self.include_internal,
            replica=self.replica,
            fill=not self.no_fill,
            threads=threads,
            **self.arguments(paths, include_internal=self.include_internal),
        )
        return dataset if self.on_damage == "fail" else skip_gone_files(dataset)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSelection(LogSelection):
    """Values of the options that select whole partitions to write again."""

    include_internal: bool
    replica: tuple[str, ...]
    no_fill: bool

    def open(
        self,
        paths: Sequence[str],
        *,
        on_damage: str = "fail",
        to_offset: int | None = None,
        to_time: datetime | int | None = None,
    ) -> Dataset:
        """Return the dataset that *paths* and the options select; InputError if there is none.

        Paths that cannot be read are in its `unread`; partitions are read with *on_damage*.
        """
        dataset = mb.open(
            *paths,
            offsets=(None, to_offset),
            times=(None, to_time),
            on_damage="skip",
            include_internal=self.include_internal,
            replica=self.replica,
            fill=not self.no_fill,
            **self.arguments(paths, include_internal=self.include_internal),
        )
        return failing_at_damage(dataset) if on_damage == "fail" else dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class StateSelection:
    """Values of the options that select a state that internal topics add up to, and say how to read these."""

    topic: tuple[str, ...]
    """Topics to print, which need no folder below the paths; empty: all topics."""
    to_time: datetime | int | None
    replica: tuple[str, ...]
    no_fill: bool
    max_batch_bytes: int | None
    max_entry_bytes: int | None
    storage_option: StorageOptions

    def open(self, paths: Sequence[str], *, to_offset: int | None = None) -> Dataset:
        """Return the dataset of all topics below *paths*; InputError if there is none."""
        return mb.open(
            *paths,
            offsets=(None, to_offset),
            times=(None, self.to_time),
            on_damage="skip",
            include_internal=True,
            replica=self.replica,
            fill=not self.no_fill,
            limits=limits_of(self.max_batch_bytes, self.max_entry_bytes),
            storage_options=self.storage_option,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSelection(StateSelection):
    """Values of the options that select groups and a time, and say how to read their topics."""

    group: tuple[str, ...]
    """Ids of the groups to print; empty: all groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSelection(StateSelection):
    """Values of the options that select the state of a cluster, as of an offset or a time of its metadata."""

    to_offset: int | None


def limits_of(max_batch_bytes: int | None, max_entry_bytes: int | None) -> Limits:
    """Return limits with these values; None is a limit's default."""
    sizes = {"max_batch_bytes": max_batch_bytes, "max_entry_bytes": max_entry_bytes}
    return Limits(**{name: size for name, size in sizes.items() if size is not None})


flag_option = functools.partial(click.option, is_flag=True)
size_option = functools.partial(click.option, type=parameters.size, metavar="SIZE")
names_option = functools.partial(click.option, type=parameters.names, metavar="A,B")
overwrite_option = flag_option("--overwrite", help="Replace OUT if it exists.")

processes_option = click.option(
    "--processes",
    type=click.IntRange(1),
    metavar="N",
    help="Processes to use; each reads one partition at a time. The output is the same for any number. "
    "[default: one per 256 MiB or 500 partitions, at most 4 and the number of processors]",
)

paths_argument = click.argument(
    "paths", metavar="PATH...", nargs=-1, required=True, shell_complete=complete_path
)

topic_options: tuple[Decorator, ...] = (
    click.option(
        "--topic",
        multiple=True,
        shell_complete=complete_topic,
        metavar="TOPIC",
        help="Only this topic, or topics that match a glob such as 'orders*' or a regular expression such as '/^orders-/'; "
        "may be repeated.",
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
    size_option(
        "--max-batch-bytes",
        help="Largest decompressed size of a batch or message.  [default: 256MiB]",
    ),
    size_option(
        "--max-entry-bytes", help="Largest size of a batch or message in the file.  [default: 1GiB]"
    ),
)


def _count_requests(ctx: click.Context, _: click.Parameter, is_given: bool) -> None:
    """Print the requests to object stores when the command of *ctx* ends, if `--requests` is given."""
    if is_given:
        ctx.call_on_close(warn_of_requests)


store_options: tuple[Decorator, ...] = (
    click.option(
        "--storage-option",
        multiple=True,
        callback=parameters.storage_options,
        metavar="NAME=VALUE",
        help="Option for the object store of a PATH such as s3://bucket/name, for example "
        "region=eu-north-1; may be repeated. Credentials are safer in the environment.",
    ),
    flag_option(
        "--requests",
        expose_value=False,
        callback=_count_requests,
        help="At the end, print how many requests object stores got, and for how many bytes.",
    ),
)


def format_option(help_text: str, *more_formats: str) -> Decorator:
    """Return the option `--format`, passed on as `format_name`: `text`, `ndjson`, *more_formats*."""
    return click.option(
        "--format",
        "format_name",
        type=click.Choice(("text", "ndjson", *more_formats)),
        default="text",
        help=help_text,
    )


time_option = click.option(
    "--time",
    "time_as",
    type=click.Choice(("iso", "ms")),
    help="Format of times: ISO 8601 in UTC, or milliseconds since the Unix epoch.  [default: iso in text and CSV, ms in "
    "NDJSON and templates]",
)


def table_option(help_text: str) -> Decorator:
    """Return the option `--table`, passed on as `table_name`."""
    return click.option(
        "--table",
        "table_name",
        type=click.Choice(tuple(ALL_TABLES)),
        default="records",
        help=help_text,
    )


bytes_option = click.option(
    "--bytes",
    "bytes_as",
    type=click.Choice(("text", "hex", "base64")),
    default="text",
    help="Format of keys and values. In NDJSON with `text`, a member such as value_encoding says whether the value is "
    "text (utf-8), or bytes that are not UTF-8 (base64).",
)

disposition_option = click.option(
    "--disposition",
    "dispositions",
    type=parameters.names,
    metavar="D,...",
    help="Records with these dispositions.  [default: delivered]",
)

search_option = flag_option(
    "--search",
    help="Search each PATH that is a file for batches, whatever its name and format, such as a disk "
    "image.",
)


def with_options(decorators: Sequence[Decorator]) -> Decorator:
    """Return a decorator that adds several options to a command, in this order."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for add_option in reversed(decorators):
            command = add_option(command)
        return command

    return decorate


partition_options: tuple[Decorator, ...] = (
    flag_option("--include-internal", help="Include Kafka's internal topics without naming them."),
    click.option(
        "--replica",
        multiple=True,
        metavar="PATH",
        help="If there are several replicas of a partition, read the one in this log.dir; may be "
        "repeated, in order of preference.  [default: the best replica]",
    ),
    flag_option(
        "--no-fill", help="Do not read damaged and missing ranges of a replica from the others."
    ),
)
"""Options that choose between partitions and their replicas."""


def selection_options() -> Decorator:
    """Return a decorator that adds the shared options and passes them on as `selection`.

    Their defaults are the same in all commands.
    """
    offset_option = functools.partial(click.option, type=parameters.offset, metavar="OFFSET")
    time_option = functools.partial(click.option, type=parameters.time, metavar="TIME")
    return options_as(
        Selection,
        *topic_options,
        offset_option("--from-offset", help="First offset to read."),
        offset_option("--to-offset", help="Offset to stop before."),
        time_option(
            "--from-time",
            help="Start at the first record with this timestamp or a later one: ISO 8601 (UTC if "
            "no zone is given), or milliseconds since the Unix epoch. Records after it may have earlier "
            "timestamps: --where 'timestamp >= TIME' leaves them out.",
        ),
        time_option(
            "--to-time",
            help="Stop before the first record or transaction marker with this timestamp or a later one. "
            "Records after it may have earlier timestamps: --where 'timestamp < TIME' without "
            "--to-time finds them, too.",
        ),
        click.option(
            "--isolation-level",
            type=click.Choice(ISOLATION_LEVELS),
            default="read_committed",
            help="Read what a consumer with this isolation level would get.",
        ),
        click.option(
            "--on-damage",
            type=click.Choice(DAMAGE_POLICIES),
            default="skip",
            help="skip: deliver all valid records before and after damage. fail: end with an "
            "error at the first damage. stop: end the partition there, as a broker's recovery "
            "would.",
        ),
        *partition_options,
        search_option,
        *limit_options,
        *store_options,
    )


def options_as(
    options_class: type[Any], *decorators: Decorator, argument: str = "selection"
) -> Decorator:
    """Return a decorator that adds options and passes their values on as *argument*, a dataclass of them.

    A field of *options_class* for which a command has no option keeps its default.
    """
    names = tuple(field.name for field in fields(options_class))

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def with_selection(**arguments: Any) -> Any:
            values = {name: arguments.pop(name) for name in names if name in arguments}
            return command(**{argument: options_class(**values)}, **arguments)

        return with_options(decorators)(with_selection)

    return decorate


log_selection_options = options_as(
    LogSelection, *topic_options, search_option, *limit_options, *store_options
)
"""Decorator that adds the options of a LogSelection and passes them on as `selection`."""

source_options = options_as(
    SourceSelection,
    *topic_options,
    *partition_options,
    search_option,
    *limit_options,
    *store_options,
)
"""Decorator that adds the options of a SourceSelection and passes them on as `selection`."""

group_options = options_as(
    GroupSelection,
    click.option(
        "--group", multiple=True, metavar="GROUP", help="Only this group; may be repeated."
    ),
    click.option(
        "--topic",
        multiple=True,
        shell_complete=complete_topic,
        metavar="TOPIC",
        help="Only offsets in this topic, or in topics that match a glob or a /regular expression/; may be repeated.",
    ),
    click.option(
        "--to-time",
        type=parameters.time,
        metavar="TIME",
        help="State before the first record of each partition with this timestamp or a later one: ISO 8601 (UTC if no "
        "zone is given), or milliseconds since the Unix epoch.",
    ),
    *partition_options[1:],
    *limit_options,
    *store_options,
)
"""Decorator that adds the options of a GroupSelection and passes them on as `selection`."""

cluster_options = options_as(
    ClusterSelection,
    topic_options[0],
    click.option(
        "--to-offset",
        type=parameters.offset,
        metavar="OFFSET",
        help="State before this offset of the metadata log.  [default: the end of the log]",
    ),
    click.option(
        "--to-time",
        type=parameters.time,
        metavar="TIME",
        help="State before the first metadata record with this timestamp or a later one: ISO 8601 (UTC if no zone is "
        "given), or milliseconds since the Unix epoch.",
    ),
    *partition_options[1:],
    *limit_options,
    *store_options,
    argument="cluster",
)
"""Decorator that adds the options of a ClusterSelection and passes them on as `cluster`."""
