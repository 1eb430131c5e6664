"""The state of Kafka Connect that the records of its three topics add up to.

The rules come from KafkaConfigBackingStore, KafkaOffsetBackingStore and KafkaStatusBackingStore. Values are JSON
of the worker's internal converter, which has no schemas.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from magicbyte.errors import FormatError
from magicbyte.internal_topics._metadata_messages import invalid_record, unknown_record
from magicbyte.internal_topics._secrets import masked

TARGET_STATES = ("STARTED", "PAUSED", "STOPPED")

CONFIG_KEY = re.compile(
    r"(connector|task|commit|target-state|session-key|restart-connector|tasks-fencing|logger-cluster)(?:-(.*))?",
    re.DOTALL,
)
"""Keys of the topic of configurations, with the name that follows."""

STATUS_KEY = re.compile(r"status-(connector|task|topic)-(.+)", re.DOTALL)
"""Keys of the topic of states, with the name that follows."""

TOPIC_AND_CONNECTOR = ":connector-"
"""Text between the topic and the connector in the key of an active topic."""

Fields = dict[str, Any]


class ConnectorTask(NamedTuple):
    """A task of a connector."""

    connector: str
    number: int


def parse_task_id(text: str) -> ConnectorTask:
    """Parse the end of a key such as `task-NAME-0`; the name may have hyphens."""
    connector, _, number = text.rpartition("-")
    if not connector or not re.fullmatch(r"[0-9]{1,9}", number):
        raise invalid_record(f"the key names no task: {text[:100]!r}")
    return ConnectorTask(connector, int(number))


def json_fields(value: bytes) -> Fields:
    """Return the JSON object *value*. Raises FormatError if it is none."""
    parsed = parse_json(value)
    if not isinstance(parsed, dict):
        raise invalid_record("the value is JSON, but no object")
    return parsed


def parse_json(data: bytes) -> Any:
    """Return the JSON value in *data*. Raises FormatError if it is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise invalid_record(f"no JSON: {error}") from error


def text_of(data: bytes | None) -> str:
    """Return a key as text. Raises FormatError if it is null or not UTF-8."""
    if data is None:
        raise invalid_record("the key is null")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise invalid_record(f"the key is not UTF-8: {error.reason}") from error


def json_text(value: Any) -> str:
    """Return *value* as JSON in one stable form, which UTF-8 can encode."""
    try:
        text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    except RecursionError as error:
        raise invalid_record("JSON that is nested too deeply") from error
    return text if _is_utf8(text) else json.dumps(value, sort_keys=True, separators=(",", ":"))


def _is_utf8(text: str) -> bool:
    return not re.search("[\ud800-\udfff]", text)


def safe_text(value: Any) -> str | None:
    """Return *value* as text that UTF-8 can encode; None for null."""
    if value is None:
        return None
    text = value if isinstance(value, str) else json_text(value)
    return text if _is_utf8(text) else text.encode("utf-8", "replace").decode()


def _properties(fields: Fields) -> dict[str, str]:
    """Return the configuration in the value of a connector or a task."""
    properties = fields.get("properties")
    if not isinstance(properties, dict):
        raise invalid_record("the value has no properties")
    return {safe_text(name) or "": safe_text(value) or "" for name, value in properties.items()}


def masked_json(properties: dict[str, str]) -> str:
    """Return a configuration as JSON, with a mask for each value that may be a secret."""
    return json_text({name: masked(name, value) for name, value in properties.items()})


@dataclass(slots=True)
class ConnectConfigs:
    """Connectors, their tasks and target states (KafkaConfigBackingStore)."""

    connectors: dict[str, dict[str, str]] = field(default_factory=dict)
    """Configurations by name of the connector."""
    target_states: dict[str, str] = field(default_factory=dict)
    task_counts: dict[str, int] = field(default_factory=dict)
    """Tasks by connector, as its last commit has them."""
    committed_tasks: dict[ConnectorTask, dict[str, str]] = field(default_factory=dict)
    """Configurations of tasks."""
    inconsistent: set[str] = field(default_factory=set)
    """Connectors whose last commit counts tasks that no record has."""
    _uncommitted: dict[str, dict[ConnectorTask, dict[str, str]]] = field(default_factory=dict)
    """Configurations of tasks by connector, until a commit follows."""

    def apply(self, record_key: bytes | None, value: bytes | None) -> None:
        """Apply a record. Raises FormatError if it is not one of Connect's."""
        text = text_of(record_key)
        match = CONFIG_KEY.fullmatch(text)
        if match is None or (match[2] is None) != (match[1] == "session-key"):
            raise unknown_record(f"the key {text[:100]!r}", "a key of the topic of configurations")
        name = match[2]
        match match[1]:
            case "connector":
                self._set_connector(name, value)
            case "target-state":
                self._set_target_state(name, value)
            case "task":
                self._set_task(parse_task_id(name), value)
            case "commit":
                self._commit(name, value)

    def task_rows(self, connector: str) -> Iterator[tuple[int, dict[str, str] | None]]:
        """Yield number and configuration of each task; none where records of the last commit are missing.

        Workers wait then for the connector to write its tasks again (ClusterConfigState.tasks).
        """
        if connector not in self.inconsistent:
            for number in range(self.task_counts.get(connector, 0)):
                yield number, self.committed_tasks.get(ConnectorTask(connector, number))

    def _set_connector(self, name: str, value: bytes | None) -> None:
        if value is not None:
            self.connectors[name] = _properties(json_fields(value))
            self.target_states.setdefault(name, TARGET_STATES[0])
            return
        self.connectors.pop(name, None)
        self.task_counts.pop(name, None)
        self._uncommitted.pop(name, None)
        self.inconsistent.discard(name)
        for each in [each for each in self.committed_tasks if each.connector == name]:
            del self.committed_tasks[each]

    def _set_target_state(self, name: str, value: bytes | None) -> None:
        if value is None:
            self.target_states.pop(name, None)
            return
        fields = json_fields(value)
        # Workers before 3.5 know no STOPPED: they read `state`, which is PAUSED then (KIP-875).
        state = fields.get("state.v2") or fields.get("state")
        if state not in TARGET_STATES:
            raise invalid_record(f"target state {state!r} does not exist")
        self.target_states[name] = state

    def _set_task(self, connector_task: ConnectorTask, value: bytes | None) -> None:
        if value is not None:
            properties = _properties(json_fields(value))
            self._uncommitted.setdefault(connector_task.connector, {})[connector_task] = properties

    def _commit(self, name: str, value: bytes | None) -> None:
        if value is None:
            return
        count = json_fields(value).get("tasks")
        if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count < 1 << 31:
            raise invalid_record("the value has no number of tasks")
        uncommitted = self._uncommitted.pop(name, {})
        # After compaction, a commit may follow fewer or more tasks than it counts.
        if count <= len(uncommitted):
            self.committed_tasks.update(uncommitted)
            self.inconsistent.discard(name)
        else:
            self.inconsistent.add(name)
        self.task_counts[name] = count


class ConnectorOffset(NamedTuple):
    """Offset of a partition of a source connector's source: both are JSON."""

    connector: str
    source_partition: str
    offset: str | None


def parse_connector_offset(record_key: bytes | None, value: bytes | None) -> ConnectorOffset:
    """Return the offset in a record of the topic of offsets. Raises FormatError if it is none."""
    parsed = parse_json(text_of(record_key).encode())
    if not isinstance(parsed, list) or len(parsed) != 2 or not isinstance(parsed[0], str):
        raise invalid_record("the key is no pair of a connector and a partition")
    offset = None if value is None else json_text(parse_json(value))
    return ConnectorOffset(safe_text(parsed[0]) or "", json_text(parsed[1]), offset)


class StatusKey(NamedTuple):
    """Subject of a state: a connector, one of its tasks, or a topic that it uses."""

    connector: str
    task_number: int | None = None
    topic: str | None = None


def parse_status_key(record_key: bytes | None) -> StatusKey:
    """Return the subject of a record of the topic of states. Raises FormatError if it is none."""
    text = text_of(record_key)
    match = STATUS_KEY.fullmatch(text)
    if match is None:
        raise unknown_record(f"the key {text[:100]!r}", "a key of the topic of states")
    if match[1] == "connector":
        return StatusKey(match[2])
    if match[1] == "task":
        return StatusKey(*parse_task_id(match[2]))
    topic, separator, connector = match[2].partition(TOPIC_AND_CONNECTOR)
    if not separator:
        raise invalid_record("the key names no connector")
    return StatusKey(connector, topic=topic)


class Status(NamedTuple):
    """State of a connector or a task, or the discovery of a topic."""

    state: str | None
    worker_id: str | None
    generation: int | None
    trace: str | None
    plugin_version: str | None
    timestamp: int | None
    offset: int


def parse_status(value: bytes, timestamp: int | None, offset: int) -> Status:
    """Return the state in a *value*. Raises FormatError if it is none."""
    fields = json_fields(value)
    generation = fields.get("generation")
    if not isinstance(generation, int) or not abs(generation) < 1 << 31:
        generation = None
    return Status(
        state=safe_text(fields.get("state")),
        worker_id=safe_text(fields.get("worker_id")),
        generation=generation,
        trace=safe_text(fields.get("trace")),
        plugin_version=safe_text(fields.get("version")),
        timestamp=timestamp,
        offset=offset,
    )


def is_config_record(record_key: bytes | None) -> bool:
    return record_key is not None and CONFIG_KEY.fullmatch(_lenient(record_key)) is not None


def is_status_record(record_key: bytes | None) -> bool:
    return record_key is not None and STATUS_KEY.fullmatch(_lenient(record_key)) is not None


def is_offset_record(record_key: bytes | None) -> bool:
    """Return whether *record_key* is a pair of a connector's name and an object."""
    if record_key is None or not record_key.startswith(b'["'):
        return False
    try:
        return isinstance(parse_connector_offset(record_key, None).connector, str)
    except FormatError:
        return False


def _lenient(data: bytes) -> str:
    return data.decode("utf-8", "replace")
