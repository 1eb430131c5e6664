meta:
  id: kafka_kraft_snapshot
  title: Apache Kafka KRaft snapshot
  application: Apache Kafka
  file-extension: checkpoint
  tags:
    - database
    - log
  license: CC0-1.0
  ks-version: '0.11'
  imports:
    - kafka_record_batch
  endian: be
doc: |
  The state of the metadata log just before the offset that its name gives,
  together with the epoch; since 3.0 (KIP-630). `bootstrap.checkpoint` has the
  same form. All files of a name such as `recovery-point-offset-checkpoint`
  are something else, text.

  It is batches of v2 like any log, and `kafka_log` reads it as well; this
  description asks for more: a first batch that begins with SNAPSHOT_HEADER and
  a last one that begins with SNAPSHOT_FOOTER, both control batches, with
  nothing behind. Without the footer a file is incomplete, such as the
  `.checkpoint.part` that a stopped controller leaves behind.

  The offsets in it count from 0 and are not those of the log. The values of
  the records that are no control records are what `kafka_metadata_record`
  describes.
doc-ref: https://github.com/apache/kafka/blob/3.8.0/raft/src/main/java/org/apache/kafka/snapshot/RecordsSnapshotWriter.java
seq:
  - id: header
    type: snapshot_batch
    -ours: true
    doc: |
      The first batch, of control records: SNAPSHOT_HEADER, and since 3.8 also
      KRAFT_VERSION and KRAFT_VOTERS (KIP-853).
  - id: batches
    type: snapshot_batch
    repeat: until
    repeat-until: _.is_footer
    -ours: true
    doc: |
      The batches of records that make up the state, and as the last one the
      batch of SNAPSHOT_FOOTER. A file that ends before it is an error.
  - id: unexpected
    type: u1
    valid:
      min: 1
      max: 0
    if: not header.is_header or not _io.eof
    -ours: true
    doc: |
      A byte that must not be, as no value lies within both limits: a parser
      comes here where the first batch is no header or something follows the
      footer, and stops. Always null.
types:
  snapshot_batch:
    doc: A batch, with what tells that it begins or ends the snapshot.
    doc-ref: https://github.com/apache/kafka/blob/3.8.0/raft/src/main/java/org/apache/kafka/snapshot/RecordsSnapshotWriter.java
    -webide-representation: '{batch}'
    seq:
      - id: batch
        type: kafka_record_batch
        -ours: true
        doc: The batch; its `crc` covers it as in any log.
    instances:
      has_control_records:
        value: >-
          batch.attributes.is_control
          and batch.attributes.codec == kafka_record_batch::codecs::none
          and batch.num_records > 0
        doc: Whether the batch holds control records, as all but the state do.
      len_first_key:
        value: batch.payload.records.first.body.len_key.value.as<s4>
        if: has_control_records
        doc: Bytes in the key of the first control record.
      has_control_type:
        value: has_control_records and len_first_key >= 4
        doc: Whether the batch begins with a control record that has a key.
      control_type:
        value: >-
          (batch.payload.records.first.body.control_record.key.control_type
          .to_i).as<s4>
        if: has_control_type
        doc: |
          Kind of the batch's first control record, as the enum `control_types`
          of `kafka_control_record` numbers them.
      is_header:
        value: has_control_type and control_type == 3
        doc: Whether the batch begins with SNAPSHOT_HEADER.
      is_footer:
        value: has_control_type and control_type == 4
        doc: Whether the batch begins with SNAPSHOT_FOOTER.
