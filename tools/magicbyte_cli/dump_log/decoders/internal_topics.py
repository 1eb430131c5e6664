"""Internal topics that kafka-dump-log decodes, each with the first release that does."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from magicbyte_cli.dump_log.decoders import Decoder
from magicbyte_cli.dump_log.decoders.cluster_metadata_decoder import cluster_metadata_records
from magicbyte_cli.dump_log.decoders.coordinator_decoders import coordinator_records
from magicbyte_cli.dump_log.decoders.remote_log_decoder import remote_log_metadata_records
from magicbyte_cli.dump_log.decoders.text_decoders import offsets_as_text, transactions_as_text
from magicbyte_cli.dump_log.releases import Release
from magicbyte_formats.messages import consumer_offsets, share_group_state, transaction_state


class InternalTopic(NamedTuple):
    """An internal topic whose records kafka-dump-log decodes."""

    name: str
    since: tuple[int, int]
    """First release with the decoder."""
    decoder: Callable[[Release], Decoder]


def _offsets(release: Release) -> Decoder:
    if release.since(3, 8):
        return coordinator_records(consumer_offsets.MESSAGES, release)
    return offsets_as_text(release)


def _transactions(release: Release) -> Decoder:
    if release.since(4, 1):
        return coordinator_records(transaction_state.MESSAGES, release)
    return transactions_as_text(release)


TOPICS = {
    "--offsets-decoder": InternalTopic("__consumer_offsets", (2, 8), _offsets),
    "--transaction-log-decoder": InternalTopic("__transaction_state", (2, 8), _transactions),
    "--cluster-metadata-decoder": InternalTopic(
        "__cluster_metadata", (2, 8), cluster_metadata_records
    ),
    "--remote-log-metadata-decoder": InternalTopic(
        "__remote_log_metadata", (3, 9), remote_log_metadata_records
    ),
    "--share-group-state-decoder": InternalTopic(
        "__share_group_state", (4, 0), partial(coordinator_records, share_group_state.MESSAGES)
    ),
}
"""Topics by flag of kafka-dump-log. If several flags are set, the first one here counts."""
