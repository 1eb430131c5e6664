"""Reserved attributes of records: kernels refuse them, so they are counted, and cleared in a copy of the payload."""

from array import array
from bisect import bisect_left
from collections.abc import Mapping

import numpy as np

from magicbyte.engines._record_rows import RecordStop
from magicbyte.engines.columnar import _buffers
from magicbyte.engines.columnar._kernel_stops import record_stop
from magicbyte.engines.entry_columns import Numbers
from magicbyte_kernels.kernel_interface import NUM_NEGATIVE

MAX_VARINT_BYTES = 5


def describe_payload(
    desc: _buffers.Descriptors,
    field_indices: Mapping[str, int],
    records: _buffers.Bytes,
    slack: int,
) -> None:
    """Let the descriptor of one entry refer to *records*, which has *slack* bytes more."""
    begin, size = _buffers.address(records), len(records) - slack
    desc[:, field_indices["start"]], desc[:, field_indices["end"]] = begin, begin + size


class RecordAttributes:
    """The records of one batch whose reserved attributes are set, which is a finding and no fault.

    No column has the attributes, so a kernel gives the same rows without them.
    """

    def __init__(
        self,
        desc: _buffers.Descriptors,
        field_indices: Mapping[str, int],
        records: _buffers.Bytes | None,
        section: memoryview,
        slack: int,
    ) -> None:
        """*desc* describes the batch; *records*, with *slack* bytes more, is decompressed from *section*."""
        self._desc, self._names, self._slack = desc, field_indices, slack
        self._payload, self._section = records, section
        self._indices = array("q")
        """Numbers of the records, in order."""
        self._first_position = 0

    def stored_payload(self) -> memoryview | None:
        """Return the payload as it was decompressed; None if it was not, or if attributes in it are cleared."""
        if self._payload is None or self._indices:
            return None
        begin, end = (int(self._desc[0, self._names[name]]) for name in ("start", "end"))
        return self._payload.data[: end - begin]

    def resume(self, slots: Numbers) -> bool:
        """Clear the attributes at which a lenient kernel with these state *slots* has stopped, and later ones.

        Returns False if it has stopped for another reason.
        """
        stop, records, section = record_stop(slots), self._payload, self._section
        if records is not None:
            section = records.data[: len(records) - self._slack]
        if self._indices or not _has_attributes(section, stop.position):
            return False
        if records is None:
            self._payload = records = _buffers.allocate(len(section) + self._slack)
            records[: len(section)] = np.frombuffer(section, np.uint8)
            section = records.data[: len(section)]
            describe_payload(self._desc, self._names, records, self._slack)
        slots[NUM_NEGATIVE] = 0
        self._first_position = stop.position
        index, position, size = stop.record_index, stop.position, len(section)
        while position < size:
            position, length = _length_at(section, position)
            if not 0 < length <= size - position:
                break  # the kernel will stop here, at the latest
            if section[position]:
                section[position] = 0
                self._indices.append(index)
            index, position = index + 1, position + length
        return True

    def added_to(self, stop: RecordStop) -> RecordStop:
        """Return *stop* with the attributes of the records before it."""
        count = bisect_left(self._indices, stop.record_index)
        if not count:
            return stop
        return stop._replace(
            num_attributes=count,
            attributes_index=self._indices[0],
            attributes_position=self._first_position,
        )


def _has_attributes(section: memoryview, position: int) -> bool:
    """Return whether the record at *position* has attributes."""
    if position >= len(section):
        return False
    position, length = _length_at(section, position)
    return 0 < length <= len(section) - position and section[position] != 0


def _length_at(section: memoryview, position: int) -> tuple[int, int]:
    """Return the position after the varint at *position*, and its value; -1 if it is not whole."""
    byte = section[position]
    if byte < 128:
        return position + 1, byte >> 1 if byte & 1 == 0 else -1
    mapped, shift = byte & 127, 7
    for end in range(position + 1, min(position + MAX_VARINT_BYTES, len(section))):
        byte = section[end]
        mapped |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            mapped &= 0xFFFFFFFF  # readers drop bits above 32
            return end + 1, mapped >> 1 if mapped & 1 == 0 else -1
    return len(section), -1
