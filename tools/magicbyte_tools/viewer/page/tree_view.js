// The tree of fields: an ARIA tree with one tab stop. Rows at the top are the document's; those below a
// row are made when it is opened.

const ROW_HEIGHT = 24;
let numTrees = 0;

class TreeView {
  constructor(container, { label, onSelect }) {
    this.container = container;
    this.onSelect = onSelect;
    this.prefix = `tree${(numTrees += 1)}`;
    for (const [name, value] of Object.entries({ role: "tree", tabindex: 0, "aria-label": label }))
      container.setAttribute(name, value);
    this.list = new VirtualList(container, ROW_HEIGHT, (row) => this.rowElement(row));
    container.addEventListener("keydown", (event) => this.pressed(event));
    container.addEventListener("click", (event) => this.clicked(event));
    this.show(null);
  }

  show(doc) {
    this.doc = doc;
    this.roots = new Map(); // rows of the document that are loaded, by number
    this.opened = []; // numbers of those that are open, in order
    this.active = 0;
    this.container.removeAttribute("aria-activedescendant");
    this.list.setCount(this.rowCount());
    this.list.scrollTo(0);
  }

  refresh() {
    this.list.setCount(this.rowCount());
    this.list.render();
  }

  rowCount() {
    return (
      (this.doc?.count ?? 0) +
      this.opened.reduce((sum, number) => sum + this.roots.get(number).below.length, 0)
    );
  }

  // The row with this index: its number at the top, and its index below that, or -1.
  locate(index) {
    let before = 0;
    for (const number of this.opened) {
      const start = number + before;
      if (index <= start) break;
      const { length } = this.roots.get(number).below;
      if (index <= start + length) return { number, at: index - start - 1 };
      before += length;
    }
    return { number: index - before, at: -1 };
  }

  indexOf(number, at = -1) {
    let before = 0;
    for (const other of this.opened) {
      if (other >= number) break;
      before += this.roots.get(other).below.length;
    }
    return number + before + at + 1;
  }

  // A row at the top; a promise of it where its entry is not read yet.
  root(number) {
    const kept = this.roots.get(number);
    if (kept) return kept;
    const { doc } = this;
    const node = doc.node(number);
    const keep = (found) => {
      if (this.doc === doc && this.roots.has(number)) return this.roots.get(number); // asked for twice
      const row = { node: found, number, level: 1, at: number + 1, below: [] };
      if (this.doc === doc) {
        this.roots.set(number, row);
        if (this.roots.size > 4096) this.forget();
      }
      return row;
    };
    return node instanceof Promise ? node.then(keep) : keep(node);
  }

  forget() {
    for (const [number, row] of this.roots) {
      if (this.roots.size <= 2048) return;
      if (!row.isOpen) this.roots.delete(number);
    }
  }

  row(index) {
    const { number, at } = this.locate(index);
    return at < 0 ? this.root(number) : this.roots.get(number).below[at];
  }

  rowElement(index) {
    const row = this.row(index);
    if (row instanceof Promise) {
      row.then(() => this.list.schedule());
      return element("div", { class: "row loading", role: "treeitem", "aria-level": 1 }, "…");
    }
    const { node, level } = row;
    const siblings = row.size ?? this.doc.count;
    const made = element(
      "div",
      {
        class: [
          "row",
          node.outcome,
          node.failed && "failed",
          node.isAgain && "again",
          node.isUnclaimed && "unclaimed",
          index === this.active && "active",
        ]
          .filter(Boolean)
          .join(" "),
        id: `${this.prefix}-${index}`,
        role: "treeitem",
        "data-index": index,
        "aria-level": level,
        "aria-posinset": row.at,
        "aria-setsize": siblings,
        "aria-expanded": canOpen(node) ? Boolean(row.isOpen) : undefined,
        "aria-selected": index === this.active,
      },
      element(
        "span",
        { class: "toggle", "aria-hidden": "true" },
        canOpen(node) ? (row.isOpen ? "▾" : "▸") : "",
      ),
      element("span", { class: "name" }, node.name),
      element("span", { class: "text" }, node.text ?? ""),
      node.outcome ? element("span", { class: "badge" }, node.outcome) : "",
      node.failed ? element("span", { class: "badge bad" }, "invalid") : "",
    );
    made.style.setProperty("--level", level);
    return made;
  }

  async toggle(index, isOpen) {
    const row = await this.row(index);
    if (!canOpen(row.node) || Boolean(row.isOpen) === isOpen) return;
    if (isOpen) await this.open(row);
    else this.close(row);
    this.refresh();
  }

  async open(row) {
    if (row.isOpen || !canOpen(row.node)) return;
    row.children ??= row.node.open ? (await row.node.open()).nodes : row.node.children();
    if (row.isOpen) return;
    row.isOpen = true;
    const root = this.roots.get(row.number) ?? row;
    this.roots.set(row.number, root);
    const rows = row.children.map((node, at) => ({
      node,
      number: row.number,
      level: row.level + 1,
      at: at + 1,
      size: row.children.length,
      parent: row,
    }));
    const at = row.level === 1 ? 0 : root.below.indexOf(row) + 1;
    root.below = [...root.below.slice(0, at), ...rows, ...root.below.slice(at)];
    if (row.level === 1)
      this.opened = [...this.opened, row.number].sort((one, other) => one - other);
  }

  close(row) {
    row.isOpen = false;
    const root = this.roots.get(row.number);
    if (row.level === 1) {
      root.below = [];
      this.opened = this.opened.filter((number) => number !== row.number);
      return;
    }
    const from = root.below.indexOf(row) + 1;
    let to = from;
    while (to < root.below.length && root.below[to].level > row.level) to += 1;
    root.below.splice(from, to - from);
  }

  async select(index, { isQuiet = false } = {}) {
    if (!this.rowCount()) return;
    this.active = Math.min(Math.max(0, index), this.rowCount() - 1);
    const row = await this.row(this.active);
    this.list.reveal(this.active);
    this.container.setAttribute("aria-activedescendant", `${this.prefix}-${this.active}`);
    if (!isQuiet) this.onSelect(row.node, row);
  }

  // Opens the rows around a byte, and selects the smallest field that has it.
  async reveal(position, options) {
    const number = await this.doc.numberAt(position);
    if (number === null) return false;
    let row = await this.root(number);
    for (;;) {
      await this.open(row);
      const below = this.roots.get(row.number).below.filter((one) => one.parent === row);
      const inner = below.find(
        ({ node }) => !node.isAgain && position >= node.start && position < node.end,
      );
      if (!inner) break;
      row = inner;
    }
    this.list.setCount(this.rowCount());
    const at = row.level === 1 ? -1 : this.roots.get(row.number).below.indexOf(row);
    await this.select(this.indexOf(row.number, at), options);
    return true;
  }

  clicked(event) {
    const found = event.target.closest("[data-index]");
    if (!found) return;
    const index = Number(found.dataset.index);
    if (event.target.closest(".toggle") || event.detail === 2) {
      this.toggle(index, found.getAttribute("aria-expanded") === "false");
    }
    this.select(index);
  }

  // Keys of the tree pattern of the ARIA Authoring Practices.
  async pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = this.list.visibleRows - 1;
    const moves = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -this.active,
      End: this.rowCount() - 1 - this.active,
    };
    if (event.key in moves) {
      event.preventDefault();
      await this.select(this.active + moves[event.key]);
    } else if (event.key === "ArrowRight") {
      event.preventDefault();
      const row = await this.row(this.active);
      if (canOpen(row.node) && !row.isOpen) await this.toggle(this.active, true);
      else if (row.isOpen) await this.select(this.active + 1);
    } else if (event.key === "ArrowLeft") {
      event.preventDefault();
      const row = await this.row(this.active);
      if (row.isOpen) await this.toggle(this.active, false);
      else if (row.parent) {
        const { parent } = row;
        const at = parent.level === 1 ? -1 : this.roots.get(parent.number).below.indexOf(parent);
        await this.select(this.indexOf(parent.number, at));
      }
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      const row = await this.row(this.active);
      await this.toggle(this.active, !row.isOpen);
    }
  }
}

function canOpen(node) {
  return Boolean(node.open ?? node.children);
}
