import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
// Kafka 4.3 has moved these classes. Imports of classes that a release does not have are taken out.
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.DefaultRecordBatch;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.DefaultRecordBatch;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.utils.Utils;

/**
 * Encodes the records on stdin with Kafka's MemoryRecordsBuilder; a batch ends where hasRoomFor says so.
 * Writes for each batch how many bytes it has, and the bytes. All numbers are big-endian.
 */
public class KafkaEncoder {
    private static final int NO_PARTITION_LEADER_EPOCH = 0;

    private record Row(long offset, long timestamp, byte[] key, byte[] value, Header[] headers) {}

    public static void main(String[] arguments) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
        byte magic = in.readByte();
        Compression compression = Compression.of(CompressionType.forId(in.readByte())).build();
        TimestampType timestampType = in.readByte() == 0 ? TimestampType.CREATE_TIME : TimestampType.LOG_APPEND_TIME;
        long appendTime = in.readLong();
        int batchBytes = in.readInt();
        long producerId = in.readLong();
        short producerEpoch = in.readShort();
        int sequence = in.readInt();
        Row[] rows = new Row[in.readInt()];
        for (int number = 0; number < rows.length; number++) {
            rows[number] = new Row(in.readLong(), in.readLong(), bytes(in), bytes(in), headers(in));
        }
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out));
        for (int next = 0; next < rows.length; ) {
            int first = next;
            MemoryRecordsBuilder builder = new MemoryRecordsBuilder(
                ByteBuffer.allocate(1024), magic, compression, timestampType, rows[first].offset, appendTime,
                producerId, producerEpoch, sequence, false, false, NO_PARTITION_LEADER_EPOCH, batchBytes);
            while (next < rows.length && hasRoomFor(builder, rows[next])) {
                Row row = rows[next++];
                builder.appendWithOffset(row.offset, row.timestamp, row.key, row.value, row.headers);
            }
            MemoryRecords batch = builder.build();
            batch.batches().forEach(one -> one.ensureValid());
            out.writeInt(batch.sizeInBytes());
            out.write(Utils.toArray(batch.buffer()));
            if (sequence >= 0) {
                sequence = DefaultRecordBatch.incrementSequence(sequence, next - first);
            }
        }
        out.flush();
    }

    private static boolean hasRoomFor(MemoryRecordsBuilder builder, Row row) {
        return builder.hasRoomFor(row.timestamp, row.key, row.value, row.headers);
    }

    private static Header[] headers(DataInputStream in) throws IOException {
        Header[] headers = new Header[in.readInt()];
        for (int number = 0; number < headers.length; number++) {
            headers[number] = new RecordHeader(new String(bytes(in), "UTF-8"), bytes(in));
        }
        return headers;
    }

    private static byte[] bytes(DataInputStream in) throws IOException {
        int length = in.readInt();
        return length < 0 ? null : in.readNBytes(length);
    }
}
