"""Tests of the reference pages of Kafka's messages: they have every field and render well."""

import re
from collections.abc import Iterator

import pytest
from markdown_it import MarkdownIt

from magicbyte_tools.reference.library import Spec
from magicbyte_tools.reference.message_pages import (
    default_words,
    flexible_words,
    known_words,
    version_words,
)


def fields(those: list[Spec], depth: int = 0) -> Iterator[tuple[int, Spec]]:
    for one in those:
        yield depth, one
        yield from fields(one.get("fields", []), depth + 1)


def lists(message: Spec) -> Iterator[tuple[str, list[Spec]]]:
    """Yield the headings of *message* and of its structs, each with its fields."""
    yield f"## {message['name']}", message["fields"]
    for name, those in message.get("structs", {}).items():
        yield f"### {name} in {message['name']}", those


def missing(messages: dict[str, Spec], files: dict[str, str]) -> list[str]:
    """Return the messages and fields without a heading or row on the page of their file."""
    found = []
    for file, spec in messages.items():
        page = files[f"messages/{file}.md"]
        for message in spec["messages"]:
            for heading, those in lists(message):
                if f"\n{heading}\n" not in page:
                    found.append(heading)
                    continue
                section = re.split(r"^#+ ", page.split(f"\n{heading}\n")[1], flags=re.MULTILINE)[0]
                rows = re.findall(
                    r'^\| ([· ]*)<a id="[^"]+"></a>\[`(\w+)`\]\(#[^)]+\) \| \[?`(\S+?)`',
                    section,
                    re.MULTILINE,
                )
                shown = [(dots.count("·"), name, kind) for dots, name, kind in rows]
                for number, (depth, one) in enumerate(fields(those)):
                    if shown[number : number + 1] != [(depth, one["name"], one["type"])]:
                        found.append(f"{heading}: {one['name']}")
                        break
    return found


def test_every_message_and_field_stands_on_its_page_in_order(
    messages: dict[str, Spec], files: dict[str, str]
) -> None:
    assert missing(messages, files) == []


def test_field_missing_from_its_page_is_reported(
    messages: dict[str, Spec], files: dict[str, str]
) -> None:
    name = "messages/consumer_offsets.md"
    page = files[name].replace("## GroupMetadataKey\n", "## Group\n")
    page = page.replace("#OffsetCommitValue.leaderEpoch) | `int32`", "#none) | `int16`")
    page = re.sub(r"\| · (?=<a id=\S+\[`TopicId`)", "| ", page, count=1)
    assert missing(messages, {**files, name: page}) == [
        "## OffsetCommitValue: leaderEpoch",
        "## GroupMetadataKey",
        "## ConsumerGroupPartitionMetadataValue: TopicId",
    ]


def test_names_with_underscores_are_not_taken_for_emphasis(files: dict[str, str]) -> None:
    parser = MarkdownIt("commonmark").enable("table")
    for name, text in files.items():
        if name.startswith("messages/"):
            shown = parser.render(text)
            assert "<em>" not in shown and "<strong>" not in shown, name
            assert shown.count("<table>") > 1, name


def test_all_pages_are_in_the_index(messages: dict[str, Spec], files: dict[str, str]) -> None:
    for file, spec in messages.items():
        assert f"| [{file}](messages/{file}.md) | {spec['title']} |" in files["README.md"]


def test_names_of_messages_and_formats_are_links(files: dict[str, str]) -> None:
    page = files["messages/cluster_metadata.md"]
    assert "as [`kafka_metadata_record`](../kafka_metadata_record.md) describes" in page
    assert "Changes come as [PartitionChangeRecord](#partitionchangerecord)." in page
    assert (
        "[TopicRecord](cluster_metadata.md#topicrecord)" in files["messages/share_group_state.md"]
    )


def test_versions_and_releases_in_words() -> None:
    assert version_words({"2.8": "0"}) == "version 0 since 2.8"
    both = {"2.8": "0-1", "3.4": "0-3", "4.0": "none"}
    assert version_words(both) == "versions 0 to 1 since 2.8, 0 to 3 since 3.4, not known since 4.0"
    assert known_words({"versions": both}) == "2.8 to before 4.0"
    assert flexible_words("none") == "not flexible"
    assert flexible_words("2+") == "flexible from version 2 on"
    assert flexible_words({"2.8": "none", "3.0": "0+"}) == "flexible since 3.0"


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ({"type": "int8", "default": -1}, "-1"),
        ({"type": "string", "default": None}, "null"),
        ({"type": "bool", "default": True}, "true"),
        ({"type": "bool"}, "false"),
        ({"type": "int64"}, "0"),
        ({"type": "uuid"}, "zeros"),
        ({"type": "[]uuid"}, "empty"),
        ({"type": "string"}, "empty"),
        ({"type": "Host"}, "its defaults"),
    ],
)
def test_omitted_field_is_described(field: Spec, words: str) -> None:
    assert default_words(field) == words
