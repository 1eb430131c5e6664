// Usage: node compile.mjs FOLDER_WITH_NODE_MODULES LANGUAGE,... FILE.ksy...
//        node compile.mjs FOLDER_WITH_NODE_MODULES --languages
// Prints {"kafka_varint": {"spec": {...}, "files": {"python": {"kafka_varint.py": "..."}}}, ...},
// or the names of all languages. The npm package has no command of its own.
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

const [modules, languages, ...files] = process.argv.slice(2);
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

const output = {};
for (const file of files) {
  const folder = path.dirname(file);
  try {
    const spec = load(file);
    const importer = { importYaml: async (name) => load(path.join(folder, `${name}.ksy`)) };
    const compiled = {};
    for (const language of languages.split(",")) {
      compiled[language] = await compiler.compile(language, spec, importer, false);
    }
    output[path.basename(file, ".ksy")] = { spec, files: compiled };
  } catch (error) {
    console.error(`${file}: ${explain(error)}`);
    process.exitCode = 1;
  }
}
if (!process.exitCode) {
  process.stdout.write(JSON.stringify(output));
}
