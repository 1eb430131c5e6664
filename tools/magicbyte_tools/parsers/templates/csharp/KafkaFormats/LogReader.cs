using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Kaitai;

namespace KafkaFormats
{
    /// <summary>Reads the entries of a log segment one at a time, and decompresses them.</summary>
    /// <remarks>
    /// An entry that cannot be read is damaged, and the next one is looked for where its length says. Where the length itself
    /// cannot be right, the rest of the file is one damaged entry.
    /// </remarks>
    public sealed class LogReader
    {
        /// <summary>What to decompress with, by the number of the codec.</summary>
        public Dictionary<int, Decompressor> Decompressors { get; } = Codecs.All();

        /// <summary>Largest entry as it is stored.</summary>
        public long MaxEntryBytes { get; set; } = 1 << 30;

        /// <summary>Largest payload of an entry, decompressed.</summary>
        public long MaxBatchBytes { get; set; } = 256 << 20;

        public IEnumerable<LogEntry> Read(string path)
        {
            using (FileStream file = File.OpenRead(path))
            {
                foreach (LogEntry entry in Read(file)) yield return entry;
            }
        }

        public IEnumerable<LogEntry> Read(Stream file)
        {
            LogEntry entry;
            for (long position = 0, end = file.Length; position < end; position += entry.Size)
            {
                entry = ReadEntry(file, position, end - position);
                yield return entry;
            }
        }

        static byte[] Bytes(Stream file, long position, int size)
        {
            byte[] data = new byte[size];
            file.Seek(position, SeekOrigin.Begin);
            for (int have = 0; have < size;)
            {
                int count = file.Read(data, have, size - have);
                if (count == 0) throw new EndOfStreamException("the file became shorter");
                have += count;
            }
            return data;
        }

        static bool OnlyZeros(Stream file, long position, long left)
        {
            for (long at = 0; at < left; at += 1 << 16)
            {
                byte[] piece = Bytes(file, position + at, (int) Math.Min(left - at, 1 << 16));
                if (piece.Any(each => each != 0)) return false;
            }
            return true;
        }

        static int Int32(byte[] data, int at)
        {
            return data[at] << 24 | data[at + 1] << 16 | data[at + 2] << 8 | data[at + 3];
        }

        LogEntry ReadEntry(Stream file, long position, long left)
        {
            byte[] head = Bytes(file, position, (int) Math.Min(left, 17));
            long length = left < 12 ? 0 : Int32(head, 8);
            LogEntry entry = new LogEntry { Position = position, Size = left, Kind = EntryKind.Damaged };
            if (length == 0 && OnlyZeros(file, position, left))
            {
                entry.Kind = EntryKind.Zeros;
                return entry;
            }
            if (left >= 12 && length < 14)
            {
                entry.Problem = $"an entry of {length} bytes; expected 14 or more";
                return entry;
            }
            if (left < 17)
            {
                entry.Kind = EntryKind.Cut;
                return entry;
            }
            entry.Size = Math.Min(12 + length, left);
            int magic = (sbyte) head[16];
            if (magic < 0 || magic > 2) entry.Problem = $"magic {magic}; expected 0, 1 or 2";
            else if (12 + length > left) entry.Kind = EntryKind.Cut;
            else if (entry.Size > MaxEntryBytes)
                entry.Problem = $"an entry of {entry.Size} bytes; the limit is {MaxEntryBytes}";
            else Decode(entry, Bytes(file, position, (int) entry.Size));
            return entry;
        }

        void Decode(LogEntry entry, byte[] data)
        {
            try
            {
                if (data[16] < 2)
                {
                    entry.Message = ReadMessage(data);
                    entry.Records = MessageRecords(entry.Message, data[17] & 7);
                    entry.Kind = EntryKind.Message;
                    return;
                }
                if (data.Length < 61) throw Refused($"a batch of {data.Length} bytes; expected 61 or more");
                Verify(Checksum.Crc32CTable, data, 21, 17);
                entry.Batch = new KafkaRecordBatch(new KaitaiStream(data));
                entry.Records = BatchRecords(entry.Batch, data[22] & 7);
                entry.Kind = EntryKind.Batch;
            }
            catch (Exception error) when (!(error is OutOfMemoryException || error is DllNotFoundException))
            {
                entry.Problem = error.Message;
            }
        }

        static InvalidDataException Refused(string found)
        {
            return new InvalidDataException(found);
        }

        static void Verify(uint[] table, byte[] data, int start, int storedAt)
        {
            uint computed = ~Checksum.Update(table, 0xFFFFFFFF, data, start, data.Length - start);
            uint stored = (uint) Int32(data, storedAt);
            if (stored != computed) throw Refused($"stored checksum {stored:x8}, computed {computed:x8}");
        }

        byte[] Decompress(int codec, int magic, byte[] payload)
        {
            if (!Decompressors.TryGetValue(codec, out Decompressor decompress) || codec == 4 && magic < 2)
            {
                throw Refused($"codec {codec} in magic {magic}; expected one that Kafka has there");
            }
            return decompress(payload, magic, MaxBatchBytes);
        }

        List<LogRecord> BatchRecords(KafkaRecordBatch batch, int codec)
        {
            if (batch.Payload != null) return batch.Payload.Records.Select(each => BatchRecord(batch, each)).ToList();
            List<LogRecord> records = new List<LogRecord>();
            if (batch.NumRecords == 0) return records;
            KaitaiStream stream = new KaitaiStream(Decompress(codec, 2, batch.CompressedPayload));
            while (records.Count < batch.NumRecords)
            {
                records.Add(BatchRecord(batch, new KafkaRecord(batch.Attributes.IsControl, stream)));
            }
            if (!stream.IsEof) throw Refused($"bytes behind the last of {batch.NumRecords} records");
            return records;
        }

        static LogRecord BatchRecord(KafkaRecordBatch batch, KafkaRecord record)
        {
            KafkaRecord.RecordBody body = record.Body;
            KafkaRecordBatch.BatchAttributes attributes = batch.Attributes;
            if (!body.M_Io.IsEof || body.NumHeaders.Value < 0)
            {
                throw Refused("a record that its fields do not fill");
            }
            if (attributes.IsControl && (body.Key == null || body.Key.Length < 4 || body.Key[0] > 127))
            {
                throw Refused("a control record whose key has no version and type");
            }
            bool isAppendTime = attributes.TimestampType == KafkaRecordBatch.TimestampTypes.LogAppendTime;
            return new LogRecord
            {
                Offset = unchecked(batch.BaseOffset + body.OffsetDelta.Value),
                Timestamp = Present(
                    isAppendTime ? batch.MaxTimestamp : unchecked(batch.BaseTimestamp + body.TimestampDelta.Value)),
                TimestampType = isAppendTime ? "LogAppendTime" : "CreateTime",
                Key = body.Key,
                Value = body.Value,
                Headers = body.Headers.Select(each => new KeyValuePair<byte[], byte[]>(each.Key, each.Value)).ToList(),
                IsControl = attributes.IsControl,
                Control = attributes.IsControl ? Control(body) : null,
            };
        }

        static KafkaControlRecord Control(KafkaRecord.RecordBody body)
        {
            try
            {
                return body.ControlRecord;
            }
            catch (Exception)
            {
                return null; // a type or version that is not known
            }
        }

        static long? Present(long timestamp)
        {
            return timestamp == -1 ? (long?) null : timestamp;
        }

        static KafkaMessage ReadMessage(byte[] data)
        {
            Verify(Checksum.Crc32Table, data, 16, 12);
            return new KafkaMessage(new KaitaiStream(data));
        }

        List<LogRecord> MessageRecords(KafkaMessage entry, int codec)
        {
            KafkaMessage.MessageBody message = entry.Message;
            if (codec == 0) return new List<LogRecord> { MessageRecord(entry, entry, entry.Offset) };
            if (message.Value == null) throw Refused("a wrapper message without a value");
            List<KafkaMessage> inner = InnerMessages(Decompress(codec, message.Magic, message.Value));
            long start = 0;
            if (message.Magic == 1 && entry.Offset != 0)
            {
                long last = inner[inner.Count - 1].Offset; // offsets inside count from the first message
                if (entry.Offset < last) throw Refused($"offset {entry.Offset} of a wrapper; in it is {last}");
                start = unchecked(entry.Offset - last);
            }
            return inner.Select(each => MessageRecord(entry, each, unchecked(start + each.Offset))).ToList();
        }

        /// <summary>Returns the messages in a wrapper; one that is cut off at the end is left out, as in Kafka.</summary>
        static List<KafkaMessage> InnerMessages(byte[] payload)
        {
            List<KafkaMessage> messages = new List<KafkaMessage>();
            for (int at = 0; payload.Length - at >= 12;)
            {
                int length = Int32(payload, at + 8);
                if (length < 14) throw Refused($"a message of {length} bytes in a wrapper; expected 14 or more");
                if (length > payload.Length - at - 12) break;
                byte[] data = new byte[12 + length];
                Buffer.BlockCopy(payload, at, data, 0, data.Length);
                messages.Add(ReadMessage(data));
                if ((data[17] & 7) != 0) throw Refused("a wrapper message in a wrapper message");
                at += data.Length;
            }
            if (messages.Count == 0) throw Refused("a wrapper message that holds no message");
            return messages;
        }

        static LogRecord MessageRecord(KafkaMessage wrapper, KafkaMessage entry, long offset)
        {
            KafkaMessage.MessageBody outer = wrapper.Message, message = entry.Message;
            bool isAppendTime =
                outer.Magic > 0 && outer.Attributes.TimestampType == KafkaMessage.TimestampTypes.LogAppendTime;
            long? timestamp = isAppendTime ? outer.Timestamp : message.Timestamp;
            return new LogRecord
            {
                Offset = offset,
                Timestamp = message.Magic > 0 && timestamp != null ? Present(timestamp.Value) : null,
                TimestampType = outer.Magic == 0 ? null : isAppendTime ? "LogAppendTime" : "CreateTime",
                Key = message.Key,
                Value = message.Value,
            };
        }
    }
}
