"""Surveys a dataset's partitions in the way that its tables do."""

import magicbyte as mb
from magicbyte.reading.planner import Planner
from magicbyte.reading.survey import Survey


def surveys_of(dataset: mb.Dataset, split_bytes: int | None = None) -> list[Survey]:
    planner = Planner(dataset.options)
    return [planner.survey(log, split_bytes) for log in dataset.logs]


def splits_of(dataset: mb.Dataset, split_bytes: int, offsets: tuple[int, int]) -> list[mb.Split]:
    planner = Planner(dataset.options)
    return [
        split
        for log in dataset.logs
        for split in planner.splits_of_ranges(planner.survey(log, split_bytes), [offsets])
    ]
