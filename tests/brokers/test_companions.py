"""Companion files as Kafka's recovery writes them, recorded for `tests/writing/test_companions.py`.

`make test-brokers` compares the recording with Kafka's classes, or records it with MAGICBYTE_RECORD=1, and
places built companion files before a running broker.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from companion_cases import (
    INTERVALS,
    RECORDED,
    answer,
    log_files,
    partition_folders,
    recorded,
    write_random_partitions,
)
from magicbyte.writing._companions import CompanionBuilder
from paths import DATA
from writing.test_companions import built, segments_in

from .kafka_classes import command
from .one_broker import create_topics, end_offsets, killed_at_the_end

RUN = bool(os.environ.get("MAGICBYTE_BROKERS"))
RELEASE = "4.3.1"


def recovered(work: Path) -> dict[str, dict[str, int | str]]:
    """Return the answer of Kafka about the bare `.log` files of each partition."""
    folders = dict([*partition_folders(), *write_random_partitions(work / "logs")])
    copies = {
        (key, interval): work / str(number) / f"{interval}-0"
        for number, key in enumerate(folders)
        for interval in INTERVALS
    }
    lines = []
    for (key, interval), copy in copies.items():
        copy.mkdir(parents=True)
        for path in log_files(folders[key]):
            shutil.copyfile(path, copy / path.name)
        lines.append(f"{interval}\t{copy}\n")
    done = subprocess.run(
        command("KafkaRecovery", RELEASE), input="".join(lines), stdout=subprocess.PIPE, text=True
    )
    replies = done.stdout.splitlines()
    assert done.returncode == 0 and len(replies) == len(copies), replies[-1:]
    offsets = {key: reply.split() for (key, _), reply in zip(copies, replies, strict=True)}
    answers = {}
    for key in folders:
        files = {
            interval: {path.name: path.read_bytes() for path in copies[key, interval].iterdir()}
            for interval in INTERVALS
        }
        answers[key] = answer(files, *map(int, offsets[key]))
    return answers


@pytest.mark.skipif(not RUN, reason="it takes Maven and Java: make test-brokers")
def test_kafka_recovers_the_companion_files_that_are_recorded(tmp_path: Path) -> None:
    answers = recovered(tmp_path)
    if os.environ.get("MAGICBYTE_RECORD"):
        lines = [f"{json.dumps(key)}: {json.dumps(each)}" for key, each in sorted(answers.items())]
        RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    known = recorded()
    assert {key: known.get(key) for key in answers} == answers


@pytest.mark.skipif(not RUN, reason="it takes Maven and Java: make test-brokers")
def test_running_broker_believes_built_companion_files_and_recovers_nothing(tmp_path: Path) -> None:
    source = DATA / "4.3" / "transactions" / "log-0"
    topics = ["aborted", "interleaved", "large-aborted", "timed-out"]
    properties = {"log.retention.ms": -1, "log.cleaner.enable": "false"}
    with killed_at_the_end("4.3", tmp_path, properties) as cluster:
        cluster.start()
        files, ends, stable_ends = {}, {}, {}
        for topic in topics:
            files[topic], builder = _placed(source / f"{topic}-0", cluster.log_dirs[0])
            ends[topic], stable_ends[topic] = builder.log_end_offset, builder.last_stable_offset
        create_topics(cluster, topics)
        assert end_offsets(cluster, topics) == ends
        assert end_offsets(cluster, topics, "read_committed") == stable_ends
        cluster.stop()
        printed = (cluster.folder / "broker.out").read_text()
        for topic in topics:
            assert f"[LogLoader partition={topic}-0" in printed
            recovering = [line for line in printed.splitlines() if "ecovering" in line]
            assert not [line for line in recovering if f"{topic}-0" in line]
            folder = cluster.log_dirs[0] / f"{topic}-0"
            assert {name: (folder / name).read_bytes() for name in files[topic]} == files[topic]


def _placed(folder: Path, log_dir: Path) -> tuple[dict[str, bytes], CompanionBuilder]:
    """Place the `.log` files of *folder* in *log_dir* with built companion files; return them all, and the builder."""
    files, builder = built(segments_in(folder, max_entries=1000), INTERVALS[0])
    log_dir.joinpath(folder.name).mkdir()
    for path in log_files(folder):
        files[path.name] = path.read_bytes()
    for name, data in files.items():
        log_dir.joinpath(folder.name, name).write_bytes(data)
    del files["leader-epoch-checkpoint"]  # the new topic's leader adds its epoch
    return files, builder
