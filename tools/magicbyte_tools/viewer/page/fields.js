// Fields of a parsed structure as nodes: name, bytes, value, and the specification's sentence.
//
// The parsers are those of Kaitai's compiler in debug mode, which keep where each field lies. A field
// at which a parser stopped is a node too, with `failed`.

const MAX_TEXT = 120; // characters of a value that a row shows

// Gives every class of the parsers its part of the specification.
function attachSpecifications(structures, parsers) {
  for (const [path, structure] of Object.entries(structures)) {
    const found = path.split(".").reduce((around, name) => around?.[name], parsers);
    if (!found) throw new Error(`no parser for ${path}`);
    found.structure = structure;
  }
}

// The nodes of the fields of *object*, whose stream begins at byte *base* of the file.
function fieldNodes(object, base) {
  const nodes = [];
  let numBits = 0;
  for (const field of object.constructor.structure.seq) {
    const span = object._debug[field.js];
    if (field.bits) numBits += field.bits;
    if (!span) continue; // its condition is false, or the parser did not come so far
    const node = fieldNode(object, field, span, base, numBits);
    if (node) nodes.push(node);
  }
  for (const instance of object.constructor.structure.instances) {
    const node = instanceNode(object, instance, base);
    if (node) nodes.push(node);
  }
  return nodes;
}

function fieldNode(object, field, span, base, numBits) {
  const value = object[field.js];
  const failed = span.end === undefined || Boolean(span.validationError);
  const offset = base + span.ioOffset;
  const start = offset + span.start;
  const end = span.end === undefined ? offset + endOf(object, span) : offset + span.end;
  const node = { name: field.id, field, start, end, failed };
  if (field.bits) return bitNode(node, object, value, numBits, base);
  if (Array.isArray(value)) {
    node.text = `${value.length.toLocaleString("en")} ${value.length === 1 ? "element" : "elements"}`;
    node.children = () =>
      value.map((element, at) => elementNode(field, element, span.arr[at], at, base, object));
    return node;
  }
  return withValue(node, object, value, base);
}

// End of a field at which the parser stopped: the position of its stream, or the end of its bytes.
function endOf(object, span) {
  const inner = Object.values(object).find((value) => value?._debug && value._io === object._io);
  return Math.max(span.start, inner ? inner._io.pos : object._io.size);
}

function elementNode(field, element, span, at, base, object) {
  const offset = base + (span?.ioOffset ?? 0);
  const start = offset + (span?.start ?? 0);
  const end = offset + (span?.end ?? object._io.size);
  const name = `${field.id}[${at}]`;
  return withValue(
    { name, field, start, end, failed: span?.end === undefined, isElement: true },
    object,
    element,
    base,
  );
}

// A field of bits has no bytes of its own in the parser: its byte counts from the structure's start.
function bitNode(node, object, value, numBits, base) {
  const { field } = node;
  const first = numBits - field.bits;
  const { start, ioOffset } = object._debug[object.constructor.structure.seq[0].js];
  node.start = base + ioOffset + start + Math.floor(first / 8);
  node.end = base + ioOffset + start + Math.ceil(numBits / 8);
  node.bits = field.bits === 1 ? `bit ${7 - (first % 8)}` : `${field.bits} bits`;
  node.text = field.enum ? enumText(field.enum, Number(value)) : String(value);
  return node;
}

function withValue(node, object, value, base) {
  if (value?._debug) return structureNode(node, value, base);
  const { field } = node;
  if (value instanceof Uint8Array) {
    node.bytes = value;
    node.text = bytesText(value);
  } else if (value === undefined) {
    node.text = "";
  } else if (field.type === "s8" || field.type === "u8") {
    node.text = String(int64At(object._io, object._debug[field.js].start, field.type === "u8"));
  } else {
    node.text = field.enum ? enumText(field.enum, Number(value)) : String(value);
  }
  return node;
}

// The fields of a structure have positions in the same bytes as those of the structure around it.
function structureNode(node, object, base) {
  const { structure } = object.constructor;
  node.structure = structure;
  if (structure.primitive && !node.failed) {
    node.text = String(primitiveValue(object, structure.primitive));
    return node;
  }
  node.text = structure.label ? labelOf(structure.label, object) : "";
  node.children = () => fieldNodes(object, base);
  return node;
}

// A structure in one line, such as "+{relative_offset:dec} -> {ofs_batch:dec}" says.
function labelOf(label, object) {
  return label.replace(/\{([a-z_.]+)(?::\w+)?\}/g, (_, path) => {
    let value = object;
    for (const name of path.split(".")) value = value?.[lowerCamel(name)];
    if (value instanceof Uint8Array) return bytesText(value, 40);
    if (value?._debug) return value.value ?? "";
    return value ?? "";
  });
}

function lowerCamel(name) {
  return name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());
}

// A structure that reads bytes of other fields again, such as the control record in a record.
function instanceNode(object, instance, base) {
  let value;
  try {
    value = object[instance.js];
  } catch (error) {
    return {
      name: instance.id,
      field: instance,
      start: base,
      end: base,
      failed: true,
      text: error.message,
      isAgain: true,
    };
  }
  const span = object._debug[`_m_${instance.js}`];
  if (!value?._debug || span?.end === undefined) return null;
  const offset = base + span.ioOffset;
  const node = {
    name: instance.id,
    field: instance,
    start: offset + span.start,
    end: offset + span.end,
    isAgain: true,
  };
  return structureNode(node, value, base);
}

function enumText(name, number) {
  const member = SPECIFICATION.enums[name]?.[number];
  return member ? `${number} (${member[0]})` : String(number);
}

// A 64-bit integer in full: JavaScript's numbers are exact up to 2^53 only.
function int64At(stream, at, isUnsigned) {
  const view = stream._dataView;
  return isUnsigned ? view.getBigUint64(at) : view.getBigInt64(at);
}

function primitiveValue(object, primitive) {
  const groups = [...object.groups];
  if (object.lastGroup !== undefined) groups.push(object.lastGroup);
  let value = 0n;
  groups.forEach((group, at) => (value |= BigInt(group & 0x7f) << BigInt(7 * at)));
  value = BigInt.asUintN(primitive.bits, value);
  if (primitive.encoding === "zigzag") value = (value >> 1n) ^ -(value & 1n);
  return value;
}

const STRICT_UTF8 = new TextDecoder("utf-8", { fatal: true });

// Bytes as text where they are text, else in hexadecimal; shortened.
function bytesText(bytes, most = MAX_TEXT) {
  const length = `${bytes.length.toLocaleString("en")} ${bytes.length === 1 ? "byte" : "bytes"}`;
  if (!bytes.length) return "empty";
  const shown = bytes.subarray(0, most);
  const text = utf8Of(shown, bytes.length > most);
  if (text !== null) return `"${text}"${bytes.length > most ? `… (${length})` : ""}`;
  const hex = Array.from(bytes.subarray(0, most / 4), hexByte).join(" ");
  return bytes.length > most / 4 ? `${hex} … (${length})` : hex;
}

// The text of *bytes*; null where they are not printable UTF-8. A character may be cut at the end.
function utf8Of(bytes, mayBeCut) {
  for (let cut = 0; cut < (mayBeCut ? 4 : 1); cut += 1) {
    try {
      const text = STRICT_UTF8.decode(bytes.subarray(0, bytes.length - cut));
      return /[\p{Cc}\p{Cn}\p{Co}]/u.test(text.replace(/[\t\n\r]/g, ""))
        ? null
        : text.replace(/[\t\n\r]/g, " ");
    } catch {
      continue;
    }
  }
  return null;
}

function hexByte(byte) {
  return byte.toString(16).padStart(2, "0");
}
