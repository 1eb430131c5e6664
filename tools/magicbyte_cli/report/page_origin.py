"""When and where a page was made, and which brokers its logs are from."""

import platform
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self

import magicbyte as mb
from magicbyte.logdir.log_file import PartitionLog


@dataclass(frozen=True, slots=True)
class PageOrigin:
    """Facts that place a page which is read later, elsewhere."""

    made: datetime
    host: str
    cluster_ids: tuple[str, ...] = ()
    broker_ids: tuple[str, ...] = ()
    """Values of `node.id`, or `broker.id`, in meta.properties."""

    @classmethod
    def here(cls, logs: Iterable[PartitionLog]) -> Self:
        """Return the origin of a page about *logs* that is made now, on this host."""
        log_dirs = [log.log_dir for log in logs if log.log_dir is not None]
        return cls(
            datetime.now(UTC),
            platform.node(),
            tuple(sorted({one.cluster_id for one in log_dirs if one.cluster_id is not None})),
            tuple(
                sorted(
                    {one.broker_id for one in log_dirs if one.broker_id is not None},
                    key=lambda text: (len(text), text),
                )
            ),
        )

    def texts(self) -> Iterator[str]:
        """Yield the facts, each as a short text."""
        yield f"made {self.made:%Y-%m-%d %H:%M} UTC by magicbyte {mb.__version__} on {self.host}"
        if self.cluster_ids:
            yield f"cluster {', '.join(self.cluster_ids)}"
        if self.broker_ids:
            noun = "broker" if len(self.broker_ids) == 1 else "brokers"
            yield f"{noun} {', '.join(self.broker_ids)}"
