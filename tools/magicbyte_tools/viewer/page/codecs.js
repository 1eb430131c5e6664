// Kafka's codecs. The output is bounded: what would exceed it is refused before it is held.

const MAX_PAYLOAD_BYTES = 64 * 1024 * 1024;
const XERIAL_MAGIC = [0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00];
const LZ4_MAGIC = 0x184d2204;
const ZSTD_MAGIC = 0xfd2fb528;
const ZSTD_SKIPPABLE_MAGIC = 0x184d2a50; // the lowest four bits are the user's

class CodecError extends Error {
  constructor(message, code = "codec-error") {
    super(message);
    this.code = code;
  }
}

// Collects chunks of output up to the limit.
class BoundedOutput {
  constructor(limit) {
    Object.assign(this, { limit, chunks: [], length: 0 });
  }

  add(chunk) {
    if (!chunk?.length) return;
    this.length += chunk.length;
    if (this.length > this.limit) throw overLimit(this.limit);
    this.chunks.push(chunk);
  }

  bytes() {
    const bytes = new Uint8Array(this.length);
    let at = 0;
    for (const chunk of this.chunks) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    return bytes;
  }
}

function overLimit(limit) {
  return new CodecError(
    `the payload is larger than ${limit.toLocaleString("en")} bytes, this page's limit`,
    "batch-over-limit",
  );
}

// The payload that codec *number* makes of *bytes* in an entry of format *magic*.
function decompress(number, bytes, magic = 2, limit = MAX_PAYLOAD_BYTES) {
  const codec = [null, gunzip, unsnappy, unlz4, unzstd][number];
  if (!codec) throw new CodecError(`codec ${number} does not exist`, "unknown-codec");
  if (number === 4 && magic < 2)
    throw new CodecError(`zstd in v${magic}, which Kafka refuses`, "codec-not-allowed");
  try {
    return codec(bytes, limit, magic);
  } catch (error) {
    throw error instanceof CodecError ? error : new CodecError(String(error.message ?? error));
  }
}

// Several members are one stream, and bytes after them that are no member are ignored, as by Java's
// GZIPInputStream.
function gunzip(bytes, limit) {
  const output = new BoundedOutput(limit);
  let member = { crc: 0, length: 0 };
  let isFinal = false;
  const checkTrailer = (end) => {
    const view = viewOf(bytes);
    if (end < 18 || view.getUint32(end - 8, true) !== member.crc)
      throw new CodecError("the gzip stream has another CRC-32");
    if (view.getUint32(end - 4, true) !== member.length % 2 ** 32)
      throw new CodecError("the gzip stream has another length");
  };
  const stream = new fflate.Gunzip((chunk, last) => {
    output.add(chunk);
    member.crc = crc(CRC32_TABLES, chunk, 0, chunk.length, member.crc);
    member.length += chunk.length;
    isFinal ||= last;
  });
  stream.onmember = (offset) => {
    if (offset === 0) return;
    checkTrailer(offset);
    member = { crc: 0, length: 0 };
  };
  const step = 16 * 1024; // the library inflates a whole step before it hands anything out
  for (let at = 0; at < bytes.length || at === 0; at += step) {
    try {
      stream.push(bytes.subarray(at, at + step), at + step >= bytes.length);
    } catch (error) {
      if (error.message !== "invalid gzip data" || !output.length) throw error;
      return output.bytes(); // the member ended before
    }
  }
  if (!isFinal) throw new CodecError("the gzip stream ends early");
  checkTrailer(bytes.length);
  return output.bytes();
}

// Frame by frame, since the library compares neither the size nor the checksum that a frame states.
function unzstd(bytes, limit) {
  const output = new BoundedOutput(limit);
  for (let at = 0; at < bytes.length; ) {
    const frame = zstdFrame(bytes, at);
    if (frame.contentBytes !== null && output.length + frame.contentBytes > limit)
      throw overLimit(limit);
    const content = new BoundedOutput(limit - output.length);
    const stream = new fzstd.Decompress((chunk) => content.add(chunk.slice()));
    stream.push(bytes.subarray(at, frame.end), true);
    if (!frame.isSkippable) checkZstdFrame(frame, content.bytes());
    output.add(content.bytes());
    at = frame.end;
  }
  return output.bytes();
}

function checkZstdFrame(frame, content) {
  if (frame.contentBytes !== null && frame.contentBytes !== content.length)
    throw new CodecError(
      `a zstd frame of ${content.length} bytes that states ${frame.contentBytes}`,
    );
  if (frame.checksum !== null && frame.checksum !== Number(xxh64(content) & 0xffffffffn))
    throw new CodecError("the zstd frame's checksum is wrong");
}

// What the zstd frame at *at* states (RFC 8878), and where it ends.
function zstdFrame(bytes, at) {
  const view = viewOf(bytes);
  const end = (from, size) => {
    if (from + size > bytes.length) throw new CodecError("the zstd frame ends early");
    return from + size;
  };
  end(at, 5);
  const magic = view.getUint32(at, true);
  if (magic >>> 4 === ZSTD_SKIPPABLE_MAGIC >>> 4)
    return { isSkippable: true, contentBytes: null, end: end(end(at, 8), view.getUint32(at + 4, true)) };
  if (magic !== ZSTD_MAGIC) throw new CodecError("no zstd frame");
  const descriptor = bytes[at + 4];
  const isSingleSegment = Boolean(descriptor & 0x20);
  let position = at + 5 + (isSingleSegment ? 0 : 1) + [0, 1, 2, 4][descriptor & 3];
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6];
  const fieldAt = position;
  position = end(position, sizeBytes);
  const contentBytes = [
    () => null,
    () => bytes[fieldAt],
    () => view.getUint16(fieldAt, true) + 256,
    () => view.getUint32(fieldAt, true),
    () => Number(view.getBigUint64(fieldAt, true)),
  ][[0, 1, 2, 4, 8].indexOf(sizeBytes)]();
  for (let isLast = false; !isLast; ) {
    end(position, 3);
    const header = bytes[position] | (bytes[position + 1] << 8) | (bytes[position + 2] << 16);
    isLast = Boolean(header & 1);
    const isRun = ((header >> 1) & 3) === 1;
    position = end(position + 3, isRun ? 1 : header >> 3);
  }
  const hasChecksum = Boolean(descriptor & 4);
  const checksum = hasChecksum ? view.getUint32(end(position, 4) - 4, true) : null;
  return { isSkippable: false, contentBytes, checksum, end: position + (hasChecksum ? 4 : 0) };
}

// One raw block, or blocks in the framing of xerial's snappy-java.
function unsnappy(bytes, limit) {
  if (!XERIAL_MAGIC.every((byte, at) => bytes[at] === byte)) return snappyBlock(bytes, limit);
  const output = new BoundedOutput(limit);
  const view = viewOf(bytes);
  let at = xerialHeader(bytes, 0);
  while (at < bytes.length) {
    if (at + 4 > bytes.length) throw new CodecError("a snappy block's length is cut off");
    const size = view.getInt32(at);
    if (size === view.getInt32(0)) {
      at = xerialHeader(bytes, at); // another stream begins
      continue;
    }
    at += 4;
    if (size < 0 || at + size > bytes.length)
      throw new CodecError(`a snappy block of ${size} bytes`);
    output.add(snappyBlock(bytes.subarray(at, at + size), limit - output.length));
    at += size;
  }
  return output.bytes();
}

// Checks the header of a stream of xerial's snappy-java; returns where it ends.
function xerialHeader(bytes, at) {
  if (
    at + 16 > bytes.length ||
    !XERIAL_MAGIC.every((byte, number) => bytes[at + number] === byte)
  ) {
    throw new CodecError("a header of snappy-java that is invalid");
  }
  const version = viewOf(bytes).getInt32(at + 8);
  if (version < 1) throw new CodecError(`a header of snappy-java with version ${version}`);
  return at + 16;
}

function snappyBlock(bytes, limit) {
  const block = new snappy.SnappyDecompressor(bytes);
  const size = block.readUncompressedLength();
  if (size < 0) throw new CodecError("a snappy block without its length");
  if (size > limit) throw overLimit(limit);
  const made = snappyOutputSize(bytes, block.pos);
  if (made !== size) throw new CodecError(`a snappy block of ${made} bytes that states ${size}`);
  const output = new Uint8Array(size);
  if (!block.uncompressToBuffer(output)) throw new CodecError("an invalid snappy block");
  return output;
}

// Bytes that the elements of a snappy block come to, which the library does not compare.
function snappyOutputSize(bytes, at) {
  let size = 0;
  while (at < bytes.length) {
    const tag = bytes[at++];
    const kind = tag & 3;
    let length = kind === 1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1;
    if (kind === 0 && length > 60) {
      const numBytes = length - 60;
      length = 1;
      for (let byte = 0; byte < numBytes; byte += 1) length += bytes[at + byte] * 256 ** byte;
      at += numBytes;
    }
    at += kind === 0 ? length : [0, 1, 2, 4][kind];
    size += length;
  }
  return size;
}

// An LZ4 frame, as Kafka reads it: of independent blocks, with the right header checksum, which in v0
// covers other bytes than in the standard (KAFKA-3160) and is not looked at.
function lz4Header(bytes, magic) {
  if (bytes.length < 7 || viewOf(bytes).getUint32(0, true) !== LZ4_MAGIC)
    throw new CodecError("no LZ4 frame");
  const flags = bytes[4];
  const descriptor = bytes[5];
  if (flags >> 6 !== 1) throw new CodecError(`LZ4 frame of version ${flags >> 6}`);
  if (flags & 0x03 || descriptor & 0x8f)
    throw new CodecError("a bit is set in the LZ4 frame's header that Kafka refuses");
  if (!(flags & 0x20))
    throw new CodecError("an LZ4 frame of linked blocks, which Kafka does not read");
  const sizeCode = descriptor >> 4;
  if (sizeCode < 4) throw new CodecError(`LZ4 block size ${sizeCode}; 4 to 7 are known`);
  const end = 6 + (flags & 0x08 ? 8 : 0);
  if (magic > 0 && ((xxh32(bytes.subarray(4, end)) >>> 8) & 255) !== bytes[end])
    throw new CodecError("the LZ4 frame's header checksum is wrong");
  return {
    at: end + 1,
    blockBytes: 1 << (8 + 2 * sizeCode),
    hasBlockChecksum: Boolean(flags & 0x10),
    hasContentChecksum: Boolean(flags & 0x04),
  };
}

function unlz4(bytes, limit, magic) {
  const header = lz4Header(bytes, magic);
  const view = viewOf(bytes);
  const output = new BoundedOutput(limit);
  const block = new Uint8Array(header.blockBytes);
  for (let { at } = header; ;) {
    if (at + 4 > bytes.length) throw new CodecError("the LZ4 frame ends early");
    const word = view.getUint32(at, true);
    const size = word & 0x7fffffff;
    at += 4;
    if (size === 0) {
      if (header.hasContentChecksum && at + 4 > bytes.length)
        throw new CodecError("the LZ4 frame's checksum is missing");
      return output.bytes();
    }
    if (size > header.blockBytes || at + size > bytes.length)
      throw new CodecError(`an LZ4 block of ${size} bytes`);
    const data = bytes.subarray(at, at + size);
    const numBytes = word >>> 31 ? size : lz4Block(data, block);
    // Kafka's stream has no more for its readers once a block is empty (since 3.9).
    if (numBytes === 0) return output.bytes();
    output.add(word >>> 31 ? data.slice() : block.slice(0, numBytes));
    at += size;
    if (header.hasBlockChecksum) {
      if (at + 4 > bytes.length || view.getUint32(at, true) !== xxh32(data))
        throw new CodecError("an LZ4 block's checksum is wrong");
      at += 4;
    }
  }
}

// Decompresses a block to *output*; returns how many bytes it has.
function lz4Block(bytes, output) {
  let at = 0;
  let to = 0;
  const longLength = (nibble) => {
    let length = nibble;
    for (let byte = 255; nibble === 15 && byte === 255 && at < bytes.length;) {
      byte = bytes[at++];
      length += byte;
    }
    return length;
  };
  while (at < bytes.length) {
    const token = bytes[at++];
    const numLiterals = longLength(token >> 4);
    if (at + numLiterals > bytes.length || to + numLiterals > output.length)
      throw new CodecError("an invalid LZ4 block");
    output.set(bytes.subarray(at, at + numLiterals), to);
    at += numLiterals;
    to += numLiterals;
    if (at >= bytes.length) return to; // the last sequence has no match
    const distance = bytes[at] | (bytes[at + 1] << 8);
    at += 2;
    const length = longLength(token & 15) + 4;
    if (at > bytes.length || distance === 0 || distance > to || to + length > output.length)
      throw new CodecError("an invalid LZ4 block");
    for (let copied = 0; copied < length; copied += 1, to += 1) output[to] = output[to - distance];
  }
  return to;
}

function viewOf(bytes) {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
