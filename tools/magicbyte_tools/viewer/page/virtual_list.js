// A list of any number of rows, of which only those in sight are elements. Browsers cut elements that
// are higher than some ten million pixels, so a longer list is scrolled by its share, not by pixels.

const MAX_HEIGHT = 6_000_000;
const OVERSCAN = 6;

class VirtualList {
  constructor(container, rowHeight, render) {
    Object.assign(this, { container, rowHeight, renderRow: render, count: 0, firstRow: 0 });
    this.spacer = element("div", { class: "spacer", role: "presentation" });
    this.rows = element("div", { class: "rows", role: "presentation" });
    container.replaceChildren(this.spacer, this.rows);
    container.addEventListener("scroll", () => this.scrolled());
    container.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
    new ResizeObserver(() => this.render()).observe(container);
  }

  setCount(count) {
    if (count === this.count) return;
    this.count = count;
    this.firstRow = Math.min(this.firstRow, Math.max(0, count - 1));
    this.spacer.style.height = `${Math.min(count * this.rowHeight, MAX_HEIGHT)}px`;
    this.render();
  }

  get isScaled() {
    return this.count * this.rowHeight > MAX_HEIGHT;
  }

  get visibleRows() {
    return Math.max(1, Math.floor(this.container.clientHeight / this.rowHeight));
  }

  scrolled() {
    const { scrollTop, clientHeight } = this.container;
    if (!this.isScaled) this.firstRow = scrollTop / this.rowHeight;
    else if (Math.abs(scrollTop - this.expectedTop) > 1) {
      this.firstRow =
        (scrollTop / (MAX_HEIGHT - clientHeight)) * Math.max(0, this.count - this.visibleRows);
    }
    this.schedule();
  }

  wheeled(event) {
    if (!this.isScaled || event.ctrlKey) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? event.deltaY : event.deltaY / this.rowHeight;
    this.scrollTo(this.firstRow + lines);
  }

  scrollTo(row) {
    const last = Math.max(0, this.count - this.visibleRows);
    this.firstRow = Math.min(Math.max(0, row), last);
    const top = this.isScaled
      ? (this.firstRow / Math.max(1, last)) * (MAX_HEIGHT - this.container.clientHeight)
      : this.firstRow * this.rowHeight;
    this.expectedTop = top;
    this.container.scrollTop = top;
    this.render();
  }

  reveal(row) {
    const visible = this.visibleRows;
    if (row < this.firstRow) this.scrollTo(row - Math.min(2, visible - 1));
    else if (row > this.firstRow + visible - 1) this.scrollTo(row - visible + Math.min(3, visible));
    else this.render();
  }

  schedule() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.render();
    });
  }

  render() {
    const first = Math.max(0, Math.floor(this.firstRow) - OVERSCAN);
    const last = Math.min(this.count, Math.ceil(this.firstRow) + this.visibleRows + OVERSCAN);
    this.onRange?.(first, last);
    const elements = [];
    const origin = this.isScaled ? this.container.scrollTop - this.firstRow * this.rowHeight : 0;
    for (let row = first; row < last; row += 1) {
      const made = this.renderRow(row);
      made.style.transform = `translateY(${origin + row * this.rowHeight}px)`;
      elements.push(made);
    }
    this.rows.replaceChildren(...elements);
  }
}
