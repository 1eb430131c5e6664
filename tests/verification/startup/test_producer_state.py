"""Tests of the state of producers in a predicted startup."""

from typing import Any

import pytest

import log_builder as build
from magicbyte.engines.entry import read_entry
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.limits import DEFAULT_LIMITS
from magicbyte.verification.startup._producer_state import ProducerState


def test_transaction_markers_that_say_the_same_are_decoded_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    positions = []
    decode_entry = ReferenceEngine.decode_entry

    def counted(engine: ReferenceEngine, data: Any, entry: Any, *rest: Any, **options: Any) -> Any:
        positions.append(entry.base_offset)
        return decode_entry(engine, data, entry, *rest, **options)

    monkeypatch.setattr(ReferenceEngine, "decode_entry", counted)
    state = ProducerState({producer: 0 for producer in range(20)})
    for producer in range(20):
        marker = build.control(build.ABORT, 100 + producer, producer)
        state.replay(memoryview(marker), read_entry(marker, 0), DEFAULT_LIMITS)
    assert not state.open_transactions
    assert positions == [100]
