// Entries of a log: where each begins and ends, whether its checksum is right, and its fields.

const OVERHEAD = 12; // offset and length, which the length does not count
const UP_TO_MAGIC = 17;
const BATCH_HEADER = 61;
const MIN_LENGTHS = [14, 22, 49]; // bytes behind the length, by magic
const MAX_ENTRY_BYTES = 64 * 1024 * 1024; // a larger entry is listed, and not taken apart
const MAX_RECORDS = 200_000; // records of one payload that are listed
const CONTROL = 0x20;
const TRANSACTIONAL = 0x10;

// What the leading bytes of an entry say; *avail* bytes are left in the file.
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
  if (magic < 0 || magic > 2) return { kind: "bad", code: "unknown-magic", reason: `magic ${magic}; Kafka has 0, 1 and 2`, size };
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
    ? { name: "CRC-32C", tables: CRC32C_TABLES, stored: view.getUint32(at + 17), from: 21, field: 17 }
    : { name: "CRC-32", tables: CRC32_TABLES, stored: view.getUint32(at + 12), from: 16, field: 12 };
}

function hex32(number) {
  return `0x${number.toString(16).padStart(8, "0")}`;
}

function mismatch(checksum, computed, position) {
  const message = `stored ${checksum.name} ${hex32(checksum.stored)}, computed ${hex32(computed)}`;
  return { code: "checksum-mismatch", severity: "error", position, length: 4, at: position + checksum.field, message };
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

// Parses *bytes* by a class of the generated parsers: the object, and what it stopped at.
function parse(root, bytes, ...parameters) {
  const copy = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
  const object = new root(new KaitaiStream(copy.buffer), null, null, ...parameters);
  try {
    object._read();
  } catch (error) {
    return { object, error };
  }
  return { object, error: null };
}

// What a parser stopped at, in words.
function reasonOf(error) {
  if (error instanceof RangeError || error.name === "EOFError") return "the bytes end before the field does";
  return String(error.message ?? error).replace(/^\/\S*: at pos \d+: /, "");
}

// A whole entry: the nodes of its fields, what is wrong in it, and its payload if it is compressed.
function openEntry(bytes, position) {
  const magic = new DataView(bytes.buffer).getInt8(16);
  if (magic === 2) return openBatch(bytes, position);
  if (magic === 0 || magic === 1) return openMessage(bytes, position);
  return { position, nodes: [], findings: [], payload: null };
}

function openMessage(bytes, position) {
  const { object, error } = parse(KafkaMessage.KafkaMessage, bytes);
  const nodes = fieldNodes(object, position);
  const findings = [];
  if (error) findings.push({ code: "bad-message", severity: "error", position, message: `not a message: ${reasonOf(error)}` });
  const codec = object.message?.attributes?.codec;
  const payload = codec && object.message.value ? payloadOf(codec, object.message.value, position, { magic: object.message.magic }) : null;
  if (!error && codec && !object.message.value) {
    findings.push({ code: "bad-wrapper", severity: "error", position, message: "a compressed message without a value" });
  }
  return { position, nodes, findings, payload };
}

// The header is parsed by itself: a batch may have a million records, which are parsed one by one.
function openBatch(bytes, position) {
  const { object, error } = parse(KafkaRecordBatch.KafkaRecordBatch, bytes.slice(0, BATCH_HEADER));
  const codec = object.attributes?.codec;
  const name = codec ? "compressed_payload" : "payload";
  const nodes = fieldNodes(object, position).filter((node) => !["payload", "compressed_payload"].includes(node.name));
  const findings = [];
  const header = object._debug.numRecords;
  if (header?.end === undefined || header.validationError) {
    findings.push({ code: "bad-record-count", severity: "error", position, message: `the header is invalid: ${reasonOf(error)}` });
    return { position, nodes, findings, payload: null };
  }
  const structure = KafkaRecordBatch.KafkaRecordBatch.structure;
  const field = structure.seq.find((one) => one.id === name);
  const node = { name, field, start: position + BATCH_HEADER, end: position + bytes.length };
  nodes.push(node);
  const content = bytes.subarray(BATCH_HEADER);
  const options = { magic: 2, count: object.numRecords, isControl: object.attributes.isControl };
  if (codec) {
    node.text = bytesText(content);
    node.bytes = content;
    return { position, nodes, findings, payload: payloadOf(codec, content, position, options) };
  }
  const records = recordNodes(content, node.start, options);
  node.text = `${options.count.toLocaleString("en")} ${options.count === 1 ? "record" : "records"}`;
  node.children = () => records.nodes;
  findings.push(...records.findings.map((one) => ({ ...one, position })));
  return { position, nodes, findings, payload: null };
}

// What becomes of a compressed payload once it is decompressed: its bytes, nodes and findings.
function payloadOf(codec, compressed, position, options) {
  return {
    codec,
    position,
    compressedBytes: compressed.length,
    open() {
      const findings = [];
      let bytes;
      try {
        bytes = decompress(codec, compressed, options.magic);
      } catch (error) {
        return { bytes: null, nodes: [], findings: [{ code: error.code, severity: "error", position, message: error.message }] };
      }
      const inner = options.magic === 2 ? recordNodes(bytes, 0, options) : messageNodes(bytes);
      findings.push(...inner.findings.map((one) => ({ ...one, position, payloadPosition: one.at })));
      return { bytes, nodes: inner.nodes, findings };
    },
  };
}

// Records of a payload; each is parsed when it is looked at. *base* is where the payload begins.
function recordNodes(bytes, base, { count, isControl = false }) {
  const structure = KafkaRecordBatch.KafkaRecordBatch.RecordList.structure;
  const [records, ignored, unexpected] = ["records", "ignored", "unexpected"].map((id) => structure.seq.find((one) => one.id === id));
  const nodes = [];
  const findings = [];
  const rest = (field, start, code, message) => {
    nodes.push({ name: field.id, field, start: base + start, end: base + bytes.length, text: bytesText(bytes.subarray(start)), bytes: bytes.subarray(start), failed: Boolean(code) });
    if (code) findings.push({ code, severity: "error", at: base + start, message });
  };
  if (count === 0) {
    if (bytes.length) rest(ignored, 0);
    return { nodes, findings };
  }
  const stream = { bytes, at: 0, end: bytes.length };
  for (let number = 0; number < count; number += 1) {
    const start = stream.at;
    const length = varintAt(stream);
    const end = length === null ? null : stream.at + length;
    if (length === null || length < 0 || end > bytes.length) {
      const reason = length === null ? "its length is cut off" : length < 0 ? `its length is ${length}` : `it has ${length} bytes, ${bytes.length - stream.at} are left`;
      const code = start === bytes.length ? "bad-record-count" : "bad-record";
      rest(unexpected, start, code, code === "bad-record" ? `record ${number} of ${count}: ${reason}` : `the header counts ${count} records, the payload has ${number}`);
      return { nodes, findings };
    }
    if (number === MAX_RECORDS) {
      nodes.push({ name: `records[${number}…]`, field: records, start: base + start, end: base + bytes.length, text: `${count - number} more records, not listed` });
      return { nodes, findings };
    }
    nodes.push(recordNode(bytes, start, end, number, base, { isControl, field: records }));
    stream.at = end;
  }
  if (stream.at < bytes.length) {
    rest(unexpected, stream.at, "bytes-left-over", `${bytes.length - stream.at} bytes behind the last of ${count} records`);
  }
  return { nodes, findings };
}

// A record that is parsed when its text or its fields are asked for.
function recordNode(bytes, start, end, number, base, { isControl, field }) {
  let parsed;
  const record = () => (parsed ??= parse(KafkaRecord.KafkaRecord, bytes.slice(start, end), isControl));
  return {
    name: `records[${number}]`,
    field,
    start: base + start,
    end: base + end,
    isElement: true,
    get structure() {
      return KafkaRecord.KafkaRecord.structure;
    },
    get failed() {
      return Boolean(record().error) || !isWhole(record().object);
    },
    get text() {
      const { body } = record().object;
      if (!body) return "";
      const key = body.key ? bytesText(body.key, 32) : body.lenKey && "null";
      return `+${body.offsetDelta?.value ?? "?"} ${key ?? ""}`;
    },
    children: () => fieldNodes(record().object, base + start),
    check: () => recordFinding(record(), number, base + start) ?? (isControl ? controlFinding(record().object.body, number, base + start) : null),
  };
}

// Whether the fields of a record take all of its bytes.
function isWhole(record) {
  return Boolean(record.body) && record.body._io.pos === record.body._io.size;
}

function recordFinding({ object, error }, number, at) {
  if (error) return { code: "bad-record", severity: "error", at, message: `record ${number}: ${reasonOf(error)}` };
  const { body } = object;
  if (body.numHeaders.value < 0) {
    return { code: "bad-record", severity: "error", at, message: `record ${number} has ${body.numHeaders.value} headers` };
  }
  if (!isWhole(object)) {
    const left = body._io.size - body._io.pos;
    return { code: "bad-record", severity: "error", at, message: `record ${number}: ${left} bytes behind its last header` };
  }
  return null;
}

// A control record says by its key what it is.
function controlFinding(body, number, at) {
  const finding = (reason) => ({ code: "bad-control-record", severity: "error", at, message: `control record ${number}: ${reason}` });
  if (body.lenKey.value < 4) return finding(`a key of ${body.lenKey.value} bytes, where it has at least 4`);
  try {
    return body.controlRecord ? null : finding("it has no key");
  } catch (error) {
    const hasKey = body._m_controlRecord?._debug?.key?.end !== undefined;
    return hasKey ? { ...finding(reasonOf(error)), code: "bad-marker-value", severity: "warning" } : finding(reasonOf(error));
  }
}

// Messages inside a wrapper of v0 or v1. One that is cut off at the end is left out by Kafka.
function messageNodes(bytes) {
  const nodes = [];
  const findings = [];
  const view = viewOf(bytes);
  const field = KafkaLog.KafkaLog.structure.seq[0];
  if (!bytes.length) findings.push({ code: "bad-wrapper", severity: "error", at: 0, message: "a wrapper around nothing" });
  for (let at = 0; at < bytes.length; ) {
    const frame = frameOf(view, at, bytes.length - at);
    if (frame.kind !== "entry" || frame.magic === 2) {
      nodes.push({ name: "rest", field, start: at, end: bytes.length, text: bytesText(bytes.subarray(at)), failed: frame.kind === "bad" });
      if (frame.kind !== "cut") findings.push({ code: "bad-wrapper", severity: "error", at, message: frame.reason ?? "a batch inside a wrapper" });
      return { nodes, findings };
    }
    nodes.push(messageNode(bytes, at, at + frame.size, nodes.length, field));
    at += frame.size;
  }
  return { nodes, findings };
}

function messageNode(bytes, start, end, number, field) {
  let opened;
  const open = () => (opened ??= openMessage(bytes.slice(start, end), start));
  const summary = summaryOf(viewOf(bytes), start, start, end - start);
  return {
    name: `messages[${number}]`,
    field,
    start,
    end,
    isElement: true,
    text: `v${summary.magic} @${summary.offset}`,
    children: () => open().nodes,
    check: () => open().findings.map((one) => ({ ...one, at: start }))[0] ?? checkMessage(bytes, start, end),
  };
}

function checkMessage(bytes, start, end) {
  if (viewOf(bytes).getUint8(start + 17) & 7) {
    return { code: "bad-wrapper", severity: "error", at: start, message: "a wrapper inside a wrapper" };
  }
  const checksum = checksumOf(viewOf(bytes), start);
  const computed = crc(checksum.tables, bytes, start + checksum.from, end);
  return computed === checksum.stored ? null : { ...mismatch(checksum, computed, start), code: "record-checksum-mismatch", at: start };
}

// What is wrong in an opened entry: decompresses it, and parses its records up to the first that is
// invalid, as no record of an entry is delivered unless all of it is sound.
function checkOpened(opened) {
  const payload = opened.payload?.open();
  const { position } = opened;
  const nodes = payload?.nodes ?? opened.nodes.find((node) => node.name === "payload")?.children() ?? [];
  for (const node of nodes) {
    const finding = node.check?.();
    if (finding) return [payload ? { ...finding, position, payloadPosition: finding.at, at: undefined } : { ...finding, position }];
  }
  return [...opened.findings, ...(payload?.findings ?? [])];
}
