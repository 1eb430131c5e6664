"""Typed keys and values in the output of a pipeline: how tasks decode the records of each topic, and their findings."""

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import pyarrow as pa

from magicbyte.decoding.decode_option import DecodeForm, parse_decode_option
from magicbyte.errors import InputError
from magicbyte.findings import Finding
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.planner import Planner
from magicbyte.reading.typed_columns import RecordTypes
from magicbyte.reading.typed_records import (
    SideCounts,
    TypedDecoder,
    TypedOptions,
    typed_reading,
)
from magicbyte.reading.typed_storage import (
    lost_time_findings,
    stored_batch,
    stored_typed_schema,
)
from magicbyte.spark._schema_changes import SchemaChangeError, added_columns, merged_schema

LATEST = "latest"


@dataclass(frozen=True, slots=True)
class DecodeSettings:
    """Forms and schemas with which a pipeline decodes keys and values."""

    key_form: str
    value_form: str
    schema_paths: tuple[str, ...] = ()
    """Sources of schemas; none: the registries' topics below the paths."""
    reader_schema: str = LATEST

    @classmethod
    def of(
        cls,
        forms_or_text: str | Mapping[str, DecodeForm] | None,
        schema_paths: Sequence[str],
        reader_schema: str | int,
    ) -> Self | None:
        """Return the settings; None if keys and values stay bytes.

        Args:
            forms_or_text: Forms, or the text of the option that names them.
        Raises:
            InputError: The text names no forms, or there are schemas without forms.
        """
        if forms_or_text is None:
            for name, is_given in (
                ("schemas", schema_paths),
                ("reader_schema", str(reader_schema) != LATEST),
            ):
                if is_given:
                    raise InputError(f"{name} without decode", "the option decode, such as auto")
            return None
        forms = (
            parse_decode_option([forms_or_text])
            if isinstance(forms_or_text, str)
            else forms_or_text
        )
        return cls(str(forms["key"]), str(forms["value"]), tuple(schema_paths), str(reader_schema))

    @property
    def facts(self) -> dict[str, str]:
        """Settings that all files of an output share."""
        return {
            "key": self.key_form,
            "value": self.value_form,
            "reader_schema": self.reader_schema,
        }


@dataclass(slots=True)
class TopicCounts:
    """Values of a topic that were decoded, and those that were not."""

    sides: dict[str, SideCounts]
    lost_times: Counter[str] = field(default_factory=Counter)
    """Times that became null, by column."""

    def to_json(self) -> dict[str, Any]:
        return {
            "sides": {side: _side_to_json(counts) for side, counts in self.sides.items()},
            "lost_times": dict(self.lost_times),
        }

    def add_json(self, json_value: Mapping[str, Any]) -> None:
        """Add the counts of another task, which `to_json` returned."""
        self.lost_times.update(json_value["lost_times"])
        for side, counts in json_value["sides"].items():
            total = self.sides.setdefault(side, SideCounts())
            total.num_values += counts["values"]
            for code, number, *first_row in counts["faults"]:
                total.faults[code] += number
                known = total.first_rows.get(code)
                first = (first_row[0], first_row[1], first_row[2])
                total.first_rows[code] = first if known is None else min(known, first)


def _side_to_json(side_counts: SideCounts) -> dict[str, Any]:
    faults = [
        [code, number, *side_counts.first_rows[code]]
        for code, number in sorted(side_counts.faults.items())
    ]
    return {"values": side_counts.num_values, "faults": faults}


@dataclass(frozen=True, slots=True)
class TypedTopic:
    """Decodes the records of a topic, and gives them the types of files. Tasks get it."""

    decoder: TypedDecoder
    schema: pa.Schema
    """Columns of the files."""

    def new_counts(self) -> TopicCounts:
        return TopicCounts(self.decoder.new_counts())

    def stored(self, batch: pa.RecordBatch, topic_counts: TopicCounts) -> pa.RecordBatch:
        """Return the rows of a file for *batch*, which has the columns that `decoder` needs; add to *topic_counts*."""
        decoded = self.decoder.decode(batch, topic_counts.sides)
        return stored_batch(decoded.select(self.schema.names), self.schema, topic_counts.lost_times)


@dataclass(frozen=True, slots=True)
class TypedTopics:
    """Decoders of the topics of a pipeline."""

    decode_settings: DecodeSettings
    topics_by_name: Mapping[str | None, TypedTopic]
    findings: tuple[Finding, ...]
    """Findings about schemas."""

    @property
    def facts(self) -> dict[str, Any]:
        """Facts that the plan of tasks depends on: an interrupted run with other schemas is not resumed."""
        schemas = {
            topic or "": hashlib.sha256(typed.schema.serialize()).hexdigest()
            for topic, typed in self.topics_by_name.items()
        }
        return {"decode": self.decode_settings.facts, "schemas": schemas}

    def findings_of(self, counts_of_tasks: Iterable[Sequence[Any]]) -> Iterator[Finding]:
        """Yield the findings about the values that tasks have decoded: pairs of a topic and its counts in JSON."""
        yield from self.findings
        totals: dict[str | None, TopicCounts] = {}
        for topic, json_value in counts_of_tasks:
            if topic not in totals:
                totals[topic] = self.topics_by_name[topic].new_counts()
            totals[topic].add_json(json_value)
        for topic, topic_counts in totals.items():
            yield from self.topics_by_name[topic].decoder.findings(topic, topic_counts.sides)
            yield from lost_time_findings(topic, topic_counts.lost_times)

    def kept_schemas(self, kept: Mapping[str, str], topics: Iterable[str]) -> dict[str, str]:
        """Return the columns of all files of each topic, encoded, after a run that writes to *topics*.

        Args:
            kept: Columns of the files of earlier runs.
            topics: Topics of the run.
        Raises:
            InputError: A column has another type than in earlier files: no reader merges them.
        """
        merged = dict(kept)
        for topic in topics:
            schema = self.topics_by_name[topic].schema
            if topic in kept:
                schema = _merged(topic, decoded_schema(kept[topic]), schema)
            merged[topic] = encoded_schema(schema)
        return merged

    def new_columns(self, kept: Mapping[str, str], topics: Iterable[str]) -> Iterator[str]:
        """Yield a sentence for each of *topics* that has columns which the files of earlier runs lack."""
        for topic in topics:
            if topic in kept:
                added = added_columns(
                    decoded_schema(kept[topic]), self.topics_by_name[topic].schema
                )
                if added:
                    yield f"{topic}: new columns {', '.join(added)}, null in the files of earlier runs"


def _merged(topic: str, earlier: pa.Schema, newer: pa.Schema) -> pa.Schema:
    try:
        return merged_schema(earlier, newer)
    except SchemaChangeError as error:
        raise InputError(
            f"{error.column} of {topic} is {error.newer} now, and {error.earlier} in the files of earlier runs",
            "the reader schema of the earlier runs, by its id, the same form, or a new output",
        ) from error


def encoded_schema(schema: pa.Schema) -> str:
    return base64.b64encode(schema.serialize()).decode("ascii")


def decoded_schema(text: str) -> pa.Schema:
    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text)))


def settled_topics(
    dataset: Dataset, decode_settings: DecodeSettings, columns: Sequence[str]
) -> TypedTopics:
    """Return how the records of each topic of *dataset* are decoded, by samples of them and the registries' schemas.

    Args:
        columns: Columns of typed records; `topic` is a folder.
    Raises:
        InputError: A form or a schema cannot be used.
    """
    planner = Planner(dataset.options)
    topics_by_name: dict[str | None, TypedTopic] = {}
    findings: dict[Finding, None] = {}
    options = TypedOptions(
        key_form=decode_settings.key_form,
        value_form=decode_settings.value_form,
        schema_paths=decode_settings.schema_paths or None,
        reader_schema=decode_settings.reader_schema,
        columns=[name for name in columns if name != "topic"],
    )
    for topic in dict.fromkeys(log.topic for log in dataset.logs):
        reading = typed_reading(dataset, planner, topic, options, RecordTypes.SAMPLE)
        found = [*reading.setup_findings, *reading.schema_findings()]
        findings |= dict.fromkeys(found)
        # A column without a type has no values yet. Parquet's readers could not merge it with the later one.
        typed_fields = [one for one in reading.schema if not pa.types.is_null(one.type)]
        schema = stored_typed_schema(pa.schema(typed_fields))
        topics_by_name[topic] = TypedTopic(reading.decoder, schema)
    return TypedTopics(decode_settings, topics_by_name, tuple(findings))
