"use strict";

const fs = require("node:fs");
const KaitaiStream = require("kaitai-struct/KaitaiStream");
const { KafkaMessage } = require("./KafkaMessage");
const { KafkaRecord } = require("./KafkaRecord");
const { KafkaRecordBatch } = require("./KafkaRecordBatch");
const { crc32, crc32c } = require("./checksums");
const { codecs } = require("./codecs");

const BATCH_HEADER_BYTES = 61;

/**
 * Yields the entries of a segment one at a time; only one is in memory.
 *
 * An entry is `{position, size, kind, records}`. `kind` is `batch` or `message`, whose parsed bytes are in a field of
 * that name; `damaged`, and `problem` says why; `cut`, where the end of the file cuts an entry off; or `zeros`, which a
 * broker allocated and did not fill. `records` is empty unless all of the entry is sound.
 *
 * A record is `{offset, timestamp, timestampType, key, value, headers, isControl, control}`. Offsets and times are BigInt;
 * what is absent is null. `control` is a transaction marker or a control record of KRaft, taken apart.
 *
 * After a damaged entry the next one is looked for where its length says. Where the length itself cannot be right, the
 * rest of the file is one damaged entry.
 *
 * @param {string} path the file
 * @param {object} [options] `codecs`, a function for each codec by its number; `maxEntryBytes`, the largest entry as it is
 * stored; `maxBatchBytes`, the largest payload of an entry once it is decompressed
 */
function* readLog(path, options = {}) {
  const settings = { codecs, maxEntryBytes: 2 ** 30, maxBatchBytes: 2 ** 28, ...options };
  const file = fs.openSync(path, "r");
  try {
    const end = fs.fstatSync(file).size;
    for (let position = 0; position < end;) {
      const entry = readEntry(file, position, end - position, settings);
      yield entry;
      position += entry.size;
    }
  } finally {
    fs.closeSync(file);
  }
}

function bytes(file, position, size) {
  const data = Buffer.alloc(size);
  for (let have = 0; have < size;) {
    const count = fs.readSync(file, data, have, size - have, position + have);
    if (count === 0) throw new RangeError("the file became shorter");
    have += count;
  }
  return data;
}

function onlyZeros(file, position, left) {
  for (let at = 0; at < left; at += 65536) {
    if (bytes(file, position + at, Math.min(65536, left - at)).some((each) => each !== 0))
      return false;
  }
  return true;
}

function readEntry(file, position, left, settings) {
  const head = bytes(file, position, Math.min(left, 17));
  const length = left < 12 ? 0 : head.readInt32BE(8);
  const rest = { position, size: left, records: [] };
  if (length === 0 && onlyZeros(file, position, left)) return { ...rest, kind: "zeros" };
  if (left >= 12 && length < 14) {
    const problem = `an entry of ${length} bytes; expected 14 or more`;
    return { ...rest, kind: "damaged", problem };
  }
  if (left < 17) return { ...rest, kind: "cut" };
  const size = Math.min(12 + length, left);
  const magic = head.readInt8(16);
  const damaged = (problem) => ({ position, size, kind: "damaged", records: [], problem });
  if (magic < 0 || magic > 2) return damaged(`magic ${magic}; expected 0, 1 or 2`);
  if (12 + length > left) return { ...rest, kind: "cut" };
  if (size > settings.maxEntryBytes) {
    return damaged(`an entry of ${size} bytes; the limit is ${settings.maxEntryBytes}`);
  }
  const data = bytes(file, position, size);
  try {
    return {
      position,
      size,
      ...(magic === 2 ? readBatch(data, settings) : readWrapper(data, settings)),
    };
  } catch (error) {
    return damaged(error.message || String(error));
  }
}

function verify(computed, stored) {
  if (computed !== stored) {
    const [found, right] = [stored, computed].map((each) => each.toString(16).padStart(8, "0"));
    throw new RangeError(`stored checksum ${found}, computed ${right}`);
  }
}

function decompress(codec, magic, payload, settings) {
  const codecOfNumber = settings.codecs[codec];
  if (!codecOfNumber || (codec === 4 && magic < 2)) {
    throw new RangeError(`codec ${codec} in magic ${magic}; expected one that Kafka has there`);
  }
  return codecOfNumber(payload, magic, settings.maxBatchBytes);
}

const streamOf = (data) =>
  new KaitaiStream(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength));
const absent = (value) => (value === undefined ? null : Buffer.from(value));
const orNull = (timestamp) => (timestamp === -1n ? null : timestamp);

function readBatch(data, settings) {
  if (data.length < BATCH_HEADER_BYTES) {
    throw new RangeError(`a batch of ${data.length} bytes; expected ${BATCH_HEADER_BYTES} or more`);
  }
  verify(crc32c(data.subarray(21)), data.readUInt32BE(17));
  const batch = new KafkaRecordBatch(streamOf(data), null, null);
  // Numbers of JavaScript are exact up to 2^53 only: what is longer is read again.
  const exact = {
    baseOffset: data.readBigInt64BE(0),
    baseTimestamp: data.readBigInt64BE(27),
    maxTimestamp: data.readBigInt64BE(35),
  };
  let parsed;
  if (batch.payload !== undefined) {
    parsed = batch.payload.records;
  } else {
    parsed = [];
    if (batch.numRecords > 0) {
      const { codec, isControl } = batch.attributes;
      const stream = streamOf(decompress(codec, 2, Buffer.from(batch.compressedPayload), settings));
      while (parsed.length < batch.numRecords) {
        parsed.push(new KafkaRecord(stream, null, null, isControl));
      }
      if (!stream.isEof()) {
        throw new RangeError(`bytes behind the last of ${batch.numRecords} records`);
      }
    }
  }
  const records = parsed.map((record) => batchRecord(batch.attributes, exact, record.body));
  return { kind: "batch", batch, records };
}

function batchRecord(attributes, exact, body) {
  if (!body._io.isEof() || body.numHeaders.value < 0) {
    throw new RangeError("a record that its fields do not fill");
  }
  if (attributes.isControl && (!body.key || body.key.length < 4 || body.key[0] > 127)) {
    throw new RangeError("a control record whose key has no version and type");
  }
  const isAppendTime = attributes.timestampType === KafkaRecordBatch.TimestampTypes.LOG_APPEND_TIME;
  const timestamp = isAppendTime
    ? exact.maxTimestamp
    : BigInt.asIntN(64, exact.baseTimestamp + varlong(body.timestampDelta));
  return {
    offset: BigInt.asIntN(64, exact.baseOffset + BigInt(body.offsetDelta.value)),
    timestamp: orNull(timestamp),
    timestampType: isAppendTime ? "LogAppendTime" : "CreateTime",
    key: absent(body.key),
    value: absent(body.value),
    headers: body.headers.map(({ key, value }) => ({
      key: Buffer.from(key),
      value: absent(value),
    })),
    isControl: attributes.isControl,
    control: attributes.isControl ? controlRecord(body) : null,
  };
}

/** The value of a KafkaVarlong, whose own `value` is rounded beyond 2^53. */
function varlong({ groups, lastGroup = 0 }) {
  if (groups.length <= 7) {
    const small = groups.reduceRight((sum, group) => sum * 128 + (group & 0x7f), 0);
    return BigInt(small % 2 ? -(small + 1) / 2 : small / 2);
  }
  const number = [...groups, lastGroup].reduceRight(
    (sum, group) => (sum << 7n) | BigInt(group & 0x7f),
    0n,
  );
  const cut = BigInt.asUintN(64, number);
  return BigInt.asIntN(64, (cut >> 1n) ^ -(cut & 1n));
}

function controlRecord(body) {
  try {
    return body.controlRecord || null;
  } catch {
    return null; // a type or version that is not known
  }
}

function readMessage(data) {
  verify(crc32(data.subarray(16)), data.readUInt32BE(12));
  const message = new KafkaMessage(streamOf(data), null, null).message;
  const timestamp = message.magic > 0 ? data.readBigInt64BE(18) : -1n;
  return { message, offset: data.readBigInt64BE(0), timestamp };
}

function readWrapper(data, settings) {
  const entry = readMessage(data);
  const { message } = entry;
  const { codec } = message.attributes;
  if (codec === 0) {
    return { kind: "message", message, records: [messageRecord(entry, entry, entry.offset)] };
  }
  if (message.value === undefined) throw new RangeError("a wrapper message without a value");
  const inner = innerMessages(
    decompress(codec, message.magic, Buffer.from(message.value), settings),
  );
  let base = 0n;
  if (message.magic === 1 && entry.offset !== 0n) {
    const last = inner[inner.length - 1].offset; // offsets inside count from the first message
    if (entry.offset < last) {
      throw new RangeError(`offset ${entry.offset} of a wrapper; in it is ${last}`);
    }
    base = entry.offset - last;
  }
  const records = inner.map((one) => messageRecord(entry, one, base + one.offset));
  return { kind: "message", message, records };
}

/** The messages in a wrapper; one that is cut off at the end is left out, as in Kafka. */
function innerMessages(payload) {
  const messages = [];
  let rest = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  while (rest.length >= 12) {
    const length = rest.readInt32BE(8);
    if (length < 14) {
      throw new RangeError(`a message of ${length} bytes in a wrapper; expected 14 or more`);
    }
    if (length > rest.length - 12) break;
    const inner = readMessage(rest.subarray(0, 12 + length));
    if (inner.message.attributes.codec !== 0) {
      throw new RangeError("a wrapper message in a wrapper message");
    }
    messages.push(inner);
    rest = rest.subarray(12 + length);
  }
  if (messages.length === 0) throw new RangeError("a wrapper message that holds no message");
  return messages;
}

function messageRecord(outer, inner, offset) {
  const hasType = outer.message.magic > 0;
  const isAppendTime =
    hasType &&
    outer.message.attributes.timestampType === KafkaMessage.TimestampTypes.LOG_APPEND_TIME;
  const hasTime = inner.message.magic > 0;
  return {
    offset: BigInt.asIntN(64, offset),
    timestamp: hasTime ? orNull(isAppendTime ? outer.timestamp : inner.timestamp) : null,
    timestampType: hasType ? (isAppendTime ? "LogAppendTime" : "CreateTime") : null,
    key: absent(inner.message.key),
    value: absent(inner.message.value),
    headers: [],
    isControl: false,
    control: null,
  };
}

module.exports = { readLog };
