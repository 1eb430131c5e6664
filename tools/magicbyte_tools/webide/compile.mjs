// Usage: node compile.mjs FOLDER_WITH_NODE_MODULES debug|read-write FILE.ksy...
// Prints {"kafka_varint.py": "..."}: the compiler's Python for all files and what they import.
//
// The npm package compiles in debug mode or for reading, and has no switch for read-write mode,
// which its Scala has. It is not minified, so the one line that chooses is swapped in memory.
import fs from "node:fs";
import path from "node:path";
import Module, { createRequire } from "node:module";

const READ = "new $c_Lio_kaitai_struct_RuntimeConfig((!debug), debug, false, true, false, ";
// autoRead, readStoresPos, opaqueTypes, zeroCopySubstream, readWrite
const READ_WRITE = "new $c_Lio_kaitai_struct_RuntimeConfig(false, false, false, false, true, ";

const [modules, mode, ...files] = process.argv.slice(2);
const require = createRequire(path.resolve(modules, "_"));
const yaml = require("js-yaml");

const readWriteCompiler = () => {
  const file = require.resolve("kaitai-struct-compiler");
  const parts = fs.readFileSync(file, "utf8").split(READ);
  if (parts.length !== 2) {
    throw new Error(`${file} is not the build that read-write mode was made for`);
  }
  const module = new Module(file);
  module.filename = file;
  module._compile(parts.join(READ_WRITE), file);
  return module.exports;
};

const load = (file) =>
  yaml.load(fs.readFileSync(file, "utf8"), { schema: yaml.CORE_SCHEMA, filename: file });

const compiler = mode === "debug" ? require("kaitai-struct-compiler") : readWriteCompiler();
const output = {};
for (const file of files) {
  if (`${path.basename(file, ".ksy")}.py` in output) continue; // another one imports it
  const folder = path.dirname(file);
  const importer = { importYaml: async (name) => load(path.join(folder, `${name}.ksy`)) };
  Object.assign(output, await compiler.compile("python", load(file), importer, mode === "debug"));
}
process.stdout.write(JSON.stringify(output));
