"""Faults that take a log.dir offline while a broker starts, or end the broker (LogDirFailureChannel)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from magicbyte.errors import FormatError, InputError
from magicbyte.findings import Finding
from magicbyte.logdir.checkpoints import parse_topic_id
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.storage import FolderItem, Storage, is_url
from magicbyte.storage.access import is_on_read_only_mount, is_readable, is_write_protected
from magicbyte.verification.broker._folder_names import BrokerFolder
from magicbyte.verification.broker._grouping import BrokerGroup
from magicbyte.verification.broker._log_dir_state import LogDirState, is_missing
from magicbyte.verification.broker._metadata_log import PARTITION_METADATA
from magicbyte.verification.broker._startup_rules import StartupRules
from magicbyte.verification.startup import (
    CLEANER_FILE,
    HIGH_WATERMARK_FILE,
    LENIENT,
    checkpoint_faults,
    invalid_files,
)

READ_FILES = (".log", ".index", ".timeindex", ".txnindex", ".snapshot", "leader-epoch-checkpoint", PARTITION_METADATA)  # fmt: skip
"""Ends of the names of files that a broker opens when it loads a partition."""


@dataclass(slots=True)
class Failures:
    """Faults of a broker's log.dirs and partitions, by what they stop."""

    broker: list[Finding] = field(default_factory=list)
    """Faults that end the process."""
    all_partitions: list[Finding] = field(default_factory=list)
    """Faults with which the broker starts and serves no partition."""
    topic_ids: dict[str, str | None] = field(default_factory=dict)
    """Topic id by path of the partition folder; None if there is no partition.metadata."""


def read_failures(
    group: BrokerGroup,
    rules: StartupRules,
    logs: Mapping[str, PartitionLog],
    storage: Storage,
    *,
    refusals: Mapping[str, str | None],
) -> Failures:
    """Return the faults of *group*; those that take a log.dir offline go to its state.

    *logs* are the partitions by folder. *refusals* has the folders of the partitions that were verified,
    with the reason why a broker cannot load the log, or None.
    """
    failures = Failures()
    mounts = {is_on_read_only_mount(state.path) for state in group.states if not is_url(state.path)}
    for state in group.states:
        state.failures.extend(_own_failures(state, rules, can_be_mount=len(mounts) > 1))
        state.is_loaded = not state.failures
        if not state.is_loaded:
            continue
        has_checkpoint_fault = _check_checkpoints(state, rules, storage, failures)
        for folder in state.folders(rules):
            path = f"{state.path}/{folder.name}"
            _check_folder(state, folder, rules, storage, failures)
            log = logs.get(path)
            is_sound = path in refusals and refusals[path] is None
            if log is not None and not is_sound:
                refusal = None if has_checkpoint_fault else refusals.get(path)
                _check_log(log, state, rules, failures, refusal=refusal)
    return failures


def _own_failures(
    state: LogDirState, rules: StartupRules, *, can_be_mount: bool
) -> Iterator[Finding]:
    """Yield the reasons why the log.dir itself cannot be used."""
    if state.obstacle is not None:
        yield _failed(state, f"it is {state.obstacle}" if state.is_a_file else state.obstacle)
    elif state.invalid_properties is not None and (rules.is_kraft or not state.can_read_properties):
        message = f"meta.properties: {state.invalid_properties.message}"
        yield replace(_failed(state, message), code="meta-properties-invalid")
    elif can_be_mount and not is_url(state.path) and is_on_read_only_mount(state.path):
        yield _failed(state, "it is mounted read-only, unlike the other log.dirs")


def _failed(state: LogDirState, why: str, topic: str | None = None) -> Finding:
    return Finding(
        code="log-dir-failed",
        message=f"a broker takes the log.dir {state.path} offline: {why}",
        topic=topic,
    )


def _check_checkpoints(
    state: LogDirState, rules: StartupRules, storage: Storage, failures: Failures
) -> bool:
    """Check the checkpoints of a log.dir; return whether one stops the loading of its partitions."""
    has_fault = False
    for fault in checkpoint_faults(state.path, storage.store_of(state.path)):
        if fault.is_word and fault.name in LENIENT and rules.ignores_words_in_checkpoints:
            continue
        if fault.name == CLEANER_FILE and fault.is_word:
            continue  # it ends the cleaner's thread, and the broker goes on
        has_fault |= fault.name != CLEANER_FILE  # which is read after the partitions are loaded
        why = f"{fault.name}: {fault.error.finding.message}"
        is_late = fault.name == HIGH_WATERMARK_FILE and fault.is_word
        if is_late and rules.is_kraft:
            message = (
                f"a broker starts with the log.dir {state.path}, and serves no partition: {why}"
            )
            failures.all_partitions.append(Finding(code="log-dir-failed", message=message))
        else:
            state.failures.append(_failed(state, why))
    return has_fault


def _check_folder(
    state: LogDirState,
    folder: BrokerFolder,
    rules: StartupRules,
    storage: Storage,
    failures: Failures,
) -> None:
    """Check what a broker may do with the files of a partition folder, and read the topic id."""
    path = f"{state.path}/{folder.name}"
    finding = partial(Finding, topic=folder.topic, partition=folder.partition)
    if not is_url(path):
        blocked = next(_unreadable(path, storage), None)
        if blocked is not None:
            is_id = blocked.endswith(f"/{PARTITION_METADATA}")
            code = "partition-metadata-invalid" if is_id and rules.is_kraft else "log-dir-failed"
            failure = _failed(state, f"{blocked} cannot be read", folder.topic)
            state.failures.append(replace(failure, code=code, partition=folder.partition))
            return
        if is_write_protected(path) and not is_write_protected(state.path):
            message = f"the folder {path} cannot be written, as the startup has to"
            if rules.is_kraft:
                state.failures.append(_failed(state, message))
            else:
                failures.broker.append(finding(code="log-dir-failed", message=message))
    if not rules.is_kraft:
        return  # topic ids decide nothing, and another check parses the file
    try:
        data = storage.read_small(f"{path}/{PARTITION_METADATA}", max_bytes=1 << 12)
    except InputError as error:
        if is_missing(error):
            failures.topic_ids[path] = None
        else:
            state.failures.append(_failed(state, f"{path}/{PARTITION_METADATA}: {error.found}"))
        return
    try:
        failures.topic_ids[path] = parse_topic_id(data)
    except FormatError as error:
        fault = finding(
            code="partition-metadata-invalid",
            message=f"{error.message}: {_consequence(state, is_fatal=not data)}",
            file=PARTITION_METADATA,
        )
        (state.failures if data else failures.broker).append(fault)


def _consequence(state: LogDirState, *, is_fatal: bool) -> str:
    """Return in words what a broker does because of a file in the log.dir of *state*."""
    return "a broker ends" if is_fatal else f"a broker takes the log.dir {state.path} offline"


def _unreadable(path: str, storage: Storage) -> Iterator[str]:
    """Yield the folder *path*, or files in it, that this process may not read or that are folders."""
    if not is_readable(path):
        yield path
        return
    try:
        items = storage.list_folder(path)
    except InputError as error:
        if not is_missing(error):
            yield path
        return
    bases = {item.name.partition(".")[0] for item in items if _is_segment(item)}
    for item in items:
        file = f"{path}/{item.name}"
        if not item.name.endswith(READ_FILES):
            continue
        # A broker skips a folder with the name of a segment, unless it is to open a file there.
        base, _, suffix = item.name.partition(".")
        is_opened = suffix in ("", "metadata", "snapshot") or not bases or base in bases
        if is_opened if item.is_folder else not is_readable(file):
            yield file


def _is_segment(item: FolderItem) -> bool:
    return item.name.endswith(".log") and not item.is_folder


def _check_log(
    log: PartitionLog,
    state: LogDirState,
    rules: StartupRules,
    failures: Failures,
    *,
    refusal: str | None,
) -> None:
    """Check the other small files of a partition folder, and whether its log loads."""
    has_fault = False
    try:
        faults = list(invalid_files(log))
    except InputError as error:
        state.failures.append(_failed(state, str(error)))
        return
    for invalid in faults:
        fault, has_fault = invalid.finding, True
        is_metadata = fault.file == PARTITION_METADATA
        if is_metadata and rules.is_kraft:
            continue  # noted when the topic id was read
        # A word where a number belongs is a NumberFormatException, and a number below 0 an
        # IllegalArgumentException, which nothing catches.
        is_fatal = not rules.is_kraft or invalid.is_word
        other_code = "partition-invalid" if is_fatal else "log-dir-failed"
        code = "partition-metadata-invalid" if is_metadata else other_code
        finding = partial(Finding, code=code, topic=log.topic, file=fault.file)
        message = f"{fault.message}: {_consequence(state, is_fatal=is_fatal)}"
        target = failures.broker if is_fatal else state.failures
        target.append(finding(message=message, partition=log.partition))
    if refusal is not None and not has_fault:
        failures.broker.append(
            Finding(
                code="partition-invalid",
                message=f"{refusal}: {_consequence(state, is_fatal=True)}",
                topic=log.topic,
                partition=log.partition,
            )
        )
