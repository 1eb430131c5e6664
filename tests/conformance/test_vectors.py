"""Tests that the cases of tests/vectors obey case.schema.json and README.md."""

import json
from collections import Counter
from typing import Any

import jsonschema
import pytest

from magicbyte_tools.conformance.cases import VECTORS, Case

SCHEMA = json.loads((VECTORS / "case.schema.json").read_bytes())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

SOUND: dict[str, Any] = {
    "format": "kafka_log",
    "why": "a word",
    "made": "by hand",
    "source": "KIP-98",
    "verdict": "valid",
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
        {"compacted": True},
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
