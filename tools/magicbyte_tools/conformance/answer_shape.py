"""Checks that a runner's output conforms to the protocol; tests/vectors/answer.schema.json says the same."""

from collections.abc import Mapping
from typing import Any

from magicbyte_tools.conformance.compare import shown

READER_CHECKS = ("grammar", "exact", "checksum", "codec", "order", "directory", "limits")
"""Classes of faults that a reader may check; a runner that names none is judged by all of them."""

CHECKS = (*READER_CHECKS, "produced")
"""Checks of readers, and `produced`: a broker's checks of produced batches that readers accept."""

FEATURES = (
    "v0",
    "v1",
    "v2",
    "gzip",
    "snappy",
    "lz4",
    "zstd",
    "control",
    "limits",
    "transactions",
    "encode",
    "coordinators",
)
"""Formats, codecs and abilities that a case may need and a runner may lack."""

RECORD_KEYS = ("offset", "key", "value")
"""Keys that every record of an answer has; it may leave out others."""

ANSWER_KEYS = ("fields", "records", "stopped", "error", "findings", "encoded")
"""Keys of an answer that shows fields, records, an error or encoded bytes."""

KEYS = ("unsupported", "accepted", *ANSWER_KEYS, "checks", "lacks")

TYPES: Mapping[str, tuple[tuple[type, ...], str]] = {
    "unsupported": ((str,), "a reason"),
    "accepted": ((bool,), "true or false"),
    "records": ((list,), "an array"),
    "stopped": ((bool,), "true or false"),
    "error": ((dict, type(None)), "an object or null"),
    "findings": ((list,), "an array"),
    "checks": ((list,), "an array"),
    "lacks": ((list,), "an array"),
    "encoded": ((str,), "bytes in hex"),
}


def shape(answer: Any) -> str | None:
    """Return why *answer* does not conform to the protocol; None if it does."""
    if not isinstance(answer, dict):
        return f"expected a JSON object, found {shown(answer)}"
    for key, value in answer.items():
        if key not in KEYS:
            return f"{key}: no key of an answer; expected some of {', '.join(KEYS)}"
        types, name = TYPES.get(key, ((object,), "a value"))
        if not isinstance(value, types) or value == "":
            return f"{key}: expected {name}, found {shown(value)}"
    for key in ANSWER_KEYS:
        if key in answer and "accepted" in answer:
            return f"{key}: expected nothing beside accepted, which is judged alone"
    return _lists(answer)


def _lists(answer: Mapping[str, Any]) -> str | None:
    """Return which item of *answer*'s arrays does not conform to the protocol."""
    for key, names in (("checks", CHECKS), ("lacks", FEATURES)):
        for name in answer.get(key, ()):
            if name not in names:
                return f"{key}: expected some of {', '.join(names)}, found {shown(name)}"
    for finding in answer.get("findings", ()):
        if not isinstance(finding, dict):
            return f"findings: expected objects, found {shown(finding)}"
    for number, record in enumerate(answer.get("records", ())):
        if not isinstance(record, dict):
            return f"records[{number}]: expected an object, found {shown(record)}"
        for key in RECORD_KEYS:
            if key not in record:
                return f"records[{number}].{key}: expected a value, found nothing"
    return None
