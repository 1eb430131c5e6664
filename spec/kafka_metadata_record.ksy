meta:
  id: kafka_metadata_record
  title: Apache Kafka record of the cluster's metadata
  application: Apache Kafka
  tags:
    - database
    - log
    - serialization
  license: CC0-1.0
  ks-version: '0.11'
  imports:
    - kafka_uvarint
doc: |
  The value of a record of `__cluster_metadata`, the log of KRaft, and of its
  snapshots: a frame of three numbers around a message of Kafka's protocol,
  whose fields are those of a JSON file in Kafka's source, by type and version.
  The key is null. Control records have no such frame.

  Frame version 0 is of the early access of 2.8, which numbered some types in
  another way and whose logs no later release reads; since 3.0 it is 1. The
  topic `__remote_log_metadata` has the same frame around types of its own.
doc-ref: https://github.com/apache/kafka/tree/3.8.0/metadata/src/main/resources/common/metadata
-webide-representation: 'type {api_key} v{api_version}'
seq:
  - id: frame_version
    -orig-id: frameVersion
    type: kafka_uvarint
    -valid: {max: 1}
    doc: |
      Version of this frame; 1, or 0 in 2.8. Written by the active controller,
      as all of the record; covered by the batch's CRC.
  - id: api_key
    -orig-id: apiKey
    type: kafka_uvarint
    doc: |
      The type of the message, as `record_types` numbers them since 3.0; Kafka
      stops at a type that it does not know.
  - id: api_version
    -orig-id: apiVersion
    type: kafka_uvarint
    doc: Version of the message's fields.
  - id: data
    -orig-id: message
    size-eos: true
    doc: |
      The message, which ends with tagged fields (`kafka_tagged_fields`), except
      in 2.8.
enums:
  record_types:
    0:
      id: register_broker
      -orig-id: REGISTER_BROKER_RECORD
      doc: A broker has registered with the controller.
    1:
      id: unregister_broker
      -orig-id: UNREGISTER_BROKER_RECORD
      doc: A broker has been removed.
    2:
      id: topic
      -orig-id: TOPIC_RECORD
      doc: A topic was made, with its name and its id.
    3:
      id: partition
      -orig-id: PARTITION_RECORD
      doc: A partition, with its replicas and its leader.
    4:
      id: config
      -orig-id: CONFIG_RECORD
      doc: A setting of a topic, a broker or another resource.
    5:
      id: partition_change
      -orig-id: PARTITION_CHANGE_RECORD
      doc: A change of a partition, such as of its leader.
    7:
      id: fence_broker
      -orig-id: FENCE_BROKER_RECORD
      doc: A broker was fenced; replaced by type 17.
    8:
      id: unfence_broker
      -orig-id: UNFENCE_BROKER_RECORD
      doc: A broker was let in again; replaced by type 17.
    9:
      id: remove_topic
      -orig-id: REMOVE_TOPIC_RECORD
      doc: A topic was deleted, with all its partitions.
    10:
      id: delegation_token
      -orig-id: DELEGATION_TOKEN_RECORD
      doc: A delegation token was made or renewed.
    11:
      id: user_scram_credential
      -orig-id: USER_SCRAM_CREDENTIAL_RECORD
      doc: A user's SCRAM credential.
    12:
      id: feature_level
      -orig-id: FEATURE_LEVEL_RECORD
      doc: The level of a feature such as `metadata.version`.
    14:
      id: client_quota
      -orig-id: CLIENT_QUOTA_RECORD
      doc: A quota of a client, a user or an address.
    15:
      id: producer_ids
      -orig-id: PRODUCER_IDS_RECORD
      doc: A block of producer ids was given to a broker.
    17:
      id: broker_registration_change
      -orig-id: BROKER_REGISTRATION_CHANGE_RECORD
      doc: A broker was fenced, let in or is to stop.
    18:
      id: access_control_entry
      -orig-id: ACCESS_CONTROL_ENTRY_RECORD
      doc: An access control entry was made.
    19:
      id: remove_access_control_entry
      -orig-id: REMOVE_ACCESS_CONTROL_ENTRY_RECORD
      doc: An access control entry was deleted.
    20:
      id: no_op
      -orig-id: NO_OP_RECORD
      doc: Nothing; moves the offset on in a quiet cluster (KIP-835).
    21:
      id: zk_migration_state
      -orig-id: ZK_MIGRATION_STATE_RECORD
      doc: How far the migration from ZooKeeper has come.
    22:
      id: remove_user_scram_credential
      -orig-id: REMOVE_USER_SCRAM_CREDENTIAL_RECORD
      doc: A user's SCRAM credential was deleted.
    23:
      id: begin_transaction
      -orig-id: BEGIN_TRANSACTION_RECORD
      doc: The records from here on take effect together (KIP-868).
    24:
      id: end_transaction
      -orig-id: END_TRANSACTION_RECORD
      doc: The records since type 23 take effect.
    25:
      id: abort_transaction
      -orig-id: ABORT_TRANSACTION_RECORD
      doc: The records since type 23 take no effect.
    26:
      id: remove_delegation_token
      -orig-id: REMOVE_DELEGATION_TOKEN_RECORD
      doc: A delegation token was deleted.
    27:
      id: register_controller
      -orig-id: REGISTER_CONTROLLER_RECORD
      doc: A controller has registered (KIP-919).
    28:
      id: clear_elr
      -orig-id: CLEAR_ELR_RECORD
      doc: Eligible leader replicas were cleared (KIP-966).
    29:
      id: unregister_controller
      -orig-id: UNREGISTER_CONTROLLER_RECORD
      doc: A controller has been removed.
