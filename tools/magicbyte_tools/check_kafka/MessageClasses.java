// Prints the generated message classes in the Kafka jars of the class path, one JSON object per line:
// {"name", "jar", "api_key", "schemas": {version: [{"name", "kind", "array", "nullable", "tag", "fields"}]}}

import java.io.File;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.Field;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.TaggedFields;
import org.apache.kafka.common.protocol.types.Type;

public class MessageClasses {
    public static void main(String[] arguments) throws Exception {
        for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
            File file = new File(path);
            if (file.getName().startsWith("kafka") && file.getName().endsWith(".jar")) {
                printJar(file);
            }
        }
    }

    private static void printJar(File file) throws Exception {
        try (JarFile jar = new JarFile(file)) {
            for (JarEntry entry : Collections.list(jar.entries())) {
                String name = entry.getName();
                if (name.endsWith(".class") && !name.contains("$") && !name.startsWith("META-INF")) {
                    String className = name.substring(0, name.length() - 6).replace('/', '.');
                    Class<?> messageClass = messageClass(className);
                    if (messageClass != null) {
                        System.out.println(json(messageClass, file.getName()));
                    }
                }
            }
        }
    }

    // Classes that cannot be linked need libraries that a broker does without; messages need none.
    private static Class<?> messageClass(String name) {
        try {
            Class<?> found = Class.forName(name, false, MessageClasses.class.getClassLoader());
            boolean isMessage = Message.class.isAssignableFrom(found) && !found.isInterface();
            return isMessage ? found : null;
        } catch (ClassNotFoundException | LinkageError error) {
            return null;
        }
    }

    private static String json(Class<?> messageClass, String jar) throws Exception {
        Message message = (Message) messageClass.getDeclaredConstructor().newInstance();
        Map<Short, String> schemas = new TreeMap<>();
        for (short v = message.lowestSupportedVersion(); v <= message.highestSupportedVersion(); v++) {
            Schema schema = (Schema) messageClass.getField("SCHEMA_" + v).get(null);
            schemas.put(v, fields(schema));
        }
        List<String> versions = new ArrayList<>();
        schemas.forEach((version, fields) -> versions.add("\"" + version + "\":" + fields));
        String key = message instanceof ApiMessage ? "" + ((ApiMessage) message).apiKey() : "null";
        return String.format("{\"name\":\"%s\",\"jar\":\"%s\",\"api_key\":%s,\"schemas\":{%s}}",
            messageClass.getSimpleName(), jar, key, String.join(",", versions));
    }

    private static String fields(Schema schema) {
        List<String> texts = new ArrayList<>();
        for (BoundField bound : schema.fields()) {
            if (bound.def.type instanceof TaggedFields) {
                TaggedFields tagged = (TaggedFields) bound.def.type;
                new TreeMap<>(tagged.fields()).forEach((tag, field) -> texts.add(field(field, tag)));
                texts.add("{\"name\":\"_tagged_fields\"}");
            } else {
                texts.add(field(bound.def, null));
            }
        }
        return "[" + String.join(",", texts) + "]";
    }

    private static String field(Field field, Integer tag) {
        Type type = field.type;
        Type element = type.arrayElementType().orElse(type);
        StringBuilder text = new StringBuilder("{\"name\":\"" + field.name + "\"");
        text.append(",\"kind\":\"").append(kind(element)).append("\"");
        if (type.isArray()) {
            text.append(",\"array\":true");
        }
        if (type.isNullable()) {
            text.append(",\"nullable\":true");
        }
        if (tag != null) {
            text.append(",\"tag\":").append(tag);
        }
        if (element instanceof Schema) {
            text.append(",\"fields\":").append(fields((Schema) element));
        }
        return text.append("}").toString();
    }

    private static String kind(Type type) {
        if (type instanceof Schema) {
            return "struct";
        }
        return type.toString().toLowerCase().replace("compact_", "").replace("nullable_", "");
    }
}
