"""Tests of typed records: the values of a real registry equal what Confluent's client decodes."""

import json
import math
import shutil
import struct
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import magicbyte as mb
from magicbyte.decoding.protobuf import _library
from magicbyte.reading.typed_records import TopicRecords
from magicbyte.tables.json_values import json_values
from registry_data import APPLICATIONS, LOG_DIR, needs_applications, recorded

pytest.importorskip("google.protobuf", reason="the extra protobuf is not installed")


def expected_rows(topic: str) -> dict[tuple[int, int], dict[str, Any]]:
    lines = recorded("expected.ndjson").splitlines()
    rows = [json.loads(line) for line in lines]
    return {(row["partition"], row["offset"]): row for row in rows if row["topic"] == topic}


def is_same(value: Any, judge: Any) -> bool:
    """Return whether a typed value is the judge's; a union of several is a struct with one member set."""
    if isinstance(judge, dict) and len(judge) == 1 and next(iter(judge)).startswith("$"):
        ((kind, text),) = judge.items()
        if kind == "$float":
            return str(value) == text
        if kind == "$bytes":
            return value.hex() == text
        if kind in ("$datetime", "$date", "$time"):
            return value.isoformat() == text
        return str(value) == text
    if isinstance(value, dict) and not isinstance(judge, dict):
        branches = [one for one in value.values() if one is not None]
        return branches == ([] if judge is None else [judge])
    if isinstance(judge, dict):
        items = dict(value) if isinstance(value, list) else value
        return items.keys() == judge.keys() and all(is_same(items[k], judge[k]) for k in judge)
    if isinstance(judge, list):
        return len(value) == len(judge) and all(map(is_same, value, judge))
    if isinstance(judge, float) and not math.isnan(judge):
        return value == judge
    return value == judge and type(value) is type(judge)


def is_same_message(value: Any, judge: Any) -> bool:
    """Return whether a message, as JSON values, is the one that Protobuf's JSON *judge* has, without defaults."""
    if isinstance(value, dict) and isinstance(judge, dict):
        if judge.keys() - value.keys():
            return False
        return all(
            is_same_message(one, judge[name])
            if name in judge
            else one in (None, 0, "", [], False) or name == "method"
            for name, one in value.items()
        )
    if isinstance(value, list) and isinstance(judge, list):
        return len(value) == len(judge) and all(map(is_same_message, value, judge))
    if isinstance(value, int) and isinstance(judge, str):
        return str(value) == judge
    return value == judge


def typed(topic: str, **options: Any) -> tuple[list[dict[str, Any]], mb.Report]:
    rows = mb.open(LOG_DIR).typed_records(topic, **options)
    return rows.to_pylist(), rows.report


def test_all_versions_are_as_the_newest_by_the_rules_of_avro():
    rows, _ = typed("orders")
    judge = expected_rows("orders")
    assert len(rows) == len(judge) == 120
    for row in rows:
        expected = judge[row["partition"], row["offset"]]
        assert is_same(row["key"], expected["key"]["avro"])
        if expected["value_hex"] is None:
            assert row["value"] is None and row["value_error"] is None
        else:
            assert is_same(row["value"], expected["value"]["avro_as_v3"])
            assert row["value_schema_id"] == expected["value_schema_id"]
    assert {row["value_schema_version"] for row in rows} == {1, 2, 3, None}


@pytest.mark.parametrize("schema_id", [3, 5, 6])
def test_values_of_a_version_are_as_that_version_has_them(schema_id: int):
    rows, _ = typed("orders", reader_schema=schema_id)
    judge = expected_rows("orders")
    own = [row for row in rows if row["value_schema_id"] == schema_id]
    assert len(own) == 39
    for row in own:
        assert is_same(row["value"], judge[row["partition"], row["offset"]]["value"]["avro"])


@pytest.mark.parametrize("value_form", ["auto", "registry"])
def test_a_reader_schema_that_describes_no_record_is_named(value_form: str, tmp_path: Path):
    path = tmp_path / "other.avsc"
    path.write_text('{"type": "record", "name": "Other", "fields": []}')
    rows = mb.open(LOG_DIR).typed_records("orders", value=value_form, reader_schema=str(path))
    assert rows.to_table()["value"][0].as_py()["amount"] is not None
    messages = [
        finding.message for finding in rows.report.findings if finding.code == "values-decoded"
    ]
    (of_values,) = (message for message in messages if message.startswith("values"))
    assert of_values.endswith(
        f"; the reader schema {path} describes none of their records, so the columns are those of the newest schema"
    )


def test_a_reader_schema_that_describes_the_records_is_not_named():
    rows = mb.open(LOG_DIR).typed_records("orders", columns=["value"], reader_schema=3)
    rows.to_table()
    assert "describes none" not in str(rows.report.findings)


def test_types_of_columns_are_arrows_and_not_text():
    value = mb.open(LOG_DIR).typed_records("orders").schema.field("value").type
    types = {field.name: field.type for field in value}
    assert types["amount"] == pa.decimal128(12, 2)
    assert types["day"] == pa.date32()
    assert types["at"] == pa.timestamp("ms", "UTC")
    assert types["local"] == pa.timestamp("us")
    assert types["counts"].equals(pa.map_(pa.string(), pa.int32()))
    assert types["hash"] == pa.binary(4)


def test_json_of_a_registry_is_text_without_the_frame():
    rows, _ = typed("clicks")
    judge = expected_rows("clicks")
    for row in rows:
        expected = judge[row["partition"], row["offset"]]
        assert json.loads(row["value"]) == expected["value"]["json"]


def test_protobuf_messages_equal_the_judges_but_for_the_map_that_karapace_rewrote():
    typed_rows = mb.open(LOG_DIR).typed_records("payments")
    judge = expected_rows("payments")
    num_rows = 0
    for batch in typed_rows:
        values = json_values(batch.column("value"))
        for value, offset in zip(values, batch.column("offset").to_pylist(), strict=True):
            expected = judge[0, offset]
            name = expected["value_message"]
            assert [one for one, part in value.items() if part is not None] == [name]
            message = value[name]
            if name == "shop.Payment":
                # Karapace stored the map as a repeated message: docs/typed-values.md.
                message["labels"] = {one["key"]: one["value"] for one in message["labels"]}
            assert is_same_message(message, expected["value"]["protobuf"])
            num_rows += 1
    assert num_rows == len(judge) == 34


def test_records_of_several_types_and_look_alikes_are_told_apart():
    rows, report = typed("mixed", value="registry")
    judge = expected_rows("mixed")
    for row in rows:
        expected = judge[row["partition"], row["offset"]]
        decoded = (expected.get("value") or {}).get("avro")
        left_over = row["value_error"] == "left-over"
        if decoded is not None and not left_over:
            (record,) = [part for part in row["value"].values() if part is not None]
            assert is_same(record, decoded)
        elif (expected.get("value") or {}).get("protobuf"):
            assert row["value"]["shop.Payment"] is not None
        else:
            # The judge accepts bytes that are left over after a record.
            assert row["value"] is None
            assert row["value_bytes"] == (
                None if expected["value_hex"] is None else bytes.fromhex(expected["value_hex"])
            )
            assert (row["value_error"] is None) == (expected["value_hex"] is None)
    errors = [row["value_error"] for row in rows if row["value_error"]]
    assert sorted(errors) == [
        *("ends-early", "left-over", "left-over", "length"),
        *("no-frame",) * 5,
        "no-schema",
    ]
    messages = [one for one in report.findings if one.code == "value-not-decoded"]
    assert {one.found for one in messages} == set(errors)
    assert all(one.base_offset is not None for one in messages)


def test_values_of_other_schemas_decode_without_the_packages_of_protobuf(
    monkeypatch: pytest.MonkeyPatch,
):
    every_row, _ = typed("mixed", value="registry")

    def refuse(module: str) -> None:
        raise ModuleNotFoundError(f"No module named {module!r}")

    monkeypatch.setattr(_library, "import_module", refuse)
    rows, report = typed("mixed", value="registry")
    assert len(rows) == len(every_row)
    is_protobuf = [bool((row["value"] or {}).get("shop.Payment")) for row in every_row]
    assert any(is_protobuf) and not all(is_protobuf)
    for row, full_row, needs_package in zip(rows, every_row, is_protobuf, strict=True):
        if needs_package:
            assert (row["value"], row["value_error"]) == (None, "bad-schema")
            assert row["value_bytes"] is not None
        elif full_row["value"] is not None:
            members = {name: part for name, part in full_row["value"].items() if part is not None}
            assert row["value"].items() >= members.items()
    (unusable,) = {one.message for one in report.findings if one.code == "schema-unusable"}
    assert "pip install 'magicbyte[protobuf]'" in unusable and "shop.Payment" in unusable
    assert "mixed-None" not in {one.where for one in report.findings}
    (counted,) = (
        one
        for one in report.findings
        if one.code == "value-not-decoded" and one.found == "bad-schema"
    )
    assert counted.message.startswith(f"values not decoded: {sum(is_protobuf)} ")


def test_topic_of_protobuf_alone_keeps_its_bytes_without_the_packages(
    monkeypatch: pytest.MonkeyPatch,
):
    def refuse(module: str) -> None:
        raise ModuleNotFoundError(f"No module named {module!r}")

    monkeypatch.setattr(_library, "import_module", refuse)
    rows, report = typed("payments", value="registry")
    assert rows and {row["value_error"] for row in rows} == {"bad-schema"}
    assert all(row["value_bytes"] for row in rows)
    assert "schema-unusable" in {one.code for one in report.findings}
    rows, report = typed("payments", value="auto")
    assert all(isinstance(row["value"], bytes) for row in rows)
    assert "schema-unusable" in {one.code for one in report.findings}


def test_schema_that_was_deleted_for_good_still_decodes():
    rows, _ = typed("mixed", value="registry")
    assert rows[-1]["value"]["GoneHard"] == {"x": 5}


def test_ids_in_headers_and_guids_name_schemas_of_small_values_too():
    rows, _ = typed("in-headers")
    judge = expected_rows("in-headers")
    for row in rows:
        (record,) = [part for part in row["value"].values() if part is not None]
        expected = judge[row["partition"], row["offset"]]["value"]
        if "avro" in expected:
            assert is_same(record, expected["avro"])
        assert row["value_schema_id"] in (10, 11)
    # Confluent's client refuses values of fewer than six bytes before it looks at headers.
    assert rows[0]["value"]["ev.A"] == {"a": 0}


def test_numbers_that_look_framed_are_not_decoded_by_guess():
    rows, report = typed("numbers")
    judge = expected_rows("numbers")
    for row in rows:
        expected = judge[row["partition"], row["offset"]]
        assert row["value"] == bytes.fromhex(expected["value_hex"])
        assert row["value_schema_id"] is None
    assert [one.found for one in report.findings] == ["bytes", "bytes"]


def test_named_forms_decode_numbers_and_say_which_are_none():
    rows, report = typed("numbers", key="int32", value="int64")
    for number, row in enumerate(rows[:12]):
        assert (row["key"], row["value"]) == (number, number * number * 1000003)
    assert rows[14]["value"] is None and rows[14]["value_bytes"] == struct.pack(">h", -2)
    assert rows[14]["value_error"] == "wrong-size"
    assert "value-not-decoded" in {one.code for one in report.findings}


def test_named_columns_alone_are_returned_and_others_are_refused():
    rows = mb.open(LOG_DIR).typed_records("orders", columns=["offset", "value_schema_id"])
    assert rows.schema.names == ["offset", "value_schema_id"]
    assert rows.to_pylist()[0] == {"offset": 0, "value_schema_id": 3}
    with pytest.raises(mb.InputError, match="no column 'nope'"):
        mb.open(LOG_DIR).typed_records("orders", columns=["nope"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"value": "avr:x"}, "value 'avr:x'; expected one of auto"),
        ({"value": "avro:missing.avsc"}, "missing.avsc"),
        ({"reader_schema": 4711}, "no schema with id 4711"),
        ({"schemas": "missing"}, "missing"),
    ],
)
def test_wrong_argument_is_an_error_that_names_it(options: dict[str, Any], message: str):
    with pytest.raises(mb.InputError, match=message):
        mb.open(LOG_DIR).typed_records("orders", **options)
    with pytest.raises(mb.InputError, match="no topic 'absent'"):
        mb.open(LOG_DIR).typed_records("absent")


def test_without_schemas_the_frames_are_named_and_the_bytes_stay(tmp_path: Path):
    shutil.copytree(LOG_DIR / "payments-0", tmp_path / "payments-0")
    rows = mb.open(tmp_path).typed_records("payments")
    table = rows.to_pylist()
    assert isinstance(table[0]["value"], bytes)


@pytest.mark.parametrize("source", ["log.dir", "folder", "segment", "answers", "backup"])
def test_schemas_come_from_exports_and_other_log_dirs(tmp_path: Path, source: str):
    shutil.copytree(LOG_DIR / "orders-0", tmp_path / "orders-0")
    path = {
        "log.dir": LOG_DIR,
        "folder": LOG_DIR / "_schemas-0",
        "segment": LOG_DIR / "_schemas-0" / "00000000000000000000.log",
    }.get(source, tmp_path / source)
    if source == "answers":
        answers = json.loads(recorded("registry.json"))["versions"].values()
        path = path.with_suffix(".json")
        path.write_text(json.dumps([one for one in answers if "id" in one]))
    if source == "backup":
        lines = [b"/V2"]
        for row in mb.open(LOG_DIR, topics=["_schemas"]).records(["key", "value"]).to_pylist():
            lines.append(
                row["key"].hex().upper().encode() + b"\t" + row["value"].hex().upper().encode()
            )
        path.write_bytes(b"\n".join(lines) + b"\n")
    rows = mb.open(tmp_path).typed_records("orders", schemas=path).to_pylist()
    judge = expected_rows("orders")
    assert len(rows) == 60
    for row in rows:
        expected = judge[0, row["offset"]]
        if expected["value_hex"]:
            assert is_same(row["value"], expected["value"]["avro_as_v3"])


def test_avro_file_decodes_values_after_their_frames(tmp_path: Path):
    rows = mb.open(LOG_DIR).table("schemas").to_pylist()
    (schema,) = [row["schema"] for row in rows if row["subject"] == "orders-key"]
    (tmp_path / "key.avsc").write_text(schema)
    typed_rows, _ = typed("orders", key=f"avro:{tmp_path / 'key.avsc'}", value="bytes")
    assert typed_rows[0]["key"] == {"id": 9}
    assert typed_rows[0]["key_schema_id"] == 4


def written(
    folder: Path, topic: str, values: list[bytes | None], keys: list[bytes] | None = None
) -> None:
    names = pa.array([topic] * len(values))
    columns = {"topic": names, "partition": pa.array([0] * len(values), pa.int32())}
    columns["key"] = pa.array(keys or [None] * len(values), pa.binary())
    columns["value"] = pa.array(values, pa.binary())
    mb.write(pa.table(columns), folder)


def schema_values(*schemas: tuple[str, int, int, Any]) -> tuple[list[bytes | None], list[bytes]]:
    keys, values = [], []
    for subject, version, id_, content in schemas:
        key = {"keytype": "SCHEMA", "subject": subject, "version": version, "magic": 1}
        value = {"subject": subject, "version": version, "id": id_, "schema": json.dumps(content)}
        keys.append(json.dumps(key).encode())
        values.append(json.dumps(value | {"deleted": False}).encode())
    return values, keys


def record(kind: str, name: str = "R") -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": "v", "type": kind}]}


def framed(id_: int, body: bytes) -> bytes:
    return b"\0" + struct.pack(">i", id_) + body


def log_with(
    tmp_path: Path, schemas: list[tuple[str, int, int, Any]], values: list[bytes | None]
) -> mb.Dataset:
    written(tmp_path / "a", "t", values)
    contents, keys = schema_values(*schemas)
    written(tmp_path / "b", "_schemas", contents, keys)
    folder = tmp_path / "log"
    folder.mkdir()
    for part in (tmp_path / "a", tmp_path / "b"):
        for partition in part.iterdir():
            if partition.is_dir():
                shutil.copytree(partition, folder / partition.name)
    return mb.open(folder)


def test_version_that_the_newest_cannot_read_is_null_with_its_bytes(tmp_path: Path):
    dataset = log_with(
        tmp_path,
        [("t-value", 1, 1, record("int")), ("t-value", 2, 2, record("string"))],
        [framed(1, b"\x0a"), framed(2, b"\x02x"), framed(2, b"\x02y")],
    )
    rows = dataset.typed_records("t").to_pylist()
    assert [row["value"] for row in rows] == [None, {"v": "x"}, {"v": "y"}]
    assert rows[0]["value_error"] == "incompatible"
    assert rows[0]["value_bytes"] == framed(1, b"\x0a")
    assert rows[0]["value_schema_id"] == 1
    first = dataset.typed_records("t", reader_schema=1).to_pylist()
    assert [row["value"] for row in first] == [{"v": 5}, None, None]


def test_schema_that_is_damaged_is_a_finding_and_others_decode(tmp_path: Path):
    dataset = log_with(
        tmp_path,
        [("t-value", 1, 1, record("int")), ("t-value", 2, 2, {"type": "nonsense"})],
        [framed(1, b"\x0a"), framed(2, b"\x02x"), framed(1, b"\x0c")],
    )
    typed_rows = dataset.typed_records("t")
    rows = typed_rows.to_pylist()
    assert [row["value"] for row in rows] == [{"v": 5}, None, {"v": 6}]
    assert rows[1]["value_error"] == "bad-schema"
    assert "schema-unusable" in {one.code for one in typed_rows.report.findings}


def test_recursive_schema_gives_json_text(tmp_path: Path):
    tree = {"type": "record", "name": "T", "fields": [{"name": "n", "type": ["null", "T"]}]}
    dataset = log_with(tmp_path, [("t-value", 1, 1, tree)], [framed(1, b"\x02\x02\x00")])
    (row,) = dataset.typed_records("t").to_pylist()
    assert json.loads(row["value"])["n"] is not None


def rows_of(dataset: mb.Dataset) -> list[Any]:
    return [row["value"] for row in dataset.typed_records("t").to_pylist()]


def test_a_subject_of_the_topic_is_evidence_next_to_stray_records_and_tombstones(tmp_path: Path):
    stray = [b"text", None, framed(1, b"\x0a"), framed(99, b"\x0a"), b"\0"]
    for number, subject in enumerate(("t-value", "t-R", ":.ctx:t-value")):
        dataset = log_with(tmp_path / str(number), [(subject, 1, 1, record("int"))], stray)
        assert rows_of(dataset) == [None, None, {"v": 5}, None, None]


def test_subjects_that_only_begin_like_the_topic_are_no_evidence(tmp_path: Path):
    values = [framed(1, b"\x0a"), b"\xff\xfe"]
    for number, subject in enumerate(("t-x-value", "t-Other", "t-key", "tt-value")):
        dataset = log_with(tmp_path / str(number), [(subject, 1, 1, record("int"))], values)
        assert rows_of(dataset) == values


@pytest.mark.parametrize(
    ("num_stray", "num_framed", "is_decoded"),
    [(0, 1, True), (1, 18, False), (1, 19, True), (1, 60, True), (4, 60, False), (60, 60, False)],
)
def test_subject_of_a_record_is_evidence_if_all_but_a_few_values_decode(
    tmp_path: Path, num_stray: int, num_framed: int, is_decoded: bool
):
    values = [b"\xff\xfe"] * num_stray + [None] * 100 + [framed(1, b"\x0a")] * num_framed
    rows = rows_of(log_with(tmp_path, [("R", 1, 1, record("int"))], values))
    assert rows[-1] == ({"v": 5} if is_decoded else values[-1])


def test_form_that_was_not_recognized_says_what_would_decode(tmp_path: Path):
    values = [framed(1, b"\x0a"), framed(1, b"\x0a"), b"\xff\xfe"]
    rows = log_with(tmp_path, [("R", 1, 1, record("int"))], values).typed_records("t")
    rows.to_table()
    messages = [one.message for one in rows.report.findings]
    assert "2 of a sample of 3 decode" in messages[-1]
    assert "value=registry decodes them" in messages[-1]


def test_stray_record_of_another_type_is_no_renamed_version(tmp_path: Path):
    other = {"type": "record", "name": "Other", "fields": [{"name": "w", "type": "int"}]}
    newest = {
        "type": "record",
        "name": "R",
        "fields": [{"name": "v", "type": "int", "default": 0}],
    }
    schemas = [("t-value", 1, 1, newest), ("other-value", 1, 2, other)]
    values = [framed(1, b"\x0a")] * 600 + [framed(2, b"\x0a")]
    dataset = log_with(tmp_path, schemas, values)
    rows = dataset.typed_records("t").to_pylist()
    assert rows[0]["value"] == {"v": 5}
    assert (rows[-1]["value"], rows[-1]["value_error"]) == (None, "other-record")


def test_topic_of_one_type_by_its_own_subject_is_read_once(monkeypatch: pytest.MonkeyPatch):
    reads: list[str] = []
    batches = TopicRecords.batches

    def counted(self: TopicRecords, side: str) -> Any:
        reads.append(f"{self.topic} {side}")
        return batches(self, side)

    monkeypatch.setattr(TopicRecords, "batches", counted)
    dataset = mb.open(LOG_DIR)
    dataset.typed_records("orders")
    assert reads == []
    dataset.typed_records("mixed", value="registry", columns=["value"])
    assert reads == ["mixed value"]


def test_filter_on_decoded_and_other_columns_chooses_rows():
    dataset = mb.open(LOG_DIR)
    rows = dataset.typed_records("orders").to_pylist()
    offsets = [row["offset"] for row in rows if row["value"] and row["value"]["amount"] > 100]
    amount = pc.struct_field(pc.field("value"), "amount")
    chosen = dataset.typed_records("orders", columns=["offset"], filter=amount > Decimal(100))
    assert chosen.schema.names == ["offset"]
    assert [row["offset"] for row in chosen.to_pylist()] == offsets
    chosen = dataset.typed_records(
        "orders", filter=(pc.field("offset") < 3) & (amount > Decimal(100))
    )
    assert [row["offset"] for row in chosen.to_pylist()] == [one for one in offsets if one < 3]
    with pytest.raises(mb.InputError, match="the filter"):
        dataset.typed_records("orders", filter=pc.field("nope") > 1)


def test_filter_on_columns_that_are_not_decoded_applies_before_values_are_decoded():
    rows = mb.open(LOG_DIR).typed_records("orders", filter=pc.field("offset") == 5)
    assert [row["offset"] for row in rows.to_pylist()] == [5, 5]
    (keys, values) = [one for one in rows.report.findings if one.code == "values-decoded"]
    assert "keys decoded as registry: 2 of 2" in keys.message
    assert "values decoded as registry: 2 of 2" in values.message


def test_latest_records_and_other_dispositions_are_typed():
    dataset = mb.open(LOG_DIR)
    latest = dataset.typed_records("orders", latest=True, columns=["partition", "offset", "value"])
    expected = dataset.of_topics(["orders"]).latest(["partition", "offset"]).to_pylist()
    rows = latest.to_pylist()
    assert [(row["partition"], row["offset"]) for row in rows] == [
        (row["partition"], row["offset"]) for row in expected
    ]
    assert all(row["value"]["id"] for row in rows)
    some = dataset.typed_records("orders", latest=True, filter=pc.field("offset") < 50)
    offsets = [row["offset"] for row in some.to_pylist()]
    assert offsets == [row["offset"] for row in expected if row["offset"] < 50]
    assert dataset.typed_records("orders", dispositions=["aborted"]).to_pylist() == []
    with pytest.raises(mb.InputError, match="latest with dispositions"):
        dataset.typed_records("orders", latest=True, dispositions=["aborted"])
    with pytest.raises(mb.InputError, match="disposition 'none'"):
        dataset.typed_records("orders", dispositions=["none"])


def test_value_of_another_topics_schema_counts_only_if_all_values_decode(tmp_path: Path):
    schemas = [("other-value", 1, 1, record("int"))]
    plain = [framed(1, b"\x0a"), b"\xff\xfe", framed(1, b"\x0a\x0a")]
    rows = log_with(tmp_path / "1", schemas, plain).typed_records("t").to_pylist()
    assert [row["value"] for row in rows] == plain
    copied = [framed(1, b"\x0a")] * 3
    rows = log_with(tmp_path / "2", schemas, copied).typed_records("t").to_pylist()
    assert [row["value"] for row in rows] == [{"v": 5}] * 3


@needs_applications
def test_keys_of_windows_and_sessions_of_streams_are_decoded():
    dataset = mb.open(APPLICATIONS / "log-0")
    windows = dataset.typed_records("windowed-out", key="windowed:string").to_pylist()
    assert windows and all(row["key_error"] is None for row in windows)
    assert {row["key"]["window_start"].second % 10 for row in windows} == {0}
    store = dataset.typed_records("app-streams-windowed-changelog", key="window-store:string")
    assert all(row["key"]["sequence"] == 0 for row in store.to_pylist())
    sessions = dataset.typed_records("app-streams-sessions-changelog", key="session:string")
    for row in sessions.to_pylist():
        assert row["key"]["session_start"] <= row["key"]["session_end"]


@needs_applications
def test_every_topic_of_connect_and_streams_is_read_without_an_error():
    dataset = mb.open(APPLICATIONS / "log-0")
    for topic in {log.topic for log in dataset.logs if log.topic}:
        rows = dataset.typed_records(topic)
        num_rows = sum(batch.num_rows for batch in rows)
        assert num_rows == dataset.of_topics([topic]).records(["offset"]).to_table().num_rows


def test_sum_of_decoded_and_undecoded_values_is_reported_where_a_read_ends_early():
    report = mb.Report()
    batches = mb.open(LOG_DIR).typed_records("orders").read_into(report)
    next(batches)
    batches.close()
    assert [one.code for one in report.findings] == ["values-decoded", "values-decoded"]


def test_union_of_versions_keeps_a_field_that_the_newest_schema_dropped():
    newest = {
        field.name for field in mb.open(LOG_DIR).typed_records("orders").schema.field("value").type
    }
    rows = mb.open(LOG_DIR).typed_records("orders", reader_schema="union")
    union = rows.schema.field("value").type
    assert newest <= set(union.names)
    judge = expected_rows("orders")
    for row in rows.to_pylist():
        expected = judge[row["partition"], row["offset"]]
        if expected["value_hex"] is None:
            continue
        own = expected["value"]["avro"]
        renamed = {"buyer": own.get("buyer", own.get("customer"))}
        for name, value in (own | renamed).items():
            assert name == "customer" or row["value"][name] is None or name in union.names
            if name != "customer" and not isinstance(value, dict):
                assert is_same(row["value"][name], value), name


def test_union_of_versions_that_cannot_be_promoted_is_an_error(tmp_path: Path):
    schemas = [("t-value", 1, 1, record("int")), ("t-value", 2, 2, record("string"))]
    dataset = log_with(tmp_path, schemas, [framed(1, b"\x0a"), framed(2, b"\x02x")])
    with pytest.raises(mb.InputError, match=r"union of all versions of t-value: R\.v.*latest"):
        dataset.typed_records("t", reader_schema="union")
    with pytest.raises(mb.InputError, match="no schema with id 99"):
        dataset.typed_records("t", reader_schema=99)
    promoted = [("t-value", 1, 1, record("int")), ("t-value", 2, 2, record("long"))]
    dataset = log_with(tmp_path / "2", promoted, [framed(1, b"\x0a"), framed(2, b"\x0c")])
    rows = dataset.typed_records("t", reader_schema="union")
    assert rows.schema.field("value").type.field("v").type == pa.int64()
    assert [row["value"] for row in rows.to_pylist()] == [{"v": 5}, {"v": 6}]


def test_union_of_protobuf_versions_and_of_json_is_read():
    for topic in ("payments", "clicks"):
        rows = mb.open(LOG_DIR).typed_records(topic, reader_schema="union").to_pylist()
        assert [row["value_error"] for row in rows] == [None] * len(rows)
