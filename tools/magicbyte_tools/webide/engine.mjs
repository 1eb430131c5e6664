// The folder of specifications, as the Web IDE reads its files.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export function specsIn(folder, yaml) {
  const specs = {};
  for (const file of fs.readdirSync(folder).filter((name) => name.endsWith(".ksy"))) {
    const text = fs.readFileSync(path.join(folder, file), "utf8");
    specs[path.basename(file, ".ksy")] = yaml.load(text, { schema: yaml.CORE_SCHEMA });
  }
  return specs;
}

// What engine.js needs before it, and itself, in the order in which they are to be run.
export function scripts(require) {
  return [
    require.resolve("kaitai-struct-compiler"),
    require.resolve("kaitai-struct/KaitaiStream"),
    path.join(path.dirname(fileURLToPath(import.meta.url)), "engine.js"),
  ];
}
