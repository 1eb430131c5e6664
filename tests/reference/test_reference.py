"""Tests of docs/formats: pages are up to date, have all fields, and their links work."""

import posixpath
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from magicbyte_tools.reference.__main__ import check, differing, write
from magicbyte_tools.reference.anchors import slug
from magicbyte_tools.reference.html import html
from magicbyte_tools.reference.library import Library, Spec
from magicbyte_tools.reference.prose import HEADINGS, HERE, prose
from paths import CHECKOUT

FORMATS = CHECKOUT / "docs" / "formats"
SVG = "{http://www.w3.org/2000/svg}"


def test_docs_formats_is_what_the_specification_says(files: dict[str, str]) -> None:
    assert check(files) == 0, "run `make docs`"


def test_outdated_missing_or_stale_page_is_named_with_the_command_that_fixes_it(
    files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(files, tmp_path)
    assert check(files, tmp_path) == 0
    capsys.readouterr()
    (tmp_path / "README.md").write_text("old")
    (tmp_path / "kafka_record.md").unlink()
    (tmp_path / "messages" / "stale.md").write_text("")
    (tmp_path / "pictures" / "stale.svg").write_text("")

    assert check(files, tmp_path) == 1
    said = capsys.readouterr().out
    assert "run `make docs`" in said
    names = [path.relative_to(tmp_path).as_posix() for path in differing(files, tmp_path)]
    assert names == ["README.md", "kafka_record.md", "messages/stale.md", "pictures/stale.svg"]
    assert all(name in said for name in names)

    write(files, tmp_path)
    assert differing(files, tmp_path) == []


def test_every_file_says_first_where_it_comes_from(files: dict[str, str]) -> None:
    first = {text.split("\n")[0] for text in files.values()}
    assert first == {"<!-- Generated from spec/ by `make docs`. Do not edit. -->"}


def names(structure: Spec) -> Iterator[str]:
    """Yield the names of all fields, parameters, instances and enum members of a structure."""
    for section in ("params", "seq"):
        yield from (one["id"] for one in structure.get(section, []))
    yield from structure.get("instances", {})
    for members in structure.get("enums", {}).values():
        yield from (one["id"] for one in members.values())
    for inner in structure.get("types", {}).values():
        yield from names(inner)


def kafka_names(structure: Spec) -> Iterator[str]:
    yield from (one["-orig-id"] for one in structure.get("seq", []) if "-orig-id" in one)
    for inner in structure.get("types", {}).values():
        yield from kafka_names(inner)


def missing(library: Library, files: dict[str, str]) -> list[str]:
    """Return the fields, and Kafka's names of fields, without a row on the page of their format."""
    found = []
    for name, structure in library.formats.items():
        rows = [line for line in files[f"{name}.md"].splitlines() if line.startswith("| ")]
        first = {word for line in rows for cell in line.split(" | ")[:3] for word in words(cell)}
        found += [f"{name}: {one}" for one in names(structure.spec) if one not in first]
        found += [f"{name}: {one}" for one in kafka_names(structure.spec) if one not in first]
    return found


def words(cell: str) -> list[str]:
    return re.findall(r"[`*]([\w]+)[`*]", cell)


def test_every_field_has_a_row_on_its_page(library: Library, files: dict[str, str]) -> None:
    assert missing(library, files) == []


def test_a_field_without_a_row_is_missed(library: Library, files: dict[str, str]) -> None:
    page = files["kafka_message.md"].replace("`len_key`", "`a_length`").replace("keySize", "size")
    found = missing(library, {**files, "kafka_message.md": page})
    assert found == ["kafka_message: len_key", "kafka_message: keySize"]


def field_anchors(text: str) -> list[str]:
    return re.findall(r'<a id="([^"]+)">', text)


def dangling_links(files: dict[str, str]) -> list[str]:
    """Return the links to pages, headings and files of the project that do not exist."""
    anchors = {
        name: {
            *(slug(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)),
            *field_anchors(text),
        }
        for name, text in files.items()
        if name.endswith(".md")
    }
    found = []
    for name in anchors:
        folder = posixpath.dirname(name)
        for target in re.findall(r"\]\(([^)]+)\)", files[name]):
            page, _, heading = target.partition("#")
            if target.startswith("https://"):
                continue
            page = posixpath.normpath(posixpath.join(folder, page)) if page else name
            leads = (FORMATS / page).exists() if page.startswith("../") else page in files
            if not leads or (heading and heading not in anchors[page]):
                found.append(f"{name}: {target}")
    return found


def test_links_lead_somewhere(files: dict[str, str]) -> None:
    assert dangling_links(files) == []


@pytest.mark.parametrize("name", ["kafka_log.md", "messages/consumer_offsets.md"])
@pytest.mark.parametrize("target", ["kafka_none.md", "#none", "../../spec/none.ksy", "x/y.svg"])
def test_a_link_that_leads_nowhere_is_found(target: str, name: str, files: dict[str, str]) -> None:
    page = files[name] + f"[here]({target})"
    assert dangling_links({**files, name: page}) == [f"{name}: {target}"]


def test_anchors_are_those_of_code_hosts() -> None:
    assert slug("Often said, and wrong") == "often-said-and-wrong"
    assert slug("Values of `timestamp_types`") == "values-of-timestamp_types"


def test_no_two_headings_of_a_page_have_one_anchor(files: dict[str, str]) -> None:
    for name, text in files.items():
        if name.endswith(".md"):
            found = [slug(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)]
            assert len(found) == len(set(found)), name


def test_every_field_has_an_anchor_of_its_own(files: dict[str, str]) -> None:
    for name, text in files.items():
        if name.endswith(".md"):
            found = field_anchors(text)
            assert len(found) == len(set(found)), name
    assert "record_body.key" in field_anchors(files["kafka_record.md"])
    assert "kafka_record_batch.crc" in field_anchors(files["kafka_record_batch.md"])
    page = files["messages/client_requests.md"]
    nested = "FetchResponse.responses.partitions.records"
    assert {nested, "MetadataResponse.topics.name-12+"} <= {*field_anchors(page)}


def test_every_picture_is_xml_within_its_bounds_that_says_what_it_shows(
    files: dict[str, str],
) -> None:
    pictures = {name: text for name, text in files.items() if name.endswith(".svg")}
    assert len(pictures) > len(files) / 2
    for name, text in pictures.items():
        root = ElementTree.fromstring(text)
        assert root.findtext(f"{SVG}title"), name
        assert root.findtext(f"{SVG}desc"), name
        assert not [key for one in root.iter() for key in one.attrib if "href" in key], name
        assert "url(" not in text and "@import" not in text, name
        width, height = map(float, root.get("viewBox", "").split()[2:])
        for box in root.iter(f"{SVG}rect"):
            right = float(box.get("x", "0")) + float(box.get("width", ""))
            lower = float(box.get("y", "0")) + float(box.get("height", ""))
            assert right <= width and lower <= height, name


def test_every_picture_is_on_a_page(files: dict[str, str]) -> None:
    pages = "".join(text for name, text in files.items() if name.endswith(".md"))
    assert [name for name in files if name.endswith(".svg") and f"({name})" not in pages] == []


class ExternalResources(HTMLParser):
    """Collects an HTML page's external resources, element ids, and link targets."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.targets: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "link", "img", "iframe", "object", "base"):
            self.fetched.append(tag)
        for key, value in attrs:
            if key == "id":
                self.ids.add(value or "")
            elif key == "href" and tag == "a":
                self.targets.append(value or "")
            elif key in ("src", "srcset", "href", "xlink:href", "data", "action"):
                self.fetched.append(f"{tag} {key}={value}")


def external_resources(page: str) -> ExternalResources:
    found = ExternalResources()
    found.feed(page)
    found.fetched += re.findall(r"url\(|@import", page)
    return found


def test_the_page_for_browsers_fetches_nothing_and_its_links_lead_somewhere(
    files: dict[str, str],
) -> None:
    found = external_resources(html(files))
    assert found.fetched == []
    within = [target[1:] for target in found.targets if target.startswith("#")]
    assert len(within) > 100
    assert [target for target in within if target not in found.ids] == []
    others = [target for target in found.targets if not target.startswith("#")]
    assert [target for target in others if not target.startswith("https://")] == []


def test_pages_in_a_folder_are_linked_from_and_to_others() -> None:
    links = "[up](../one.md#part) [beside](three.md) [here](#part) [no page](../../spec/one.ksy)"
    pages = {
        "one.md": "# One\n\n## Part\n\n[down](folder/two.md#part)\n",
        "folder/two.md": f"# Two\n\n## Part\n\n{links}\n",
        "folder/three.md": "# Three\n",
    }
    found = external_resources(html(pages))
    assert found.targets[len(pages) :] == [
        "#folder/two--part",
        "#one--part",
        "#folder/three",
        "#folder/two--part",
    ]
    assert {*found.targets} <= {f"#{one}" for one in found.ids}


def test_external_resources_of_a_page_are_found() -> None:
    found = external_resources(
        '<img src="https://example.org/a.png"><style>@import "a.css"</style>'
    )
    assert found.fetched == ["img", "img src=https://example.org/a.png", "@import"]


def test_numbers_in_the_index_are_those_of_the_specification(
    library: Library, files: dict[str, str]
) -> None:
    constants = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", files["README.md"], re.MULTILINE))

    def size(name: str, *path: str) -> int | None:
        (found,) = (one for one in library.structures(name) if one.type_path == path)
        return library.fixed(found)

    batch = library.formats["kafka_record_batch"]
    sizes = [library.size(one, batch) for one in batch.fields if "if" not in one]
    assert f"{sum(one or 0 for one in sizes)} bytes" == constants["header of a batch"] == "61 bytes"
    length = next(one for one in batch.fields if one["id"] == "len_batch")
    assert constants["smallest `len_batch`"] == str(length["valid"]["min"])
    for name, path, row in (
        ("kafka_offset_index", "entry", "entry of an offset index"),
        ("kafka_time_index", "entry", "entry of a time index"),
        ("kafka_transaction_index", "aborted_transaction", "entry of a transaction index"),
        ("kafka_producer_snapshot", "producer", "entry of a producer snapshot"),
    ):
        assert constants[row] == f"{size(name, path)} bytes"


def test_prose_is_about_formats_that_exist(library: Library) -> None:
    assert {path.stem for path in HERE.glob("*.md")} - {"README"} <= library.formats.keys()


@pytest.mark.parametrize("text", ["## Elsewhere\n\nText.\n", "Text before.\n## Where it lies\n"])
def test_prose_that_no_page_would_show_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "kafka_log.md").write_text(text)
    with pytest.raises(ValueError, match=r"kafka_log\.md"):
        prose("kafka_log", tmp_path)


def test_all_prose_is_on_its_page(files: dict[str, str]) -> None:
    for path in HERE.glob("kafka_*.md"):
        page = files[path.name]
        for heading in HEADINGS:
            assert prose(path.stem).section(heading) in page


def test_nested_type_links_the_class_and_the_proposal_that_define_it(files: dict[str, str]) -> None:
    section = files["kafka_record.md"].partition("### `header`")[2].partition("\n|")[0]
    assert (
        "Source: [Kafka's documentation](https://kafka.apache.org/documentation/#recordheader) · [KIP-82]"
        in section
    )
    section = files["kafka_record.md"].partition("### `record_body`")[2].partition("\n|")[0]
    assert (
        "Source: [Kafka's `DefaultRecord.java`](https://github.com/apache/kafka/blob/3.8.0/"
        in section
    )
