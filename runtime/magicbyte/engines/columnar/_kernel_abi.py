"""The identity of kernels: a library is opened only if it was built from the sources that are here."""

from functools import cache
from hashlib import sha256
from pathlib import Path

import magicbyte_formats
import magicbyte_kernels

PREFIX = "mb_"
"""Prefix of the symbols of kernels."""
ABI_SYMBOL = f"{PREFIX}abi"
"""Symbol of the text that `kernel_abi` returned when the library was built."""

_ENGINES = Path(__file__).parents[1]
_FOLDERS = (
    Path(magicbyte_kernels.__file__).parent,
    Path(magicbyte_formats.__file__).parent / "columnar",
)
_FILES = (
    Path(magicbyte_formats.__file__).parent / "wire.py",
    *(
        _ENGINES / "columnar" / f"{name}.py"
        for name in (
            *("_avro_kernel", "_avro_reads", "_avro_scalars", "avro_program"),
            *("_arrow_release", "_compress_kernels", "_control_block", "_decompress_kernels"),
            *("_encode_block", "_encode_kernel", "_fused_kernel", "_header_pass_kernel"),
            *("_kernel_emitter", "_kernel_list", "_processor_levels"),
            *("_protobuf_kernel", "_protobuf_reads", "_protobuf_writes", "protobuf_program"),
            *("_signatures", "_snappy_kernel"),
        )
    ),
    _ENGINES / "entry.py",
    *(_ENGINES.parent / "codecs" / f"{name}.py" for name in ("gzip", "lz4", "snappy")),
)
"""Source files that determine machine code, beside all files of the folders."""


@cache
def kernel_abi() -> str:
    """Return a digest of all sources that determine machine code: kernels, generated code, emitter."""
    digest = sha256()
    for path in (*(path for folder in _FOLDERS for path in sorted(folder.glob("*.py"))), *_FILES):
        text = path.read_bytes()
        digest.update(f"{path.name} {len(text)}\n".encode() + text)
    return digest.hexdigest()
