#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace kafka {

/// Decompresses the payload of an entry of the given magic to at most `limit` bytes; throws
/// std::runtime_error where the payload is not valid or the result would be larger.
using decompressor =
    std::function<std::string(const std::string &payload, int magic, size_t limit)>;

/// Returns the decompressor of each codec, by its number; change the map to use other libraries.
std::map<int, decompressor> decompressors();

}  // namespace kafka
