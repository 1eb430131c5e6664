// Reads companion files, checkpoints and produced batches by a broker's classes of any release since 2.8, found
// by reflection, as several are in Scala in old releases. A runner of the vectors with --lines. Without it, standard
// input is FORMAT <tab> FILE <tab> "compacted" or "", and each line is answered by "accept" and the entries as
// JSON, "refuse" and an error, or "absent" and a class.
// With --loaded, files are read as a broker loads a partition: indexes without sanityCheck, which only the cache of remote
// indexes calls, and leader epochs into LeaderEpochFileCache. Formats that have one reader are then absent.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.TextNode;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

public class KafkaStorage {
    private static final String[] PACKAGES = {
        "org.apache.kafka.storage.internals.log.", "org.apache.kafka.storage.internals.checkpoint.",
        "org.apache.kafka.common.record.internal.", "org.apache.kafka.common.record.", "org.apache.kafka.common.",
        "org.apache.kafka.common.compress.", "org.apache.kafka.common.utils.internals.", "org.apache.kafka.common.utils.",
        "org.apache.kafka.common.protocol.", "org.apache.kafka.common.requests.", "org.apache.kafka.common.metadata.",
        "org.apache.kafka.metadata.",
        "org.apache.kafka.server.common.", "org.apache.kafka.server.util.", "org.apache.kafka.storage.internals.epoch.",
        "kafka.server.epoch.", "kafka.log.", "kafka.server.", "kafka.server.checkpoints.", "kafka.raft.metadata.",
        "org.apache.kafka.raft.metadata.",
    };

    private static final Map<String, String> FILE_NAMES = Map.of(
        "kafka_offset_index", "00000000000000000000.index",
        "kafka_time_index", "00000000000000000000.timeindex",
        "kafka_transaction_index", "00000000000000000000.txnindex",
        "kafka_producer_snapshot", "00000000000000000000.snapshot",
        "kafka_partition_metadata", "partition.metadata",
        "kafka_leader_epoch_checkpoint", "leader-epoch-checkpoint",
        "kafka_offset_checkpoint", "replication-offset-checkpoint");

    private static final List<String> LOADED = List.of(
        "kafka_offset_index", "kafka_time_index", "kafka_leader_epoch_checkpoint");
    private static boolean isLoaded = false;

    private static class AbsentException extends Exception {
        AbsentException(String message) {
            super(message);
        }
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        Path folder = Files.createTempDirectory("kafka-storage");
        boolean isRunner = List.of(arguments).contains("--lines");
        isLoaded = List.of(arguments).contains("--loaded");
        for (String line; (line = lines.readLine()) != null; ) {
            if (isRunner) {
                JsonNode question = new ObjectMapper().readTree(line);
                String format = question.get("format").asText();
                Path path = Path.of(question.get("file").asText());
                boolean isCompacted = question.path("compacted").asBoolean();
                out.println(verdict(format, answer(format, path, isCompacted, folder)));
            } else {
                String[] words = line.split("\t", -1);
                out.println(answer(words[0], Path.of(words[1]), words[2].equals("compacted"), folder));
            }
        }
        Files.delete(folder);
    }

    private static String verdict(String format, String answer) {
        if (answer.startsWith("absent ")) {
            return "{\"unsupported\": \"this release has no class for it\"}";
        }
        // A batch is accepted if a topic of the default setting takes it: compression.type=producer.
        String wanted = format.equals("kafka_produced") ? "\"producer\"" : "";
        return "{\"accepted\": " + (answer.startsWith("accept ") && answer.contains(wanted)) + "}";
    }

    private static String answer(String format, Path path, boolean isCompacted, Path folder) throws Exception {
        File file = folder.resolve(FILE_NAMES.getOrDefault(format, "file")).toFile();
        Files.copy(path, file.toPath());
        try {
            return "accept " + read(format, file, isCompacted);
        } catch (AbsentException error) {
            return "absent " + error.getMessage();
        } catch (Throwable error) {
            return "refuse " + String.valueOf(error).replaceAll("\\s+", " ");
        } finally {
            Files.deleteIfExists(file.toPath());
        }
    }

    private static String read(String format, File file, boolean isCompacted) throws Throwable {
        if (isLoaded && !LOADED.contains(format)) {
            throw new AbsentException("another reader of " + format);
        }
        switch (format) {
            case "kafka_offset_index": return index("OffsetIndex", file, "offset", "position");
            case "kafka_time_index": return index("TimeIndex", file, "timestamp", "offset");
            case "kafka_transaction_index": {
                Object index = create("TransactionIndex", 0L, file);
                try {
                    call(index, "sanityCheck");
                    return rows(call(index, "allAbortedTxns"), "producerId", "firstOffset", "lastOffset", "lastStableOffset");
                } finally {
                    call(index, "close");
                }
            }
            case "kafka_producer_snapshot": return producers(callStatic("ProducerStateManager", "readSnapshot", file));
            case "kafka_partition_metadata":
                return rows(List.of(call(create("PartitionMetadataFile", file, channel()), "read")), "topicId");
            case "kafka_leader_epoch_checkpoint":
                return epochs(create("LeaderEpochCheckpointFile", file, channel()));
            case "kafka_offset_checkpoint":
                return offsets(call(create("OffsetCheckpointFile", file, channel()), "read"));
            case "kafka_metadata_record": {
                // The metadata log of 2.8 was a preview with frames of its own, and no release reads those of another.
                find("NoOpRecord");
                byte[] bytes = Files.readAllBytes(file.toPath());
                Object readable = create("ByteBufferAccessor", ByteBuffer.wrap(bytes));
                Object record = call(create("MetadataRecordSerde"), "read", readable, bytes.length);
                return "[[" + get(get(record, "message"), "apiKey") + "]]";
            }
            case "kafka_produced": return produced(Files.readAllBytes(file.toPath()), isCompacted);
            default: throw new AbsentException(format);
        }
    }

    private static String index(String name, File file, String... fields) throws Throwable {
        Object index = create(name, file, 0L, -1, true);
        try {
            if (!isLoaded) {
                call(index, "sanityCheck");
            }
            List<Object> entries = new ArrayList<>();
            for (int number = 0; number < (int) call(index, "entries"); number++) {
                entries.add(call(index, "entry", number));
            }
            return rows(entries, fields);
        } finally {
            try {
                call(index, "closeHandler");
            } catch (AbsentException error) {
                call(index, "close");
            }
        }
    }

    private static String epochs(Object checkpoint) throws Throwable {
        if (!isLoaded) {
            return rows(call(checkpoint, "read"), "epoch", "startOffset");
        }
        Object partition = create("TopicPartition", "t", 0);
        Object cache;
        try {
            cache = create("LeaderEpochFileCache", partition, checkpoint, create("KafkaScheduler", 1));
        } catch (AbsentException error) { // 2.8 takes a function that returns the log end offset
            Class<?> function = Class.forName("scala.Function0");
            Object logEnd = Proxy.newProxyInstance(function.getClassLoader(), new Class<?>[] {function},
                (proxy, method, values) -> Long.MAX_VALUE);
            cache = create("LeaderEpochFileCache", partition, logEnd, checkpoint);
        }
        return rows(call(cache, "epochEntries"), "epoch", "startOffset");
    }

    private static Object channel() throws Throwable {
        return create("LogDirFailureChannel", 1);
    }

    // What UnifiedLog.append does with the batch of a producer, with three settings of compression.type.
    private static String produced(byte[] bytes, boolean isCompacted) throws Throwable {
        List<String> answers = new ArrayList<>();
        for (String target : new String[] {"producer", "gzip", "uncompressed"}) {
            try {
                validate(bytes, isCompacted, target);
                answers.add("\"" + target + "\"");
            } catch (AbsentException error) {
                throw error;
            } catch (Throwable error) {
                continue;
            }
        }
        return "[" + answers + "]";
    }

    private static void validate(byte[] bytes, boolean isCompacted, String target) throws Throwable {
        Class<?> validator = find("LogValidator");
        if (!validator.getName().startsWith("org.")) {
            throw new AbsentException("LogValidator in Java");
        }
        callStatic("ProduceRequest", "validateRecords", (short) 9, records(bytes, bytes.length));
        Object source = get(find("CompressionType"), "NONE");
        int size = 0;
        for (Object batch : items(call(records(bytes, bytes.length), "batches"))) {
            if ((long) get(batch, "baseOffset") != 0) {
                throw new IllegalArgumentException("base offset " + get(batch, "baseOffset"));
            }
            call(batch, "ensureValid");
            source = get(batch, "compressionType");
            size += (int) get(batch, "sizeInBytes");
        }
        if (size == 0) {
            throw new IllegalArgumentException("no batch");
        }
        Object codec = target.equals("producer") ? source
            : callStatic("CompressionType", "forName", target.equals("gzip") ? "gzip" : "none");
        Object compression = call(callStatic("Compression", "of", codec), "build");
        List<Object> arguments = new ArrayList<>(List.of(records(bytes, size), create("TopicPartition", "t", 0),
            get(find("Time"), "SYSTEM"), source, compression, isCompacted, (byte) 2,
            get(Class.forName("org.apache.kafka.common.record.TimestampType"), "CREATE_TIME"),
            Long.MAX_VALUE, Long.MAX_VALUE, 0, get(find("AppendOrigin"), "CLIENT")));
        Constructor<?> constructor = validator.getConstructors()[0];
        if (constructor.getParameterCount() == arguments.size() + 1) {
            arguments.add(callStatic("MetadataVersion", "latestProduction"));
        }
        Class<?> recorder = Class.forName(validator.getName() + "$MetricsRecorder");
        Object metrics = Proxy.newProxyInstance(recorder.getClassLoader(), new Class<?>[] {recorder},
            (proxy, method, values) -> null);
        call(constructor.newInstance(arguments.toArray()), "validateMessagesAndAssignOffsets",
            callStatic("PrimitiveRef", "ofLong", 0L), metrics, get(find("BufferSupplier"), "NO_CACHING"));
    }

    private static Object records(byte[] bytes, int size) throws Throwable {
        return callStatic("MemoryRecords", "readableRecords", ByteBuffer.wrap(Arrays.copyOf(bytes, size)));
    }

    // JSON of entries

    private static String rows(Object entries, String... fields) throws Throwable {
        List<String> rows = new ArrayList<>();
        for (Object entry : items(entries)) {
            List<String> values = new ArrayList<>();
            for (String field : fields) {
                values.add(json(get(entry, field)));
            }
            rows.add(values.toString());
        }
        return rows.toString();
    }

    private static String producers(Object producers) throws Throwable {
        List<String> rows = new ArrayList<>();
        for (Object producer : items(producers)) {
            List<Object> batches = items(get(producer, "batchMetadata"));
            Object last = batches.isEmpty() ? null : batches.get(batches.size() - 1);
            rows.add(List.of(get(producer, "producerId"), get(producer, "producerEpoch"),
                last == null ? -1 : get(last, "lastSeq"), last == null ? -1 : get(last, "lastOffset"),
                get(producer, "lastTimestamp"), get(producer, "coordinatorEpoch")).toString());
        }
        return rows.toString();
    }

    private static String offsets(Object offsets) throws Throwable {
        List<String> rows = new ArrayList<>();
        boolean isJava = offsets instanceof Map;
        for (Object entry : items(isJava ? ((Map<?, ?>) offsets).entrySet() : offsets)) {
            Object partition = isJava ? ((Map.Entry<?, ?>) entry).getKey() : get(entry, "_1");
            Object offset = isJava ? ((Map.Entry<?, ?>) entry).getValue() : get(entry, "_2");
            rows.add(List.of(json(get(partition, "topic")), get(partition, "partition"), offset).toString());
        }
        return rows.toString();
    }

    private static String json(Object value) {
        return value instanceof Number ? value.toString() : TextNode.valueOf(value.toString()).toString();
    }

    private static List<Object> items(Object collection) throws Throwable {
        List<Object> items = new ArrayList<>();
        if (collection instanceof Iterable) {
            ((Iterable<?>) collection).forEach(items::add);
        } else {
            for (Object iterator = call(collection, "iterator"); (boolean) call(iterator, "hasNext"); ) {
                items.add(call(iterator, "next"));
            }
        }
        return items;
    }

    // Reflection

    private static Class<?> find(String name) throws AbsentException {
        for (String prefix : PACKAGES) {
            try {
                return Class.forName(prefix + name);
            } catch (ClassNotFoundException error) {
                continue;
            }
        }
        throw new AbsentException(name);
    }

    private static Object create(String name, Object... arguments) throws Throwable {
        for (Constructor<?> constructor : find(name).getConstructors()) {
            if (fits(constructor.getParameterTypes(), arguments)) {
                try {
                    return constructor.newInstance(arguments);
                } catch (InvocationTargetException error) {
                    throw error.getCause();
                }
            }
        }
        throw new AbsentException("a constructor of " + name + " for " + Arrays.toString(arguments));
    }

    private static Object callStatic(String name, String method, Object... arguments) throws Throwable {
        return invoke(find(name), null, method, arguments);
    }

    private static Object call(Object target, String method, Object... arguments) throws Throwable {
        return invoke(target.getClass(), target, method, arguments);
    }

    private static Object invoke(Class<?> type, Object target, String name, Object... arguments) throws Throwable {
        for (Method method : type.getMethods()) {
            if (method.getName().equals(name) && fits(method.getParameterTypes(), arguments)) {
                method.setAccessible(true);
                try {
                    return method.invoke(target, arguments);
                } catch (InvocationTargetException error) {
                    throw error.getCause();
                }
            }
        }
        throw new AbsentException(type.getName() + "." + name);
    }

    private static Object get(Object target, String name) throws Throwable {
        boolean isClass = target instanceof Class;
        Class<?> type = isClass ? (Class<?>) target : target.getClass();
        for (Field field : type.getFields()) {
            if (field.getName().equals(name)) {
                return field.get(isClass ? null : target);
            }
        }
        return invoke(type, isClass ? null : target, name);
    }

    private static boolean fits(Class<?>[] types, Object[] arguments) {
        if (types.length != arguments.length) {
            return false;
        }
        for (int number = 0; number < types.length; number++) {
            Class<?> type = types[number];
            Class<?> boxed = type.isPrimitive() ? Array.get(Array.newInstance(type, 1), 0).getClass() : type;
            if (!boxed.isInstance(arguments[number])) {
                return false;
            }
        }
        return true;
    }
}
