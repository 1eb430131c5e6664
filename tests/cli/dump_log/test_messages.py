"""Tests of schema features that Kafka's generator supports and no release's messages use."""

import pytest

from magicbyte.messages import MessageError, read
from magicbyte_cli.dump_log.decoders.java_exceptions import exception_text
from magicbyte_kernels.message_schema import MessageField, MessageSchema, VersionRange

EVERY = ((3, 0), VersionRange(0, 1))

MESSAGE = MessageSchema(
    name="Example",
    type=0,
    former_types=(),
    versions=(EVERY,),
    flexible=(EVERY,),
    fields=(MessageField(name="added", kind="int8", versions=VersionRange(1, None), tag=1),),
)


def test_a_tag_is_read_in_its_versions_alone() -> None:
    tagged = b"\1\1\1\x07"
    assert read(MESSAGE, tagged, 1, (3, 0)).fields == {"added": 7}
    with pytest.raises(MessageError) as raised:
        read(MESSAGE, tagged, 0, (3, 0))
    assert exception_text(raised.value, 0) == "Tag 1 is not valid for version 0"
