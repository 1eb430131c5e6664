// Usage: node open_page.mjs FOLDER_WITH_NODE_MODULES CHROMIUM PAGE WIDTH...
// Prints what a headless browser makes of a page of this machine, by width.
import path from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, executablePath, page, ...widths] = process.argv.slice(2);
const { chromium } = createRequire(path.resolve(modules, "_"))("playwright-core");
// A container's root has no user namespace for Chromium's sandbox, and no stranger's page is opened.
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  const found = [];
  for (const width of widths.map(Number)) {
    const tab = await browser.newPage({ viewport: { width, height: 900 }, offline: true });
    const asked = [];
    const said = [];
    tab.on("request", (request) => asked.push(request.url()));
    tab.on("console", (message) => said.push(message.text()));
    await tab.goto(pathToFileURL(page).href);
    const measures = await tab.evaluate(() => ({
      width: document.documentElement.scrollWidth,
      elements: document.querySelectorAll("*").length,
      last: document.querySelector("main > :last-child h2").textContent,
    }));
    const rows = await tab.evaluate(() => {
      const tables = [...document.querySelectorAll(".scroll > table")];
      const table = tables.find((one) => one.caption.textContent.startsWith("By partition"));
      if (!table) return null;
      const names = () => [...table.tBodies[0].rows].filter((row) => !row.hidden).map((row) => row.cells[0].textContent);
      const all = names();
      const size = [...table.tHead.rows[0].cells].findIndex((head) => head.textContent === "Size");
      const button = table.tHead.rows[0].cells[size].querySelector("button");
      button?.click();
      button?.click();
      const sorted = [...table.tBodies[0].rows].map((row) => row.cells[size].firstChild.data);
      const filter = table.parentElement.previousElementSibling?.querySelector("input");
      if (filter) filter.value = "topic-19-";
      filter?.dispatchEvent(new Event("input"));
      return { all, sorted, filtered: names().toSorted((a, b) => all.indexOf(a) - all.indexOf(b)) };
    });
    found.push({ ...measures, rows, asked: asked.length, said });
  }
  process.stdout.write(JSON.stringify(found));
} finally {
  await browser.close();
}
