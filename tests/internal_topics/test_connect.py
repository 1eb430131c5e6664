"""Tests of the fold of Kafka Connect's topics."""

import json
import random
from contextlib import suppress
from typing import Any

import pytest

from cli.dump_log.drawn import damaged
from magicbyte.errors import FormatError
from magicbyte.internal_topics._secrets import masked
from magicbyte.internal_topics.connect import (
    ConnectConfigs,
    ConnectorOffset,
    ConnectorTask,
    StatusKey,
    is_config_record,
    is_offset_record,
    is_status_record,
    parse_connector_offset,
    parse_status,
    parse_status_key,
)


def configs_of(*records: tuple[str, Any]) -> ConnectConfigs:
    configs = ConnectConfigs()
    for name, value in records:
        configs.apply(name.encode(), None if value is None else json.dumps(value).encode())
    return configs


def properties(**values: str) -> dict[str, Any]:
    return {"properties": values}


def test_connector_starts_unless_another_state_is_asked_for() -> None:
    created = ("connector-a", properties(x="1"))
    assert configs_of(created).target_states == {"a": "STARTED"}
    paused = ("target-state-a", {"state": "PAUSED"})
    assert configs_of(created, paused).target_states == {"a": "PAUSED"}
    stopped = ("target-state-a", {"state": "PAUSED", "state.v2": "STOPPED"})
    assert configs_of(created, stopped, created).target_states == {"a": "STOPPED"}
    assert configs_of(created, stopped, ("target-state-a", None)).target_states == {}


def test_tasks_count_when_the_commit_follows() -> None:
    tasks = [("task-a-0", properties(t="0")), ("task-a-1", properties(t="1"))]
    assert list(configs_of(*tasks).task_rows("a")) == []
    configs = configs_of(*tasks, ("commit-a", {"tasks": 2}))
    assert list(configs.task_rows("a")) == [(0, {"t": "0"}), (1, {"t": "1"})]


def test_fewer_tasks_leave_the_others_out() -> None:
    tasks = [(f"task-a-{number}", properties(t="x")) for number in range(3)]
    configs = configs_of(*tasks, ("commit-a", {"tasks": 3}), tasks[0], ("commit-a", {"tasks": 1}))
    assert [number for number, _ in configs.task_rows("a")] == [0]


def test_commit_whose_tasks_were_compacted_away_gives_none() -> None:
    configs = configs_of(("task-a-1", properties(t="1")), ("commit-a", {"tasks": 2}))
    assert list(configs.task_rows("a")) == []
    assert configs.inconsistent == {"a"}


def test_deleted_connector_takes_its_tasks_along() -> None:
    configs = configs_of(
        ("connector-a", properties(x="1")),
        ("task-a-0", properties(t="0")),
        ("commit-a", {"tasks": 1}),
        ("connector-a", None),
    )
    assert (configs.connectors, configs.committed_tasks, configs.task_counts) == ({}, {}, {})


def test_names_may_have_hyphens_and_digits() -> None:
    configs = configs_of(("task-a-b-7-0", properties(t="0")), ("commit-a-b-7", {"tasks": 1}))
    assert configs.committed_tasks == {ConnectorTask("a-b-7", 0): {"t": "0"}}


def test_other_records_of_workers_change_nothing() -> None:
    configs = configs_of(
        ("session-key", {"key": "secret"}),
        ("restart-connector-a", {"include-tasks": True}),
        ("tasks-fencing-a", {"task-count": 2}),
        ("logger-cluster-org.apache", {"level": "INFO"}),
    )
    assert configs == ConnectConfigs()


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        (b"nothing-a", b"{}", "internal-record-unknown"),
        (None, b"{}", "internal-record-invalid"),
        (b"\xff", b"{}", "internal-record-invalid"),
        (b"connector-a", b"[]", "internal-record-invalid"),
        (b"connector-a", b"{}", "internal-record-invalid"),
        (b"connector-a", b"{", "internal-record-invalid"),
        (b"connector-a", b"[" * 100_000, "internal-record-invalid"),
        (b"task-a-x", b"{}", "internal-record-invalid"),
        (b"task-0", b"{}", "internal-record-invalid"),
        (b"commit-a", b'{"tasks":-1}', "internal-record-invalid"),
        (b"commit-a", b'{"tasks":true}', "internal-record-invalid"),
        (b"commit-a", b'{"tasks":9e99}', "internal-record-invalid"),
        (b"target-state-a", b'{"state":"GONE"}', "internal-record-invalid"),
    ],
)
def test_record_that_is_none_of_connects_is_a_fault(
    name: bytes | None, value: bytes, code: str
) -> None:
    with pytest.raises(FormatError) as caught:
        ConnectConfigs().apply(name, value)
    assert caught.value.finding.code == code


def test_commit_of_very_many_tasks_takes_no_memory() -> None:
    configs = configs_of(("connector-a", properties(x="1")), ("commit-a", {"tasks": 2**31 - 1}))
    assert list(configs.task_rows("a")) == []


def test_offset_has_one_form_of_json() -> None:
    offset = parse_connector_offset(b'["a", {"table": "t", "db": "d"}]', b'{"pos": 5}')
    assert offset == ConnectorOffset("a", '{"db":"d","table":"t"}', '{"pos":5}')
    assert parse_connector_offset(b'["a",{}]', None).offset is None


@pytest.mark.parametrize("data", [b"[]", b'["a"]', b"[1,{}]", b"{}", b"x", b"\xff", None])
def test_other_key_is_no_offset(data: bytes | None) -> None:
    with pytest.raises(FormatError):
        parse_connector_offset(data, b"{}")
    assert not is_offset_record(data)


def test_text_that_utf8_cannot_encode_is_escaped() -> None:
    offset = parse_connector_offset(rb'["a\ud800",{"x":"\ud800"}]', rb'"\ud800"')
    for text in offset:
        assert text is not None and text.encode()


def test_status_keys_name_connectors_tasks_and_topics() -> None:
    assert parse_status_key(b"status-connector-a-b") == StatusKey("a-b")
    assert parse_status_key(b"status-task-a-b-0") == StatusKey("a-b", 0)
    assert parse_status_key(b"status-topic-t:connector-a") == StatusKey("a", topic="t")
    for data in (b"status-x-a", b"status-topic-t", b"status-task-a", None):
        with pytest.raises(FormatError):
            parse_status_key(data)


def test_status_of_any_json_is_read() -> None:
    status = parse_status(b'{"state":"FAILED","generation":9999999999999,"trace":[1]}', 5, 7)
    assert (status.state, status.generation, status.trace) == ("FAILED", None, "[1]")
    with pytest.raises(FormatError):
        parse_status(b"1", None, 0)


def test_kinds_of_records_are_told_apart_by_their_keys() -> None:
    examples = {
        is_config_record: (b"connector-a", b"commit-a", b"session-key", b"target-state-a"),
        is_status_record: (b"status-connector-a", b"status-topic-t:connector-a"),
        is_offset_record: (b'["a",{"file":"f"}]',),
    }
    for is_record, accepted in examples.items():
        for other, keys in examples.items():
            assert [is_record(key) for key in keys] == [other is is_record] * len(keys)
        assert not any(map(is_record, (None, b"", b"user-1", b"[1,2]")))
        assert all(map(is_record, accepted))


@pytest.mark.parametrize(
    "name",
    [
        *(
            "database.password",
            "sasl.jaas.config",
            "aws.secret.access.key",
            "ssl.keystore.password",
        ),
        *("consumer.override.sasl.jaas.config", "api.key", "accessToken", "azure.credential"),
        *("database.history.consumer.ssl.key.password", "snowflake.private.key"),
    ],
)
def test_secret_is_masked_by_its_name(name: str) -> None:
    assert masked(name, "geheim") == "[hidden]"


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("topics", "orders", "orders"),
        ("key.converter", "org.x.StringConverter", "org.x.StringConverter"),
        ("connection.url", "jdbc:x://u:geheim@h/d", "jdbc:x://[hidden]@h/d"),
        ("connection.url", "jdbc:x://h/d?user=u&password=geheim&x=1", None),
    ],
)
def test_other_values_are_shown_but_for_passwords_in_them(
    name: str, value: str, shown: str | None
) -> None:
    assert masked(name, value) == (shown or value.replace("geheim", "[hidden]"))


@pytest.mark.parametrize("seed", range(5))
def test_damaged_records_raise_no_other_error(seed: int) -> None:
    chance = random.Random(seed)
    examples = [
        (b"connector-a", b'{"properties":{"x":"1"}}'),
        (b"task-a-0", b'{"properties":{"x":"1"}}'),
        (b"commit-a", b'{"tasks":1}'),
        (b"target-state-a", b'{"state":"PAUSED"}'),
        (b"status-task-a-0", b'{"state":"RUNNING","generation":1}'),
        (b'["a",{"f":"g"}]', b'{"p":1}'),
    ]
    configs = ConnectConfigs()
    for _ in range(2000):
        key, value = (damaged(chance, data) for data in chance.choice(examples))
        for read in (
            lambda: configs.apply(key, value),  # noqa: B023
            lambda: parse_status_key(key),  # noqa: B023
            lambda: parse_status(value, None, 0),  # noqa: B023
            lambda: parse_connector_offset(key, value),  # noqa: B023
        ):
            with suppress(FormatError):
                read()
