// Bytes of a file, read by ranges. Positions are those of the whole file, also where only a window
// of it is there: `first` and `end` say which bytes can be read.

const BLOCK_BYTES = 256 * 1024;
const MAX_BLOCKS = 64; // 16 MiB of blocks are kept

class FileSource {
  constructor(file) {
    this.file = file;
    this.name = file.name;
    this.size = this.end = file.size;
    this.first = 0;
  }

  async load(start, end) {
    return new Uint8Array(await this.file.slice(start, end).arrayBuffer());
  }
}

class WindowSource {
  constructor(name, bytes, first = 0, size = bytes.length) {
    Object.assign(this, { name, bytes, first, size, end: first + bytes.length });
  }

  async load(start, end) {
    return this.bytes.slice(start - this.first, end - this.first);
  }
}

// Keeps blocks that were read, since lists and the hex view ask for a few bytes at a time.
class BlockCache {
  constructor(source) {
    this.source = source;
    this.blocks = new Map();
  }

  // The bytes of a range, fewer where the file ends. Large ranges are not kept.
  async read(start, end) {
    const from = Math.max(start, this.source.first);
    const to = Math.min(end, this.source.end);
    if (to <= from) return new Uint8Array(0);
    if (to - from > 4 * BLOCK_BYTES) return this.source.load(from, to);
    const bytes = new Uint8Array(to - from);
    for (let at = Math.floor(from / BLOCK_BYTES); at * BLOCK_BYTES < to; at += 1) {
      const blockStart = Math.max(at * BLOCK_BYTES, this.source.first);
      const block = await this.block(at);
      const begin = Math.max(from, blockStart);
      const part = block.subarray(begin - blockStart, to - blockStart);
      bytes.set(part, begin - from);
    }
    return bytes;
  }

  block(at) {
    const kept = this.blocks.get(at);
    if (kept) {
      this.blocks.delete(at); // the last one of a Map is the newest
      this.blocks.set(at, kept);
      return kept;
    }
    const start = Math.max(at * BLOCK_BYTES, this.source.first);
    const block = this.source.load(start, Math.min((at + 1) * BLOCK_BYTES, this.source.end));
    this.blocks.set(at, block);
    if (this.blocks.size > MAX_BLOCKS) this.blocks.delete(this.blocks.keys().next().value);
    return block;
  }
}
