#include "reader.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>

#include "kafka_record.h"

namespace kafka {
namespace {

/// A structure and the stream that it reads from, which must live as long.
template <typename Structure>
struct parsed {
    template <typename... Parameters>
    explicit parsed(const std::string &data, Parameters... parameters)
        : stream(data), structure(parameters..., &stream) {}

    kaitai::kstream stream;
    Structure structure;
};

template <typename Structure>
std::shared_ptr<Structure> parse(const std::string &data) {
    auto whole = std::make_shared<parsed<Structure>>(data);
    return std::shared_ptr<Structure>(whole, &whole->structure);
}

int32_t int32(const std::string &data, size_t at) {
    uint32_t value = 0;
    for (size_t byte = 0; byte < 4; ++byte) {
        value = value << 8 | static_cast<unsigned char>(data[at + byte]);
    }
    return static_cast<int32_t>(value);
}

/// Sums as Java does, which wraps.
int64_t sum(int64_t one, int64_t other) {
    return static_cast<int64_t>(static_cast<uint64_t>(one) + static_cast<uint64_t>(other));
}

std::array<uint32_t, 256> crc_table(uint32_t polynomial) {
    std::array<uint32_t, 256> table{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
        uint32_t value = byte;
        for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? polynomial : 0);
        table[byte] = value;
    }
    return table;
}

const std::array<uint32_t, 256> CRC32 = crc_table(0xEDB88320), CRC32C = crc_table(0x82F63B78);

void verify(const std::array<uint32_t, 256> &table, const std::string &data, size_t from,
            size_t stored_at) {
    uint32_t computed = 0xFFFFFFFF;
    for (size_t at = from; at < data.size(); ++at) {
        computed = computed >> 8 ^ table[(computed ^ static_cast<unsigned char>(data[at])) & 0xFF];
    }
    computed ^= 0xFFFFFFFF;
    uint32_t stored = static_cast<uint32_t>(int32(data, stored_at));
    if (stored != computed) {
        char found[64];
        std::snprintf(found, sizeof found, "stored checksum %08x, computed %08x", stored, computed);
        throw std::runtime_error(found);
    }
}

std::optional<int64_t> present(int64_t timestamp) {
    return timestamp == -1 ? std::nullopt : std::optional<int64_t>(timestamp);
}

template <typename Structure>
std::optional<std::string> key_of(Structure &structure) {
    return structure._is_null_key() ? std::nullopt : std::optional<std::string>(structure.key());
}

template <typename Structure>
std::optional<std::string> value_of(Structure &structure) {
    return structure._is_null_value() ? std::nullopt
                                      : std::optional<std::string>(structure.value());
}

/// Takes a control record apart on bytes of its own, which outlive the batch.
std::shared_ptr<kafka_control_record_t> control_record(const std::string &body, size_t at) {
    try {
        return parse<kafka_control_record_t>(body.substr(at));
    } catch (const std::exception &) {
        return nullptr;  // a type or version that is not known
    }
}

record batch_record(kafka_record_batch_t &batch, kafka_record_t &parsed_record) {
    auto *body = parsed_record.body();
    auto *attributes = batch.attributes();
    if (!body->_io()->is_eof() || body->num_headers()->value() < 0) {
        throw std::runtime_error("a record that its fields do not fill");
    }
    if (attributes->is_control() && (body->key().size() < 4 || body->key()[0] & 0x80)) {
        throw std::runtime_error("a control record whose key has no version and type");
    }
    bool is_append_time =
        attributes->timestamp_type() == kafka_record_batch_t::TIMESTAMP_TYPES_LOG_APPEND_TIME;
    record row;
    row.offset = sum(batch.base_offset(), body->offset_delta()->value());
    row.timestamp =
        present(is_append_time ? batch.max_timestamp()
                               : sum(batch.base_timestamp(), body->timestamp_delta()->value()));
    row.timestamp_type = is_append_time ? "LogAppendTime" : "CreateTime";
    row.key = key_of(*body);
    row.value = value_of(*body);
    for (auto *header : *body->headers())
        row.headers.emplace_back(header->key(), value_of(*header));
    row.is_control = attributes->is_control();
    if (row.is_control && body->len_key()->value() >= 4) {
        row.control = control_record(parsed_record._raw_body(), body->ofs_len_key());
    }
    return row;
}

std::shared_ptr<kafka_message_t> read_message(const std::string &data) {
    verify(CRC32, data, 16, 12);
    return parse<kafka_message_t>(data);
}

/// Returns the messages in a wrapper; one that is cut off at the end is left out, as in Kafka.
std::vector<std::shared_ptr<kafka_message_t>> inner_messages(const std::string &payload) {
    std::vector<std::shared_ptr<kafka_message_t>> messages;
    for (size_t at = 0; payload.size() - at >= 12;) {
        int32_t length = int32(payload, at + 8);
        if (length < 14) {
            throw std::runtime_error("a message of " + std::to_string(length) +
                                     " bytes in a wrapper; expected 14 or more");
        }
        size_t size = 12 + static_cast<size_t>(length);
        if (size > payload.size() - at) break;
        messages.push_back(read_message(payload.substr(at, size)));
        if (messages.back()->message()->attributes()->codec() != kafka_message_t::CODECS_NONE) {
            throw std::runtime_error("a wrapper message in a wrapper message");
        }
        at += size;
    }
    if (messages.empty()) throw std::runtime_error("a wrapper message that holds no message");
    return messages;
}

record message_record(kafka_message_t &wrapper, kafka_message_t &entry, int64_t offset) {
    auto *outer = wrapper.message();
    auto *message = entry.message();
    bool is_append_time =
        outer->magic() > 0 &&
        outer->attributes()->timestamp_type() == kafka_message_t::TIMESTAMP_TYPES_LOG_APPEND_TIME;
    record row;
    row.offset = offset;
    if (message->magic() > 0) {
        row.timestamp = present(is_append_time ? outer->timestamp() : message->timestamp());
    }
    if (outer->magic() > 0) row.timestamp_type = is_append_time ? "LogAppendTime" : "CreateTime";
    row.key = key_of(*message);
    row.value = value_of(*message);
    return row;
}

}  // namespace

log_reader::log_reader(std::istream &file) : file(file) {
    file.exceptions(std::ios::badbit | std::ios::failbit);
    file.seekg(0, std::ios::end);
    end = file.tellg();
}

std::string log_reader::bytes(int64_t at, int64_t size) {
    std::string data(static_cast<size_t>(size), '\0');
    file.seekg(at);
    file.read(&data[0], size);
    return data;
}

bool log_reader::only_zeros(int64_t start) {
    for (int64_t at = start; at < end; at += 1 << 16) {
        std::string piece = bytes(at, std::min<int64_t>(end - at, 1 << 16));
        if (piece.find_first_not_of('\0') != std::string::npos) return false;
    }
    return true;
}

std::optional<entry> log_reader::next() {
    if (position >= end) return std::nullopt;
    entry found;
    int64_t left = end - position;
    found.position = position;
    found.size = left;
    std::string head = bytes(position, std::min<int64_t>(left, 17));
    int64_t length = left < 12 ? 0 : int32(head, 8);
    position = end;  // unless another entry follows
    if (length == 0 && only_zeros(found.position)) {
        found.kind = entry_kind::zeros;
        return found;
    }
    if (left >= 12 && length < 14) {
        found.problem = "an entry of " + std::to_string(length) + " bytes; expected 14 or more";
        return found;
    }
    if (left < 17) {
        found.kind = entry_kind::cut;
        return found;
    }
    int magic = static_cast<signed char>(head[16]);
    found.size = std::min(12 + length, left);
    position = found.position + found.size;
    if (magic < 0 || magic > 2) {
        found.problem = "magic " + std::to_string(magic) + "; expected 0, 1 or 2";
    } else if (12 + length > left) {
        found.kind = entry_kind::cut;
    } else if (found.size > max_entry_bytes) {
        found.problem = "an entry of " + std::to_string(found.size) + " bytes; the limit is " +
                        std::to_string(max_entry_bytes);
    } else {
        std::string data = bytes(found.position, found.size);
        try {
            decode(data, found);
        } catch (const std::exception &error) {
            found.kind = entry_kind::damaged;
            found.records.clear();
            found.problem = error.what();
        }
    }
    return found;
}

void log_reader::decode(const std::string &data, entry &into) {
    if (data[16] < 2) {
        into.message = read_message(data);
        into.records = message_records(*into.message, data[17] & 7);
        into.kind = entry_kind::message;
        return;
    }
    if (data.size() < 61) {
        throw std::runtime_error("a batch of " + std::to_string(data.size()) +
                                 " bytes; expected 61 or more");
    }
    verify(CRC32C, data, 21, 17);
    into.batch = parse<kafka_record_batch_t>(data);
    into.records = batch_records(*into.batch, data[22] & 7);
    into.kind = entry_kind::batch;
}

std::string log_reader::decompress(int codec, int magic, const std::string &payload) {
    auto found = codecs.find(codec);
    if (found == codecs.end() || (codec == 4 && magic < 2)) {
        throw std::runtime_error("codec " + std::to_string(codec) + " in magic " +
                                 std::to_string(magic) + "; expected one that Kafka has there");
    }
    return found->second(payload, magic, max_batch_bytes);
}

std::vector<record> log_reader::batch_records(kafka_record_batch_t &batch, int codec) {
    std::vector<record> records;
    if (!batch._is_null_payload()) {
        for (auto *each : *batch.payload()->records()) {
            records.push_back(batch_record(batch, *each));
        }
    } else if (batch.num_records() > 0) {
        kaitai::kstream stream(decompress(codec, 2, batch.compressed_payload()));
        for (int32_t count = 0; count < batch.num_records(); ++count) {
            kafka_record_t each(batch.attributes()->is_control(), &stream);
            records.push_back(batch_record(batch, each));
        }
        if (!stream.is_eof()) {
            throw std::runtime_error("bytes behind the last of " +
                                     std::to_string(batch.num_records()) + " records");
        }
    }
    return records;
}

std::vector<record> log_reader::message_records(kafka_message_t &entry, int codec) {
    auto *message = entry.message();
    if (codec == 0) return {message_record(entry, entry, entry.offset())};
    if (message->_is_null_value()) throw std::runtime_error("a wrapper message without a value");
    auto inner = inner_messages(decompress(codec, message->magic(), message->value()));
    int64_t base = 0;
    if (message->magic() == 1 && entry.offset() != 0) {
        int64_t last = inner.back()->offset();  // offsets inside count from the first message
        if (entry.offset() < last) {
            throw std::runtime_error("offset " + std::to_string(entry.offset()) +
                                     " of a wrapper; in it is " + std::to_string(last));
        }
        base = sum(entry.offset(), -last);
    }
    std::vector<record> records;
    for (auto &each : inner)
        records.push_back(message_record(entry, *each, sum(base, each->offset())));
    return records;
}

}  // namespace kafka
