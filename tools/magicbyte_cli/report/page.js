// Filters and sorts the rows of long tables. Without it, the page shows the same rows.
"use strict";
const MIN_ROWS = 20;
for (const table of document.querySelectorAll(".scroll > table")) {
  const body = table.tBodies[0];
  if (body.rows.length < MIN_ROWS) continue;
  const original = [...body.rows];
  const count = document.createElement("output");
  const filter = document.createElement("input");
  filter.type = "search";
  filter.placeholder = "Filter rows";
  filter.setAttribute("aria-label", "Filter rows: " + table.caption.textContent);
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of original) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = words.length ? shown + " of " + original.length : "";
  });
  const line = document.createElement("div");
  line.className = "filter";
  line.append(filter, count);
  table.parentElement.before(line);
  const heads = table.tHead.rows[0].cells;
  for (const head of heads) {
    if (!head.textContent.trim()) continue;
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const order = head.ariaSort === "descending" ? "ascending" : "descending";
      for (const other of heads) other.ariaSort = null;
      head.ariaSort = order;
      const sign = order === "ascending" ? 1 : -1;
      const key = (row) => {
        const cell = row.cells[head.cellIndex];
        const text = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT).nextNode()?.data ?? "";
        return /^-?[\d,]+(\.\d+)?( |$)/.test(text) ? parseFloat(text.replaceAll(",", "")) : text;
      };
      const compare = (one, two) =>
        typeof one === typeof two
          ? one < two ? -1 : one > two ? 1 : 0
          : typeof one === "number" ? 1 : -1;
      const keys = new Map(original.map((row) => [row, key(row)]));
      body.append(...[...original].sort((a, b) => sign * compare(keys.get(a), keys.get(b))));
    });
  }
}
