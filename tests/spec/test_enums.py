"""Tests that all enums have the numbers of Kafka's classes."""

import pkgutil
from collections.abc import Iterator
from enum import IntEnum
from importlib import import_module

from magicbyte_formats import kaitai
from magicbyte_kernels.kaitai_struct import KaitaiStruct

# CompressionType, TimestampType, ControlRecordType, MetadataRecordType.
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
TIMESTAMP_TYPES = {"create_time": 0, "log_append_time": 1}
CONTROL_TYPES = [
    *("abort", "commit", "leader_change", "snapshot_header", "snapshot_footer"),
    *("kraft_version", "kraft_voters"),
]
RECORD_TYPES = {
    "register_broker": 0,
    "unregister_broker": 1,
    "topic": 2,
    "partition": 3,
    "config": 4,
    "partition_change": 5,
    "fence_broker": 7,
    "unfence_broker": 8,
    "remove_topic": 9,
    "delegation_token": 10,
    "user_scram_credential": 11,
    "feature_level": 12,
    "client_quota": 14,
    "producer_ids": 15,
    "broker_registration_change": 17,
    "access_control_entry": 18,
    "remove_access_control_entry": 19,
    "no_op": 20,
    "zk_migration_state": 21,
    "remove_user_scram_credential": 22,
    "begin_transaction": 23,
    "end_transaction": 24,
    "abort_transaction": 25,
    "remove_delegation_token": 26,
    "register_controller": 27,
    "clear_elr": 28,
    "unregister_controller": 29,
}

Enums = dict[str, dict[str, int]]


def numbered(names: list[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


BATCH: Enums = {"Codecs": numbered(CODECS), "TimestampTypes": TIMESTAMP_TYPES}
EXPECTED: dict[str, Enums] = {
    "kafka_control_record": {"ControlTypes": numbered(CONTROL_TYPES)},
    "kafka_message": {"Codecs": numbered(CODECS[:4]), "TimestampTypes": TIMESTAMP_TYPES},
    "kafka_metadata_record": {"RecordTypes": RECORD_TYPES},
    "kafka_record_batch": BATCH,
    "kafka_record_batch_kip_931": BATCH,
}


def enums(around: object) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield (name, {member: number}) of each enum in *around*, a module or a parser class."""
    for name, found in vars(around).items():
        if not isinstance(found, type) or found is IntEnum:
            continue
        if issubclass(found, IntEnum):
            yield name, {member.name: member.value for member in found}
        elif issubclass(found, KaitaiStruct) and found is not KaitaiStruct:
            yield from enums(found)


def test_every_enum_has_the_numbers_of_kafka() -> None:
    modules = [module.name for module in pkgutil.iter_modules(kaitai.__path__)]
    found = {name: dict(enums(import_module(f"{kaitai.__name__}.{name}"))) for name in modules}
    assert {name: held for name, held in found.items() if held} == EXPECTED
