import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;

/**
 * Encodes records with the producer's MemoryRecordsBuilder, again and again, from arrays that are prepared before.
 * BatchEncoder CODEC FILE KEY_BYTES VALUE_BYTES BATCH_BYTES SECONDS; FILE holds key and value of each record.
 * Prints the fewest CPU nanoseconds of this thread for all records, their encoded bytes, and the batches.
 */
public class BatchEncoder {
    private static final Header[] NO_HEADERS = new Header[0];

    public static void main(String[] arguments) throws IOException {
        Compression compression = Compression.of(CompressionType.forName(arguments[0])).build();
        byte[] data = Files.readAllBytes(Path.of(arguments[1]));
        int keyBytes = Integer.parseInt(arguments[2]);
        int recordBytes = keyBytes + Integer.parseInt(arguments[3]);
        int batchBytes = Integer.parseInt(arguments[4]);
        byte[][] keys = new byte[data.length / recordBytes][];
        byte[][] values = new byte[keys.length][];
        for (int number = 0; number < keys.length; number++) {
            int begin = number * recordBytes;
            keys[number] = Arrays.copyOfRange(data, begin, begin + keyBytes);
            values[number] = Arrays.copyOfRange(data, begin + keyBytes, begin + recordBytes);
        }
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        ByteBuffer pooled = ByteBuffer.allocate(batchBytes + 4096);
        long end = System.nanoTime() + (long) (Double.parseDouble(arguments[5]) * 1e9);
        long fewest = Long.MAX_VALUE;
        long bytes = 0;
        int batches = 0;
        while (System.nanoTime() < end) {
            long begun = threads.getCurrentThreadCpuTime();
            bytes = 0;
            batches = 0;
            for (int next = 0; next < keys.length; batches++) {
                pooled.clear();
                MemoryRecordsBuilder builder = new MemoryRecordsBuilder(
                    pooled, (byte) 2, compression, TimestampType.CREATE_TIME, next, -1, -1, (short) -1, -1, false, false, 0,
                    batchBytes);
                while (next < keys.length && builder.hasRoomFor(next, keys[next], values[next], NO_HEADERS)) {
                    builder.append((long) next, keys[next], values[next]);
                    next++;
                }
                MemoryRecords batch = builder.build();
                bytes += batch.sizeInBytes();
            }
            fewest = Math.min(fewest, threads.getCurrentThreadCpuTime() - begun);
        }
        System.out.println(fewest + " " + bytes + " " + batches);
    }
}
