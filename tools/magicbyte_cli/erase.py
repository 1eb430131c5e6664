"""`magicbyte erase`: writes partitions without some records, or searches for records that were erased."""

import sys
from functools import partial
from pathlib import Path

import click

from magicbyte import InputError
from magicbyte.writing.erase import erase as erase_records
from magicbyte.writing.erase import erasure_of
from magicbyte.writing.erasure import ACTIONS, Erasure
from magicbyte.writing.erasure_search import ErasureSearch, search_erased
from magicbyte.writing.key_set import KeySet
from magicbyte_cli.display import counted, text_line
from magicbyte_cli.ndjson import object_line
from magicbyte_cli.selection import (
    SourceSelection,
    flag_option,
    paths_argument,
    source_options,
    with_options,
)
from magicbyte_cli.stderr_messages import warn, warn_of_internal_topics
from magicbyte_cli.writing_options import WritingChoices, writing_options

condition_options = with_options(
    (
        click.option(
            "--key",
            "key_texts",
            multiple=True,
            metavar="KEY",
            help="Erase the records with this key, as UTF-8; may be repeated.",
        ),
        click.option(
            "--keys-file",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            metavar="FILE",
            help="Erase the records with the keys in this file, one per line; millions are fine.",
        ),
        click.option(
            "--key-pattern", metavar="REGEX", help="Erase the records whose key contains a match."
        ),
        click.option(
            "--value-pattern",
            metavar="REGEX",
            help="Erase the records whose value contains a match.",
        ),
        click.option(
            "--header",
            "headers",
            multiple=True,
            metavar="NAME=REGEX",
            help="Erase the records with a header of this name whose value contains a match; may be repeated.",
        ),
    )
)
"""Adds the options that say which records to erase."""


def erasure_from(
    action: str,
    key_texts: tuple[str, ...],
    keys_file: Path | None,
    key_pattern: str | None,
    value_pattern: str | None,
    headers: tuple[str, ...],
) -> Erasure:
    """Return the erasure that the options describe. Raises InputError if there is no condition."""
    lines = [key.encode() + b"\n" for key in key_texts]
    if any(b"\n" in line[:-1] for line in lines):
        raise InputError("a key with a line break", "--key-pattern, which can match it")
    if keys_file is not None:
        lines.append(keys_file.read_bytes())
    header_patterns = {}
    for header in headers:
        name, equals, pattern = header.partition("=")
        if not equals:
            raise InputError(f"--header {header!r}", "NAME=REGEX")
        header_patterns[name] = pattern
    return erasure_of(
        action=action,
        keys=KeySet.of_lines(b"".join(lines)) if lines else None,
        key_pattern=key_pattern,
        value_pattern=value_pattern,
        header_patterns=header_patterns,
    )


@click.command(
    short_help="Write partitions without some records.",
    epilog="""\b
    Examples:
      magicbyte erase /var/lib/kafka --topic users --key user-17 --dry-run
      magicbyte erase /var/lib/kafka --topic users --keys-file forget.txt -o /erased
      magicbyte erase /erased --keys-file forget.txt --prove-absent
    """,
)
@paths_argument
@condition_options
@click.option(
    "--action",
    type=click.Choice(ACTIONS),
    default="drop",
    help="drop: remove the record. null: leave its key with a null value and no headers; in a compacted topic that "
    "deletes the key, elsewhere consumers get a null. overwrite: leave zeros of the same length.",
)
@flag_option(
    "--prove-absent",
    help="Write nothing: search all records for those to erase, also in compressed batches, aborted transactions, all "
    "replicas, files ending in .deleted, and folders ending in -stray, -delete and -future. Exit status 1 if there is "
    "one, 2 if there is none but something could not be searched.",
)
@writing_options
@source_options
@click.pass_context
def erase(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    key_texts: tuple[str, ...],
    keys_file: Path | None,
    key_pattern: str | None,
    value_pattern: str | None,
    headers: tuple[str, ...],
    action: str,
    prove_absent: bool,
    writing: WritingChoices,
    selection: SourceSelection,
) -> None:
    """Write partitions into the new folder OUT without some records. All other records keep their offsets.

    Erase each replica of a partition by itself, and every other copy: backups, tiered storage, and files ending in
    .deleted. Kafka does not compare replicas, so one that was forgotten keeps the records. The report lists the erased
    offsets, and never the data.
    """
    erasure = erasure_from(action, key_texts, keys_file, key_pattern, value_pattern, headers)
    dataset = selection.open(paths)
    if prove_absent:
        search = search_erased(dataset, erasure)
        print_search(search, writing.format_name)
        warn_of_internal_topics(dataset)
        ctx.exit(1 if search.matches else 2 if search.unsearched else 0)
    report, status = writing.run(dataset, partial(erase_records, erasure=erasure))
    if not any(row.get("changed_records", {}).get("erased") for row in report.partitions):
        num_searched = counted(len(report.partitions), "partition")
        warn(f"no record was erased: in {num_searched}, none is one of those to erase")
    ctx.exit(status)


def print_search(search: ErasureSearch, format_name: str) -> None:
    """Print the records of *search* on stdout, and on stderr the paths that were not searched."""
    for row in search.matches:
        if format_name == "ndjson":
            line = object_line({"kind": "present", **row})
        else:
            first = row["offset_ranges"][0][0]
            line = text_line(
                f"{row['path']}: {counted(row['records'], 'record')} to erase, the first at offset {first}"
            )
        sys.stdout.buffer.write(line)
    for row in search.unsearched:
        if format_name == "ndjson":
            sys.stdout.buffer.write(object_line({"kind": "unsearched", **row}))
        warn(f"not searched: {row['path']}: {row['reason']} [{row['why']}]")
    if not search.matches:
        warn(f"no record to erase in {counted(search.num_logs, 'log')} that could be searched")
