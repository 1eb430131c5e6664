"""Tests that brokers' recorded answers (brokers.json) agree with the rules and docs/encoding.md."""

import json
from typing import Any

import pytest

import magicbyte as mb
from magicbyte_cli.produced_verdict import DEPENDING, INVALID_RECORD, verdict_of
from paths import CHECKOUT

MEASURED = json.loads((CHECKOUT / "tests" / "produce_check" / "brokers.json").read_text("utf-8"))
ROWS = MEASURED["rows"]
CODES = {code for code in mb.CODES if code.startswith("produced-")}

TAKEN = {"kept", "corrected"}

REFUSED_BUT_A_NOTE = {
    "produced-large": "the topic's max.message.bytes decides, and many a topic allows more",
    "produced-zstd": "the version of the request decides, and every client in use has a newer one",
}


def refusals(row: dict[str, Any]) -> set[str]:
    answers = {answer["answer"] for release in row["answers"].values() for answer in release}
    return answers - TAKEN


def test_every_code_was_tried_on_every_release() -> None:
    assert {row["code"] for row in ROWS} == CODES
    for row in ROWS:
        assert list(row["answers"]) == MEASURED["releases"]
        assert all(row["answers"].values()), row["sent"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['code']}: {row['sent']}")
def test_the_bytes_that_were_sent_have_the_code(row: dict[str, Any]) -> None:
    if row["bytes"] is None:
        assert row["code"] == "produced-large"  # 1 MiB
        return
    found = mb.check_produced(bytes.fromhex(row["bytes"]), compacted=row.get("compacted", False))
    assert row["code"] in [finding.code for finding in found]


@pytest.mark.parametrize("code", sorted(CODES))
def test_exactly_the_batches_that_a_broker_refused_are_errors(code: str) -> None:
    is_refused = any(refusals(row) for row in ROWS if row["code"] == code)
    if code in REFUSED_BUT_A_NOTE:
        assert is_refused
        assert mb.CODES[code].severity == "note"
    else:
        assert (mb.CODES[code].severity == "error") == is_refused


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['code']}: {row['sent']}")
def test_verdict_is_what_the_newest_broker_answered(row: dict[str, Any]) -> None:
    answers = row["answers"][MEASURED["releases"][-1]]
    names = {answer["answer"] for answer in answers}
    if row["code"] in INVALID_RECORD:
        # A message of v1 is refused in Produce 3 and later, which are all that brokers since 4.0 take.
        assert names - {"closed"} == {"INVALID_RECORD"}
    elif row["code"] in DEPENDING:
        errors = names - TAKEN
        assert errors and all(name in DEPENDING[row["code"]] for name in errors)
    elif row["code"] not in REFUSED_BUT_A_NOTE:
        assert names <= TAKEN
    if row["bytes"] is not None:
        data = bytes.fromhex(row["bytes"])
        findings = mb.check_produced(data, compacted=row.get("compacted", False))
        verdict = verdict_of("batch.bin", findings).name
        expected = {"refused"} if row["code"] in INVALID_RECORD else {"accepted", "depends"}
        assert verdict in expected


def test_the_table_shows_what_was_measured() -> None:
    text = (CHECKOUT / "docs" / "encoding.md").read_text(encoding="utf-8")
    section = text.partition("## Tried on brokers\n")[2].partition("\n## ")[0]
    assert [line for line in section.splitlines() if line.startswith("|")] == [
        f"| code | sent | {' | '.join(MEASURED['releases'])} |",
        "|---" * (2 + len(MEASURED["releases"])) + "|",
        *map(shown, ROWS),
    ]


def shown(row: dict[str, Any]) -> str:
    cells = ("; ".join(map(phrase, release)) for release in row["answers"].values())
    return f"| `{row['code']}` | {row['sent']} | {' | '.join(cells)} |"


def phrase(answer: dict[str, str]) -> str:
    name = answer["answer"]
    words = [f"`{name}`" if name.isupper() else name, *filter(None, [answer.get("when")])]
    return " ".join(words)
