"""Data classes of a test vector: its bytes, its expected result, and the JSON file about both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from magicbyte_tools.conformance.judge import WITHOUT_FIELDS

TWIN = "built with the Construct twin"

Verdict = Literal["valid", "invalid", "either"]
Json = dict[str, Any]

TRUNCATED, CHECKSUM, CODEC, LIMIT = "TruncatedError", "ChecksumError", "CodecError", "LimitError"

ERRORS = {
    "incomplete-entry": TRUNCATED,
    "checksum-mismatch": CHECKSUM,
    "codec-error": CODEC,
    "unknown-codec": CODEC,
    "codec-not-allowed": CODEC,
    "entry-over-limit": LIMIT,
    "batch-over-limit": LIMIT,
}
"""Error class for a finding code where damage is not skipped; FormatError for other codes."""

WARNINGS = frozenset(
    [
        "capture-truncated",
        "capture-packet-cut",
        "capture-link-type",
        "capture-ip-fragment",
        "capture-encrypted",
        "capture-messages-lost",
        "schema-id-conflict",
        "value-not-decoded",
        "schema-unusable",
        "incomplete-tail",
        "zero-tail",
        "found-by-search",
        "index-doubted",
        "candidate-passed-over",
        "bytes-unread",
        "message-bytes-unread",
        "negative-length",
        "inner-magic-differs",
        "inner-message-cut",
        "bad-marker-value",
        "txnindex-invalid",
        "txnindex-mismatch",
        "txnindex-doubted",
        "snapshot-invalid",
        "snapshot-mismatch",
        "snapshot-transaction-ignored",
        "segment-missing",
        "checkpoint-invalid",
        "index-invalid",
        "index-mismatch",
        "timeindex-invalid",
        "timeindex-mismatch",
        "leader-epoch-back",
        "leader-epoch-mismatch",
        "marker-stray",
        "max-timestamp-mismatch",
        "record-attributes",
        "record-offset-mismatch",
        "reserved-bits",
        "sequence-out-of-order",
        "log-start-beyond",
        "topic-id-differs",
        "file-name-invalid",
        "timestamp-out-of-range",
        "produced-bytes-behind-batch",
        "produced-bytes-behind-payload",
        "produced-delete-horizon",
        "produced-header-key",
        "produced-max-timestamp",
        "produced-record-attributes",
        "produced-reserved-bits",
        "log-dir-locked",
        "restore-log-start",
        "restore-log-dir",
        "restore-large-batch",
        "restore-internal-topic",
    ]
)
NOTES = frozenset(
    [
        "capture-response-alone",
        "capture-topic-unnamed",
        "values-decoded",
        "unknown-control-type",
        "index-missing",
        "offset-gap-cleaned",
        "transaction-open",
        "txnindex-missing",
        "txnindex-trusted",
        "snapshot-missing",
        "snapshot-unconfirmed",
        "log-begins-above",
        "high-watermark-stale",
        "topic-id-missing",
        "timestamp-ahead",
        "timestamp-in-seconds",
        "transactions-empty",
        "range-unread",
        "planned-by-index",
        "left-over",
        "foreign-file",
        "special-file",
        "remote-unfinished",
        "remote-overlap",
        "remote-other-topic",
        "metadata-log-refetched",
        "metadata-log-not-given",
        "range-outside-log",
        "replica-chosen",
        "range-filled",
        "replica-ignored",
        "produced-base-timestamp",
        "produced-large",
        "produced-leader-epoch",
        "produced-overlong-varint",
        "produced-producer-id",
        "produced-zstd",
        "restore-file-system",
    ]
)
"""Finding codes of severity note, repeated here so that a changed severity is noticed."""


def severity_of(code: str) -> str:
    return "warning" if code in WARNINGS else "note" if code in NOTES else "error"


@dataclass(frozen=True, slots=True)
class ExpectedHeader:
    """A header of an expected record."""

    key: bytes
    """Key as stored; KIP-82 says UTF-8, and nothing checks it."""
    value: bytes | None
    decoded_key: str | None = None
    """Key as Java decodes it, given where the stored one is not UTF-8."""

    def json(self) -> Json:
        other = {} if self.decoded_key is None else {"decoded": self.decoded_key.encode().hex()}
        return {"key": self.key.hex(), **other, "value": _hex(self.value)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedRow:
    """An expected record, as a consumer gets it. None is null; b"" is empty."""

    offset: int
    timestamp: int | None
    timestamp_type: str | None
    key: bytes | None
    value: bytes | None
    headers: tuple[ExpectedHeader, ...] = ()
    topic: str | None = None
    partition: int | None = None

    def json(self) -> Json:
        place = {} if self.topic is None else {"topic": self.topic, "partition": self.partition}
        return place | {
            "offset": str(self.offset),
            "timestamp": None if self.timestamp is None else str(self.timestamp),
            "timestamp_type": self.timestamp_type,
            "key": _hex(self.key),
            "value": _hex(self.value),
            "headers": [header.json() for header in self.headers],
        }


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex()


@dataclass(frozen=True, slots=True)
class ExpectedFinding:
    """A finding that magicbyte must report for a test vector."""

    code: str
    position: int | None = None
    file: str | None = None
    """Name of the file in the partition's folder, in a case of a log.dir."""

    def json(self, *, is_folder: bool) -> Json:
        place = {"file": self.file} if is_folder else {}
        return {
            "code": self.code,
            "severity": severity_of(self.code),
            **place,
            "position": self.position,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedFault:
    """The fault in a test vector: position, expected error, and the records that are not lost."""

    position: int | None
    """Byte where the bad log entry begins; 0 in formats other than logs; None without a file."""
    caught_by: str
    """Kind of check that finds the fault: grammar, exact, checksum, codec, order, directory or limits."""
    code: str | None = None
    """Code of magicbyte's finding; None for a format that magicbyte reads only as part of a log."""
    error: str | None = None
    """Name of the raised error's class, where the code does not determine it."""
    payload_position: int | None = None
    file: str | None = None
    """Name of the file in the partition's folder, in a case of a log.dir."""
    records: tuple[ExpectedRow, ...] = ()
    """Records that are delivered where the fault is skipped."""
    records_before: int = 0
    """Number of *records* that precede the fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorCase:
    """A test vector: bytes in one of Kafka's formats, and the result that a reader must give."""

    format: str
    name: str
    why: str
    verdict: Verdict
    data: bytes | Mapping[str, bytes]
    """The file, or the files of a log.dir by their paths in it."""
    source: str
    made: str = TWIN
    classes: Sequence[int] = ()
    """Numbers of the classes of bad input (see input_classes) that the case represents."""
    rows: tuple[ExpectedRow, ...] | None = None
    """Records that a reader delivers if it accepts the bytes; None for a format without records."""
    fault: ExpectedFault | None = None
    is_refused: bool = False
    """True where magicbyte refuses a case with verdict `either`."""
    findings: tuple[ExpectedFinding, ...] = ()
    limits: Mapping[str, int] = field(default_factory=dict)
    reason: str | None = None
    has_fields: bool = True
    """True where the grammar alone can read the bytes."""
    fields: Any = None
    """Parsed fields as JSON; by default those that the Construct parser reads."""
    front: str | None = None
    """The only interface of magicbyte that reports *front_code*, such as spark."""
    front_code: str | None = None
    is_compacted: bool = False
    """True for produced bytes that are sent to a compacted topic."""
    fetch_offset: int | None = None
    """Offset from which a consumer asked for fetched bytes."""
    aborted_transactions: Sequence[tuple[int, int]] | None = None
    """Producer ids and first offsets of the aborted transactions in a fetch response; None is null."""
    encode: Mapping[str, Any] | None = None
    """Records and settings of the batch whose encoding the bytes are, as JSON."""
    topic: str | None = None
    """Topic of a coordinator's record."""
    releases: str | None = None
    """Range of the Kafka releases that read a coordinator's record as the case says, such as `4.1+`."""
    is_kafka_refusal: bool = False
    """True where Kafka's own reader refuses a case with verdict `either`."""

    @property
    def is_folder(self) -> bool:
        return not isinstance(self.data, bytes)

    @property
    def folder(self) -> str:
        """Folder of the case, `valid` or `invalid`; Kafka's own reader decides for `either`."""
        refused = self.verdict == "invalid" or self.is_kafka_refusal
        return "invalid" if refused else "valid"

    @property
    def id(self) -> str:
        """Name of the case, which never changes, even if the verdict moves the case."""
        return f"{self.format}/{self.name}"

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.id}"

    def json(self, fields: Any) -> Json:
        """Return the contents of the case's JSON file; *fields* are the parsed fields, or None."""
        document: Json = {
            "format": self.format,
            "why": self.why,
            "made": self.made,
            "source": self.source,
            "verdict": self.verdict,
        }
        optional = {
            "classes": list(self.classes),
            "reason": self.reason,
            "front": self.front,
            "compacted": self.is_compacted,
            "limits": dict(self.limits),
            "encode": self.encode,
            "topic": self.topic,
            "releases": self.releases,
        }
        document |= {name: value for name, value in optional.items() if value}
        if self.fetch_offset is not None:
            document |= self._fetch_settings()
        if self.format not in WITHOUT_FIELDS:
            document["fields"] = fields
        fault = self.fault
        rows = fault.records if fault is not None and self.verdict == "invalid" else self.rows
        if rows is not None and self.rows is not None:
            document["records"] = [row.json() for row in rows]
        if fault is not None and self.verdict == "invalid":
            if self.rows is not None:
                document["records_before"] = fault.records_before
            document |= self._error(fault)
            document["caught_by"] = fault.caught_by
        elif fault is not None:
            if self.is_refused:
                document |= self._error(fault)
            refused: Json = {"position": fault.position, "caught_by": fault.caught_by}
            if self.rows is not None:
                refused["records"] = [row.json() for row in fault.records]
                refused["records_before"] = fault.records_before
            document["refused"] = refused
        if (self.rows is not None and self.fetch_offset is None) or self.format == "kafka_produced":
            document["findings"] = [f.json(is_folder=self.is_folder) for f in self.findings]
        return document

    def _fetch_settings(self) -> Json:
        pairs = self.aborted_transactions or ()
        aborted_transactions = [
            {"producer_id": str(producer_id), "first_offset": str(first_offset)}
            for producer_id, first_offset in pairs
        ]
        return {
            "fetch_offset": str(self.fetch_offset),
            "aborted_transactions": (
                None if self.aborted_transactions is None else aborted_transactions
            ),
        }

    def _error(self, fault: ExpectedFault) -> Json:
        document: Json = {"error": fault.error or ERRORS.get(fault.code or "", "FormatError")}
        if fault.code is not None:
            document["code"] = fault.code
        document["position"] = fault.position
        if fault.file is not None:
            document["file"] = fault.file
        if fault.payload_position is not None:
            document["payload_position"] = fault.payload_position
        return document
