"""Verdicts: the words for what a broker would do with a partition, and of a broker, on startup."""

from typing import Literal

Verdict = Literal[
    "refuses-to-start",
    "truncated",
    "missing",
    "stray",
    "not-served",
    "unchanged-damaged",
    "unknown",
    "recovered",
    "intact",
]
"""Verdicts on a partition, the worst first."""

VERDICTS: dict[Verdict, str] = {
    "refuses-to-start": "the broker would fail to start, or take the log.dir offline, because of "
    "this partition",
    "truncated": "the broker would start, and offsets of this partition would be lost",
    "missing": "the broker would start, and find no folder of this partition",
    "stray": "the broker would rename the folder to -stray and not serve what is in it",
    "not-served": "the broker would start, and not serve this partition",
    "unchanged-damaged": "the broker would serve this partition as it is, although something in it is damaged "
    "or missing",
    "unknown": "what the broker would do on startup cannot be predicted from these files",
    "recovered": "the broker would recover this partition; no valid record is lost",
    "intact": "the broker would serve this partition as it is",
}
"""A sentence for each verdict on a partition, the worst first."""

BAD_VERDICTS: tuple[Verdict, ...] = (
    "refuses-to-start",
    "truncated",
    "missing",
    "stray",
    "not-served",
    "unchanged-damaged",
)
"""Verdicts with which records are lost, not served, or in doubt."""

BrokerVerdict = Literal["refuses-to-start", "starts-with-loss", "unknown", "starts"]
"""Verdicts on a broker, the worst first."""

BROKER_VERDICTS: dict[BrokerVerdict, str] = {
    "refuses-to-start": "would not start",
    "starts-with-loss": "would start, and lose something or not serve it",
    "unknown": "may or may not start: these files do not tell",
    "starts": "would start, and serve everything that is here",
}
"""Words for each verdict on a broker, after the release, the worst first."""

BAD_BROKER_VERDICTS: tuple[BrokerVerdict, ...] = ("refuses-to-start", "starts-with-loss")
"""Verdicts with which a broker does not start, or does not serve everything that is here."""
