"""Runs the kernel that checks the wire format of Protobuf messages over an Arrow array."""

import numpy as np
import pyarrow as pa

from magicbyte.engines.columnar import _buffers
from magicbyte.engines.columnar import protobuf_program as code
from magicbyte.engines.columnar._buffers import address
from magicbyte.engines.columnar.avro_columns import MIN_OUTPUT_BYTES, OUTPUT_RATIO
from magicbyte.engines.columnar.kernel_loader import protobuf_checker
from magicbyte.engines.columnar.protobuf_program import ProtobufProgram
from magicbyte.tables.arrays import OFFSET_BYTES

Verdicts = np.ndarray[tuple[int], np.dtype[np.uint8]]


def check_messages(program: ProtobufProgram, values: pa.Array, least_verdict: int) -> Verdicts:
    """Return the verdict of the kernel on each of *values*, an array of type binary; nulls have any verdict.

    Args:
        least_verdict: UNUSUAL if Protobuf's own library decides about every message, else USUAL.
    """
    verdicts = _buffers.allocate(len(values))
    _, offsets, content = values.buffers()
    if offsets is None or not len(values):
        verdicts[:] = least_verdict
        return verdicts
    frame_bytes = 8 * (code.FRAME_SEEN + program.num_seen_words)
    stack = np.zeros(code.MAX_DEPTH * frame_bytes // 8, np.int64)
    control = np.zeros(code.NUM_CONTROL_NUMBERS, np.int64)
    control[code.OFFSET_ADDRESS] = offsets.address + OFFSET_BYTES * values.offset
    # Address 0 stands for a fault, so a column without bytes needs another one.
    control[code.CONTENT] = (
        content.address if content is not None and content.size else address(control)
    )
    control[code.NUM_ROWS] = len(values)
    control[code.VERDICTS] = address(verdicts)
    num_bytes = content.size if content is not None else 0
    control[code.SPARE_BYTES] = max(MIN_OUTPUT_BYTES, OUTPUT_RATIO * num_bytes)
    control[code.FRAME_BYTES] = frame_bytes
    control[code.COMMON_VERDICT] = least_verdict
    tables = program.types, program.fields, program.enum_numbers
    protobuf_checker()(*(address(part) for part in (*tables, stack, control)))
    return verdicts
