meta:
  id: kafka_producer_snapshot
  title: Apache Kafka producer state snapshot
  application: Apache Kafka
  file-extension: snapshot
  tags:
    - database
    - log
  license: CC0-1.0
  ks-version: '0.11'
  endian: be
doc: |
  What a broker knows of the idempotent and transactional producers of a
  partition just before the offset that names the file. It is written when a
  segment is full and at a clean stop; since 0.11 (KIP-98).

  It is the only file that says which transactions are open at an offset.
doc-ref: https://github.com/apache/kafka/blob/3.8.0/storage/src/main/java/org/apache/kafka/storage/internals/log/ProducerStateManager.java
-header: ProducerSnapshotHeader
seq:
  - id: version
    -orig-id: Version
    type: s2
    valid: 1
    doc: Version of the file; always 1. Not covered by `crc`.
  - id: crc
    -orig-id: Crc
    type: u4
    -checksum: {algorithm: crc32c, from: num_producers, to: _end}
    doc: CRC-32C (Castagnoli) of all bytes after this field.
  - id: num_producers
    -orig-id: ProducerEntries
    type: s4
    valid:
      min: 0
    doc: Producers that follow. Covered by `crc`.
  - id: producers
    -orig-id: ProducerEntries
    type: producer
    repeat: expr
    repeat-expr: num_producers
    -table: producers
    doc: The producers, in no order. Covered by `crc`.
types:
  producer:
    doc: A producer, with its last batch in this partition.
    doc-ref:
      - https://github.com/apache/kafka/blob/3.8.0/storage/src/main/java/org/apache/kafka/storage/internals/log/ProducerStateEntry.java
      - https://cwiki.apache.org/confluence/display/KAFKA/KIP-98+-+Exactly+Once+Delivery+and+Transactional+Messaging KIP-98
    -header: ProducerSnapshotEntry
    -webide-representation: '{producer_id:dec}'
    seq:
      - id: producer_id
        -orig-id: ProducerId
        type: s8
        -column: true
        doc: Number of the producer, given out by the cluster. Covered by `crc`.
      - id: epoch
        -orig-id: Epoch
        type: s2
        -column: true
        doc: Its newest epoch that was seen. Covered by `crc`.
      - id: last_sequence
        -orig-id: LastSequence
        type: s4
        -column: {sentinel: -1}
        doc: |
          Sequence number of the last record of its last batch; -1 stands for
          none. Covered by `crc`.
      - id: last_offset
        -orig-id: LastOffset
        type: s8
        -column: {sentinel: -1}
        doc: |
          Offset of that record; -1 stands for none, as where only a marker was
          seen. Covered by `crc`.
      - id: offset_delta
        -orig-id: OffsetDelta
        type: s4
        -column: true
        doc: |
          Offsets and sequence numbers from the first record of its last batch
          to the last. Covered by `crc`.
      - id: timestamp
        -orig-id: Timestamp
        type: s8
        -column: {sentinel: -1, unit: ms}
        doc: |
          Largest timestamp of its last batch or marker, in milliseconds since
          the Unix epoch; -1 stands for none. Covered by `crc`.
      - id: coordinator_epoch
        -orig-id: CoordinatorEpoch
        type: s4
        -column: {sentinel: -1}
        doc: |
          Epoch of the transaction coordinator that wrote its last marker; -1
          stands for none. Covered by `crc`.
      - id: current_transaction_first_offset
        -orig-id: CurrentTxnFirstOffset
        type: s8
        -column: {sentinel: -1}
        doc: |
          First offset of its open transaction; -1 where it has none. Covered by
          `crc`.
