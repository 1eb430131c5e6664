import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.internals.BufferSupplier;
import org.apache.kafka.common.utils.internals.CloseableIterator;

/**
 * Kafka's own reader of segments, as its consumer drives it: checksums verified, payloads decompressed as a stream,
 * buffers reused. One line in, one pass over a file, one line out; serve.py has the same protocol.
 *
 * <p>A line is FILE, MODE, VIA and THREADS with tabs between; one thread reads. MODE:
 * {@code offsets}, offset and timestamp into {@code long[]}; {@code columns}, these, key, value and headers into arrays
 * that grow, and are emptied every 4 MiB; {@code exact}, the same, and every 4 MiB a copy of exact size of each
 * array is handed out, which is what an Arrow batch holds; {@code check}, columns and their checksum. VIA: {@code memory},
 * MemoryRecords over bytes that are there beforehand, or {@code file}, FileRecords.
 *
 * <p>The answer: rows, checksum, nanoseconds of CPU of this thread and of the process, nanoseconds by the clock.
 */
public final class SegmentReader {
    private static final int CHUNK = 4 << 20;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final com.sun.management.OperatingSystemMXBean SYSTEM =
        (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    /** What is handed out goes here, so that no compiler can leave it out. */
    private static volatile Object sink;

    private final BufferSupplier buffers = BufferSupplier.create();
    private final Columns columns = new Columns();
    private String loaded;
    private ByteBuffer bytes;

    /** Byte strings and their ends, as an Arrow binary column has them. */
    private static final class Bytes {
        byte[] data = new byte[1 << 16];
        int[] ends = new int[1 << 12];
        int used;
        int rows;

        void add(ByteBuffer value) {
            if (value != null) {
                int length = value.remaining();
                makeRoom(length);
                value.get(data, used, length);
                used += length;
            }
            end();
        }

        void add(byte[] value) {
            if (value != null) {
                makeRoom(value.length);
                System.arraycopy(value, 0, data, used, value.length);
                used += value.length;
            }
            end();
        }

        private void makeRoom(int length) {
            if (length > data.length - used) {
                data = Arrays.copyOf(data, Math.max(data.length * 2, used + length));
            }
        }

        private void end() {
            if (rows == ends.length) {
                ends = Arrays.copyOf(ends, rows * 2);
            }
            ends[rows++] = used;
        }

        void handOut() {
            sink = Arrays.copyOf(data, used);
            sink = Arrays.copyOf(ends, rows);
        }

        void clear() {
            used = rows = 0;
        }
    }

    private static final class Columns {
        long[] offsets = new long[1 << 12];
        long[] timestamps = new long[1 << 12];
        int[] headerEnds = new int[1 << 12];
        final Bytes keys = new Bytes();
        final Bytes values = new Bytes();
        final Bytes headerKeys = new Bytes();
        final Bytes headerValues = new Bytes();
        int rows;
        long weighted;
        long last;

        void addOffset(Record record) {
            if (rows == offsets.length) {
                offsets = Arrays.copyOf(offsets, rows * 2);
                timestamps = Arrays.copyOf(timestamps, rows * 2);
                headerEnds = Arrays.copyOf(headerEnds, rows * 2);
            }
            offsets[rows] = record.offset();
            timestamps[rows] = record.timestamp();
            rows++;
        }

        void add(Record record) {
            keys.add(record.key());
            values.add(record.value());
            for (Header header : record.headers()) {
                headerKeys.add(header.key().getBytes(StandardCharsets.UTF_8));
                headerValues.add(header.value());
            }
            addOffset(record);
            headerEnds[rows - 1] = headerKeys.rows;
        }

        int size() {
            return 20 * rows + keys.used + values.used + headerKeys.used + headerValues.used;
        }

        void empty(boolean handsOut) {
            if (rows == 0) {
                return;
            }
            weighted += 31L * keys.used + 37L * values.used + 41L * headerKeys.used + 43L * headerValues.used;
            last = offsets[rows - 1] + timestamps[rows - 1];
            if (handsOut) {
                sink = Arrays.copyOf(offsets, rows);
                sink = Arrays.copyOf(timestamps, rows);
                sink = Arrays.copyOf(headerEnds, rows);
                keys.handOut();
                values.handOut();
                headerKeys.handOut();
                headerValues.handOut();
            }
            rows = 0;
            keys.clear();
            values.clear();
            headerKeys.clear();
            headerValues.clear();
        }
    }

    private long offsets(Iterable<? extends RecordBatch> batches) {
        long rows = 0;
        for (RecordBatch batch : batches) {
            batch.ensureValid();
            try (CloseableIterator<Record> records = batch.streamingIterator(buffers)) {
                while (records.hasNext()) {
                    columns.addOffset(records.next());
                    rows++;
                }
            }
            if (columns.rows * 16 >= CHUNK / 8) { // about the rows of 4 MiB of records of 100 bytes
                columns.empty(false);
            }
        }
        columns.empty(false);
        return rows;
    }

    private long columns(Iterable<? extends RecordBatch> batches, boolean handsOut) {
        long rows = 0;
        for (RecordBatch batch : batches) {
            batch.ensureValid();
            try (CloseableIterator<Record> records = batch.streamingIterator(buffers)) {
                while (records.hasNext()) {
                    columns.add(records.next());
                    rows++;
                }
            }
            if (columns.size() >= CHUNK) {
                columns.empty(handsOut);
            }
        }
        columns.empty(handsOut);
        return rows;
    }

    private long rows(String mode, Iterable<? extends RecordBatch> batches) {
        switch (mode) {
            case "offsets": return offsets(batches);
            case "columns":
            case "check": return columns(batches, false);
            case "exact": return columns(batches, true);
            default: throw new IllegalArgumentException(mode);
        }
    }

    private String pass(String file, String mode, String via) throws IOException {
        boolean fromMemory = via.equals("memory");
        if (fromMemory && !file.equals(loaded)) {
            bytes = ByteBuffer.wrap(Files.readAllBytes(Path.of(file)));
            loaded = file;
        }
        columns.weighted = columns.last = 0;
        long wall = System.nanoTime();
        long process = SYSTEM.getProcessCpuTime();
        long thread = THREADS.getCurrentThreadCpuTime();
        long rows;
        if (fromMemory) {
            rows = rows(mode, MemoryRecords.readableRecords(bytes.duplicate()).batches());
        } else {
            try (FileRecords records = FileRecords.open(new File(file), false)) {
                rows = rows(mode, records.batches());
            }
        }
        thread = THREADS.getCurrentThreadCpuTime() - thread;
        process = SYSTEM.getProcessCpuTime() - process;
        wall = System.nanoTime() - wall;
        long checksum = mode.equals("check") ? columns.weighted + columns.last : 0;
        return rows + " " + checksum + " " + thread + " " + process + " " + wall;
    }

    public static void main(String[] arguments) throws IOException {
        SegmentReader reader = new SegmentReader();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split("\t");
            System.out.println(reader.pass(words[0], words[1], words[2]));
            System.out.flush();
        }
    }
}
