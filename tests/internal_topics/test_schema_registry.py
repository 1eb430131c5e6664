"""Tests of the fold of a schema registry's topic.

Records of Karapace are real. The others are made by hand in the form that Confluent documents and that the
sources of its registry show: no registry of Confluent was run.
"""

import hashlib
import json
import uuid

import pytest

import magicbyte as mb
from magicbyte.internal_topics.schema_registry import in_context, split_subject
from registry_data import LOG_DIR, REGISTRY, as_json, recorded, registry_of, schema_record

pytestmark = pytest.mark.filterwarnings("error")


def states(registry):
    return [
        (one.subject, one.version, one.id, one.is_deleted, one.is_gone)
        for one in registry.all_versions
    ]


def test_versions_and_ids_equal_the_answers_of_a_real_registry():
    rows = mb.open(LOG_DIR).table("schemas").to_pylist()
    answers = json.loads(recorded("registry.json"))
    present = {f"{row['subject']}/{row['version']}": row for row in rows if not row["is_gone"]}
    # The registry was not asked about the subject whose name has a slash.
    assert present.keys() - answers["versions"].keys() == {"common/money.proto/1"}
    assert present.keys() >= answers["versions"].keys()
    for name, answer in answers["versions"].items():
        if "id" in answer:  # Karapace refuses to show a version that is deleted softly
            row = present[name]
            assert (row["id"], row["schema"]) == (answer["id"], answer["schema"])
            assert row["schema_type"] == answer.get("schemaType", "AVRO")
            assert row["references"] == answer.get("references", [])
    live = {row["subject"] for row in rows if not row["is_gone"] and not row["deleted"]}
    assert live == set(answers["live"])


def test_schema_that_was_deleted_for_good_is_still_a_row():
    rows = mb.open(LOG_DIR).table("schemas").to_pylist()
    assert [row["subject"] for row in rows if row["is_gone"]] == ["GoneHard"]


def test_guids_equal_those_of_confluents_client():
    rows = mb.open(LOG_DIR).table("schemas").to_pylist()
    expected = json.loads((REGISTRY / "guids.json").read_text())
    ids = {row["guid"]: row["id"] for row in rows}
    assert expected.items() <= ids.items()


def test_settings_that_were_deleted_by_an_empty_value_are_no_rows():
    rows = mb.open(LOG_DIR).table("schema_configs").to_pylist()
    levels = {row["subject"]: row["compatibility_level"] for row in rows}
    assert levels == {None: "BACKWARD", "orders-value": "NONE"}


def test_tables_are_as_of_the_end_of_the_range():
    rows = mb.open(LOG_DIR, offsets=(None, 16)).table("schemas").to_pylist()
    assert "GoneHard" not in {row["subject"] for row in rows}


def test_first_text_of_an_id_stays_and_the_second_is_a_finding():
    registry = registry_of(schema_record("a", 1, 7, '"int"'), schema_record("b", 1, 7, '"long"'))
    assert states(registry) == [("a", 1, 7, False, False)]
    assert [finding.code for finding in registry.findings] == ["schema-id-conflict"]
    assert registry.findings[0].base_offset == 1


def test_id_may_have_several_subjects_with_the_same_text():
    registry = registry_of(schema_record("a", 1, 7), schema_record("b", 4, 7))
    assert [one.subject for one in registry.versions_with_id(7)] == ["a", "b"]
    assert not registry.findings


@pytest.mark.parametrize("tombstone", [None, b""])
def test_null_and_empty_value_delete_a_version_for_good(tombstone):
    registry = registry_of(schema_record("a", 1, 7))
    registry.apply(as_json(schema_record("a", 1, 7)[0]), tombstone, offset=1)
    assert states(registry) == [("a", 1, 7, False, True)]
    by_id = registry.by_id(7)
    assert by_id is not None and by_id.text == '"int"'


def test_version_that_is_registered_again_after_its_deletion_is_a_second_row():
    record = schema_record("a", 1, 7)
    registry = registry_of(record, (record[0], None), schema_record("a", 1, 9, '"long"'))
    assert states(registry) == [("a", 1, 7, False, True), ("a", 1, 9, False, False)]


def test_deletion_of_a_subject_deletes_its_versions_up_to_a_number_softly():
    delete = {"keytype": "DELETE_SUBJECT", "subject": "a", "magic": 0}
    registry = registry_of(
        schema_record("a", 1, 1),
        schema_record("a", 2, 2),
        schema_record("b", 1, 1),
        (delete, {"subject": "a", "version": 1}),
    )
    assert [one.is_deleted for one in registry.all_versions] == [True, False, False]


def test_clearing_a_subject_removes_the_versions_that_are_deleted_softly():
    clear = {"keytype": "CLEAR_SUBJECT", "subject": "a", "magic": 0}
    registry = registry_of(
        schema_record("a", 1, 1, deleted=True),
        schema_record("a", 2, 2),
        (clear, {"subject": "a"}),
    )
    assert [one.is_gone for one in registry.all_versions] == [True, False]


def test_soft_deletion_and_undeletion_are_the_same_version():
    registry = registry_of(
        schema_record("a", 1, 1), schema_record("a", 1, 1, deleted=True), schema_record("a", 1, 1)
    )
    assert states(registry) == [("a", 1, 1, False, False)]


def test_ids_are_unique_in_a_context_only():
    registry = registry_of(
        schema_record("a", 1, 1, '"int"'), schema_record(":.eu:a", 1, 1, '"long"')
    )
    assert not registry.findings
    assert registry.by_id(1).text == '"int"'
    assert registry.by_id(1, ".eu").text == '"long"'
    assert registry.contexts_of(1) == [".", ".eu"]


def test_subject_is_split_into_context_and_name():
    assert split_subject("a") == (".", "a")
    assert split_subject(":.eu:a:b") == (".eu", "a:b")
    assert split_subject(":.eu:") == (".eu", "")
    assert in_context("a", ".eu") == ":.eu:a"
    assert in_context(":.us:a", ".eu") == ":.us:a"


def test_references_are_followed_in_the_context_of_the_schema_that_names_them():
    registry = registry_of(
        schema_record("base", 1, 1, '"int"'),
        schema_record(":.eu:base", 1, 1, '"long"'),
        schema_record(
            ":.eu:top", 1, 2, "x", references=[{"name": "n", "subject": "base", "version": 1}]
        ),
    )
    (top,) = registry.versions_of(":.eu:top")
    assert [(name, one.text) for name, one in registry.imports_of(top)] == [("n", '"long"')]


def test_imports_come_before_the_schemas_that_need_them_and_a_cycle_ends():
    def reference(subject):
        return {"references": [{"name": subject, "subject": subject, "version": 1}]}

    registry = registry_of(
        schema_record("a", 1, 1, "a", **reference("b")),
        schema_record("b", 1, 2, "b", **reference("c")),
        schema_record("c", 1, 3, "c", **reference("b")),
    )
    (top,) = registry.versions_of("a")
    assert [name for name, _ in registry.imports_of(top)] == ["c", "b"]


def test_reference_that_the_log_does_not_have_is_named_without_a_schema():
    registry = registry_of(
        schema_record("a", 1, 1, "a", references=[{"name": "n", "subject": "s", "version": 3}])
    )
    assert list(registry.imports_of(registry.all_versions[0])) == [("n", None)]


def test_guid_hashes_metadata_and_rules_after_text_and_references():
    rules = {
        "domainRules": [{"name": "r", "kind": "TRANSFORM", "mode": "WRITEREAD", "tags": ["z", "a"]}]
    }
    record = schema_record(
        "a", 1, 1, "T", metadata={"properties": {"k": "v"}}, ruleSet=rules, md5="bm90IHVzZWQ="
    )
    (version,) = registry_of(record).all_versions
    digest = hashlib.md5(b"T" + b"kv" + b"r" + b"TRANSFORM" + b"WRITEREAD" + b"az").digest()
    assert version.guid == str(uuid.UUID(bytes=digest))


def test_mode_and_config_of_a_subject_are_one_row():
    key = {"subject": "a", "magic": 0}
    registry = registry_of(
        (key | {"keytype": "CONFIG"}, {"compatibilityLevel": "FULL", "normalize": True}),
        (key | {"keytype": "MODE"}, {"mode": "READONLY"}),
        (key | {"keytype": "CONFIG"}, None),
    )
    assert registry.settings["a"].mode == "READONLY"
    assert registry.settings["a"].config == {}


def test_association_names_the_topic_of_a_subject_until_its_tombstone():
    key = {
        "keytype": "ASSOC",
        "tenant": "default",
        "resourceName": "orders",
        "resourceNamespace": "lkc-1",
        "resourceType": "topic",
        "associationType": "value",
        "subject": "s",
    }
    value = {"guid": "x", "lifecycle": "STRONG", "frozen": True}
    (one,) = registry_of((key, value)).associations.values()
    assert (one.subject, one.resource_name, one.association_type) == ("s", "orders", "value")
    assert not registry_of((key, value), (key, None)).associations


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, b"{}"),
        (b"\xff", b"{}"),
        (b"[" * 100_000, None),
        (b"[]", None),
        (b'{"keytype": 5}', None),
        (b'{"keytype": "NEWER"}', b"{}"),
        (b'{"keytype": "SCHEMA", "subject": "a"}', b"{}"),
        (b'{"keytype": "SCHEMA", "subject": "a", "version": 1}', b'{"id": 1e99, "schema": ""}'),
        (b'{"keytype": "SCHEMA", "subject": "a", "version": 1}', b'{"id": 1, "schema": null}'),
        (b'{"keytype": "SCHEMA", "subject": "a", "version": 1}', b"not JSON"),
        (
            b'{"keytype": "SCHEMA", "subject": "a", "version": 1}',
            b'{"id": 1, "schema": "", "references": [1]}',
        ),
    ],
)
def test_record_that_cannot_be_read_is_a_finding_and_is_ignored(key, value):
    registry = registry_of(schema_record("b", 1, 5))
    registry.apply(key, value, offset=1)
    assert [finding.code for finding in registry.findings] == ["internal-record-invalid"]
    assert states(registry) == [("b", 1, 5, False, False)]


@pytest.mark.parametrize("keytype", ["NOOP", "CONTEXT"])
def test_markers_and_contexts_change_no_schema(keytype):
    registry = registry_of(({"keytype": keytype, "magic": 0}, None))
    assert not registry.findings and not registry.all_versions
