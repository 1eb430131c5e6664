"""python -m magicbyte_tools.check_kafka: compare spec/messages with the newest Kafka on Maven Central.

Exit status 0: both have the same messages, versions and fields. 1: they do not. 2: Maven or Java is
missing, or Maven finds no such version.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from magicbyte.kafka_release import NEWEST
from magicbyte_tools.bench.foreign_programs import ProgramUnavailable
from magicbyte_tools.check_kafka import kafka_jars
from magicbyte_tools.check_kafka.message_classes import MessageClass, parse_classes, printed_classes
from magicbyte_tools.check_kafka.schema_differences import differences, message_schemas
from magicbyte_tools.generate.kaitai import CHECKOUT

CACHE = CHECKOUT / ".cache" / "check-kafka"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m magicbyte_tools.check_kafka",
        description="Compare spec/messages with the message classes of a Kafka release.",
    )
    parser.add_argument(
        "--kafka-version", metavar="VERSION", help="such as 4.3.1; default: the newest"
    )
    parser.add_argument(
        "--record", type=Path, metavar="FILE", help="write the classes to FILE, for the tests"
    )
    chosen = parser.parse_args(arguments)
    try:
        version = chosen.kafka_version or kafka_jars.newest_version()
        lines = printed_classes(version, CACHE)
    except ProgramUnavailable as error:
        print(f"check-kafka: {error}", file=sys.stderr)
        return 2
    if chosen.record:
        chosen.record.write_text("".join(stored_lines(lines)), "utf-8")
    return report(version, lines)


def report(version: str, lines: Sequence[str]) -> int:
    """Print the differences from the classes in *lines*, of Kafka *version*; return the status."""
    major, minor = map(int, version.split(".")[:2])
    faults = list(differences(parse_classes(lines), message_schemas(), (major, minor)))
    if (major, minor) > NEWEST:
        faults.insert(0, f"Kafka {version} is newer than {NEWEST}, the last in kafka_release.py")
    for fault in faults:
        print(fault)
    messages = [one for one in parse_classes(lines) if is_compared(one)]
    versions = sum(len(one.schemas) for one in messages)
    print(
        f"Kafka {version}: {len(messages)} messages, {versions} versions, {len(faults)} differences"
    )
    return 1 if faults else 0


def stored_lines(lines: Sequence[str]) -> list[str]:
    """Return the lines of all messages but the requests and responses that are in no file, sorted by name."""
    pairs = zip(parse_classes(lines), lines, strict=True)
    return sorted(f"{line}\n" for message_class, line in pairs if is_compared(message_class))


def is_compared(message_class: MessageClass) -> bool:
    """Return whether *message_class* is no request and no response, or one of those in spec/messages."""
    names = {schema.name for schema in message_schemas()}
    return not message_class.is_rpc or message_class.schema_name in names


if __name__ == "__main__":
    sys.exit(main())
