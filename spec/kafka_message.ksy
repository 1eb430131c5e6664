meta:
  id: kafka_message
  title: Apache Kafka message (message formats v0 and v1)
  application: Apache Kafka
  tags:
    - database
    - log
  license: CC0-1.0
  ks-version: '0.11'
  endian: be
  bit-endian: be
doc: |
  One entry of a message set, the storage format of Kafka before 0.11: v0 up to
  0.9, v1, which has a timestamp, in 0.10. Later releases still read them.

  If `attributes.codec` is not `none`, the message is a wrapper: its value is
  another message set, compressed as a whole. A specification cannot run the
  codecs; so decompress `value` and parse the result with `kafka_log`.

  The offsets inside a wrapper of v0 are absolute. Those inside a wrapper of v1
  are relative (0, 1, 2, ...), and that of the wrapper is the absolute offset
  of the last message: a message's own is `wrapper - last relative + relative`.
  If a wrapper of v1 has the append time, it is that of all messages in it.
doc-ref: https://kafka.apache.org/documentation/#messageset
-entry: batches
-header: MessageHeader
-derived:
  - id: size_bytes
    type: int32
    unit: bytes
    value: len_message + 12
    doc: Bytes of the whole entry, its offset and its length included.
  - id: base_offset
    type: int64
    if: message.attributes.codec == codecs::none
    value: offset
    doc: |
      Offset of the first record; of a wrapper, that is known once its value is
      decompressed.
  - id: last_offset
    type: int64
    value: offset
    doc: Offset of the last record.
  - id: max_timestamp
    unit: ms
    sentinel: -1
    if: message.magic >= 1
    value: message.timestamp
    doc: Largest timestamp of the records, or the append time.
  - id: record_count
    type: int32
    if: message.attributes.codec == codecs::none
    value: 1
    doc: |
      Records in the entry; of a wrapper, that is known once its value is
      decompressed.
  - id: is_transactional
    type: bool
    value: false
    doc: Whether the entry belongs to a transaction.
  - id: is_control
    type: bool
    value: false
    doc: Whether the entry holds control records.
  - id: offset
    table: records
    type: int64
    value: offset
    doc: Offset of the record in its partition.
  - id: timestamp_type
    table: records
    outer: true
    type: string
    if: message.magic >= 1
    value: message.attributes.timestamp_type
    doc: Whose clock the timestamp is from; null in v0, which has none.
  - id: is_transactional
    table: records
    outer: true
    type: bool
    value: false
    doc: Whether the record belongs to a transaction.
  - id: codec
    table: records
    outer: true
    type: string
    value: message.attributes.codec
    doc: How the record was compressed, together with those around it.
  - id: magic
    table: records
    outer: true
    type: int8
    value: message.magic
    doc: Version of the format that the record is stored in.
-webide-representation: 'v{message.magic:dec} @{offset:dec}'
seq:
  - id: offset
    -orig-id: offset
    type: s8
    doc: |
      Offset of the message in its partition, of a wrapper that of the last
      message in it. Set by the broker; not covered by `crc`.
  - id: len_message
    -orig-id: messageSize
    type: s4
    valid:
      min: 14
    -length-of: rest
    doc: |
      Bytes of the entry after this field; 14 of v0 and 22 of v1 where key and
      value are null or empty. Not covered by `crc`.
  - id: message
    size: len_message
    type: message_body
    -ours: true
    doc: The message without its offset and length.
types:
  message_body:
    doc: |
      The message itself. Bytes behind the value are ignored by Kafka's reader,
      but covered by `crc`.
    doc-ref:
      - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/java/org/apache/kafka/common/record/LegacyRecord.java
      - https://cwiki.apache.org/confluence/display/KAFKA/KIP-32+-+Add+timestamps+to+Kafka+message KIP-32
    seq:
      - id: crc
        -orig-id: crc
        type: u4
        -column: {type: int64}
        -checksum: {algorithm: crc32, from: magic, to: _end}
        doc: |
          CRC-32 (the one of zlib and Ethernet) of all bytes after this field,
          compressed as they are stored. Written by the producer, and again by
          a broker that changes what it covers.
      - id: magic
        -orig-id: magic
        type: s1
        valid:
          any-of: [0, 1]
        -column: true
        doc: |
          Version of the format, in the same place in all formats: 0 or 1.
          Covered by `crc`.
      - id: attributes
        -orig-id: attributes
        size: 1
        type: message_attributes
        doc: Bits that say how to read the message. Covered by `crc`.
      - id: timestamp
        -orig-id: timestamp
        type: s8
        if: magic >= 1
        -column: {table: records, unit: ms, sentinel: -1}
        doc: |
          Milliseconds since the Unix epoch; -1 stands for none. From the
          producer, or from the broker where `attributes.timestamp_type` says
          so; of a wrapper, the largest of the messages in it. Covered by `crc`.
      - id: len_key
        -orig-id: keySize
        type: s4
        -sentinel: -1
        doc: Bytes in `key`; -1 where there is none. Covered by `crc`.
      - id: key
        -orig-id: key
        size: len_key
        if: len_key >= 0
        -column: {table: records, type: binary}
        doc: |
          The key, as the producer serialized it; a wrapper has none. Null where
          `len_key` is negative. Covered by `crc`.
      - id: len_value
        -orig-id: valueSize
        type: s4
        -sentinel: -1
        doc: Bytes in `value`; -1 where there is none. Covered by `crc`.
      - id: value
        -orig-id: value
        size: len_value
        if: len_value >= 0
        -column: {table: records, type: binary}
        -compressed: {codec: attributes.codec, names: codecs, like: kafka_log}
        doc: |
          The value, as the producer serialized it; of a wrapper, the messages
          in it, compressed. Null where `len_value` is negative: such a message
          is a tombstone, which deletes its key from a compacted topic. Covered
          by `crc`.
      - id: ignored
        size-eos: true
        if: not _io.eof
        -ours: true
        doc: |
          Bytes behind the value, at which Kafka's reader does not look and
          which no known producer writes. Covered by `crc`.
  message_attributes:
    doc: One byte of bits.
    doc-ref:
      - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/java/org/apache/kafka/common/record/LegacyRecord.java
      - https://cwiki.apache.org/confluence/display/KAFKA/KIP-32+-+Add+timestamps+to+Kafka+message KIP-32
    seq:
      - id: reserved
        type: b4
        doc: Not in use; written as 0 and ignored.
      - id: timestamp_type
        -orig-id: timestampType
        type: b1
        enum: timestamp_types
        -column: {nullable: true}
        doc: |
          Whose clock the timestamp is from. Of no meaning in v0, nor in the
          messages inside a wrapper, which follow the wrapper's.
      - id: codec
        -orig-id: compressionType
        type: b3
        enum: codecs
        -column: true
        doc: How the value is compressed; 4 to 7 are an error.
enums:
  codecs:
    0:
      id: none
      -orig-id: none
      doc: An ordinary message, no wrapper.
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
      doc: |
        An LZ4 frame of independent blocks; since 0.8.2. Its header checksum is
        wrong in v0, where it also covers the magic of the frame, and right in
        v1 (KAFKA-3160).
  timestamp_types:
    0:
      id: create_time
      -orig-id: CreateTime
      doc: The producer's clock, or a time that its application gave.
    1:
      id: log_append_time
      -orig-id: LogAppendTime
      doc: The broker's clock when it appended the message.
