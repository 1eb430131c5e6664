// A file, or a decompressed payload, as the page shows it: `count` rows at the top of the tree, each a
// node, and what is wrong. Only what is looked at is parsed.

const ROW_BYTES = { kafka_offset_index: 8, kafka_time_index: 12, kafka_transaction_index: 34 };
const PAGE_ROWS = 4096; // rows of an index that are parsed together
const MAX_PARSED_BYTES = 1024 * 1024; // of other companion files; what follows is shown as bytes

// The specification that a file's name asks for; null where no name is known.
function formatOf(name) {
  const base = name.split(/[\\/]/).pop();
  if (FORMATS.names[base]) return FORMATS.names[base];
  const match = /^\d{20}(?:-[A-Za-z0-9_-]+)?(\.[a-z]+)(?:\.(?:deleted|cleaned|swap|tmp))?$/.exec(
    base,
  );
  const suffix = match?.[1] ?? /\.[a-z]+$/.exec(base)?.[0];
  return FORMATS.suffixes[suffix] ?? null;
}

// The specification's field for bytes that are no entry.
let REST = null;

class LogDocument {
  constructor(cache, { findings = null, outcomes = null, isWhole = true, onGrow } = {}) {
    this.cache = cache;
    this.index = new EntryIndex(cache, { onGrow, isWhole });
    this.given = findings; // the runtime's, which knows the whole log, and more rules
    this.givenOutcomes = outcomes;
    this.opened = new Map(); // entries that were parsed last, by position
    this.openedBytes = 0;
    this.isLog = true;
  }

  start() {
    return this.index.scan();
  }

  get count() {
    return this.index.count;
  }

  get findings() {
    return this.given ?? this.index.findings;
  }

  // A row of the tree for an entry; its fields are read when it is opened.
  async node(number) {
    const entry = await this.index.get(number);
    return this.nodeOf(entry);
  }

  nodeOf(entry) {
    const node = { start: entry.position, end: entry.end, entry, number: entry.number };
    if (entry.kind !== "entry") {
      node.name = {
        zeros: "zeros",
        cut: "cut entry",
        damage: "damage",
        window: "cut by this page",
      }[entry.kind];
      node.text = `${(entry.end - entry.position).toLocaleString("en")} bytes: ${entry.reason}`;
      node.field = REST;
      node.failed = entry.kind === "damage";
      node.isUnclaimed = entry.kind === "damage";
      return node;
    }
    node.name = `entries[${entry.number}]`;
    // A marker further on in the file may decide while the row is shown.
    const outcome = () =>
      this.givenOutcomes?.[entry.position] ?? this.index.outcomeOf(entry.number);
    Object.defineProperty(node, "outcome", { get: outcome });
    node.text = entryText(entry);
    node.structure =
      entry.magic === 2
        ? KafkaRecordBatch.KafkaRecordBatch.structure
        : KafkaMessage.KafkaMessage.structure;
    node.open = () => this.open(entry);
    return node;
  }

  async open(entry) {
    const kept = this.opened.get(entry.position);
    if (kept) return kept;
    const size = entry.end - entry.position;
    const isLarge = size > MAX_ENTRY_BYTES;
    const bytes = await this.cache.read(
      entry.position,
      isLarge ? entry.position + BATCH_HEADER : entry.end,
    );
    const opened = { ...openEntry(bytes.slice(), entry.position), byteLength: size };
    if (isLarge) {
      opened.payload = null;
      opened.nodes = opened.nodes.filter((node) => node.end <= entry.position + BATCH_HEADER);
      opened.nodes.push({
        name: "rest",
        field: { doc: "Larger than what this page takes apart." },
        start: entry.position + BATCH_HEADER,
        end: entry.end,
        text: `${size.toLocaleString("en")} bytes`,
      });
    }
    this.opened.set(entry.position, opened);
    this.openedBytes += size;
    while (this.opened.size > 16 || (this.opened.size > 1 && this.openedBytes > MAX_ENTRY_BYTES)) {
      const [oldest, { byteLength }] = this.opened.entries().next().value;
      this.opened.delete(oldest);
      this.openedBytes -= byteLength;
    }
    return opened;
  }

  async numberAt(position) {
    return (await this.index.at(position))?.number ?? null;
  }
}

function entryText(entry) {
  if (entry.magic < 2)
    return `v${entry.magic} @${entry.offset}${entry.codec ? ` ${codecName(entry.codec)}` : ""}`;
  const offsets =
    entry.lastOffset === entry.offset ? `@${entry.offset}` : `@${entry.offset}–${entry.lastOffset}`;
  const parts = [`v2 ${offsets}`, `n=${entry.numRecords.toLocaleString("en")}`];
  if (entry.codec) parts.push(codecName(entry.codec));
  if (entry.isControl) parts.push("control");
  return parts.join(" ");
}

function codecName(number) {
  return SPECIFICATION.enums["KafkaRecordBatch.codecs"][number]?.[0] ?? `codec ${number}`;
}

// A companion file: its fields. An index is parsed by pages, since it may have a million rows.
class FieldsDocument {
  constructor(cache, format, { findings = null } = {}) {
    Object.assign(this, { cache, format, given: findings, own: [], nodes: [] });
  }

  async start() {
    const { first, end } = this.cache.source;
    const rowBytes = ROW_BYTES[this.format];
    const pageBytes = rowBytes && rowBytes * PAGE_ROWS;
    if (rowBytes && end - first > pageBytes) {
      for (let start = first; start < end; start += pageBytes)
        this.nodes.push(this.pageNode(start, Math.min(start + pageBytes, end)));
      return;
    }
    const last = Math.min(end, first + MAX_PARSED_BYTES);
    const bytes = await this.cache.read(first, last);
    const { nodes, findings } = this.parsed(bytes, first);
    this.nodes = nodes;
    this.own = findings;
    if (last < end)
      this.nodes.push({
        name: "rest",
        field: { doc: "Beyond what this page takes apart." },
        start: last,
        end,
        text: `${(end - last).toLocaleString("en")} bytes`,
      });
  }

  pageNode(start, end) {
    return {
      name: `bytes ${start.toLocaleString("en")}–${(end - 1).toLocaleString("en")}`,
      start,
      end,
      text: "",
      open: async () => this.parsed(await this.cache.read(start, end), start),
    };
  }

  parsed(bytes, base) {
    const name = upperCamel(this.format);
    const { object, error } = parse(globalThis[name][name], bytes);
    const nodes = fieldNodes(object, base);
    const findings = [];
    if (error) {
      const { field, at } = failureOf(nodes, base);
      findings.push({
        code: "parse-error",
        severity: "error",
        position: base,
        at,
        message: `${field ?? this.format}: ${reasonOf(error)}`,
      });
    }
    if (this.format === "kafka_producer_snapshot" && bytes.length >= 6) {
      const stored = viewOf(bytes).getUint32(2);
      const computed = crc(CRC32C_TABLES, bytes, 6);
      if (stored !== computed)
        findings.push({
          ...mismatch({ name: "CRC-32C", stored, field: 2 }, computed, base),
          code: "snapshot-invalid",
        });
    }
    const end = nodes.reduce((most, node) => Math.max(most, node.end), base);
    if (!error && end < base + bytes.length)
      nodes.push({
        name: "unclaimed",
        isUnclaimed: true,
        start: end,
        end: base + bytes.length,
        text: `${base + bytes.length - end} bytes of no field`,
      });
    return { nodes, findings, payload: null };
  }

  get count() {
    return this.nodes.length;
  }

  get findings() {
    return this.given ?? this.own;
  }

  node(number) {
    return this.nodes[number];
  }

  async numberAt(position) {
    const number = this.nodes.findIndex((node) => position >= node.start && position < node.end);
    return number < 0 ? null : number;
  }
}

// The innermost field that a parser stopped at.
function failureOf(nodes, base) {
  const node = nodes.find((one) => one.failed);
  if (!node) return { field: null, at: base };
  const inner = node.children ? failureOf(node.children(), node.start) : { field: null };
  return inner.field ? inner : { field: node.name, at: node.start };
}

function upperCamel(name) {
  return lowerCamel(`_${name}`);
}

// A decompressed payload: its records, or the messages of a wrapper.
class PayloadDocument {
  constructor(payload, name) {
    const { bytes, nodes, findings } = payload.open();
    this.bytes = bytes ?? new Uint8Array(0);
    this.cache = new BlockCache(new WindowSource(name, this.bytes));
    this.nodes = nodes;
    this.findings = findings;
    this.isPayload = true;
  }

  async start() {}

  get count() {
    return this.nodes.length;
  }

  node(number) {
    return this.nodes[number];
  }

  async numberAt(position) {
    const number = this.nodes.findIndex((node) => position >= node.start && position < node.end);
    return number < 0 ? null : number;
  }
}

// The smallest fields of a document: [[path, start, end, text], ...].
async function fieldsOf(doc) {
  const found = [];
  const collect = (path, nodes) => {
    for (const node of nodes) {
      if (node.isAgain) continue;
      const inner = [...path, node.name];
      if (node.children) collect(inner, node.children());
      else found.push([inner.join("."), node.start, node.end, node.text ?? ""]);
    }
  };
  for (let number = 0; number < doc.count; number += 1) {
    const node = await doc.node(number);
    if (node.open) collect([node.name], (await node.open()).nodes);
    else collect([], [node]);
  }
  return found;
}

attachSpecifications(SPECIFICATION.structures, globalThis);
REST = KafkaLogLazy.KafkaLogLazy.Entry.structure.seq.find((field) => field.id === "rest");
