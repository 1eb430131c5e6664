package kafkaformats;

import java.util.List;

/**
 * A batch or a message, or bytes that are none. It has no records unless all of it is sound: half a batch is no batch.
 */
public final class LogEntry {
    public enum Kind {
        /** Format v2: {@link #batch}. */
        BATCH,
        /** Format v0 or v1: {@link #message}. */
        MESSAGE,
        /** {@link #problem} says why. */
        DAMAGED,
        /** The beginning of an entry, cut off by the end of the file. */
        CUT,
        /** Bytes that a broker allocated and did not fill. */
        ZEROS
    }

    public final long position;
    public final long size;
    public final Kind kind;
    public final List<LogRecord> records;
    public final KafkaRecordBatch batch;
    public final KafkaMessage message;
    public final String problem;

    private LogEntry(
            long position,
            long size,
            Kind kind,
            List<LogRecord> records,
            KafkaRecordBatch batch,
            KafkaMessage message,
            String problem) {
        this.position = position;
        this.size = size;
        this.kind = kind;
        this.records = records;
        this.batch = batch;
        this.message = message;
        this.problem = problem;
    }

    static LogEntry of(long position, long size, List<LogRecord> records, KafkaRecordBatch batch) {
        return new LogEntry(position, size, Kind.BATCH, records, batch, null, null);
    }

    static LogEntry of(long position, long size, List<LogRecord> records, KafkaMessage message) {
        return new LogEntry(position, size, Kind.MESSAGE, records, null, message, null);
    }

    static LogEntry damaged(long position, long size, String problem) {
        return new LogEntry(position, size, Kind.DAMAGED, List.of(), null, null, problem);
    }

    static LogEntry tail(long position, long size, Kind kind) {
        return new LogEntry(position, size, kind, List.of(), null, null, null);
    }
}
