-- Print the entries and records of a log segment: lua print_log.lua FILE.log
-- LUA_PATH names this folder and that of Kaitai's runtime.

require("kafka_log")

local function text(data)
  return data or "null"
end

local function print_batch(batch)
  local compressed = batch.payload and "" or ", compressed"
  print(("batch %d: %d records%s"):format(batch.base_offset, batch.num_records, compressed))
  -- What is compressed lies in batch.compressed_payload; decompress it (batch.attributes.codec
  -- says how) and parse the result with KafkaRecords.
  local append_time = KafkaRecordBatch.TimestampTypes.log_append_time
  for _, record in ipairs(batch.payload and batch.payload.records or {}) do
    local body = record.body
    local offset = batch.base_offset + body.offset_delta.value
    local timestamp = batch.base_timestamp + body.timestamp_delta.value
    if batch.attributes.timestamp_type == append_time then
      timestamp = batch.max_timestamp
    end
    local content = text(body.key) .. " " .. text(body.value)
    if batch.attributes.is_control then
      content = "control record"
    end
    print(("  %d %d %s"):format(offset, timestamp, content))
  end
end

local function print_message(entry)
  local message = entry.message
  if message.attributes.codec ~= KafkaMessage.Codecs.none then
    print(("message %d: compressed"):format(entry.offset)) -- decompressed, the value is a KafkaLog
  else
    local content = text(message.key) .. " " .. text(message.value)
    print(("message %d: %s %s"):format(entry.offset, text(message.timestamp), content))
  end
end

for _, entry in ipairs(KafkaLog:from_file(arg[1]).entries) do
  if entry.zero_tail then
    print(("%d zeros"):format(#entry.zero_tail))
  elseif entry.partial then
    print(("%d bytes of an entry that was cut off"):format(#entry.partial))
  elseif entry.content.len_batch then
    print_batch(entry.content)
  else
    print_message(entry.content)
  end
end
