"""Tests that Apicurio's serializers, and those of Kafka Streams, write what is recorded of them.

`make test-brokers` runs them; they need Maven and Java. MAGICBYTE_RECORD=1 records anew.
"""

import json
import os
import subprocess
from typing import Any

import pytest

from java_serializers import APICURIO_VERSION, ORDER, RECORDED, STREAMS_VERSION, parsed_lines
from magicbyte_tools.check_kafka import kafka_jars
from magicbyte_tools.check_kafka.__main__ import CACHE

from .kafka_classes import SOURCES
from .test_kafka_classes import RUN

with_java = pytest.mark.skipif(not RUN, reason="it takes Maven and Java: make test-brokers")

APICURIO = ("apicurio-registry-serdes-avro-serde", "apicurio-registry-serdes-protobuf-serde")
JOINS = "org.apache.kafka.streams.kstream.internals.foreignkeyjoin.StreamsJoins"
"""The program is in the package of the classes that it calls."""


def output_of(main: str, jars: str, *arguments: str) -> dict[str, list[Any]]:
    source = SOURCES / f"{main.rpartition('.')[2]}.java"
    classes = kafka_jars.compiled_classes([source], jars, CACHE)
    command = kafka_jars.java(main, classes, jars, *arguments)
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True
    )
    return parsed_lines(done.stdout)


@with_java
def test_serializers_write_what_is_recorded() -> None:
    apicurio_jars = os.pathsep.join(
        kafka_jars.class_path(APICURIO_VERSION, CACHE, name, "io.apicurio") for name in APICURIO
    )
    streams_jars = kafka_jars.class_path(STREAMS_VERSION, CACHE, "kafka-streams")
    written = {
        "apicurio": output_of("ApicurioValues", apicurio_jars, json.dumps(ORDER)),
        "streams": output_of(JOINS, streams_jars),
    }
    if os.environ.get("MAGICBYTE_RECORD"):
        RECORDED.write_text(json.dumps(written, indent=1) + "\n")
    assert written == json.loads(RECORDED.read_text())
