"""Options that tests pass to Spark's Kafka source and to magicbyte's, on real brokers' logs."""

import json
from typing import NamedTuple


class Case(NamedTuple):
    cluster: str
    """A folder of `tests/data`."""
    options: dict[str, str]
    level: str = "read_committed"


TRANSACTIONS, PLAIN = "4.3/transactions", "4.3/plain"
ONE = {"subscribe": "interleaved"}
RETENTION = {"subscribe": "deleted-records"}


def each(**offsets: int) -> str:
    """Return the JSON of offsets or times of the partitions p0, p1... of topic `interleaved`."""
    return json.dumps({"interleaved": {name[1:]: offset for name, offset in offsets.items()}})


def deleted(offset: int) -> str:
    return json.dumps({"deleted-records": {"0": offset}})


MIDDLE, LATE = "MIDDLE", "LATE"
"""Stand for the time of a record in the middle of `interleaved-0`, and for one after all."""

CASES: dict[str, Case] = {
    # Which partitions
    "subscribe": Case(TRANSACTIONS, ONE),
    "subscribe, some": Case(TRANSACTIONS, {"subscribe": " interleaved, committed ,,"}),
    "subscribe, uncommitted": Case(TRANSACTIONS, ONE, "read_uncommitted"),
    "subscribe, unknown": Case(TRANSACTIONS, {"subscribe": "nowhere"}),
    "subscribe, nothing": Case(TRANSACTIONS, {"subscribe": " , "}),
    "pattern": Case(TRANSACTIONS, {"subscribePattern": "erleav.d"}),
    "pattern, anchored": Case(TRANSACTIONS, {"subscribePattern": "^interleaved$"}),
    "pattern, none": Case(TRANSACTIONS, {"subscribePattern": "^erleaved"}),
    "pattern, internal": Case(TRANSACTIONS, {"subscribePattern": "^__consumer"}),
    "pattern, empty": Case(TRANSACTIONS, {"subscribePattern": "  "}),
    "assign": Case(TRANSACTIONS, {"assign": '{"interleaved":[1],"committed":[0]}'}),
    "assign, more than there are": Case(TRANSACTIONS, {"assign": '{"interleaved":[1,9]}'}),
    "assign, unknown": Case(TRANSACTIONS, {"assign": '{"nowhere":[0]}'}),
    "assign, no JSON": Case(TRANSACTIONS, {"assign": "interleaved"}),
    "two ways": Case(TRANSACTIONS, {"assign": '{"interleaved":[1]}', **ONE}),
    # Offsets
    "earliest to latest": Case(TRANSACTIONS, {"startingOffsets": "earliest", "endingOffsets": "latest", **ONE}),
    "words without case": Case(TRANSACTIONS, {"startingOffsets": "EARLIEST", "endingOffsets": "Latest", **ONE}),
    "from latest": Case(TRANSACTIONS, {"startingOffsets": "latest", **ONE}),
    "to earliest": Case(TRANSACTIONS, {"endingOffsets": "earliest", **ONE}),
    "from offsets": Case(TRANSACTIONS, {"startingOffsets": each(p0=100, p1=-2), **ONE}),
    "to offsets": Case(TRANSACTIONS, {"endingOffsets": each(p0=100, p1=-1), **ONE}),
    "between offsets": Case(TRANSACTIONS, {"startingOffsets": each(p0=100, p1=50), "endingOffsets": each(p0=200, p1=51), **ONE}),
    "between offsets, uncommitted": Case(TRANSACTIONS, {"startingOffsets": each(p0=100, p1=50), "endingOffsets": each(p0=200, p1=51), **ONE}, "read_uncommitted"),
    "nothing between": Case(TRANSACTIONS, {"startingOffsets": each(p0=100, p1=50), "endingOffsets": each(p0=100, p1=50), **ONE}),
    "backwards": Case(TRANSACTIONS, {"startingOffsets": each(p0=100, p1=50), "endingOffsets": each(p0=99, p1=51), **ONE}),
    "from -1": Case(TRANSACTIONS, {"startingOffsets": each(p0=-1, p1=0), **ONE}),
    "to -2": Case(TRANSACTIONS, {"endingOffsets": each(p0=-2, p1=5), **ONE}),
    "a partition is missing": Case(TRANSACTIONS, {"startingOffsets": each(p0=1), **ONE}),
    "a partition too many": Case(TRANSACTIONS, {"endingOffsets": each(p0=1, p1=1, p2=1), **ONE}),
    "other partitions at the ends": Case(TRANSACTIONS, {"startingOffsets": each(p0=1, p1=1), "endingOffsets": each(p0=4), **ONE}),
    "no offsets": Case(TRANSACTIONS, {"startingOffsets": "sometime", **ONE}),
    "offsets of words": Case(TRANSACTIONS, {"startingOffsets": '{"interleaved":{"0":"x","1":0}}', **ONE}),
    # What is not there
    "below the log start": Case(TRANSACTIONS, {"startingOffsets": deleted(3), **RETENTION}),
    "below the log start, borne": Case(TRANSACTIONS, {"startingOffsets": deleted(3), "failOnDataLoss": "false", **RETENTION}),
    "at the log start": Case(TRANSACTIONS, {"startingOffsets": deleted(25), **RETENTION}),
    "above the log end": Case(TRANSACTIONS, {"endingOffsets": deleted(999), **RETENTION}),
    "above the log end, borne": Case(TRANSACTIONS, {"endingOffsets": deleted(999), "failOnDataLoss": "false", **RETENTION}),
    "from above the log end": Case(TRANSACTIONS, {"startingOffsets": deleted(999), **RETENTION}),
    "from above the log end, borne": Case(TRANSACTIONS, {"startingOffsets": deleted(999), "failOnDataLoss": "false", **RETENTION}),
    "to below the log start": Case(TRANSACTIONS, {"endingOffsets": deleted(10), **RETENTION}),
    "to below the log start, borne": Case(TRANSACTIONS, {"endingOffsets": deleted(10), "failOnDataLoss": "false", **RETENTION}),
    "between offsets above the log end, borne": Case(TRANSACTIONS, {"startingOffsets": deleted(998), "endingOffsets": deleted(999), "failOnDataLoss": "false", **RETENTION}),
    "between offsets below the log start, borne": Case(TRANSACTIONS, {"startingOffsets": deleted(3), "endingOffsets": deleted(10), "failOnDataLoss": "false", **RETENTION}),
    "from the log end": Case(TRANSACTIONS, {"startingOffsets": deleted(176), **RETENTION}),
    # Times
    "from a time": Case(TRANSACTIONS, {"startingTimestamp": MIDDLE, **ONE}),
    "to a time": Case(TRANSACTIONS, {"endingTimestamp": MIDDLE, **ONE}),
    "from a time, uncommitted": Case(TRANSACTIONS, {"startingTimestamp": MIDDLE, **ONE}, "read_uncommitted"),
    "from a time to it": Case(TRANSACTIONS, {"startingTimestamp": MIDDLE, "endingTimestamp": MIDDLE, **ONE}),
    "from a time that is to come": Case(TRANSACTIONS, {"startingTimestamp": LATE, **ONE}),
    "from a time that is to come, latest": Case(TRANSACTIONS, {"startingTimestamp": LATE, "startingOffsetsByTimestampStrategy": "latest", **ONE}),
    "to a time that is to come": Case(TRANSACTIONS, {"endingTimestamp": LATE, **ONE}),
    "from times": Case(TRANSACTIONS, {"startingOffsetsByTimestamp": '{"interleaved":{"0":MIDDLE,"1":0}}', **ONE}),
    "to times": Case(TRANSACTIONS, {"endingOffsetsByTimestamp": '{"interleaved":{"0":MIDDLE,"1":LATE}}', **ONE}),
    "from times, one missing": Case(TRANSACTIONS, {"startingOffsetsByTimestamp": '{"interleaved":{"0":MIDDLE}}', **ONE}),
    "a time before times before offsets": Case(TRANSACTIONS, {"startingTimestamp": MIDDLE, "startingOffsetsByTimestamp": '{"interleaved":{"0":0,"1":0}}', "startingOffsets": each(p0=-2, p1=-2), **ONE}),
    "times before offsets": Case(TRANSACTIONS, {"startingOffsetsByTimestamp": '{"interleaved":{"0":MIDDLE,"1":0}}', "startingOffsets": each(p0=-2, p1=-2), **ONE}),
    "no time": Case(TRANSACTIONS, {"startingTimestamp": "noon", **ONE}),
    "no strategy": Case(TRANSACTIONS, {"startingOffsetsByTimestampStrategy": "first", **ONE}),
    "from a time to offsets before it": Case(TRANSACTIONS, {"startingTimestamp": MIDDLE, "endingOffsets": each(p0=3, p1=3), **ONE}),
    "from offsets to a time before them": Case(TRANSACTIONS, {"endingTimestamp": MIDDLE, "startingOffsets": each(p0=460, p1=470), **ONE}),
    # Tasks and columns
    "more tasks": Case(TRANSACTIONS, {"minPartitions": "9", **ONE}),
    "no tasks": Case(TRANSACTIONS, {"minPartitions": "0", **ONE}),
    "few records each": Case(TRANSACTIONS, {"maxRecordsPerPartition": "40", **ONE}),
    "no records each": Case(TRANSACTIONS, {"maxRecordsPerPartition": "-1", **ONE}),
    "headers": Case(PLAIN, {"subscribe": "headers", "includeHeaders": "true"}),
    "no headers": Case(PLAIN, {"subscribe": "headers", "includeHeaders": "false"}),
    "options of streams": Case(TRANSACTIONS, {"maxOffsetsPerTrigger": "3", "minOffsetsPerTrigger": "2", "maxTriggerDelay": "5m", **ONE}),
    "options of streams that contradict": Case(TRANSACTIONS, {"maxOffsetsPerTrigger": "3", "minOffsetsPerTrigger": "4", **ONE}),
    "append time": Case(TRANSACTIONS, {"subscribe": "append-time"}),
    "aborted": Case(TRANSACTIONS, {"subscribe": "aborted,large-aborted,fenced"}),
    "all codecs": Case(PLAIN, {"subscribePattern": "^(kafkapython|broker)-"}),
}  # fmt: skip


def options_of(case: Case, times: dict[str, str]) -> dict[str, str]:
    """Return the options of *case* with each key of *times* replaced by its time."""
    made = {"kafka.isolation.level": case.level}
    for name, value in case.options.items():
        for word, time in times.items():
            value = value.replace(word, time)
        made[name] = value
    return made
