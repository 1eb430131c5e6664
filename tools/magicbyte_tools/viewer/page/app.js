// The page: opens a file that was dropped, chosen or embedded, and follows links to bytes.

const MAX_LISTED = 1000; // findings that the list shows

class Viewer {
  constructor() {
    const byId = (id) => document.getElementById(id);
    this.elements = Object.fromEntries(
      [
        "file",
        "open",
        "format",
        "about",
        "note",
        "welcome",
        "work",
        "payload",
        "findings",
        "go",
        "byte",
        "status",
        "error",
      ].map((id) => [id, byId(id)]),
    );
    const { elements } = this;
    for (const [format, title] of Object.entries(FORMATS.titles)) {
      if (isFileFormat(format))
        elements.format.append(
          element("option", { value: format }, title.replace(/^Apache Kafka /, "")),
        );
    }
    this.pane = new Pane(byId("main"), {
      title: "File",
      onSelect: (...found) => this.selected(...found),
    });
    this.pane.onPayload = (payload) => this.openPayload(payload);
    this.payloadPane = new Pane(byId("payload-pane"), {
      title: "Payload",
      onSelect: (node, _, __, cursor) => this.payloadSelected(node, cursor),
    });
    elements.file.addEventListener(
      "change",
      () => elements.file.files[0] && this.openFile(elements.file.files[0]),
    );
    elements.open.addEventListener("click", () => elements.file.click());
    elements.format.addEventListener("change", () => this.reopen(elements.format.value));
    elements.go.addEventListener("submit", (event) => this.submitted(event));
    byId("close-payload").addEventListener("click", () => this.closePayload());
    addEventListener("hashchange", () => this.followHash());
    this.acceptDrops();
    const embedded = byId("embedded");
    if (embedded) this.openEmbedded(JSON.parse(embedded.textContent));
  }

  acceptDrops() {
    addEventListener("dragover", (event) => {
      event.preventDefault();
      document.body.classList.add("dragged");
    });
    addEventListener("dragleave", () => document.body.classList.remove("dragged"));
    addEventListener("drop", (event) => {
      event.preventDefault();
      document.body.classList.remove("dragged");
      const [file] = event.dataTransfer.files;
      if (file) this.openFile(file);
    });
  }

  openFile(file) {
    this.note("");
    return this.openSource(new FileSource(file), formatOf(file.name) ?? "kafka_log");
  }

  openEmbedded(given) {
    const bytes = Uint8Array.from(atob(given.base64), (letter) => letter.charCodeAt(0));
    this.note(given.note);
    const source = new WindowSource(given.name, bytes, given.first, given.size);
    return this.openSource(source, given.format, {
      findings: given.findings,
      outcomes: given.outcomes,
      isWhole: source.end === source.size,
      position: given.position,
    });
  }

  reopen(format) {
    const { source, options } = this.current;
    return this.openSource(source, format, options);
  }

  async openSource(source, format, options = {}) {
    if (this.document?.index) this.document.index.isCancelled = true;
    const { elements } = this;
    this.current = { source, format, options };
    this.closePayload();
    const cache = new BlockCache(source);
    const isLog = format === "kafka_log" || format === "kafka_kraft_snapshot";
    const doc = isLog
      ? new LogDocument(cache, { ...options, onGrow: () => this.grew(doc) })
      : new FieldsDocument(cache, format, options);
    this.document = doc;
    elements.welcome.hidden = true;
    elements.work.hidden = false;
    elements.format.value = format;
    elements.format.disabled = false;
    document.title = `${source.name} – magicbyte viewer`;
    elements.about.textContent = `${sizeText(source.size)} · ${source.name}`;
    elements.about.title = source.name;
    this.pane.show(doc);
    this.hasFollowed = false;
    try {
      await doc.start();
    } catch (error) {
      if (!(error instanceof DOMException)) throw error; // no fault of the file
      this.fail(
        `${source.name} cannot be read: ${error.message}. Choose the file again; it may have changed.`,
      );
      return;
    }
    if (this.document !== doc) return;
    this.pane.refresh();
    this.grew(doc);
    await this.followHash();
  }

  fail(message) {
    this.elements.error.textContent = message;
    this.elements.error.hidden = false;
  }

  note(text) {
    this.elements.error.hidden = true;
    this.elements.note.textContent = text;
    this.elements.note.hidden = !text;
  }

  // Shows what is known so far of a file that is being scanned.
  grew(doc) {
    if (this.document !== doc) return;
    const now = performance.now();
    if (
      doc.index &&
      !doc.index.isDone &&
      now - (this.lastShown ?? 0) < 150 &&
      doc.index.count > 100
    )
      return;
    this.lastShown = now;
    this.pane.refresh();
    this.showFindings();
    const { index } = doc;
    if (!index) {
      this.elements.status.textContent = counted(doc.count, "field");
      return;
    }
    const records = index.numRecords ? `, ${counted(index.numRecords, "record")}` : "";
    const share = Math.floor(
      (100 * (index.scanned - index.first)) / Math.max(1, index.end - index.first),
    );
    this.elements.status.textContent = `${counted(index.count, "entry", "entries")}${records}${index.isDone ? "" : ` · ${share} % read`}`;
    if (!this.hasFollowed && index.count) this.followHash({ isFirst: true });
  }

  showFindings() {
    const { findings } = this.document;
    const number = Math.max(
      findings.length,
      this.document.given ? 0 : (this.document.index?.numFindings ?? 0),
    );
    const { elements } = this;
    const worst = ["error", "warning", "note"].find((severity) =>
      findings.some((one) => one.severity === severity),
    );
    const summary = element(
      "summary",
      { class: worst ?? "none" },
      number ? counted(number, "finding") : "No findings",
    );
    const items = findings
      .slice(0, MAX_LISTED)
      .map((finding) =>
        element(
          "li",
          { class: finding.severity },
          element(
            "a",
            { href: hash(finding.at ?? finding.position ?? 0, finding.payloadPosition) },
            `byte ${(finding.position ?? 0).toLocaleString("en")}`,
          ),
          ` ${finding.code}: ${finding.message}`,
        ),
      );
    if (number > MAX_LISTED)
      items.push(
        element("li", { class: "soft" }, `and ${counted(number - MAX_LISTED, "more finding")}`),
      );
    const isShown = number !== this.numShown;
    this.numShown = number;
    if (isShown) elements.findings.replaceChildren(summary, element("ul", {}, ...items));
  }

  submitted(event) {
    event.preventDefault();
    const text = this.elements.byte.value.trim();
    const position = /^(0x[0-9a-f]+|\d+)$/i.test(text) ? Number(text) : NaN;
    if (!Number.isSafeInteger(position)) return;
    if (location.hash === hash(position)) this.followHash();
    else location.hash = hash(position);
  }

  // Goes to the byte in the page's address; to the first entry without one.
  async followHash({ isFirst = false } = {}) {
    const doc = this.document;
    if (!doc) return;
    const asked = new URLSearchParams(location.hash.slice(1));
    const position = asked.has("byte") ? Number(asked.get("byte")) : this.current.options.position;
    if (position === undefined || Number.isNaN(position)) {
      if (!this.hasFollowed && doc.count) this.pane.tree.select(0, { isQuiet: true });
      this.hasFollowed = true;
      return;
    }
    if (isFirst && doc.index && doc.index.scanned <= position) return; // later, when it is listed
    this.hasFollowed = true;
    const { source } = doc.cache;
    if (position < source.first || position >= source.end) {
      this.fail(
        `Byte ${position.toLocaleString("en")} is not among the bytes of this page, ${source.first.toLocaleString("en")} to ${(source.end - 1).toLocaleString("en")}.`,
      );
      return;
    }
    this.elements.error.hidden = true;
    await this.pane.goTo(position);
    if (asked.has("payload") && doc.isLog)
      await this.followPayload(position, Number(asked.get("payload")));
  }

  async followPayload(position, payloadPosition) {
    const entry = await this.document.index.at(position);
    if (entry?.kind !== "entry") return;
    const { payload } = await this.document.open(entry);
    if (!payload) return;
    this.openPayload(payload);
    await this.payloadPane.goTo(payloadPosition);
  }

  selected(node, root, opened, cursor) {
    this.setHash(hash(cursor));
    if (this.payloadOf && this.payloadOf !== opened?.payload) this.closePayload();
  }

  payloadSelected(node, cursor) {
    if (this.payloadOf) this.setHash(hash(this.payloadOf.position, cursor));
  }

  // Some browsers do not let the scripts of a local file change the address.
  setHash(text) {
    try {
      history.replaceState(null, "", text);
    } catch {
      return;
    }
  }

  openPayload(payload) {
    if (this.payloadOf !== payload) {
      const doc = new PayloadDocument(payload, "payload");
      this.payloadOf = payload;
      this.payloadPane.base = payload;
      this.elements.payload.hidden = false;
      this.payloadPane.heading.textContent = `Payload of the entry at byte ${payload.position.toLocaleString("en")}: ${counted(doc.bytes.length, "byte")}, decompressed (${codecName(payload.codec)})`;
      this.payloadPane.show(doc);
      if (doc.findings.length) {
        this.payloadPane.details.replaceChildren(
          ...doc.findings
            .slice(0, 20)
            .map((one) =>
              element("p", { class: `finding ${one.severity}` }, `${one.code}: ${one.message}`),
            ),
        );
      }
    }
    this.elements.payload.scrollIntoView({ block: "nearest" });
  }

  closePayload() {
    this.payloadOf = null;
    this.elements.payload.hidden = true;
  }
}

// Whether a whole file may be of this format; the others are parts of files.
function isFileFormat(format) {
  return (
    Object.values(FORMATS.names).includes(format) ||
    Object.values(FORMATS.suffixes).includes(format)
  );
}

const viewer = new Viewer();

// For programs that drive the page, such as its tests.
globalThis.magicbyteViewer = {
  async open(name, bytes, format) {
    const source = new WindowSource(name, bytes);
    await viewer.openSource(source, format ?? formatOf(name) ?? "kafka_log");
    return this.findings();
  },
  openFile: (file) => viewer.openFile(file),
  findings: () => viewer.document.findings,
  progress: () => ({
    count: viewer.document.count,
    isDone: viewer.document.index?.isDone ?? true,
    rows: viewer.pane.tree.rowCount(),
  }),
  fields: () => fieldsOf(viewer.document),
};
