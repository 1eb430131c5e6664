"""Speaks the protocol of the vectors for a runner in Python: RUNNER FORMAT FILE..., or RUNNER --lines."""

import json
import os
import sys
from pathlib import Path

CHECKS = ["grammar", "exact", "checksum", "codec"]

NOT_INSTALLED = ("Libraries for", "pip install")
"""Words in the errors of kafka-python and aiokafka if the optional library of a codec is not installed."""


def hexed(data):
    """Return bytes as the protocol prints them; None is null."""
    return None if data is None else bytes(data).hex()


def serve(read, read_fetched=None, encode=None, *, checks=CHECKS, lacks=()):
    """Answer the cases that the command line or the standard input names.

    *read* yields the records of each log entry of a log, once it has read the whole entry, and raises an error.
    *read_fetched* does so for the bytes of a fetch response, the wanted offset, and the producer ids and first
    offsets of the aborted transactions. *encode* returns the batch of a case's `encode`. *checks* are the classes of
    fault that the client looks for, and *lacks* what it cannot do: of a client that knows v0 and v1 alone,
    `["v2", "zstd", "control", "transactions", "encode"]`.
    """
    claims = {"checks": list(checks)} | ({"lacks": list(lacks)} if lacks else {})
    readers = {"kafka_log": lambda log, settings: read(log)}
    if read_fetched is not None:
        readers["kafka_fetched"] = lambda log, settings: read_fetched(log, *fetch(settings))
    settings = json.loads(os.environ.get("CONFORMANCE_SETTINGS", "{}"))
    if sys.argv[1:] == ["--lines"]:
        requests = map(json.loads, sys.stdin)
    else:
        requests = ({**settings, "format": sys.argv[1], "file": file} for file in sys.argv[2:])
    for request in requests:
        if request["format"] == "kafka_encoded" and encode is not None:
            content = encoded(encode, request["encode"])
        else:
            content = answer(readers, request, claims)
        print(json.dumps(content), flush=True)


def fetch(settings):
    """Return the wanted offset of a case, and its aborted transactions; None is null."""
    aborted = settings["aborted_transactions"]
    if aborted is not None:
        aborted = [(int(one["producer_id"]), int(one["first_offset"])) for one in aborted]
    return int(settings["fetch_offset"]), aborted


def encoded(encode, request):
    """Return the answer to a case that asks for a batch."""
    try:
        return {"encoded": bytes(encode(request)).hex()}
    except Exception as error:  # nothing narrower, as below
        return {"error": {"message": f"{type(error).__name__}: {error}"}}


def answer(readers, request, claims):
    """Return the answer to a case that asks for records, with the *claims* of the client."""
    if request["format"] not in readers:
        return {"unsupported": "a client reads no such file"}
    records = []
    try:
        for rows in readers[request["format"]](Path(request["file"]).read_bytes(), request):
            records += rows
    except Exception as error:  # nothing narrower: struct.error, SystemError, the client's own
        message = f"{type(error).__name__}: {error}"
        if any(words in message for words in NOT_INSTALLED):
            return {"unsupported": message}
        return {
            "records": records,
            "stopped": True,
            "error": {"message": message},
            **claims,
        }
    return {"records": records, "error": None, **claims}
