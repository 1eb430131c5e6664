"""What to do about a finding, by its code."""

REPLICA = "Compare with another replica of the partition; its bytes at this offset may be sound."
COPY = "Copy the files again while the broker is stopped, or from a snapshot of the disk, and read that."
REFETCH = "If other replicas are in sync, let this broker fetch the partition anew from them."
PRODUCER = "The bytes are as the producer sent them: look at the client's library and its version."
RAISE = "If the size is plausible, read again with a higher --max-entry-bytes or --max-batch-bytes; else it is damage."
ENCODER = "Mend the encoder."

TIME_INDEX = "Rows are read without it. Consumers that look for a time may begin too late: delete it and the .index beside it while the broker is stopped, and a start rebuilds both; without the .index it would make an empty one."

ADVICE = {
    # Framing
    "bad-size": f"Bytes from here to the next sound entry are lost in this copy. {REPLICA}",
    "unknown-magic": f"Either the bytes were overwritten, or a later Kafka wrote them. {REPLICA}",
    "incomplete-entry": f"Bytes are missing in the middle of the file. {COPY} {REPLICA}",
    "incomplete-tail": "Normal if the broker was running or was killed: a start truncates it. Otherwise the copy is short; compare the file's length with the original's.",
    "zero-tail": "Normal in a running broker's preallocated segment and after a crash, and a start after a crash cuts it off. After a clean stop a broker may refuse to start with it.",
    "zeros": f"Pages did not reach the disk, or the file has a hole. Check the disk and how it was copied. {REPLICA}",
    "entry-over-limit": RAISE,
    "found-by-search": "Look at the finding before this one: rows between the two are lost, those from here on are sound.",
    "candidate-passed-over": "The damage here is unusually long. Cut the file behind it and read the rest by itself, to see whether anything is left.",
    # Checksums
    "checksum-mismatch": f"Bytes changed after they were written: check disk, memory and the copy. {REPLICA}",
    "record-checksum-mismatch": f"The wrapper is sound, the message was wrong before it was wrapped. {PRODUCER}",
    # Payloads
    "unknown-codec": "A later Kafka or a broken client wrote this. See whether a newer release reads it.",
    "codec-not-allowed": f"No consumer reads this. {PRODUCER}",
    "codec-error": f"The checksum is right, so it was stored like this. {PRODUCER} `magicbyte extract FILE@BYTE` tries it alone.",
    "batch-over-limit": RAISE,
    "bad-record-count": f"Consumers refuse the batch too. {PRODUCER}",
    "bytes-left-over": f"Consumers refuse the batch too. {PRODUCER}",
    "bytes-unread": "No record is lost. Look at the bytes if you expected records here.",
    "bad-record": f"No record of the batch is delivered; a consumer stops here. {PRODUCER}",
    "bad-message": f"Consumers stop at this message. {PRODUCER}",
    "message-bytes-unread": "Key and value are delivered; what is behind them no reader shows.",
    "negative-length": f"Delivered as null, as Kafka does. {PRODUCER}",
    "bad-wrapper": f"None of its messages is delivered. {PRODUCER}",
    "inner-magic-differs": "The messages are delivered. Known of old clients and of down-conversion; nothing to do.",
    "inner-message-cut": "Whole messages are delivered; the cut one is not in Kafka's answer either.",
    "bad-control-record": "If it was a transaction's end, see what is said of that transaction. Compare with another replica.",
    "bad-marker-value": "The outcome counts all the same, it is in the key. Compare with another replica.",
    "unknown-control-type": "A later Kafka wrote it. Consumers skip it, and so is it here.",
    # Offsets
    "offset-out-of-order": "Entries were moved, repeated or overwritten. See which side of the break other replicas agree with.",
    "offset-outside-segment": "The file may have another segment's name or content. Compare name and first offset with another replica.",
    "offset-gap": "Records are missing. See whether a segment was left out of the copy, then compare with another replica.",
    "offset-gap-cleaned": "Expected of a compacted topic. If this one is not, treat it as missing records.",
    # Transactions
    "transaction-undecided": "Its records are withheld. Find the marker in another replica, or read with read_uncommitted and judge them yourself.",
    "transaction-open": "Ask why its producer neither commits nor aborts: until then read_committed consumers wait. `kafka-transactions.sh find-hanging` finds those that are stuck, `abort` ends them.",
    "txnindex-invalid": f"The markers were believed; a broker may refuse to start, or deliver aborted records. {REFETCH}",
    "txnindex-mismatch": f"The markers were believed; a broker believes the index, and may deliver aborted records. {REFETCH}",
    "txnindex-missing": f"The markers were believed. If the file was not just left out of the copy: {REFETCH}",
    "txnindex-trusted": "Nothing to do. `transactions=markers` would read the markers themselves.",
    "txnindex-doubted": "The markers were believed: the rows are right, and the plan took longer.",
    "snapshot-invalid": "Read without it. A broker deletes it and works its content out from the log.",
    "snapshot-mismatch": f"The log was believed; after a clean stop a broker believes its newest snapshot, and may deliver or hold back the wrong records. {REFETCH}",
    "snapshot-missing": "Read without it. If it was not just left out of the copy: without any snapshot a broker forgets open transactions after a clean stop.",
    "snapshot-unconfirmed": "Usual where producers have expired; look twice if the file may be another partition's.",
    "snapshot-transaction-ignored": "Only if consumers of that broker hang at this offset: compare with another replica's snapshot.",
    # Directories
    "segment-missing": "Was the .log left out of the copy? If it is gone from the broker too, its records are lost there.",
    "log-begins-above": "Normal where older segments are in remote storage. Else see whether they were left out of the copy.",
    "log-ends-below": f"Acknowledged records are missing. {COPY} Else take them from another replica.",
    "index-invalid": "Nothing is lost. A broker rebuilds it at its next unclean start; delete it while the broker is stopped, and it does so at once.",
    "index-missing": "Rows are read without it. A broker's start recovers a segment without .index, and makes an empty .timeindex.",
    "index-mismatch": "Rows are read without it. A broker that trusts it skips records, and after a clean stop may take a wrong log end: delete it while the broker is stopped, and it is rebuilt.",
    "timeindex-invalid": TIME_INDEX,
    "timeindex-mismatch": TIME_INDEX,
    "checkpoint-invalid": "Read without it. With such a file a broker may not start or not serve its partitions: put a sound copy in its place.",
    "high-watermark-stale": "Usual after a crash, and in a copy of a running broker. Nothing to do.",
    "timestamp-out-of-range": "The record is delivered, its time is null. `magicbyte dump` shows the number. The producer's unit is probably not milliseconds.",
    # Produced batches
    "produced-no-batch": f"{ENCODER} A produce request carries one batch for each partition.",
    "produced-several-batches": f"{ENCODER} Send the second one in a request of its own.",
    "produced-bytes-behind-batch": f"{ENCODER} The size field and the bytes that follow must agree.",
    "produced-old-magic": f"{ENCODER} Write v2.",
    "produced-large": "Send smaller batches, or raise message.max.bytes of the broker or max.message.bytes of the topic.",
    "produced-base-offset": f"{ENCODER} Write 0.",
    "produced-leader-epoch": "Nothing; -1 is what clients write.",
    "produced-zstd": "Use version 7 of Produce or later.",
    "produced-log-append-time": f"{ENCODER} Leave the timestamp type 0.",
    "produced-control": f"{ENCODER} Leave the bit 0; transactions end by EndTxn.",
    "produced-delete-horizon": f"{ENCODER} Leave the bit 0.",
    "produced-reserved-bits": f"{ENCODER} Leave them 0.",
    "produced-no-records": "Do not send it.",
    "produced-last-offset-delta": f"{ENCODER} It is the number of records less one.",
    "produced-transactional": f"{ENCODER} Ask for a producer id by InitProducerId first.",
    "produced-producer-id": f"{ENCODER} Write -1 for id, epoch and sequence, or none of them.",
    "produced-epoch": f"{ENCODER} Write the epoch that InitProducerId gave.",
    "produced-sequence": f"{ENCODER} Count sequences from 0 for each partition.",
    "produced-bytes-behind-payload": f"{ENCODER} End the batch where the compressed data ends.",
    "produced-record-attributes": f"{ENCODER} Write 0.",
    "produced-negative-timestamp": f"{ENCODER} Write milliseconds since the epoch, or -1 for none.",
    "produced-offset-delta": f"{ENCODER} Number the records from 0.",
    "produced-null-key": "Give the record a key, or take a topic that is not compacted.",
    "produced-header-key": f"{ENCODER} Write header keys as UTF-8.",
    "produced-overlong-varint": f"{ENCODER} Write the shortest form.",
    "produced-base-timestamp": "Nothing; readers add the deltas to whatever it is.",
    "produced-max-timestamp": f"{ENCODER} Write the largest time of the records.",
}  # fmt: skip
"""For each code of `magicbyte.findings`, one or two sentences."""
