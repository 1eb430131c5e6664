// The bytes: position, hexadecimal and ASCII. Only those in sight are read.

const HEX_ROW_HEIGHT = 22;

class HexView {
  constructor(container, { label, onPick }) {
    Object.assign(this, { container, onPick, cursor: 0, range: null, bytesPerRow: 16 });
    for (const [name, value] of Object.entries({ role: "group", tabindex: 0, "aria-label": label }))
      container.setAttribute(name, value);
    this.loaded = { start: 0, bytes: new Uint8Array(0) };
    this.list = new VirtualList(container, HEX_ROW_HEIGHT, (row) => this.rowElement(row));
    this.list.onRange = (first, last) => this.load(first, last);
    container.addEventListener("click", (event) => {
      const at = event.target.closest("[data-at]");
      if (at) this.onPick(Number(at.dataset.at));
    });
    container.addEventListener("keydown", (event) => this.pressed(event));
    new ResizeObserver(() => this.fit()).observe(container);
  }

  show(doc) {
    this.doc = doc;
    this.source = doc?.cache.source ?? null;
    this.range = null;
    this.marks = [];
    this.loaded = { start: 0, bytes: new Uint8Array(0) };
    this.layOut();
    this.list.scrollTo(0);
  }

  fit() {
    const perRow = this.container.clientWidth < 560 ? 8 : 16;
    if (perRow === this.bytesPerRow) return;
    this.bytesPerRow = perRow;
    this.layOut();
    if (this.range) this.list.reveal(this.rowOf(this.range.start));
  }

  layOut() {
    const { source } = this;
    this.base = source ? source.first - (source.first % this.bytesPerRow) : 0;
    this.digits = Math.max(6, (source?.end ?? 0).toString(16).length);
    this.list.setCount(source ? Math.ceil((source.end - this.base) / this.bytesPerRow) : 0);
    this.list.render();
  }

  rowOf(position) {
    return Math.floor((position - this.base) / this.bytesPerRow);
  }

  // Marks the bytes of a field; scrolls to them where *isRevealed*.
  mark(start, end, cursor = start) {
    this.range = { start, end };
    this.cursor = cursor;
    this.list.reveal(this.rowOf(cursor));
  }

  // Ranges with a finding, and those of no field: {start, end, kind}, in order.
  setMarks(marks) {
    this.marks = marks;
    this.list.schedule();
  }

  async load(first, last) {
    const { source } = this;
    if (!source || first >= last) return;
    const start = Math.max(source.first, this.base + first * this.bytesPerRow);
    const end = Math.min(source.end, this.base + last * this.bytesPerRow);
    const { loaded } = this;
    if (start >= loaded.start && end <= loaded.start + loaded.bytes.length) return;
    this.wanted = start;
    const from = Math.max(source.first, start - 4096);
    const bytes = await this.doc.cache.read(from, end + 4096);
    if (this.source !== source || this.wanted !== start) return;
    this.loaded = { start: from, bytes };
    this.list.schedule();
  }

  rowElement(row) {
    const start = this.base + row * this.bytesPerRow;
    const marks = this.marks.filter(
      (mark) => mark.start < start + this.bytesPerRow && mark.end > start,
    );
    const hex = [];
    const text = [];
    for (let at = start; at < start + this.bytesPerRow; at += 1) {
      const byte =
        at < this.source.first || at >= this.source.end
          ? null
          : this.loaded.bytes[at - this.loaded.start];
      const shown =
        byte === null
          ? ["  ", " "]
          : byte === undefined
            ? ["··", "·"]
            : [hexByte(byte), byte > 31 && byte < 127 ? String.fromCharCode(byte) : "."];
      const kinds = marks
        .filter((mark) => at >= mark.start && at < mark.end)
        .map((mark) => mark.kind);
      if (this.range && at >= this.range.start && at < this.range.end) kinds.push("selected");
      if (this.range && at === this.cursor) kinds.push("cursor");
      const attributes = {
        class: kinds.join(" ") || undefined,
        "data-at": byte === null ? undefined : at,
      };
      hex.push(element("span", attributes, shown[0]));
      text.push(element("span", attributes, shown[1]));
    }
    return element(
      "div",
      { class: "hex-row", role: "presentation" },
      element("span", { class: "position" }, start.toString(16).padStart(this.digits, "0")),
      element("span", { class: "bytes" }, ...hex),
      element("span", { class: "ascii", "aria-hidden": "true" }, ...text),
    );
  }

  pressed(event) {
    if (!this.source || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = (this.list.visibleRows - 1) * this.bytesPerRow;
    const moves = {
      ArrowRight: 1,
      ArrowLeft: -1,
      ArrowDown: this.bytesPerRow,
      ArrowUp: -this.bytesPerRow,
      PageDown: page,
      PageUp: -page,
    };
    let to = event.key in moves ? this.cursor + moves[event.key] : null;
    if (event.key === "Home") to = this.source.first;
    if (event.key === "End") to = this.source.end - 1;
    if (to === null) return;
    event.preventDefault();
    this.onPick(Math.min(Math.max(this.source.first, to), this.source.end - 1));
  }
}
