meta:
  id: kafka_transaction_index
  title: Apache Kafka aborted transaction index
  application: Apache Kafka
  file-extension: txnindex
  tags:
    - database
    - index
    - log
  license: CC0-1.0
  ks-version: '0.11'
  endian: be
doc: |
  The aborted transactions whose abort marker lies in the log segment of the
  same name, which a consumer needs to skip their records. Without header,
  checksum and zeros at the end; since 0.11 (KIP-98). There is no file where
  there is no such transaction.
doc-ref: https://github.com/apache/kafka/blob/3.8.0/storage/src/main/java/org/apache/kafka/storage/internals/log/AbortedTxn.java
seq:
  - id: aborted_transactions
    type: aborted_transaction
    repeat: eos
    -ours: true
    -table: aborted_transactions
    doc: The transactions, in the order of their markers.
types:
  aborted_transaction:
    doc: An aborted transaction, in so far as it touched this partition.
    doc-ref:
      - https://github.com/apache/kafka/blob/3.8.0/storage/src/main/java/org/apache/kafka/storage/internals/log/AbortedTxn.java
      - https://cwiki.apache.org/confluence/display/KAFKA/KIP-98+-+Exactly+Once+Delivery+and+Transactional+Messaging KIP-98
    -header: AbortedTransaction
    -webide-representation: '{first_offset:dec} to {last_offset:dec}'
    seq:
      - id: version
        -orig-id: version
        type: s2
        valid: 0
        -column: true
        doc: Version of the entry; always 0.
      - id: producer_id
        -orig-id: producerId
        type: s8
        -column: true
        doc: Number of the producer whose transaction it was.
      - id: first_offset
        -orig-id: firstOffset
        type: s8
        -column: true
        doc: |
          Offset of the transaction's first record in the partition, which may
          lie in an earlier segment.
      - id: last_offset
        -orig-id: lastOffset
        type: s8
        -column: true
        doc: Offset of the abort marker, which lies in this segment.
      - id: last_stable_offset
        -orig-id: lastStableOffset
        type: s8
        -column: true
        doc: |
          First offset of the oldest other transaction that was open when the
          marker was written, or else the offset after the marker. The
          transactions of later entries begin there or higher, which tells a
          search when it may stop.
