meta:
  id: kafka_log_lazy
  title: Apache Kafka log segment, for viewers
  application: Apache Kafka
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
  The same bytes as in `kafka_log`, read only as far as somebody looks: of each
  entry the bytes are skipped, and its fields are parsed when `fields` is asked
  for. So a large segment opens, and a damaged one does as well: what is no
  entry is shown as bytes, where `kafka_log` refuses the file as Kafka does.

  Only the framing is judged here. An entry whose magic is unknown is skipped
  by its length. Where a length cannot be one, nothing tells where the next
  entry begins; `rest` is then all that follows. To go on, find an entry behind
  the damage and begin there: `part` has the position as its parameter.
doc-ref: https://kafka.apache.org/documentation/#log
seq:
  - id: whole
    type: part(_io.pos)
    -ours: true
    doc: The entries from where the stream is, as a rule its beginning.
types:
  part:
    doc: The entries from a position on, up to the end of the file.
    doc-ref: https://kafka.apache.org/documentation/#log
    params:
      - id: ofs_first
        type: s8
        doc: |
          Position of the first entry, in bytes from the start of the file; no
          byte before it is read.
    instances:
      entries:
        pos: ofs_first
        type: entry(_io.pos)
        repeat: eos
        doc: The entries, and what follows the last.
  entry:
    doc: |
      An entry of any format, or what follows the last. Of `skipped` and `rest`
      exactly one is there.
    doc-ref: https://github.com/apache/kafka/blob/3.8.0/clients/src/main/java/org/apache/kafka/common/record/ByteBufferLogInputStream.java
    -webide-representation: 'v{magic:dec} @{offset:dec}'
    params:
      - id: ofs_entry
        type: s8
        doc: Position of the entry, in bytes from the start of the file.
    seq:
      - id: skipped
        size: 12 + len_content.as<s4>
        if: is_framed
        -ours: true
        doc: The bytes of the entry, its offset and length included.
      - id: rest
        size-eos: true
        if: not is_framed
        -ours: true
        doc: |
          What follows the last entry: zeros of a file that was allocated before
          it was filled, an entry that is cut off, or damage.
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
      len_content:
        pos: ofs_entry + 8
        type: s4
        if: len_avail >= 12
        doc: |
          Bytes of the entry after this number, as stored: an entry has at least
          14. No checksum covers it.
      magic:
        pos: ofs_entry + 16
        type: s1
        if: len_avail >= 17
        doc: |
          Version of the format, as stored: 0 and 1 are messages, 2 is a record
          batch.
      is_framed:
        value: >-
          len_avail >= 17
          and len_content >= 14
          and len_avail >= ((12).as<s8> + len_content.as<s8>).as<s8>
        doc: Whether the length is possible and the file holds what it counts.
      bytes_without_zeros:
        pos: ofs_entry
        size-eos: true
        pad-right: 0
        if: not is_framed
        doc: The rest of the file, without the zeros at its end.
      is_zero_tail:
        value: not is_framed and bytes_without_zeros.length == 0
        doc: Whether nothing but zeros follows.
      is_known:
        value: is_framed and magic >= 0 and magic <= 2
        doc: Whether the entry is of a format that Kafka has.
      fields:
        pos: ofs_entry
        size: 12 + len_content.as<s4>
        type:
          switch-on: magic
          cases:
            0: kafka_message
            1: kafka_message
            2: kafka_record_batch
            _: unknown_content
        if: is_framed
        doc: The fields of the entry, parsed when they are asked for.
  unknown_content:
    doc: An entry whose magic is of no known format.
    seq:
      - id: data
        size-eos: true
        -ours: true
        doc: The whole entry, which nothing takes apart.
