// What the Kaitai Web IDE does with a file, without its page: its compiler and its runtime, in
// debug mode. A classic script, so that the same text runs in a page and in Node's global scope;
// KaitaiStructCompiler and KaitaiStream are there before it.
"use strict";

// The specs by id, as js-yaml read them; of an absolute import the last step is the id.
// Returns the root's class; every generated module adds itself to the global scope.
async function compileForDebugging(specs, id) {
  const load = (name) => {
    const spec = specs[name.split("/").pop()];
    if (!spec) throw new Error(`no specification ${name}`);
    return JSON.parse(JSON.stringify(spec));
  };
  const importer = { importYaml: async (name) => load(name) };
  const files = await KaitaiStructCompiler.compile("javascript", load(id), importer, true);
  for (const source of Object.values(files)) (0, eval)(source);
  const name = id.replace(/(^|_)([a-z0-9])/g, (_, __, letter) => letter.toUpperCase());
  return globalThis[name][name];
}

// The leaves of a parsed object as [start, end], in absolute positions. Instances, whose keys
// begin with _m_, re-read bytes and claim none.
function* leavesOf(object) {
  for (const [key, span] of Object.entries(object._debug)) {
    if (key.startsWith("_")) continue;
    const values = span.arr ? object[key] : [object[key]];
    for (const [index, part] of (span.arr ?? [span]).entries()) {
      if (values[index]?._debug) yield* leavesOf(values[index]);
      else yield [part.ioOffset + part.start, part.ioOffset + part.end];
    }
  }
  // Bits claim their byte at once; so the rest of a byte is to be looked for here.
  const { bitsLeft } = object._io;
  if (bitsLeft) throw new Error(`${object.constructor.name}: ${bitsLeft} bits are no field's`);
}

// Which bytes of *buffer* the fields claim: {leaves, faults: [[start, end, times], ...]}, a fault
// being a stretch that is claimed not at all, or more than once; {error} where it is not sound.
function coverage(rootClass, buffer) {
  const root = new rootClass(new KaitaiStream(buffer));
  const times = new Uint8Array(buffer.byteLength);
  let leaves = 0;
  try {
    root._read();
    for (const [start, end] of leavesOf(root)) {
      leaves += 1;
      for (let position = start; position < end; position += 1) times[position] += 1;
    }
  } catch (error) {
    return { error: `${error.name}: ${error.message}` };
  }
  const faults = [];
  for (let start = 0, end; start < times.length; start = end) {
    for (end = start + 1; end < times.length && times[end] === times[start]; end += 1);
    if (times[start] !== 1) faults.push([start, end, times[start]]);
  }
  return { leaves, faults };
}
