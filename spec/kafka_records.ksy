meta:
  id: kafka_records
  title: Apache Kafka record batch payload (message format v2), decompressed
  application: Apache Kafka
  tags:
    - database
    - log
  license: CC0-1.0
  ks-version: '0.11'
  imports:
    - kafka_record
  endian: be
doc: |
  The records of one batch, as they lie in an uncompressed batch and as they
  come out of the decompressor of a compressed one. A specification cannot run
  Kafka's codecs; so decompress `compressed_payload` of `kafka_record_batch`
  and parse the result with this type.
doc-ref: https://kafka.apache.org/documentation/#record
seq:
  - id: records
    -orig-id: records
    type: kafka_record(false)
    repeat: eos
    doc: |
      As many records as the batch's `num_records` says; bytes left over are an
      error there. Control batches are never compressed.
