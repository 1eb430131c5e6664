meta:
  id: kafka_partition_metadata
  title: Apache Kafka partition metadata
  application: Apache Kafka
  tags:
    - database
    - log
    - text
  license: CC0-1.0
  ks-version: '0.11'
  encoding: UTF-8
doc: |
  The file `partition.metadata` of a partition: two lines of text that say to
  which topic it belongs; since 2.8 (KIP-516). The broker writes a new file and
  renames it; there is no checksum.

  What is written is described here: one space behind each colon, a line feed
  behind the first line and nothing behind the second. Kafka's reader also
  takes other white space behind the colons, CR and CR LF as the end of a line,
  and an id that is padded with `=`. A topic id of nothing but `A`, which is
  zero, is an error in Kafka.
doc-ref: https://github.com/apache/kafka/blob/3.8.0/storage/src/main/java/org/apache/kafka/storage/internals/checkpoint/PartitionMetadata.java
seq:
  - id: version_key
    -orig-id: version
    type: str
    terminator: 0x20
    valid: '"version:"'
    doc: The word before the version.
  - id: version
    -orig-id: version
    type: str
    terminator: 0x0a
    doc: |
      Version of the file, in decimal. Brokers write 0. They read a higher one
      as 0, so that a log.dir survives a downgrade, and refuse one below 0.
  - id: topic_id_key
    -orig-id: topicId
    type: str
    terminator: 0x20
    valid: '"topic_id:"'
    doc: The word before the topic's id.
  - id: topic_id
    -orig-id: topicId
    size: 22
    type: str
    doc: |
      UUID of the topic, given out by the controller when the topic was made:
      its 16 bytes in base64 with `-` and `_` (RFC 4648, section 5), without
      padding.
  - id: rest
    size-eos: true
    if: not _io.eof
    -ours: true
    doc: |
      What follows. No broker writes that, and Kafka's reader takes a line feed
      and whatever is behind it, but nothing else.
