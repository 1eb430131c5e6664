"""Tests of the named conditions of errors, without Spark."""

import os
import re
import sys
from types import SimpleNamespace

import pytest

from magicbyte import errors
from magicbyte.errors import InputError, MissingError, TopicError, error_of
from magicbyte.findings import Finding
from magicbyte.spark import _conditions, error_condition
from magicbyte.spark._conditions import CONDITIONS, condition_of, input_errors_have, with_condition
from magicbyte.spark._driver_log import without_traceback
from magicbyte.spark.data_source import MagicbyteDataSource
from paths import CHECKOUT, DATA

CLUSTER = str(DATA / "4.3" / "transactions" / "log-0")


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process look like one that Spark started."""
    started = SimpleNamespace(__spec__=SimpleNamespace(name="pyspark.daemon"))
    monkeypatch.setitem(sys.modules, "__main__", started)
    monkeypatch.setenv("SPARK_HIDE_TRACEBACK", "")


def test_page_explains_all_conditions() -> None:
    page = (CHECKOUT / "docs" / "spark.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(MAGICBYTE_\w+)` \| (.*) \|$", page, re.MULTILINE)
    assert rows == list(CONDITIONS.items())


@pytest.mark.parametrize(
    ("error", "condition"),
    [
        (InputError("x"), "MAGICBYTE_INVALID_INPUT"),
        (TopicError("x"), "MAGICBYTE_NO_SUCH_TOPIC"),
        (MissingError(OSError(2, ""), "/x"), "MAGICBYTE_NO_SUCH_PATH"),
        (errors.GoneError("x"), "MAGICBYTE_CHANGED"),
        (errors.StoreError("x", path="s3://b"), "MAGICBYTE_STORE"),
        (error_of(Finding(code="unreadable", message="x")), "MAGICBYTE_UNREADABLE"),
        (error_of(Finding(code="checksum-mismatch", message="x")), "MAGICBYTE_DAMAGED"),
        (error_of(Finding(code="batch-over-limit", message="x")), "MAGICBYTE_OVER_LIMIT"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_condition_of_an_error_is_that_of_its_class_unless_it_was_given_one(
    error: errors.MagicbyteError, condition: str, worker: None
) -> None:
    kind, text = type(error), str(error)
    assert condition_of(error) == condition
    with pytest.raises(kind) as raised, without_traceback(), without_traceback():
        raise error
    assert str(raised.value) == f"[{condition}] {text}"
    assert type(raised.value).__name__ == kind.__name__
    assert type(raised.value).__module__ == "magicbyte.errors"
    assert error_condition(raised.value) == condition
    with_condition(error, "MAGICBYTE_DATA_LOSS")
    assert str(error).startswith("[MAGICBYTE_DATA_LOSS] ")


def test_a_default_condition_is_for_plain_input_errors_alone() -> None:
    for error, condition in (
        (InputError("x"), "MAGICBYTE_INVALID_OPTION"),
        (TopicError("x"), "MAGICBYTE_NO_SUCH_TOPIC"),
    ):
        with pytest.raises(InputError) as raised, input_errors_have("MAGICBYTE_INVALID_OPTION"):
            raise error
        assert condition_of(raised.value) == condition


def test_spark_is_told_to_leave_out_the_traceback_of_our_errors_alone(worker: None) -> None:
    with pytest.raises(ValueError, match="x"), without_traceback():
        raise ValueError("x")
    assert not os.environ["SPARK_HIDE_TRACEBACK"]
    with pytest.raises(InputError), without_traceback():
        raise InputError("x")
    assert os.environ["SPARK_HIDE_TRACEBACK"]


def test_errors_in_a_process_of_the_users_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_HIDE_TRACEBACK", raising=False)
    assert not _conditions.is_spark_worker()
    with pytest.raises(InputError, match=r"^x$") as raised, without_traceback():
        raise InputError("x")
    assert type(raised.value) is InputError
    assert "SPARK_HIDE_TRACEBACK" not in os.environ


@pytest.mark.parametrize(
    ("options", "condition"),
    [
        ({"nope": "1"}, "MAGICBYTE_UNKNOWN_OPTION"),
        ({"owner": "me"}, "MAGICBYTE_NOT_A_TABLE"),
        ({"startingOffsets": "now"}, "MAGICBYTE_INVALID_OPTION"),
        ({"columns": "nope"}, "MAGICBYTE_INVALID_SCHEMA"),
        ({"subscribe": "nope"}, "MAGICBYTE_NO_SUCH_TOPIC"),
        ({"assign": '{"nope":[0]}'}, "MAGICBYTE_NO_SUCH_TOPIC"),
        ({"path": "/no/such/path"}, "MAGICBYTE_NO_SUCH_PATH"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_options_are_found_when_the_source_is_loaded(
    options: dict[str, str], condition: str
) -> None:
    with pytest.raises(InputError) as raised:
        MagicbyteDataSource({"path": CLUSTER, **options}).schema()
    assert condition_of(raised.value) == condition


def test_lost_offsets_have_a_condition_of_their_own() -> None:
    source = MagicbyteDataSource(
        {"path": CLUSTER, "subscribe": "open", "endingOffsets": '{"open":{"0":99999,"1":-1}}'}
    )
    with pytest.raises(InputError) as raised:
        source.reader(source.schema()).partitions()
    assert condition_of(raised.value) == "MAGICBYTE_DATA_LOSS"
