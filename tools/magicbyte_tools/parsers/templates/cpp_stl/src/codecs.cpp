#include "codecs.h"

#include <lz4.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

namespace kafka {
namespace {

[[noreturn]] void refuse(const std::string &found) { throw std::runtime_error(found); }

void append(std::string &output, const char *data, size_t size, size_t limit) {
    if (size > limit - output.size()) {
        refuse("more than " + std::to_string(limit) + " bytes decompressed, which is the limit");
    }
    output.append(data, size);
}

/// Members that follow one another are one stream; other bytes behind a member are ignored.
std::string gunzip(const std::string &payload, int, size_t limit) {
    z_stream stream{};
    if (inflateInit2(&stream, 31) != Z_OK) refuse("gzip: no memory");
    std::unique_ptr<z_stream, decltype(&inflateEnd)> owner(&stream, inflateEnd);
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(payload.data()));
    stream.avail_in = static_cast<uInt>(payload.size());
    std::vector<char> piece(1 << 16);
    std::string output;
    while (true) {
        stream.next_out = reinterpret_cast<Bytef *>(piece.data());
        stream.avail_out = static_cast<uInt>(piece.size());
        int status = inflate(&stream, Z_NO_FLUSH);
        append(output, piece.data(), piece.size() - stream.avail_out, limit);
        if (status == Z_STREAM_END) {
            const Bytef *next = stream.next_in;
            bool another =
                stream.avail_in >= 19 && next[0] == 0x1f && next[1] == 0x8b && next[2] == 8;
            if (!another) return output;
            inflateReset(&stream);
        } else if (status != Z_OK) {
            refuse(std::string("gzip: ") +
                   (stream.msg ? stream.msg : "the payload ends inside a member"));
        }
    }
}

/// Frames that follow one another are one stream.
std::string unzstd(const std::string &payload, int, size_t limit) {
    std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                      ZSTD_freeDStream);
    if (!stream) refuse("zstd: no memory");
    std::vector<char> piece(ZSTD_DStreamOutSize());
    ZSTD_inBuffer input = {payload.data(), payload.size(), 0};
    std::string output;
    size_t hint = 1;
    bool full = false;
    while (input.pos < input.size || full) {
        ZSTD_outBuffer part = {piece.data(), piece.size(), 0};
        hint = ZSTD_decompressStream(stream.get(), &part, &input);
        if (ZSTD_isError(hint)) refuse(std::string("zstd: ") + ZSTD_getErrorName(hint));
        append(output, piece.data(), part.pos, limit);
        full = hint != 0 && part.pos == part.size;
    }
    if (hint != 0) refuse("zstd: the payload ends inside a frame");
    return output;
}

const std::string XERIAL("\x82SNAPPY\0", 8);

bool is_xerial(const std::string &data, size_t at) {
    return data.size() - at >= 16 && data.compare(at, XERIAL.size(), XERIAL) == 0;
}

/// Compares the size that a block states with the limit and with what its bytes can hold, then
/// decompresses.
void snappy_block(const char *data, size_t length, std::string &output, size_t limit) {
    size_t size = 0;
    if (!snappy::GetUncompressedLength(data, length, &size)) refuse("snappy: no size");
    // Three bytes stand for 64 at most.
    if (size > limit - output.size() || size / 22 > length) {
        refuse("snappy: " + std::to_string(length) + " bytes that state " + std::to_string(size) +
               " decompressed; the limit is " + std::to_string(limit));
    }
    std::string content;
    if (!snappy::Uncompress(data, length, &content)) refuse("snappy: the block is not valid");
    output += content;
}

uint32_t word(const std::string &data, size_t at, bool is_little_endian) {
    if (at > data.size() || data.size() - at < 4) refuse("the payload ends too early");
    uint32_t value = 0;
    for (size_t byte = 0; byte < 4; ++byte) {
        size_t index = is_little_endian ? 3 - byte : byte;
        value = value << 8 | static_cast<unsigned char>(data[at + index]);
    }
    return value;
}

/// One raw block, or the chunks of xerial's snappy-java, which Java clients write.
std::string unsnappy(const std::string &payload, int, size_t limit) {
    std::string output;
    if (!is_xerial(payload, 0)) {
        snappy_block(payload.data(), payload.size(), output, limit);
        return output;
    }
    size_t at = 16;
    while (payload.size() - at >= 4) {
        if (is_xerial(payload, at)) {
            if (static_cast<int32_t>(word(payload, at + 8, false)) < 1) {
                refuse("snappy: another stream of a version that does not exist");
            }
            at += 16;
            continue;
        }
        uint32_t length = word(payload, at, false);
        at += 4;
        if (length > payload.size() - at) {
            refuse("snappy: a chunk of " + std::to_string(static_cast<int32_t>(length)) +
                   " bytes; " + std::to_string(payload.size() - at) + " are left");
        }
        snappy_block(payload.data() + at, length, output, limit);
        at += length;
    }
    if (at != payload.size()) refuse("snappy: the payload ends inside the length of a chunk");
    return output;
}

uint32_t rotate(uint32_t value, int bits) { return value << bits | value >> (32 - bits); }

/// The xxHash of 32 bits, with the seed 0, that LZ4 frames have as checksums.
uint32_t xxh32(const std::string &data) {
    const uint32_t p1 = 2654435761U, p2 = 2246822519U, p3 = 3266489917U, p4 = 668265263U,
                   p5 = 374761393U;
    size_t at = 0;
    uint32_t value = p5;
    if (data.size() >= 16) {
        uint32_t lanes[4] = {p1 + p2, p2, 0, 0 - p1};
        for (; at + 16 <= data.size(); at += 16) {
            for (size_t lane = 0; lane < 4; ++lane) {
                uint32_t mixed = lanes[lane] + word(data, at + 4 * lane, true) * p2;
                lanes[lane] = rotate(mixed, 13) * p1;
            }
        }
        value =
            rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
    }
    value += static_cast<uint32_t>(data.size());
    for (; at + 4 <= data.size(); at += 4)
        value = rotate(value + word(data, at, true) * p3, 17) * p4;
    for (; at < data.size(); ++at) {
        value = rotate(value + static_cast<unsigned char>(data[at]) * p5, 11) * p1;
    }
    value = (value ^ value >> 15) * p2;
    value = (value ^ value >> 13) * p3;
    return value ^ value >> 16;
}

/// The part of the LZ4 frame format that Kafka reads: one frame of independent blocks. Kafka wrote
/// a wrong header checksum into messages of magic 0 (KAFKA-3160), so it is not looked at there;
/// size and checksum of the content never are.
std::string unlz4(const std::string &payload, int magic, size_t limit) {
    if (payload.size() < 7 || word(payload, 0, true) != 0x184D2204) {
        refuse("lz4: this is not an LZ4 frame");
    }
    unsigned char flags = payload[4], descriptor = payload[5];
    if ((flags & 0xE3) != 0x60 || (descriptor & 0x8F) || descriptor >> 4 < 4) {
        refuse("lz4: a frame descriptor that Kafka does not read");
    }
    size_t most = size_t(1) << (8 + 2 * (descriptor >> 4));
    size_t behind = flags & 0x10 ? 4 : 0;
    size_t header = flags & 0x08 ? 14 : 6;
    if (header >= payload.size()) refuse("lz4: the payload ends inside the header");
    unsigned char right = xxh32(payload.substr(4, header - 4)) >> 8 & 0xFF;
    if (magic > 0 && static_cast<unsigned char>(payload[header]) != right) {
        refuse("lz4: wrong header checksum");
    }
    std::string output;
    std::vector<char> content;
    for (size_t at = header + 1;;) {
        uint32_t stated = word(payload, at, true);
        size_t length = stated & 0x7FFFFFFF;
        at += 4;
        if (length == 0) {
            if (flags & 0x04) word(payload, at, true);  // not looked at, but there
            return output;
        }
        if (length > most || length + behind > payload.size() - at) {
            refuse("lz4: a block of " + std::to_string(length) + " bytes; " +
                   std::to_string(payload.size() - at) + " are left");
        }
        const char *block = payload.data() + at;
        at += length;
        if (behind && word(payload, at, true) != xxh32(payload.substr(at - length, length))) {
            refuse("lz4: wrong block checksum");
        }
        at += behind;
        if (!(stated >> 31)) {
            content.resize(std::min(most, 255 * length));
            int size = LZ4_decompress_safe(block, content.data(), static_cast<int>(length),
                                           static_cast<int>(content.size()));
            if (size < 0) refuse("lz4: the block is not valid");
            block = content.data();
            length = static_cast<size_t>(size);
        }
        if (length == 0) return output;  // Kafka takes an empty block for the end
        append(output, block, length, limit);
    }
}

}  // namespace

std::map<int, decompressor> decompressors() {
    return {{1, gunzip}, {2, unsnappy}, {3, unlz4}, {4, unzstd}};
}

}  // namespace kafka
