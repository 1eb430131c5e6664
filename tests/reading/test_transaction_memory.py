"""Tests that the memory of a plan with many transactions is that of their columns."""

from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
from magicbyte_tools.bench import planning
from memory_growth import measured

NUM_TRANSACTIONS = 200_000

MAX_BYTES = 110e6
"""A third is of the passes over the log, whatever it holds; as objects the transactions take 100 MB more."""


@pytest.fixture(scope="module", params=[1, 100])
def aborted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a log of aborted transactions, of which one, or a hundred, are open at a time."""
    folder = tmp_path_factory.mktemp("aborted")
    planning.write_aborted(folder / "one-0", NUM_TRANSACTIONS, num_producers=request.param)
    list(mb.open(folder).records(["offset"]))  # loads what a plan needs once
    return folder


@pytest.mark.parametrize("transactions", ["markers", "index"])
def test_finished_transactions_take_memory_as_columns(transactions: str, aborted: Path) -> None:
    def num_rows() -> Any:
        dataset = mb.open(aborted, transactions=transactions)
        assert len(dataset.plan()) == 1
        if transactions == "index":
            return NUM_TRANSACTIONS
        return sum(batch.num_rows for batch in dataset.transactions(["first_offset"]))

    found, figures = measured(num_rows)
    assert found == NUM_TRANSACTIONS
    assert figures["grown_bytes"] < MAX_BYTES
