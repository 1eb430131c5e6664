# Print the entries and records of a log segment: ruby print_log.rb FILE.log

require_relative 'lib/kafka_log'

def text(data)
  data.nil? ? 'null' : data.dup.force_encoding('UTF-8').scrub
end

def print_batch(batch)
  puts "batch #{batch.base_offset}: #{batch.num_records} records#{', compressed' unless batch.payload}"
  # What is compressed lies in batch.compressed_payload; decompress it (batch.attributes.codec
  # says how) and parse the result with KafkaRecords.
  append_time = batch.attributes.timestamp_type == :timestamp_types_log_append_time
  (batch.payload ? batch.payload.records : []).each do |record|
    body = record.body
    offset = batch.base_offset + body.offset_delta.value
    timestamp = batch.base_timestamp + body.timestamp_delta.value
    timestamp = batch.max_timestamp if append_time
    content = batch.attributes.is_control ? 'control record' : "#{text(body.key)} #{text(body.value)}"
    puts "  #{offset} #{timestamp} #{content}"
  end
end

def print_message(entry)
  message = entry.message
  if message.attributes.codec != :codecs_none
    puts "message #{entry.offset}: compressed" # decompressed, the value is a KafkaLog
  else
    timestamp = message.timestamp || 'null'
    puts "message #{entry.offset}: #{timestamp} #{text(message.key)} #{text(message.value)}"
  end
end

KafkaLog.from_file(ARGV[0]).entries.each do |entry|
  if entry.zero_tail
    puts "#{entry.zero_tail.size} zeros"
  elsif entry.partial
    puts "#{entry.partial.size} bytes of an entry that was cut off"
  elsif entry.content.is_a?(KafkaRecordBatch)
    print_batch(entry.content)
  else
    print_message(entry.content)
  end
end
