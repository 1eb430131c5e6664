"""Speaks the protocol of the vectors for a runner in Python: RUNNER FORMAT FILE..., or RUNNER --lines."""

import json
import sys
from pathlib import Path

CHECKS = ["grammar", "exact", "checksum", "codec"]

NOT_INSTALLED = ("Libraries for", "pip install")
"""Words in the errors of kafka-python and aiokafka if the optional library of a codec is not installed."""


def hexed(data):
    """Return bytes as the protocol prints them; None is null."""
    return None if data is None else bytes(data).hex()


def serve(read):
    """Answer the cases that the command line or the standard input names.

    *read* yields the records of each log entry of a log, once it has read the whole entry, and raises an error.
    """
    if sys.argv[1:] == ["--lines"]:
        for line in sys.stdin:
            request = json.loads(line)
            print(json.dumps(answer(read, request["format"], request["file"])), flush=True)
    else:
        for file in sys.argv[2:]:
            print(json.dumps(answer(read, sys.argv[1], file)), flush=True)


def answer(read, format_name, file):
    """Return the answer to a case."""
    if format_name != "kafka_log":
        return {"unsupported": "a client reads no such file"}
    records = []
    try:
        for rows in read(Path(file).read_bytes()):
            records += rows
    except Exception as error:  # nothing narrower: struct.error, SystemError, the client's own
        message = f"{type(error).__name__}: {error}"
        if any(words in message for words in NOT_INSTALLED):
            return {"unsupported": message}
        return {
            "records": records,
            "stopped": True,
            "error": {"message": message},
            "checks": CHECKS,
        }
    return {"records": records, "error": None, "checks": CHECKS}
