import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Reads all topics of a cluster with Kafka's consumer, and prints their bounds and records as lines of JSON.
 * Arguments: bootstrap servers, isolation level, and for a reading that begins where a consumer group stands and ends
 * with a commit: the group, and the number of records after which it commits.
 */
public class KafkaReads {
    private static final long MOST_SECONDS_WITHOUT_PROGRESS = 60;

    private static final StringBuilder out = new StringBuilder();

    public static void main(String[] arguments) throws Exception {
        String bootstrap = arguments[0], level = arguments[1];
        String group = arguments.length > 2 ? arguments[2] : null;
        long most = arguments.length > 3 ? Long.parseLong(arguments[3]) : Long.MAX_VALUE;
        Map<TopicPartition, Long> ends = bounds(bootstrap, IsolationLevel.valueOf(level.toUpperCase()));
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(bootstrap, level, group)) {
            if (group == null) {
                consumer.assign(ends.keySet());
                consumer.seekToBeginning(ends.keySet());
            } else {
                consumer.subscribe(ends.keySet().stream().map(TopicPartition::topic).collect(Collectors.toSet()));
            }
            read(consumer, ends, most);
            if (group != null) {
                consumer.commitSync();
            }
        }
        System.out.print(out);
    }

    /** Prints the offsets of all partitions, and returns those at which a consumer of the level ends. */
    private static Map<TopicPartition, Long> bounds(String bootstrap, IsolationLevel level) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            Map<TopicPartition, OffsetSpec> earliest = new HashMap<>(), latest = new HashMap<>();
            Set<String> topics = admin.listTopics().names().get();
            for (TopicDescription topic : admin.describeTopics(topics).allTopicNames().get().values()) {
                topic.partitions().forEach(one -> {
                    TopicPartition partition = new TopicPartition(topic.name(), one.partition());
                    earliest.put(partition, OffsetSpec.earliest());
                    latest.put(partition, OffsetSpec.latest());
                });
            }
            Map<TopicPartition, Long> ends = new HashMap<>();
            var starts = admin.listOffsets(earliest).all().get();
            admin.listOffsets(latest, new ListOffsetsOptions(level)).all().get().forEach((partition, end) -> {
                ends.put(partition, end.offset());
                line(partition, "\"start\":" + starts.get(partition).offset() + ",\"end\":" + end.offset());
            });
            return ends;
        }
    }

    private static KafkaConsumer<byte[], byte[]> consumer(String bootstrap, String level, String group) {
        Map<String, Object> config = new HashMap<>(Map.of(
            "bootstrap.servers", bootstrap, "isolation.level", level, "enable.auto.commit", "false"));
        config.put("auto.offset.reset", group == null ? "none" : "earliest");
        if (group != null) {
            config.put("group.id", group);
            config.put("max.partition.fetch.bytes", "2048"); // it reads some of each partition before it commits
        }
        return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private static void read(KafkaConsumer<byte[], byte[]> consumer, Map<TopicPartition, Long> ends, long most) {
        long count = 0, progress = System.nanoTime();
        List<TopicPartition> left = new ArrayList<>(ends.keySet());
        while (count < most && !left.isEmpty()) {
            for (ConsumerRecord<byte[], byte[]> one : consumer.poll(Duration.ofMillis(100))) {
                print(one);
                count++;
                progress = System.nanoTime();
            }
            Set<TopicPartition> assigned = consumer.assignment();
            if (left.removeIf(one -> assigned.contains(one) && consumer.position(one) >= ends.get(one))) {
                progress = System.nanoTime();
            }
            if (System.nanoTime() - progress > MOST_SECONDS_WITHOUT_PROGRESS * 1_000_000_000L) {
                Map<String, Long> stuck = new TreeMap<>();
                left.forEach(one -> stuck.put(one + " to " + ends.get(one), assigned.contains(one) ? consumer.position(one) : -1));
                throw new IllegalStateException("no progress, the positions are " + stuck);
            }
        }
    }

    private static void print(ConsumerRecord<byte[], byte[]> one) {
        List<String> headers = new ArrayList<>();
        for (Header header : one.headers()) {
            headers.add("[" + string(header.key()) + "," + hex(header.value()) + "]");
        }
        line(new TopicPartition(one.topic(), one.partition()),
            "\"offset\":" + one.offset() + ",\"timestamp\":" + one.timestamp()
                + ",\"timestamp_type\":\"" + one.timestampType().name + "\",\"key\":" + hex(one.key())
                + ",\"value\":" + hex(one.value()) + ",\"headers\":" + headers);
    }

    private static void line(TopicPartition partition, String fields) {
        out.append("{\"name\":").append(string(partition.toString())).append(',').append(fields).append("}\n");
    }

    /** Returns the bytes in hexadecimal digits, or their SHA-256 and length if they are more than 256. */
    private static String hex(byte[] bytes) {
        if (bytes == null) {
            return "null";
        }
        HexFormat digits = HexFormat.of();
        try {
            return bytes.length <= 256 ? "\"" + digits.formatHex(bytes) + "\"" : "\"sha256:"
                + digits.formatHex(MessageDigest.getInstance("SHA-256").digest(bytes)) + ":" + bytes.length + "\"";
        } catch (java.security.NoSuchAlgorithmException error) {
            throw new IllegalStateException(error);
        }
    }

    private static String string(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char one : text.toCharArray()) {
            boolean isPlain = one >= ' ' && one <= '~' && one != '"' && one != '\\';
            quoted.append(isPlain ? String.valueOf(one) : String.format("\\u%04x", (int) one));
        }
        return quoted.append('"').toString();
    }
}
