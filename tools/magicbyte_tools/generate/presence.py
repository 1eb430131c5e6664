"""Versions and Kafka releases in which a message and its fields exist.

Versions and releases are ranges. To find overlaps it is enough to try all versions in the releases
in which a range begins.
"""

import re
from collections.abc import Iterator

from magicbyte_tools.generate.source import Spec

VERSIONS = re.compile(r"(\d+)(?:-(\d+)|(\+))?")
RELEASES = re.compile(r"(\d+\.\d+)(?:-(\d+\.\d+)|(\+))?")

Release = tuple[int, ...]
Known = dict[Release, range]
"""Versions of a message, by release."""
Occurrences = set[tuple[Release, int]]
"""Pairs of release and version in which a message or field exists."""


def known_versions(message: Spec) -> Known:
    """Return the versions of *message* that are known in each release in which a range begins."""
    version_steps: dict[str, str] = message["versions"]
    releases = sorted(beginnings(message))
    return {release: versions_of(latest(version_steps, release)) for release in releases}


def beginnings(message: Spec) -> set[Release]:
    """Return the releases in which a range of *message* or its fields begins."""
    texts = [*message["versions"], *message.get("former_types", {}).values()]
    if isinstance(message.get("flexible"), dict):
        texts += message["flexible"]
    waiting = [message["fields"], *message.get("structs", {}).values()]
    while waiting:
        for field_spec in waiting.pop():
            texts += [field_spec["releases"]] if "releases" in field_spec else []
            waiting.append(field_spec.get("fields", []))
    return {releases_of(text)[0] for text in texts}


def numbers(message: Spec, release: Release) -> set[int]:
    """Return the numbers that identify *message* in *release*; none if it is not known there."""
    if "type" not in message or latest(message["versions"], release) == "none":
        return set()
    former = message.get("former_types", {}).items()
    return {message["type"]} | {int(number) for number, text in former if includes(text, release)}


def differences(key_message: Spec, value_message: Spec) -> Iterator[str]:
    """Yield the properties in which a key and its value differ: types, releases."""
    for name in ("type", "former_types"):
        if key_message.get(name) != value_message.get(name):
            yield "types"
    releases = beginnings(key_message) | beginnings(value_message)
    known = [
        {release for release in releases if latest(message["versions"], release) != "none"}
        for message in (key_message, value_message)
    ]
    if known[0] != known[1]:
        yield "releases"


def field_occurrences(field_spec: Spec, occurrences: Occurrences) -> Occurrences:
    """Return those *occurrences* of a structure in which it has the field *field_spec*."""
    versions = versions_of(field_spec.get("versions", "0+"))
    releases = field_spec.get("releases", "0.0+")
    return {
        (release, version)
        for release, version in occurrences
        if version in versions and includes(releases, release)
    }


def releases_of(text: str) -> tuple[Release, Release | None]:
    """Return the first and the last release of *text*, such as 3.3, 2.8-3.2 or 3.3+; None: no last."""
    match = RELEASES.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a range of releases such as 3.3, 2.8-3.2 or 3.3+")
    first, last, rest = match.groups()
    return release_of(first), None if rest else release_of(last or first)


def versions_of(text: str) -> range:
    """Return the versions of *text*, such as 0, 0-3, 1+ or none."""
    if text == "none":
        return range(0)
    match = VERSIONS.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a range of versions such as 0, 0-3 or 1+")
    first, last, rest = match.groups()
    return range(int(first), 0x8000 if rest else int(last or first) + 1)


def includes(text: str, release: Release) -> bool:
    """Return whether the range *text* includes *release*."""
    first, last = releases_of(text)
    return first <= release and (last is None or release <= last)


def latest(version_steps: dict[str, str], release: Release) -> str:
    """Return the last of *version_steps* that began no later than *release*; `none` if there is none."""
    begun = [text for since, text in version_steps.items() if release_of(since) <= release]
    return begun[-1] if begun else "none"


def release_of(text: str) -> Release:
    return tuple(map(int, text.split(".")))


def release_text(release: Release) -> str:
    return ".".join(map(str, release))


def occurrence_text(occurrence: tuple[Release, int]) -> str:
    release, version = occurrence
    return f"version {version} ({release_text(release)})"
