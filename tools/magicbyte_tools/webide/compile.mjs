// Usage: node compile.mjs FOLDER_WITH_NODE_MODULES debug|read-write FILE.ksy...
// Prints {"kafka_varint.py": "..."}: the compiler's Python for all files and what they import.
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

import { readWriteCompiler } from "./read_write_compiler.mjs";

const [modules, mode, ...files] = process.argv.slice(2);
const require = createRequire(path.resolve(modules, "_"));
const yaml = require("js-yaml");

const load = (file) =>
  yaml.load(fs.readFileSync(file, "utf8"), { schema: yaml.CORE_SCHEMA, filename: file });

const compiler = mode === "debug" ? require("kaitai-struct-compiler") : readWriteCompiler(require);
const output = {};
for (const file of files) {
  if (`${path.basename(file, ".ksy")}.py` in output) continue; // another one imports it
  const folder = path.dirname(file);
  const importer = { importYaml: async (name) => load(path.join(folder, `${name}.ksy`)) };
  Object.assign(output, await compiler.compile("python", load(file), importer, mode === "debug"));
}
process.stdout.write(JSON.stringify(output));
