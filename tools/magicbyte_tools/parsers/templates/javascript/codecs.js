"use strict";

/**
 * Decompression of what Kafka's producers and brokers compress.
 *
 * `codecs` maps the number of a codec to a function of the compressed bytes, the magic of the entry and the most bytes
 * that the result may have; it returns the bytes or throws. Pass a copy of your own to `readLog` to use other
 * libraries.
 */

const zlib = require("node:zlib");
const fzstd = require("fzstd");
const lz4 = require("lz4js");
const snappy = require("snappyjs");

const { crc32 } = require("./checksums");

const view = (data) => new DataView(data.buffer, data.byteOffset, data.byteLength);

const GZIP_TRAILER_BYTES = 8;
const SMALLEST_MEMBER_BYTES = 19; // Java looks for another member in as many bytes

/**
 * Members that follow one another are one stream; other bytes behind a member are ignored. (Node's own gunzip refuses
 * the latter.)
 */
function gunzip(payload, magic, limit) {
  const members = [];
  let left = limit;
  let rest = payload;
  do {
    const deflated = rest.subarray(gzipHeaderBytes(rest));
    const { buffer, engine } = zlib.inflateRawSync(deflated, { maxOutputLength: left, info: true });
    const trailer = deflated.subarray(engine.bytesWritten);
    if (trailer.length < GZIP_TRAILER_BYTES) {
      throw new RangeError("gzip: the payload ends inside a member");
    }
    const numbers = view(trailer);
    if (
      numbers.getUint32(0, true) !== crc32(buffer) ||
      numbers.getUint32(4, true) !== buffer.length
    ) {
      throw new RangeError("gzip: wrong checksum or size");
    }
    members.push(buffer);
    left -= buffer.length;
    rest = trailer.subarray(GZIP_TRAILER_BYTES);
  } while (
    rest.length >= SMALLEST_MEMBER_BYTES &&
    rest[0] === 0x1f &&
    rest[1] === 0x8b &&
    rest[2] === 8
  );
  return Buffer.concat(members);
}

function gzipHeaderBytes(data) {
  if (data.length < 18 || data[0] !== 0x1f || data[1] !== 0x8b || data[2] !== 8) {
    throw new RangeError("gzip: this is not a gzip member");
  }
  const flags = data[3];
  let at = 10;
  if (flags & 4) at += 2 + view(data).getUint16(at, true);
  for (const flag of [8, 16]) {
    if (!(flags & flag)) continue; // a name or a comment, which ends with a zero
    at = data.indexOf(0, at) + 1;
    if (at === 0) throw new RangeError("gzip: the payload ends inside the header");
  }
  if (flags & 2) {
    if (
      at + 2 > data.length ||
      view(data).getUint16(at, true) !== (crc32(data.subarray(0, at)) & 0xffff)
    ) {
      throw new RangeError("gzip: wrong header checksum");
    }
    at += 2;
  }
  return at;
}

const XERIAL = Buffer.from("\x82SNAPPY\0", "latin1");
const isXerial = (data) => data.length >= 16 && XERIAL.equals(data.subarray(0, 8));

/** One raw block, or the chunks of xerial's snappy-java, which Java clients write. */
function unsnappy(payload, magic, limit) {
  if (!isXerial(payload)) {
    return snappyBlock(payload, limit);
  }
  const blocks = [];
  let left = limit;
  let rest = payload.subarray(16);
  while (rest.length >= 4) {
    if (isXerial(rest)) {
      if (view(rest).getInt32(8) < 1) {
        throw new RangeError("snappy: another stream of a version that does not exist");
      }
      rest = rest.subarray(16);
      continue;
    }
    const length = view(rest).getInt32(0);
    rest = rest.subarray(4);
    if (length < 0 || length > rest.length) {
      throw new RangeError(`snappy: a chunk of ${length} bytes; ${rest.length} are left`);
    }
    blocks.push(snappyBlock(rest.subarray(0, length), left));
    left -= blocks[blocks.length - 1].length;
    rest = rest.subarray(length);
  }
  if (rest.length > 0) {
    throw new RangeError("snappy: the payload ends inside the length of a chunk");
  }
  return Buffer.concat(blocks);
}

/** Compares the size that a block states with the limit and with what its bytes can hold, then decompresses. */
function snappyBlock(block, limit) {
  let size = 0;
  for (let at = 0; at < Math.min(5, block.length); at++) {
    size += (block[at] & 0x7f) * 2 ** (7 * at);
    if (block[at] < 0x80) break;
  }
  if (size > limit || size > 22 * block.length) {
    // three bytes stand for 64 at most
    throw new RangeError(
      `snappy: ${block.length} bytes that state ${size} decompressed; the limit is ${limit}`,
    );
  }
  return snappy.uncompress(new Uint8Array(block), size);
}

/**
 * The part of the LZ4 frame format that Kafka reads: one frame of independent blocks. Kafka wrote a wrong header
 * checksum into messages of magic 0 (KAFKA-3160), so it is not looked at there; size and checksum of the
 * content never are.
 */
function unlz4(payload, magic, limit) {
  const numbers = view(payload);
  if (payload.length < 7 || numbers.getUint32(0, true) !== 0x184d2204) {
    throw new RangeError("lz4: this is not an LZ4 frame");
  }
  const [flags, descriptor] = payload.subarray(4, 6);
  if ((flags & 0xe3) !== 0x60 || descriptor & 0x8f || descriptor >> 4 < 4) {
    throw new RangeError("lz4: a frame descriptor that Kafka does not read");
  }
  const most = 1 << (8 + 2 * (descriptor >> 4));
  const behind = flags & 0x10 ? 4 : 0;
  const header = flags & 0x08 ? 14 : 6;
  if (header >= payload.length) {
    throw new RangeError("lz4: the payload ends inside the header");
  }
  if (magic > 0 && payload[header] !== ((xxh32(payload.subarray(4, header)) >>> 8) & 0xff)) {
    throw new RangeError("lz4: wrong header checksum");
  }
  const blocks = [];
  let size = 0;
  for (let at = header + 1; payload.length - at >= 4;) {
    const word = numbers.getUint32(at, true);
    const length = word & 0x7fffffff;
    at += 4;
    if (length === 0) {
      if (flags & 0x04 && payload.length - at < 4) {
        throw new RangeError("lz4: the payload ends before the checksum of the content");
      }
      return Buffer.concat(blocks);
    }
    if (length > most || length + behind > payload.length - at) {
      throw new RangeError(`lz4: a block of ${length} bytes; ${payload.length - at} are left`);
    }
    let block = payload.subarray(at, at + length);
    at += length;
    if (behind && numbers.getUint32(at, true) !== xxh32(block)) {
      throw new RangeError("lz4: wrong block checksum");
    }
    at += behind;
    if (word < 0x80000000) {
      block = lz4Block(block, Math.min(most, 255 * length));
    }
    if (block.length === 0) return Buffer.concat(blocks); // Kafka takes an empty block for the end
    size += block.length;
    if (size > limit) {
      throw new RangeError(`lz4: more than ${limit} bytes decompressed, which is the limit`);
    }
    blocks.push(block);
  }
  throw new RangeError("lz4: the payload has no end mark");
}

/** lz4js checks nothing: a block that leaves its bounds is found before the library copies it. */
function lz4Block(block, most) {
  checkLz4Block(block, most);
  const output = Buffer.alloc(most);
  return output.subarray(0, lz4.decompressBlock(block, output, 0, block.length, 0));
}

function checkLz4Block(block, most) {
  let at = 0;
  let size = 0;
  const byte = () => {
    if (at >= block.length) throw new RangeError("lz4: a block that ends inside a sequence");
    return block[at++];
  };
  const length = (low) => {
    let total = low;
    for (let more = low === 15 ? 255 : 0; more === 255; total += more) more = byte();
    return total;
  };
  while (true) {
    const token = byte();
    const literals = length(token >> 4);
    at += literals;
    size += literals;
    if (at > block.length || size > most) throw new RangeError("lz4: literals beyond the block");
    if (at === block.length) return;
    const distance = byte() | (byte() << 8);
    if (distance === 0 || distance > size) throw new RangeError("lz4: a copy of what is not there");
    size += 4 + length(token & 15);
    if (size > most) throw new RangeError("lz4: a block that is larger than its frame allows");
  }
}

/** Frames that follow one another are one stream. (Node's own function reads the first, even if it has no end.) */
function unzstd(payload, magic, limit) {
  const contents = [];
  let left = limit;
  for (let at = 0; at < payload.length;) {
    const { end, isSkippable } = zstdFrame(payload, at);
    if (!isSkippable) {
      const content = decompressFrame(payload.subarray(at, end), left);
      contents.push(content);
      left -= content.length;
    }
    at = end;
  }
  return Buffer.concat(contents);
}

function decompressFrame(frame, limit) {
  if (zlib.zstdDecompressSync) {
    return zlib.zstdDecompressSync(frame, { maxOutputLength: limit }); // since Node 22.15
  }
  const blocks = [];
  let size = 0;
  const stream = new fzstd.Decompress((block) => {
    size += block.length;
    if (size > limit) {
      throw new RangeError(`zstd: more than ${limit} bytes decompressed, which is the limit`);
    }
    blocks.push(block.slice());
  });
  stream.push(frame, true);
  return Buffer.concat(blocks);
}

const LARGEST_WINDOW = 2 ** 27; // as in Kafka's library

/**
 * Finds the end of a zstd frame (RFC 8878, 3.1.1), and compares the window that it states with a limit: fzstd reads
 * one frame and reserves its window.
 */
function zstdFrame(payload, start) {
  const numbers = view(payload);
  const need = (end) => {
    if (end > payload.length) throw new RangeError("zstd: the payload ends inside a frame");
    return end;
  };
  need(start + 8);
  const frameMagic = numbers.getUint32(start, true);
  if ((frameMagic & 0xfffffff0) === 0x184d2a50) {
    return { end: need(start + 8 + numbers.getUint32(start + 4, true)), isSkippable: true };
  }
  if (frameMagic !== 0xfd2fb528) throw new RangeError("zstd: this is not a zstd frame");
  const descriptor = payload[start + 4];
  const isSingle = (descriptor & 0x20) !== 0;
  const sizeBytes = descriptor >> 6 ? 1 << (descriptor >> 6) : Number(isSingle);
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3];
  let at = start + 5;
  let window = isSingle ? 0 : 2 ** (10 + (payload[at] >> 3)) * (1 + (payload[at] & 7) / 8);
  at += (isSingle ? 0 : 1) + dictionaryBytes;
  need(at + sizeBytes + 3);
  if (isSingle) {
    for (let byte = sizeBytes - 1; byte >= 0; byte--) window = window * 256 + payload[at + byte];
  }
  if (window > LARGEST_WINDOW) throw new RangeError(`zstd: a window of ${window} bytes`);
  at += sizeBytes;
  for (let isLast = false; !isLast;) {
    need(at + 3);
    const header = payload[at] | (payload[at + 1] << 8) | (payload[at + 2] << 16);
    isLast = (header & 1) !== 0;
    at = need(at + 3 + (((header >> 1) & 3) === 1 ? 1 : header >> 3));
  }
  return { end: need(at + (descriptor & 4 ? 4 : 0)), isSkippable: false };
}

const rotate = (value, bits) => (value << bits) | (value >>> (32 - bits));

/** The xxHash of 32 bits, with the seed 0, that LZ4 frames have as checksums. */
function xxh32(data) {
  const [p1, p2, p3, p4, p5] = [2654435761, 2246822519, 3266489917, 668265263, 374761393];
  const numbers = view(data);
  let at = 0;
  let value = p5;
  if (data.length >= 16) {
    const lanes = [p1 + p2, p2, 0, -p1];
    for (; at + 16 <= data.length; at += 16) {
      for (let lane = 0; lane < 4; lane++) {
        const mixed = lanes[lane] + Math.imul(numbers.getUint32(at + 4 * lane, true), p2);
        lanes[lane] = Math.imul(rotate(mixed | 0, 13), p1);
      }
    }
    value = [1, 7, 12, 18].reduce((sum, bits, lane) => sum + rotate(lanes[lane], bits), 0);
  }
  value = (value + data.length) | 0;
  for (; at + 4 <= data.length; at += 4) {
    value = Math.imul(rotate((value + Math.imul(numbers.getUint32(at, true), p3)) | 0, 17), p4);
  }
  for (; at < data.length; at++) {
    value = Math.imul(rotate((value + Math.imul(data[at], p5)) | 0, 11), p1);
  }
  value = Math.imul(value ^ (value >>> 15), p2);
  value = Math.imul(value ^ (value >>> 13), p3);
  return (value ^ (value >>> 16)) >>> 0;
}

module.exports = { codecs: { 1: gunzip, 2: unsnappy, 3: unlz4, 4: unzstd } };
