"""Tests of the tasks that Spark sends to executors: they are small, and unpickled as they were."""

import pytest
from pyspark import cloudpickle

from data_source import planned
from magicbyte.reading.split import Split
from magicbyte.spark import _splits_task
from magicbyte.spark._replanning import ReplannableTask
from magicbyte.spark._splits_task import SplitsTask, restored
from magicbyte_tools.bench import planning

MAX_SPLIT_BYTES = 200


@pytest.fixture(scope="module")
def splits(tmp_path_factory: pytest.TempPathFactory) -> tuple[Split, ...]:
    folder = tmp_path_factory.mktemp("segments")
    planning.write_segments(folder, 40)
    planning.write_aborted(folder / "one-0", 100, num_producers=10)
    _, tasks = planned(str(folder))
    return tuple(split for task in tasks for split in task.splits)


def test_a_task_is_unpickled_as_it_was(splits: tuple[Split, ...]) -> None:
    assert len(splits) == 41
    assert cloudpickle.loads(cloudpickle.dumps(SplitsTask(splits))).splits == splits
    task = ReplannableTask(splits[:2], (True, False))
    restored = cloudpickle.loads(cloudpickle.dumps(task))
    assert (restored.splits, restored.can_replan) == (splits[:2], (True, False))


def test_a_pickled_split_is_small_even_by_itself(splits: tuple[Split, ...]) -> None:
    sizes = [len(cloudpickle.dumps(SplitsTask((split,)))) for split in splits]
    path_bytes = len(splits[0].file.path) - len("/var/lib/kafka/data/many-0/") - 24
    assert sum(sizes) / len(sizes) < MAX_SPLIT_BYTES + path_bytes
    assert len(cloudpickle.dumps(SplitsTask(splits))) / len(splits) < 40


def test_another_version_on_the_driver_is_an_error_that_says_so(
    splits: tuple[Split, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = _splits_task.packed((splits,))
    monkeypatch.setattr(_splits_task, "_dictionary", lambda: b"of another version")
    with pytest.raises(RuntimeError, match="install the same version on all machines"):
        restored(SplitsTask, data)
