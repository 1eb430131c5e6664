"""The bounds of a read, as Spark's Kafka source defines them.

A bound is `earliest`, `latest`, an offset for each partition, a time for all partitions, or a time for
each. The rules follow KafkaSourceProvider in Spark 4: which option takes precedence, where a
batch must not begin or end, and which partitions must be named.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from magicbyte.errors import InputError
from magicbyte.spark import _option_values
from magicbyte.spark._option_values import Partition, name_of

EARLIEST, LATEST = -2, -1
"""Placeholders for an offset that depends on the log."""

_WORDS = {"earliest": EARLIEST, "latest": LATEST}


@dataclass(frozen=True, slots=True)
class OffsetBound:
    """An offset, or a time, at which the read of each partition begins or ends."""

    option: str
    """Name of the option that sets the bound, as the documentation spells it."""
    everywhere: int | None = None
    """EARLIEST, LATEST or, if `is_time`, a time. None: see *by_partition*."""
    by_partition: Mapping[Partition, int] = field(default_factory=dict)
    is_time: bool = False
    or_latest: bool = False
    """Take a time after all records for the end of the log, instead of raising an error."""

    def of(self, partition: Partition) -> int:
        return self.by_partition[partition] if self.everywhere is None else self.everywhere

    def check_names(self, read_partitions: Iterable[Partition]) -> None:
        """Raise InputError unless the bound names exactly *read_partitions*."""
        if self.everywhere is not None:
            return
        expected, named = set(read_partitions), set(self.by_partition)
        if expected == named:
            return
        missing, extra = expected - named, named - expected
        problems = [f"nothing for {_listed(missing)}"] if missing else []
        problems += [f"{_listed(extra)}, which is not read"] if extra else []
        raise InputError(
            f"{self.option}: {' and '.join(problems)}", "every partition that is read, and no other"
        )


def starting_bound(spark_options: Mapping[str, str], default: str) -> OffsetBound:
    """Return the start of a read; *default* applies if *spark_options* (lower-case names) set none."""
    strategy = _option_values.one_of("error", "latest")(
        "startingOffsetsByTimestampStrategy",
        spark_options.get("startingoffsetsbytimestampstrategy", "error"),
    )
    return _limit(spark_options, "starting", default, or_latest=strategy == "latest")


def ending_bound(spark_options: Mapping[str, str]) -> OffsetBound:
    """Return the end of a read, exclusive; *spark_options* have lower-case names."""
    return _limit(spark_options, "ending", "latest", or_latest=True)


def check_batch(start: OffsetBound, end: OffsetBound) -> None:
    """Raise InputError if a batch cannot begin at *start* or end at *end*, or the two are reversed."""
    for limit, word, name in ((start, LATEST, "latest"), (end, EARLIEST, "earliest")):
        verb = "begin" if limit is start else "end"
        if limit.is_time:
            continue
        if limit.everywhere == word:
            raise InputError(f"{limit.option} {name}", f"another offset: no batch can {verb} there")
        for partition, offset in sorted(limit.by_partition.items()):
            if offset == word:
                raise InputError(
                    f"{limit.option} {offset}, {name}, for {name_of(partition)}",
                    f"another offset: no batch can {verb} there",
                )
    if start.is_time != end.is_time or start.everywhere is not None or end.everywhere is not None:
        return
    end.check_names(start.by_partition)
    for partition, first in sorted(start.by_partition.items()):
        check_order(partition, first, end.of(partition))


def check_order(partition: Partition, first: int, last: int) -> None:
    """Raise InputError if *first* is after *last*. EARLIEST and LATEST are not compared."""
    if first > last and first >= 0 and last >= 0:
        raise InputError(f"{name_of(partition)} from {first} to {last}", "the lower bound first")


def _limit(
    spark_options: Mapping[str, str], side: str, default: str, *, or_latest: bool
) -> OffsetBound:
    """Return the `starting` or `ending` bound: one time, else times by partition, else offsets."""
    option = f"{side}Timestamp"
    if option.lower() in spark_options:
        time = _option_values.milliseconds(option, spark_options[option.lower()])
        return OffsetBound(option, time, is_time=True, or_latest=or_latest)
    option = f"{side}OffsetsByTimestamp"
    if option.lower() in spark_options:
        times = _option_values.by_partition(
            option, spark_options[option.lower()], _option_values.TIMES
        )
        return OffsetBound(option, None, times, is_time=True, or_latest=or_latest)
    option = f"{side}Offsets"
    value = spark_options.get(option.lower(), default).strip()
    if value.lower() in _WORDS:
        return OffsetBound(option, _WORDS[value.lower()])
    offsets = _option_values.by_partition(
        option, value, f"earliest, latest or {_option_values.OFFSETS}"
    )
    for partition, offset in offsets.items():
        if offset < EARLIEST:
            raise InputError(
                f"{option} {offset} for {name_of(partition)}",
                "an offset, -2 for earliest, or -1 for latest",
            )
    return OffsetBound(option, None, offsets)


def _listed(some_partitions: Iterable[Partition]) -> str:
    """Return a text with the names of up to five *some_partitions* and the number of the others."""
    names = sorted(some_partitions)
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(map(name_of, names[:5])) + more
