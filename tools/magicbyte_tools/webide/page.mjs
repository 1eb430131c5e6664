// Usage: node page.mjs FOLDER_WITH_NODE_MODULES FOLDER_WITH_KSY CHROMIUM < [["kafka_log", "FILE"]]
// Prints what cover.mjs prints, worked out in a blank page of a headless browser.
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";
import { scripts, specsIn } from "./engine.mjs";

const [modules, folder, executablePath] = process.argv.slice(2);
const require = createRequire(path.resolve(modules, "_"));
const { chromium } = require("playwright-core");

const jobs = JSON.parse(fs.readFileSync(0, "utf8"));
// A container's root has no user namespace for Chromium's sandbox, and no stranger's page is opened.
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  const page = await browser.newPage();
  await page.setContent("<!doctype html><title>engine</title>");
  for (const script of scripts(require)) await page.addScriptTag({ path: script });
  const results = await page.evaluate(
    async ({ specs, files }) => {
      const classes = {};
      const found = [];
      for (const [id, base64] of files) {
        classes[id] ??= await compileForDebugging(specs, id);
        const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
        found.push(coverage(classes[id], bytes.buffer));
      }
      return found;
    },
    {
      specs: specsIn(folder, require("js-yaml")),
      files: jobs.map(([id, file]) => [id, fs.readFileSync(file, "base64")]),
    },
  );
  process.stdout.write(JSON.stringify(results));
} finally {
  await browser.close();
}
