"""Codes for the meaning of keys and values: schemas, and the typed values that they give."""

from magicbyte._finding_codes._code import OUR_RULE, Code

BYTES_STAY = "The typed column is null there, and the bytes are in a column of their own. Other values are not affected."

MEANINGS = (
    Code(
        "values-decoded",
        "note",
        "Form of the keys or values of a topic, and how many were decoded.",
        cause="Typed records were asked for.",
        consequence="The typed columns have these values.",
        remedy="If the form is not right, name it, as with `--decode value=string`.",
        source=OUR_RULE,
    ),
    Code(
        "value-not-decoded",
        "warning",
        "Keys or values do not decode in the form of their topic.",
        cause="A producer wrote them in another form, their schema is not known or not compatible with the schema of the columns, or they are truncated.",
        consequence=BYTES_STAY,
        remedy="Look at the bytes and the reason with `magicbyte dump --decode auto`; give schemas that are missing with `--schemas`, or name the form.",
        source=OUR_RULE,
    ),
    Code(
        "schema-unusable",
        "warning",
        "A schema cannot be used.",
        cause="Its text is damaged or not of its type, a schema that it refers to is missing, it needs a compiler that refuses it, or a package that its type needs is not installed.",
        consequence=f"Values that were written with it are not decoded. {BYTES_STAY}",
        remedy="Install the package if the message names one. Otherwise compare its text, in the table `schemas`, with what the registry shows.",
        source=OUR_RULE,
    ),
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
