## Print the entries and records of a log segment: print_log FILE.log

import std/[os, strformat]
import kaitai_struct_nim_runtime
import kafka_log, kafka_message, kafka_record_batch, kafka_record, kafka_varint, kafka_varlong

# What is absent is empty; its length tells.
proc text(data: seq[byte], length: int32): string =
  if length < 0: "null" else: encode(data, "UTF-8")

proc printBatch(batch: KafkaRecordBatch) =
  if batch.payload.isNil:
    # Decompress batch.compressedPayload (batch.attributes.codec says how) and parse the result
    # with KafkaRecords.
    echo &"batch {batch.baseOffset}: {batch.numRecords} records, compressed"
    return
  echo &"batch {batch.baseOffset}: {batch.numRecords} records"
  for record in batch.payload.records:
    let body = record.body
    let offset = batch.baseOffset + body.offsetDelta.value
    var timestamp = batch.baseTimestamp + body.timestampDelta.value
    if batch.attributes.timestampType == KafkaRecordBatch_TimestampTypes.log_append_time:
      timestamp = batch.maxTimestamp
    var content = text(body.key, body.lenKey.value) & " " & text(body.value, body.lenValue.value)
    if batch.attributes.isControl:
      content = "control record"
    echo &"  {offset} {timestamp} {content}"

proc printMessage(entry: KafkaMessage) =
  let message = entry.message
  if message.attributes.codec != KafkaMessage_Codecs.none:
    echo &"message {entry.offset}: compressed" # decompressed, the value is a KafkaLog
  else:
    let timestamp = if message.magic == 0: "null" else: $message.timestamp
    let content = text(message.key, message.lenKey) & " " & text(message.value, message.lenValue)
    echo &"message {entry.offset}: {timestamp} {content}"

for entry in KafkaLog.fromFile(paramStr(1)).entries:
  if entry.isZeroTail:
    echo &"{entry.zeroTail.len} zeros"
  elif not entry.isComplete:
    echo &"{entry.partial.len} bytes of an entry that was cut off"
  elif entry.content of KafkaRecordBatch:
    printBatch(KafkaRecordBatch(entry.content))
  else:
    printMessage(KafkaMessage(entry.content))
