"""Codes for the meaning of keys and values: schemas, and the typed values that they give."""

from magicbyte._finding_codes._code import Code

MEANINGS = (
    Code(
        "schema-id-conflict",
        "warning",
        "A record of a schema registry gives an id to a second schema.",
        cause="Two registries wrote into the same topic as leaders, or a topic was restored over another.",
        consequence="The first schema of the id stays, as in the registry: values that were written with the second one are decoded wrongly or not at all.",
        remedy="Find out which producers registered the second schema, and decode their topics with the schema as a file.",
        source="KafkaStoreMessageHandler.validateUpdate",
    ),
)
