// Usage: node browser.mjs FOLDER_WITH_NODE_MODULES CHROMIUM PAGE < JOBS
// Opens PAGE in a headless browser and runs jobs in order: {"files": [[name, file], ...]} opens each file
// in the page and returns its findings and fields; {"large": file} measures one; any other job opens a file
// or page, does its actions, sets styles and returns what the page shows, or with "shrunk" a small picture of it.
// The action ["state", name] adds what the page shows at that moment to the result's "states".
// Results are printed as JSON.
import fs from "node:fs";
import path from "node:path";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";

const [modules, executablePath, page] = process.argv.slice(2);
const require = createRequire(path.resolve(modules, "_"));
const { chromium } = require("playwright-core");
const jobs = JSON.parse(fs.readFileSync(0, "utf8"));

// A container's root has no user namespace for Chromium's sandbox, and no stranger's page is opened.
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const messages = [];
const requests = [];

async function opened(job) {
  const tab = await browser.newPage({
    viewport: job.size ?? { width: 1440, height: 900 },
    colorScheme: job.scheme ?? "light",
  });
  tab.on("pageerror", (error) => messages.push(String(error)));
  tab.on("request", (request) => requests.push(request.url()));
  await tab.goto(`file://${job.page ?? page}${job.hash ?? ""}`);
  if (job.file) await tab.setInputFiles("#file", job.file);
  await tab.waitForFunction(
    () => document.getElementById("welcome").hidden === false || magicbyteViewer.progress().isDone,
  );
  await tab.waitForTimeout(job.wait ?? 100);
  return tab;
}

// The tree and the page as a screen reader has them.
const state = () => ({
  rows: [...document.querySelectorAll("#main [role=treeitem]")].map((row) => ({
    text: row.querySelector(".name")?.textContent,
    level: row.getAttribute("aria-level"),
    expanded: row.getAttribute("aria-expanded"),
    selected: row.getAttribute("aria-selected"),
    position: row.getAttribute("aria-posinset"),
    size: row.getAttribute("aria-setsize"),
    badge: row.querySelector(".badge")?.textContent ?? null,
  })),
  active: document.querySelector("#main [role=tree]").getAttribute("aria-activedescendant"),
  activeText:
    document
      .getElementById(
        document.querySelector("#main [role=tree]").getAttribute("aria-activedescendant"),
      )
      ?.querySelector(".name").textContent ?? null,
  details: document.querySelector("#main .details").innerText,
  marked: [...document.querySelectorAll("#main .bytes .selected")].map((byte) =>
    Number(byte.dataset.at),
  ),
  bad: [...document.querySelectorAll("#main .bytes .bad")].map((byte) => Number(byte.dataset.at)),
  unclaimed: [...document.querySelectorAll("#main .bytes .unclaimed")].map((byte) =>
    Number(byte.dataset.at),
  ),
  findings: [...document.querySelectorAll("#findings li")].map((item) => item.textContent),
  payload: document.getElementById("payload").hidden
    ? null
    : document.getElementById("payload").innerText,
  hash: location.hash,
  error: document.getElementById("error").hidden
    ? null
    : document.getElementById("error").textContent,
  note: document.getElementById("note").textContent,
  status: document.getElementById("status").textContent,
  overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
});

// What a picture of the page would show: the places of the two panes, and texts that are hard to read, each with
// its contrast to the background by WCAG 2.
const look = () => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  canvas.canvas.width = canvas.canvas.height = 1;
  // Colours may be written in any notation: the browser itself paints one over another.
  const painted = (colors) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const color of colors) {
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
    }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = (color) => {
    const [red, green, blue] = color.map((byte) => {
      const part = byte / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const faint = [];
  let count = 0;
  for (const element of document.body.querySelectorAll("*")) {
    const texts = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
    const text = texts.map((node) => node.data.trim()).join("");
    if (!text || !element.checkVisibility({ checkVisibilityCSS: true }) || element.matches(":disabled")) continue;
    const backgrounds = [];
    for (let one = element; one; one = one.parentElement)
      backgrounds.unshift(getComputedStyle(one).backgroundColor);
    const behind = ["white", ...backgrounds];
    const lights = [
      luminance(painted(behind)),
      luminance(painted([...behind, getComputedStyle(element).color])),
    ].sort((one, other) => other - one);
    const contrast = (lights[0] + 0.05) / (lights[1] + 0.05);
    count += 1;
    if (contrast < 4.5) faint.push([text.slice(0, 40), element.className, contrast.toFixed(2)]);
  }
  const place = (selector) => {
    const { left, right, width, height } = document.querySelector(selector).getBoundingClientRect();
    return { left, right, width, height };
  };
  return { faint, count, tree: place("#main [role=tree]"), bytes: place("#main .hex"), width: innerWidth };
};

// Memory of the largest renderer among the processes that this one has started.
function rendererBytes() {
  const lines = execFileSync("ps", ["-eo", "pid=,ppid=,rss=,args="], { encoding: "utf8" });
  const processes = lines.split("\n").map((line) => line.trim().split(/\s+/));
  const ours = new Set([String(process.pid)]);
  for (let size = 0; size < ours.size;) {
    size = ours.size;
    for (const [pid, parent] of processes) if (ours.has(parent)) ours.add(pid);
  }
  const renderers = processes.filter(
    ([pid, , , ...words]) => ours.has(pid) && words.includes("--type=renderer"),
  );
  return Math.max(0, ...renderers.map(([, , kibibytes]) => 1024 * Number(kibibytes)));
}

// Opens a large file: milliseconds until the first row is there, and after the scan the number of rows and
// the memory of the renderer, in bytes.
async function measured(job) {
  const tab = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await tab.goto(`file://${page}`);
  await tab.evaluate(() =>
    document
      .getElementById("file")
      .addEventListener("change", () => (window.chosen = performance.now()), true),
  );
  await tab.setInputFiles("#file", job.large);
  await tab.waitForFunction(() => document.querySelector("#main [role=treeitem] .name"));
  const milliseconds = await tab.evaluate(() => performance.now() - window.chosen);
  let memory = 0;
  for (;;) {
    const { isDone, count } = await tab.evaluate(() => magicbyteViewer.progress());
    memory = Math.max(memory, rendererBytes());
    if (isDone) return { milliseconds, count, memory };
    await tab.waitForTimeout(250);
  }
}

// Panes, bars and marks of the page without its texts, as a small grey picture: a pixel for CELL by CELL. And how far it
// is from a stored one: the largest mean difference, of 255, in a square of SIDE by SIDE such pixels. Another font moves
// lines by some pixels, which comes to little in such a square; a pane that moves does not.
const CELL = 8;
const SIDE = 16;

async function shrunkPicture(tab, stored) {
  await tab.evaluate(() => {
    for (const element of document.querySelectorAll("*")) {
      for (const property of ["color", "caret-color"])
        element.style.setProperty(property, "transparent", "important");
    }
  });
  const blank = await browser.newPage();
  try {
    return await blank.evaluate(
      async ([screenshot, stored, cell, side]) => {
        const decoded = async (base64, shrink) => {
          const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
          const image = await createImageBitmap(new Blob([bytes]));
          const size = [image.width / shrink, image.height / shrink].map(Math.floor);
          const canvas = new OffscreenCanvas(...size);
          const context = canvas.getContext("2d", { willReadFrequently: true });
          context.filter = "grayscale(1)";
          context.imageSmoothingQuality = "high";
          context.drawImage(image, 0, 0, ...size);
          const { data, width, height } = context.getImageData(0, 0, ...size);
          return { canvas, width, height, grey: data.filter((_, at) => at % 4 === 0) };
        };
        const now = await decoded(screenshot, cell);
        const png = await (await now.canvas.convertToBlob({ type: "image/png" })).arrayBuffer();
        const answer = { png: btoa(String.fromCharCode(...new Uint8Array(png))), difference: null };
        if (!stored) return answer;
        const before = await decoded(stored, 1);
        if (before.width !== now.width || before.height !== now.height)
          return { ...answer, difference: 255 };
        const meanIn = (left, top) => {
          let sum = 0;
          for (let at = 0; at < side * side; at += 1) {
            const pixel = (top + Math.floor(at / side)) * now.width + left + (at % side);
            sum += now.grey[pixel] - before.grey[pixel];
          }
          return Math.abs(sum) / (side * side);
        };
        for (let top = 0; top + side <= now.height; top += 1) {
          for (let left = 0; left + side <= now.width; left += 1)
            answer.difference = Math.max(answer.difference, meanIn(left, top));
        }
        return answer;
      },
      [(await tab.screenshot()).toString("base64"), stored, CELL, SIDE],
    );
  } finally {
    await blank.close();
  }
}

async function run(job) {
  if (job.large) return measured(job);
  const tab = await opened(job);
  try {
    if (job.files) {
      const found = [];
      for (const [name, file] of job.files) {
        found.push(
          await tab.evaluate(
            async ([name, base64, format]) => {
              const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
              const findings = await magicbyteViewer.open(name, bytes, format);
              return { findings, fields: await magicbyteViewer.fields() };
            },
            [name, fs.readFileSync(file, "base64"), job.format],
          ),
        );
      }
      return found;
    }
    const states = {};
    for (const [action, argument] of job.actions ?? []) {
      if (action === "state") states[argument] = await tab.evaluate(state);
      else if (action === "focus") await tab.focus(argument);
      else if (action === "press") await tab.keyboard.press(argument);
      else if (action === "click") await tab.click(argument);
      else if (action === "hash") await tab.evaluate((hash) => (location.hash = hash), argument);
      else if (action === "fetch") {
        await tab.evaluate(
          (url) =>
            fetch(url).then(
              () => "fetched",
              (error) => error.name,
            ),
          argument,
        );
      }
      await tab.waitForTimeout(60);
    }
    for (const style of job.styles ?? []) {
      await tab.evaluate(([selector, property, value]) => {
        for (const element of document.querySelectorAll(selector))
          element.style.setProperty(property, value, "important");
      }, style);
    }
    if (job.shrunk) return await shrunkPicture(tab, job.shrunk.stored);
    if (job.picture) await tab.screenshot({ path: job.picture });
    return { ...(await tab.evaluate(state)), look: await tab.evaluate(look), states };
  } finally {
    await tab.close();
  }
}

try {
  const results = [];
  for (const job of jobs) results.push(await run(job));
  process.stdout.write(JSON.stringify({ results, messages, requests }));
} finally {
  await browser.close();
}
