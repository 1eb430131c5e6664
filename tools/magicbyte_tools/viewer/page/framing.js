// Entries of a log: where each begins and ends, what its header says, and its checksum.

const OVERHEAD = 12; // offset and length, which the length does not count
const UP_TO_MAGIC = 17;
const BATCH_HEADER = 61;
const MIN_LENGTHS = [14, 22, 49]; // bytes after the length, by magic
const MAX_ENTRY_BYTES = 64 * 1024 * 1024; // a larger entry is listed, and not taken apart
const CONTROL = 0x20;
const TRANSACTIONAL = 0x10;

// Frame of the entry at *at*, of whose file *avail* bytes are left:
// {kind: "entry" | "cut" | "bad", ...}
function frameOf(view, at, avail) {
  if (avail < OVERHEAD) return { kind: "cut", code: "incomplete-tail", size: avail };
  const length = view.getInt32(at + 8);
  const size = OVERHEAD + length;
  if (length < MIN_LENGTHS[0]) {
    const reason = `length ${length}, where an entry has at least ${MIN_LENGTHS[0]}`;
    return { kind: "bad", code: "bad-size", reason };
  }
  if (avail < UP_TO_MAGIC) return { kind: "cut", code: "incomplete-tail", size };
  const magic = view.getInt8(at + 16);
  if (magic < 0 || magic > 2)
    return {
      kind: "bad",
      code: "unknown-magic",
      reason: `magic ${magic}; Kafka has 0, 1 and 2`,
      size,
    };
  if (length < MIN_LENGTHS[magic]) {
    const reason = `length ${length}, where one of v${magic} has at least ${MIN_LENGTHS[magic]}`;
    return { kind: "bad", code: "bad-size", reason };
  }
  if (size > avail) return { kind: "cut", code: "incomplete-tail", size, magic };
  return { kind: "entry", size, magic };
}

// The fixed fields that a list shows, of an entry at *at*; a v2 header has to be there whole.
function summaryOf(view, at, position, size) {
  const magic = view.getInt8(at + 16);
  const summary = { position, end: position + size, magic, offset: view.getBigInt64(at) };
  if (magic < 2) {
    const attributes = view.getUint8(at + 17);
    return { ...summary, codec: attributes & 7, lastOffset: summary.offset };
  }
  const attributes = view.getUint16(at + 21);
  return {
    ...summary,
    lastOffset: summary.offset + BigInt(view.getInt32(at + 23)),
    codec: attributes & 7,
    isControl: Boolean(attributes & CONTROL),
    isTransactional: Boolean(attributes & TRANSACTIONAL),
    producerId: view.getBigInt64(at + 43),
    producerEpoch: view.getInt16(at + 51),
    numRecords: view.getInt32(at + 57),
  };
}

// The stored checksum, its tables, and the first byte that it covers.
function checksumOf(view, at) {
  const isBatch = view.getInt8(at + 16) === 2;
  return isBatch
    ? {
        name: "CRC-32C",
        tables: CRC32C_TABLES,
        stored: view.getUint32(at + 17),
        from: 21,
        field: 17,
      }
    : {
        name: "CRC-32",
        tables: CRC32_TABLES,
        stored: view.getUint32(at + 12),
        from: 16,
        field: 12,
      };
}

function errorFinding(code, message, where) {
  return { code, severity: "error", message, ...where };
}

function hex32(number) {
  return `0x${number.toString(16).padStart(8, "0")}`;
}

function mismatch(checksum, computed, position) {
  const message = `stored ${checksum.name} ${hex32(checksum.stored)}, computed ${hex32(computed)}`;
  return {
    code: "checksum-mismatch",
    severity: "error",
    position,
    length: 4,
    at: position + checksum.field,
    message,
  };
}

// Kind of a transaction marker: "commit", "abort", or null for other control records.
function markerOf(bytes, at, end) {
  const stream = { bytes, at: at + BATCH_HEADER, end };
  const body = varintAt(stream);
  if (body === null) return null;
  stream.at += 1; // attributes
  if (varintAt(stream) === null || varintAt(stream) === null) return null; // timestamp, offset
  const lenKey = varintAt(stream);
  if (lenKey === null || lenKey < 4 || stream.at + 4 > end) return null;
  const kind = (bytes[stream.at + 2] << 8) | bytes[stream.at + 3];
  return ["abort", "commit"][kind] ?? null;
}

// A zigzag varint of up to 10 bytes, as a Number; null where there is none.
function varintAt(stream) {
  let value = 0;
  for (let shift = 0; shift < 10; shift += 1) {
    if (stream.at >= stream.end) return null;
    const byte = stream.bytes[stream.at++];
    value += (byte & 0x7f) * 2 ** (7 * shift);
    if (byte < 0x80) return value % 2 ? -(value + 1) / 2 : value / 2;
  }
  return null;
}
