"""Tests that Avro values are read as by Avro's Java library, which Kafka's clients use.

`make test-brokers` runs them; they need Maven and Java. MAGICBYTE_RECORD=1 records the library's answers anew.
"""

import base64
import json
import os
import subprocess
from collections.abc import Sequence

import pytest

from java_avro import RECORDED, JudgedValue, answer_digest, judged_values, recorded
from magicbyte_tools.check_kafka import kafka_jars
from magicbyte_tools.check_kafka.__main__ import CACHE
from magicbyte_tools.fuzz.avro_cases import Json

from .kafka_classes import SOURCES
from .test_kafka_classes import RUN

VERSION = "1.12.1"
with_java = pytest.mark.skipif(not RUN, reason="it takes Maven and Java: make test-brokers")


def encoded(schema: Json) -> str:
    return base64.b64encode(json.dumps(schema).encode()).decode()


def java_answers(values: Sequence[JudgedValue]) -> list[str]:
    """Return the answers of `AvroValues.java` to *values*."""
    jars = kafka_jars.class_path(VERSION, CACHE, "avro", "org.apache.avro")
    classes = kafka_jars.compiled_classes([SOURCES / "AvroValues.java"], jars, CACHE)
    question = "".join(
        f"{encoded(one.writer)}\t{encoded(one.reader)}\t{one.value.hex()}\n" for one in values
    )
    command = kafka_jars.java("AvroValues", classes, jars)
    done = subprocess.run(command, input=question, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.splitlines()


@with_java
def test_values_are_read_as_by_avros_java_library() -> None:
    values = list(judged_values())
    asked = [one for one in values if one.ours != "?"]
    answers = java_answers(asked)
    assert len(answers) == len(asked)
    differences = [
        (one, answer)
        for one, answer in zip(asked, answers, strict=True)
        if one.ours != (answer[:1] if answer.startswith("!") else answer)
    ]
    assert differences == []
    of_asked = iter(answers)
    digests = [
        "?" if one.ours == "?" else answer_digest("!" if answer.startswith("!") else answer)
        for one, answer in ((one, "" if one.ours == "?" else next(of_asked)) for one in values)
    ]
    if os.environ.get("MAGICBYTE_RECORD"):
        lines = ",\n".join(map(json.dumps, digests))
        RECORDED.write_text(f'{{"avro": "{VERSION}", "answers": [\n{lines}\n]}}\n')
    assert digests == recorded()
