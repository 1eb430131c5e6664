// Usage: node cover.mjs FOLDER_WITH_NODE_MODULES FOLDER_WITH_KSY < [["kafka_log", "FILE"], ...]
// Prints a list with {"leaves": 12, "faults": [[start, end, times], ...]} or {"error": "..."} for
// each file, in order. What it runs is what page.mjs runs in a browser.
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";
import { createRequire } from "node:module";
import { scripts, specsIn } from "./engine.mjs";

const [modules, folder] = process.argv.slice(2);
const require = createRequire(path.resolve(modules, "_"));
for (const script of scripts(require)) {
  vm.runInThisContext(fs.readFileSync(script, "utf8"), { filename: script });
}
const specs = specsIn(folder, require("js-yaml"));

const classes = {};
const results = [];
for (const [id, file] of JSON.parse(fs.readFileSync(0, "utf8"))) {
  classes[id] ??= await compileForDebugging(specs, id);
  results.push(coverage(classes[id], new Uint8Array(fs.readFileSync(file)).buffer));
}
process.stdout.write(JSON.stringify(results));
