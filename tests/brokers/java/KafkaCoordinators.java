// Reads records of coordinators' topics by the classes of any Kafka release since 2.8, as a runner of the vectors with
// --lines. Where the release has a serde of the topic, which is what its coordinators load by, the serde reads. Before, its
// generated classes do, for the types and versions that GroupMetadataManager and TransactionLog take, which are in Scala.
// Fields are what the generated JsonConverter writes, with int64 as text and bytes in hexadecimal; 2.8 has no such
// converter, and its fields are those that the schema of the version names.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.Schema;

public class KafkaCoordinators {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static final Map<String, List<String>> SERDES = Map.of(
        "__consumer_offsets", List.of(
            "org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde",
            "org.apache.kafka.coordinator.group.CoordinatorRecordSerde"),
        "__transaction_state", List.of("org.apache.kafka.coordinator.transaction.TransactionCoordinatorRecordSerde"),
        "__share_group_state", List.of("org.apache.kafka.coordinator.share.ShareCoordinatorRecordSerde"));

    private static final Map<String, List<String>> MESSAGES_BY_TYPE = Map.of(
        "__consumer_offsets", List.of("OffsetCommit", "OffsetCommit", "GroupMetadata"),
        "__transaction_state", List.of("TransactionLog"),
        "__share_group_state", List.of());

    private static final List<String> PACKAGES = List.of(
        "kafka.internals.generated.", "org.apache.kafka.coordinator.transaction.generated.");

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        String release = release();
        for (String line; (line = lines.readLine()) != null; ) {
            JsonNode question = JSON.readTree(line);
            String releases = question.get("releases").asText();
            if (includes(releases, release)) {
                byte[] bytes = Files.readAllBytes(Path.of(question.get("file").asText()));
                out.println(JSON.writeValueAsString(answer(question.get("topic").asText(), ByteBuffer.wrap(bytes))));
            } else {
                out.println("{\"unsupported\": \"the case is about " + releases + "\"}");
            }
        }
    }

    /** Returns the release of the classes, such as 4.3. */
    private static String release() throws IOException {
        Properties properties = new Properties();
        try (InputStream file = KafkaCoordinators.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            properties.load(file);
        }
        String[] numbers = properties.getProperty("version").split("\\.");
        return numbers[0] + "." + numbers[1];
    }

    private static boolean includes(String releases, String release) {
        String[] ends = releases.replace("+", "-999.0").split("-");
        return number(ends[0]) <= number(release) && number(release) <= number(ends[ends.length - 1]);
    }

    private static int number(String release) {
        String[] numbers = release.split("\\.");
        return Integer.parseInt(numbers[0]) * 1000 + Integer.parseInt(numbers[1]);
    }

    private static ObjectNode answer(String topic, ByteBuffer bytes) {
        ObjectNode answer = JSON.createObjectNode();
        answer.putArray("checks").add("grammar");
        try {
            answer.set("fields", fields(topic, sized(bytes), sized(bytes)));
            answer.putNull("error");
        } catch (Throwable error) {
            answer.putNull("fields");
            answer.putObject("error").put("message", String.valueOf(error));
        }
        return answer;
    }

    private static ByteBuffer sized(ByteBuffer bytes) {
        int size = bytes.getInt();
        if (size < 0) {
            return null;
        }
        byte[] part = new byte[size];
        bytes.get(part);
        return ByteBuffer.wrap(part);
    }

    private static ObjectNode fields(String topic, ByteBuffer key, ByteBuffer value) throws Throwable {
        for (String name : SERDES.get(topic)) {
            Class<?> serde = find(name);
            if (serde != null) {
                ByteBuffer[] copies = {key.duplicate(), value == null ? null : value.duplicate()};
                Object record = call(serde.getDeclaredConstructor().newInstance(), "deserialize", (Object[]) copies);
                return fieldsOfRecord(record, key, value);
            }
        }
        return fieldsByGeneratedClasses(topic, key, value);
    }

    /** A key is a message, and before 4.0 a message and its version; a value is a message and its version. */
    private static ObjectNode fieldsOfRecord(Object record, ByteBuffer key, ByteBuffer value) throws Throwable {
        Object keyMessage = call(record, "key");
        ObjectNode keyData;
        if (keyMessage instanceof ApiMessage) {
            keyData = json((Message) keyMessage, ((ApiMessage) keyMessage).highestSupportedVersion());
        } else {
            keyData = json((Message) call(keyMessage, "message"), (short) call(keyMessage, "version"));
        }
        Object valueMessage = call(record, "value");
        if (valueMessage == null) {
            return fields(key.getShort(0), keyData, null, null);
        }
        short version = (short) call(valueMessage, "version");
        return fields(key.getShort(0), keyData, version, json((Message) call(valueMessage, "message"), version));
    }

    private static ObjectNode fieldsByGeneratedClasses(String topic, ByteBuffer key, ByteBuffer value) throws Throwable {
        short type = key.getShort();
        List<String> names = MESSAGES_BY_TYPE.get(topic);
        if (type < 0 || type >= names.size()) {
            throw new IllegalStateException("unknown type " + type);
        }
        Message keyMessage = newMessage(names.get(type) + "Key");
        keyMessage.read(new ByteBufferAccessor(key), type);
        ObjectNode keyData = json(keyMessage, type);
        if (value == null) {
            return fields(type, keyData, null, null);
        }
        short version = value.getShort();
        Message message = newMessage(names.get(type) + "Value");
        if (version < message.lowestSupportedVersion() || version > message.highestSupportedVersion()) {
            throw new IllegalStateException("unknown version " + version);
        }
        message.read(new ByteBufferAccessor(value), version);
        return fields(type, keyData, version, json(message, version));
    }

    private static ObjectNode fields(short type, ObjectNode keyData, Short version, ObjectNode valueData) {
        ObjectNode fields = JSON.createObjectNode();
        fields.putObject("key").put("type", type).set("data", keyData);
        if (version == null) {
            fields.putNull("value");
        } else {
            fields.putObject("value").put("version", version).set("data", valueData);
        }
        return fields;
    }

    private static Message newMessage(String name) throws Exception {
        for (String packageName : PACKAGES) {
            Class<?> found = find(packageName + name);
            if (found != null) {
                return (Message) found.getDeclaredConstructor().newInstance();
            }
        }
        throw new IllegalStateException("no class " + name);
    }

    private static Class<?> find(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException error) {
            return null;
        }
    }

    private static Object call(Object target, String name, Object... values) throws Throwable {
        for (Method method : target.getClass().getMethods()) {
            if (method.getName().equals(name) && method.getParameterCount() == values.length && !method.isBridge()) {
                try {
                    return method.invoke(target, values);
                } catch (InvocationTargetException error) {
                    throw error.getCause();
                }
            }
        }
        throw new NoSuchMethodException(target.getClass() + "." + name);
    }

    private static ObjectNode json(Message message, short version) throws Throwable {
        Class<?> converter = find(message.getClass().getName() + "JsonConverter");
        if (converter == null) {
            return fieldsOfSchema(message, version);
        }
        Method write = converter.getMethod("write", message.getClass(), short.class);
        return (ObjectNode) converted((JsonNode) write.invoke(null, message, version));
    }

    /** Returns the JSON of Kafka's converter as the vectors have it. */
    private static JsonNode converted(JsonNode node) throws IOException {
        if (node.isLong()) {
            return TextNode.valueOf(node.asText());
        } else if (node.isBinary()) {
            return TextNode.valueOf(HexFormat.of().formatHex(node.binaryValue()));
        } else if (node.isArray()) {
            ArrayNode array = JSON.createArrayNode();
            for (JsonNode element : node) {
                array.add(converted(element));
            }
            return array;
        } else if (node.isObject()) {
            ObjectNode object = JSON.createObjectNode();
            for (Iterator<String> names = node.fieldNames(); names.hasNext(); ) {
                String name = names.next();
                object.set(name, converted(node.get(name)));
            }
            return object;
        }
        return node;
    }

    private static ObjectNode fieldsOfSchema(Message message, short version) throws Throwable {
        Schema schema = (Schema) message.getClass().getField("SCHEMA_" + version).get(null);
        ObjectNode fields = JSON.createObjectNode();
        for (BoundField field : schema.fields()) {
            StringBuilder name = new StringBuilder();
            for (String word : field.def.name.split("_")) {
                name.append(name.length() == 0 ? word : word.substring(0, 1).toUpperCase() + word.substring(1));
            }
            fields.set(name.toString(), value(call(message, name.toString()), version));
        }
        return fields;
    }

    private static JsonNode value(Object value, short version) throws Throwable {
        if (value instanceof Message) {
            return fieldsOfSchema((Message) value, version);
        } else if (value instanceof List) {
            ArrayNode array = JSON.createArrayNode();
            for (Object element : (List<?>) value) {
                array.add(value(element, version));
            }
            return array;
        }
        return converted(JSON.valueToTree(value));
    }
}
