"""Tests of judging a runner's answers by each of the rules of tests/vectors/README.md."""

from decimal import Decimal
from typing import Any

import pytest

from magicbyte_tools.conformance.answer_shape import READER_CHECKS
from magicbyte_tools.conformance.judge import judge

ROW = {"offset": "0", "key": None, "value": "61", "headers": []}
NEXT = {**ROW, "offset": "1"}

VALID: dict[str, Any] = {
    "format": "kafka_log",
    "verdict": "valid",
    "fields": {"entries": [{"content": {"crc": 70, "key": None, "is_open": True}}]},
    "records": [ROW, NEXT],
    "findings": [],
}
INVALID: dict[str, Any] = {
    **VALID,
    "verdict": "invalid",
    "records_before": 1,
    "error": "ChecksumError",
    "code": "checksum-mismatch",
    "position": 70,
    "caught_by": "checksum",
    "findings": [{"code": "checksum-mismatch", "severity": "error", "position": 70}],
}
REFUSED_BY_GRAMMAR: dict[str, Any] = {**INVALID, "fields": None, "caught_by": "grammar"}
EITHER: dict[str, Any] = {
    **VALID,
    "verdict": "either",
    "reason": "the format leaves room",
    "refused": {"position": 70, "records": [ROW], "records_before": 1, "caught_by": "codec"},
}
ERROR = {"position": 70}


def outcome(case: dict[str, Any], **answer: Any) -> str:
    return judge(case, answer).outcome


def complaints(case: dict[str, Any], **answer: Any) -> str:
    judgement = judge(case, answer)
    assert judgement.outcome == "failed"
    return "; ".join(judgement.complaints)


# Output that is no answer


@pytest.mark.parametrize("answer", [None, [], "text", 1, True])
def test_answer_that_is_not_an_object_fails(answer: object) -> None:
    assert judge(VALID, answer).outcome == "failed"


@pytest.mark.parametrize("answer", [{}, {"fields": None}, {"error": None, "checks": []}])
@pytest.mark.parametrize("case", [VALID, INVALID, EITHER, REFUSED_BY_GRAMMAR])
def test_saying_nothing_fails(case: dict[str, Any], answer: dict[str, Any]) -> None:
    assert "unanswered" in complaints(case, **answer)


def test_rows_of_a_format_that_has_none_are_no_answer() -> None:
    case = {"format": "kafka_offset_index", "verdict": "valid", "fields": {}}
    assert "unanswered" in complaints(case, records=[], findings=[], checks=[])
    assert outcome(case, fields={}, records=[]) == "passed"


def test_fields_are_no_answer_to_fetched_bytes() -> None:
    case = {"format": "kafka_fetched", "verdict": "valid", "records": [ROW]}
    case |= {"needs": ["v2", "transactions"], "fetch_offset": "0", "aborted_transactions": []}
    assert "unanswered" in complaints(case, fields={"entries": []}, error=None)
    assert outcome(case, records=[ROW], error=None) == "passed"
    assert "found 2" in complaints(case, records=[ROW, NEXT], error=None)
    assert outcome(case, records=[ROW, NEXT], error=None, lacks=["transactions"]) == "not-judged"


@pytest.mark.parametrize(
    "wrong",
    [
        {"records": {}},
        {"records": None},
        {"findings": None},
        {"findings": [1]},
        {"checks": "grammar"},
        {"checks": ["grammer"]},
        {"checks": [["grammar"]]},
        {"stopped": 1},
        {"error": "text"},
        {"error": True},
        {"unsupported": ""},
        {"unsupported": None},
        {"lacks": ["v3"]},
        {"lacks": "v1"},
        {"recods": []},
        {"records": [1]},
        {"records": [{"offset": "0", "key": None}]},
        {"accepted": True},
    ],
    ids=str,
)
def test_a_key_of_another_type_fails(wrong: dict[str, Any]) -> None:
    assert next(iter(wrong)) in complaints(VALID, **{"fields": VALID["fields"], **wrong})


def test_a_format_that_a_runner_does_not_read_is_not_judged() -> None:
    judgement = judge(INVALID, {"unsupported": "no indexes"})
    assert (judgement.outcome, judgement.complaints) == ("not-judged", ("no indexes",))


# Valid bytes


def test_the_right_fields_pass() -> None:
    assert outcome(VALID, fields=VALID["fields"]) == "passed"
    assert outcome(VALID, fields=VALID["fields"], error=None, records=[ROW, NEXT]) == "passed"


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ({"crc": 71, "key": None, "is_open": True}, "fields.entries[0].content.crc"),
        ({"crc": True, "key": None, "is_open": True}, "fields.entries[0].content.crc"),
        ({"crc": "70", "key": None, "is_open": True}, "fields.entries[0].content.crc"),
        ({"crc": Decimal("70.0"), "key": None, "is_open": True}, "found 70.0"),
        ({"crc": 70, "is_open": True}, "key: expected null, found nothing"),
        ({"crc": 70, "key": "", "is_open": True}, 'key: expected null, found ""'),
        ({"crc": 70, "key": None, "is_open": 1}, "is_open: expected true, found 1"),
        ({"crc": 70, "key": None, "is_open": True, "x": 1}, "x: expected nothing, found 1"),
    ],
)
def test_a_field_that_differs_at_all_fails(content: dict[str, Any], place: str) -> None:
    assert place in complaints(VALID, fields={"entries": [{"content": content}]})


def test_entry_too_many_or_too_few_fails() -> None:
    entry = VALID["fields"]["entries"][0]
    assert "expected 1 of them, found 0" in complaints(VALID, fields={"entries": []})
    assert "expected 1 of them, found 2" in complaints(VALID, fields={"entries": [entry, entry]})


def test_numbers_beyond_2_to_the_53_are_told_apart() -> None:
    case = {**VALID, "fields": {"number": 2**53 + 1}}
    assert outcome(case, fields={"number": 2**53 + 1}) == "passed"
    assert outcome(case, fields={"number": 2**53}) == "failed"


def test_refusing_sound_bytes_fails() -> None:
    assert "error: expected none" in complaints(VALID, fields=None, error=ERROR)
    assert "error: expected none" in complaints(VALID, fields=VALID["fields"], error=ERROR)
    assert "error: expected none" in complaints(VALID, records=[], error=ERROR, stopped=True)


def test_fields_of_null_fail_where_the_bytes_are_sound() -> None:
    assert "fields" in complaints(VALID, fields=None, records=[ROW, NEXT])


def test_stopping_in_sound_bytes_fails() -> None:
    assert "stopped" in complaints(VALID, records=[ROW, NEXT], stopped=True)


@pytest.mark.parametrize("rows", [[], [ROW], [NEXT, ROW], [ROW, NEXT, NEXT], [ROW, ROW]])
def test_other_rows_fail(rows: list[Any]) -> None:
    assert "records" in complaints(VALID, records=rows)


def test_findings_are_compared_where_they_are_printed() -> None:
    found = {"code": "zero-tail", "severity": "warning", "position": 9}
    assert "findings" in complaints(VALID, records=[ROW, NEXT], findings=[found])
    case = {**VALID, "findings": [found]}
    assert outcome(case, records=[ROW, NEXT], findings=[{**found, "file": "x"}]) == "passed"
    assert outcome(case, records=[ROW, NEXT]) == "passed"
    assert "findings" in complaints(case, records=[ROW, NEXT], findings=[])
    wrong = {**found, "position": 10}
    assert "findings[0].position" in complaints(case, records=[ROW, NEXT], findings=[wrong])
    del wrong["position"]
    assert "findings[0].position" in complaints(case, records=[ROW, NEXT], findings=[wrong])
    assert "findings" in complaints(case, records=[ROW, NEXT], findings=[found, found])


def test_a_folder_has_no_fields_to_judge() -> None:
    case = {**VALID, "format": "log_dir", "fields": None}
    assert outcome(case, records=[ROW, NEXT]) == "passed"
    assert outcome(case, records=[ROW, NEXT], fields=None) == "passed"
    assert outcome(case, records=[ROW, NEXT], fields={}) == "passed"
    assert outcome(case, records=[ROW]) == "failed"


# Invalid bytes


def test_the_error_at_the_right_byte_passes() -> None:
    assert outcome(INVALID, fields=None, error=ERROR) == "passed"
    assert outcome(INVALID, fields=INVALID["fields"], error=ERROR) == "passed"
    assert outcome(INVALID, error={}) == "passed"
    assert outcome(INVALID, error={"message": "bad", "position": None}) == "passed"


def test_no_error_fails() -> None:
    words = complaints(INVALID, fields=INVALID["fields"], records=[ROW, NEXT])
    assert "error: expected checksum-mismatch at byte 70, found none" in words


@pytest.mark.parametrize(
    "wrong",
    [
        {"position": 71},
        {"position": "70"},
        {"position": Decimal("70.0")},
        {"code": "bad-size"},
        {"class": "FormatError"},
    ],
    ids=str,
)
def test_another_position_code_or_class_fails(wrong: dict[str, Any]) -> None:
    assert f"error.{next(iter(wrong))}" in complaints(INVALID, fields=None, error=wrong)


def test_the_position_in_the_payload_is_compared_where_both_say_it() -> None:
    case = {**INVALID, "payload_position": 12}
    assert outcome(case, error={"position": 70}) == "passed"
    assert outcome(case, error={"position": 70, "payload_position": 12}) == "passed"
    assert outcome(case, error={"position": 70, "payload_position": 0}) == "failed"
    assert outcome(INVALID, error={"position": 70, "payload_position": 0}) == "passed"


def test_fields_of_damaged_bytes_are_compared_where_they_are_printed() -> None:
    assert "fields" in complaints(INVALID, fields={"entries": []}, error=ERROR)


def test_fields_that_the_grammar_must_refuse_fail() -> None:
    assert outcome(REFUSED_BY_GRAMMAR, fields=None, error=ERROR) == "passed"
    words = complaints(REFUSED_BY_GRAMMAR, fields={"entries": []}, error=ERROR)
    assert "fields: expected null" in words


def test_all_sound_rows_are_wanted_of_who_reads_on() -> None:
    assert outcome(INVALID, records=[ROW, NEXT], error=ERROR) == "passed"
    assert "records" in complaints(INVALID, records=[ROW], error=ERROR)


def test_the_rows_before_the_fault_are_wanted_of_who_stops() -> None:
    assert outcome(INVALID, records=[ROW], error=ERROR, stopped=True) == "passed"
    assert "records" in complaints(INVALID, records=[], error=ERROR, stopped=True)
    assert "records" in complaints(INVALID, records=[ROW, NEXT], error=ERROR, stopped=True)
    assert "error" in complaints(INVALID, records=[ROW], stopped=True)


# Checks that a runner does not make


OTHERS = [name for name in READER_CHECKS if name != "checksum"]


def test_runner_without_the_check_must_print_the_fields_and_no_error() -> None:
    assert outcome(INVALID, fields=INVALID["fields"], checks=OTHERS) == "passed"
    assert outcome(INVALID, fields=INVALID["fields"], error=None, checks=[]) == "passed"
    assert "fields" in complaints(INVALID, fields={"entries": []}, checks=OTHERS)


def test_refusing_damaged_bytes_for_another_reason_never_fails() -> None:
    for answer in ({"fields": INVALID["fields"]}, {"records": []}, {"fields": None}, {}):
        error = {"position": 0, "message": "another reason"}
        assert outcome(INVALID, **answer, error=error, checks=OTHERS) == "not-judged"


def test_runner_without_the_check_and_without_fields_is_not_judged() -> None:
    assert outcome(INVALID, records=[ROW, NEXT], checks=OTHERS) == "not-judged"
    assert outcome(REFUSED_BY_GRAMMAR, records=[ROW], checks=["checksum"]) == "not-judged"


def test_a_grammar_must_refuse_what_has_no_fields_whatever_sees_the_fault_first() -> None:
    case = {**INVALID, "fields": None}
    assert outcome(case, fields=None, error=ERROR, checks=["grammar"]) == "passed"
    assert "error" in complaints(case, fields={"entries": []}, checks=["grammar"])
    assert "error.position" in complaints(case, error={"position": 0}, checks=["grammar"])
    assert outcome(case, error=ERROR, checks=["codec"]) == "not-judged"
    folder = {**case, "format": "log_dir"}
    assert outcome(folder, records=[ROW], checks=["grammar"]) == "not-judged"


def test_checks_default_to_all_that_a_reader_looks_for() -> None:
    assert outcome(INVALID, fields=INVALID["fields"], checks=list(READER_CHECKS)) == "failed"
    assert outcome(INVALID, fields=INVALID["fields"]) == "failed"
    produced = {**INVALID, "caught_by": "produced", "format": "kafka_produced"}
    assert outcome(produced, fields=INVALID["fields"]) == "passed"
    assert outcome(produced, fields=None, error=ERROR) == "not-judged"
    assert outcome(produced, error=ERROR, checks=["produced"]) == "passed"


def test_findings_alone_answer_for_what_was_produced() -> None:
    produced = {**VALID, "format": "kafka_produced", "fields": None}
    assert outcome(produced, findings=[], error=None) == "passed"
    assert "unanswered" in complaints(VALID, findings=[], error=None)


# Cases with two right answers


def test_either_choice_passes_and_is_reported() -> None:
    accepted = judge(EITHER, {"fields": EITHER["fields"], "records": [ROW, NEXT]})
    assert (accepted.outcome, accepted.choice) == ("passed", "accepted")
    refused = judge(EITHER, {"fields": None, "records": [ROW], "error": ERROR})
    assert (refused.outcome, refused.choice) == ("passed", "refused")


def test_either_choice_must_be_made_right() -> None:
    assert "records" in complaints(EITHER, records=[ROW])
    assert "fields" in complaints(EITHER, fields={})
    assert "records" in complaints(EITHER, records=[ROW, NEXT], error=ERROR)
    assert "error.position" in complaints(EITHER, fields=None, error={"position": 71})


def test_findings_are_compared_only_with_those_of_the_same_choice() -> None:
    found = [{"code": "codec-error", "severity": "error", "position": 70}]
    assert outcome(EITHER, records=[ROW], error=ERROR, findings=found) == "passed"
    assert "findings" in complaints(EITHER, records=[ROW, NEXT], findings=found)
    refuses = {**EITHER, "error": "CodecError", "code": "codec-error", "findings": found}
    assert outcome(refuses, records=[ROW, NEXT], findings=[]) == "passed"
    assert "findings" in complaints(refuses, records=[ROW], error=ERROR, findings=[])


def test_a_reader_that_accepts_what_the_grammar_refuses_may_print_fields() -> None:
    case = {**EITHER, "fields": None}
    assert outcome(case, fields={"entries": []}, records=[ROW, NEXT]) == "passed"
    assert "records" in complaints(case, fields={"entries": []}, records=[ROW])


# Answers by yes or no


def verdict(case: dict[str, Any], accepted: bool, **answer: Any) -> str:
    return outcome(case, accepted=accepted, **answer)


def test_yes_or_no_is_judged_by_the_verdict_alone_and_counted_apart() -> None:
    assert verdict(VALID, True) == verdict(INVALID, False) == "verdict"
    assert verdict(VALID, False) == verdict(INVALID, True) == "failed"
    words = complaints(INVALID, accepted=True)
    assert words == "accepted: expected false (checksum-mismatch at byte 70), found true"
    for accepted, choice in ((True, "accepted"), (False, "refused")):
        judgement = judge(EITHER, {"accepted": accepted})
        assert (judgement.outcome, judgement.choice) == ("verdict", choice)


def test_yes_or_no_without_the_check_is_not_judged() -> None:
    for accepted in (True, False):
        assert verdict(INVALID, accepted, checks=OTHERS) == "not-judged"
    assert verdict(VALID, False, checks=OTHERS) == "failed"


def test_yes_or_no_of_produced_bytes_is_that_of_a_broker() -> None:
    produced = {**INVALID, "caught_by": "produced", "format": "kafka_produced"}
    assert verdict(produced, True) == "failed"
    assert verdict(produced, False) == "verdict"
    assert verdict(produced, True, checks=list(READER_CHECKS)) == "not-judged"


# What a runner lacks or does not show


def test_case_that_needs_what_the_runner_lacks_is_not_judged() -> None:
    case = {**VALID, "needs": ["v1", "lz4"]}
    judgement = judge(case, {"fields": None, "error": {}, "lacks": ["lz4", "zstd"]})
    assert (judgement.outcome, judgement.lacks) == ("not-judged", ("lz4",))
    assert outcome(case, fields=None, error={}, lacks=["zstd"]) == "failed"
    assert judge(case, {"unsupported": "no LZ4", "lacks": ["lz4"]}).lacks == ("lz4",)


def test_keys_that_no_record_shows_are_not_judged_and_are_named() -> None:
    timed = {**ROW, "timestamp": "5", "timestamp_type": None}
    case = {**VALID, "records": [timed]}
    found = {key: timed[key] for key in ("offset", "key", "value", "timestamp")}
    judgement = judge(case, {"records": [found]})
    assert judgement.outcome == "passed"
    assert judgement.keys_left_out == {"headers", "timestamp_type"}
    assert "timestamp" in complaints(case, records=[{**found, "timestamp": "6"}])
    assert "shape: expected nothing" in complaints(case, records=[{**found, "shape": 1}])


def test_header_key_that_is_not_utf_8_may_be_given_as_stored_or_as_decoded() -> None:
    header = {"key": "ff", "decoded": "efbfbd", "value": "78"}
    case = {**VALID, "records": [{**ROW, "headers": [header, {"key": "61", "value": None}]}]}

    def answered(*keys: object) -> str:
        headers = [
            {"key": key, "value": value} for key, value in zip(keys, ("78", None), strict=False)
        ]
        return outcome(case, records=[{**ROW, "headers": headers}])

    assert answered("ff", "61") == answered("efbfbd", "61") == "passed"
    for keys in (("fe", "61"), ("ff", "62"), ("ff",), (None, "61"), ("ff", None), ("61", "ff")):
        assert answered(*keys) == "failed"
    assert outcome(case, records=[{**ROW, "headers": 7}]) == "failed"
    assert outcome(case, records=[{**ROW, "headers": [7, 7]}]) == "failed"


def test_output_that_says_nothing_of_the_bytes_is_no_answer() -> None:
    assert judge(VALID, {"fields": {}}).is_answer
    assert judge(INVALID, {"records": [], "checks": []}).is_answer
    for answer in ({}, [], {"unsupported": "no logs"}, {"accepted": 1}):
        assert not judge(VALID, answer).is_answer


# Messages


def test_a_complaint_names_a_few_places_and_says_that_there_are_more() -> None:
    rows = [{**ROW, "offset": str(number)} for number in range(100)]
    words = judge({**VALID, "records": rows}, {"records": [ROW] * 100}).complaints
    assert len(words) == 6
    assert words[0] == 'records[1].offset: expected "1", found "0"'
    assert words[-1].endswith("and more")


def test_a_complaint_cuts_long_values() -> None:
    words = complaints(VALID, fields="00" * 1000)
    assert len(words) < 400
    assert "characters)" in words


def test_a_complaint_shows_the_end_of_a_runners_error() -> None:
    message = "LZ4F_getFrameInfo failed with code: " + "x" * 300 + " headerChecksum_invalid"
    assert message in complaints(VALID, fields=None, error={"message": message})
    assert len(complaints(VALID, fields=None, error={"message": "y" * 5000})) < 800
