"""Tests of the sources of schemas: exports of registries, backups, and what none of them is."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
from magicbyte.decoding.schema_decoders import SchemaDecoders
from magicbyte.decoding.schema_frames import FrameKind
from magicbyte.decoding.schema_lookup import SchemaLookup
from magicbyte.reading._schema_sources import load_schemas
from registry_data import LOG_DIR, schema_record
from registry_exports import (
    GLOBAL_IDS_FROM,
    apicurio_files,
    write_apicurio_folder,
    write_apicurio_zip,
    write_backup_v1,
    write_backup_v2,
    write_backup_v3,
)

INT = '"int"'


def record_pairs() -> list[tuple[bytes | None, bytes | None]]:
    rows = mb.open(LOG_DIR, topics=["_schemas"]).records(["key", "value"]).to_pylist()
    return [(row["key"], row["value"]) for row in rows]


def answers() -> list[dict[str, Any]]:
    """Return the schemas of a real registry as `GET /schemas` has them."""
    rows = mb.open(LOG_DIR).table("schemas").to_pylist()
    return [
        {name: row[name] for name in ("subject", "version", "id", "schema", "references")}
        | {"schemaType": row["schema_type"]}
        for row in rows
    ]


WRITERS: dict[str, Any] = {
    "v1": lambda folder: write_backup_v1(folder / "backup.log", record_pairs()),
    "v2": lambda folder: write_backup_v2(folder / "backup.log", record_pairs()),
    "v3": lambda folder: write_backup_v3(folder / "backup", record_pairs()),
    "data file of v3": lambda folder: write_backup_v3(folder / "backup", record_pairs()).with_name(
        "_schemas:0.data"
    ),
    "folder of v3": lambda folder: write_backup_v3(folder / "backup", record_pairs()).parent,
}


@pytest.mark.parametrize("form", WRITERS)
def test_backup_of_karapace_has_the_schemas_of_the_topic(tmp_path: Path, form: str) -> None:
    wanted = load_schemas(LOG_DIR / "_schemas-0")
    found = load_schemas(WRITERS[form](tmp_path))
    facts = [
        (one.id, one.subjects, one.version, one.text, one.imports, one.is_gone) for one in found
    ]
    assert facts == [
        (one.id, one.subjects, one.version, one.text, one.imports, one.is_gone) for one in wanted
    ]


@pytest.mark.parametrize("write", [write_apicurio_zip, write_apicurio_folder])
def test_export_of_apicurio_has_schemas_with_their_references(tmp_path: Path, write: Any) -> None:
    found = {
        (one.subjects[0], one.version): one
        for one in load_schemas(write(tmp_path / "x", answers()))
    }
    assert len(found) == len(answers())
    assert any(one.imports for one in found.values())
    for wanted in answers():
        one = found[wanted["subject"], wanted["version"]]
        assert (one.id, one.text) == (wanted["id"], wanted["schema"])
        assert not one.missing_imports
        assert one.global_id is not None and one.global_id >= GLOBAL_IDS_FROM
        assert {name["name"] for name in wanted["references"]} <= dict(one.imports).keys()


def lookup(*schema_answers: dict[str, Any], tmp_path: Path, topic: str = "t") -> SchemaLookup:
    texts = load_schemas(write_apicurio_zip(tmp_path / "x.zip", schema_answers))
    return SchemaLookup(texts, topic, "value", SchemaDecoders())


def answer(subject: str, version: int, id_: int, text: str = INT) -> dict[str, Any]:
    return schema_record(subject, version, id_, text)[1]


def test_ids_of_apicurio_are_content_ids_or_global_ids(tmp_path: Path) -> None:
    # Content id 1000 and global id 1000 are of different schemas.
    found = lookup(
        answer("a", 1, 7, '"int"'), answer("b", 1, GLOBAL_IDS_FROM, '"long"'), tmp_path=tmp_path
    )

    def text(kind: FrameKind, id_: int) -> str | None:
        schema_text = found.schema_of(kind, id_, None)
        return None if schema_text is None else schema_text.text

    assert text(FrameKind.APICURIO_GLOBAL_ID, GLOBAL_IDS_FROM) == '"int"'
    assert text(FrameKind.APICURIO_CONTENT_ID, GLOBAL_IDS_FROM) == '"long"'
    assert text(FrameKind.CONFLUENT, GLOBAL_IDS_FROM) == '"long"'
    assert text(FrameKind.APICURIO_8_BYTES, GLOBAL_IDS_FROM) == '"int"'
    assert text(FrameKind.CONFLUENT, GLOBAL_IDS_FROM + 1) == '"long"'
    assert text(FrameKind.APICURIO_GLOBAL_ID, 7) is None
    assert text(FrameKind.APICURIO_CONTENT_ID, 8) is None


def test_id_that_is_both_is_the_one_of_the_topic(tmp_path: Path) -> None:
    schemas = answer("t-value", 1, 7, '"int"'), answer("b", 1, GLOBAL_IDS_FROM, '"long"')
    found = lookup(*schemas, tmp_path=tmp_path).schema_of(
        FrameKind.CONFLUENT, GLOBAL_IDS_FROM, None
    )
    assert found is not None and found.text == '"int"'


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([None, None, "a", "1"], '"int"'),
        ([None, "default", "a", "2"], '"long"'),
        ([None, None, "a", None], '"long"'),
        ([None, "other", "a", None], None),
        ([None, None, "a", "3"], None),
        (["0" * 64, None, "a", "1"], '"int"'),
        (["HASH", None, None, None], '"long"'),
    ],
)
def test_artifact_is_found_by_its_hash_or_its_version(
    tmp_path: Path, names: list[str | None], text: str | None
) -> None:
    schemas = answer("a", 1, 1, '"int"'), answer("a", 2, 2, '"long"')
    (hash_of_long,) = [
        name.removesuffix(".Content.data").removeprefix("content/")
        for name, content in apicurio_files(schemas).items()
        if content == b'"long"'
    ]
    token = json.dumps([hash_of_long if one == "HASH" else one for one in names])
    found = lookup(*schemas, tmp_path=tmp_path).schema_of(FrameKind.APICURIO_ARTIFACT, -1, token)
    assert (None if found is None else found.text) == text


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.json", b"{}", "no schemas"),
        ("a.json", b"[]", "no schemas"),
        ("a.json", b'[["key"]]', "item 0"),
        ("a.log", b"/V2\nzz\tnull\n", "line 2"),
        ("a.log", b"/V2\n", "no schemas"),
        ("_schemas.metadata", b"/V3\n\0\0\0\0", "no data file"),
        ("a.data", b"\0\0\0\x09abc", "inside of the record at byte 0"),
        ("a.data", b"\0\0\0\x01\x02", "record 0 at byte 0"),
        ("a.data", b"\0\0", "inside of the record at byte 0"),
    ],
)
def test_file_that_is_no_source_is_refused(
    tmp_path: Path, name: str, content: bytes, problem: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(mb.InputError, match=problem):
        load_schemas(tmp_path / name)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"content/1.Content.json": b"{"}, r"1\.Content\.json"),
        ({"content/1.Content.json": b"[]"}, "list; expected an object"),
        ({"content/1.Content.json": b'{"contentId": "x"}'}, "contentId"),
        ({"content/1.Content.json": b""}, r"1\.Content\.json"),
        ({}, "no versions"),
    ],
)
def test_export_that_is_none_is_refused(
    tmp_path: Path, changes: dict[str, bytes], problem: str
) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("content/1.Content.data", INT)
        for name, content in changes.items():
            archive.writestr(name, content)
    with pytest.raises(mb.InputError, match=problem):
        load_schemas(tmp_path / "x.zip")


def test_damaged_member_of_an_export_is_an_error_and_large_ones_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_apicurio_zip(tmp_path / "x.zip", [answer("a", 1, 1, '"int"' + " " * 3000)])
    data = bytearray(path.read_bytes())
    data[data.index(b".Content.data") + 13] ^= 255
    (tmp_path / "damaged.zip").write_bytes(data)
    with pytest.raises(mb.InputError):
        load_schemas(tmp_path / "damaged.zip")
    monkeypatch.setattr("magicbyte.reading._apicurio_export.MAX_EXPORT_BYTES", 3000)
    with pytest.raises(mb.InputError, match="at most 3,000 bytes"):
        load_schemas(path)


def test_references_in_a_circle_end(tmp_path: Path) -> None:
    one, other = answer("a", 1, 1), answer("b", 1, 2, '"long"')
    one["references"] = [{"name": "B", "subject": "b", "version": 1}]
    other["references"] = [{"name": "A", "subject": "a", "version": 1}]
    found = load_schemas(write_apicurio_zip(tmp_path / "x.zip", [one, other]))
    assert [len(each.imports) for each in found] == [2, 2]
