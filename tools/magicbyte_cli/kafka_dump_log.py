"""`magicbyte kafka-dump-log`: what Kafka's own tool of that name prints, from its own flags."""

import sys
from collections.abc import Callable, Iterator

import click

from magicbyte_cli.dump_log.closing_findings import Findings
from magicbyte_cli.dump_log.decoders import Decoder
from magicbyte_cli.dump_log.decoders.plain import CLASSES, plain
from magicbyte_cli.dump_log.decoders.topics import TOPICS
from magicbyte_cli.dump_log.end_error import EndError
from magicbyte_cli.dump_log.file_lines import Files, file_lines
from magicbyte_cli.dump_log.record_lines import Wanted
from magicbyte_cli.dump_log.releases import DEFAULT, Release
from magicbyte_cli.stderr_messages import complain

Command = Callable[..., None]

LINES_AT_ONCE = 4096

PACKAGES = ("kafka.serializer.", "org.apache.kafka.tools.api.")
"""In which Kafka's decoders are; the second since 3.8."""

TOPICS_GIVEN = "topics"
"""Under which name the flags of internal topics are kept until all are known."""


def _decoder(ctx: click.Context, parameter: click.Parameter, value: str) -> Callable[[bytes], str]:
    """Return the decoder of the class *value*."""
    package, _, name = value.rpartition(".")
    if f"{package}." not in PACKAGES or name not in CLASSES:
        known = ", ".join(f"{PACKAGES[-1]}{name}" for name in CLASSES)
        raise click.BadParameter(f"{value}: expected one of {known}", ctx, parameter)
    return CLASSES[name]


def _decoder_option(name: str, parameter: str, what: str) -> Callable[[Command], Command]:
    return click.option(
        name,
        parameter,
        default=f"{PACKAGES[-1]}StringDecoder",
        show_default=True,
        metavar="CLASS",
        callback=_decoder,
        help=f"How {what} are shown: by StringDecoder, IntegerDecoder or LongDecoder.",
    )


def _topic_options(command: Command) -> Command:
    """Give *command* a flag for each internal topic, all in one parameter: those that were given."""

    def note(ctx: click.Context, parameter: click.Parameter, given: bool) -> None:
        if given:
            ctx.ensure_object(dict).setdefault(TOPICS_GIVEN, []).append(parameter.opts[0])

    for flag, topic in reversed(TOPICS.items()):
        command = click.option(
            flag,
            is_flag=True,
            expose_value=False,
            callback=note,
            help=f"Keys and values as the records of {topic.name}; implies --print-data-log.",
        )(command)
    return command


def _chosen(
    given: list[str],
    release: Release,
    decode_key: Callable[[bytes], str],
    decode_value: Callable[[bytes], str],
) -> Decoder:
    """Return the decoder of the topic that was *given*, else that of keys and values by themselves."""
    for flag, topic in TOPICS.items():
        if flag not in given:
            continue
        if not release.since(*topic.since):
            since = "{}.{}".format(*topic.since)
            raise click.UsageError(f"{flag}: the tool has it since {since}; see --kafka-version")
        return topic.decoder(release)
    return plain(decode_key, decode_value)


@click.command(
    name="kafka-dump-log",
    short_help="Print what Kafka's kafka-dump-log prints.",
    epilog="""\b
    Examples:
      magicbyte kafka-dump-log --files 00000000000000000000.log
      magicbyte kafka-dump-log --kafka-version 3.9 --print-data-log --files a.log,a.index
    """,
)
@click.option(
    "--files",
    required=True,
    metavar="A,B",
    help="The files: .log, .index, .timeindex, .txnindex, .snapshot, .checkpoint.",
)
@click.option("--deep-iteration", is_flag=True, help="A line per record, too.")
@click.option(
    "--print-data-log", is_flag=True, help="Keys and values as text; implies --deep-iteration."
)
@click.option("--skip-record-metadata", is_flag=True, help="Of records, keys and values alone.")
@_decoder_option("--key-decoder-class", "decode_key", "keys")
@_decoder_option("--value-decoder-class", "decode_value", "values")
@_topic_options
@click.option("--verify-index-only", is_flag=True, help="Compare indexes, and print no entries.")
@click.option("--index-sanity-check", is_flag=True, help="Check what a broker's start checks.")
@click.option(
    "--max-message-size",
    type=click.IntRange(1),
    default=5 << 20,
    show_default=True,
    metavar="BYTES",
    help="What is read of the log where an index entry points.",
)
@click.option("--max-bytes", type=click.IntRange(1), metavar="BYTES", help="Of a log, no more.")
@click.option(
    "--strict-compat/--go-on",
    default=True,
    show_default=True,
    help="End where that tool ends with an exception, or go on behind the damage.",
)
@click.option(
    "--kafka-version",
    default="{}.{}".format(*DEFAULT.version),
    show_default=True,
    metavar="RELEASE",
    help="The release of Kafka whose lines are printed, from 2.8 on.",
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
    """Print what Kafka's own kafka-dump-log prints, line by line.

    Of any release from 2.8 on. Unlike that tool it needs no Java and changes no file. Where that tool
    ends with an exception, this ends too, with a sentence on stderr and status 1; with --go-on only the
    status remains, and the lines go on with the next sound batch, or the next file.
    """
    damage: list[EndError] = []

    def note(error: EndError) -> None:
        damage.append(error)
        complain(f"Error: {error}")

    release = Release.of(kafka_version)
    topics: list[str] = ctx.ensure_object(dict).get(TOPICS_GIVEN, [])
    contents = print_data_log or bool(topics)
    wanted = Files(
        segments=Wanted(
            release=release,
            deep=deep_iteration or contents,
            contents=contents,
            decode=_chosen(topics, release, decode_key, decode_value),
            skip_metadata=skip_record_metadata,
            go_on=None if strict_compat else note,
            max_bytes=max_bytes,
        ),
        verify_only=verify_index_only,
        sanity=index_sanity_check,
        max_message_size=max_message_size,
        complain=complain,
    )
    found = Findings(wanted.segments.release)
    for given in files.split(","):
        try:
            _write(file_lines(given, wanted, found))
        except EndError as error:
            sys.stdout.buffer.write(error.begun.encode())
            sys.stdout.buffer.flush()
            note(error)
            if strict_compat:
                ctx.exit(1)
    for line in found.lines():
        complain(line)
    if damage:
        ctx.exit(1)


def _write(lines: Iterator[str]) -> None:
    """Write *lines* to stdout, all that came before an exception, too."""
    out = sys.stdout.buffer
    pending: list[str] = []

    def flush() -> None:
        pending.append("")
        out.write("\n".join(pending).encode())
        pending.clear()

    try:
        for line in lines:
            pending.append(line)
            if len(pending) == LINES_AT_ONCE:
                flush()
    finally:
        flush()
        out.flush()
