import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import io.apicurio.registry.rest.client.RegistryClient;
import io.apicurio.registry.rest.v2.beans.ArtifactMetaData;
import io.apicurio.registry.serde.avro.AvroKafkaSerializer;
import io.apicurio.registry.serde.protobuf.ProtobufKafkaSerializer;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serializer;

/** Prints values that Apicurio's serializers write, and the headers that they add: name, bytes, headers. */
public class ApicurioValues {
    static final long GLOBAL_ID = 1007, CONTENT_ID = 7;
    static final HexFormat HEX = HexFormat.of();

    /** A registry that has registered every schema. */
    static RegistryClient registry() {
        ArtifactMetaData answer = new ArtifactMetaData();
        answer.setGlobalId(GLOBAL_ID);
        answer.setContentId(CONTENT_ID);
        answer.setGroupId("shop");
        answer.setId("orders-value");
        answer.setVersion("3");
        return (RegistryClient) Proxy.newProxyInstance(
            ApicurioValues.class.getClassLoader(), new Class<?>[] {RegistryClient.class},
            (proxy, method, arguments) -> method.getReturnType() == ArtifactMetaData.class ? answer : null);
    }

    static Map<String, Object> config(String... pairs) {
        Map<String, Object> config = new HashMap<>();
        config.put("apicurio.registry.auto-register", true);
        for (int number = 0; number < pairs.length; number += 2) {
            config.put(pairs[number], pairs[number + 1]);
        }
        return config;
    }

    static <T> void print(String name, Serializer<T> serializer, Map<String, Object> config, boolean isKey, T value) {
        serializer.configure(config, isKey);
        RecordHeaders headers = new RecordHeaders();
        byte[] content = serializer.serialize("orders", headers, value);
        System.out.println(name + "\t" + HEX.formatHex(content) + "\t" + text(headers));
    }

    static String text(RecordHeaders headers) {
        List<String> pairs = new ArrayList<>();
        for (Header header : headers) {
            pairs.add(header.key() + "=" + HEX.formatHex(header.value()));
        }
        return String.join(" ", pairs);
    }

    static GenericRecord order(Schema schema) {
        GenericRecord order = new GenericData.Record(schema);
        order.put("id", 5);
        order.put("buyer", "Zo\u00eb");
        order.put("amount", 2.5);
        order.put("tags", List.of("a", "b"));
        order.put("raw", ByteBuffer.wrap(new byte[] {0, (byte) 255}));
        order.put("note", 7L);
        order.put("counts", Map.of("x", 1));
        order.put("kind", new GenericData.EnumSymbol(schema.getField("kind").schema(), "NEW"));
        return order;
    }

    static FieldDescriptorProto field(String name, int number, FieldDescriptorProto.Type type) {
        return FieldDescriptorProto.newBuilder().setName(name).setNumber(number).setType(type)
            .setLabel(FieldDescriptorProto.Label.LABEL_OPTIONAL).build();
    }

    static DynamicMessage money() throws Exception {
        FileDescriptorProto file = FileDescriptorProto.newBuilder().setName("shop.proto").setPackage("shop")
            .setSyntax("proto3")
            .addMessageType(DescriptorProto.newBuilder().setName("Other")
                .addField(field("text", 1, FieldDescriptorProto.Type.TYPE_STRING)))
            .addMessageType(DescriptorProto.newBuilder().setName("Money")
                .addField(field("currency", 1, FieldDescriptorProto.Type.TYPE_STRING))
                .addField(field("units", 2, FieldDescriptorProto.Type.TYPE_INT64)))
            .build();
        Descriptor money = FileDescriptor.buildFrom(file, new FileDescriptor[0]).findMessageTypeByName("Money");
        return DynamicMessage.newBuilder(money).setField(money.findFieldByName("currency"), "EUR")
            .setField(money.findFieldByName("units"), 12L).build();
    }

    public static void main(String[] arguments) throws Exception {
        Schema schema = new Schema.Parser().parse(arguments[0]);
        GenericRecord order = order(schema);
        String inHeaders = "apicurio.registry.headers.enabled", useId = "apicurio.registry.use-id";
        String encoding = "apicurio.registry.avro.encoding", handler = "apicurio.registry.id-handler";
        String legacy = "io.apicurio.registry.serde.Legacy4ByteIdHandler";
        String validation = "apicurio.registry.serde.validation-enabled";
        print("8-byte-global-id", new AvroKafkaSerializer<>(registry()), config(inHeaders, "false"), false, order);
        print("8-byte-content-id", new AvroKafkaSerializer<>(registry()),
            config(inHeaders, "false", useId, "contentId"), false, order);
        print("4-byte-global-id", new AvroKafkaSerializer<>(registry()),
            config(inHeaders, "false", handler, legacy), false, order);
        print("4-byte-content-id", new AvroKafkaSerializer<>(registry()),
            config(inHeaders, "false", handler, legacy, useId, "contentId"), false, order);
        print("header-global-id", new AvroKafkaSerializer<>(registry()), config(), false, order);
        print("header-content-id", new AvroKafkaSerializer<>(registry()), config(useId, "contentId"), false, order);
        print("header-json", new AvroKafkaSerializer<>(registry()),
            config(encoding, "JSON"), false, order);
        print("key-header-global-id", new AvroKafkaSerializer<>(registry()), config(), true, order);
        print("protobuf", new ProtobufKafkaSerializer<DynamicMessage>(registry()),
            config(inHeaders, "false", validation, "false"), false, money());
        print("protobuf-header", new ProtobufKafkaSerializer<DynamicMessage>(registry()),
            config(validation, "false"), false, money());
    }
}
