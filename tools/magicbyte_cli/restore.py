"""`magicbyte restore`: prepares partitions for a running cluster."""

import sys
from datetime import datetime
from functools import partial

import click

from magicbyte.verification.restore_check import RestoreTarget, restore_check
from magicbyte.writing.restore import OPEN_TRANSACTION_POLICIES, PRODUCER_ID_POLICIES
from magicbyte.writing.restore import restore as restore_logs
from magicbyte.writing.restore_plan import internal_logs_of, restore_plan
from magicbyte_cli import parameters
from magicbyte_cli.ndjson import object_line
from magicbyte_cli.output_files import write_whole
from magicbyte_cli.selection import SourceSelection, paths_argument, source_options
from magicbyte_cli.stderr_messages import exit_status, warn_of_findings
from magicbyte_cli.writing_options import WritingChoices, writing_options

UNLIMITED_MS = -1
"""Value of retention.ms with which the printed commands create topics."""


@click.command(
    short_help="Prepare partitions for a running cluster, with their offsets.",
    epilog="""\b
    Examples:
      magicbyte restore /backup/log-0 --topic orders -o /staging
      magicbyte restore /backup/log-0 --topic orders --dry-run
    """,
)
@paths_argument
@writing_options
@click.option(
    "--leader-epoch",
    type=click.IntRange(0, (1 << 31) - 1),
    default=0,
    metavar="N",
    help="Leader epoch of all batches. A new topic has 0, and its followers refuse higher ones for ever.",
)
@click.option(
    "--producer-ids",
    type=click.Choice(PRODUCER_ID_POLICIES),
    default="shift",
    help="shift: add 2^62, which no cluster gives out. keep: only for the cluster that gave them out; another one "
    "gives them out again, and then loses or refuses writes.",
)
@click.option(
    "--open-transactions",
    "open_transaction_policy",
    type=click.Choice(OPEN_TRANSACTION_POLICIES),
    default="abort",
    help="abort: append a marker that aborts each. keep: consumers with read_committed stop there until "
    "`kafka-transactions abort` ends them.",
)
@click.option(
    "--target-log-dir",
    "target_log_dirs",
    multiple=True,
    metavar="DIR",
    help="A log.dir of the broker that is to take the folders; name all of them. Problems with placing the folders there "
    "are printed.",
)
@click.option(
    "--to-offset",
    type=parameters.offset,
    metavar="OFFSET",
    help="Restore each partition as it was before this offset.",
)
@click.option(
    "--to-time",
    type=parameters.time,
    metavar="TIME",
    help="Restore each partition as it was before the first record with this timestamp or a later one: ISO 8601 (UTC if "
    "no zone is given), or milliseconds since the Unix epoch.",
)
@source_options
@click.pass_context
def restore(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    writing: WritingChoices,
    leader_epoch: int,
    producer_ids: str,
    open_transaction_policy: str,
    target_log_dirs: tuple[str, ...],
    to_offset: int | None,
    to_time: datetime | int | None,
    selection: SourceSelection,
) -> None:
    """Write partitions into the new folder OUT so that a running cluster takes them, with their offsets.

    Move a folder from OUT into a broker's log.dir, and then create its topic: the broker takes it. The records keep
    their offsets, timestamps, headers and transactions. The partition is cut at its log start offset.

    The commands for these steps follow on stdout, with the topics' configurations if the PATHs have the KRaft metadata
    of their cluster, and with the offsets of consumer groups, as files in OUT, if they have __consumer_offsets.
    """
    dataset = selection.open(paths, to_offset=to_offset, to_time=to_time)
    job = partial(
        restore_logs,
        leader_epoch=leader_epoch,
        producer_ids=producer_ids,
        open_transaction_policy=open_transaction_policy,
    )
    report, status = writing.run(dataset, job)
    target = writing.target
    if target is not None:
        check = restore_check(
            target,
            restore_target=RestoreTarget(
                broker_log_dirs=target_log_dirs,
                retention_ms=UNLIMITED_MS,
                leader_epoch=leader_epoch,
            ),
        )
        chosen_codes = {
            code
            for code, policy in (
                ("restore-producer-ids", producer_ids),
                ("restore-open-transaction", open_transaction_policy),
            )
            if policy == "keep"
        }
        findings = [each for each in check.findings if each.code not in chosen_codes]
        warn_of_findings(findings, see="magicbyte verify --for-restore")
        status = max(status, exit_status(findings))
        arguments = {
            name: value
            for name, value in selection.arguments(paths).items()
            if name not in ("topics", "partitions")
        }
        internal_logs = internal_logs_of(paths, **arguments)
        plan = restore_plan(
            internal_logs, report.partitions, str(target), to_time=dataset.options.times[1]
        )
        for name, data in plan.group_files().items():
            write_whole(target / name, data)
        for command in plan.commands:
            line = object_line({"kind": "command", "command": command})
            text = command.encode("utf-8", "backslashreplace") + b"\n"
            sys.stdout.buffer.write(line if writing.format_name == "ndjson" else text)
    ctx.exit(status)
