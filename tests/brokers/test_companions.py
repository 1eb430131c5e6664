"""Companion files as Kafka's recovery writes them, recorded for `tests/writing/test_companions.py`.

`make test-brokers` compares the recording with Kafka's classes; MAGICBYTE_RECORD=1 records anew.
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

from .kafka_classes import command

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
