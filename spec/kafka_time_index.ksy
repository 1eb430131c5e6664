meta:
  id: kafka_time_index
  title: Apache Kafka time index
  application: Apache Kafka
  file-extension: timeindex
  tags:
    - database
    - index
    - log
  license: CC0-1.0
  ks-version: '0.11'
  endian: be
doc: |
  A sparse map from timestamps to offsets, for the log segment of the same
  name, without header and without checksum; since 0.10.1 (KIP-33). A segment
  that holds only messages of v0, which have no timestamps, has an empty one.

  The file of the newest segment is allocated before it is filled and cut to
  size when the segment is full or the broker stops; until then its rest is
  zeros. So the entries end where the next one would be all zeros.
doc-ref: https://github.com/apache/kafka/blob/3.8.0/storage/src/main/java/org/apache/kafka/storage/internals/log/TimeIndex.java
seq:
  - id: entries
    type: entry(_io.pos)
    repeat: until
    repeat-until: _.is_last
    if: has_entries
    -ours: true
    -table: time_index
    -until: zeros
    doc: |
      The entries; their timestamps rise, their offsets do not fall. Null where
      there are none.
  - id: zero_tail
    size-eos: true
    if: not _io.eof and is_tail_zero
    -ours: true
    doc: The part of an allocated file that no entry has filled yet.
  - id: unknown_tail
    size-eos: true
    if: not _io.eof
    -ours: true
    doc: |
      What follows the entries and is neither an entry nor zeros; no broker
      writes that.
instances:
  first_timestamp:
    pos: 0
    type: s8
    if: _io.size >= 12
    doc: The timestamp of the first entry.
  first_relative_offset:
    pos: 8
    type: s4
    if: _io.size >= 12
    doc: The offset of the first entry.
  has_entries:
    value: >-
      _io.size >= 12
      and (first_timestamp != 0 or first_relative_offset != 0)
    doc: Whether the file begins with an entry rather than with zeros.
  ofs_tail:
    value: 'has_entries ? (entries.size.as<s4> * 12).as<s4> : (0).as<s4>'
    doc: Position of what follows the entries, in bytes.
  tail_without_zeros:
    pos: ofs_tail
    size-eos: true
    pad-right: 0
    doc: What follows the entries, without the zeros at its end.
  is_tail_zero:
    value: tail_without_zeros.length == 0
    doc: Whether nothing but zeros follows the entries.
types:
  entry:
    doc: |
      The newest record up to here: none with a lower or the same offset has a
      later timestamp.
    doc-ref: https://github.com/apache/kafka/blob/3.8.0/storage/src/main/java/org/apache/kafka/storage/internals/log/TimestampOffset.java
    -header: TimeIndexEntry
    -webide-representation: '{timestamp:dec} -> +{relative_offset:dec}'
    params:
      - id: ofs_entry
        type: s8
        doc: Position of the entry, in bytes from the start of the file.
    seq:
      - id: timestamp
        -orig-id: timestamp
        type: s8
        -column: {unit: ms}
        doc: Largest timestamp so far, in milliseconds since the Unix epoch.
      - id: relative_offset
        -orig-id: relativeOffset
        type: s4
        -column: true
        doc: |
          Last offset of the batch that holds it, or, from older releases, the
          offset of the record itself; counted from the base offset of the
          segment, which names the file.
    instances:
      next_timestamp:
        pos: ofs_entry + 12
        type: s8
        if: _io.size - ofs_entry >= 24
        doc: The timestamp of the next entry.
      next_relative_offset:
        pos: ofs_entry + 20
        type: s4
        if: _io.size - ofs_entry >= 24
        doc: The offset of the next entry.
      is_last:
        value: >-
          _io.size - ofs_entry < 24
          or (next_timestamp == 0 and next_relative_offset == 0)
        doc: Whether no entry follows.
