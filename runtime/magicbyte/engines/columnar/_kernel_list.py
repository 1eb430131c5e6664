"""The kernels: their names, their signatures, and the Python functions that they are compiled from."""

import importlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

from magicbyte.engines.columnar._signatures import (
    DECODE_AVRO,
    DECODE_PROTOBUF,
    DECOMPRESS,
    ENCODE,
    FUSED,
    READ_HEADERS,
)
from magicbyte_kernels.kernel_interface import (
    COPIED,
    SIGNATURES,
    VIEWED,
    Description,
    Kernels,
    Signature,
)

FORMATS = {0: "kafka_message", 1: "kafka_message", 2: "kafka_record_batch"}
"""Format of log entries by magic."""
ALWAYS = {"kafka_message": ("offset", "timestamp"), "kafka_record_batch": ()}
"""Columns, by format, that are always decoded, because `finish_wrappers` needs them."""

OWN_KERNELS = {
    "decode_avro": (DECODE_AVRO, "_avro_kernel", "decode_avro"),
    "decode_protobuf": (DECODE_PROTOBUF, "_protobuf_kernel", "decode_protobuf"),
    "decompress": (DECOMPRESS, "_decompress_kernels", "decompress"),
    "encode_batches": (ENCODE, "_encode_kernel", "encode_batches"),
    "fused": (FUSED, "_fused_kernel", "decode_fused"),
    "read_headers": (READ_HEADERS, "_header_pass_kernel", "read_headers"),
}
"""Hand-written kernels by name: signature, module of this package, function."""

_RECORDS = ("key", "value", "headers", "offset", "timestamp")
USUAL_COLUMNS = (
    *((_RECORDS, views) for views in (False, True)),
    *(((*_RECORDS, "sequence"), views) for views in (False, True)),
    (("key", "value", "offset", "timestamp"), False),
    (("key", "value", "offset"), False),
    (("value", "offset"), False),
    (("value",), False),
    (("offset", "timestamp"), False),
    (("offset",), False),
)
"""Columns, and whether they are views, that have a decode kernel of their own. The kernel for any columns
takes 12 to 16 % longer, with records of 100 bytes that are not compressed (CPU time of whole reads)."""


class Kernel(NamedTuple):
    """A kernel: its signature, and a function that returns the Python function it is compiled from."""

    signature: Signature
    load_function: Callable[[], Any]


def description(name: str) -> Description:
    """Return the description of the kernels of the format *name*: it imports no Numba."""
    return cast(Description, importlib.import_module(f"magicbyte_formats.columnar.{name}"))


def column_modes(name: str, columns: Sequence[str], views: bool) -> tuple[int, ...]:
    """Return the mode of each column of the format *name*: COPIED, VIEWED, or 0 if it is not decoded."""
    names = {*columns, *ALWAYS[name]}
    return tuple(
        (VIEWED if views and column.type == "binary" else COPIED) if column.name in names else 0
        for column in description(name).TABLE.columns
    )


def decoder_name(name: str, modes: Sequence[int]) -> str:
    """Return the name of the decode kernel of the format *name* for *modes*; for any modes if those are rare."""
    if tuple(modes) in _usual_modes(name):
        return f"{name}_decode_{''.join(map(str, modes))}"
    return f"{name}_decode"


def decoder_source(name: str, modes: Sequence[int]) -> Any:
    """Return the Python function that decodes the format *name* with *modes*."""
    return _module(name).decoder(*modes)


def _usual_modes(name: str) -> list[tuple[int, ...]]:
    return list(dict.fromkeys(column_modes(name, *choice) for choice in USUAL_COLUMNS))


def _module(name: str) -> Kernels:
    return cast(Kernels, importlib.import_module(f"magicbyte_formats.columnar.{name}_kernels"))


def _format_source(name: str, function: str) -> Any:
    return getattr(_module(name), function)


def _own_source(module: str, function: str) -> Any:
    return getattr(importlib.import_module(f"magicbyte.engines.columnar.{module}"), function)


def kernels() -> dict[str, Kernel]:
    """Return all kernels by name."""
    return dict(_kernels())


def _kernels() -> Iterator[tuple[str, Kernel]]:
    for name, (signature, *place) in OWN_KERNELS.items():
        yield name, Kernel(signature, partial(_own_source, *place))
    for name in dict.fromkeys(FORMATS.values()):
        for function, signature in SIGNATURES.items():
            yield f"{name}_{function}", Kernel(signature, partial(_format_source, name, function))
        for modes in _usual_modes(name):
            kernel = Kernel(SIGNATURES["decode"], partial(decoder_source, name, modes))
            yield decoder_name(name, modes), kernel
