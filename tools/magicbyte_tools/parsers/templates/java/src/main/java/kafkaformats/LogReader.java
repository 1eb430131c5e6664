package kafkaformats;

import io.kaitai.struct.KaitaiStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/**
 * Reads the entries of a log segment one at a time, and decompresses them.
 *
 * <p>An entry that cannot be read is returned as {@link LogEntry.Kind#DAMAGED}, and the next one is looked for where its
 * length says. Where the length itself cannot be right, the rest of the file is one damaged entry.
 */
public final class LogReader implements Iterator<LogEntry>, Iterable<LogEntry>, Closeable {
    /** What to decompress with, by the number of the codec; may be changed. */
    public final Map<Integer, Decompressor> decompressors = Decompressors.all();
    /** Largest entry as it is stored. */
    public long maxEntryBytes = 1 << 30;
    /** Largest payload of an entry, decompressed. */
    public long maxBatchBytes = 256 << 20;

    private final FileChannel file;
    private final long end;
    private long position;

    public LogReader(Path path) throws IOException {
        file = FileChannel.open(path);
        end = file.size();
    }

    @Override
    public Iterator<LogEntry> iterator() {
        return this;
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    @Override
    public boolean hasNext() {
        return position < end;
    }

    /** Returns the next entry. Throws UncheckedIOException where the file cannot be read. */
    @Override
    public LogEntry next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        try {
            return read();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private LogEntry read() throws IOException {
        long start = position;
        long left = end - start;
        ByteBuffer head = ByteBuffer.wrap(bytes(start, (int) Math.min(left, 17)));
        int length = left < 12 ? 0 : head.getInt(8);
        position = end; // unless another entry follows
        if (length == 0 && onlyZeros(start)) {
            return LogEntry.tail(start, left, LogEntry.Kind.ZEROS);
        }
        if (left >= 12 && length < 14) {
            String found = "an entry of " + length + " bytes; expected 14 or more";
            return LogEntry.damaged(start, left, found);
        }
        if (left < 17) {
            return LogEntry.tail(start, left, LogEntry.Kind.CUT);
        }
        long size = Math.min(12L + length, left);
        boolean isWhole = 12L + length <= left;
        position = start + size;
        int magic = head.get(16);
        if (magic < 0 || magic > 2) {
            return LogEntry.damaged(start, size, "magic " + magic + "; expected 0, 1 or 2");
        }
        if (!isWhole) {
            return LogEntry.tail(start, left, LogEntry.Kind.CUT);
        }
        if (size > maxEntryBytes) {
            String found = "an entry of " + size + " bytes; the limit is " + maxEntryBytes;
            return LogEntry.damaged(start, size, found);
        }
        byte[] data = bytes(start, (int) size);
        try {
            return magic == 2 ? readBatch(start, data) : readMessageEntry(start, data);
        } catch (IOException | RuntimeException error) {
            String text = error.getMessage();
            return LogEntry.damaged(start, size, text == null ? error.toString() : text);
        }
    }

    private byte[] bytes(long start, int size) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(size);
        while (buffer.hasRemaining()) {
            if (file.read(buffer, start + buffer.position()) < 0) {
                throw new EOFException("the file became shorter");
            }
        }
        return buffer.array();
    }

    private boolean onlyZeros(long start) throws IOException {
        for (long at = start; at < end; at += 1 << 16) {
            for (byte each : bytes(at, (int) Math.min(end - at, 1 << 16))) {
                if (each != 0) {
                    return false;
                }
            }
        }
        return true;
    }

    private static void verify(Checksum checksum, byte[] data, int from, int storedAt)
            throws IOException {
        checksum.update(data, from, data.length - from);
        int stored = ByteBuffer.wrap(data).getInt(storedAt);
        if (stored != (int) checksum.getValue()) {
            String computed = String.format("%08x", (int) checksum.getValue());
            throw new IOException(
                    "stored checksum " + String.format("%08x", stored) + ", computed " + computed);
        }
    }

    private byte[] decompress(int codec, int magic, byte[] payload) throws IOException {
        Decompressor decompressor = decompressors.get(codec);
        if (decompressor == null || codec == 4 && magic < 2) {
            String found = "codec " + codec + " in magic " + magic;
            throw new IOException(found + "; expected one that Kafka has there");
        }
        return decompressor.decompress(payload, magic, maxBatchBytes);
    }

    private LogEntry readBatch(long start, byte[] data) throws IOException {
        if (data.length < 61) {
            throw new IOException("a batch of " + data.length + " bytes; expected 61 or more");
        }
        verify(new CRC32C(), data, 21, 17);
        KafkaRecordBatch batch = new KafkaRecordBatch(new BoundedStream(data));
        return LogEntry.of(start, data.length, batchRecords(batch, data[22] & 7), batch);
    }

    private List<LogRecord> batchRecords(KafkaRecordBatch batch, int codec) throws IOException {
        List<LogRecord> records = new ArrayList<>();
        if (batch.payload() != null) {
            for (KafkaRecord record : batch.payload().records()) {
                records.add(batchRecord(batch, record));
            }
            return records;
        }
        if (batch.numRecords() == 0) {
            return records;
        }
        KaitaiStream stream = new BoundedStream(decompress(codec, 2, batch.compressedPayload()));
        for (int count = 0; count < batch.numRecords(); count++) {
            boolean isControl = batch.attributes().isControl();
            records.add(batchRecord(batch, new KafkaRecord(stream, isControl)));
        }
        if (!stream.isEof()) {
            throw new IOException("bytes behind the last of " + batch.numRecords() + " records");
        }
        return records;
    }

    private static LogRecord batchRecord(KafkaRecordBatch batch, KafkaRecord record)
            throws IOException {
        KafkaRecord.RecordBody body = record.body();
        KafkaRecordBatch.BatchAttributes attributes = batch.attributes();
        if (!body._io().isEof() || body.numHeaders().value() < 0) {
            throw new IOException("a record that its fields do not fill");
        }
        byte[] key = body.key();
        if (attributes.isControl() && (key == null || key.length < 4 || key[0] < 0)) {
            throw new IOException("a control record whose key has no version and type");
        }
        boolean isAppendTime =
                attributes.timestampType() == KafkaRecordBatch.TimestampTypes.LOG_APPEND_TIME;
        LogRecord row =
                new LogRecord(
                        batch.baseOffset() + body.offsetDelta().value(),
                        isAppendTime
                                ? batch.maxTimestamp()
                                : batch.baseTimestamp() + body.timestampDelta().value(),
                        isAppendTime ? "LogAppendTime" : "CreateTime",
                        body.key(),
                        body.value(),
                        attributes.isControl(),
                        attributes.isControl() ? control(body) : null);
        for (KafkaRecord.Header header : body.headers()) {
            row.addHeader(header.key(), header.value());
        }
        return row;
    }

    private static KafkaControlRecord control(KafkaRecord.RecordBody body) {
        try {
            return body.controlRecord();
        } catch (RuntimeException error) {
            return null; // a type or version that is not known
        }
    }

    private static KafkaMessage readMessage(byte[] data) throws IOException {
        verify(new CRC32(), data, 16, 12);
        return new KafkaMessage(new BoundedStream(data));
    }

    private LogEntry readMessageEntry(long start, byte[] data) throws IOException {
        KafkaMessage entry = readMessage(data);
        return LogEntry.of(start, data.length, messageRecords(entry, data[17] & 7), entry);
    }

    private List<LogRecord> messageRecords(KafkaMessage entry, int codec) throws IOException {
        KafkaMessage.MessageBody message = entry.message();
        if (codec == 0) {
            return List.of(messageRecord(entry, entry, entry.offset()));
        }
        if (message.value() == null) {
            throw new IOException("a wrapper message without a value");
        }
        List<KafkaMessage> inner =
                innerMessages(decompress(codec, message.magic(), message.value()));
        long base = 0;
        if (message.magic() == 1 && entry.offset() != 0) { // offsets inside count from the first
            long last = inner.get(inner.size() - 1).offset();
            if (entry.offset() < last) {
                String found = "offset " + entry.offset() + " of a wrapper; in it is " + last;
                throw new IOException(found);
            }
            base = entry.offset() - last;
        }
        List<LogRecord> records = new ArrayList<>();
        for (KafkaMessage one : inner) {
            records.add(messageRecord(entry, one, base + one.offset()));
        }
        return records;
    }

    /** Returns the messages in a wrapper; one that is cut off at the end is left out, as in Kafka. */
    private static List<KafkaMessage> innerMessages(byte[] payload) throws IOException {
        List<KafkaMessage> messages = new ArrayList<>();
        ByteBuffer rest = ByteBuffer.wrap(payload);
        while (rest.remaining() >= 12) {
            int length = rest.getInt(rest.position() + 8);
            if (length < 14) {
                String found = "a message of " + length + " bytes in a wrapper";
                throw new IOException(found + "; expected 14 or more");
            }
            if (length > rest.remaining() - 12) {
                break;
            }
            byte[] data = new byte[12 + length];
            rest.get(data);
            messages.add(readMessage(data));
            if ((data[17] & 7) != 0) {
                throw new IOException("a wrapper message in a wrapper message");
            }
        }
        if (messages.isEmpty()) {
            throw new IOException("a wrapper message that holds no message");
        }
        return messages;
    }

    private static LogRecord messageRecord(KafkaMessage wrapper, KafkaMessage entry, long offset) {
        KafkaMessage.MessageBody outer = wrapper.message();
        KafkaMessage.MessageBody message = entry.message();
        boolean isAppendTime =
                outer.magic() > 0
                        && outer.attributes().timestampType()
                                == KafkaMessage.TimestampTypes.LOG_APPEND_TIME;
        long timestamp = -1;
        if (message.magic() > 0) {
            timestamp = isAppendTime ? outer.timestamp() : message.timestamp();
        }
        String type = isAppendTime ? "LogAppendTime" : "CreateTime";
        return new LogRecord(
                offset, timestamp, outer.magic() > 0 ? type : null, message.key(), message.value());
    }
}
