// Records of a batch, and messages inside a wrapper. Each is parsed when it is looked at.

const MAX_RECORDS = 200_000; // records of one payload that are listed

// Records of a payload; each is parsed when it is looked at. *base* is where the payload begins.
function recordNodes(bytes, base, { count, isControl = false }) {
  const structure = KafkaRecordBatch.KafkaRecordBatch.RecordList.structure;
  const [records, ignored, unexpected] = ["records", "ignored", "unexpected"].map((id) =>
    structure.seq.find((one) => one.id === id),
  );
  const nodes = [];
  const findings = [];
  const rest = (field, start, code, message) => {
    nodes.push({
      name: field.id,
      field,
      start: base + start,
      end: base + bytes.length,
      text: bytesText(bytes.subarray(start)),
      bytes: bytes.subarray(start),
      failed: Boolean(code),
    });
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
      const reason =
        length === null
          ? "its length is cut off"
          : length < 0
            ? `its length is ${length}`
            : `it has ${length} bytes, ${bytes.length - stream.at} are left`;
      const code = start === bytes.length ? "bad-record-count" : "bad-record";
      rest(
        unexpected,
        start,
        code,
        code === "bad-record"
          ? `record ${number} of ${count}: ${reason}`
          : `the header counts ${count} records, the payload has ${number}`,
      );
      return { nodes, findings };
    }
    if (number === MAX_RECORDS) {
      nodes.push({
        name: `records[${number}…]`,
        field: records,
        start: base + start,
        end: base + bytes.length,
        text: `${count - number} more records, not listed`,
      });
      return { nodes, findings };
    }
    nodes.push(recordNode(bytes, start, end, number, base, { isControl, field: records }));
    stream.at = end;
  }
  if (stream.at < bytes.length) {
    rest(
      unexpected,
      stream.at,
      "bytes-left-over",
      `${bytes.length - stream.at} bytes after the last of ${count} records`,
    );
  }
  return { nodes, findings };
}

// A record that is parsed when its text or its fields are asked for.
function recordNode(bytes, start, end, number, base, { isControl, field }) {
  let parsed;
  const record = () =>
    (parsed ??= parse(KafkaRecord.KafkaRecord, bytes.slice(start, end), isControl));
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
    check: () =>
      recordFinding(record(), number, base + start) ??
      (isControl ? controlFinding(record().object.body, number, base + start) : null),
  };
}

// Whether the fields of a record take all of its bytes.
function isWhole(record) {
  return Boolean(record.body) && record.body._io.pos === record.body._io.size;
}

function recordFinding({ object, error }, number, at) {
  if (error) return errorFinding("bad-record", `record ${number}: ${reasonOf(error)}`, { at });
  const { body } = object;
  if (body.numHeaders.value < 0) {
    return errorFinding("bad-record", `record ${number} has ${body.numHeaders.value} headers`, {
      at,
    });
  }
  if (!isWhole(object)) {
    const left = body._io.size - body._io.pos;
    return errorFinding("bad-record", `record ${number}: ${left} bytes after its last header`, {
      at,
    });
  }
  return null;
}

// A control record says by its key what it is.
function controlFinding(body, number, at) {
  const finding = (reason) =>
    errorFinding("bad-control-record", `control record ${number}: ${reason}`, { at });
  if (body.lenKey.value < 4)
    return finding(`a key of ${body.lenKey.value} bytes, where it has at least 4`);
  try {
    return body.controlRecord ? null : finding("it has no key");
  } catch (error) {
    const hasKey = body._m_controlRecord?._debug?.key?.end !== undefined;
    return hasKey
      ? { ...finding(reasonOf(error)), code: "bad-marker-value", severity: "warning" }
      : finding(reasonOf(error));
  }
}

// Messages inside a wrapper of v0 or v1. One that is cut off at the end is left out by Kafka.
function messageNodes(bytes, wrapper) {
  const { nodes, findings } = framedMessages(bytes);
  const last = nodes.findLast((node) => node.isElement);
  const offset = last && viewOf(bytes).getBigInt64(last.start);
  // In v1 the offsets inside are relative. Some versions of librdkafka gave the wrapper the offset 0.
  if (wrapper.magic === 1 && last && wrapper.wrapperOffset !== 0n && wrapper.wrapperOffset < offset)
    findings.push(
      errorFinding(
        "bad-wrapper",
        `a wrapper of offset ${wrapper.wrapperOffset} around the relative offset ${offset}`,
        { at: 0 },
      ),
    );
  return { nodes, findings };
}

function framedMessages(bytes) {
  const nodes = [];
  const findings = [];
  const view = viewOf(bytes);
  const field = KafkaLog.KafkaLog.structure.seq[0];
  if (!bytes.length)
    findings.push(errorFinding("bad-wrapper", "a wrapper around nothing", { at: 0 }));
  for (let at = 0; at < bytes.length;) {
    const frame = frameOf(view, at, bytes.length - at);
    if (frame.kind !== "entry" || frame.magic === 2) {
      nodes.push({
        name: "rest",
        field,
        start: at,
        end: bytes.length,
        text: bytesText(bytes.subarray(at)),
        failed: frame.kind === "bad",
      });
      if (frame.kind !== "cut")
        findings.push(
          errorFinding("bad-wrapper", frame.reason ?? "a batch inside a wrapper", { at }),
        );
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
    check: () =>
      open().findings.map((one) => ({ ...one, at: start }))[0] ?? checkMessage(bytes, start, end),
  };
}

function checkMessage(bytes, start, end) {
  if (viewOf(bytes).getUint8(start + 17) & 7) {
    return errorFinding("bad-wrapper", "a wrapper inside a wrapper", { at: start });
  }
  const checksum = checksumOf(viewOf(bytes), start);
  const computed = crc(checksum.tables, bytes, start + checksum.from, end);
  return computed === checksum.stored
    ? null
    : { ...mismatch(checksum, computed, start), code: "record-checksum-mismatch", at: start };
}
