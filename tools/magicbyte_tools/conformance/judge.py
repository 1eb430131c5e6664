"""Judges a runner's answer to a conformance case, without any files or processes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from magicbyte_tools.conformance.answer_shape import CHECKS, READER_CHECKS, shape
from magicbyte_tools.conformance.compare import MAX_SHOWN_OF_ERRORS, differences, shown
from magicbyte_tools.conformance.encoded_batch import encoding_mistakes, undecoded_codec

ERROR_KEYS = ("position", "payload_position", "code", "class", "file")
"""Keys of an error that are compared where both sides have them."""

WITHOUT_FIELDS = ("log_dir", "kafka_fetched", "kafka_encoded")
"""Formats whose cases have no fields: no grammar could refuse the bytes, and fields are no answer."""

MAX_DIFFERENCES = 5
"""Largest number of differences in a judgement."""

Outcome = Literal["passed", "verdict", "failed", "known", "not-judged"]
"""`verdict`: passed by an answer that says only whether the bytes are accepted. `known`: a failure
on the list of known ones."""
Choice = Literal["accepted", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Result of comparing a runner's answer with a conformance case."""

    outcome: Outcome
    complaints: tuple[str, ...] = ()
    """Differences between the expected and the actual answer, or the reason why it cannot be judged."""
    choice: Choice | None = None
    """Decision of the runner on a case with verdict `either`."""
    is_answer: bool = True
    """False if the runner's output does not conform to the protocol, or says nothing of the bytes."""
    lacks: tuple[str, ...] = ()
    """Features that the case needs and the runner does not have."""
    has_records: bool = False
    """True if the answer has records and they were compared."""
    keys_left_out: frozenset[str] = frozenset()
    """Keys of records that the case has and the runner did not print."""
    undecoded: str | None = None
    """Codec of an encoded batch whose records were not compared, since Python's library lacks it."""


def judge(case: Mapping[str, Any], answer: Any) -> Judgement:
    """Judge *answer*, a runner's parsed output, by *case*, the JSON of a case."""
    if wrong := shape(answer):
        return Judgement(outcome="failed", complaints=(wrong,), is_answer=False)
    lacks = tuple(name for name in answer.get("lacks", ()) if name in case.get("needs", ()))
    if lacks:
        words = (f"the runner lacks {', '.join(lacks)}",)
        return Judgement(outcome="not-judged", complaints=words, lacks=lacks)
    if "unsupported" in answer:
        return _not_judged(answer["unsupported"], is_answer=False)
    if "encode" in case:
        return _encoded(case, answer)
    if "accepted" in answer:
        return _verdict_alone(case, answer)
    if not _says_something(case, answer):
        words = ("unanswered: neither fields nor records nor an error",)
        return Judgement(outcome="failed", complaints=words, is_answer=False)
    if case["verdict"] == "either":
        return _either(case, answer)
    if case["verdict"] == "valid":
        return _judged(case, answer, _accepted(case, answer))
    if _must_see(case, answer.get("checks", READER_CHECKS)):
        return _judged(case, answer, _refused(case, case, answer))
    return _overlooked(case, answer)


def _encoded(case: Mapping[str, Any], answer: Mapping[str, Any]) -> Judgement:
    """Judge an answer that is to have the batch of the records in *case*."""
    if answer.get("error") is not None:
        words = (f"error: expected none, found {shown(answer['error'], MAX_SHOWN_OF_ERRORS)}",)
        return Judgement(outcome="failed", complaints=words)
    if "encoded" not in answer:
        words = ("unanswered: neither encoded bytes nor an error",)
        return Judgement(outcome="failed", complaints=words, is_answer=False)
    request = case["encode"]
    found = tuple(_first_differences(encoding_mistakes(request, answer["encoded"])))
    return Judgement(
        outcome="failed" if found else "passed",
        complaints=found,
        undecoded=undecoded_codec(request),
    )


def _says_something(case: Mapping[str, Any], answer: Mapping[str, Any]) -> bool:
    """Return whether *answer* has fields, an error, or the records or findings that *case* expects."""
    has_fields = answer.get("fields") is not None and case["format"] not in WITHOUT_FIELDS
    if has_fields or answer.get("error") is not None:
        return True
    key = "findings" if case["format"] == "kafka_produced" else "records"
    return key in answer and key in case


def _must_see(case: Mapping[str, Any], checks: Sequence[str]) -> bool:
    """Return whether a runner that makes the checks *checks* must refuse the bytes of *case*.

    A case without fields must be refused by the grammar alone, no matter which check finds the fault.
    """
    has_no_fields = (
        "fields" in case and case["fields"] is None and case["format"] not in WITHOUT_FIELDS
    )
    return case["caught_by"] in checks or (has_no_fields and "grammar" in checks)


def _judged(
    case: Mapping[str, Any],
    answer: Mapping[str, Any],
    complaints: Iterator[str],
    choice: Choice | None = None,
) -> Judgement:
    found = tuple(complaints)
    return Judgement(
        outcome="failed" if found else "passed",
        complaints=found,
        choice=choice,
        has_records="records" in answer and "records" in case,
        keys_left_out=_keys_left_out(case, answer),
    )


def _not_judged(reason: str, *, is_answer: bool = True) -> Judgement:
    return Judgement(outcome="not-judged", complaints=(reason,), is_answer=is_answer)


def _verdict_alone(case: Mapping[str, Any], answer: Mapping[str, Any]) -> Judgement:
    """Judge an answer that says only whether the bytes of *case* are accepted."""
    accepted = answer["accepted"]
    if case["verdict"] == "either":
        return Judgement(outcome="verdict", choice="accepted" if accepted else "refused")
    if case["verdict"] == "invalid":
        # Whoever answers for produced bytes by yes or no checks what producers send.
        usual = CHECKS if case["format"] == "kafka_produced" else READER_CHECKS
        if not _must_see(case, answer.get("checks", usual)):
            return _not_judged(_unseen(case))
    if accepted == (case["verdict"] == "valid"):
        return Judgement(outcome="verdict")
    expected = "true" if case["verdict"] == "valid" else f"false ({_wanted_error(case)})"
    words = (f"accepted: expected {expected}, found {shown(accepted)}",)
    return Judgement(outcome="failed", complaints=words)


def _wanted_error(demanded: Mapping[str, Any]) -> str:
    position = demanded.get("position")
    return str(demanded.get("code", "an error")) + (
        "" if position is None else f" at byte {position}"
    )


def _unseen(case: Mapping[str, Any]) -> str:
    return f"the runner does not look for {case['caught_by']}"


def _accepted(case: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the mistakes in *answer* to a case whose bytes are sound."""
    if answer.get("error") is not None:
        yield f"error: expected none, found {shown(answer['error'], MAX_SHOWN_OF_ERRORS)}"
    elif answer.get("stopped"):
        yield "stopped: expected false, found true: there is nothing to stop at"
    yield from _fields(case, answer, may_be_null=False)
    yield from _records(case, answer)
    yield from _findings(case, answer)


def _refused(
    case: Mapping[str, Any], demanded: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the mistakes in *answer*, which must contain the error *demanded*."""
    error = answer.get("error")
    if error is None:
        yield f"error: expected {_wanted_error(demanded)}, found none"
    else:
        yield from _error(demanded, error)
    yield from _fields(case, answer, may_be_null=True)
    yield from _records(demanded, answer)
    yield from _findings(case, answer)


def _overlooked(case: Mapping[str, Any], answer: Mapping[str, Any]) -> Judgement:
    """Judge the answer of a runner that does not check for the case's fault.

    It may deliver any records, since it does not know that they are damaged; its fields must be
    right. It may as well refuse the bytes for another reason, which is not judged.
    """
    if answer.get("error") is not None:
        return _not_judged(f"{_unseen(case)}, and refused it for another reason")
    if case.get("fields") is None or "fields" not in answer:
        return _not_judged(_unseen(case))
    lines = differences(case["fields"], answer["fields"], "fields")
    return _judged(case, answer, _first_differences(lines))


def _either(case: Mapping[str, Any], answer: Mapping[str, Any]) -> Judgement:
    choice: Choice = "accepted" if answer.get("error") is None else "refused"
    own = "refused" if "error" in case else "accepted"
    if choice != own:
        # The case's findings belong to the opposite decision.
        answer = {key: value for key, value in answer.items() if key != "findings"}
    if choice == "accepted":
        # A reader that accepts bytes without fields reads more than the grammar.
        if case.get("fields") is None:
            answer = {key: value for key, value in answer.items() if key != "fields"}
        return _judged(case, answer, _accepted(case, answer), choice)
    return _judged(case, answer, _refused(case, case.get("refused", {}), answer), choice)


def _error(demanded: Mapping[str, Any], actual_error: Mapping[str, Any]) -> Iterator[str]:
    for key in ERROR_KEYS:
        expected = demanded.get("error" if key == "class" else key)
        if expected is not None and actual_error.get(key) is not None:
            yield from differences(expected, actual_error[key], f"error.{key}")


def _fields(
    case: Mapping[str, Any], answer: Mapping[str, Any], *, may_be_null: bool
) -> Iterator[str]:
    if "fields" not in answer or "fields" not in case:
        return
    expected, found = case["fields"], answer["fields"]
    if found is None and (may_be_null or expected is None):
        return
    if expected is None:
        if case["format"] not in WITHOUT_FIELDS:  # a folder has no grammar that could refuse it
            yield f"fields: expected null, found {shown(found)}"
        return
    yield from _first_differences(differences(expected, found, "fields"))


def _records(demanded: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    if "records" not in answer or "records" not in demanded:
        return
    expected, found = demanded["records"], answer["records"]
    if answer.get("stopped"):
        expected = expected[: demanded.get("records_before", len(expected))]
    pairs = zip(expected, found, strict=False)
    compared = [_comparable(one, other) for one, other in pairs] + expected[len(found) :]
    yield from _first_differences(differences(compared, found, "records"))


def _comparable(
    case_record: Mapping[str, Any], answer_record: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return *case_record* with the keys of *answer_record*, since a reader may not expose all.

    A header key that is no UTF-8 may be given as stored, or as Java decodes it.
    """
    record = {key: value for key, value in case_record.items() if key in answer_record}
    if "headers" in record and isinstance(answer_record["headers"], list):
        others = answer_record["headers"]
        others = [*others, *record["headers"][len(others) :]]
        pairs = zip(record["headers"], others, strict=False)
        record["headers"] = [_comparable_header(one, other) for one, other in pairs]
    return record


def _comparable_header(case_header: Mapping[str, Any], answer_header: Any) -> Mapping[str, Any]:
    key = case_header["key"]
    is_object = isinstance(answer_header, dict)
    if is_object and "decoded" in case_header and answer_header.get("key") != key:
        key = case_header["decoded"]
    return {"key": key, "value": case_header["value"]}


def _keys_left_out(case: Mapping[str, Any], answer: Mapping[str, Any]) -> frozenset[str]:
    pairs = zip(case.get("records", ()), answer.get("records", ()), strict=False)
    return frozenset(key for one, other in pairs for key in one.keys() - other.keys())


def _findings(case: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    if "findings" not in answer or "findings" not in case:
        return
    expected, found = case["findings"], answer["findings"]
    # The keys that the case names for this item, or all keys.
    keys = [*expected, *found[len(expected) :]]
    compared = [
        {key: one.get(key) for key in wanted} for one, wanted in zip(found, keys, strict=False)
    ]
    yield from _first_differences(differences(expected, compared, "findings"))


def _first_differences(lines: Iterable[str]) -> Iterator[str]:
    """Yield the first MAX_DIFFERENCES of *lines*, then a line that says there are more, if there are."""
    for number, line in enumerate(lines):
        if number == MAX_DIFFERENCES:
            yield f"{line.partition(':')[0]}: and more"
            return
        yield line
