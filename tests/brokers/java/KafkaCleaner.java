// Compacts partition folders with Kafka's own Cleaner, without a broker, and prints what is left.
// Kafka 3.9, where the cleaner is in Scala, and 4.
// Standard input: FOLDER <tab> FIRST DIRTY OFFSET <tab> NOW IN MS <tab> NAME=VALUE ... (settings of the topic, and
// `map.bytes`, `roll`, `expiration.ms`). The answer is lines, which an empty line ends:
//   C <first dirty offset> <first uncleanable offset> <cleanable bytes> <total bytes> <is due by max.compaction.lag.ms>
//   E <end offset of the round>, or X <exception>
//   S <base offset of a segment>
//   B <base> <last> <magic> <codec> <time type> <base time> <max time> <horizon> <producer> <epoch> <sequence>
//     <leader epoch> <transactional> <control> <count> <checksum of an uncompressed v2 batch, else "-">
//   R <offset> <time> <key> <value> <headers>, in hexadecimal, "-" for null

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import kafka.log.UnifiedLog;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.OffsetMap;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;

public class KafkaCleaner {
    private static final String STORAGE = "org.apache.kafka.storage.internals.";
    private static final boolean IS_SCALA = UnifiedLog.class.getName().startsWith("kafka.");

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        Class<?> schedulerType = Class.forName("org.apache.kafka.server.util.KafkaScheduler");
        Object scheduler = schedulerType.getConstructor(int.class).newInstance(1);
        schedulerType.getMethod("startup").invoke(scheduler);
        for (String line; (line = lines.readLine()) != null; ) {
            String[] words = line.split("\t");
            Map<String, String> settings = new HashMap<>();
            for (int number = 3; number < words.length; number++) {
                String[] pair = words[number].split("=", 2);
                settings.put(pair[0], pair[1]);
            }
            clean(new File(words[0]), Long.parseLong(words[1]), Long.parseLong(words[2]), settings, scheduler, out);
            out.println();
            out.flush();
        }
        schedulerType.getMethod("shutdown").invoke(scheduler);
    }

    private static void clean(File folder, long checkpoint, long now, Map<String, String> settings, Object scheduler,
                              PrintStream out) throws Exception {
        Time time = (Time) Proxy.newProxyInstance(KafkaCleaner.class.getClassLoader(), new Class<?>[] {Time.class},
            (proxy, method, values) -> method.getName().equals("milliseconds") ? (Object) now : method.invoke(Time.SYSTEM, values));
        int mapBytes = Integer.parseInt(settings.getOrDefault("map.bytes", "1048576"));
        int expiration = Integer.parseInt(settings.getOrDefault("expiration.ms", "86400000"));
        boolean rolls = Boolean.parseBoolean(settings.getOrDefault("roll", "true"));
        Map<String, String> topic = new HashMap<>(settings);
        topic.keySet().removeAll(List.of("map.bytes", "expiration.ms", "roll"));
        if (IS_SCALA && topic.containsKey("internal.segment.bytes")) {
            topic.put("segment.bytes", topic.remove("internal.segment.bytes"));
        }
        topic.putAll(Map.of("cleanup.policy", "compact", "file.delete.delay.ms", "0", "retention.ms", "-1"));
        UnifiedLog log = open(folder, new LogConfig(topic), expiration, time, scheduler);
        try {
            log.updateHighWatermark(log.logEndOffset());
            log.removeExpiredProducers(now); // as a broker does every ten minutes
            if (rolls) {
                call(log, "roll", IS_SCALA ? new Object[] {none()} : new Object[0]);
            }
            out.println("E " + doClean(log, checkpoint, now, mapBytes, time, out));
        } catch (InvocationTargetException error) {
            out.println("X " + String.valueOf(error.getCause()).replaceAll("\\s+", " "));
        }
        for (LogSegment segment : log.logSegments()) {
            out.println("S " + segment.baseOffset());
            for (RecordBatch batch : segment.log().batches()) {
                print(batch, out);
            }
        }
        log.close();
    }

    private static UnifiedLog open(File folder, LogConfig config, int expiration, Time time, Object scheduler)
            throws Exception {
        List<Object> values = new ArrayList<>(List.of(folder, config, 0L, 0L, scheduler, brokerTopicStats(), time, 900000,
            new ProducerStateManagerConfig(expiration, false), 600000, new LogDirFailureChannel(10), false));
        Uuid topicId = new Uuid(1, 2);
        if (!IS_SCALA) {
            values.add(Optional.of(topicId));
            return (UnifiedLog) call(UnifiedLog.class, "create", values.toArray());
        }
        Class<?> listener = Class.forName(STORAGE + "log.LogOffsetsListener");
        values.addAll(List.of(option(topicId), false, new ConcurrentHashMap<String, Object>(), false,
            listener.getField("NO_OP_OFFSETS_LISTENER").get(null)));
        return (UnifiedLog) call(module("kafka.log.UnifiedLog$"), "apply", values.toArray());
    }

    private static Object brokerTopicStats() throws Exception {
        if (IS_SCALA) {
            return Class.forName("kafka.server.BrokerTopicStats").getConstructor(boolean.class).newInstance(false);
        }
        return Class.forName("org.apache.kafka.storage.log.metrics.BrokerTopicStats").getConstructor().newInstance();
    }

    private static long doClean(UnifiedLog log, long checkpoint, long now, int mapBytes, Time time, PrintStream out)
            throws Exception {
        OffsetMap map = (OffsetMap) Class.forName(STORAGE + "log.SkimpyOffsetMap").getConstructor(int.class)
            .newInstance(mapBytes);
        Object throttler = create(STORAGE + "utils.Throttler", 1e12, 300L, "x", "y", time);
        Object manager = IS_SCALA ? module("kafka.log.LogCleanerManager$") : Class.forName(STORAGE + "log.LogCleanerManager");
        Object clean = IS_SCALA ? option(checkpoint) : Optional.of(checkpoint);
        Object offsets = call(manager, "cleanableOffsets", log, clean, now);
        long first = (long) call(offsets, "firstDirtyOffset");
        long uncleanable = (long) call(offsets, "firstUncleanableDirtyOffset");
        long delay = (long) call(manager, "maxCompactionDelay", log, first, now);
        Object cleanable;
        Object cleaner;
        if (IS_SCALA) {
            cleanable = create("kafka.log.LogToClean", log.topicPartition(), log, first, uncleanable, delay > 0);
            cleaner = create("kafka.log.Cleaner", 0, map, 1 << 20, 16 << 20, 0.9, throttler, time,
                (scala.Function1<TopicPartition, Object>) partition -> scala.runtime.BoxedUnit.UNIT);
        } else {
            cleanable = create(STORAGE + "log.LogToClean", log, first, uncleanable, delay > 0);
            cleaner = create(STORAGE + "log.Cleaner", 0, map, 1 << 20, 16 << 20, 0.9, throttler, time,
                (java.util.function.Consumer<TopicPartition>) partition -> { });
        }
        long end = (long) call(cleanable, "firstUncleanableOffset");
        out.println("C " + first + " " + end + " " + call(cleanable, "cleanableBytes") + " " + call(cleanable, "totalBytes")
            + " " + (delay > 0));
        if (end <= first) {
            return 0; // no dirty byte can be cleaned, so the broker does not choose this partition
        }
        Object result = call(cleaner, "doClean", cleanable, now);
        return (long) (IS_SCALA ? call(result, "_1") : ((Map.Entry<?, ?>) result).getKey());
    }

    private static Object option(Object value) throws Exception {
        return call(module("scala.Option$"), "apply", value);
    }

    private static Object none() throws Exception {
        return module("scala.None$");
    }

    private static Object module(String name) throws Exception {
        return Class.forName(name).getField("MODULE$").get(null);
    }

    private static Object create(String name, Object... arguments) throws Exception {
        return Class.forName(name).getConstructors()[0].newInstance(arguments);
    }

    // A method of an object, or a static one of a class, public or not, by its name and number of arguments.
    private static Object call(Object target, String name, Object... arguments) throws Exception {
        boolean isClass = target instanceof Class;
        for (Class<?> type = isClass ? (Class<?>) target : target.getClass(); type != null; type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                boolean isNamed = method.getName().equals(name) || method.getName().endsWith("$$" + name);
                if (isNamed && method.getParameterCount() == arguments.length) {
                    method.setAccessible(true);
                    return method.invoke(isClass ? null : target, arguments);
                }
            }
        }
        throw new NoSuchMethodException(name);
    }

    private static void print(RecordBatch batch, PrintStream out) {
        List<String> rows = new ArrayList<>();
        for (Record record : batch) {
            StringBuilder headers = new StringBuilder();
            for (Header header : record.headers()) {
                headers.append(header.key()).append('=').append(hex(header.value())).append(';');
            }
            rows.add("R " + record.offset() + " " + record.timestamp() + " " + hex(record.key()) + " "
                + hex(record.value()) + " " + headers);
        }
        Object horizon = batch.deleteHorizonMs().isPresent() ? batch.deleteHorizonMs().getAsLong() : -1L;
        boolean hasChecksum = batch.magic() >= 2 && batch.compressionType().id == 0;
        Object checksum = hasChecksum ? Long.toUnsignedString(batch.checksum()) : "-";
        Object base = batch.magic() >= 2 ? baseTimestamp(batch) : "-";
        out.println("B " + batch.baseOffset() + " " + batch.lastOffset() + " " + batch.magic() + " "
            + batch.compressionType().id + " " + batch.timestampType().id + " " + base + " " + batch.maxTimestamp() + " "
            + horizon + " " + batch.producerId() + " " + batch.producerEpoch() + " " + batch.baseSequence() + " "
            + batch.partitionLeaderEpoch() + " " + batch.isTransactional() + " " + batch.isControlBatch() + " "
            + rows.size() + " " + checksum);
        rows.forEach(out::println);
    }

    private static Object baseTimestamp(RecordBatch batch) {
        ByteBuffer buffer = ByteBuffer.allocate(batch.sizeInBytes());
        batch.writeTo(buffer);
        return buffer.getLong(27);
    }

    private static String hex(ByteBuffer buffer) {
        if (buffer == null) {
            return "-";
        }
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return hex(bytes);
    }

    private static String hex(byte[] bytes) {
        return bytes == null ? "-" : "x" + HexFormat.of().formatHex(bytes);
    }
}
