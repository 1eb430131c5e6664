"""Tests of columns passed to Arrow as C structs: null counts, and when the structs are released."""

import ctypes
import subprocess
import sys
import weakref
from typing import Any

import pyarrow as pa
import pytest

import log_builder as build
from magicbyte.engines.columnar._arrow_release import PRIVATE_DATA, RELEASE
from magicbyte.engines.columnar._buffers import address
from magicbyte.engines.columnar._c_data import LEN_STRUCT
from magicbyte.engines.columnar.kernel_loader import release_function
from magicbyte.engines.factory import engine
from magicbyte.engines.protocol import Chunk
from magicbyte.limits import Limits
from magicbyte.tables.schemas import WIRE_COLUMNS
from magicbyte_tools.fuzz.agreement import differences

COLUMNAR, VIEWS = engine("columnar"), engine("columnar", views=True)


class Held:
    """Objects that an exported struct keeps alive."""


def test_struct_is_released_without_the_gil() -> None:
    held = Held()
    is_held = weakref.ref(held)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))
    struct = (ctypes.c_int64 * LEN_STRUCT)()
    struct[RELEASE], struct[PRIVATE_DATA] = 1, id(held)
    del held
    assert is_held() is not None
    # What is called through this type does not have the lock.
    drop = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(release_function())
    drop(ctypes.addressof(struct))
    assert is_held() is None and struct[RELEASE] == 0


def test_rows_may_outlive_python() -> None:
    """At exit, Python tears down our modules while Arrow still holds memory of theirs."""
    script = (
        "import sys, pyarrow as pa\n"
        "from magicbyte.engines.factory import engine\n"
        "from magicbyte.engines.protocol import Chunk\n"
        "from magicbyte.limits import Limits\n"
        f"data = memoryview({build.batch(build.records(9))!r})\n"
        "one = engine('columnar')\n"
        "rows = one.decode(Chunk(data, 0), ('key', 'offset'), limits=Limits()).rows\n"
        "pa.kept = sys.kept = rows\n"
        "print(rows.num_rows)\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (ran.stdout, ran.returncode) == ("9\n", 0), ran.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="it is glibc's exit that drops them")
def test_struct_released_after_python_ended_keeps_its_memory() -> None:
    script = (
        "import ctypes\n"
        "from magicbyte.engines.columnar._arrow_release import PRIVATE_DATA, RELEASE\n"
        "from magicbyte.engines.columnar._c_data import LEN_STRUCT\n"
        "from magicbyte.engines.columnar.kernel_loader import release_function\n"
        "struct = (ctypes.c_int64 * LEN_STRUCT)()\n"
        "struct[RELEASE], struct[PRIVATE_DATA] = 1, id(struct)\n"
        "ctypes.pythonapi.Py_IncRef(ctypes.py_object(struct))\n"
        "at_exit = ctypes.CDLL(None).__cxa_atexit\n"
        "at_exit.argtypes = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p\n"
        "assert at_exit(release_function(), ctypes.addressof(struct), None) == 0\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("one", [COLUMNAR, VIEWS])
def test_null_counts_are_those_of_each_batch(one: Any) -> None:
    """The engine uses the same structs again for the next record batch."""
    some = [
        build.record(b"v", None, [(b"h", None), (b"i", b"")]),
        build.record(None, b"k", [(b"h", b"x"), (b"i", None)], delta=1),
    ]
    none = [build.record(b"v", b"k", [(b"h", b"w")])]
    for records in (some, none, some, none):
        data = build.batch(records)
        assert not differences(one, data)
        view = memoryview(data + bytes(100))
        rows = one.decode(Chunk(view, 0), WIRE_COLUMNS, limits=Limits()).rows
        is_some = records is some
        elements = rows["headers"].values
        counts = [array.null_count for array in (rows["key"], rows["value"], elements.field(1))]
        assert counts == [is_some, is_some, 2 * is_some]


@pytest.mark.parametrize("inner", [-1, 5])
@pytest.mark.parametrize("outer", [-1, 7])
def test_times_of_a_wrapper_are_null_where_it_says_none(inner: int, outer: int) -> None:
    """The wrapper's append time replaces the inner messages' times, so their nulls do not count."""
    made = [
        build.wrapper(
            [build.message(b"v", n, time=inner) for n in range(3)],
            2,
            flags=build.APPEND_TIME,
            time=outer,
        ),
        build.wrapper([build.message(b"v", n, time=inner) for n in range(3)], 5, time=outer),
    ]
    for data in (*made, b"".join(made), b"".join(made[::-1])):
        assert not differences(COLUMNAR, data + build.message(b"v", 6))


def test_columns_are_in_the_requested_order() -> None:
    data = memoryview(build.batch(build.records(3)))
    for names in (("value", "offset"), ("headers", "codec", "key"), ("position",), ("key", "key")):
        rows = COLUMNAR.decode(Chunk(data, 0), names, limits=Limits()).rows
        assert rows.schema.names == list(dict.fromkeys(names)) and rows.num_rows == 3


def test_column_keeps_the_memory_of_its_rows_alive() -> None:
    data = memoryview(build.batch([build.record(b"value", b"key")]))
    rows = COLUMNAR.decode(Chunk(data, 0), WIRE_COLUMNS, limits=Limits()).rows
    place, value = address(rows["value"].buffers()[2]), rows["value"]
    del rows
    others = [COLUMNAR.decode(Chunk(data, 0), WIRE_COLUMNS, limits=Limits()).rows for _ in range(3)]
    assert place not in {address(rows["value"].buffers()[2]) for rows in others}
    assert value == pa.array([b"value"])
