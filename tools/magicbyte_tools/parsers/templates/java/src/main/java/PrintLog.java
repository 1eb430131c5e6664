import java.io.IOException;
import java.nio.charset.StandardCharsets;
import kafkaformats.KafkaLog;
import kafkaformats.KafkaMessage;
import kafkaformats.KafkaRecord;
import kafkaformats.KafkaRecordBatch;

/** Prints the entries and records of a log segment: java PrintLog FILE.log */
public final class PrintLog {
    private static String text(byte[] data) {
        return data == null ? "null" : new String(data, StandardCharsets.UTF_8);
    }

    private static void print(KafkaRecordBatch batch) {
        String compressed = batch.payload() == null ? ", compressed" : "";
        System.out.printf(
                "batch %d: %d records%s%n", batch.baseOffset(), batch.numRecords(), compressed);
        if (batch.payload() == null) {
            // Decompress batch.compressedPayload() (batch.attributes().codec() says how) and parse
            // the result with KafkaRecords.
            return;
        }
        boolean appendTime =
                batch.attributes().timestampType()
                        == KafkaRecordBatch.TimestampTypes.LOG_APPEND_TIME;
        for (KafkaRecord record : batch.payload().records()) {
            KafkaRecord.RecordBody body = record.body();
            long offset = batch.baseOffset() + body.offsetDelta().value();
            long timestamp = batch.baseTimestamp() + body.timestampDelta().value();
            if (appendTime) {
                timestamp = batch.maxTimestamp();
            }
            String content =
                    batch.attributes().isControl()
                            ? "control record"
                            : text(body.key()) + " " + text(body.value());
            System.out.println("  " + offset + " " + timestamp + " " + content);
        }
    }

    private static void print(KafkaMessage entry) {
        KafkaMessage.MessageBody message = entry.message();
        System.out.print("message " + entry.offset() + ": ");
        if (message.attributes().codec() != KafkaMessage.Codecs.NONE) {
            System.out.println("compressed"); // decompressed, the value is a KafkaLog
        } else {
            System.out.println(
                    message.timestamp() + " " + text(message.key()) + " " + text(message.value()));
        }
    }

    public static void main(String[] arguments) throws IOException {
        for (KafkaLog.Entry entry : KafkaLog.fromFile(arguments[0]).entries()) {
            if (entry.zeroTail() != null) {
                System.out.println(entry.zeroTail().length + " zeros");
            } else if (entry.partial() != null) {
                System.out.println(
                        entry.partial().length + " bytes of an entry that was cut off");
            } else if (entry.content() instanceof KafkaRecordBatch) {
                print((KafkaRecordBatch) entry.content());
            } else {
                print((KafkaMessage) entry.content());
            }
        }
    }
}
