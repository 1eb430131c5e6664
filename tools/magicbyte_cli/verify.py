"""`magicbyte verify`: checks logs and predicts what a broker would do with them on startup."""

import sys
from collections.abc import Iterator

import click

import magicbyte as mb
from magicbyte.findings import SEVERITIES, Severity
from magicbyte.verification.restore_check import (
    MAX_MESSAGE_BYTES,
    RETENTION_MS,
    RestoreCheck,
    RestoreTarget,
    restore_check,
)
from magicbyte.verification.startup import INDEX_INTERVAL_BYTES
from magicbyte_cli.display import counted, text_line
from magicbyte_cli.explain import explanation_lines
from magicbyte_cli.ndjson import object_line
from magicbyte_cli.option_completion import complete_code, complete_path
from magicbyte_cli.painter import Painter
from magicbyte_cli.produced_files import check_files
from magicbyte_cli.progress import ProgressBar
from magicbyte_cli.selection import (
    LogSelection,
    flag_option,
    format_option,
    log_selection_options,
    processes_option,
)
from magicbyte_cli.stderr_messages import exit_status
from magicbyte_cli.verify_text import VerifyText


@click.command(
    short_help="Check everything, and predict a broker's startup.",
    epilog="""\b
    Examples:
      magicbyte verify /var/lib/kafka
      magicbyte verify /var/lib/kafka --topic orders --format ndjson | jq 'select(.kind == "problem")'
      magicbyte verify /var/lib/kafka --processes 4
      magicbyte verify --explain checksum-mismatch
      magicbyte verify /backup/log-0 --topic orders --for-restore --target-log-dir /var/lib/kafka
      magicbyte verify --produced batch.bin
    """,
)
@click.argument("paths", metavar="PATH...", nargs=-1, shell_complete=complete_path)
@flag_option("--quick", help="Read only the headers of batches, and check no CRC.")
@format_option(
    "Lines of text, or one JSON object per line, whose `kind` is broker, segment, partition, "
    "restore, problem, unread or summary."
)
@click.option(
    "--explain",
    metavar="[CODE]",
    is_flag=False,
    flag_value="",
    shell_complete=complete_code,
    help="Explain the code of a finding: cause, consequence, what to do. Without CODE, list all codes.",
)
@flag_option(
    "--produced",
    help="Check files that each hold the `records` field of a produce request for one partition.",
)
@click.option(
    "--clean-shutdown/--unclean-shutdown",
    default=None,
    help="Predict the startup after a clean or an unclean shutdown.  [default: clean if the "
    "log.dir has a file .kafka_cleanshutdown]",
)
@click.option(
    "--kafka-version",
    metavar="RELEASE",
    help="Predict the startup of this release of Kafka, such as 3.9.  [default: the newest that runs "
    "with such log.dirs]",
)
@click.option(
    "--index-interval-bytes",
    type=click.IntRange(0),
    default=INDEX_INTERVAL_BYTES,
    metavar="BYTES",
    help="Value of index.interval.bytes for these topics. It affects how a broker would recover "
    "some damage.",
)
@flag_option(
    "--for-restore",
    help="Check whether another cluster would take these partition folders, placed in a log.dir "
    "before their topic is created; do not predict the brokers of these log.dirs.",
)
@click.option(
    "--target-log-dir",
    metavar="DIR",
    multiple=True,
    help="With --for-restore: a log.dir of the broker that is to take the folders; name all of them.",
)
@click.option(
    "--retention-ms",
    type=click.IntRange(-1),
    default=RETENTION_MS,
    metavar="MS",
    help="With --for-restore: value of retention.ms for these topics.",
)
@click.option(
    "--max-message-bytes",
    type=click.IntRange(0),
    default=MAX_MESSAGE_BYTES,
    metavar="BYTES",
    help="With --for-restore: value of max.message.bytes for these topics.",
)
@processes_option
@click.option(
    "--severity",
    type=click.Choice(SEVERITIES),
    default="note",
    help="Print findings of this severity and above; the summary counts all of them.",
)
@flag_option("--compacted", help="With --produced: the batches are sent to a compacted topic.")
@log_selection_options
@click.pass_context
def verify(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    quick: bool,
    format_name: str,
    explain: str | None,
    produced: bool,
    clean_shutdown: bool | None,
    kafka_version: str | None,
    index_interval_bytes: int,
    for_restore: bool,
    target_log_dir: tuple[str, ...],
    retention_ms: int,
    max_message_bytes: int,
    processes: int | None,
    severity: Severity,
    compacted: bool,
    selection: LogSelection,
) -> None:
    """Check everything in a log, and predict what a broker would do with it on startup.

    Checks the framing of batches, checksums, records, offsets, transactions, indexes, snapshots and
    checkpoint files, in all replicas and internal topics, and compares the replicas of a partition.
    Prints what a startup would lose; each partition with a finding, the worst first, with what a
    broker would do with it; what to do about each kind of finding; a summary; and what to do first.
    Repeated notes are one line. Exit status 1 means that there is an error, or that a broker would
    fail to start, lose or not serve something, or serve damage; with --for-restore also that a
    cluster would not take a folder unchanged.
    """
    out = sys.stdout.buffer
    if explain is not None:
        out.writelines(map(text_line, explanation_lines(explain or None)))
        out.flush()
        return
    if not paths:
        raise click.UsageError("Missing argument 'PATH...'.", ctx)
    if produced:
        if quick or selection.topic or selection.partition:
            raise click.UsageError(
                "--produced cannot be combined with --quick, --topic or --partition.", ctx
            )
        arguments = selection.arguments(paths)
        check = check_files(
            paths,
            compacted=compacted,
            limits=arguments["limits"],
            storage_options=selection.storage_option,
        )
        out.writelines(check.ndjson_lines() if format_name == "ndjson" else check.text_lines())
        out.flush()
        ctx.exit(exit_status(check.findings))
    if compacted:
        raise click.UsageError("--compacted needs --produced.", ctx)
    if target_log_dir and not for_restore:
        raise click.UsageError("--target-log-dir needs --for-restore.", ctx)
    with ProgressBar() as bar:
        verification = mb.verify(
            *paths,
            quick=quick,
            brokers=not for_restore,
            clean_shutdown=clean_shutdown,
            kafka_version=kafka_version,
            index_interval_bytes=index_interval_bytes,
            processes=processes,
            progress=bar.show,
            **selection.arguments(paths),
        )
    restore_result = None
    if for_restore:
        restore_target = RestoreTarget(
            broker_log_dirs=target_log_dir,
            retention_ms=retention_ms,
            max_message_bytes=max_message_bytes,
        )
        with ProgressBar() as bar:
            restore_result = restore_check(
                *paths,
                restore_target=restore_target,
                progress=bar.show,
                **selection.arguments(paths),
            )
        verification.findings += restore_result.findings
    if format_name == "ndjson":
        out.writelines(_ndjson_lines(verification, restore_result))
    else:
        if restore_result is not None:
            out.write(text_line(_restore_sentence(restore_result)))
        text = VerifyText(verification, severity=severity, painter=Painter.for_stdout())
        for line in text.lines():
            out.write(f"{line}\n".encode("utf-8", "backslashreplace"))
    out.flush()
    is_bad = verification.has_bad_verdict
    ctx.exit(exit_status(verification.findings, verification.unread) or int(is_bad))


def _restore_sentence(check: RestoreCheck) -> str:
    """Return the sentence that says how many partitions a cluster takes."""
    num_folders = len(check.partitions)
    if check.num_taken == num_folders:
        return f"a cluster would take {counted(num_folders, 'folder')} unchanged"
    return (
        f"a cluster would take {check.num_taken} of {counted(num_folders, 'folder')} unchanged; "
        "the findings restore-... say what to do with the others"
    )


def _ndjson_lines(verification: mb.Verification, check: RestoreCheck | None) -> Iterator[bytes]:
    for kind, rows in (
        ("broker", [broker.row for broker in verification.brokers]),
        ("segment", verification.segments),
        ("partition", verification.partitions),
        ("replica", verification.replicas),
        ("restore", [] if check is None else check.partitions),
        ("problem", verification.problems),
        ("unread", [unread.row for unread in verification.unread]),
        ("summary", [verification.summary]),
    ):
        for row in rows:
            yield object_line({"kind": kind, **row})
