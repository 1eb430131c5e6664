// Print the records of log segments as lines of JSON: print_records FILE.log...
//
// Without arguments, the names of files are read from standard input, and each file gives one line:
// {"records": [...], "problems": [...]}.
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>

#include "reader.h"

/// Text as JSON wants it.
static std::string quoted(const std::string &text) {
    std::string out = "\"";
    for (unsigned char each : text) {
        if (each == '"' || each == '\\') out += '\\';
        if (each < 0x20) {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", each);
            out += escaped;
        } else {
            out += static_cast<char>(each);
        }
    }
    return out + '"';
}

static std::string hex(const std::optional<std::string> &data) {
    if (!data) return "null";
    std::string out = "\"";
    for (unsigned char each : *data) {
        out += "0123456789abcdef"[each >> 4];
        out += "0123456789abcdef"[each & 15];
    }
    return out + '"';
}

static std::string json(const kafka::record &record) {
    std::string out = "{\"offset\": \"" + std::to_string(record.offset) + "\", \"timestamp\": ";
    out += record.timestamp ? '"' + std::to_string(*record.timestamp) + '"' : "null";
    out += ", \"timestamp_type\": ";
    out += record.timestamp_type ? quoted(record.timestamp_type) : "null";
    out +=
        ", \"key\": " + hex(record.key) + ", \"value\": " + hex(record.value) + ", \"headers\": [";
    const char *comma = "";
    for (auto &[key, value] : record.headers) {
        out += comma + ("{\"key\": " + hex(key)) + ", \"value\": " + hex(value) + "}";
        comma = ", ";
    }
    out += "]";
    if (record.is_control) {  // record.control has the rest
        int type = -1;
        if (record.key && record.key->size() >= 4) {
            auto byte = [&](size_t at) { return static_cast<unsigned char>((*record.key)[at]); };
            type = static_cast<int16_t>(byte(2) << 8 | byte(3));
        }
        out += ", \"control_type\": " + std::to_string(type);
    }
    return out + "}";
}

using print_function = std::function<void(const std::string &)>;

static std::vector<kafka::entry> read(const std::string &name, const print_function &print) {
    std::ifstream file(name, std::ios::binary);
    std::vector<kafka::entry> damaged;
    kafka::log_reader reader(file);
    while (auto entry = reader.next()) {
        for (auto &record : entry->records) print(json(record));
        if (entry->kind == kafka::entry_kind::damaged) damaged.push_back(*entry);
    }
    return damaged;
}

static std::string answer(const std::string &name) {
    std::string records, problems;
    auto add = [&](const std::string &record) {
        records += (records.empty() ? "" : ", ") + record;
    };
    for (auto &entry : read(name, add)) {
        problems += problems.empty() ? "" : ", ";
        problems += "{\"position\": \"" + std::to_string(entry.position) +
                    "\", \"message\": " + quoted(entry.problem) + "}";
    }
    return "{\"records\": [" + records + "], \"problems\": [" + problems + "]}";
}

int main(int count, char **arguments) try {
    int status = 0;
    std::string name;
    while (count == 1 && std::getline(std::cin, name)) std::cout << answer(name) << '\n';
    for (int at = 1; at < count; ++at) {
        auto print = [](const std::string &record) { std::cout << record << '\n'; };
        for (auto &entry : read(arguments[at], print)) {
            std::cerr << arguments[at] << ": at byte " << entry.position << ": " << entry.problem
                      << '\n';
            status = 1;
        }
    }
    return status;
} catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
    return 2;
}
