"""Codes for logs that magicbyte writes."""

from magicbyte._finding_codes._code import OUR_RULE, Code

WRITTEN = (
    Code(
        "output-differs",
        "error",
        "A log that was written is not what its source says it must be.",
        cause="A fault of magicbyte, or of the disk or memory that it used.",
        consequence="The partition is not in the output; its source is as it was.",
        remedy="Run the command again. If it says the same, report it with the source, or with what the message shows.",
        source=OUR_RULE,
    ),
)
