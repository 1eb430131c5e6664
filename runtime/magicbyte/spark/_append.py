"""Write only the records that an output does not have yet, by the offsets that are kept in it.

The offsets change in the same commit as the files, so each offset is written once, however often a run is killed.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from magicbyte.errors import InputError, error_of
from magicbyte.findings import TAILS, Finding
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.partial_plan import (
    UNREAD_SEGMENTS,
    BoundedRange,
    ReadableRanges,
    readable_range,
    survey_of_range,
)
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import NO_RANGE
from magicbyte.reading.split import Split
from magicbyte.reading.survey import Survey
from magicbyte.spark._batch_plan import split_bytes
from magicbyte.spark._commit_stage import CommitStage
from magicbyte.spark._conditions import with_condition
from magicbyte.spark._driver_tables import PipelineSummary
from magicbyte.spark._offset_ranges import partition_of
from magicbyte.spark._option_values import Partition, from_json, to_json
from magicbyte.spark._pipeline import Say, TaskRun, origin_of
from magicbyte.spark._pipeline_plan import text_of_tasks, without_index_plan
from magicbyte.spark._spark_errors import translated_errors
from magicbyte.spark._survey_job import survey_on_spark
from magicbyte.spark._tasks import tasks
from magicbyte.spark._work_folder import METADATA_FOLDER
from magicbyte.spark.session import LazySession
from magicbyte.spark.task_writer import OutputSettings
from magicbyte.spark.typed_topics import TypedTopics
from magicbyte.storage import NO_OPTIONS, StorageOptions
from magicbyte.storage.output_folder import OutputFolder

OFFSETS_PATH = f"{METADATA_FOLDER}/offsets.json"
"""Path in the output of the file with its kept offsets."""

FORMAT = "magicbyte offsets 1"

NOT_REPORTED = (*TAILS, UNREAD_SEGMENTS)
"""Codes that are usual for a log that grows, and for a range of its offsets."""

Offsets = dict[Partition, int]


@dataclass(frozen=True, slots=True)
class KeptOffsets:
    """The offsets of an output that grows, and the settings that all its files share."""

    settings: Mapping[str, Any]
    num_runs: int = 0
    """Runs that have written to the output."""
    ends_by_partition: Offsets = field(default_factory=dict)
    """Offset after the last one that was written, for each partition."""
    topic_schemas: Mapping[str, str] = field(default_factory=dict)
    """Columns of the files of each topic with typed keys and values, as `encoded_schema` writes them."""

    @classmethod
    def read(cls, destination: OutputFolder, settings: Mapping[str, Any]) -> "KeptOffsets":
        """Return the offsets in *destination*, none for a new one.

        Raises InputError if it is the output of another kind of run, or of one with other *settings*.
        """
        data = destination.read(OFFSETS_PATH)
        if data is None:
            if destination.files():
                raise InputError(
                    "the output was not written with --append",
                    "a new output",
                    path=destination.path,
                )
            return cls(settings)
        path = f"{destination.path}/{OFFSETS_PATH}"
        try:
            value = json.loads(data)
            kept = cls(
                value["settings"],
                int(value["runs"]),
                from_json(value["offsets"]),
                dict(value.get("schemas", {})),
            )
            is_ours = value["format"] == FORMAT and isinstance(kept.settings, dict)
        except (ValueError, TypeError, KeyError, AttributeError):
            is_ours = False
        if not is_ours:
            raise InputError("the file has no kept offsets", FORMAT, path=path)
        for name, current in settings.items():
            if kept.settings.get(name) != current:
                raise InputError(
                    f"the output was written with {name} {kept.settings.get(name)}",
                    f"{current}, as in this run, or a new output",
                    path=destination.path,
                )
        return kept

    def to_json(self) -> str:
        value: dict[str, Any] = {
            "format": FORMAT,
            "runs": self.num_runs,
            "settings": dict(self.settings),
        }
        value["offsets"] = to_json(self.ends_by_partition)
        if self.topic_schemas:
            value["schemas"] = dict(self.topic_schemas)
        return json.dumps(value, indent=2) + "\n"

    def after(self, ends_by_partition: Offsets, topic_schemas: Mapping[str, str]) -> "KeptOffsets":
        """Return the kept offsets after a run that has written up to *ends_by_partition* with columns *topic_schemas*."""
        return KeptOffsets(
            self.settings,
            self.num_runs + 1,
            {**self.ends_by_partition, **ends_by_partition},
            topic_schemas,
        )


@dataclass(frozen=True, slots=True)
class AppendPlan:
    """Tasks for the offsets that an output lacks."""

    splits_by_task: list[tuple[Split, ...]]
    ends_by_partition: Offsets
    """Offset after the last one that these tasks read, for each partition."""
    findings: list[Finding]

    @property
    def topics(self) -> list[str]:
        """Topics that these tasks read."""
        splits = (split for task in self.splits_by_task for split in task)
        return sorted({split.topic for split in splits if split.topic is not None})


def plan_append(
    dataset: Dataset,
    kept: Offsets,
    max_partition_bytes: int,
    *,
    by_topic: bool,
    allow_data_loss: bool,
    spark: LazySession | None,
) -> AppendPlan:
    """Return the plan of the offsets of *dataset* from the *kept* ones on, up to what a consumer could read.

    Args:
        by_topic: No task reads from two topics.
        allow_data_loss: Leave out offsets that no longer exist, instead of raising InputError.
        spark: Surveys partitions that are read from their beginning, with one task each. None: this process does.
    """
    options = dataset.options
    if options.offsets != NO_RANGE or options.times != NO_RANGE:
        raise InputError("offsets or times with --append", "neither: the output keeps its offsets")
    planner, ranges = Planner(options), ReadableRanges()
    new = [log for log in dataset.logs if partition_of(log) not in kept]
    new = without_index_plan(planner, new, max_partition_bytes)
    if spark is not None and len(new) > 1:
        with translated_errors():
            survey_on_spark(planner, new, max_partition_bytes, spark.get())
    plan = AppendPlan([], {}, [])
    splits_by_topic: dict[str | None, list[Split]] = {}
    for log in dataset.logs:
        if log.topic is None:
            raise InputError(
                "a segment of no partition with --append", "partition folders", path=log.folder
            )
        first = kept.get(partition_of(log))
        needs_whole_log = first is None or options.on_damage == "stop"
        survey = None
        if needs_whole_log:
            survey = planner.survey(log, max_partition_bytes, for_records=True)
        readable = (
            ranges.of(planner, log)
            if survey is None
            else readable_range(survey, options.isolation_level)
        )
        at_end = ranges.findings_at_end(log) if survey is None else _findings_at_end(survey)
        plan.findings.extend(_serious(at_end, fails=options.on_damage == "fail"))
        if first is not None:
            _check_loss(log, first, readable, allow_data_loss=allow_data_loss)
        offsets = max(readable[0], first or 0), readable[1]
        plan.ends_by_partition[partition_of(log)] = max(offsets)
        if offsets[0] >= offsets[1]:
            continue
        if survey is None:
            size = split_bytes(log, offsets, readable, max_partition_bytes)
            survey = survey_of_range(planner, log, offsets, size)
        plan.findings.extend(_serious(survey.findings, fails=False))
        splits = splits_by_topic.setdefault(log.topic if by_topic else None, [])
        splits += planner.splits_of_ranges(survey, [offsets])
    for splits in splits_by_topic.values():
        plan.splits_by_task.extend(tasks(splits, max_partition_bytes))
    return plan


def _findings_at_end(survey: Survey) -> list[Finding]:
    """Return the findings about the bytes after the last sound entry, which are in no range of offsets."""
    return [finding for unsound in survey.ranges_at_end for finding in unsound.findings]


def _serious(findings: Sequence[Finding], *, fails: bool) -> list[Finding]:
    """Return *findings* but those that are usual for a log that grows; raise the first error if it *fails*."""
    serious = [finding for finding in findings if finding.code not in NOT_REPORTED]
    for finding in serious if fails else ():
        if finding.severity == "error":
            raise error_of(finding)
    return serious


def append_records(
    plan: AppendPlan,
    kept: KeptOffsets,
    stage: CommitStage,
    *,
    output: OutputSettings,
    spark: LazySession,
    about: dict[str, Any],
    say: Say,
    storage_options: StorageOptions = NO_OPTIONS,
    typed: TypedTopics | None = None,
) -> PipelineSummary:
    """Write the records of *plan* to *stage*, with the offsets after them; nothing if there are no new offsets.

    The arguments have the meaning that they have in `magicbyte.spark._pipeline.write_tables`; *kept* are the offsets before.
    """
    topic_schemas = kept.topic_schemas
    if typed is not None:
        topics = plan.topics
        topic_schemas = typed.kept_schemas(kept.topic_schemas, topics)
        for sentence in typed.new_columns(kept.topic_schemas, topics):
            say(sentence)
    after = kept.after(plan.ends_by_partition, topic_schemas)
    summary = PipelineSummary(findings=list(plan.findings))
    if kept.num_runs and after.ends_by_partition == kept.ends_by_partition:
        say("no new offsets")
        return summary
    origin = {
        **origin_of(about, output, typed),
        "run": after.num_runs,
        "from": to_json(kept.ends_by_partition),
        "to": to_json(after.ends_by_partition),
    }
    run = TaskRun.of(
        text_of_tasks([(True, plan.splits_by_task)], about=origin),
        stage,
        output,
        prefix=f"{after.num_runs:06d}-",
        typed=typed,
    )
    notes = run.run(spark, storage_options, say)
    (stage.ready / OFFSETS_PATH).write_text(after.to_json())
    for _, note in sorted(notes.items()):
        for stats in note.stats:
            summary.records.update(stats.records)
            summary.bytes.update(stats.bytes)
            summary.findings += stats.findings
            summary.aborted_delivered += stats.aborted_delivered
    summary.findings += run.decoding_findings(notes)
    del summary.records["outside_range"], summary.bytes["outside_range"]
    run.write_facts(notes, spark, summary)
    return summary


def _check_loss(
    log: PartitionLog, first: int, readable: BoundedRange, *, allow_data_loss: bool
) -> None:
    """Raise InputError if the log has lost offsets from *first* on, unless that is allowed."""
    if allow_data_loss or readable[0] <= first <= readable[1]:
        return
    found = f"{log.name} ends at offset {readable[1]}, but {first} was written before"
    if first < readable[0]:
        found = f"offsets {first} to {readable[0] - 1} of {log.name} were deleted before they were written"
    raise with_condition(
        InputError(
            found, "all offsets; --allow-data-loss writes those that exist", path=log.folder
        ),
        "MAGICBYTE_DATA_LOSS",
    )
