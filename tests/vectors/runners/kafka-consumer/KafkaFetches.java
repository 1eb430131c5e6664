// Reads fetch responses by the consumer of a Kafka release with isolation.level=read_committed, from a broker on loopback,
// as a runner of the vectors:
//   KafkaFetches FORMAT FILE... | KafkaFetches --lines
// The broker gives the bytes of a case as they are, with the aborted transactions of the case.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

public class KafkaFetches {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String TOPIC = "vectors";
    private static final int MAX_SAME_FETCHES = 2; // fetches of one offset after which the consumer is at the end

    public static void main(String[] arguments) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        if (arguments[0].equals("--lines")) {
            BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
            for (String line; (line = lines.readLine()) != null; ) {
                JsonNode question = JSON.readTree(line);
                print(out, question.get("format").asText(), question.get("file").asText(), question);
            }
        } else {
            JsonNode settings = JSON.readTree(System.getenv().getOrDefault("CONFORMANCE_SETTINGS", "{}"));
            for (String file : List.of(arguments).subList(1, arguments.length)) {
                print(out, arguments[0], file, settings);
            }
        }
        System.exit(0); // without a wait for the broker's threads
    }

    private static void print(PrintStream out, String format, String file, JsonNode settings) throws Exception {
        ObjectNode answer = JSON.createObjectNode();
        if (format.equals("kafka_fetched")) {
            read(Files.readAllBytes(Path.of(file)), settings, answer);
        } else {
            answer.put("unsupported", "it is no fetch response");
        }
        out.println(JSON.writeValueAsString(answer));
        out.flush();
    }

    private static void read(byte[] log, JsonNode settings, ObjectNode answer) throws Exception {
        long offset = Long.parseLong(settings.get("fetch_offset").asText());
        ArrayNode records = answer.putArray("records");
        TopicPartition partition = new TopicPartition(TOPIC, 0);
        Broker broker = new Broker(log, settings.get("aborted_transactions"));
        Map<String, Object> options = Map.of(
            "bootstrap.servers", "127.0.0.1:" + broker.port(), "isolation.level", "read_committed",
            "enable.auto.commit", false, "auto.offset.reset", "none", "fetch.max.wait.ms", 1,
            "key.deserializer", ByteArrayDeserializer.class, "value.deserializer", ByteArrayDeserializer.class);
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(options)) {
            consumer.assign(List.of(partition));
            consumer.seek(partition, offset);
            while (true) {
                ConsumerRecords<byte[], byte[]> some = consumer.poll(Duration.ofMillis(20));
                some.forEach(record -> records.add(row(record)));
                if (some.isEmpty() && broker.sameFetches > MAX_SAME_FETCHES) {
                    break;
                }
            }
            answer.putNull("error");
        } catch (RuntimeException error) {
            answer.put("stopped", true).putObject("error").put("message", error.toString());
        } finally {
            broker.close();
        }
    }

    private static ObjectNode row(ConsumerRecord<byte[], byte[]> record) {
        ObjectNode row = JSON.createObjectNode();
        row.put("offset", Long.toString(record.offset()));
        row.put("timestamp", record.timestamp() < 0 ? null : Long.toString(record.timestamp()));
        row.put("timestamp_type",
            record.timestampType() == TimestampType.NO_TIMESTAMP_TYPE ? null : record.timestampType().name);
        row.put("key", hex(record.key()));
        row.put("value", hex(record.value()));
        ArrayNode headers = row.putArray("headers");
        for (Header header : record.headers()) {
            String key = hex(header.key().getBytes(StandardCharsets.UTF_8));
            headers.addObject().put("key", key).put("value", hex(header.value()));
        }
        return row;
    }

    private static String hex(byte[] bytes) {
        return bytes == null ? null : HexFormat.of().formatHex(bytes);
    }

    /** A broker of one partition, which answers its first fetch with all of a log, and later ones from an entry on. */
    private static class Broker {
        private static final short FETCH = 1, METADATA = 3, API_VERSIONS = 18, UNSUPPORTED_VERSION = 35;
        private static final short[][] VERSIONS = {{FETCH, 4, 4}, {METADATA, 4, 4}, {API_VERSIONS, 0, 0}};

        private final byte[] log;
        private final JsonNode abortedTransactions;
        private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private long fetchedOffset = -1;
        private boolean isFirst = true;
        volatile int sameFetches = 0;

        Broker(byte[] log, JsonNode abortedTransactions) throws IOException {
            this.log = log;
            this.abortedTransactions = abortedTransactions;
            start(() -> {
                while (true) {
                    Socket socket = server.accept();
                    start(() -> serve(socket));
                }
            });
        }

        private interface Loop {
            void run() throws IOException;
        }

        private static void start(Loop loop) {
            Thread thread = new Thread(() -> {
                try {
                    loop.run();
                } catch (IOException error) {
                    return; // the other side has closed the connection
                }
            });
            thread.setDaemon(true);
            thread.start();
        }

        int port() {
            return server.getLocalPort();
        }

        void close() throws IOException {
            server.close();
        }

        private void serve(Socket socket) throws IOException {
            DataInputStream in = new DataInputStream(socket.getInputStream());
            DataOutputStream out = new DataOutputStream(socket.getOutputStream());
            while (true) {
                ByteBuffer request = ByteBuffer.wrap(in.readNBytes(in.readInt()));
                short key = request.getShort(), version = request.getShort();
                int correlation = request.getInt();
                request.position(request.position() + 2 + Math.max(request.getShort(request.position()), 0));
                ByteBuffer answer = ByteBuffer.allocate(1000 + log.length + 100 * abortedTransactions.size());
                answer.putInt(0).putInt(correlation);
                switch (key) {
                    case API_VERSIONS: apiVersions(version, answer); break;
                    case METADATA: metadata(answer); break;
                    case FETCH: fetch(request, answer); break;
                    default: throw new IOException("request " + key + " is not served");
                }
                answer.putInt(0, answer.position() - 4);
                out.write(answer.array(), 0, answer.position());
                out.flush();
            }
        }

        private static void apiVersions(short version, ByteBuffer answer) {
            answer.putShort(version == 0 ? 0 : UNSUPPORTED_VERSION).putInt(VERSIONS.length);
            for (short[] numbers : VERSIONS) {
                answer.putShort(numbers[0]).putShort(numbers[1]).putShort(numbers[2]);
            }
        }

        private void metadata(ByteBuffer answer) {
            answer.putInt(0).putInt(1).putInt(0); // throttle time; one broker, 0
            text("127.0.0.1", answer);
            answer.putInt(port()).putShort((short) -1).putShort((short) -1).putInt(0); // rack, cluster, controller
            answer.putInt(1).putShort((short) 0); // one topic
            text(TOPIC, answer);
            answer.put((byte) 0).putInt(1).putShort((short) 0).putInt(0).putInt(0); // one partition, 0, led by broker 0
            answer.putInt(1).putInt(0).putInt(1).putInt(0); // replicas, in sync
        }

        private synchronized void fetch(ByteBuffer request, ByteBuffer answer) {
            int topics = request.position() + 17; // after replica, wait, least and most bytes, isolation level
            answer.putInt(0).putInt(request.getInt(topics));
            if (request.getInt(topics) == 0) {
                return;
            }
            int partition = topics + 6 + request.getShort(topics + 4) + 4;
            long offset = request.getLong(partition + 4);
            sameFetches = offset == fetchedOffset ? sameFetches + 1 : 1;
            fetchedOffset = offset;
            int start = isFirst ? 0 : entryWith(offset);
            isFirst = false;
            text(TOPIC, answer);
            answer.putInt(1).putInt(0).putShort((short) 0).putLong(Long.MAX_VALUE).putLong(Long.MAX_VALUE);
            answer.putInt(abortedTransactions.isNull() ? -1 : abortedTransactions.size());
            for (JsonNode one : abortedTransactions) {
                answer.putLong(one.get("producer_id").asLong()).putLong(one.get("first_offset").asLong());
            }
            answer.putInt(log.length - start).put(log, start, log.length - start);
        }

        /** Returns the position of the first batch that ends at an offset or after it; the size of the log at its end. */
        private int entryWith(long offset) {
            ByteBuffer bytes = ByteBuffer.wrap(log);
            int position = 0;
            while (position < log.length && bytes.getLong(position) + bytes.getInt(position + 23) < offset) {
                position += 12 + bytes.getInt(position + 8);
            }
            return position;
        }

        private static void text(String value, ByteBuffer answer) {
            byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
            answer.putShort((short) bytes.length).put(bytes);
        }
    }
}
