meta:
  id: kafka_record_batch_checked
  title: Apache Kafka record batch, with its checksum worked out
  application: Apache Kafka
  tags:
    - checksum
    - log
  license: CC0-1.0
  ks-version: '0.11'
  imports:
    - kafka_crc
    - kafka_record_batch
doc: For looking at a batch in a visualizer; see `kafka_crc` for what it costs.
doc-ref: https://github.com/apache/kafka/blob/3.8.0/clients/src/main/java/org/apache/kafka/common/record/DefaultRecordBatch.java
seq:
  - id: batch
    type: kafka_record_batch
    -ours: true
    doc: The batch.
instances:
  computed_crc:
    pos: 21
    size: batch.len_batch - 9
    type: kafka_crc(true)
    doc: The checksum of the bytes that the batch's `crc` covers.
  is_crc_valid:
    value: computed_crc.value == batch.crc
    doc: Whether the batch is as it was when its checksum was written.
