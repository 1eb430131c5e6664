// CRC-32C of batches and producer snapshots, CRC-32 of messages; eight bytes at a time.

function crcTables(polynomial) {
  const tables = Array.from({ length: 8 }, () => new Uint32Array(256));
  for (let byte = 0; byte < 256; byte += 1) {
    let value = byte;
    for (let bit = 0; bit < 8; bit += 1)
      value = value & 1 ? (value >>> 1) ^ polynomial : value >>> 1;
    tables[0][byte] = value >>> 0;
  }
  for (let byte = 0; byte < 256; byte += 1) {
    for (let level = 1; level < 8; level += 1) {
      const before = tables[level - 1][byte];
      tables[level][byte] = (before >>> 8) ^ tables[0][before & 255];
    }
  }
  return tables;
}

const CRC32C_TABLES = crcTables(0x82f63b78);
const CRC32_TABLES = crcTables(0xedb88320);

// The checksum of bytes[start:end], continued from *before*, that of the bytes in front of them.
function crc(tables, bytes, start = 0, end = bytes.length, before = 0) {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = tables;
  let value = ~before;
  let at = start;
  for (; at + 8 <= end; at += 8) {
    value ^= bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    value =
      t7[value & 255] ^
      t6[(value >>> 8) & 255] ^
      t5[(value >>> 16) & 255] ^
      t4[value >>> 24] ^
      t3[bytes[at + 4]] ^
      t2[bytes[at + 5]] ^
      t1[bytes[at + 6]] ^
      t0[bytes[at + 7]];
  }
  for (; at < end; at += 1) value = (value >>> 8) ^ t0[(value ^ bytes[at]) & 255];
  return ~value >>> 0;
}

// xxHash of 32 bits with seed 0, of the few bytes of an LZ4 frame's header, or of a block.
function xxh32(bytes) {
  const primes = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1];
  const rotated = (value, by) => (value << by) | (value >>> (32 - by));
  const word = (at) =>
    bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
  let at = 0;
  let hash = primes[4];
  if (bytes.length >= 16) {
    const lanes = [primes[0] + primes[1], primes[1], 0, -primes[0]];
    for (; at + 16 <= bytes.length; at += 16) {
      for (let lane = 0; lane < 4; lane += 1) {
        lanes[lane] = Math.imul(
          rotated((lanes[lane] + Math.imul(word(at + 4 * lane), primes[1])) | 0, 13),
          primes[0],
        );
      }
    }
    hash =
      rotated(lanes[0], 1) + rotated(lanes[1], 7) + rotated(lanes[2], 12) + rotated(lanes[3], 18);
  }
  hash = (hash + bytes.length) | 0;
  for (; at + 4 <= bytes.length; at += 4)
    hash = Math.imul(rotated((hash + Math.imul(word(at), primes[2])) | 0, 17), primes[3]);
  for (; at < bytes.length; at += 1)
    hash = Math.imul(rotated((hash + Math.imul(bytes[at], primes[4])) | 0, 11), primes[0]);
  hash = Math.imul(hash ^ (hash >>> 15), primes[1]);
  hash = Math.imul(hash ^ (hash >>> 13), primes[2]);
  return (hash ^ (hash >>> 16)) >>> 0;
}

// xxHash of 64 bits with seed 0, of the content of a zstd frame. Slow, but such checksums are rare.
function xxh64(bytes) {
  const mask = 0xffffffffffffffffn;
  const primes = [
    0x9e3779b185ebca87n,
    0xc2b2ae3d27d4eb4fn,
    0x165667b19e3779f9n,
    0x85ebca77c2b2ae63n,
    0x27d4eb2f165667c5n,
  ];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const rotated = (value, by) => ((value << by) | (value >> (64n - by))) & mask;
  const round = (lane, word) =>
    (rotated((lane + word * primes[1]) & mask, 31n) * primes[0]) & mask;
  let at = 0;
  let hash = primes[4];
  if (bytes.length >= 32) {
    const lanes = [(primes[0] + primes[1]) & mask, primes[1], 0n, -primes[0] & mask];
    for (; at + 32 <= bytes.length; at += 32) {
      for (let lane = 0; lane < 4; lane += 1)
        lanes[lane] = round(lanes[lane], view.getBigUint64(at + 8 * lane, true));
    }
    hash =
      (rotated(lanes[0], 1n) + rotated(lanes[1], 7n) + rotated(lanes[2], 12n) + rotated(lanes[3], 18n)) &
      mask;
    for (const lane of lanes) hash = ((hash ^ round(0n, lane)) * primes[0] + primes[3]) & mask;
  }
  hash = (hash + BigInt(bytes.length)) & mask;
  for (; at + 8 <= bytes.length; at += 8)
    hash = (rotated(hash ^ round(0n, view.getBigUint64(at, true)), 27n) * primes[0] + primes[3]) & mask;
  for (; at + 4 <= bytes.length; at += 4) {
    const word = BigInt(view.getUint32(at, true));
    hash = (rotated(hash ^ ((word * primes[0]) & mask), 23n) * primes[1] + primes[2]) & mask;
  }
  for (; at < bytes.length; at += 1)
    hash = (rotated(hash ^ ((BigInt(bytes[at]) * primes[4]) & mask), 11n) * primes[0]) & mask;
  hash = ((hash ^ (hash >> 33n)) * primes[1]) & mask;
  hash = ((hash ^ (hash >> 29n)) * primes[2]) & mask;
  return hash ^ (hash >> 32n);
}
