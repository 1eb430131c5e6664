meta:
  id: kafka_record_batch_kip_931
  title: Record batch as KIP-931 proposed it (a discarded message format v3)
  application: Apache Kafka
  tags:
    - database
    - log
  license: CC0-1.0
  ks-version: '0.11'
  imports:
    - kafka_varint
    - kafka_varlong
  endian: be
  bit-endian: be
doc: |
  A proposal that was discarded. No broker and no client of Apache Kafka ever
  wrote a batch like this one or reads it; to Kafka, a batch of magic 3 is an
  error, and so it is in `kafka_log`. It is described for those who study how
  the format could have gone on.

  KIP-931 wanted to save bytes: records without their attributes, and three of
  the header's numbers as varints at its end. Where it does not say what it
  changes, this is v2, with that format's names. Its list of fields leaves out
  the count of the records, without which they cannot be read; it stands here
  where v2 has it, before the fields of variable length.
doc-ref: https://cwiki.apache.org/confluence/display/KAFKA/KIP-931%3A+Flag+to+ignore+unused+message+attribute+field
-webide-representation: 'KIP-931 @{base_offset:dec} n={num_records:dec}'
seq:
  - id: base_offset
    -orig-id: baseOffset
    type: s8
    doc: |
      Offset of the first record, kept when that record is removed. Not covered
      by `crc`.
  - id: len_batch
    -orig-id: batchLength
    type: s4
    valid:
      min: 32
    -length-of: rest
    doc: |
      Bytes of the batch after this field; 32 where it holds no records and
      each varint takes one byte. Not covered by `crc`.
  - id: partition_leader_epoch
    -orig-id: partitionLeaderEpoch
    type: s4
    doc: |
      Epoch of the leader that appends the batch; -1 stands for none. Not
      covered by `crc`.
  - id: magic
    -orig-id: magic
    type: s1
    valid: 3
    doc: |
      Version of the format, in the same place in all formats: 3. Not covered
      by `crc`.
  - id: crc
    -orig-id: crc
    type: u4
    -checksum: {algorithm: crc32c, from: attributes, to: _end}
    doc: |
      CRC-32C (Castagnoli) of all bytes after this field, compressed as they
      are stored.
  - id: attributes
    -orig-id: attributes
    size: 2
    type: batch_attributes
    doc: Bits that say how to read the batch. Covered by `crc`.
  - id: producer_id
    -orig-id: producerId
    type: s8
    doc: |
      Number of the idempotent or transactional producer; -1 stands for none.
      Covered by `crc`.
  - id: producer_epoch
    -orig-id: producerEpoch
    type: s2
    doc: |
      Which incarnation of the producer wrote the batch; -1 stands for none.
      Covered by `crc`.
  - id: base_sequence
    -orig-id: baseSequence
    type: s4
    doc: |
      Number that the producer gave the first record; -1 stands for none.
      Covered by `crc`.
  - id: num_records
    -orig-id: recordsCount
    type: s4
    valid:
      min: 0
    doc: Records in the batch. Covered by `crc`.
  - id: last_offset_delta
    -orig-id: lastOffsetDelta
    type: kafka_varint
    doc: |
      Offset of the last record, counted from `base_offset`; 4 bytes in v2.
      Covered by `crc`.
  - id: base_timestamp
    -orig-id: baseTimestamp
    type: kafka_varlong
    doc: |
      What the records' `timestamp_delta` is counted from, in milliseconds since
      the Unix epoch; -1 stands for none. 8 bytes in v2. Covered by `crc`.
  - id: max_timestamp_delta
    -orig-id: maxTimestampDelta
    type: kafka_varint
    doc: |
      Milliseconds to be added to `base_timestamp` for the largest timestamp of
      the records; v2 has that itself, in 8 bytes. Covered by `crc`.
  - id: payload
    -orig-id: records
    size: len_batch - 29 - len_varints
    type: record_list
    if: attributes.codec == codecs::none
    -exact: true
    doc: The records, where they are not compressed. Covered by `crc`.
  - id: compressed_payload
    -orig-id: records
    size: len_batch - 29 - len_varints
    if: attributes.codec != codecs::none
    -compressed: {codec: attributes.codec, names: codecs, like: payload}
    doc: |
      The records, where they are compressed. Covered by `crc`, as compressed.
instances:
  len_varints:
    value: >-
      (last_offset_delta.num_bytes + base_timestamp.num_bytes
      + max_timestamp_delta.num_bytes).as<s4>
    doc: Bytes that the varints of the header take, 3 to 20.
types:
  batch_attributes:
    doc: Two bytes of bits, as in v2 but for `ignores_message_attributes`.
    doc-ref: https://cwiki.apache.org/confluence/display/KAFKA/KIP-931%3A+Flag+to+ignore+unused+message+attribute+field KIP-931
    seq:
      - id: reserved
        type: b8
        doc: Not in use; written as 0 and ignored.
      - id: ignores_message_attributes
        -orig-id: ignoreMessageAttributes
        type: b1
        doc: |
          Whether the records have no `attributes`; what writers were to set by
          default.
      - id: has_delete_horizon
        -orig-id: hasDeleteHorizonMs
        type: b1
        doc: |
          Whether `base_timestamp` is the time from which the log cleaner may
          remove the tombstones or markers in the batch.
      - id: is_control
        -orig-id: isControlBatch
        type: b1
        doc: Whether the batch holds control records, which consumers skip.
      - id: is_transactional
        -orig-id: isTransactional
        type: b1
        doc: |
          Whether the batch belongs to a transaction, as data or as its marker.
      - id: timestamp_type
        -orig-id: timestampType
        type: b1
        enum: timestamp_types
        doc: Whose clock the timestamps of the records are from.
      - id: codec
        -orig-id: compressionType
        type: b3
        enum: codecs
        doc: How the records are compressed; 5 to 7 are an error.
  record_list:
    doc: The records of an uncompressed batch.
    doc-ref: https://cwiki.apache.org/confluence/display/KAFKA/KIP-931%3A+Flag+to+ignore+unused+message+attribute+field KIP-931
    seq:
      - id: records
        -orig-id: records
        type: record(not _parent.attributes.ignores_message_attributes)
        repeat: expr
        repeat-expr: _parent.num_records
        doc: The records, in the order of their offsets.
      - id: unexpected
        type: u1
        valid:
          min: 1
          max: 0
        if: _parent.num_records > 0 and not _io.eof
        -ours: true
        doc: |
          A byte that must not be, as no value lies within both limits: a parser
          comes here where bytes follow the last record, and stops. Always null.
  record:
    doc: A record, as in v2 but for the attributes.
    doc-ref: https://cwiki.apache.org/confluence/display/KAFKA/KIP-931%3A+Flag+to+ignore+unused+message+attribute+field KIP-931
    -webide-representation: '+{body.offset_delta:dec}'
    params:
      - id: has_attributes
        type: bool
        doc: Whether the record has the byte that v2 does not use.
    seq:
      - id: len_body
        -orig-id: length
        type: kafka_varint
        -length-of: rest
        doc: |
          Bytes of the record after this field, all of which its fields must
          use.
      - id: body
        size: len_body.value
        type: record_body(has_attributes)
        -ours: true
        -exact: true
        doc: The record without its length.
  record_body:
    doc: Everything in a record but its length.
    doc-ref: https://cwiki.apache.org/confluence/display/KAFKA/KIP-931%3A+Flag+to+ignore+unused+message+attribute+field KIP-931
    params:
      - id: has_attributes
        type: bool
        doc: Whether the record has the byte that v2 does not use.
    seq:
      - id: attributes
        -orig-id: attributes
        type: s1
        if: has_attributes
        doc: |
          No bit is in use. Null where the batch has
          `ignores_message_attributes`.
      - id: timestamp_delta
        -orig-id: timestampDelta
        type: kafka_varlong
        doc: Milliseconds to be added to the batch's `base_timestamp`.
      - id: offset_delta
        -orig-id: offsetDelta
        type: kafka_varint
        doc: To be added to the batch's `base_offset`.
      - id: len_key
        -orig-id: keyLength
        type: kafka_varint
        doc: Bytes in `key`; -1 where the record has none.
      - id: key
        -orig-id: key
        size: len_key.value
        if: len_key.value >= 0
        doc: The key. Null where `len_key` is negative.
      - id: len_value
        -orig-id: valueLength
        type: kafka_varint
        doc: Bytes in `value`; -1 where the record has none.
      - id: value
        -orig-id: value
        size: len_value.value
        if: len_value.value >= 0
        doc: The value. Null where `len_value` is negative.
      - id: num_headers
        -orig-id: headersCount
        type: kafka_varint
        -valid: {min: 0}
        doc: Headers that follow; a negative number is an error.
      - id: headers
        -orig-id: headers
        type: header
        repeat: expr
        repeat-expr: num_headers.value
        doc: What the producer says about the record, in the producer's order.
      - id: unexpected
        type: u1
        valid:
          min: 1
          max: 0
        if: num_headers.value < 0 or not _io.eof
        -ours: true
        doc: |
          A byte that must not be, as no value lies within both limits: a parser
          comes here where the count of headers is negative or bytes follow the
          last header, and stops. Always null.
  header:
    doc: A header of a record.
    doc-ref: https://cwiki.apache.org/confluence/display/KAFKA/KIP-931%3A+Flag+to+ignore+unused+message+attribute+field KIP-931
    -webide-representation: '{key:str}'
    seq:
      - id: len_key
        -orig-id: headerKeyLength
        type: kafka_varint
        -valid: {min: 0}
        doc: Bytes in `key`; never negative.
      - id: key
        -orig-id: headerKey
        size: len_key.value
        doc: The name of the header, which may be empty; meant to be UTF-8.
      - id: len_value
        -orig-id: headerValueLength
        type: kafka_varint
        doc: Bytes in `value`; -1 where the header has none.
      - id: value
        -orig-id: headerValue
        size: len_value.value
        if: len_value.value >= 0
        doc: What the header says. Null where `len_value` is negative.
enums:
  codecs:
    0:
      id: none
      -orig-id: none
      doc: The records are stored as they are.
    1:
      id: gzip
      -orig-id: gzip
      doc: As in v2.
    2:
      id: snappy
      -orig-id: snappy
      doc: As in v2.
    3:
      id: lz4
      -orig-id: lz4
      doc: As in v2.
    4:
      id: zstd
      -orig-id: zstd
      doc: As in v2.
  timestamp_types:
    0:
      id: create_time
      -orig-id: CreateTime
      doc: The producer's clock, or a time that its application gave.
    1:
      id: log_append_time
      -orig-id: LogAppendTime
      doc: The broker's clock when it appended the batch.
