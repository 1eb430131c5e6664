meta:
  id: kafka_record
  title: Apache Kafka record (message format v2)
  application: Apache Kafka
  tags:
    - database
    - log
  license: CC0-1.0
  ks-version: '0.11'
  imports:
    - kafka_control_record
    - kafka_varint
    - kafka_varlong
  endian: be
doc: |
  One record of a record batch: a key, a value and headers, with a timestamp
  and an offset that are counted from those of the batch.

  Every number but `attributes` is a zigzag varint. A negative length stands
  for an absent (null) byte string, which is not the same as an empty one;
  writers use -1, and readers take any negative length as null. A record has
  no checksum of its own: that of the batch covers all of it, and where the
  batch is compressed it covers the compressed bytes.
doc-ref: https://kafka.apache.org/documentation/#record
-webide-representation: '+{body.offset_delta:dec}'
params:
  - id: is_control
    type: bool
    doc: |
      Whether the batch is a control batch, so that key and value are not
      data but what `kafka_control_record` describes.
seq:
  - id: len_body
    -orig-id: length
    type: kafka_varint
    -length-of: rest
    doc: Bytes of the record after this field, all of which its fields must use.
  - id: body
    size: len_body.value
    type: record_body
    -ours: true
    -exact: true
    doc: The record without its length.
types:
  record_body:
    doc: Everything in a record but its length.
    doc-ref: https://github.com/apache/kafka/blob/3.8.0/clients/src/main/java/org/apache/kafka/common/record/DefaultRecord.java
    seq:
      - id: attributes
        -orig-id: attributes
        type: s1
        -valid: 0
        doc: No bit is in use; written as 0, and not looked at by readers.
      - id: timestamp_delta
        -orig-id: timestampDelta
        type: kafka_varlong
        doc: |
          Milliseconds to be added to the batch's `base_timestamp`; may be
          negative. Of no meaning where the batch has the append time, which
          is then that of all its records.
      - id: offset_delta
        -orig-id: offsetDelta
        type: kafka_varint
        doc: |
          To be added to the batch's `base_offset`. Written as 0, 1, 2, ...;
          the log cleaner takes records away and so leaves gaps.
      - id: len_key
        -orig-id: keyLength
        type: kafka_varint
        -sentinel: -1
        doc: Bytes in `key`; -1 where the record has none.
      - id: key
        -orig-id: key
        size: len_key.value
        if: len_key.value >= 0
        -column: {type: binary}
        doc: |
          The key, as the producer serialized it; in a control batch what
          `control_record` takes apart. Null where `len_key` is negative.
      - id: len_value
        -orig-id: valueLength
        type: kafka_varint
        -sentinel: -1
        doc: Bytes in `value`; -1 where the record has none.
      - id: value
        -orig-id: value
        size: len_value.value
        if: len_value.value >= 0
        -column: {type: binary}
        doc: |
          The value, as the producer serialized it. Null where `len_value` is
          negative: such a record is a tombstone, which deletes its key from a
          compacted topic.
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
        -column: {type: list}
        doc: |
          What the producer says about the record, in the producer's order;
          keys may repeat.
    instances:
      ofs_len_key:
        value: (1 + timestamp_delta.num_bytes + offset_delta.num_bytes).as<s4>
        doc: Position of `len_key`, in bytes from the start of this body.
      control_record:
        pos: ofs_len_key
        type: kafka_control_record
        if: _parent.is_control and len_key.value >= 4
        doc: The same bytes as `len_key` to `value`, taken apart.
  header:
    doc: A header of a record.
    doc-ref:
      - https://kafka.apache.org/documentation/#recordheader
      - https://cwiki.apache.org/confluence/display/KAFKA/KIP-82+-+Add+Record+Headers KIP-82
    -webide-representation: '{key:str}'
    seq:
      - id: len_key
        -orig-id: headerKeyLength
        type: kafka_varint
        -valid: {min: 0}
        doc: Bytes in `key`; a header always has one, so it is never negative.
      - id: key
        -orig-id: headerKey
        size: len_key.value
        -column: {type: string}
        doc: |
          The name of the header, which may be empty. Meant to be UTF-8, but
          nothing checks it when it is written; so it is bytes here, and to be
          decoded as Java does, with U+FFFD for what is malformed.
      - id: len_value
        -orig-id: headerValueLength
        type: kafka_varint
        -sentinel: -1
        doc: Bytes in `value`; -1 where the header has none.
      - id: value
        -orig-id: headerValue
        size: len_value.value
        if: len_value.value >= 0
        -column: {type: binary}
        doc: What the header says. Null where `len_value` is negative.
