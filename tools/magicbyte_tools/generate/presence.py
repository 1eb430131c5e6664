"""In which versions and releases of Kafka a message and its fields are, worked out by trying.

All versions of a message in all releases in which anything of it begins: versions and releases are
ranges, so that two which overlap do so in one of these.
"""

from collections.abc import Iterator

from magicbyte_tools.generate.source import Spec

Release = tuple[int, ...]
Known = dict[Release, range]
"""The versions of a message, by release."""
Places = set[tuple[Release, int]]
"""Releases, and in each of them versions, in which something is there."""


def known_versions(message: Spec) -> Known:
    """Return which versions of *message* are known in the releases in which anything begins."""
    steps: dict[str, str] = message["versions"]
    return {one: versions_of(latest(steps, one)) for one in sorted(beginnings(message))}


def beginnings(message: Spec) -> set[Release]:
    """Return the releases in which anything of *message* begins or changes."""
    texts = [*message["versions"], *message.get("former_types", {}).values()]
    if isinstance(message.get("flexible"), dict):
        texts += message["flexible"]
    waiting = [message["fields"], *message.get("structs", {}).values()]
    while waiting:
        for field in waiting.pop():
            texts += [field["releases"]] if "releases" in field else []
            waiting.append(field.get("fields", []))
    return {releases_of(text)[0] for text in texts}


def numbers(message: Spec, release: Release) -> set[int]:
    """Return the numbers that say in *release* that it is *message*; none where it is not known."""
    if "type" not in message or latest(message["versions"], release) == "none":
        return set()
    former = message.get("former_types", {}).items()
    return {message["type"]} | {int(one) for one, text in former if holds(text, release)}


def differences(key: Spec, value: Spec) -> Iterator[str]:
    """Yield what of a key and its value is not the same."""
    for name in ("type", "former_types"):
        if key.get(name) != value.get(name):
            yield "types"
    releases = beginnings(key) | beginnings(value)
    known = [
        {one for one in releases if latest(each["versions"], one) != "none"}
        for each in (key, value)
    ]
    if known[0] != known[1]:
        yield "releases"


def there(field: Spec, places: Places) -> Places:
    """Return at which of *places* a structure has *field*."""
    versions = versions_of(field.get("versions", "0+"))
    releases = field.get("releases", "0.0+")
    return {place for place in places if place[1] in versions and holds(releases, place[0])}


def releases_of(text: str) -> tuple[Release, Release | None]:
    """Return the first and the last of *text*, such as 3.3, 2.8-3.2 or 3.3+; None: no last."""
    first, _, last = text.rstrip("+").partition("-")
    if text.endswith("+"):
        return release_of(first), None
    return release_of(first), release_of(last or first)


def versions_of(text: str) -> range:
    """Return the versions of *text*, such as 0, 0-3, 1+ or none."""
    if text == "none":
        return range(0)
    first, _, last = text.rstrip("+").partition("-")
    return range(int(first), 0x8000 if text.endswith("+") else int(last or first) + 1)


def holds(text: str, release: Release) -> bool:
    first, last = releases_of(text)
    return first <= release and (last is None or release <= last)


def latest(steps: dict[str, str], release: Release) -> str:
    """Return what *steps* say from *release* on."""
    found = [text for since, text in steps.items() if release_of(since) <= release]
    return found[-1] if found else "none"


def release_of(text: str) -> Release:
    return tuple(map(int, text.split(".")))


def release_text(release: Release) -> str:
    return ".".join(map(str, release))


def place_text(place: tuple[Release, int]) -> str:
    return f"version {place[1]} ({release_text(place[0])})"
