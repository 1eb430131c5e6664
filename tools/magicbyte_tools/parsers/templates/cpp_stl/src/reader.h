#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codecs.h"
#include "kafka_message.h"
#include "kafka_record_batch.h"

namespace kafka {

/// A record as a consumer gets it, or a control record, which consumers skip.
struct record {
    int64_t offset = 0;
    /// Milliseconds since the Unix epoch; absent where the record has no time.
    std::optional<int64_t> timestamp;
    /// `CreateTime` or `LogAppendTime`; null in v0.
    const char *timestamp_type = nullptr;
    std::optional<std::string> key;
    std::optional<std::string> value;
    std::vector<std::pair<std::string, std::optional<std::string>>> headers;
    bool is_control = false;
    /// The transaction marker or KRaft's control record; null if its type is not known.
    std::shared_ptr<kafka_control_record_t> control;
};

enum class entry_kind {
    batch,    ///< format v2
    message,  ///< formats v0 and v1, a wrapper among them
    damaged,  ///< `problem` says why
    cut,      ///< the beginning of an entry, cut off by the end of the file
    zeros,    ///< allocated by a broker, and not filled
};

/// A batch or a message, or bytes that are none. It has no records unless all of it is sound: half
/// a batch is no batch.
struct entry {
    int64_t position = 0;
    int64_t size = 0;
    entry_kind kind = entry_kind::damaged;
    std::shared_ptr<kafka_record_batch_t> batch;
    std::shared_ptr<kafka_message_t> message;
    std::vector<record> records;
    std::string problem;
};

/// Reads the entries of a segment one at a time, and decompresses them.
///
/// An entry that cannot be read is `damaged`, and the next one is looked for where its length says.
/// Where the length itself cannot be right, the rest of the file is one damaged entry.
class log_reader {
public:
    /// The file must outlive the reader.
    explicit log_reader(std::istream &file);

    /// Returns the next entry, or nothing after the last one. Throws std::ios_base::failure if the
    /// file cannot be read.
    std::optional<entry> next();

    /// What to decompress with, by the number of the codec.
    std::map<int, decompressor> codecs = decompressors();
    /// Largest entry as it is stored.
    int64_t max_entry_bytes = int64_t(1) << 30;
    /// Largest payload of an entry, decompressed.
    size_t max_batch_bytes = size_t(256) << 20;

private:
    std::string bytes(int64_t position, int64_t size);
    bool only_zeros(int64_t position);
    void decode(const std::string &data, entry &into);
    std::string decompress(int codec, int magic, const std::string &payload);
    std::vector<record> batch_records(kafka_record_batch_t &batch, int codec);
    std::vector<record> message_records(kafka_message_t &entry, int codec);

    std::istream &file;
    int64_t position = 0;
    int64_t end;
};

}  // namespace kafka
