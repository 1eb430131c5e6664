"""Test that spec/messages has all messages of the newest Kafka on Maven Central."""

import os

import pytest

from magicbyte_tools.check_kafka.__main__ import main

RUN = bool(os.environ.get("MAGICBYTE_BROKERS"))


@pytest.mark.skipif(not RUN, reason="it takes Maven and Java: make check-kafka, make test-brokers")
def test_messages_are_those_of_the_newest_kafka(capfd: pytest.CaptureFixture[str]) -> None:
    status = main([])
    assert status == 0, "".join(capfd.readouterr())
