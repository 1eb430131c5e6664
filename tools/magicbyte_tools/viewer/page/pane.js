// A document's tree beside its bytes, with the sentence about the selected field.

class Pane {
  constructor(container, { title, onSelect }) {
    this.container = container;
    this.onSelect = onSelect;
    const tree = element("div", { class: "tree" });
    const hex = element("div", { class: "hex" });
    this.details = element("div", { class: "details", "aria-live": "polite" });
    this.heading = element("h2", {}, title);
    container.replaceChildren(
      element("div", { class: "pane-title" }, this.heading),
      element("div", { class: "columns" }, tree, hex),
      this.details,
    );
    this.tree = new TreeView(tree, {
      label: `Fields: ${title}`,
      onSelect: (node, row) => this.selected(node, row),
    });
    this.hex = new HexView(hex, {
      label: `Bytes: ${title}`,
      onPick: (position) => this.goTo(position),
    });
  }

  show(doc) {
    this.doc = doc;
    this.entry = null;
    this.details.replaceChildren(
      element("p", { class: "soft" }, "Select a field or a byte. Arrow keys move, Enter opens."),
    );
    this.hex.show(doc);
    this.tree.show(doc);
    this.markFindings();
  }

  refresh() {
    this.tree.refresh();
    this.markFindings();
  }

  markFindings() {
    const { doc } = this;
    const marks = doc.findings.map((finding) => {
      const start = doc.isPayload ? finding.payloadPosition : (finding.at ?? finding.position);
      return start === undefined || start === null
        ? null
        : {
            start,
            end: start + (finding.length && finding.length < 1024 ? finding.length : 1),
            kind: "bad",
          };
    });
    const unclaimed = (doc.index?.others ?? doc.nodes ?? []).filter(
      (one) => one.kind === "damage" || one.isUnclaimed,
    );
    this.hex.setMarks([
      ...marks.filter(Boolean),
      ...unclaimed.map((one) => ({
        start: one.position ?? one.start,
        end: one.end,
        kind: "unclaimed",
      })),
    ]);
  }

  // Selects the field that has the byte; false where it is not known yet.
  async goTo(position) {
    const { source } = this.doc.cache;
    if (position < source.first || position >= source.end) return false;
    this.cursor = position;
    const isFound = await this.tree.reveal(position);
    if (!isFound) this.hex.mark(position, position + 1);
    this.cursor = null;
    return isFound;
  }

  async selected(node, row) {
    const cursor = this.cursor ?? node.start;
    this.hex.mark(
      node.start,
      node.end,
      cursor >= node.start && cursor < node.end ? cursor : node.start,
    );
    const root = await this.tree.root(row.number);
    let opened = null;
    if (root.node.open && this.doc.isLog) opened = await root.node.open();
    this.showDetails(node, row, opened);
    this.onSelect?.(node, root.node, opened, cursor);
  }

  showDetails(node, row, opened) {
    const { field, structure } = node;
    const lines = [];
    const names = [];
    for (let up = row; up; up = up.parent) names.unshift(up.node.name);
    lines.push(element("h3", {}, names.join(" › ")));
    const about = element("dl", {});
    const add = (name, ...values) =>
      about.append(element("dt", {}, name), element("dd", {}, ...values));
    if (field?.kafka && !node.isElement) add("Kafka's name", element("code", {}, field.kafka));
    add(
      "Bytes",
      `${node.start.toLocaleString("en")} to ${(node.end - 1).toLocaleString("en")}, ${counted(node.end - node.start, "byte")}${node.bits ? `, ${node.bits}` : ""}`,
      " ",
      element(
        "a",
        { href: hash(this.base?.position ?? node.start, this.base && node.start) },
        "Link",
      ),
    );
    const kind = structure?.name ?? field?.type;
    if (kind) add("Type", element("code", {}, kind));
    if (node.bytes?.length) add("Value", valueElement(node.bytes));
    else if (node.text) add("Value", node.text, field?.unit === "ms" ? timeText(node.text) : "");
    if (node.outcome) add("Transaction", outcomeText(node.outcome));
    lines.push(about);
    for (const paragraph of sentences(node)) lines.push(element("p", {}, ...withCode(paragraph)));
    for (const finding of this.findingsIn(node))
      lines.push(
        element(
          "p",
          { class: `finding ${finding.severity}` },
          `${finding.code}: ${finding.message}`,
        ),
      );
    if (opened?.payload && this.onPayload) {
      const { codec, compressedBytes } = opened.payload;
      const button = element(
        "button",
        { type: "button" },
        `Open the payload (${codecName(codec)}, ${counted(compressedBytes, "byte")})`,
      );
      button.addEventListener("click", () => this.onPayload(opened.payload));
      lines.push(button);
    }
    this.details.replaceChildren(...lines);
  }

  findingsIn(node) {
    return this.doc.findings
      .filter((finding) => {
        const at = this.doc.isPayload ? finding.payloadPosition : (finding.at ?? finding.position);
        return (
          at !== undefined &&
          at !== null &&
          at >= node.start &&
          at < Math.max(node.end, node.start + 1)
        );
      })
      .slice(0, 20);
  }
}

// Words in backquotes as code.
function withCode(paragraph) {
  return paragraph.split("`").map((part, at) => (at % 2 ? element("code", {}, part) : part));
}

// A number of milliseconds since the Unix epoch as a time, where it is one.
function timeText(text) {
  const time = new Date(Number(text));
  return text === "-1" || Number.isNaN(time.getTime()) ? "" : ` (${time.toISOString()})`;
}

function sentences(node) {
  const { field, structure } = node;
  const texts = [];
  if (field?.doc) texts.push(...field.doc.split("\n"));
  if (field?.enum) {
    const member = SPECIFICATION.enums[field.enum]?.[parseInt(node.text, 10)];
    if (member) texts.push(`${member[0]}: ${member[1]}`);
  }
  if (structure?.doc && !structure.primitive) texts.push(...structure.doc.split("\n"));
  return texts;
}

function outcomeText(outcome) {
  return (
    {
      committed: "committed: consumers that read committed records get it",
      aborted: "aborted: consumers that read committed records skip it",
      open: "open: no marker in these bytes ends the transaction",
      undecided: "undecided",
      marker: "transaction marker",
    }[outcome] ?? outcome
  );
}

// A byte string in full, up to a limit: as text where it is text, indented where it is JSON.
function valueElement(bytes) {
  const text = utf8Of(bytes.subarray(0, 65536), bytes.length > 65536);
  if (text === null) return element("code", { class: "value" }, bytesText(bytes, 1024));
  try {
    return element("pre", { class: "value" }, JSON.stringify(JSON.parse(text), null, 2));
  } catch {
    return element("pre", { class: "value" }, text);
  }
}
