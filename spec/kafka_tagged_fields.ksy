meta:
  id: kafka_tagged_fields
  title: Apache Kafka tagged fields
  application: Apache Kafka
  tags:
    - serialization
  license: CC0-1.0
  ks-version: '0.11'
  imports:
    - kafka_uvarint
doc: |
  The end of every structure of a flexible version (KIP-482): fields that a
  reader skips if it does not know their tags. None is one zero byte.
doc-ref: https://kafka.apache.org/protocol#protocol_messages
-webide-representation: 'n={num_fields}'
seq:
  - id: num_fields
    type: kafka_uvarint
    -ours: true
    doc: Fields that follow.
  - id: fields
    type: tagged_field
    repeat: expr
    repeat-expr: num_fields.clamped
    -ours: true
    doc: The fields, by rising tag.
types:
  tagged_field:
    doc: A field that may be there or not.
    doc-ref: https://cwiki.apache.org/confluence/display/KAFKA/KIP-482%3A+The+Kafka+Protocol+should+Support+Optional+Tagged+Fields KIP-482
    -webide-representation: '{tag}'
    seq:
      - id: tag
        type: kafka_uvarint
        -ours: true
        doc: Which field it is.
      - id: len_data
        type: kafka_uvarint
        -ours: true
        doc: Bytes in `data`.
      - id: data
        size: len_data.clamped
        -ours: true
        doc: The field's value.
