"""Tests that every choice of columns gives the rows of the reference engine, by either decode kernel."""

import random
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest

import log_builder as build
from extent import part
from magicbyte.engines.columnar import ColumnarEngine, _buffers, kernel_loader
from magicbyte.engines.columnar._kernel_list import (
    FORMATS,
    column_modes,
    decoder_name,
    description,
    kernels,
)
from magicbyte.engines.protocol import Chunk
from magicbyte.limits import Limits
from magicbyte_tools.fuzz.agreement import differences


def choices(name: str) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yield each choice of columns of the format *name* that has modes of its own, as copies and as views."""
    names = [column.name for column in description(name).TABLE.columns]
    seen = set()
    for count in range(len(names) + 1):
        for columns in combinations(names, count):
            for views in (False, True):
                modes = column_modes(name, columns, views)
                if modes not in seen:
                    seen.add(modes)
                    yield columns, views


def batches() -> bytes:
    """Return v2 batches with nulls, headers and control batches, and batches that end too early."""
    chance = random.Random(4)
    records = [
        build.record(
            chance.choice((None, b"", b"value", bytes(range(70)))),
            chance.choice((None, b"", b"key")),
            chance.choice(([], [(b"h\xc3\xa9", b"1"), (b"", None)], [(b"h", bytes(200))])),
            delta=number,
            time_delta=number - 2,
        )
        for number in range(30)
    ]
    cut = [*records[:3], records[3][:-1]]
    return b"".join(
        [
            build.batch(records, 7),
            build.batch(records, 50, time=(1 << 63) - 2, sequence=(1 << 31) - 3, producer=4),
            build.control(build.COMMIT, 90, 9),
            build.batch(records, 100, flags=build.APPEND_TIME),
            build.batch(records, 150, codec=3),
            build.batch(cut, 200),
            build.batch(records, 250, count=31),
            build.batch([build.record(len_key=-2), build.record(len_value=-7)], 300),
            build.batch([build.record(time_delta=-1)], 310, time=0, max_time=-1),
        ]
    )


def messages() -> bytes:
    """Return messages of v0 and v1 with nulls, wrapper messages, and one that ends too early."""
    inner = [build.message(b"m%d" % number, number, b"k") for number in range(9)]
    return b"".join(
        [
            *inner,
            build.message(None, 9),
            build.message(b"", 10, b"", time=-1),
            build.wrapper(inner, 30, codec=2),
            build.wrapper(inner, 40, flags=build.APPEND_TIME, time=77),
            build.wrapper([*inner[:2], inner[2][:-1]], 50),
            build.message(b"last", 60),
        ]
    )


DATA = {"kafka_record_batch": batches(), "kafka_message": messages()}
NUM_CHOICES = {"kafka_record_batch": 112, "kafka_message": 7}


@pytest.fixture
def empty_caches() -> Iterator[None]:
    """No kernel of an earlier read is used, nor one of this test later."""
    kernel_loader.decoder.cache_clear()
    _buffers.reset()
    yield
    kernel_loader.decoder.cache_clear()
    _buffers.reset()


@pytest.mark.parametrize("name", sorted(set(FORMATS.values())))
def test_every_choice_of_columns_gives_the_rows_of_the_reference(name: str) -> None:
    found = list(choices(name))
    assert len(found) == NUM_CHOICES[name]
    for columns, views in part(found, len(found) // 5):
        wrong = differences(ColumnarEngine(views=views), DATA[name], columns=columns)
        assert not wrong, (columns, views)


@pytest.mark.usefixtures("empty_caches")
@pytest.mark.parametrize("name", sorted(set(FORMATS.values())))
def test_the_kernel_for_any_columns_gives_the_rows_of_the_reference(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def general_name(name: str, modes: Any) -> str:
        asked.add(decoder_name(name, modes))
        return f"{name}_decode"

    asked: set[str] = set()
    monkeypatch.setattr(kernel_loader, "decoder_name", general_name)
    found = list(choices(name))
    compared = part(found, len(found) // 3)
    for columns, views in found:
        engine = ColumnarEngine(views=views)
        if (columns, views) in compared:
            assert not differences(engine, DATA[name], columns=columns), (columns, views)
        else:
            engine.decode(Chunk(memoryview(DATA[name]), 0), columns, limits=Limits(), verify=False)
    # These choices have a kernel of their own, which the other test has used.
    assert asked == {kernel for kernel in kernels() if kernel.startswith(f"{name}_decode")}
