// Print the entries and records of a log segment: node print_log.js FILE.log
"use strict";

const fs = require("fs");
const KaitaiStream = require("kaitai-struct/KaitaiStream");
const { KafkaLog, KafkaMessage, KafkaRecordBatch } = require("./index.js");

const text = (data) => (data === undefined ? "null" : Buffer.from(data).toString());

function printBatch(batch) {
  const compressed = batch.payload ? "" : ", compressed";
  console.log(`batch ${batch.baseOffset}: ${batch.numRecords} records${compressed}`);
  // What is compressed lies in batch.compressedPayload; decompress it (batch.attributes.codec
  // says how) and parse the result with KafkaRecords.
  const { LOG_APPEND_TIME } = KafkaRecordBatch.TimestampTypes;
  for (const { body } of batch.payload ? batch.payload.records : []) {
    const offset = batch.baseOffset + body.offsetDelta.value;
    let timestamp = batch.baseTimestamp + body.timestampDelta.value;
    if (batch.attributes.timestampType === LOG_APPEND_TIME) timestamp = batch.maxTimestamp;
    if (batch.attributes.isControl) {
      console.log(`  ${offset} ${timestamp} control record`);
    } else {
      console.log(`  ${offset} ${timestamp} ${text(body.key)} ${text(body.value)}`);
    }
  }
}

function printMessage({ offset, message }) {
  if (message.attributes.codec !== KafkaMessage.Codecs.NONE) {
    console.log(`message ${offset}: compressed`); // decompressed, the value is a KafkaLog
  } else {
    const timestamp = message.timestamp === undefined ? "null" : message.timestamp;
    console.log(`message ${offset}: ${timestamp} ${text(message.key)} ${text(message.value)}`);
  }
}

// Numbers beyond 2**53 are rounded: JavaScript's runtime of Kaitai has no BigInt.
const file = fs.readFileSync(process.argv[2]);
for (const entry of new KafkaLog(new KaitaiStream(new Uint8Array(file).buffer)).entries) {
  if (entry.zeroTail !== undefined) {
    console.log(`${entry.zeroTail.length} zeros`);
  } else if (entry.partial !== undefined) {
    console.log(`${entry.partial.length} bytes of an entry that was cut off`);
  } else if (entry.content instanceof KafkaRecordBatch) {
    printBatch(entry.content);
  } else {
    printMessage(entry.content);
  }
}
