meta:
  id: kafka_log
  title: Apache Kafka log segment
  application: Apache Kafka
  file-extension: log
  tags:
    - database
    - log
  license: CC0-1.0
  ks-version: '0.11'
  imports:
    - kafka_message
    - kafka_record_batch
  endian: be
doc: |
  A file of a topic partition, and likewise the `records` of a produce request
  or a fetch response: entries back to back, without a file header.

  All formats put the magic byte, which tells them apart, 16 bytes after the
  start of an entry, and a length, which counts what follows it, 8 bytes after
  the start. Formats may be mixed within one file.

  A file ends where an entry ends, or in one of two other ways that are no
  damage: with an entry that is cut off, after a crash or where a fetch
  response reached its size limit; or with zeros, where a broker allocates
  files before it fills them. Anything else is an error here, as in Kafka.
doc-ref: https://kafka.apache.org/documentation/#log
seq:
  - id: entries
    type: entry(_io.pos)
    repeat: eos
    -ours: true
    doc: The entries in the order of their offsets, and what follows the last.
types:
  entry:
    doc: |
      An entry of any format, or the end of the file behind the last one. Of
      `content`, `partial` and `zero_tail` exactly one is there.
    doc-ref: https://github.com/apache/kafka/blob/3.8.0/clients/src/main/java/org/apache/kafka/common/record/ByteBufferLogInputStream.java
    -header: EntryHeader
    -webide-representation: '{content}{partial}{zero_tail}'
    params:
      - id: ofs_entry
        type: s8
        doc: Position of the entry, in bytes from the start of the file.
    seq:
      - id: content
        size: 12 + len_content.as<s4>
        type:
          switch-on: magic
          cases:
            0: kafka_message
            1: kafka_message
            2: kafka_record_batch
            _: unknown_content
        if: is_complete
        -ours: true
        doc: A whole entry.
      - id: zero_tail
        size-eos: true
        if: is_zero_tail
        -ours: true
        doc: |
          Zeros up to the end of the file, which was allocated before it was
          filled (`log.preallocate`) and not cut to size by a clean stop.
      - id: partial
        size-eos: true
        if: not is_complete and not is_zero_tail
        -ours: true
        doc: The beginning of an entry that was cut off; readers ignore it.
    instances:
      len_avail:
        value: (_io.size - ofs_entry).as<s8>
        doc: Bytes from the start of the entry to the end of the file.
      offset:
        pos: ofs_entry
        type: s8
        if: len_avail >= 8
        doc: |
          Offset of the first record in v2, of the last one in v0 and v1. No
          checksum covers it.
      raw_len_content:
        pos: ofs_entry + 8
        type: s4
        if: len_avail >= 12
        doc: The length as it is stored, whether or not it is valid.
      bytes_without_zeros:
        pos: ofs_entry
        size-eos: true
        pad-right: 0
        if: len_avail < 12 or raw_len_content == 0
        doc: |
          The rest of the file without the zeros at its end; looked at only
          where an entry cannot begin.
      is_zero_tail:
        value: >-
          (len_avail < 12 or raw_len_content == 0)
          and bytes_without_zeros.length == 0
        doc: Whether nothing but zeros follows.
      len_content:
        pos: ofs_entry + 8
        type: s4
        valid:
          min: 14
        if: len_avail >= 12 and not is_zero_tail
        -name: size
        -length-of: rest
        doc: |
          Bytes of the entry after this number. Kafka accepts no entry with
          fewer than 14. No checksum covers it.
      magic:
        pos: ofs_entry + 16
        type: s1
        valid:
          any-of: [0, 1, 2]
        if: len_avail >= 17 and not is_zero_tail
        doc: |
          Version of the format: 0 and 1 are messages, 2 is a record batch.
      is_complete:
        value: >-
          not is_zero_tail
          and len_avail >= 12
          and len_content > 0
          and len_avail >= 17
          and magic >= 0
          and len_avail >= ((12).as<s8> + len_content.as<s8>).as<s8>
        doc: |
          Whether the file holds all bytes that the entry's length counts. That
          `len_content` and `magic` are looked at refuses what is no entry where
          one might be cut.
  unknown_content:
    doc: |
      Never parsed, as `magic` is checked; but without it a value of `content`
      that is no known format would be raw bytes, which Nim cannot express.
    seq:
      - id: data
        size-eos: true
        -ours: true
        doc: The whole entry.
