meta:
  id: kafka_record_batch
  title: Apache Kafka record batch (message format v2)
  application: Apache Kafka
  tags:
    - database
    - log
  license: CC0-1.0
  ks-version: '0.11'
  imports:
    - kafka_record
  endian: be
  bit-endian: be
doc: |
  The unit of storage, replication, compression and transactions of Kafka 0.11
  and later, used alike on disk, in produce requests and in fetch responses.

  A header of 61 bytes is followed by the records, which are compressed as a
  whole if `attributes.codec` names a codec. The checksum covers all bytes from
  `attributes` to the end of the batch, as they are stored; what lies before
  it, the broker may set without a new one.

  The log cleaner removes records from a batch but keeps `base_offset`,
  `last_offset_delta` and the producer's fields. So neither the first nor the
  last offset need belong to a record, and `num_records` may be 0.

  What no specification of a batch can say: whether its transaction was
  aborted. The marker that decides comes later in the log.
doc-ref: https://kafka.apache.org/documentation/#recordbatch
-entry: batches
-header: RecordBatchHeader
-derived:
  - id: size_bytes
    type: int32
    unit: bytes
    value: len_batch + 12
    doc: Bytes of the whole entry, its offset and its length included.
  - id: last_offset
    type: int64
    value: base_offset + last_offset_delta
    doc: Offset of the last record, kept when that record is removed.
  - id: delete_horizon
    unit: ms
    if: attributes.has_delete_horizon
    value: base_timestamp
    doc: |
      Time from which the log cleaner may remove the tombstones or markers of
      the batch; null where it has not set one.
-webide-representation: 'v2 @{base_offset:dec} n={num_records:dec}'
seq:
  - id: base_offset
    -orig-id: baseOffset
    type: s8
    -column: true
    doc: |
      Offset of the first record, kept when that record is removed. Producers
      write 0, the leader sets it; not covered by `crc`.
  - id: len_batch
    -orig-id: batchLength
    type: s4
    valid:
      min: 49
    -length-of: rest
    doc: |
      Bytes of the batch after this field; 49 where it holds no records. Not
      covered by `crc`.
  - id: partition_leader_epoch
    -orig-id: partitionLeaderEpoch
    type: s4
    -column: {name: leader_epoch, sentinel: -1}
    doc: |
      Epoch of the leader that appended the batch; -1 stands for none, which
      is what producers write. Set by the leader; not covered by `crc`.
  - id: magic
    -orig-id: magic
    type: s1
    valid: 2
    -column: true
    doc: |
      Version of the format, in the same place in all formats: 2. Not covered
      by `crc`.
  - id: crc
    -orig-id: crc
    type: u4
    -column: {type: int64}
    -checksum: {algorithm: crc32c, from: attributes, to: _end}
    doc: |
      CRC-32C (Castagnoli) of all bytes after this field, compressed as they
      are stored. Written by the producer, and again by a broker that changes
      what it covers.
  - id: attributes
    -orig-id: attributes
    size: 2
    type: batch_attributes
    doc: Bits that say how to read the batch. Covered by `crc`.
  - id: last_offset_delta
    -orig-id: lastOffsetDelta
    type: s4
    doc: |
      Offset of the last record, counted from `base_offset`; kept when that
      record is removed. Covered by `crc`.
  - id: base_timestamp
    -orig-id: baseTimestamp
    type: s8
    -column: {unit: ms, sentinel: -1}
    doc: |
      What the records' `timestamp_delta` is counted from, in milliseconds since
      the Unix epoch: the producer's time of the first record, or, where
      `attributes.has_delete_horizon` is set, the delete horizon. -1 stands for
      none. Covered by `crc`.
  - id: max_timestamp
    -orig-id: maxTimestamp
    type: s8
    -column: {unit: ms, sentinel: -1}
    doc: |
      Largest timestamp of the records, in milliseconds since the Unix epoch, or
      the broker's clock at the append where `attributes.timestamp_type` says
      so; -1 stands for none. Kept when records are removed. Covered by `crc`.
  - id: producer_id
    -orig-id: producerId
    type: s8
    -column: {sentinel: -1}
    doc: |
      Number of the idempotent or transactional producer, given out by the
      cluster; -1 stands for none. Covered by `crc`.
  - id: producer_epoch
    -orig-id: producerEpoch
    type: s2
    -column: {sentinel: -1}
    doc: |
      Which incarnation of the producer wrote the batch; -1 stands for none. A
      marker may have one more than the data that it ends. Covered by `crc`.
  - id: base_sequence
    -orig-id: baseSequence
    type: s4
    -column: {sentinel: -1}
    doc: |
      Number that the producer gave the first record, to detect duplicates and
      losses; 0 follows on 2147483647. -1 stands for none, as in all control
      batches. Covered by `crc`.
  - id: num_records
    -orig-id: recordsCount
    type: s4
    valid:
      min: 0
    -column: {name: record_count}
    doc: |
      Records in the batch; 0 where the log cleaner emptied it but had to keep
      its header. Covered by `crc`.
  - id: payload
    -orig-id: records
    size: len_batch - 49
    type: record_list
    if: attributes.codec == codecs::none
    -exact: true
    doc: The records, where they are not compressed. Covered by `crc`.
  - id: compressed_payload
    -orig-id: records
    size: len_batch - 49
    if: attributes.codec != codecs::none
    -compressed: {codec: attributes.codec, names: codecs, like: payload}
    doc: |
      The records, where they are compressed; what comes out of the codec is
      what `kafka_records` describes. Covered by `crc`, as compressed.
instances:
  last_offset:
    value: base_offset + last_offset_delta.as<s8>
    doc: Offset of the last record, kept when that record is removed.
types:
  batch_attributes:
    doc: |
      Two bytes of bits, written by the producer; the broker sets the timestamp
      type and the log cleaner the delete horizon. Kafka's reader looks at the
      lower byte alone.
    doc-ref: https://github.com/apache/kafka/blob/3.8.0/clients/src/main/java/org/apache/kafka/common/record/DefaultRecordBatch.java
    seq:
      - id: reserved
        type: b9
        doc: Not in use; written as 0 and ignored.
      - id: has_delete_horizon
        -orig-id: hasDeleteHorizonMs
        type: b1
        doc: |
          Whether `base_timestamp` is the time from which the log cleaner may
          remove the tombstones or markers in the batch (KIP-534, since 3.1). It
          stays when they are gone.
      - id: is_control
        -orig-id: isControlBatch
        type: b1
        -column: true
        doc: |
          Whether the batch holds control records, which consumers skip: the
          marker that ends a transaction, or those of KRaft.
      - id: is_transactional
        -orig-id: isTransactional
        type: b1
        -column: true
        doc: |
          Whether the batch belongs to a transaction, as data or as its marker.
      - id: timestamp_type
        -orig-id: timestampType
        type: b1
        enum: timestamp_types
        -column: true
        doc: Whose clock the timestamps of the records are from.
      - id: codec
        -orig-id: compressionType
        type: b3
        enum: codecs
        -column: true
        doc: How the records are compressed; 5 to 7 are an error.
  record_list:
    doc: The records of an uncompressed batch.
    doc-ref: https://kafka.apache.org/documentation/#record
    seq:
      - id: records
        -orig-id: records
        type: kafka_record(_parent.attributes.is_control)
        repeat: expr
        repeat-expr: _parent.num_records
        -table: records
        -derived:
          - id: offset
            type: int64
            value: _parent.base_offset + _.body.offset_delta.value
            doc: Offset of the record in its partition.
          - id: timestamp
            unit: ms
            sentinel: -1
            value: >-
              _parent.attributes.timestamp_type
              == timestamp_types::log_append_time
              ? _parent.max_timestamp
              : _parent.base_timestamp + _.body.timestamp_delta.value
            doc: |
              When the record was made, or appended where the timestamp type
              says so; null where the producer gave no time.
          - id: timestamp_type
            type: string
            value: _parent.attributes.timestamp_type
            doc: Whose clock the timestamp is from; null in v0, which has none.
          - id: leader_epoch
            type: int32
            sentinel: -1
            value: _parent.partition_leader_epoch
            doc: Epoch of the leader that appended the record.
          - id: producer_id
            type: int64
            sentinel: -1
            value: _parent.producer_id
            doc: Number of the idempotent or transactional producer.
          - id: producer_epoch
            type: int16
            sentinel: -1
            value: _parent.producer_epoch
            doc: Which incarnation of the producer wrote the record.
          - id: sequence
            type: int32
            sentinel: -1
            value: >-
              _parent.base_sequence < 0 ? -1
              : (_parent.base_sequence + _.body.offset_delta.value)
              % 0x8000_0000
            doc: |
              Number that the producer gave the record; 0 follows on 2147483647.
          - id: is_transactional
            type: bool
            value: _parent.attributes.is_transactional
            doc: Whether the record belongs to a transaction.
          - id: codec
            type: string
            value: _parent.attributes.codec
            doc: How the record was compressed, together with those around it.
          - id: magic
            type: int8
            value: _parent.magic
            doc: Version of the format that the record is stored in.
        doc: The records, in the order of their offsets.
      - id: ignored
        size-eos: true
        if: _parent.num_records == 0 and not _io.eof
        -ours: true
        doc: |
          Bytes in a batch of no records, at which Kafka's reader does not look
          and which no broker writes. Covered by `crc`.
      - id: unexpected
        type: u1
        valid:
          min: 1
          max: 0
        if: not _io.eof
        -ours: true
        doc: |
          A byte that must not be, as no value lies within both limits: a parser
          comes here where bytes follow the last record, and stops. Always null.
enums:
  codecs:
    0:
      id: none
      -orig-id: none
      doc: The records are stored as they are.
    1:
      id: gzip
      -orig-id: gzip
      doc: RFC 1952; several members are read as one stream.
    2:
      id: snappy
      -orig-id: snappy
      doc: |
        One raw snappy block, or, where the bytes begin with its magic, blocks
        in the framing of xerial's snappy-java.
    3:
      id: lz4
      -orig-id: lz4
      doc: An LZ4 frame of independent blocks, with the right header checksum.
    4:
      id: zstd
      -orig-id: zstd
      doc: Zstandard frames (RFC 8878); since Kafka 2.1 (KIP-110).
  timestamp_types:
    0:
      id: create_time
      -orig-id: CreateTime
      doc: The producer's clock, or a time that its application gave.
    1:
      id: log_append_time
      -orig-id: LogAppendTime
      doc: |
        The broker's clock when it appended the batch: `max_timestamp`, for all
        records of the batch.
