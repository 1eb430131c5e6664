meta:
  id: kafka_offset_index
  title: Apache Kafka offset index
  application: Apache Kafka
  file-extension: index
  tags:
    - database
    - index
    - log
  license: CC0-1.0
  ks-version: '0.11'
  endian: be
doc: |
  A sparse map from offsets to positions in the log segment of the same name,
  without header and without checksum. The broker adds an entry after every
  4096 bytes of log or so (`index.interval.bytes`), and makes the file anew
  from the segment where it is missing or wrong.

  The file of the newest segment is allocated before it is filled and cut to
  size when the segment is full or the broker stops; until then its rest is
  zeros. So the entries end where the next one would be all zeros.
doc-ref: https://github.com/apache/kafka/blob/3.8.0/storage/src/main/java/org/apache/kafka/storage/internals/log/OffsetIndex.java
seq:
  - id: entries
    type: entry(_io.pos)
    repeat: until
    repeat-until: _.is_last
    if: has_entries
    -ours: true
    -table: offset_index
    -until: zeros
    doc: The entries; both of their numbers rise. Null where there are none.
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
  first_entry:
    pos: 0
    type: s8
    if: _io.size >= 8
    doc: All bits of the first entry.
  has_entries:
    value: _io.size >= 8 and first_entry != 0
    doc: Whether the file begins with an entry rather than with zeros.
  ofs_tail:
    value: 'has_entries ? (entries.size.as<s4> * 8).as<s4> : (0).as<s4>'
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
      Where to begin reading for an offset: no batch before that position holds
      it or a higher one.
    doc-ref: https://github.com/apache/kafka/blob/3.8.0/storage/src/main/java/org/apache/kafka/storage/internals/log/OffsetPosition.java
    -header: OffsetIndexEntry
    -webide-representation: '+{relative_offset:dec} -> {ofs_batch:dec}'
    params:
      - id: ofs_entry
        type: s8
        doc: Position of the entry, in bytes from the start of the file.
    seq:
      - id: relative_offset
        -orig-id: relativeOffset
        type: s4
        -column: true
        doc: |
          Last offset of the appended batches, counted from the base offset of
          the segment, which names the file.
      - id: ofs_batch
        -orig-id: position
        type: s4
        -column: {unit: bytes}
        doc: |
          Position in the segment where the first of those batches starts, in
          bytes.
    instances:
      next_entry:
        pos: ofs_entry + 8
        type: s8
        if: _io.size - ofs_entry >= 16
        doc: All bits of the next entry.
      is_last:
        value: _io.size - ofs_entry < 16 or next_entry == 0
        doc: Whether no entry follows.
