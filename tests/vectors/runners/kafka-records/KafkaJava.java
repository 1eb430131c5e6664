// Reads logs and varints by the record classes of a Kafka release, as a runner of the vectors:
//   KafkaJava [--file] FORMAT FILE... | KafkaJava [--file] --lines
// With --file a log is read by FileRecords, as brokers do, else by MemoryRecords, as consumers do. Records are encoded by
// MemoryRecordsBuilder.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
// The build deletes the imports of packages and classes that a release does not have.
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.ControlRecordType;
import org.apache.kafka.common.record.FileRecords;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MemoryRecordsBuilder;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
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
                print(out, question.get("format").asText(), question.get("file").asText(), question);
            }
        } else {
            JsonNode settings = JSON.readTree(System.getenv().getOrDefault("CONFORMANCE_SETTINGS", "{}"));
            for (String file : words.subList(1, words.size())) {
                print(out, words.get(0), file, settings);
            }
        }
    }

    private static void print(PrintStream out, String format, String file, JsonNode settings) throws Exception {
        ObjectNode answer = JSON.createObjectNode();
        if (format.equals("kafka_log")) {
            readLog(Path.of(file), answer);
        } else if (format.matches("kafka_(varint|varlong|uvarint)")) {
            readNumber(format, Path.of(file), answer);
        } else if (format.equals("kafka_encoded")) {
            encode(settings.get("encode"), answer);
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

    private static void encode(JsonNode request, ObjectNode answer) throws Exception {
        Object[] settings = {
            ByteBuffer.allocate(1024), (byte) 2, compression(request.get("codec").asText()), TimestampType.CREATE_TIME, 0L,
            RecordBatch.NO_TIMESTAMP, request.get("producer_id").asLong(), (short) request.get("producer_epoch").asInt(),
            request.get("base_sequence").asInt(), request.get("is_transactional").asBoolean(),
            RecordBatch.NO_PARTITION_LEADER_EPOCH,
        };
        MemoryRecordsBuilder builder = null;
        for (Method method : MemoryRecords.class.getMethods()) {
            if (method.getName().equals("builder") && method.getParameterCount() == settings.length
                && method.getParameterTypes()[2].isInstance(settings[2])) {
                builder = (MemoryRecordsBuilder) method.invoke(null, settings);
            }
        }
        for (JsonNode record : request.get("records")) {
            List<Header> headers = new ArrayList<>();
            for (JsonNode header : record.get("headers")) {
                String key = new String(bytes(header.get("key")), StandardCharsets.UTF_8);
                headers.add(new RecordHeader(key, bytes(header.get("value"))));
            }
            builder.append(record.get("timestamp").asLong(), bytes(record.get("key")), bytes(record.get("value")),
                headers.toArray(new Header[0]));
        }
        answer.put("encoded", hex(builder.build().buffer()));
    }

    /** Returns the codec as builders take it: a CompressionType before 3.8, a Compression since. */
    private static Object compression(String codec) throws Exception {
        CompressionType type = CompressionType.forName(codec);
        try {
            Class<?> compression = Class.forName("org.apache.kafka.common.compress.Compression");
            Object builder = compression.getMethod("of", CompressionType.class).invoke(null, type);
            Method build = Class.forName("org.apache.kafka.common.compress.Compression$Builder").getMethod("build");
            return build.invoke(builder);
        } catch (ClassNotFoundException error) {
            return type;
        }
    }

    private static byte[] bytes(JsonNode hexadecimal) {
        return hexadecimal.isNull() ? null : HexFormat.of().parseHex(hexadecimal.asText());
    }
}
