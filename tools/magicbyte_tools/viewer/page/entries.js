// Fields of an entry, and what is wrong in it.

// Parses *bytes* by a class of the generated parsers: the object, and what it stopped at.
function parse(root, bytes, ...parameters) {
  const copy =
    bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
  const object = new root(new KaitaiStream(copy.buffer), null, null, ...parameters);
  try {
    object._read();
  } catch (error) {
    return { object, error };
  }
  return { object, error: null };
}

// The reason in words why a parser stopped.
function reasonOf(error) {
  if (error instanceof RangeError || error.name === "EOFError")
    return "the bytes end before the field does";
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
  if (error)
    findings.push(errorFinding("bad-message", `not a message: ${reasonOf(error)}`, { position }));
  const codec = object.message?.attributes?.codec;
  const payload =
    codec && object.message.value
      ? payloadOf(codec, object.message.value, position, {
          magic: object.message.magic,
          wrapperOffset: viewOf(bytes).getBigInt64(0),
        })
      : null;
  if (!error && codec && !object.message.value) {
    findings.push(
      errorFinding("bad-wrapper", "a compressed message without a value", { position }),
    );
  }
  return { position, nodes, findings, payload };
}

// The header is parsed by itself: a batch may have a million records, which are parsed one by one.
function openBatch(bytes, position) {
  const { object, error } = parse(KafkaRecordBatch.KafkaRecordBatch, bytes.slice(0, BATCH_HEADER));
  const codec = object.attributes?.codec;
  const name = codec ? "compressed_payload" : "payload";
  const nodes = fieldNodes(object, position).filter(
    (node) => !["payload", "compressed_payload"].includes(node.name),
  );
  const findings = [];
  const header = object._debug.numRecords;
  if (header?.end === undefined || header.validationError) {
    findings.push(
      errorFinding("bad-record-count", `the header is invalid: ${reasonOf(error)}`, { position }),
    );
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

// A compressed payload; `open` decompresses it and returns its bytes, nodes and findings.
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
        return {
          bytes: null,
          nodes: [],
          findings: [errorFinding(error.code, error.message, { position })],
        };
      }
      const inner = options.magic === 2 ? recordNodes(bytes, 0, options) : messageNodes(bytes, options);
      findings.push(
        ...inner.findings.map((one) => ({ ...one, position, payloadPosition: one.at })),
      );
      return { bytes, nodes: inner.nodes, findings };
    },
  };
}

// Findings in an opened entry: decompresses it, and parses its records up to the first that is
// invalid, as no record of an entry is delivered unless all of it is sound.
function checkOpened(opened) {
  const payload = opened.payload?.open();
  const { position } = opened;
  const nodes =
    payload?.nodes ?? opened.nodes.find((node) => node.name === "payload")?.children() ?? [];
  for (const node of nodes) {
    const finding = node.check?.();
    if (finding)
      return [
        payload
          ? { ...finding, position, payloadPosition: finding.at, at: undefined }
          : { ...finding, position },
      ];
  }
  return [...opened.findings, ...(payload?.findings ?? [])];
}
