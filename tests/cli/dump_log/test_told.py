"""Tests that decoded records are printed as each release of Kafka's tool prints them."""

from pathlib import Path

import pytest

from magicbyte_cli.dump_log import ToolError
from magicbyte_cli.dump_log.decoders.internal_topics import TOPICS
from magicbyte_cli.dump_log.releases import Release

from .cases import Case, cases
from .told import by_release, dump_log, load, tail

EVERY_CASE = cases()
FIRST = list({case.flag: case for case in reversed(EVERY_CASE)}.values())
"""The first case of each decoder flag."""


def decoded(case: Case, release: Release) -> str | None:
    try:
        key, payload = TOPICS[case.flag].decoder(release)(0, case.key, case.value)
    except ToolError:
        return None
    said = "" if key is None else f" key: {key}"
    return said if payload is None else f"{said} payload: {payload}"


def printed(case: Case, release: str, folder: Path) -> str | None:
    result = dump_log(case, folder, case.flag, release=release)
    return tail(result.stdout, result.exit_code)


def test_recorded_answers_are_of_these_cases() -> None:
    assert [case.name for case in EVERY_CASE] == list(load())


@pytest.mark.parametrize(
    "case", [case for case in EVERY_CASE if not case.is_control], ids=lambda case: case.name
)
def test_record_is_printed_as_by_each_release(case: Case) -> None:
    expected = by_release(load()[case.name])
    assert next(iter(expected)) == "{}.{}".format(*TOPICS[case.flag].since)
    assert {name: decoded(case, Release.of(name)) for name in expected} == expected


@pytest.mark.parametrize(
    "case", [*FIRST, *(case for case in EVERY_CASE if case.is_control)], ids=lambda case: case.name
)
def test_line_ends_as_in_each_release(case: Case, tmp_path: Path) -> None:
    expected = by_release(load()[case.name])
    assert {name: printed(case, name, tmp_path) for name in expected} == expected
