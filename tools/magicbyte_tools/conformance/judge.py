"""Judges a runner's answer to a conformance case, without any files or processes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from magicbyte_tools.conformance.compare import differences, shown

READER_CHECKS = ("grammar", "exact", "checksum", "codec", "order", "directory", "limits")
"""Classes of faults that a reader may check; a runner that names none is judged by all of them."""

CHECKS = (*READER_CHECKS, "produced")
"""Checks of readers, and `produced`: a broker's checks of produced batches that readers accept."""

ERROR_KEYS = ("position", "payload_position", "code", "class", "file")
"""Keys of an error that are compared where both sides have them."""

MAX_DIFFERENCES = 5
"""Largest number of differences in a judgement."""

Outcome = Literal["passed", "failed", "not-judged"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """Result of comparing a runner's answer with a conformance case."""

    outcome: Outcome
    complaints: tuple[str, ...] = ()
    """Differences between the expected and the actual answer, or the reason why it cannot be judged."""
    choice: Literal["accepted", "refused"] | None = None
    """Decision of the runner on a case with verdict `either`."""


def judge(case: Mapping[str, Any], answer: Any) -> Judgement:
    """Judge *answer*, a runner's parsed output, by *case*, the JSON of a case."""
    if wrong := shape(answer):
        return Judgement("failed", (wrong,))
    if "unsupported" in answer:
        return Judgement("not-judged", (answer["unsupported"],))
    if not _is_answer(case, answer):
        return Judgement("failed", ("unanswered: neither fields nor records nor an error",))
    if case["verdict"] == "either":
        return _either(case, answer)
    if case["verdict"] == "valid":
        return _judged(_accepted(case, answer))
    if _must_see(case, answer.get("checks", READER_CHECKS)):
        return _judged(_refused(case, case, answer))
    if answer.get("error") is None and (case.get("fields") is None or "fields" not in answer):
        return Judgement("not-judged", (f"the runner does not look for {case['caught_by']}",))
    return _judged(_overlooked(case, answer))


def _is_answer(case: Mapping[str, Any], answer: Mapping[str, Any]) -> bool:
    """Return whether *answer* has fields, an error, or the records or findings that *case* expects."""
    if answer.get("fields") is not None or answer.get("error") is not None:
        return True
    told = "findings" if case["format"] == "kafka_produced" else "records"
    return told in answer and told in case


def _must_see(case: Mapping[str, Any], checks: Sequence[str]) -> bool:
    """Return whether a runner that makes the checks *checks* must refuse the bytes of *case*.

    A case without fields must be refused by the grammar alone, no matter which check finds the fault.
    """
    has_no_fields = "fields" in case and case["fields"] is None and case["format"] != "log_dir"
    return case["caught_by"] in checks or (has_no_fields and "grammar" in checks)


def _judged(
    complaints: Iterator[str], choice: Literal["accepted", "refused"] | None = None
) -> Judgement:
    found = tuple(complaints)
    return Judgement("failed" if found else "passed", found, choice)


def shape(answer: Any) -> str | None:
    """Return why *answer* does not conform to the protocol; None if it does."""
    if not isinstance(answer, dict):
        return f"expected a JSON object, found {shown(answer)}"
    if "unsupported" in answer:
        if isinstance(answer["unsupported"], str) and answer["unsupported"]:
            return None
        return f"unsupported: expected a reason, found {shown(answer['unsupported'])}"
    for key, kinds in (
        ("records", (list,)),
        ("findings", (list,)),
        ("checks", (list,)),
        ("stopped", (bool,)),
        ("error", (dict, type(None))),
    ):
        if key in answer and not isinstance(answer[key], kinds):
            names = {list: "an array", bool: "true or false", dict: "an object or null"}
            return f"{key}: expected {names[kinds[0]]}, found {shown(answer[key])}"
    for finding in answer.get("findings", ()):
        if not isinstance(finding, dict):
            return f"findings: expected objects, found {shown(finding)}"
    for name in answer.get("checks", ()):
        if name not in CHECKS:
            return f"checks: expected some of {', '.join(CHECKS)}, found {shown(name)}"
    return None


def _accepted(case: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the mistakes in *answer* to a case whose bytes are sound."""
    if answer.get("error") is not None:
        yield f"error: expected none, found {shown(answer['error'])}"
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
        place = demanded.get("position")
        where = "" if place is None else f" at byte {place}"
        yield f"error: expected {demanded.get('code', 'one')}{where}, found none"
    else:
        yield from _error(demanded, error)
    yield from _fields(case, answer, may_be_null=True)
    yield from _records(demanded, answer)
    yield from _findings(case, answer)


def _overlooked(case: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the mistakes in *answer* of a runner that does not check for the case's fault.

    Such a runner may deliver any rows: it does not know that they are damaged.
    """
    if answer.get("error") is not None:
        checks = ", ".join(answer.get("checks", READER_CHECKS)) or "nothing"
        yield (
            f"error: expected none of a runner that looks for {checks} alone, "
            f"found {shown(answer['error'])}"
        )
    if "fields" in answer and case.get("fields") is not None:
        yield from _first_differences(differences(case["fields"], answer["fields"], "fields"))


def _either(case: Mapping[str, Any], answer: Mapping[str, Any]) -> Judgement:
    choice: Literal["accepted", "refused"]
    choice = "accepted" if answer.get("error") is None else "refused"
    own = "refused" if "error" in case else "accepted"
    if choice != own:
        # The case's findings are those of a reader with the opposite decision.
        answer = {key: value for key, value in answer.items() if key != "findings"}
    if choice == "accepted":
        return _judged(_accepted(case, answer), choice)
    return _judged(_refused(case, case.get("refused", {}), answer), choice)


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
        if case["format"] != "log_dir":  # a folder has no grammar that could refuse it
            yield f"fields: expected null, found {shown(found)}"
        return
    yield from _first_differences(differences(expected, found, "fields"))


def _records(demanded: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    if "records" not in answer or "records" not in demanded:
        return
    expected = demanded["records"]
    if answer.get("stopped"):
        expected = expected[: demanded.get("records_before", len(expected))]
    yield from _first_differences(differences(expected, answer["records"], "records"))


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
