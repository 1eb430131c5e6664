meta:
  id: kafka_control_record
  title: Apache Kafka control record (message format v2)
  application: Apache Kafka
  tags:
    - database
    - log
  license: CC0-1.0
  ks-version: '0.11'
  imports:
    - kafka_tagged_fields
    - kafka_uvarint
    - kafka_varint
  encoding: UTF-8
  endian: be
doc: |
  Key and value of a record in a control batch, each behind its length: the
  middle of what `kafka_record` describes. The key says what the value is. The
  batch's CRC covers all of it.

  Two families share the format. A transaction marker ends a transaction in a
  partition; its batch is transactional, bears the producer's id and holds this
  one record. The others belong to KRaft, in the log `__cluster_metadata` and
  its snapshots; their batches are not transactional and may hold several.
  Consumers are given neither; each takes an offset.

  In the early KRaft of Kafka 2.7 and 2.8, type 3 was the change of leader, and
  its value had no version: see `kafka_early_leader_change`, which also says
  how to tell. Here, type 3 is the header of a snapshot.
doc-ref:
  - https://kafka.apache.org/documentation/#controlbatch
  - https://github.com/apache/kafka/tree/3.8.0/clients/src/main/resources/common/message
-webide-representation: '{key}'
seq:
  - id: len_key
    -orig-id: keyLength
    type: kafka_varint
    -valid: {min: 4}
    doc: Bytes in `key`; at least 4.
  - id: key
    -orig-id: key
    size: len_key.value
    type: control_key
    doc: The kind of record. Bytes that a newer version appends are ignored.
  - id: len_value
    -orig-id: valueLength
    type: kafka_varint
    doc: Bytes in `content`, the value of the record.
  - id: content
    -orig-id: value
    size: len_value.value
    type:
      switch-on: key.control_type
      cases:
        'control_types::abort': end_transaction_marker
        'control_types::commit': end_transaction_marker
        'control_types::leader_change': leader_change_message
        'control_types::snapshot_header': snapshot_header_record
        'control_types::snapshot_footer': snapshot_footer_record
        'control_types::kraft_version': kraft_version_record
        'control_types::kraft_voters': voters_record
        _: unknown_content
    if: len_value.value >= 0
    doc: |
      The value of the record: what it says, by its kind. Null where `len_value`
      is negative.
types:
  control_key:
    doc: The key of a control record.
    doc-ref: https://github.com/apache/kafka/blob/3.8.0/clients/src/main/java/org/apache/kafka/common/record/ControlRecordType.java
    -header: ControlKey
    -webide-representation: '{control_type}'
    seq:
      - id: version
        -orig-id: version
        type: s2
        valid:
          min: 0
        doc: |
          Version of the key. Always written as 0; a reader takes a higher one
          as 0 and ignores what it does not know.
      - id: control_type
        -orig-id: type
        type: s2
        enum: control_types
        doc: The kind of record. Readers skip a kind that they do not know.
      - id: ignored
        size-eos: true
        if: not _io.eof
        -ours: true
        doc: Bytes that a newer version appended, which readers do not look at.
  end_transaction_marker:
    doc: The value of a transaction marker, be it an abort or a commit.
    doc-ref:
      - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/java/org/apache/kafka/common/record/EndTransactionMarker.java
      - https://cwiki.apache.org/confluence/display/KAFKA/KIP-98+-+Exactly+Once+Delivery+and+Transactional+Messaging KIP-98
    -header: TransactionMarker
    seq:
      - id: version
        -orig-id: version
        type: s2
        valid:
          min: 0
        doc: |
          Version of the value. Always written as 0; a reader takes a higher
          one as 0 and ignores what it does not know.
      - id: coordinator_epoch
        -orig-id: coordinatorEpoch
        type: s4
        doc: |
          Epoch of the transaction coordinator that wrote the marker; a
          partition refuses a marker from an older one.
      - id: ignored
        size-eos: true
        if: not _io.eof
        -ours: true
        doc: Bytes that a newer version appended, which readers do not look at.
  leader_change_message:
    doc: |
      A new leader of the metadata quorum writes this first in its epoch; since
      3.0.
    doc-ref:
      - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/resources/common/message/LeaderChangeMessage.json
      - https://cwiki.apache.org/confluence/display/KAFKA/KIP-595%3A+A+Raft+Protocol+for+the+Metadata+Quorum KIP-595
    seq:
      - id: version
        -orig-id: Version
        type: s2
        doc: |
          Version of the message: 0, or 1, which adds the directories of the
          voters (KIP-853). It stands here and nowhere else.
      - id: leader_id
        -orig-id: LeaderId
        type: s4
        doc: Node id of the new leader.
      - id: num_voters
        -orig-id: Voters
        type: kafka_uvarint
        -valid: {min: 1}
        doc: |
          Voters that follow, plus one; 0 would stand for null, which is an
          error.
      - id: voters
        -orig-id: Voters
        type: election_voter(version)
        repeat: expr
        repeat-expr: num_voters.count
        doc: The voters of the quorum in this epoch.
      - id: num_granting_voters
        -orig-id: GrantingVoters
        type: kafka_uvarint
        -valid: {min: 1}
        doc: |
          Voters that follow, plus one; 0 would stand for null, which is an
          error.
      - id: granting_voters
        -orig-id: GrantingVoters
        type: election_voter(version)
        repeat: expr
        repeat-expr: num_granting_voters.count
        doc: The voters that voted for the leader.
      - id: extension
        type: kafka_tagged_fields
        -ours: true
        doc: Tagged fields; none is defined.
      - id: ignored
        size-eos: true
        if: not _io.eof
        -ours: true
        doc: Bytes that a newer version appended, which readers do not look at.
  election_voter:
    doc: A voter in the election of a leader.
    doc-ref:
      - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/resources/common/message/LeaderChangeMessage.json
      - https://cwiki.apache.org/confluence/display/KAFKA/KIP-853%3A+KRaft+Controller+Membership+Changes KIP-853
    -webide-representation: '{voter_id:dec}'
    params:
      - id: version
        type: s2
        doc: Version of the message around it.
    seq:
      - id: voter_id
        -orig-id: VoterId
        type: s4
        doc: Node id of the voter.
      - id: voter_directory_id
        -orig-id: VoterDirectoryId
        size: 16
        if: version >= 1
        doc: |
          UUID of the voter's metadata directory; since version 1, null before.
          All zeros stand for none.
      - id: extension
        type: kafka_tagged_fields
        -ours: true
        doc: Tagged fields; none is defined.
  snapshot_header_record:
    doc: The first record of a snapshot of the metadata log; since 3.0.
    doc-ref: https://github.com/apache/kafka/blob/3.8.0/clients/src/main/resources/common/message/SnapshotHeaderRecord.json
    seq:
      - id: version
        -orig-id: Version
        type: s2
        doc: Version of the record; 0.
      - id: last_contained_log_timestamp
        -orig-id: LastContainedLogTimestamp
        type: s8
        doc: |
          Append time of the last record that the snapshot covers, in
          milliseconds since the Unix epoch.
      - id: extension
        type: kafka_tagged_fields
        -ours: true
        doc: Tagged fields; none is defined.
      - id: ignored
        size-eos: true
        if: not _io.eof
        -ours: true
        doc: Bytes that a newer version appended, which readers do not look at.
  snapshot_footer_record:
    doc: |
      The last record of a snapshot of the metadata log; since 3.0. A snapshot
      without it is incomplete.
    doc-ref: https://github.com/apache/kafka/blob/3.8.0/clients/src/main/resources/common/message/SnapshotFooterRecord.json
    seq:
      - id: version
        -orig-id: Version
        type: s2
        doc: Version of the record; 0.
      - id: extension
        type: kafka_tagged_fields
        -ours: true
        doc: Tagged fields; none is defined.
      - id: ignored
        size-eos: true
        if: not _io.eof
        -ours: true
        doc: Bytes that a newer version appended, which readers do not look at.
  kraft_version_record:
    doc: |
      Which version of the KRaft protocol the cluster uses from here on; since
      3.8 (KIP-853).
    doc-ref:
      - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/resources/common/message/KRaftVersionRecord.json
      - https://cwiki.apache.org/confluence/display/KAFKA/KIP-853%3A+KRaft+Controller+Membership+Changes KIP-853
    seq:
      - id: version
        -orig-id: Version
        type: s2
        doc: Version of the record; 0.
      - id: protocol_version
        -orig-id: KRaftVersion
        type: s2
        doc: |
          Version of the protocol: 0 has the voters in the configuration, 1 in
          the log, where they can be changed.
      - id: extension
        type: kafka_tagged_fields
        -ours: true
        doc: Tagged fields; none is defined.
      - id: ignored
        size-eos: true
        if: not _io.eof
        -ours: true
        doc: Bytes that a newer version appended, which readers do not look at.
  voters_record:
    doc: The voters of the metadata quorum from here on; since 3.8 (KIP-853).
    doc-ref:
      - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/resources/common/message/VotersRecord.json
      - https://cwiki.apache.org/confluence/display/KAFKA/KIP-853%3A+KRaft+Controller+Membership+Changes KIP-853
    seq:
      - id: version
        -orig-id: Version
        type: s2
        doc: Version of the record; 0.
      - id: num_voters
        -orig-id: Voters
        type: kafka_uvarint
        -valid: {min: 1}
        doc: |
          Voters that follow, plus one; 0 would stand for null, which is an
          error.
      - id: voters
        -orig-id: Voters
        type: voter
        repeat: expr
        repeat-expr: num_voters.count
        doc: The voters.
      - id: extension
        type: kafka_tagged_fields
        -ours: true
        doc: Tagged fields; none is defined.
      - id: ignored
        size-eos: true
        if: not _io.eof
        -ours: true
        doc: Bytes that a newer version appended, which readers do not look at.
  voter:
    doc: A voter of the metadata quorum.
    doc-ref:
      - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/resources/common/message/VotersRecord.json
      - https://cwiki.apache.org/confluence/display/KAFKA/KIP-853%3A+KRaft+Controller+Membership+Changes KIP-853
    -webide-representation: '{voter_id:dec}'
    seq:
      - id: voter_id
        -orig-id: VoterId
        type: s4
        doc: Node id of the voter.
      - id: voter_directory_id
        -orig-id: VoterDirectoryId
        size: 16
        doc: |
          UUID of the voter's metadata directory, which tells a replaced disk
          from the old one. All zeros stand for none.
      - id: num_endpoints
        -orig-id: Endpoints
        type: kafka_uvarint
        -valid: {min: 1}
        doc: |
          Endpoints that follow, plus one; 0 would stand for null, which is an
          error.
      - id: endpoints
        -orig-id: Endpoints
        type: endpoint
        repeat: expr
        repeat-expr: num_endpoints.count
        doc: Where the voter can be reached.
      - id: min_supported_version
        -orig-id: MinSupportedVersion
        type: s2
        doc: Lowest version of the KRaft protocol that the voter supports.
      - id: max_supported_version
        -orig-id: MaxSupportedVersion
        type: s2
        doc: Highest version of the KRaft protocol that the voter supports.
      - id: feature_extension
        type: kafka_tagged_fields
        -ours: true
        doc: |
          Tagged fields of the range of versions, which is a structure of its
          own in Kafka (`KRaftVersionFeature`); none is defined.
      - id: extension
        type: kafka_tagged_fields
        -ours: true
        doc: Tagged fields; none is defined.
  endpoint:
    doc: An address of a voter.
    doc-ref:
      - https://github.com/apache/kafka/blob/3.8.0/clients/src/main/resources/common/message/VotersRecord.json
      - https://cwiki.apache.org/confluence/display/KAFKA/KIP-853%3A+KRaft+Controller+Membership+Changes KIP-853
    -webide-representation: '{name} {host}:{port:dec}'
    seq:
      - id: len_name
        -orig-id: Name
        type: kafka_uvarint
        doc: Bytes in `name`, plus one.
      - id: name
        -orig-id: Name
        size: len_name.count
        type: str
        doc: Name of the listener, such as `CONTROLLER`.
      - id: len_host
        -orig-id: Host
        type: kafka_uvarint
        doc: Bytes in `host`, plus one.
      - id: host
        -orig-id: Host
        size: len_host.count
        type: str
        doc: Host name or address.
      - id: port
        -orig-id: Port
        type: u2
        doc: TCP port.
      - id: extension
        type: kafka_tagged_fields
        -ours: true
        doc: Tagged fields; none is defined.
  unknown_content:
    doc: The value of a kind of record that is not known here.
    seq:
      - id: data
        size-eos: true
        -ours: true
        doc: All of the value.
enums:
  control_types:
    0:
      id: abort
      -orig-id: ABORT
      doc: |
        A transaction marker: the producer's open transaction in this partition
        ends, and its records count for nothing.
    1:
      id: commit
      -orig-id: COMMIT
      doc: |
        A transaction marker: the producer's open transaction in this partition
        ends, and its records count.
    2:
      id: leader_change
      -orig-id: LEADER_CHANGE
      doc: KRaft; the metadata quorum has a new leader.
    3:
      id: snapshot_header
      -orig-id: SNAPSHOT_HEADER
      doc: KRaft; a snapshot begins.
    4:
      id: snapshot_footer
      -orig-id: SNAPSHOT_FOOTER
      doc: KRaft; a snapshot is complete.
    5:
      id: kraft_version
      -orig-id: KRAFT_VERSION
      doc: KRaft; the version of its protocol.
    6:
      id: kraft_voters
      -orig-id: KRAFT_VOTERS
      doc: KRaft; the voters of the metadata quorum.
