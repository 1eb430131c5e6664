"""The verdict on a produced batch: whether a broker would accept it, and the error of Kafka if not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from magicbyte import Finding

ProducedVerdictName = Literal["accepted", "refused", "depends", "unknown"]

INVALID_RECORD = (
    "produced-no-batch",
    "produced-several-batches",
    "produced-old-magic",
    "produced-base-offset",
    "produced-control",
    "produced-no-records",
    "produced-last-offset-delta",
    "produced-null-key",
)
"""Codes of what every broker refuses with INVALID_RECORD, in Produce 3 and later."""

DEPENDING = {
    "produced-large": "MESSAGE_TOO_LARGE unless max.message.bytes is raised",
    "produced-log-append-time": "INVALID_TIMESTAMP on a topic with LogAppendTime",
    "produced-transactional": "TRANSACTIONAL_ID_AUTHORIZATION_FAILED if the request has no transactional id, "
    "UNKNOWN_SERVER_ERROR if the broker recompresses the batch",
    "produced-epoch": "INVALID_PRODUCER_EPOCH if the broker knows the producer, UNKNOWN_SERVER_ERROR if it recompresses "
    "the batch",
    "produced-sequence": "INVALID_RECORD if the producer id is not negative, UNKNOWN_SERVER_ERROR if the broker "
    "recompresses the batch",
    "produced-negative-timestamp": "UNKNOWN_SERVER_ERROR if the broker recompresses the batch",
    "produced-offset-delta": "UNKNOWN_SERVER_ERROR if the batch is compressed and the broker does not recompress it",
}
"""Errors, with their conditions, of codes of what a broker refuses in some cases only."""

UNKNOWN = ("unreadable", "entry-over-limit", "batch-over-limit")
"""Codes of errors after which the batch was not checked to its end."""


@dataclass(frozen=True, slots=True)
class ProducedVerdict:
    """Answer of a broker to the batch in a file."""

    file: str
    name: ProducedVerdictName
    kafka_error: str | None
    """Kafka's name of the error that every broker answers; None if it depends, or is not known."""
    sentence: str

    def as_object(self) -> dict[str, Any]:
        return {
            "kind": "file",
            "file": self.file,
            "verdict": self.name,
            "kafka_error": self.kafka_error,
            "sentence": self.sentence,
        }


def verdict_of(file: str, findings: Sequence[Finding]) -> ProducedVerdict:
    """Return the verdict on the batch in *file*, by all *findings* about it."""
    errors = [finding for finding in findings if finding.severity == "error"]
    for finding in errors:
        if finding.code in INVALID_RECORD:
            sentence = f"a broker would refuse this batch with INVALID_RECORD: {finding.message}"
            return ProducedVerdict(file, "refused", "INVALID_RECORD", sentence)
    for finding in errors:
        if finding.code not in UNKNOWN and finding.code not in DEPENDING:
            sentence = f"a broker would refuse this batch: {finding.message}"
            return ProducedVerdict(file, "refused", None, sentence)
    for finding in errors:
        if finding.code in UNKNOWN:
            sentence = f"not known whether a broker would accept this batch: {finding.message}"
            return ProducedVerdict(file, "unknown", None, sentence)
    conditions = [DEPENDING[finding.code] for finding in findings if finding.code in DEPENDING]
    if conditions:
        sentence = f"a broker may refuse this batch, with {'; '.join(conditions)}"
        return ProducedVerdict(file, "depends", None, sentence)
    return ProducedVerdict(file, "accepted", None, "a broker would accept this batch")
