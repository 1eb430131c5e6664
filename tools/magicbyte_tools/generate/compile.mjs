// Usage: node compile.mjs FOLDER_WITH_NODE_MODULES LANGUAGE,... [--debug] FILE.ksy...
//        node compile.mjs FOLDER_WITH_NODE_MODULES LANGUAGE,... --lines
//        node compile.mjs FOLDER_WITH_NODE_MODULES --languages
// Prints {"kafka_varint": {"spec": {...}, "files": {"python": {"kafka_varint.py": "..."}}}, ...},
// or the names of all languages. With --lines it reads the names of files as JSON, an array on each
// line, and answers each with such a line, or with {"error": "..."}: a compiler that is warm takes a
// tenth of the time. The npm package has no command of its own. With --debug the parsers keep where each
// field lies.
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { createRequire } from "node:module";

const [modules, languages, ...rest] = process.argv.slice(2);
const debug = rest[0] === "--debug";
const files = debug ? rest.slice(1) : rest;
const require = createRequire(path.resolve(modules, "_"));
const compiler = require("kaitai-struct-compiler");
const yaml = require("js-yaml");

if (languages === "--languages") {
  process.stdout.write(JSON.stringify(compiler.languages));
  process.exit(0);
}

const load = (file) =>
  yaml.load(fs.readFileSync(file, "utf8"), { schema: yaml.CORE_SCHEMA, filename: file });

// The compiler throws Scala objects; what went wrong hides in a mangled property.
const explain = (error) => {
  const key = Object.keys(error).find((name) => name.endsWith("Throwable__f_e"));
  return String((key && error[key]) || error);
};

const compiled = async (file) => {
  const spec = load(file);
  const folder = path.dirname(file);
  const importer = { importYaml: async (name) => load(path.join(folder, `${name}.ksy`)) };
  const files = {};
  for (const language of languages.split(",")) {
    files[language] = await compiler.compile(language, spec, importer, debug);
  }
  return { spec, files };
};

const all = async (files) => {
  const output = {};
  const errors = [];
  for (const file of files) {
    try {
      output[path.basename(file, ".ksy")] = await compiled(file);
    } catch (error) {
      errors.push(`${file}: ${explain(error)}`);
    }
  }
  return errors.length ? { error: errors.join("\n") } : output;
};

if (files[0] === "--lines") {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    process.stdout.write(JSON.stringify(await all(JSON.parse(line))) + "\n");
  }
} else {
  const output = await all(files);
  if (output.error) {
    console.error(output.error);
    process.exitCode = 1;
  } else {
    process.stdout.write(JSON.stringify(output));
  }
}
