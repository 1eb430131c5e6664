"""Codes for brokers: faults that stop a broker, or with which it starts with loss."""

from magicbyte._finding_codes._code import OUR_RULE, Code, Severity

ENSEMBLE = "MetaPropertiesEnsemble"
NOT_STARTED = "The broker does not start."
CONTROLLER_COPY = (
    "Take the whole folder __cluster_metadata-0 from another controller or from a backup."
)


def _error(
    name: str,
    sentence: str,
    source: str,
    *,
    cause: str,
    consequence: str = NOT_STARTED,
    remedy: str,
    severity: Severity = "error",
) -> Code:
    return Code(name, severity, sentence, cause, consequence, remedy, source)


LOG_DIRS = (
    _error(
        "folder-name-invalid",
        "A folder in a log.dir is not named like a partition: the broker does not start.",
        "LogManager, LocalLog.parseTopicPartitionName",
        cause="A file system made it (lost+found), or somebody put a backup or other files into the log.dir.",
        remedy="Move the folder out of the log.dir, or mount the disk one level higher so that lost+found is not in the log.dir.",
    ),
    _error(
        "partition-in-two-folders",
        "Two folders of one broker are the same partition: the broker does not start.",
        "LogManager",
        cause="A partition was copied or moved by hand, or a disk that was replaced came back.",
        remedy="Compare the two, keep the one with the higher leader epoch and log end offset, and move the other out of the log.dir.",
    ),
    _error(
        "meta-properties-missing",
        "A log.dir has no meta.properties: the broker does not start.",
        "KafkaRaftServer, MetaPropertiesEnsemble",
        cause="The disk is new, was not mounted, was full, or the file was deleted.",
        remedy="Restore the file from another copy. Format the log.dir with kafka-storage.sh only if it is meant to be empty.",
    ),
    _error(
        "meta-properties-invalid",
        "A meta.properties cannot be parsed, or lacks an id.",
        "MetaPropertiesEnsemble, BrokerMetadataCheckpoint",
        cause="The disk was full when the file was written, or somebody edited it.",
        consequence="The broker does not start, or the log.dir goes offline.",
        remedy="Write it again, with the node.id and cluster.id of the other log.dirs of this broker.",
    ),
    _error(
        "meta-properties-differ",
        "The meta.properties of two log.dirs differ, which brokers until 3.6 refuse.",
        "BrokerMetadataCheckpoint",
        cause="A disk belongs to another broker, or one file was edited.",
        remedy="If both belong to one broker, give them the same content. Otherwise nothing is wrong.",
    ),
    _error(
        "node-id-differs",
        "The log.dirs of a broker have different node ids.",
        ENSEMBLE,
        cause="A disk of another broker is in the wrong place, or its meta.properties was edited.",
        remedy="Give each broker its own disks.",
    ),
    _error(
        "cluster-id-differs",
        "The log.dirs of a broker have different cluster ids.",
        ENSEMBLE,
        cause="A disk of another cluster is in the wrong place, or one log.dir was formatted again.",
        remedy="Give it the cluster.id of the others, if it belongs to the same cluster.",
    ),
    _error(
        "directory-id-duplicate",
        "Two log.dirs of a broker have the same directory id.",
        ENSEMBLE,
        cause="A disk was cloned.",
        remedy="Take the line directory.id out of the meta.properties of the copy.",
    ),
    _error(
        "directory-id-invalid",
        "A log.dir has a directory id that is reserved.",
        "MetaPropertiesEnsemble, DirectoryId",
        cause="Somebody edited meta.properties.",
        remedy="Take the line directory.id out of meta.properties; the broker makes a new one.",
    ),
    _error(
        "log-dir-failed",
        "A log.dir goes offline on startup, and its partitions are not served.",
        "LogDirFailureChannel",
        cause="The log.dir, or a file or folder in it, cannot be read or written.",
        consequence="The partitions of the log.dir are not served. A broker ends if it is the metadata.log.dir, or the last log.dir.",
        remedy="Repair what the message names.",
    ),
    _error(
        "log-dir-locked",
        "Another process holds the lock of a log.dir.",
        "LogManager.lockLogDirs",
        severity="warning",
        cause="The broker is running, or another program opened the log.dir.",
        consequence="A second broker does not start. Files change while they are read.",
        remedy="If the broker is running, stop it or verify a copy.",
    ),
)

PARTITIONS = (
    _error(
        "partition-invalid",
        "A file of a partition stops the broker, or takes its log.dir offline.",
        "LogLoader",
        cause="A file of the partition was damaged, renamed or put there by hand.",
        consequence="The broker does not start, or serves no partition of the log.dir.",
        remedy="See the file that it names. Move the partition's folder out of the log.dir to start the broker without it, and read it there.",
    ),
    _error(
        "partition-metadata-invalid",
        "A partition.metadata cannot be read: the broker ends, or the log.dir goes offline.",
        "PartitionMetadataFile",
        cause="The disk was full when the file was written, or somebody edited it.",
        consequence="The broker does not start, or serves no partition of the log.dir.",
        remedy="Write it again, with the topic id that other partitions of the topic have.",
    ),
    _error(
        "partition-truncated",
        "Offsets of a partition are lost on startup.",
        "LogLoader",
        cause="Recovery truncates a segment at its first invalid entry, and deletes the segments after it.",
        consequence="The records of these offsets are gone from this broker for good.",
        remedy="Make a copy of the partition before the broker starts. Other replicas may still have these offsets.",
    ),
    _error(
        "partition-stray",
        "A folder is renamed to -stray on startup, and its records are not served.",
        "LogManager, KIP-858",
        cause="Its topic id is missing, or the metadata does not know it or this replica.",
        consequence="An empty log, or nothing, is served in its place.",
        remedy="Restore the topic id or the metadata that the message names, or read the folder here and load its records again.",
    ),
    _error(
        "partition-missing",
        "No log.dir has the folder of a partition that the broker should have.",
        "LogManager",
        cause="The folder was deleted or renamed, or a log.dir was not given.",
        consequence="An empty log takes its place, unless another replica has the records.",
        remedy="Look for the folder on other disks and under the suffixes -delete and -stray.",
    ),
    _error(
        "partition-not-served",
        "The broker starts and does not serve a partition whose folder is here.",
        "ReplicaManager",
        cause="Its topic id is another topic's, its log.dir is offline, or the metadata assigns it elsewhere.",
        consequence="Consumers get no record of it. The records are still in the folder.",
        remedy="See what the message names.",
    ),
)

KRAFT = (
    _error(
        "metadata-log-misplaced",
        "The folder of the metadata log is in a log.dir that is not the metadata.log.dir.",
        "KafkaRaftServer",
        cause="The folder was copied or moved, or the order of the setting log.dirs was changed.",
        remedy="Move the folder back, or remove the copy. Name log.dirs in the order of the setting log.dirs.",
    ),
    _error(
        "metadata-log-without-snapshot",
        "The metadata log begins above 0, and no snapshot reaches its beginning.",
        "KafkaRaftLog",
        cause="Snapshots were deleted, or left out of the copy.",
        remedy=f"Restore the snapshot. {CONTROLLER_COPY}",
    ),
    _error(
        "metadata-log-damaged",
        "The metadata log is in a state with which the node never gets ready.",
        "KafkaRaftClient",
        cause="Files of the metadata log were lost or emptied.",
        remedy=CONTROLLER_COPY,
    ),
    _error(
        "metadata-log-truncated",
        "Records of the metadata log are lost on startup, and no other voter is known to have them.",
        "KafkaRaftLog",
        cause="Every startup recovers the metadata log: it is truncated at the first invalid batch.",
        consequence="Topics that were created in the lost part become stray.",
        remedy="Make a copy of the folder before the broker starts.",
    ),
    _error(
        "metadata-log-missing",
        "The metadata log is gone: the node would know no topic.",
        "KafkaRaftServer",
        cause="The folder __cluster_metadata-0 was deleted, or left out of the copy.",
        consequence="All partitions of the broker become stray.",
        remedy="Restore the folder __cluster_metadata-0 before the broker starts.",
    ),
    _error(
        "metadata-log-refetched",
        "The node fetches a part of the metadata log again from the controllers.",
        "KafkaRaftClient",
        severity="note",
        cause="Its copy of the metadata log is damaged or gone, and it is no voter.",
        consequence="Nothing is lost, if a controller has it.",
        remedy="Nothing to do.",
    ),
    _error(
        "metadata-log-not-given",
        "No given log.dir holds the metadata log.",
        OUR_RULE,
        severity="note",
        cause="Only some of the broker's log.dirs were given.",
        consequence="Whether the cluster's metadata knows the partitions cannot be predicted.",
        remedy="Name the broker's other log.dirs too, the metadata.log.dir among them.",
    ),
    _error(
        "metadata-snapshot-invalid",
        "A snapshot of the metadata log cannot be read: the node does not start.",
        "RecordsSnapshotReader, Snapshots",
        cause="The file was damaged, emptied, or has a name of another form.",
        remedy="Move the snapshot away if the log reaches back to an older one or to 0; otherwise take it from another controller.",
    ),
    _error(
        "quorum-state-invalid",
        "The file quorum-state cannot be read: the node does not start.",
        "FileQuorumStateStore",
        cause="The disk was full, or power failed, when the file was written.",
        remedy="Remove the file; the node makes a new one.",
    ),
    _error(
        "bootstrap-checkpoint-invalid",
        "The file bootstrap.checkpoint cannot be read or has no metadata.version: the node does not start.",
        "BootstrapDirectory",
        cause="The disk was full, or power failed, when the file was written.",
        remedy="Remove the file, if the metadata log holds records.",
    ),
)

BROKERS = (*LOG_DIRS, *PARTITIONS, *KRAFT)
