// Reads logs and varints by the record classes of a Kafka release, as a runner of the vectors:
//   KafkaJava [--file] FORMAT FILE... | KafkaJava [--file] --lines
// With --file a log is read by FileRecords, as brokers do, else by MemoryRecords, as consumers do.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.TimestampType;
// The build deletes the imports of packages and classes that a release does not have.
import org.apache.kafka.common.record.ControlRecordType;
import org.apache.kafka.common.record.FileRecords;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.BufferSupplier;
import org.apache.kafka.common.utils.ByteUtils;
import org.apache.kafka.common.utils.internals.BufferSupplier;
import org.apache.kafka.common.utils.internals.ByteUtils;

public class KafkaJava {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static boolean useFile = false;

    public static void main(String[] arguments) throws Exception {
        List<String> words = new ArrayList<>(List.of(arguments));
        useFile = words.remove("--file");
        PrintStream out = System.out;
        System.setOut(System.err);
        if (words.remove("--lines")) {
            BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
            for (String line; (line = lines.readLine()) != null; ) {
                JsonNode question = JSON.readTree(line);
                print(out, question.get("format").asText(), question.get("file").asText());
            }
        } else {
            for (String file : words.subList(1, words.size())) {
                print(out, words.get(0), file);
            }
        }
    }

    private static void print(PrintStream out, String format, String file) throws Exception {
        ObjectNode answer = JSON.createObjectNode();
        if (format.equals("kafka_log")) {
            readLog(Path.of(file), answer);
        } else if (format.matches("kafka_(varint|varlong|uvarint)")) {
            readNumber(format, Path.of(file), answer);
        } else {
            answer.put("unsupported", "it is not read by Kafka's record classes");
        }
        out.println(JSON.writeValueAsString(answer));
        out.flush();
    }

    private static void readLog(Path path, ObjectNode answer) throws Exception {
        ArrayNode records = answer.putArray("records");
        ArrayNode checks = answer.putArray("checks");
        List.of("grammar", "exact", "checksum", "codec").forEach(checks::add);
        long position = 0;
        FileRecords file = useFile ? FileRecords.open(path.toFile(), false) : null;
        try {
            Iterable<? extends RecordBatch> batches = useFile
                ? file.batches()
                : MemoryRecords.readableRecords(ByteBuffer.wrap(Files.readAllBytes(path))).batches();
            for (RecordBatch batch : batches) {
                records.addAll(rows(batch));
                position += batch.sizeInBytes();
            }
            answer.putNull("error");
        } catch (Throwable error) {
            answer.put("stopped", true);
            answer.putObject("error").put("message", error.toString()).put("position", position);
        } finally {
            if (file != null) {
                file.close();
            }
        }
    }

    private static List<ObjectNode> rows(RecordBatch batch) {
        if (batch.magic() >= 2) {
            batch.ensureValid();
        }
        List<ObjectNode> rows = new ArrayList<>();
        try (var records = batch.streamingIterator(BufferSupplier.NO_CACHING)) {
            for (boolean isFirst = true; records.hasNext(); isFirst = false) {
                var record = records.next();
                record.ensureValid();
                if (!batch.isControlBatch()) {
                    rows.add(row(record, batch));
                } else if (isFirst) { // the consumer looks at no other one
                    ControlRecordType.parse(record.key());
                }
            }
        }
        return rows;
    }

    private static ObjectNode row(Record record, RecordBatch batch) {
        ObjectNode row = JSON.createObjectNode();
        TimestampType type = batch.timestampType();
        boolean hasTime = record.timestamp() != RecordBatch.NO_TIMESTAMP;
        row.put("offset", Long.toString(record.offset()));
        row.put("timestamp", hasTime ? Long.toString(record.timestamp()) : null);
        row.put("timestamp_type", type == TimestampType.NO_TIMESTAMP_TYPE ? null : type.name);
        row.put("key", hex(record.key()));
        row.put("value", hex(record.value()));
        ArrayNode headers = row.putArray("headers");
        for (Header header : record.headers()) {
            byte[] value = header.value();
            ObjectNode pair = headers.addObject().put("key", hex(utf8(header.key())));
            pair.put("value", value == null ? null : hex(ByteBuffer.wrap(value)));
        }
        return row;
    }

    private static ByteBuffer utf8(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String hex(ByteBuffer bytes) {
        if (bytes == null) {
            return null;
        }
        StringBuilder text = new StringBuilder();
        for (ByteBuffer rest = bytes.duplicate(); rest.hasRemaining(); ) {
            text.append(String.format("%02x", rest.get()));
        }
        return text.toString();
    }

    private static void readNumber(String format, Path path, ObjectNode answer) throws Exception {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(path));
        answer.putArray("checks").add("grammar");
        try {
            switch (format) {
                case "kafka_varint": answer.put("fields", ByteUtils.readVarint(bytes)); break;
                case "kafka_varlong": answer.put("fields", Long.toString(ByteUtils.readVarlong(bytes))); break;
                default: answer.put("fields", Integer.toUnsignedLong(ByteUtils.readUnsignedVarint(bytes)));
            }
            answer.putNull("error");
        } catch (RuntimeException error) {
            answer.putNull("fields");
            answer.putObject("error").put("message", error.toString());
        }
    }
}
