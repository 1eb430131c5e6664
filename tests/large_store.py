"""A simulated store, whose tree is taken for a large one: each folder is listed by itself, and forgotten."""

from typing import Any

import pytest

import magicbyte as mb
from magicbyte.storage import _storage
from magicbyte_tools.bench import simulated_store

SEGMENT_BYTES = 260_000
"""Bytes of a segment: 20 of them are more than the 4 MiB of a log that is planned by index."""

FILES_PER_PARTITION = 4 * 20 + 2


def take_for_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_storage, "MAX_TREE_OBJECTS", 100)
    _storage.forget_small_trees()


def options_of(num_partitions: int, **more: Any) -> dict[str, Any]:
    simulated_store.register()
    return {
        "num_partitions": num_partitions,
        "num_segments": 20,
        "segment_bytes": SEGMENT_BYTES,
        **more,
    }


def open_store(num_partitions: int, **options: Any) -> mb.Dataset:
    """Open a simulated store of 20 segments per partition."""
    return mb.open(simulated_store.URL, storage_options=options_of(num_partitions), **options)
