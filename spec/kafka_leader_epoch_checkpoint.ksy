meta:
  id: kafka_leader_epoch_checkpoint
  title: Apache Kafka leader epoch checkpoint
  application: Apache Kafka
  tags:
    - database
    - log
    - text
  license: CC0-1.0
  ks-version: '0.11'
  encoding: UTF-8
doc: |
  The file `leader-epoch-checkpoint` of a partition: lines of text that say
  with which offset each leader's epoch began; since 0.11 (KIP-101). The broker
  writes a new file and renames it; there is no checksum. An empty file means
  no entries.

  Fields and lines end as in `kafka_offset_checkpoint`, which also says what
  Kafka's reader takes and this description does not. Numbers are left as the
  text that they are.
doc-ref: https://github.com/apache/kafka/blob/3.8.0/storage/src/main/java/org/apache/kafka/storage/internals/checkpoint/LeaderEpochCheckpointFile.java
seq:
  - id: version
    -orig-id: version
    type: str
    terminator: 0x0a
    valid: '"0"'
    if: _io.size > 0
    doc: |
      Version of the file; always 0. Kafka also takes other ways to write that
      number, such as `00`. Null in an empty file.
  - id: num_entries
    -orig-id: expectedSize
    type: str
    terminator: 0x0a
    if: _io.size > 0
    doc: |
      Entries that follow, in decimal. A reader has to compare it, as Kafka
      does. Null in an empty file.
  - id: entries
    -orig-id: entries
    type: entry
    repeat: eos
    doc: The entries; both of their numbers rise.
types:
  entry:
    doc: Where an epoch began.
    doc-ref:
      - https://github.com/apache/kafka/blob/3.8.0/storage/src/main/java/org/apache/kafka/storage/internals/log/EpochEntry.java
      - https://cwiki.apache.org/confluence/display/KAFKA/KIP-101+-+Alter+Replication+Protocol+to+use+Leader+Epoch+rather+than+High+Watermark+for+Truncation KIP-101
    -webide-representation: '{epoch} @{start_offset}'
    seq:
      - id: epoch
        -orig-id: epoch
        type: str
        terminator: 0x20
        doc: |
          Epoch of a leader, in decimal: what `partition_leader_epoch` of its
          batches says.
      - id: start_offset
        -orig-id: startOffset
        type: str
        terminator: 0x0a
        doc: First offset that the leader could write in it, in decimal.
