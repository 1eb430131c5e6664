meta:
  id: kafka_early_leader_change
  title: Apache Kafka change of the KRaft leader, early access (2.7 and 2.8)
  application: Apache Kafka
  tags:
    - database
    - log
  license: CC0-1.0
  ks-version: '0.11'
  imports:
    - kafka_tagged_fields
    - kafka_uvarint
  endian: be
doc: |
  The value of a control record by which a new leader of the metadata quorum
  began its epoch before 3.0, when KRaft was for trying out: its key has the
  type 3, and the value has no version. No release reads what these wrote.

  Since 3.0 the change of leader has the type 2 and begins with a version, and
  3 is the header of a snapshot. The bytes alone do not say which of the two a
  value of type 3 is, but the file does: a change of leader is in a log, and
  the header of a snapshot is in a `.checkpoint` and nowhere else. Besides, a
  header takes 11 bytes, and a change of leader never does; and the records of
  such a log have frames of version 0, where later ones have 1 (see
  `kafka_metadata_record`).

  The batch around it, and the key, are as `kafka_control_record` says.
doc-ref: https://github.com/apache/kafka/blob/2.8.0/clients/src/main/resources/common/message/LeaderChangeMessage.json
seq:
  - id: leader_id
    -orig-id: LeaderId
    type: s4
    doc: |
      Node id of the new leader, which writes this. Covered by the batch's CRC.
  - id: num_voters
    -orig-id: Voters
    type: kafka_uvarint
    -valid: {min: 1}
    doc: |
      Voters that follow, plus one; 0 would stand for null, which is an error.
  - id: voters
    -orig-id: Voters
    type: voter
    repeat: expr
    repeat-expr: num_voters.count
    doc: The voters of the quorum in this epoch; in 2.7, those for the leader.
  - id: num_granting_voters
    -orig-id: GrantingVoters
    type: kafka_uvarint
    if: has_granting_voters
    -valid: {min: 1}
    doc: |
      Voters that follow, plus one; 0 would stand for null, which is an error.
      Null in 2.7.
  - id: granting_voters
    -orig-id: GrantingVoters
    type: voter
    repeat: expr
    repeat-expr: num_granting_voters.count
    if: has_granting_voters
    doc: The voters that voted for the leader; since 2.8, null before.
  - id: extension
    type: kafka_tagged_fields
    -ours: true
    doc: Tagged fields; none is defined.
instances:
  has_granting_voters:
    value: _io.size - _io.pos > 1
    doc: |
      Whether more than the tagged fields, which are one byte where there are
      none, follows the voters. To be asked for behind them.
types:
  voter:
    doc: A voter of the metadata quorum.
    doc-ref: https://github.com/apache/kafka/blob/2.8.0/clients/src/main/resources/common/message/LeaderChangeMessage.json
    -webide-representation: '{voter_id:dec}'
    seq:
      - id: voter_id
        -orig-id: VoterId
        type: s4
        doc: Node id of the voter.
      - id: extension
        type: kafka_tagged_fields
        -ours: true
        doc: Tagged fields; none is defined.
