"""Decodes consecutive log entries of a chunk: by the fused kernel, or one at a time by other kernels.

The reference engine decodes each entry that the kernels refuse.
"""

import struct
import sys
from typing import Any

import numpy as np

from magicbyte import codecs
from magicbyte.engines._record_rows import RecordStop
from magicbyte.engines.columnar import _buffers, _control_block
from magicbyte.engines.columnar._buffers import (
    EMPTY,
    Descriptors,
    address,
    cached,
    descriptor_table,
    drop_scratch,
    scratch,
    size_estimates,
)
from magicbyte.engines.columnar._control_block import DONE, NEAR_END, NOT_VIEWABLE
from magicbyte.engines.columnar._formats import DescriptorEntries, EntryFormat, format_of
from magicbyte.engines.columnar._kernel_stops import end_of_records, record_stop
from magicbyte.engines.columnar._layout import column_layout
from magicbyte.engines.columnar._libraries import functions
from magicbyte.engines.columnar._machine_code import MachineCode
from magicbyte.engines.columnar._output import MAX_COLUMN_BYTES, OutputColumns
from magicbyte.engines.columnar._record_attributes import RecordAttributes, describe_payload
from magicbyte.engines.columnar._referred_entries import ReferredEntries
from magicbyte.engines.columnar._signatures import SCAN, num_words
from magicbyte.engines.columnar.kernel_loader import (
    decoder,
    decompressor,
    fused_kernel,
    is_plain_python,
    kernel,
)
from magicbyte.engines.control_records import MAX_CACHED_SIZE, ControlReader
from magicbyte.engines.entry import codec_at, read_entry
from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Chunk, Decoded, DecodedEntry
from magicbyte.engines.reference import ReferenceEngine
from magicbyte.errors import CodecError, LimitError
from magicbyte.limits import Limits
from magicbyte_formats.wire import Codec
from magicbyte_kernels.kernel_interface import (
    BUFFER_FULL,
    IS_LENIENT,
    NUM_NEGATIVE,
    STOP_REASON,
)

MIN_DESCRIPTORS, MAX_DESCRIPTORS = 512, 1 << 16
"""Bounds of the first capacity of the descriptor table, which is 1.25 times the estimate from the last
buffer."""

SCRATCH_BYTES = 1 << 20
"""First capacity for decompressed payloads. It grows to MAX_SCRATCH_BYTES; a batch that is larger by itself
is decompressed outside of the kernel."""

MAX_SCRATCH_BYTES = 8 << 20
"""Largest capacity of the scratch memory for decompressed payloads."""

PAYLOADS = "payloads"
"""Purpose of that scratch memory."""

MAX_COPIED_BYTES = 2 << 20
"""Compressed bytes at the end of a buffer that are copied for the fused kernel. A larger entry is
decompressed outside of it, to save the memory."""


class EntryRun:
    """Decodes the entries that *chunk* begins with, of the format of *magic*, one at a time.

    The run ends at *max_bytes*, decompressed, after *max_entries*, before an entry that is not sound, and
    where views of the buffer would be followed by copies.
    """

    def __init__(
        self,
        reference: ReferenceEngine,
        controls: ControlReader,
        chunk: Chunk,
        columns: tuple[str, ...],
        *,
        magic: int,
        limits: Limits,
        max_bytes: int,
        max_entries: int,
        verify: bool,
    ) -> None:
        self.reference, self.controls = reference, controls
        self.chunk, self.columns, self.limits = chunk, columns, limits
        self.max_bytes, self.max_entries, self.verify = max_bytes, max_entries, verify
        self.format = format_of(magic)
        self.kernels, self.names = self.format.kernels, self.format.kernels.NAMES
        self.view = np.frombuffer(chunk.data, np.uint8)
        self.address = address(self.view)
        """Address of position 0; once the last entry is copied, valid for positions in that entry only."""
        self.limit = self.address + len(self.view) - self.kernels.SLACK
        """Address after which no entry may end: kernels read SLACK bytes more."""
        # All views refer to one buffer, so the first entry decides: is its payload in the chunk itself?
        self.is_viewed = (
            reference.views
            and codec_at(chunk.data, 0, magic) == 0
            and len(chunk.data) <= MAX_COLUMN_BYTES
        )
        key = self.format.name, columns, self.is_viewed
        self.decode_kernel = decoder(*key)
        self.output = OutputColumns(column_layout(*key), self.view)
        self.desc = descriptor_table(self._expected_entries(), self.kernels.WIDTH)
        self.tail = self.numbers = EMPTY
        """Memory that the control block refers to: the copy of the last entry, and entry numbers."""
        self.count = self.end = self.num_bytes = 0
        """Entries that are decoded, the position after the last of them, their decompressed bytes."""
        self.has_codec = self.has_control = False
        self.reason = DONE
        """The stop reason of the last call of the kernel."""
        self.stop: RecordStop | None = None
        """Position of the fault that a kernel has found in the entry that it was last called for."""
        self.known_payload: memoryview | CodecError | None = None
        """The decompressed payload of that entry, or the reason why there is none, if that is known."""
        self.referred = ReferredEntries(reference, chunk, columns, limits)

    def _expected_entries(self) -> int:
        size, decompressed = size_estimates().get((self.format.name, "run"), (len(self.view), 1))
        expected: int = min(len(self.view) // size, self.max_bytes // decompressed)
        capacity = max(min(expected + expected // 4, MAX_DESCRIPTORS), MIN_DESCRIPTORS)
        return min(capacity, self.max_entries)

    def _run(self) -> None:
        while self.end < len(self.view) and not self._is_enough():
            if self.count == len(self.desc):
                self._grow_table()
            if not self._describe_next(self.limits.max_entry_bytes, verify=self.verify):
                return
            codec, end = (int(self.desc[self.count, self.names[name]]) for name in ("codec", "end"))
            if self.is_viewed and self.count and codec:
                self.reason = NOT_VIEWABLE
                return
            if end > self.limit and not self._prepare_last():
                self.reason = NEAR_END
                return
            self._decode_next()

    def _is_enough(self) -> bool:
        return self.count == self.max_entries or self.num_bytes >= self.max_bytes

    def _grow_table(self) -> None:
        capacity = min(2 * len(self.desc), self.max_entries)
        desc = descriptor_table(capacity, self.kernels.WIDTH)
        desc[: len(self.desc)] = self.desc
        self.desc = desc

    def _prepare_last(self) -> bool:
        """Copy the last entry to a buffer with SLACK bytes after it; return False if the run must end."""
        desc, size = self.desc[self.count], len(self.view) - self.end
        if size > MAX_COPIED_BYTES and desc[self.names["codec"]]:
            return True  # `_decode_next` decompresses it from where it is
        if self.is_viewed and self.count:
            return False  # all views of a batch refer to one buffer
        self.tail = _buffers.allocate(size + self.kernels.SLACK)
        self.tail[:size] = self.view[self.end :]
        begin = address(self.tail)
        if self.is_viewed:
            self.output.view(self.tail)
        self.address, self.limit = begin - self.end, begin + size
        return True

    def _describe_next(self, max_bytes: int, *, verify: bool) -> bool:
        """Describe the next entry; return False if no sound entry of at most *max_bytes* follows."""
        desc = self.desc[self.count : self.count + 1]
        scan = kernel(self.format.name, "scan")
        left = len(self.view) - self.end
        count, _ = scan(self.address + self.end, left, 1, max_bytes, verify, desc)
        desc[:, self.names["position"]] = self.end
        return bool(count)

    def _decode_next(self) -> None:
        """Decode the next entry, which is known to be sound, without the fused kernel."""
        self._describe_next(len(self.view), verify=False)
        n, desc = self.count, self.desc[self.count]
        size = int(desc[self.names["size"]])
        decompressed = self._decode_by_kernel(n)
        desc[self.names["size"]] = size  # the kernel `sections` may have set it to 0
        if decompressed is None:
            decompressed = self._refer(n)
        self.known_payload = None
        self.num_bytes += max(size, decompressed)
        self.count, self.end = n + 1, self.end + size

    def _decode_by_kernel(self, n: int) -> int | None:
        """Decode entry *n* with a kernel; return the number of its decompressed bytes.

        Its payload is decompressed first. Returns None if the reference engine has to decode the entry, from
        `stop` on if that is set.
        """
        names, desc = self.names, self.desc[n : n + 1]
        self.stop = self.known_payload = None
        if self.format.is_unusual(desc)[0]:
            return None
        codec = int(desc[0, names["codec"]])
        payload = None
        if self.kernels.IS_STREAM:
            if desc[0, names["end"]] > self.limit:
                return None  # the kernel `sections` would read too far
            desc[:, names["nested"]] = codec != 0
        if codec:
            self.has_codec = True
            if self.kernels.IS_STREAM:
                kernel(self.format.name, "sections")(desc, np.array([0]))
                if not desc[0, names["size"]]:
                    return None
            payload = self._decompress(desc)
            if payload is None:
                return None
        attributes = RecordAttributes(desc, names, payload, self._section(desc), self.kernels.SLACK)
        size = int(desc[0, names["end"]] - desc[0, names["start"]])
        self.output.largest = max(self.output.largest, size)
        state, is_batch = self.output.state, not self.kernels.IS_STREAM
        state[IS_LENIENT] = is_batch  # lengths may be findings, and no faults
        decompressed: int | None = None
        if is_batch and desc[0, names["is_control"]]:
            self.has_control = True
        while self.decode_kernel(self.desc, n, n + 1, state) == n:
            if state[STOP_REASON] == BUFFER_FULL:
                if not self.output.grow(self.format.max_rows(desc), size):
                    break
            else:
                if is_batch and not self.is_viewed and attributes.resume(state):
                    continue
                if is_batch:
                    self.stop = attributes.added_to(record_stop(state))
                    self.known_payload = attributes.stored_payload()
                break
            state[NUM_NEGATIVE] = 0
        else:
            end = attributes.added_to(end_of_records(state, int(desc[0, names["rows"]]), size))
            if end.num_negative or end.num_attributes:
                self.referred.ends_with_findings[n] = end
            decompressed = size if codec else 0
        state[IS_LENIENT] = state[NUM_NEGATIVE] = 0
        return decompressed

    def _decompress(self, desc: Descriptors) -> _buffers.Bytes | None:
        """Decompress the payload of one entry, and let its descriptor refer to the returned memory."""
        names, max_bytes = self.names, self.limits.max_batch_bytes
        if is_plain_python():
            payload = scratch(PAYLOADS, MAX_SCRATCH_BYTES)
            capacity = address(payload), len(payload), self.kernels.SLACK
            decompress, fields = decompressor(), self.format.fields
            if decompress(desc, 0, 1, fields, *capacity, max_bytes, functions())[0]:
                return payload
        codec, magic = int(desc[0, names["codec"]]), int(desc[0, names["magic"]])
        try:
            decompressed = codecs.decompress(
                codec, self._section(desc), magic=magic, max_bytes=max_bytes
            )
        except (CodecError, LimitError) as error:
            self.known_payload = error if isinstance(error, CodecError) else None
            return None
        size = len(decompressed)
        payload = _buffers.allocate(size + self.kernels.SLACK)
        payload[:size] = np.frombuffer(decompressed, np.uint8)
        describe_payload(desc, names, payload, self.kernels.SLACK)
        return payload

    def _section(self, desc: Descriptors) -> memoryview:
        """Return the bytes of one entry's payload in the chunk."""
        start, end = (int(desc[0, self.names[name]]) - self.address for name in ("start", "end"))
        return self.chunk.data[start:end]

    def _refer(self, n: int) -> int:
        """Have the reference engine decode entry *n*; return the size of its rows in bytes."""
        position = int(self.desc[n, self.names["position"]])
        entry = read_entry(self.chunk.data, position, origin=self.chunk.position)
        return self.referred.decode(n, entry, self.stop, self.known_payload)

    def decode(self) -> Decoded:
        """Decode the entries of the run; return their rows, and why it ended if an entry is not sound."""
        self._run()
        count = self.count
        if count:
            key = self.format.name, "run"
            size_estimates()[key] = max(self.end // count, 1), max(self.num_bytes // count, 1)
        desc = self.desc[:count] if 2 * count > len(self.desc) else self.desc[:count].copy()
        entries = DescriptorEntries(self.format, desc, self.chunk.position)
        kernel_rows, decompressed = self._counts(desc)
        bases = None
        if self.has_codec and self.kernels.IS_STREAM and self.output.num_rows:
            bases = self._finish_wrappers(desc, kernel_rows)
        results = self._control_results(entries, kernel_rows) if self.has_control else {}
        if self.referred.ends_with_findings:
            results |= self.referred.results_of_ends(entries)
        referred = self.referred.decoded
        num_rows = kernel_rows.copy() if referred else kernel_rows
        for n, (_, result) in referred.items():
            results[n] = result
            num_rows[n], decompressed[n] = result.num_rows, result.decompressed
        rows = self.output.to_batch(
            self.columns,
            desc,
            kernel_rows,
            origin=self.chunk.position,
            views=self.reference.views,
        )
        rest = None
        if self.reason == DONE and count and self.end < len(self.view) and not self._is_enough():
            # The kernel has found no sound entry: the reference engine tells why.
            after = self.chunk.after(self.end)
            rest = self.reference.scan(after, verify=self.verify, limits=self.limits, max_entries=1)
        return Decoded(
            entries=entries,
            rows=self.referred.inserted_into(rows, kernel_rows) if referred else rows,
            num_rows=num_rows,
            decompressed=decompressed,
            results=results,
            bases=bases,
            end=self.end,
            unsound=rest.unsound if rest else None,
            computed=rest.computed if rest else None,
            stopped_by=rest.stopped_by if rest else None,
        )

    def _counts(self, desc: Descriptors) -> tuple[Numbers, Numbers]:
        """Return the number of rows that kernels decoded from each entry, and its decompressed bytes."""
        num_rows = np.ones(len(desc), np.int64)
        decompressed = np.zeros(len(desc), np.int64)
        # Kernels do not count the rows of messages, and reading a field of all descriptors is slow.
        if self.has_codec or not self.kernels.IS_STREAM:
            is_compressed = desc[:, self.names["codec"]] != 0
            is_counted = is_compressed if self.kernels.IS_STREAM else slice(None)
            num_rows[is_counted] = desc[is_counted, self.names["rows"]]
            if self.has_codec:
                sizes = desc[:, self.names["end"]] - desc[:, self.names["start"]]
                decompressed = sizes * is_compressed
        num_rows[list(self.referred.decoded)] = 0
        return num_rows, decompressed

    def _finish_wrappers(self, desc: Descriptors, kernel_rows: Numbers) -> Numbers:
        """Correct the rows of wrapper messages; return the first offset of each entry's rows."""
        desc[:, self.names["rows"]] = kernel_rows
        bases, is_refused = self.format.finish_wrappers(desc, self.output)
        for n in np.flatnonzero(is_refused & (kernel_rows > 0)).tolist():
            self._refer(n)
        return bases

    def _control_results(
        self, entries: DescriptorEntries, kernel_rows: Numbers
    ) -> dict[int, DecodedEntry]:
        """Return the results of control batches; the reference engine looks at those that may have findings."""
        is_control = entries.column("is_control") != 0
        is_control[[*self.referred.decoded, *self.referred.ends_with_findings]] = False
        is_small = entries.column("size_bytes") <= MAX_CACHED_SIZE
        is_small &= entries.column("codec") == Codec.NONE
        sizes = self.desc[:, self.names["end"]] - self.desc[:, self.names["start"]]
        unclear = np.flatnonzero(is_control & ~is_small).tolist()
        numbers = np.flatnonzero(is_control & is_small)
        contents = self.controls.read(self.chunk, entries, numbers, limits=self.limits)
        bases = entries.column("first_offset")[numbers].tolist()
        results: dict[int, DecodedEntry] = {}
        for n, base, content in zip(numbers.tolist(), bases, contents, strict=True):
            if content.is_clean:
                count = int(kernel_rows[n])
                results[n] = DecodedEntry(count, base, count, content.control)
            else:
                unclear.append(n)
        for n in unclear:
            end = RecordStop(int(kernel_rows[n]), int(sizes[n]), 0, 0)
            self.referred.ends_with_findings[n] = end
        return results


_INPUT = struct.Struct(f"{_control_block.NUM_SLOTS - _control_block.STATE}q")
_OUTPUT = struct.Struct(f"{_control_block.NUM_SLOTS - _control_block.COUNT}q")
"""The slots from STATE and from COUNT on: struct packs them faster than NumPy assigns them."""


class _KernelCall:
    """A thread's control block for one format, its columns and limits; slots that stay constant are set."""

    def __init__(self, form: EntryFormat, decode_kernel: MachineCode, limits: Limits) -> None:
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
            (decode_kernel, (desc, 0, 0, state)),
        ]
        words = [np.array(code.words(*arguments), np.int64) for code, arguments in calls]
        # TABLE_CAPACITY bounds the rows of the table instead of its shape.
        words[0][num_words(SCAN, 5) + 1] = sys.maxsize
        run, results = np.zeros((1, kernels.WIDTH), np.int64), np.empty(4, np.int64)
        self.referenced = words, run, results, calls
        """Memory whose addresses are in the block."""
        self.block = np.zeros(_control_block.NUM_SLOTS, np.int64)
        self.bytes, self.address = self.block.view(np.uint8).data, address(self.block)
        for number, (code, _) in enumerate(calls):
            self.block[2 * number : 2 * number + 2] = code.address, address(words[number])
        self.block[_control_block.RESULTS] = address(results)
        self.block[_control_block.RUN_DESCRIPTOR] = address(run) if kernels.IS_STREAM else 0
        self.block[_control_block.CODEC : _control_block.CODEC + len(form.fields)] = form.fields
        self.block[_control_block.DESCRIPTOR_BYTES] = 8 * kernels.WIDTH


class FusedRun(EntryRun):
    """An EntryRun that decodes chunks by the fused kernel, and single entries that it refuses."""

    def _run(self) -> None:
        """Have the fused kernel decode entries, and remove each obstacle at which it stops."""
        decode_kernel: Any = self.decode_kernel
        run = fused_kernel()
        key = _KernelCall, self.format.name, self.columns, self.is_viewed, self.limits
        call = cached(key, lambda: _KernelCall(self.format, decode_kernel, self.limits))
        call.block[_control_block.IS_VIEWED] = self.is_viewed
        call.block[_control_block.VERIFY] = self.verify
        payloads = scratch(PAYLOADS, SCRATCH_BYTES)
        while True:
            last = self._call(run, call, payloads)
            match self.reason:
                case _control_block.DONE:
                    if self.count < len(self.desc) or self._is_enough():
                        return
                    self._grow_table()
                case _control_block.COLUMN_FULL if self._grow_columns(last):
                    pass
                case _control_block.COLUMN_FULL if self.output.num_rows:
                    return  # the next run begins with empty columns
                case _control_block.SCRATCH_FULL if len(payloads) < MAX_SCRATCH_BYTES:
                    size, payloads = 2 * len(payloads), EMPTY  # free it before allocating
                    drop_scratch(PAYLOADS)
                    payloads = scratch(PAYLOADS, size)
                case _control_block.NEAR_END:
                    if not self._prepare_last():
                        return
                    if not len(self.tail):
                        self._decode_next()
                case _control_block.NOT_VIEWABLE:
                    return
                case _:
                    self._decode_next()

    def _call(self, run: MachineCode, call: _KernelCall, payloads: _buffers.Bytes) -> int:
        """Call the kernel; return the entry after the last one that it tried to decode."""
        if self.kernels.IS_STREAM and len(self.numbers) < 8 * len(self.desc):
            self.numbers = _buffers.allocate(8 * len(self.desc))
        _INPUT.pack_into(
            *(call.bytes, 8 * _control_block.STATE),
            *(address(self.output.state), address(self.desc), len(self.desc)),
            *(address(self.numbers), address(payloads), len(payloads)),
            *(self.address, len(self.view), self.limit, self.max_bytes),
            *(self.count, self.end, self.num_bytes),
            *(0, 0, self.has_codec, self.has_control, DONE, 0),
        )
        run(call.address)
        self.count, self.end, self.num_bytes, last, largest, *flags, self.reason, status = (
            _OUTPUT.unpack_from(call.bytes, 8 * _control_block.COUNT)
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
