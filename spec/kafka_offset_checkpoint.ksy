meta:
  id: kafka_offset_checkpoint
  title: Apache Kafka offset checkpoint of a log directory
  application: Apache Kafka
  tags:
    - database
    - log
    - text
  license: CC0-1.0
  ks-version: '0.11'
  encoding: UTF-8
doc: |
  Lines of text that give an offset for partitions of the log directory: the
  files `replication-offset-checkpoint`, `recovery-point-offset-checkpoint`,
  `log-start-offset-checkpoint` and `cleaner-offset-checkpoint`. The broker
  writes a new file and renames it; there is no checksum. An empty file means
  no entries, as a broker makes it before it first writes one.

  What is written is one space between fields and one line feed behind each
  line, and that is what is described here. Kafka's reader also takes any other
  white space between the fields, CR and CR LF as the end of a line, a last
  line without an end, and a file that ends behind the version. Here the last
  two are an error; of the others the texts come out otherwise than in Kafka,
  with the white space in them.

  Numbers are left as the text that they are, because this language cannot say
  what is a number in text. Kafka refuses what is no decimal number; a count
  that is not that of the entries; and, in most releases, nothing else, so that
  a topic may be there twice and the last entry counts.
doc-ref: https://github.com/apache/kafka/blob/3.8.0/server-common/src/main/java/org/apache/kafka/server/common/CheckpointFile.java
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
    doc: The entries, in no order.
types:
  entry:
    doc: The offset of a partition.
    doc-ref: https://github.com/apache/kafka/blob/3.8.0/core/src/main/scala/kafka/server/checkpoints/OffsetCheckpointFile.scala
    -webide-representation: '{topic}-{partition} {offset}'
    seq:
      - id: topic
        -orig-id: topic
        type: str
        terminator: 0x20
        doc: The topic's name, of ASCII letters and digits, `.`, `_` and `-`.
      - id: partition
        -orig-id: partition
        type: str
        terminator: 0x20
        doc: Number of the partition in its topic, in decimal.
      - id: offset
        -orig-id: offset
        type: str
        terminator: 0x0a
        doc: |
          An offset in the partition, in decimal. Which one, the file's name
          says: in `replication-offset-checkpoint` the high watermark, below
          which all replicas have the records; in
          `recovery-point-offset-checkpoint` the first that may not be on disk
          yet; in `log-start-offset-checkpoint` the first that was not deleted,
          where its segment begins lower; in `cleaner-offset-checkpoint` the
          first that the log cleaner has not cleaned.
