"""Tests that the cases of tests/vectors obey case.schema.json and README.md."""

import json
from collections import Counter
from typing import Any

import jsonschema
import pytest

from magicbyte_formats.wire import CODEC_NAMES
from magicbyte_tools.conformance.answer_shape import CHECKS, FEATURES, shape
from magicbyte_tools.conformance.cases import Case
from magicbyte_tools.conformance.level_scores import LEVELS
from magicbyte_tools.conformance.vectors_folder import VECTORS
from magicbyte_tools.vectors import case_levels

SCHEMA = json.loads((VECTORS / "case.schema.json").read_bytes())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

SOUND: dict[str, Any] = {
    "format": "kafka_log",
    "why": "a word",
    "made": "by hand",
    "source": "KIP-98",
    "verdict": "valid",
    "levels": ["v2-read"],
    "fields": {"entries": []},
    "records": [],
    "findings": [],
}
DAMAGED: dict[str, Any] = {
    **SOUND,
    "verdict": "invalid",
    "records_before": 0,
    "error": "FormatError",
    "code": "bad-size",
    "position": 0,
    "caught_by": "grammar",
}


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_every_case_fits_the_schema(all_cases: list[Case]) -> None:
    wrong = [
        f"{case.path}: {error.json_path}: {error.message}"
        for case in all_cases
        for error in VALIDATOR.iter_errors(case.content)
    ]
    assert not wrong, "\n".join(wrong)


def test_every_format_has_valid_and_invalid_cases(all_cases: list[Case]) -> None:
    assert set(Counter(case.verdict for case in all_cases)) == {"valid", "invalid", "either"}
    for case in all_cases:
        kind, folder, _ = case.path.split("/")
        assert folder == case.format, case.path
        assert case.verdict in (kind, "either"), case.path


@pytest.mark.parametrize("case", [SOUND, DAMAGED])
def test_the_schema_takes_a_sound_case(case: dict[str, Any]) -> None:
    assert list(VALIDATOR.iter_errors(case)) == []


FETCHED: dict[str, Any] = {
    **{key: SOUND[key] for key in ("why", "made", "source", "verdict", "records")},
    "format": "kafka_fetched",
    "levels": ["v2-committed"],
    "needs": ["v2", "transactions"],
    "fetch_offset": "5",
    "aborted_transactions": [{"producer_id": "4000", "first_offset": "1"}],
}


def test_the_schema_asks_of_fetched_bytes_what_a_response_says_and_no_fields() -> None:
    assert list(VALIDATOR.iter_errors(FETCHED)) == []
    assert list(VALIDATOR.iter_errors({**FETCHED, "aborted_transactions": None})) == []
    for key in ("fetch_offset", "aborted_transactions", "records", "needs"):
        assert list(VALIDATOR.iter_errors({name: FETCHED[name] for name in FETCHED if name != key}))
    wrong_list = [{"producer_id": 4000, "first_offset": "1"}]
    for wrong in ({"fields": {}}, {"fetch_offset": 5}, {"aborted_transactions": wrong_list}):
        assert list(VALIDATOR.iter_errors({**FETCHED, **wrong}))


COORDINATOR_RECORD: dict[str, Any] = {
    **{key: SOUND[key] for key in ("why", "made", "source", "verdict")},
    "format": "kafka_coordinator_record",
    "needs": ["coordinators"],
    "topic": "__consumer_offsets",
    "releases": "4.1+",
    "fields": {
        "key": {"type": 2, "data": {"group": "g"}},
        "value": {"version": 3, "data": {"leader": None, "members": [{"memberId": "m"}]}},
    },
}


def test_the_schema_asks_of_a_coordinators_record_its_topic_and_releases() -> None:
    assert list(VALIDATOR.iter_errors(COORDINATOR_RECORD)) == []
    tombstone = {**COORDINATOR_RECORD["fields"], "value": None}
    assert list(VALIDATOR.iter_errors({**COORDINATOR_RECORD, "fields": tombstone})) == []
    for name in ("4.0", "2.8-4.0"):
        assert list(VALIDATOR.iter_errors({**COORDINATOR_RECORD, "releases": name})) == []
    for key in ("topic", "releases", "needs", "fields"):
        less = {name: value for name, value in COORDINATOR_RECORD.items() if name != key}
        assert list(VALIDATOR.iter_errors(less)), key
    no_version = {**tombstone, "value": {"data": {}}}
    for wrong in (
        {"topic": "orders"},
        {"releases": "4"},
        {"fields": {"entries": []}},
        {"fields": no_version},
        {"records": []},
    ):
        assert list(VALIDATOR.iter_errors({**COORDINATOR_RECORD, **wrong})), wrong
    assert list(VALIDATOR.iter_errors({**SOUND, "topic": "__consumer_offsets"}))
    assert list(VALIDATOR.iter_errors({**SOUND, "fields": COORDINATOR_RECORD["fields"]}))


OF_DAMAGE = ["error", "code", "caught_by", "records_before", "findings"]


@pytest.mark.parametrize(
    ("case", "key"), [*((SOUND, key) for key in SOUND), *((DAMAGED, key) for key in OF_DAMAGE)]
)
def test_the_schema_misses_every_key_that_a_log_needs(case: dict[str, Any], key: str) -> None:
    assert list(VALIDATOR.iter_errors({name: case[name] for name in case if name != key}))


@pytest.mark.parametrize(
    "wrong",
    [
        {"caught_by": "crc"},
        {"position": -1},
        {"position": "0"},
        {"error": "ValueError"},
        {"code": "Bad Size"},
        {"verdict": "valid"},
        {"verdict": "either"},
        {"fields": {"entries": [{"content": {"key": None}}]}},
        {"fields": {"entries": [{"content": {"size": 1.5}}]}},
        {"fields": {"baseOffset": 1}},
        {"records": [{"offset": "0"}]},
        {"notes": "more"},
        {"levels": ["v3-read"]},
        {"levels": []},
        {"needs": ["v3"]},
        {"compacted": True},
        {"fetch_offset": "0"},
        {"encode": {"codec": "none"}},
        {"aborted_transactions": []},
        {"limits": {"max_bytes": 1}},
        {"findings": [{"code": "bad-size", "severity": "fatal", "position": 0}]},
    ],
    ids=str,
)
def test_the_schema_refuses(wrong: dict[str, Any]) -> None:
    assert list(VALIDATOR.iter_errors({**DAMAGED, **wrong}))


@pytest.mark.parametrize(
    "wrong",
    [
        {"offset": 0},
        {"offset": "00"},
        {"key": "0g"},
        {"key": "0"},
        {"value": "FF"},
        {"headers": None},
        {"headers": [{"key": None, "value": None}]},
        {"headers": [{"key": "name", "value": None}]},
        {"timestamp_type": 0},
        {"topic": "t"},
    ],
    ids=str,
)
def test_the_schema_refuses_a_record(wrong: dict[str, Any]) -> None:
    row = {"offset": "0", "timestamp": None, "timestamp_type": None, "headers": []}
    row |= {"key": None, "value": ""}
    assert not list(VALIDATOR.iter_errors({**SOUND, "records": [row]}))
    assert list(VALIDATOR.iter_errors({**SOUND, "records": [{**row, **wrong}]}))


# Answers


ANSWER_SCHEMA = json.loads((VECTORS / "answer.schema.json").read_bytes())
ANSWER_VALIDATOR = jsonschema.Draft202012Validator(ANSWER_SCHEMA)
RECORD = {"offset": "0", "key": None, "value": "61"}

SOUND_ANSWERS: list[Any] = [
    {"fields": {"entries": []}},
    {"fields": None, "error": {"message": "bad", "position": 7}},
    {"records": [RECORD, {**RECORD, "headers": []}], "stopped": False, "error": None},
    {"findings": [{"code": "bad-size"}], "error": {}},
    {"accepted": True},
    {"encoded": "00"},
    {"accepted": False, "checks": list(CHECKS), "lacks": list(FEATURES)},
    {"unsupported": "no logs"},
    {"unsupported": "no logs of v0", "lacks": ["v0"]},
    {},
]
WRONG_ANSWERS: list[Any] = [
    [],
    None,
    "accepted",
    {"records": {}},
    {"records": None},
    {"records": [1]},
    {"records": [{"offset": "0", "key": None}]},
    {"stopped": 1},
    {"error": "text"},
    {"findings": [1]},
    {"accepted": 1},
    {"accepted": True, "error": None},
    {"accepted": True, "encoded": "00"},
    {"encoded": 0},
    {"encoded": ""},
    {"accepted": True, "records": []},
    {"unsupported": ""},
    {"unsupported": None},
    {"checks": ["crc"]},
    {"checks": "grammar"},
    {"lacks": ["v3"]},
    {"recods": []},
]


@pytest.mark.parametrize(
    ("answer", "is_sound"),
    [*((one, True) for one in SOUND_ANSWERS), *((one, False) for one in WRONG_ANSWERS)],
    ids=str,
)
def test_the_schema_of_answers_and_the_scorer_take_the_same(answer: Any, is_sound: bool) -> None:
    assert ANSWER_VALIDATOR.is_valid(answer) == is_sound
    assert (shape(answer) is None) == is_sound


def test_the_schemas_name_the_checks_features_and_levels_that_there_are() -> None:
    answer, case = ANSWER_SCHEMA["properties"], SCHEMA["properties"]
    assert answer["checks"]["items"]["enum"] == list(CHECKS)
    assert SCHEMA["$defs"]["caught_by"]["enum"] == list(CHECKS)
    for features in (answer["lacks"]["items"]["enum"], case["needs"]["items"]["enum"]):
        assert features == list(FEATURES) == list(case_levels.FEATURES)
    assert case["levels"]["items"]["enum"] == list(LEVELS)


# Levels


def test_each_level_has_cases_and_is_of_its_formats(all_cases: list[Case]) -> None:
    formats: dict[str, set[str]] = {level: set() for level in LEVELS}
    for case in all_cases:
        for level in case.levels:
            formats[level].add(case.format)
    logs = ("v2-read", "v2-safe", "v2-strict", "legacy")
    assert all(formats[level] == {"kafka_log"} for level in logs)
    assert formats["files"] == set(case_levels.FILES)
    assert formats["v2-committed"] == {"kafka_fetched"}
    assert formats["write"] == {"kafka_produced"}
    assert formats["encode"] == {"kafka_encoded"}
    assert formats["directory"] == {"log_dir"}


def test_a_log_of_v2_alone_is_read_or_refused_and_no_other_counts_there(
    all_cases: list[Case],
) -> None:
    for case in all_cases:
        if case.format == "kafka_log":
            has_old = {"v0", "v1"} & set(case.content.get("needs", ()))
            assert ("legacy" in case.levels) == bool(has_old), case.path
            assert ("v2-read" in case.levels) == (case.verdict == "valid" and not has_old)
            assert ("v2-safe" in case.levels) == (case.verdict != "valid" and not has_old)


def test_features_are_those_of_the_parsed_entries(all_cases: list[Case]) -> None:
    for case in all_cases:
        if case.format != "kafka_log" or case.verdict != "valid":
            continue
        found = set()
        for entry in case.content["fields"].get("entries", ()):
            content = entry.get("content", {})
            content = content.get("message", content)
            if "magic" not in content:
                found |= set(case.content.get("needs", ()))  # an incomplete tail may need anything
                continue
            found.add(f"v{content['magic']}")
            found.add(CODEC_NAMES.get(content["attributes"]["codec"], "none"))
            if content["attributes"].get("is_control"):
                found.add("control")
        assert found - {"none"} == set(case.content.get("needs", ())), case.path
