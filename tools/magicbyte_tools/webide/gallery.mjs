// Usage: node gallery.mjs FOLDER_WITH_NODE_MODULES GALLERY log/NAME...
// Compiles the specifications for all targets as the gallery does, where an import "/log/name" is
// GALLERY's log/name.ksy: by way of one that imports them all, so that none is compiled twice.
// Like the gallery's build, it also compiles parsers that write (`ksc -w`), which Java and Python have.
// Prints {"python": {"files": 20, "writers": 0, "error": null}, "python-write": {"files": 0, "writers": 0, "error": "..."}, ...}:
// writers are the files with a method that writes.
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

import { readWriteCompiler } from "./read_write_compiler.mjs";

const [modules, gallery, ...names] = process.argv.slice(2);
const require = createRequire(path.resolve(modules, "_"));
const compiler = require("kaitai-struct-compiler");
const yaml = require("js-yaml");

const all = { meta: { id: "all", imports: names.map((name) => `/${name}`) } };
const importer = {
  importYaml: async (name) => {
    const file = path.join(gallery, `${name}.ksy`);
    return yaml.load(fs.readFileSync(file, "utf8"), { schema: yaml.CORE_SCHEMA, filename: file });
  },
};

const targets = compiler.languages.map((language) => [language, language, compiler]);
for (const language of ["java", "python"]) {
  targets.push([`${language}-write`, language, readWriteCompiler(require)]);
}
// As in `public void _write_Seq()` and `def _write__seq(self)`.
const WRITER = /_write_+[Ss]eq\(/;

const results = {};
for (const [target, language, chosen] of targets) {
  try {
    const files = await chosen.compile(language, structuredClone(all), importer, false);
    // One file is the specification that imports the others.
    const writers = Object.values(files).filter((text) => WRITER.test(text)).length;
    results[target] = {
      files: Object.keys(files).length - 1,
      writers: Math.max(writers - 1, 0),
      error: null,
    };
  } catch (error) {
    // The compiler throws Scala objects; what went wrong hides in a mangled property.
    const key = Object.keys(error).find((name) => name.endsWith("Throwable__f_e"));
    results[target] = { files: 0, writers: 0, error: String((key && error[key]) || error) };
  }
}
process.stdout.write(JSON.stringify(results));
