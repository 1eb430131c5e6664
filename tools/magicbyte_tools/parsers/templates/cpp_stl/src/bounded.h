#pragma once

#include <kaitai/kaitaistream.h>

#include <cstdint>
#include <stdexcept>
#include <string>

/// Reads bytes as the stream does, but compares their number with what is left before memory is
/// reserved for them.
inline std::string read_bounded(kaitai::kstream *stream, int64_t length) {
    uint64_t left = stream->size() - stream->pos();
    if (length < 0 || static_cast<uint64_t>(length) > left) {
        throw std::runtime_error(std::to_string(length) + " bytes are stated; " +
                                 std::to_string(left) + " are left");
    }
    return stream->read_bytes(length);
}
