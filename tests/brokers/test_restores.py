"""What a broker does with folders that `restore_check` warns of: they are placed before their topics are created."""

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from magicbyte.storage import Storage
from magicbyte.verification._target_log_dirs import read_target
from magicbyte.verification.restore_check import RestoreTarget, restore_check
from paths import DATA

from .one_broker import START_S, bounds_of, create_topics, killed_at_the_end

RUN = bool(os.environ.get("MAGICBYTE_BROKERS"))
CLUSTERS = DATA / "4.3"

PROPERTIES = {
    "log.cleaner.enable": "false",
    "log.initial.task.delay.ms": 500,
    "log.retention.check.interval.ms": 1000,
    "producer.id.expiration.ms": 2_000_000_000,
}

with_broker = pytest.mark.skipif(not RUN, reason="it takes Maven and Java: make test-brokers")


def place(source: Path, log_dir: Path, topic: str, *left_out: str) -> Path:
    """Copy the partition folder *source* as that of *topic*, without files whose names end in *left_out*."""
    target = log_dir / f"{topic}-0"
    names = ["partition.metadata", *(f"*{ending}" for ending in left_out)]
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(*names))
    return target


def codes(folder: Path, **settings: Any) -> list[str]:
    """Return the codes about *folder* for a topic with *settings*."""
    check = restore_check(folder, restore_target=RestoreTarget(**settings))
    found: list[str] = check.partitions[0]["codes"]
    return found


@with_broker
def test_broker_does_what_the_findings_about_a_folder_say(tmp_path: Path) -> None:
    open_0 = CLUSTERS / "transactions" / "log-0" / "open-0"
    with killed_at_the_end("4.3", tmp_path, PROPERTIES | {"log.retention.ms": -1}) as cluster:
        cluster.start()
        (log_dir,) = cluster.log_dirs
        held = place(open_0, log_dir, "held")
        assert "restore-open-transaction" in codes(held)
        forgotten = place(open_0, log_dir, "forgotten", ".snapshot")
        assert "restore-without-snapshots" in codes(forgotten)
        started = place(CLUSTERS / "plain" / "log-0" / "deleted-records-0", log_dir, "started")
        assert not codes(started, retention_ms=-1)
        topics = ["held", "forgotten", "started"]
        create_topics(cluster, topics)
        # read_committed consumers wait at the open transaction, or get its records if it was forgotten.
        stable = bounds_of(cluster, topics, "read_committed")
        assert stable == {
            "held": (0, 33),
            "forgotten": (0, 111),
            "started": (0, 193),
        }


@with_broker
@pytest.mark.parametrize("release", ["3.9", "4.3"])
def test_folder_with_another_topic_id_takes_the_topics_that_are_created_with_it_along(
    release: str, tmp_path: Path
) -> None:
    source = CLUSTERS / "transactions" / "log-0" / "aborted-0"
    with killed_at_the_end(release, tmp_path, PROPERTIES | {"log.retention.ms": -1}) as cluster:
        cluster.start()
        (log_dir,) = cluster.log_dirs
        folder = place(source, log_dir, "foreign")
        shutil.copy(source / "partition.metadata", folder)
        assert "restore-topic-id" in codes(folder)
        create_topics(cluster, ["foreign", "beside"])
        until = time.monotonic() + START_S
        while "InconsistentTopicIdException" not in cluster.console():
            assert time.monotonic() < until
            time.sleep(0.5)
        assert "Error applying topics delta" in cluster.console()
        cluster.restart()
        assert bounds_of(cluster, ["foreign", "beside"]) == {"foreign": (0, 0), "beside": (0, 0)}
        assert list(log_dir.glob("foreign-0.*-stray"))


@with_broker
def test_broker_deletes_old_records_of_a_topic_with_the_default_retention(tmp_path: Path) -> None:
    source = CLUSTERS / "plain" / "log-0" / "segments-0"
    with killed_at_the_end("4.3", tmp_path, PROPERTIES) as cluster:
        cluster.start()
        folder = place(source, cluster.log_dirs[0], "emptied")
        place(source, cluster.log_dirs[0], "kept")
        assert "restore-retention" in codes(folder)
        assert "restore-retention" not in codes(folder, retention_ms=-1)
        create_topics(cluster, ["emptied"])
        create_topics(cluster, ["kept"], {"retention.ms": "-1"})
        until = time.monotonic() + START_S
        while bounds_of(cluster, ["emptied"]) != {"emptied": (518, 518)}:
            assert time.monotonic() < until
            time.sleep(0.5)
        assert bounds_of(cluster, ["kept"]) == {"kept": (0, 518)}


@with_broker
def test_broker_takes_the_folder_of_the_log_dir_that_the_check_names(tmp_path: Path) -> None:
    source = CLUSTERS / "plain" / "log-0" / "java-none-0"
    properties = PROPERTIES | {"log.retention.ms": -1}
    with killed_at_the_end("4.3", tmp_path, properties, num_log_dirs=2) as cluster:
        cluster.start()
        fuller, emptier = by_number_of_partitions(cluster, "first")
        target = RestoreTarget(retention_ms=-1, broker_log_dirs=cluster.log_dirs)
        folder = place(source, fuller, "passed-over")
        (finding,) = restore_check(folder, restore_target=target).findings
        assert finding.code == "restore-log-dir"
        create_topics(cluster, ["passed-over"])
        assert bounds_of(cluster, ["passed-over"]) == {"passed-over": (0, 0)}
        shutil.rmtree(folder)
        _, emptier = by_number_of_partitions(cluster, "second")
        taken = place(source, emptier, "taken")
        assert restore_check(taken, restore_target=target).findings == []
        create_topics(cluster, ["taken"])
        assert bounds_of(cluster, ["taken"])["taken"][1] > 0


def by_number_of_partitions(cluster: Any, topic: str) -> list[Path]:
    """Create topics named after *topic* until one of two log.dirs has more partitions; return that one first."""
    for number in range(3):
        create_topics(cluster, [f"{topic}-{number}"])
        bounds_of(cluster, [f"{topic}-{number}"])
        while not any((path / "__consumer_offsets-0").is_dir() for path in cluster.log_dirs):
            time.sleep(0.1)  # the request for bounds has created this topic, too
        counts = {
            path: len(read_target(str(path), Storage()).folder_names) for path in cluster.log_dirs
        }
        if len(set(counts.values())) == 2:
            return sorted(counts, key=lambda path: -counts[path])
    raise AssertionError(counts)
