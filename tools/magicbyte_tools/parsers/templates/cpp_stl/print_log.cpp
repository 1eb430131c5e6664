// Print the entries and records of a log segment: print_log FILE.log
#include <fstream>
#include <iostream>
#include <string>

#include "kafka_log.h"

static void print_batch(kafka_record_batch_t *batch) {
    bool compressed = batch->_is_null_payload();
    std::cout << "batch " << batch->base_offset() << ": " << batch->num_records() << " records"
              << (compressed ? ", compressed\n" : "\n");
    if (compressed) {
        // Decompress batch->compressed_payload() (batch->attributes()->codec() says how) and parse
        // the result with kafka_records_t.
        return;
    }
    bool append_time = batch->attributes()->timestamp_type() ==
                       kafka_record_batch_t::TIMESTAMP_TYPES_LOG_APPEND_TIME;
    for (kafka_record_t *record : *batch->payload()->records()) {
        kafka_record_t::record_body_t *body = record->body();
        int64_t timestamp = append_time ? batch->max_timestamp()
                                        : batch->base_timestamp() + body->timestamp_delta()->value();
        std::cout << "  " << batch->base_offset() + body->offset_delta()->value() << ' '
                  << timestamp << ' ';
        if (batch->attributes()->is_control()) {
            std::cout << "control record\n";
        } else {
            std::cout << (body->_is_null_key() ? "null" : body->key()) << ' '
                      << (body->_is_null_value() ? "null" : body->value()) << '\n';
        }
    }
}

static void print_message(kafka_message_t *entry) {
    kafka_message_t::message_body_t *message = entry->message();
    std::cout << "message " << entry->offset() << ": ";
    if (message->attributes()->codec() != kafka_message_t::CODECS_NONE) {
        std::cout << "compressed\n";  // decompressed, the value is a kafka_log_t
        return;
    }
    std::cout << (message->_is_null_timestamp() ? "null" : std::to_string(message->timestamp()))
              << ' ' << (message->_is_null_key() ? "null" : message->key()) << ' '
              << (message->_is_null_value() ? "null" : message->value()) << '\n';
}

int main(int, char **arguments) {
    std::ifstream file(arguments[1], std::ios::binary);
    kaitai::kstream stream(&file);
    kafka_log_t log(&stream);
    for (kafka_log_t::entry_t *entry : *log.entries()) {
        if (!entry->_is_null_zero_tail()) {
            std::cout << entry->zero_tail().size() << " zeros\n";
        } else if (!entry->_is_null_partial()) {
            std::cout << entry->partial().size() << " bytes of an entry that was cut off\n";
        } else if (auto batch = dynamic_cast<kafka_record_batch_t *>(entry->content())) {
            print_batch(batch);
        } else if (auto message = dynamic_cast<kafka_message_t *>(entry->content())) {
            print_message(message);
        }
    }
}
