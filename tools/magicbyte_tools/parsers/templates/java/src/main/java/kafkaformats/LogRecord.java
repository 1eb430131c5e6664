package kafkaformats;

import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A record as a consumer gets it, or a control record, which consumers skip. */
public final class LogRecord {
    public final long offset;
    /** Milliseconds since the Unix epoch; null where the record has none. */
    public final Long timestamp;
    /** {@code CreateTime}, {@code LogAppendTime}, or null in v0. */
    public final String timestampType;
    public final byte[] key;
    public final byte[] value;
    /** Keys and values of the headers, in order; a value may be null. */
    public final List<Map.Entry<byte[], byte[]>> headers = new ArrayList<>();
    public final boolean isControl;
    /** The transaction marker or KRaft's control record; null if its type is not known. */
    public final KafkaControlRecord control;

    LogRecord(long offset, long timestamp, String timestampType, byte[] key, byte[] value) {
        this(offset, timestamp, timestampType, key, value, false, null);
    }

    LogRecord(
            long offset,
            long timestamp,
            String timestampType,
            byte[] key,
            byte[] value,
            boolean isControl,
            KafkaControlRecord control) {
        this.offset = offset;
        this.timestamp = timestamp == -1 ? null : timestamp;
        this.timestampType = timestampType;
        this.key = key;
        this.value = value;
        this.isControl = isControl;
        this.control = control;
    }

    void addHeader(byte[] key, byte[] value) {
        headers.add(new SimpleImmutableEntry<>(key, value));
    }
}
