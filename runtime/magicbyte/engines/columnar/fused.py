"""The run of the fused kernel, which decodes chunks of entries in a call."""

import struct
import sys
from typing import Any

import numpy as np

from magicbyte.engines.columnar import buffers, control_block, entry_run
from magicbyte.engines.columnar.buffers import EMPTY, address, cached, drop_scratch, scratch
from magicbyte.engines.columnar.control_block import DONE
from magicbyte.engines.columnar.entry_run import PAYLOADS, EntryRun
from magicbyte.engines.columnar.formats import EntryFormat
from magicbyte.engines.columnar.kernel_loader import decompressor, fused_kernel, kernel
from magicbyte.engines.columnar.libraries import functions
from magicbyte.engines.columnar.machine_code import MachineCode
from magicbyte.engines.columnar.signatures import SCAN, num_words
from magicbyte.limits import Limits

SCRATCH_BYTES = 1 << 20
"""First capacity for decompressed payloads. It grows to MAX_SCRATCH_BYTES; a batch that is larger by itself
is decompressed outside of the kernel."""

_INPUT = struct.Struct(f"{control_block.NUM_SLOTS - control_block.STATE}q")
_OUTPUT = struct.Struct(f"{control_block.NUM_SLOTS - control_block.COUNT}q")
"""The slots from STATE and from COUNT on: struct packs them faster than NumPy assigns them."""


class _KernelCall:
    """The control block of a thread for one format, columns and limits, with all that never changes."""

    def __init__(self, form: EntryFormat, decode: MachineCode, limits: Limits) -> None:
        kernels, max_bytes = form.kernels, limits.max_batch_bytes
        # Addresses of descriptors change with each call; their width is passed here.
        desc, numbers = np.empty((1, kernels.WIDTH), np.int64), np.empty(1, np.int64)
        state = np.empty(kernels.STATE, np.int64)
        calls: list[tuple[Any, tuple[Any, ...]]] = [
            (kernel(form.name, "scan"), (0, 0, 0, limits.max_entry_bytes, 1, desc)),
            (kernel(form.name, "sections"), (desc, numbers)),
            (
                decompressor(),
                (desc, 0, 0, form.fields, 0, 0, kernels.SLACK, max_bytes, functions()),
            ),
            (decode, (desc, 0, 0, state)),
        ]
        words = [np.array(code.words(*arguments), np.int64) for code, arguments in calls]
        # TABLE_CAPACITY bounds the rows of the table instead of its shape.
        words[0][num_words(SCAN, 5) + 5] = sys.maxsize
        run, results = np.zeros((1, kernels.WIDTH), np.int64), np.empty(4, np.int64)
        self.referenced = words, run, results, calls
        """Memory whose addresses are in the block."""
        self.block = np.zeros(control_block.NUM_SLOTS, np.int64)
        self.bytes, self.address = self.block.view(np.uint8).data, address(self.block)
        for number, (code, _) in enumerate(calls):
            self.block[2 * number : 2 * number + 2] = code.address, address(words[number])
        self.block[control_block.RESULTS] = address(results)
        self.block[control_block.RUN_DESCRIPTOR] = address(run) if kernels.IS_STREAM else 0
        self.block[control_block.CODEC : control_block.CODEC + len(form.fields)] = form.fields
        self.block[control_block.DESCRIPTOR_BYTES] = 8 * kernels.WIDTH


class FusedRun(EntryRun):
    """An EntryRun that decodes chunks by the fused kernel, and single entries that it refuses."""

    def _run(self) -> None:
        """Have the fused kernel decode entries, and remove each obstacle at which it stops."""
        decode: Any = self.decode_kernel
        run = fused_kernel()
        key = _KernelCall, self.format.name, self.columns, self.is_viewed, self.limits
        call = cached(key, lambda: _KernelCall(self.format, decode, self.limits))
        call.block[control_block.IS_VIEWED] = self.is_viewed
        call.block[control_block.VERIFY] = self.verify
        payloads = scratch(PAYLOADS, SCRATCH_BYTES)
        while True:
            last = self._call(run, call, payloads)
            match self.reason:
                case control_block.DONE:
                    if self.count < len(self.desc) or self._is_enough():
                        return
                    self._grow_table()
                case control_block.COLUMN_FULL if self._grow_columns(last):
                    pass
                case control_block.COLUMN_FULL if self.output.num_rows:
                    return  # the next run begins with empty columns
                case control_block.SCRATCH_FULL if len(payloads) < entry_run.MAX_SCRATCH_BYTES:
                    size, payloads = 2 * len(payloads), EMPTY  # free it before allocating
                    drop_scratch(PAYLOADS)
                    payloads = scratch(PAYLOADS, size)
                case control_block.NEAR_END:
                    if not self._prepare_last():
                        return
                    if not len(self.tail):
                        self._decode_next()
                case control_block.NOT_VIEWABLE:
                    return
                case _:
                    self._decode_next()

    def _call(self, run: MachineCode, call: _KernelCall, payloads: buffers.Bytes) -> int:
        """Call the kernel; return the entry after the last one that it tried to decode."""
        if self.kernels.IS_STREAM and len(self.numbers) < 8 * len(self.desc):
            self.numbers = buffers.allocate(8 * len(self.desc))
        _INPUT.pack_into(
            *(call.bytes, 8 * control_block.STATE),
            *(address(self.output.state), address(self.desc), len(self.desc)),
            *(address(self.numbers), address(payloads), len(payloads)),
            *(self.address, len(self.view), self.limit, self.max_bytes),
            *(self.count, self.end, self.num_bytes),
            *(0, 0, self.has_codec, self.has_control, DONE, 0),
        )
        run(call.address)
        self.count, self.end, self.num_bytes, last, largest, *flags, self.reason, status = (
            _OUTPUT.unpack_from(call.bytes, 8 * control_block.COUNT)
        )
        self.has_codec, self.has_control = map(bool, flags)
        self.output.largest = max(self.output.largest, largest)
        if status:
            raise RuntimeError(f"a kernel ended with status {status}")
        return int(last)

    def _grow_columns(self, last: int) -> bool:
        """Grow the columns for the entries before *last*; return whether that was possible."""
        desc = self.desc[self.count : last]
        sizes = desc[:, self.names["end"]] - desc[:, self.names["start"]]
        return self.output.grow(self.format.max_rows(desc), int(sizes.sum()))
