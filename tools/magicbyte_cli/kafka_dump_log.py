"""`magicbyte kafka-dump-log`: prints what Kafka's own kafka-dump-log prints, for the same flags."""

import sys
from collections.abc import Callable, Iterable

import click

from magicbyte_cli.display import printable
from magicbyte_cli.dump_log import ToolError
from magicbyte_cli.dump_log.closing_findings import ClosingFindings
from magicbyte_cli.dump_log.companion_lines import DumpOptions
from magicbyte_cli.dump_log.decoders import Decoder
from magicbyte_cli.dump_log.decoders.internal_topics import TOPICS
from magicbyte_cli.dump_log.decoders.primitive_decoders import CLASSES, key_value_decoder
from magicbyte_cli.dump_log.file_lines import file_lines
from magicbyte_cli.dump_log.record_lines import SegmentOptions
from magicbyte_cli.dump_log.releases import DEFAULT, OLDEST, Release
from magicbyte_cli.selection import flag_option
from magicbyte_cli.stderr_messages import warn

Command = Callable[..., None]

CHUNK_LINES = 4096

PACKAGES = ("kafka.serializer.", "org.apache.kafka.tools.api.")
"""Packages of Kafka's decoders; the second since 3.8."""

TOPIC_FLAGS = "topic_flags"
"""Key of click's context object under which the given flags of internal topics are collected."""


def _decoder(ctx: click.Context, parameter: click.Parameter, value: str) -> Callable[[bytes], str]:
    """Return the decoder that does the same as Kafka's decoder class *value*."""
    package, _, name = value.rpartition(".")
    if f"{package}." not in PACKAGES or name not in CLASSES:
        known = ", ".join(f"{PACKAGES[-1]}{name}" for name in CLASSES)
        raise click.BadParameter(f"{value}: expected one of {known}", ctx, parameter)
    return CLASSES[name]


def _decoder_option(name: str, parameter: str, noun: str) -> Callable[[Command], Command]:
    return click.option(
        name,
        parameter,
        default=f"{PACKAGES[-1]}StringDecoder",
        metavar="CLASS",
        callback=_decoder,
        help=f"Decoder of {noun}: StringDecoder, IntegerDecoder or LongDecoder.",
    )


def _topic_options(dump_command: Command) -> Command:
    """Add a flag for each internal topic to *dump_command*; the context collects the flags that were given."""

    def collect(ctx: click.Context, parameter: click.Parameter, is_set: bool) -> None:
        if is_set:
            ctx.ensure_object(dict).setdefault(TOPIC_FLAGS, []).append(parameter.opts[0])

    for flag, topic in reversed(TOPICS.items()):
        dump_command = flag_option(
            flag,
            expose_value=False,
            callback=collect,
            help=f"Decode keys and values as records of {topic.name}; implies --print-data-log.",
        )(dump_command)
    return dump_command


def _record_decoder(
    topic_flags: list[str],
    release: Release,
    decode_key: Callable[[bytes], str],
    decode_value: Callable[[bytes], str],
) -> Decoder:
    """Return the decoder of the first topic in *topic_flags*, or of keys and values if none is set."""
    for flag, topic in TOPICS.items():
        if flag not in topic_flags:
            continue
        if not release.since(*topic.since):
            since = "{}.{}".format(*topic.since)
            raise click.UsageError(f"{flag} exists since Kafka {since}; see --kafka-version")
        return topic.decoder(release)
    return key_value_decoder(decode_key, decode_value)


@click.command(
    name="kafka-dump-log",
    short_help="Print what Kafka's kafka-dump-log prints.",
    epilog="""\b
    Examples:
      magicbyte kafka-dump-log --files 00000000000000000000.log
      magicbyte kafka-dump-log --kafka-version 3.9 --print-data-log --files 00000000000000000000.log,00000000000000000000.index
    """,
)
@click.option(
    "--files",
    required=True,
    metavar="A,B",
    help="Files to print: .log, .index, .timeindex, .txnindex, .snapshot, .checkpoint.",
)
@flag_option("--deep-iteration", help="Also print a line per record.")
@flag_option("--print-data-log", help="Also print keys and values; implies --deep-iteration.")
@flag_option("--skip-record-metadata", help="Print only keys and values of records.")
@_decoder_option("--key-decoder-class", "decode_key", "keys")
@_decoder_option("--value-decoder-class", "decode_value", "values")
@_topic_options
@flag_option("--verify-index-only", help="Compare indexes with the log, and print no entries.")
@flag_option("--index-sanity-check", help="Check of indexes only what a broker checks on startup.")
@click.option(
    "--max-message-size",
    type=click.IntRange(1),
    default=5 << 20,
    metavar="BYTES",
    help="Bytes of the log to read at the position of an index entry.",
)
@click.option(
    "--max-bytes", type=click.IntRange(1), metavar="BYTES", help="Bytes of a log to read, at most."
)
@click.option(
    "--strict-compat/--go-on",
    default=True,
    help="Stop where Kafka's tool ends with an exception, or continue after the damage.",
)
@click.option(
    "--kafka-version",
    default=str(DEFAULT.version),
    metavar="RELEASE",
    help=f"Kafka release whose output is printed: {OLDEST} to {DEFAULT.version} (default).",
)
@click.pass_context
def kafka_dump_log(
    ctx: click.Context,
    *,
    files: str,
    deep_iteration: bool,
    print_data_log: bool,
    skip_record_metadata: bool,
    decode_key: Callable[[bytes], str],
    decode_value: Callable[[bytes], str],
    verify_index_only: bool,
    index_sanity_check: bool,
    max_message_size: int,
    max_bytes: int | None,
    strict_compat: bool,
    kafka_version: str,
) -> None:
    """Print what Kafka's own kafka-dump-log prints, line by line, for any release from 2.8 on.

    Unlike that tool, this command needs no Java and changes no file. Where that tool ends with an
    exception, this command prints an error on stderr and ends with status 1. With --go-on it
    continues with the next valid batch or the next file, and ends with status 1 at the end. After
    bytes or files that cannot be read it always continues, and ends with status 2. On a terminal,
    characters that a terminal would interpret are escaped.
    """
    damage: list[ToolError] = []

    def add_damage(tool_error: ToolError) -> None:
        damage.append(tool_error)
        warn(f"Error: {tool_error}")

    release = Release.of(kafka_version)
    topic_flags: list[str] = ctx.ensure_object(dict).get(TOPIC_FLAGS, [])
    contents = print_data_log or bool(topic_flags)
    dump_options = DumpOptions(
        segments=SegmentOptions(
            release=release,
            deep=deep_iteration or contents,
            contents=contents,
            decode=_record_decoder(topic_flags, release, decode_key, decode_value),
            skip_metadata=skip_record_metadata,
            on_error=None if strict_compat else add_damage,
            on_unreadable=add_damage,
            max_bytes=max_bytes,
        ),
        verify_only=verify_index_only,
        sanity=index_sanity_check,
        max_message_size=max_message_size,
        warn=warn,
    )
    findings = ClosingFindings(release)
    for name in files.split(","):
        try:
            _write(file_lines(name, dump_options, findings))
        except ToolError as error:
            sys.stdout.buffer.write(_output(error.line_start))
            sys.stdout.buffer.flush()
            add_damage(error)
            if strict_compat and not error.is_unreadable:
                break
    else:
        for line in findings.lines():
            warn(line)
    if damage:
        ctx.exit(2 if any(error.is_unreadable for error in damage) else 1)


def _output(text: str) -> bytes:
    """Encode *text* for stdout as Kafka's tool does; on a terminal, escape control characters."""
    if sys.stdout.isatty():
        text = printable(text)
    return text.encode("utf-8", "surrogateescape")


def _write(lines: Iterable[str]) -> None:
    """Write *lines* to stdout, including the lines that are yielded before an exception."""
    out = sys.stdout.buffer
    is_terminal = sys.stdout.isatty()
    pending: list[str] = []

    def flush() -> None:
        shown = [printable(line) for line in pending] if is_terminal else pending
        out.write("\n".join([*shown, ""]).encode("utf-8", "surrogateescape"))
        pending.clear()

    try:
        for line in lines:
            pending.append(line)
            if len(pending) == CHUNK_LINES:
                flush()
    finally:
        flush()
        out.flush()
