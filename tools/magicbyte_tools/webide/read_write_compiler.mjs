// The npm package compiles in debug mode or for reading, and has no switch for read-write mode,
// which its Scala has. It is not minified, so the one line that chooses is swapped in memory.
import fs from "node:fs";
import Module from "node:module";

const READ = "new $c_Lio_kaitai_struct_RuntimeConfig((!debug), debug, false, true, false, ";
// autoRead, readStoresPos, opaqueTypes, zeroCopySubstream, readWrite
const READ_WRITE = "new $c_Lio_kaitai_struct_RuntimeConfig(false, false, false, false, true, ";

// Returns the compiler that `require` finds, in read-write mode.
export const readWriteCompiler = (require) => {
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
