// Usage: node site.mjs FOLDER_WITH_NODE_MODULES SITE FOLDER_WITH_KSY CHROMIUM < JOBS
//
// Does in a local copy of the built Web IDE, at SITE, what a person does: drops the .ksy files and
// a file into the page, and clicks on the file and on its .ksy. Jobs and results are the classes
// Job and Opened of browser.py.
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { createRequire } from "node:module";

const [modules, site, folder, executablePath] = process.argv.slice(2);
const require = createRequire(path.resolve(modules, "_"));
const { chromium } = require("playwright-core");

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

// The site is static. Its 6.5 MB compiler is the npm package's file, which a copy may lack.
const server = http.createServer((request, response) => {
  const name = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
  const wanted = path.join(site, name.endsWith("/") ? `${name}index.html` : name);
  const compiler = name.endsWith("/kaitai-struct-compiler.js") && !fs.existsSync(wanted);
  fs.readFile(compiler ? require.resolve("kaitai-struct-compiler") : wanted, (error, data) => {
    const type = TYPES[path.extname(wanted)] ?? "application/octet-stream";
    response.writeHead(error ? 404 : 200, { "Content-Type": type });
    response.end(data);
  });
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${server.address().port}`;

// Drops *files*, [name, bytes as base64], into the page.
const drop = async (page, files) => {
  const dataTransfer = await page.evaluateHandle((files) => {
    const transfer = new DataTransfer();
    for (const [name, base64] of files) {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      transfer.items.add(new File([bytes], name));
    }
    return transfer;
  }, files);
  await page.dispatchEvent("body", "drop", { dataTransfer });
};

const specFiles = (edits) =>
  fs.readdirSync(folder)
    .filter((name) => name.endsWith(".ksy"))
    .map((name) => {
      let text = fs.readFileSync(path.join(folder, name), "utf8");
      for (const [id, before, after] of edits.filter(([id]) => `${id}.ksy` === name)) {
        if (!text.includes(before)) throw new Error(`${id}.ksy has no such text:\n${before}`);
        text = text.replace(before, after);
      }
      return [name, Buffer.from(text).toString("base64")];
    });

// Clicks on a file of the list on the left, and waits until what is open then is parsed.
const open = async (page, name, ready) => {
  await page.evaluate(() => {
    kaitaiIde.root = null;
    kaitaiIde.app.errors.hide();
  });
  await page.locator("#fileTree a.jstree-anchor").filter({ hasText: name }).last().click();
  await page.waitForFunction(
    ([ready, name]) => {
      const { inputFsItem, lastKsyFsItem } = kaitaiIde.app;
      const done = kaitaiIde.root || document.querySelector(".errorWindow");
      return done && (ready === "ksy" ? lastKsyFsItem : inputFsItem).fn.endsWith(name);
    },
    [ready, name],
  );
  return page.evaluate(() => document.querySelector(".errorWindow")?.innerText ?? null);
};

// Opens the tree's nodes and returns the labels of all that are to be seen.
const tree = async (page, labels) => {
  await page.waitForFunction(() => kaitaiIde.app.ui.parsedDataTreeHandler.jstree.get_json("#").length);
  return page.evaluate(async (labels) => {
    const { jstree } = kaitaiIde.app.ui.parsedDataTreeHandler;
    const text = (id) => {
      const element = document.createElement("div");
      element.innerHTML = jstree.get_node(id).text;
      return element.innerText;
    };
    let parent = "#";
    for (const label of labels) {
      parent = jstree.get_node(parent).children.find((id) => text(id).split(/[ [=]/)[0] === label);
      if (!parent) throw new Error(`the tree has no ${label}`);
      await new Promise((resolve) => jstree.open_node(parent, resolve, false));
    }
    return jstree.get_json("#", { flat: true }).map((node) => text(node.id));
  }, labels);
};

// What the button "export to JSON" gives, parsed without laziness.
const exported = (page) =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        const { layout } = kaitaiIde.app.ui;
        layout.addEditorTab = (_, text) => {
          delete layout.addEditorTab;
          resolve(JSON.parse(text));
        };
        kaitaiIde.app.vm.exportToJson(false);
      }),
  );

const run = async (browser, job) => {
  const [width, height] = job.size;
  const page = await browser.newPage({ viewport: { width, height } });
  // Nothing but the copy: the IDE reports its errors to another host.
  page.setDefaultTimeout(120_000);
  await page.route("**/*", (route) =>
    route.request().url().startsWith(origin) ? route.continue() : route.abort(),
  );
  await page.addInitScript((userTypes) => {
    localStorage.setItem("doNotShowWelcome", "true");
    localStorage.setItem("userTypes", userTypes);
  }, job.user_types);
  await page.goto(origin, { waitUntil: "load" });
  await page.waitForFunction(() => window.kaitaiIde?.root);

  const name = path.basename(job.file);
  await drop(page, [...specFiles(job.edits), [name, fs.readFileSync(job.file, "base64")]]);
  await page.locator("#fileTree a.jstree-anchor").filter({ hasText: name }).waitFor();
  // Until its .ksy is opened too, it is parsed with the one that was open before.
  await open(page, name, "input");
  const begun = Date.now();
  const error = await open(page, `${job.ksy}.ksy`, "ksy");
  const milliseconds = Date.now() - begun;
  const labels = await tree(page, job.open);
  if (job.select.length) {
    await page.evaluate(async (steps) => {
      const handler = kaitaiIde.app.ui.parsedDataTreeHandler;
      await handler.activatePath(steps);
      const [clicked] = handler.jstree.get_container().find(".jstree-clicked");
      clicked.scrollIntoView({ block: "center" });
    }, job.select);
  }
  const unparsed = await page.evaluate(() => kaitaiIde.app.vm.unparsed.length);
  if (job.picture) {
    await page.waitForTimeout(800); // the panes settle
    await page.screenshot({ path: job.picture });
  }
  const json = error ? null : await exported(page);
  await page.close();
  return { error, tree: labels, unparsed, json, milliseconds };
};

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  const results = [];
  for (const job of JSON.parse(fs.readFileSync(0, "utf8"))) results.push(await run(browser, job));
  process.stdout.write(JSON.stringify(results));
} finally {
  await browser.close();
  server.close();
}
