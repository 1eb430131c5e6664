// Folds records of __cluster_metadata with the classes of a Kafka release, as brokers and controllers do.
// Standard input: a line for each history, with the values of its records in hexadecimal, separated by blanks.
// The answer is a line for each: the number of records that could not be applied, then the values of the records of a
// snapshot of the state, in hexadecimal. With the argument "load", the loader of brokers and controllers applies them,
// with "replay" each record is applied by itself, since the loader makes no more images once a record was about an
// unknown topic. With "versions", the answer is the levels and names of metadata.version.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.image.loader.MetadataBatchLoader;
import org.apache.kafka.image.writer.ImageWriterOptions;
import org.apache.kafka.image.writer.RecordListWriter;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.raft.Batch;
import org.apache.kafka.raft.LeaderAndEpoch;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.fault.FaultHandler;

public class KafkaMetadata {
    private static final MetadataRecordSerde SERDE = new MetadataRecordSerde();

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        if (arguments.length > 0 && arguments[0].equals("versions")) {
            for (MetadataVersion version : MetadataVersion.values()) {
                out.println(version.featureLevel() + " " + version);
            }
        } else {
            BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
            for (String line; (line = lines.readLine()) != null; ) {
                List<ApiMessageAndVersion> messages = new ArrayList<>();
                for (String hexadecimal : line.split(" ")) {
                    byte[] value = HexFormat.of().parseHex(hexadecimal);
                    messages.add(SERDE.read(new ByteBufferAccessor(ByteBuffer.wrap(value)), value.length));
                }
                out.println(arguments[0].equals("load") ? load(messages) : replay(messages));
            }
        }
        out.flush();
    }

    private static String load(List<ApiMessageAndVersion> messages) throws Exception {
        MetadataImage[] image = {MetadataImage.EMPTY};
        int[] faults = {0};
        LeaderAndEpoch leader = LeaderAndEpoch.UNKNOWN;
        FaultHandler faultHandler = (message, cause) -> {
            faults[0]++;
            return new RuntimeException(message, cause);
        };
        MetadataBatchLoader.MetadataUpdater updater = (delta, newImage, manifest) -> image[0] = newImage;
        MetadataBatchLoader loader = loader(faultHandler, updater);
        loader.resetToImage(image[0]);
        long offset = 0;
        for (ApiMessageAndVersion message : messages) {
            loader.loadBatch(Batch.data(offset++, 1, 0, 1, List.of(message)), leader);
            flush(loader, leader);
        }
        return answer(faults[0], image[0]);
    }

    private static String replay(List<ApiMessageAndVersion> messages) {
        MetadataImage image = MetadataImage.EMPTY;
        int faults = 0;
        for (ApiMessageAndVersion message : messages) {
            try {
                MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();
                delta.replay(message.message());
                image = delta.apply(MetadataProvenance.EMPTY);
            } catch (RuntimeException error) {
                faults++;
            }
        }
        return answer(faults, image);
    }

    private static String answer(int faults, MetadataImage image) {
        RecordListWriter writer = new RecordListWriter();
        image.write(writer, new ImageWriterOptions.Builder(image).setLossHandler(error -> { }).build());
        List<String> words = new ArrayList<>();
        words.add(Integer.toString(faults));
        for (ApiMessageAndVersion message : writer.records()) {
            ObjectSerializationCache cache = new ObjectSerializationCache();
            ByteBuffer buffer = ByteBuffer.allocate(SERDE.recordSize(message, cache));
            SERDE.write(message, cache, new ByteBufferAccessor(buffer));
            words.add(HexFormat.of().formatHex(buffer.array()));
        }
        return String.join(" ", words);
    }

    /** Kafka 4.3 has a fifth argument: which configurations of a later release it keeps. Here it keeps all. */
    private static MetadataBatchLoader loader(FaultHandler faultHandler, MetadataBatchLoader.MetadataUpdater updater)
        throws Exception {
        Constructor<?> constructor = MetadataBatchLoader.class.getConstructors()[0];
        List<Object> values = new ArrayList<>(List.of(new LogContext(), Time.SYSTEM, faultHandler, updater));
        if (constructor.getParameterCount() > values.size()) {
            values.add(constructor.getParameterTypes()[values.size()].getField("TRUE").get(null));
        }
        return (MetadataBatchLoader) constructor.newInstance(values.toArray());
    }

    private static void flush(MetadataBatchLoader loader, LeaderAndEpoch leader) throws Exception {
        for (Method method : MetadataBatchLoader.class.getMethods()) {
            if (method.getName().equals("maybeFlushBatches")) {
                method.invoke(loader, method.getParameterCount() == 1 ? new Object[] {leader} : new Object[] {leader, true});
            }
        }
    }
}
