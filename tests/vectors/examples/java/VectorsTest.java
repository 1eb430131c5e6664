// Runs the vectors on Kafka's own record classes: mvn test

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.kafka.common.record.ControlRecordType;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.utils.Utils;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

class VectorsTest {
    @TestFactory
    Stream<DynamicTest> readsSoundBatches() throws IOException {
        return vectors("v2-read").map(path -> dynamicTest(path, () -> {
            JsonNode vector = json(path + ".json");
            List<String> expected = new ArrayList<>();
            for (JsonNode row : vector.get("records")) {
                expected.add(row.get("offset").asText() + " " + row.get("key").asText() + " " + row.get("value").asText());
            }
            assertEquals(expected, read(path), vector.get("why").asText());
        }));
    }

    @TestFactory
    Stream<DynamicTest> refusesDamagedBatches() throws IOException {
        return vectors("v2-strict").map(path -> dynamicTest(path, () ->
            assertThrows(Throwable.class, () -> read(path), json(path + ".json").get("why").asText())));
    }

    private static List<String> read(String path) throws IOException {
        List<String> rows = new ArrayList<>();
        for (RecordBatch batch : MemoryRecords.readableRecords(ByteBuffer.wrap(bytes(path + ".bin"))).batches()) {
            batch.ensureValid();
            for (Record record : batch) {
                if (batch.isControlBatch()) {
                    ControlRecordType.parse(record.key());
                } else {
                    rows.add(record.offset() + " " + hex(record.key()) + " " + hex(record.value()));
                }
            }
        }
        return rows;
    }

    private static String hex(ByteBuffer bytes) {
        return bytes == null ? "null" : HexFormat.of().formatHex(Utils.toArray(bytes));
    }

    /** Returns the paths of the cases of a level: the resources are kafka-record-vectors/PATH.json and PATH.bin. */
    private static Stream<String> vectors(String level) throws IOException {
        return StreamSupport.stream(json("manifest.json").get("cases").spliterator(), false)
            .filter(vector -> vector.path("levels").toString().contains("\"" + level + "\""))
            .map(vector -> vector.get("path").asText());
    }

    private static JsonNode json(String name) throws IOException {
        return new ObjectMapper().readTree(bytes(name));
    }

    private static byte[] bytes(String name) throws IOException {
        try (InputStream stream = VectorsTest.class.getResourceAsStream("/kafka-record-vectors/" + name)) {
            return stream.readAllBytes();
        }
    }
}
