"""Where a read begins and ends, in the words of Spark's Kafka source.

A limit is `earliest`, `latest`, an offset for each partition, a time for all or a time for each.
Its rules are those of KafkaSourceProvider in Spark 4: which option counts where several are given,
what a batch may not begin or end at, and which partitions must be named.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from magicbyte.errors import InputError
from magicbyte.spark import values
from magicbyte.spark.values import Partition, name_of

EARLIEST, LATEST = -2, -1
"""What stands for an offset that only the log tells."""

_WORDS = {"earliest": EARLIEST, "latest": LATEST}


@dataclass(frozen=True, slots=True)
class Limit:
    """An offset of each partition, or what leads to one."""

    option: str
    """What was given, as it is spelled in the documentation."""
    everywhere: int | None = None
    """EARLIEST or LATEST; a time where `is_time`. None: *by_partition* tells."""
    by_partition: Mapping[Partition, int] = field(default_factory=dict)
    is_time: bool = False
    or_latest: bool = False
    """Whether a time that no record has reached means the end, and is no error."""

    def of(self, partition: Partition) -> int:
        return self.by_partition[partition] if self.everywhere is None else self.everywhere

    def check_names(self, partitions: Iterable[Partition]) -> None:
        """Raise InputError where other partitions have a number than *partitions*."""
        if self.everywhere is not None:
            return
        there, named = set(partitions), set(self.by_partition)
        if there == named:
            return
        missing, extra = there - named, named - there
        wrong = [f"nothing for {_listed(missing)}"] if missing else []
        wrong += [f"{_listed(extra)}, which is not read"] if extra else []
        raise InputError(
            f"{self.option}: {' and '.join(wrong)}", "every partition that is read, and no other"
        )


def starting(given: Mapping[str, str], default: str) -> Limit:
    """Return where to begin. *given* has lower-case names; *default* is what nothing given means."""
    strategy = values.one_of("error", "latest")(
        "startingOffsetsByTimestampStrategy",
        given.get("startingoffsetsbytimestampstrategy", "error"),
    )
    return _limit(given, "starting", default, or_latest=strategy == "latest")


def ending(given: Mapping[str, str]) -> Limit:
    """Return where to end: the offset behind the last."""
    return _limit(given, "ending", "latest", or_latest=True)


def check_batch(start: Limit, end: Limit) -> None:
    """Raise InputError where a batch may not begin at *start*, end at *end*, or lie between them."""
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
    """Raise InputError where a range goes backwards; what only the log tells is not compared."""
    if first > last and first >= 0 and last >= 0:
        raise InputError(f"{name_of(partition)} from {first} to {last}", "the lower bound first")


def _limit(given: Mapping[str, str], side: str, default: str, *, or_latest: bool) -> Limit:
    """Return the limit of a *side*: a time for all counts before times, and those before offsets."""
    option = f"{side}Timestamp"
    if option.lower() in given:
        time = values.milliseconds(option, given[option.lower()])
        return Limit(option, time, is_time=True, or_latest=or_latest)
    option = f"{side}OffsetsByTimestamp"
    if option.lower() in given:
        times = values.by_partition(option, given[option.lower()], values.TIMES)
        return Limit(option, None, times, is_time=True, or_latest=or_latest)
    option = f"{side}Offsets"
    value = given.get(option.lower(), default).strip()
    if value.lower() in _WORDS:
        return Limit(option, _WORDS[value.lower()])
    offsets = values.by_partition(option, value, f"earliest, latest or {values.OFFSETS}")
    for partition, offset in offsets.items():
        if offset < EARLIEST:
            raise InputError(
                f"{option} {offset} for {name_of(partition)}",
                "an offset, -2, earliest, or -1, latest",
            )
    return Limit(option, None, offsets)


def _listed(partitions: Iterable[Partition]) -> str:
    """Return the names of some of *partitions*, and how many more there are."""
    shown = sorted(partitions)
    more = f" and {len(shown) - 5} more" if len(shown) > 5 else ""
    return ", ".join(map(name_of, shown[:5])) + more
