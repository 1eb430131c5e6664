using System.Collections.Generic;

namespace KafkaFormats
{
    public enum EntryKind
    {
        /// <summary>Format v2.</summary>
        Batch,

        /// <summary>Formats v0 and v1, a wrapper among them.</summary>
        Message,

        /// <summary><see cref="LogEntry.Problem"/> says why.</summary>
        Damaged,

        /// <summary>The beginning of an entry, cut off by the end of the file.</summary>
        Cut,

        /// <summary>Bytes that a broker allocated and did not fill.</summary>
        Zeros,
    }

    /// <summary>
    /// A batch or a message, or bytes that are none. It has no records unless all of it is sound: half a batch is no batch.
    /// </summary>
    public sealed class LogEntry
    {
        public long Position { get; internal set; }
        public long Size { get; internal set; }
        public EntryKind Kind { get; internal set; }
        public IReadOnlyList<LogRecord> Records { get; internal set; } = new LogRecord[0];
        public KafkaRecordBatch Batch { get; internal set; }
        public KafkaMessage Message { get; internal set; }
        public string Problem { get; internal set; }
    }

    /// <summary>A record as a consumer gets it, or a control record, which consumers skip.</summary>
    public sealed class LogRecord
    {
        public long Offset { get; internal set; }

        /// <summary>Milliseconds since the Unix epoch; null where the record has no time.</summary>
        public long? Timestamp { get; internal set; }

        /// <summary><c>CreateTime</c>, <c>LogAppendTime</c>, or null in v0.</summary>
        public string TimestampType { get; internal set; }

        public byte[] Key { get; internal set; }
        public byte[] Value { get; internal set; }

        /// <summary>Keys and values, in order; a value may be null.</summary>
        public IReadOnlyList<KeyValuePair<byte[], byte[]>> Headers { get; internal set; } =
            new KeyValuePair<byte[], byte[]>[0];

        public bool IsControl { get; internal set; }

        /// <summary>The transaction marker or KRaft's control record; null if its type is not known.</summary>
        public KafkaControlRecord Control { get; internal set; }
    }
}
