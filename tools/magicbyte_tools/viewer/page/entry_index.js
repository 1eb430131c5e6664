// The entries of a log as a list that grows while the file is scanned, and that keeps one position for
// 32 entries: the others are found again by their lengths. A segment of 1 GiB with messages of 100 bytes
// has ten million entries.

const STRIDE = 32;
const CHUNK_BYTES = 4 * 1024 * 1024;
const FIRST_CHUNK_BYTES = 256 * 1024; // the first rows are shown after it
const MAX_FINDINGS = 10_000;
const MAX_SEARCH_BYTES = 512 * 1024 * 1024; // bytes that candidates' checksums may cost in one file
const DEEP_BYTES = 4 * 1024 * 1024; // logs up to this size are decompressed and parsed as they are scanned
const MAX_PAGES = 256;

const MAX_OFFSET = 2n ** 63n - 1n;
const OUTCOMES = ["", "committed", "aborted", "open", "undecided", "marker"];

class EntryIndex {
  constructor(cache, { onGrow = () => {}, isWhole = true } = {}) {
    this.cache = cache;
    this.first = cache.source.first;
    this.end = cache.source.end;
    this.isWhole = isWhole; // whether the bytes end where the file does
    this.onGrow = onGrow;
    this.count = 0;
    this.numRecords = 0;
    this.checkpoints = new Float64Array(1024);
    this.outcomes = new Uint8Array(1024);
    this.pages = new Map();
    this.findings = [];
    this.numFindings = 0;
    this.others = []; // ranges that are no entries, in order: {position, end, kind, code, reason}
    this.open = new Map(); // numbers of the batches of open transactions, by producer id
    this.scanned = this.first;
    this.isDone = false;
    this.searchedBytes = 0;
    this.lastOffset = null;
  }

  // Lists all entries, and checks them; gives way to the page after each chunk.
  async scan() {
    let chunk = { bytes: new Uint8Array(0), start: this.first };
    let position = this.first;
    while (position < this.end && !this.isCancelled) {
      const inside = position - chunk.start;
      const left = chunk.bytes.length - inside;
      if (left < BATCH_HEADER && position + left < this.end) {
        chunk = await this.chunkAt(position);
        continue;
      }
      const view = viewOf(chunk.bytes);
      const frame = frameOf(view, inside, this.end - position);
      if (frame.kind !== "entry") {
        position = await this.addOther(position, frame);
        chunk = await this.chunkAt(position);
        continue;
      }
      if (inside + frame.size > chunk.bytes.length) {
        const isShort = frame.size <= CHUNK_BYTES && frame.size > chunk.bytes.length;
        if (inside > 0 || isShort) {
          chunk = await this.chunkAt(position, frame.size);
          continue;
        }
        await this.addLarge(chunk.bytes, position, frame.size); // an entry larger than a chunk
      } else {
        this.addEntry(chunk.bytes, inside, position, frame.size);
      }
      position += frame.size;
      this.scanned = position;
    }
    for (const numbers of this.open.values())
      for (const number of numbers) this.outcomes[number] = 3;
    this.isDone = true;
    this.scanned = this.end;
    this.onGrow(this);
  }

  // The bytes from *position* on: a chunk, which is small where only the first rows are waited for.
  async chunkAt(position, least = 0) {
    const isFirst = position === this.first && least <= FIRST_CHUNK_BYTES;
    const size = isFirst ? FIRST_CHUNK_BYTES : CHUNK_BYTES;
    const bytes = await this.cache.source.load(position, Math.min(position + size, this.end));
    this.onGrow(this);
    await new Promise((resolve) => setTimeout(resolve, 0));
    return { bytes, start: position };
  }

  addEntry(bytes, at, position, size) {
    const view = viewOf(bytes);
    const checksum = checksumOf(view, at);
    const computed = crc(checksum.tables, bytes, at + checksum.from, at + size);
    this.add(bytes, at, position, size, checksum, computed);
    if (computed === checksum.stored && this.end - this.first <= DEEP_BYTES) {
      const opened = openEntry(bytes.slice(at, at + size), position);
      this.report(...checkOpened(opened));
    }
  }

  // An entry larger than a chunk: its checksum is computed piece by piece.
  async addLarge(head, position, size) {
    const checksum = checksumOf(viewOf(head), 0);
    let computed = 0;
    for (let at = checksum.from; at < size; at += CHUNK_BYTES) {
      const bytes = await this.cache.source.load(
        position + at,
        position + Math.min(at + CHUNK_BYTES, size),
      );
      computed = crc(checksum.tables, bytes, 0, bytes.length, computed);
    }
    this.add(head, 0, position, size, checksum, computed);
  }

  add(bytes, at, position, size, checksum, computed) {
    const summary = summaryOf(viewOf(bytes), at, position, size);
    const number = this.append(position);
    if (computed !== checksum.stored) {
      this.report(mismatch(checksum, computed, position));
      return; // what its fields say cannot be trusted
    }
    if (this.lastOffset !== null && summary.offset <= this.lastOffset) {
      const message = `offset ${summary.offset} after offset ${this.lastOffset}`;
      this.report({ code: "offset-out-of-order", severity: "error", position, message });
    }
    if (summary.lastOffset < summary.offset || summary.lastOffset > MAX_OFFSET) {
      const message = `the last offset is ${summary.lastOffset}, the first ${summary.offset}`;
      this.report({ code: "offset-out-of-order", severity: "error", position, message });
    }
    if (summary.lastOffset > (this.lastOffset ?? -1n)) this.lastOffset = summary.lastOffset;
    this.numRecords += summary.numRecords > 0 ? summary.numRecords : summary.magic < 2 ? 1 : 0;
    if (summary.isTransactional) this.addTransactional(bytes, at, at + size, summary, number);
  }

  addTransactional(bytes, at, end, summary, number) {
    const producer = summary.producerId;
    if (!summary.isControl) {
      if (!this.open.has(producer)) this.open.set(producer, []);
      this.open.get(producer).push(number);
      this.outcomes[number] = 4; // until its marker comes
      return;
    }
    this.outcomes[number] = 5;
    const kind = markerOf(bytes, at, end);
    if (kind === null) return;
    for (const member of this.open.get(producer) ?? [])
      this.outcomes[member] = kind === "commit" ? 1 : 2;
    this.open.delete(producer);
  }

  // Bytes that are no entry: the end of a log that grew, or damage. Returns where entries go on.
  async addOther(position, frame) {
    let end = this.end;
    let other = null;
    if (await this.isZeroToEnd(position)) {
      other = {
        kind: "zeros",
        code: "zero-tail",
        severity: "warning",
        reason: "zeros up to the end: the file was allocated before it was filled",
      };
    } else if (!this.isWhole && frame.kind === "cut") {
      other = { kind: "window", reason: "the entry goes on beyond the bytes that this page has" };
    } else {
      const next = await this.search(position + 1);
      end = next ?? this.end;
      if (frame.kind === "cut" && next === null) {
        const reason = `an entry of ${frame.size.toLocaleString("en")} bytes that is cut off`;
        other = { kind: "cut", code: "incomplete-tail", severity: "warning", reason };
      } else if (frame.kind === "cut") {
        other = {
          kind: "damage",
          code: "incomplete-entry",
          severity: "error",
          reason: "an entry that reaches over the next ones",
        };
      } else {
        other = { kind: "damage", code: frame.code, severity: "error", reason: frame.reason };
      }
    }
    this.append(position);
    this.others.push({ position, end, ...other });
    if (other.code) {
      const { code, severity, reason: message } = other;
      this.report({ code, severity, position, length: end - position, message });
      if (end < this.end && end !== position + frame.size) {
        const skipped = `${(end - position).toLocaleString("en")} bytes are no entry`;
        this.report({
          code: "found-by-search",
          severity: "warning",
          position: end,
          message: `the next entry was found by a search: ${skipped}`,
        });
      }
    }
    this.scanned = end;
    return end;
  }

  async isZeroToEnd(position) {
    for (let at = position; at < this.end;) {
      const bytes =
        at === position
          ? await this.cache.read(at, at + 64)
          : await this.cache.source.load(at, Math.min(at + CHUNK_BYTES, this.end));
      if (bytes.some((byte) => byte !== 0)) return false;
      at += bytes.length;
    }
    return true;
  }

  // The next position from *from* on where an entry has a right checksum; null if there is none.
  async search(from) {
    for (let start = from; start + UP_TO_MAGIC <= this.end; start += CHUNK_BYTES) {
      const bytes = await this.cache.source.load(
        start,
        Math.min(start + CHUNK_BYTES + BATCH_HEADER, this.end),
      );
      const view = viewOf(bytes);
      const last = Math.min(CHUNK_BYTES, bytes.length - UP_TO_MAGIC + 1);
      for (let at = 0; at < last; at += 1) {
        if (bytes[at + 16] > 2 || bytes[at] > 0x7f) continue;
        const frame = frameOf(view, at, this.end - start - at);
        if (frame.kind !== "entry" || (at + BATCH_HEADER > bytes.length && frame.magic === 2))
          continue;
        if (frame.magic === 2 && view.getInt32(at + 57) < 0) continue;
        if (await this.isSound(bytes, at, start, frame.size)) return start + at;
        if (this.searchedBytes > MAX_SEARCH_BYTES) return null;
      }
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    return null;
  }

  async isSound(bytes, at, start, size) {
    if (size > MAX_ENTRY_BYTES) return false;
    this.searchedBytes += size;
    const entry =
      at + size <= bytes.length
        ? bytes.subarray(at, at + size)
        : await this.cache.source.load(start + at, start + at + size);
    const checksum = checksumOf(viewOf(entry), 0);
    return crc(checksum.tables, entry, checksum.from) === checksum.stored;
  }

  append(position) {
    const number = this.count;
    if (number % STRIDE === 0) {
      const slot = number / STRIDE;
      if (slot === this.checkpoints.length) this.checkpoints = grown(this.checkpoints);
      this.checkpoints[slot] = position;
    }
    if (number === this.outcomes.length) this.outcomes = grown(this.outcomes);
    this.count += 1;
    return number;
  }

  report(...findings) {
    for (const finding of findings) {
      this.numFindings += 1;
      if (this.findings.length < MAX_FINDINGS) this.findings.push(finding);
    }
  }

  // The entries from number * STRIDE on, as many as are known of the page.
  page(number) {
    const kept = this.pages.get(number);
    if (kept && (kept.isFull || kept.count === this.count)) return kept.entries;
    const page = { count: this.count, isFull: (number + 1) * STRIDE <= this.count };
    page.entries = this.readPage(number, Math.min(STRIDE, this.count - number * STRIDE));
    page.entries.then((entries) => (page.loaded = entries));
    this.pages.set(number, page);
    if (this.pages.size > MAX_PAGES) this.pages.delete(this.pages.keys().next().value);
    return page.entries;
  }

  async readPage(number, length) {
    const entries = [];
    let position = this.checkpoints[number];
    for (let at = 0; at < length; at += 1) {
      const entry = this.otherAt(position) ?? (await this.entryAt(position));
      entry.number = number * STRIDE + at;
      entries.push(entry);
      position = entry.end;
    }
    return entries;
  }

  otherAt(position) {
    let low = 0;
    let high = this.others.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.others[middle].position < position) low = middle + 1;
      else high = middle;
    }
    return this.others[low]?.position === position ? this.others[low] : null;
  }

  async entryAt(position) {
    const bytes = await this.cache.read(position, position + BATCH_HEADER);
    const view = viewOf(bytes);
    const { size } = frameOf(view, 0, this.end - position);
    return { kind: "entry", ...summaryOf(view, 0, position, size) };
  }

  // The entry with this number; a promise of it where it has to be read.
  get(number) {
    const page = this.pages.get(Math.floor(number / STRIDE));
    return (
      page?.loaded?.[number % STRIDE] ??
      this.page(Math.floor(number / STRIDE)).then((entries) => entries[number % STRIDE])
    );
  }

  // The entry that byte *position* belongs to; null where none was listed yet.
  async at(position) {
    if (position < this.first || position >= this.scanned || !this.count) return null;
    let low = 0;
    let high = Math.ceil(this.count / STRIDE);
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.checkpoints[middle] <= position) low = middle;
      else high = middle;
    }
    const entries = await this.page(low);
    return entries.find((entry) => position >= entry.position && position < entry.end) ?? null;
  }

  outcomeOf(number) {
    return OUTCOMES[this.outcomes[number]];
  }
}

function grown(array) {
  const larger = new array.constructor(2 * array.length);
  larger.set(array);
  return larger;
}
