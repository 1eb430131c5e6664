"""Tests of spec/messages/README.md: its bytes are from a broker's log and mean what it says."""

import re

from doc_examples import blocks
from magicbyte.messages import read
from magicbyte_formats.messages import consumer_offsets
from paths import CHECKOUT, DATA

PAGE = "spec/messages/README.md"
LOG = DATA / "4.3/transactions/log-0/__consumer_offsets-0/00000000000000000000.log"

KEY, VALUE = (
    bytes.fromhex("".join(re.findall(r"^((?:[0-9a-f]{2} {1,2})+)", block, re.MULTILINE)))
    for block in blocks(PAGE, "")
)


def test_the_example_is_in_the_log() -> None:
    record = KEY + bytes([2 * len(VALUE)]) + VALUE
    assert record in LOG.read_bytes()


def test_the_example_says_what_stands_beside_it() -> None:
    assert KEY[:2] == b"\0\1" and VALUE[:2] == b"\0\4"
    key = read(consumer_offsets.OFFSET_COMMIT_KEY, KEY, 1, (4, 3), position=2)
    assert key == ({"group": "copy-group", "topic": "offsets-only", "partition": 0}, len(KEY))
    value = read(consumer_offsets.OFFSET_COMMIT_VALUE, VALUE, 4, (4, 3), position=2)
    assert value.end == len(VALUE)
    time = value.fields.pop("commitTimestamp")
    assert value.fields == {"offset": 0, "leaderEpoch": -1, "metadata": "metadata"}
    assert 1_600_000_000_000 < time < 2_000_000_000_000


def test_every_key_of_the_schema_stands_in_the_table() -> None:
    text = (CHECKOUT / PAGE).read_text("utf-8").split("## Keys of a file")[1]
    schema = (CHECKOUT / "spec/schema/messages.schema.json").read_text("utf-8")
    keys = re.findall(r'"(\w+)": \{[^{}]*"description"', schema)
    assert len(keys) > 15
    assert [key for key in keys if f"`{key}`" not in text and key not in ("field", "message")] == []
