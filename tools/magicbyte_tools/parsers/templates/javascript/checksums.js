"use strict";

function crcTable(polynomial) {
  return Uint32Array.from({ length: 256 }, (_, number) => {
    let value = number;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ polynomial : value >>> 1;
    return value;
  });
}

const CRC32 = crcTable(0xedb88320);
const CRC32C = crcTable(0x82f63b78);

function crc(table, data) {
  let value = 0xffffffff;
  for (const each of data) value = (value >>> 8) ^ table[(value ^ each) & 0xff];
  return (value ^ 0xffffffff) >>> 0;
}

module.exports = {
  crc32: (data) => crc(CRC32, data),
  crc32c: (data) => crc(CRC32C, data),
};
