// Lets a broker's classes of Kafka 4.3 recover partition folders, which writes their companion files.
// Standard input: INTERVAL <tab> FOLDER, the topic's index.interval.bytes and a folder that ends in "-0".
// Each line is answered by "END STABLE", the log end offset and the last stable offset, or by "refuse" and an error.

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

public class KafkaRecovery {
    // A clock at the epoch: all records are in its future, so that no producer has been idle for too long.
    private static class StoppedClock implements Time {
        @Override
        public long milliseconds() {
            return 0;
        }

        @Override
        public long nanoseconds() {
            return System.nanoTime();
        }

        @Override
        public void sleep(long milliseconds) {
            Time.SYSTEM.sleep(milliseconds);
        }

        @Override
        public void waitObject(Object monitor, Supplier<Boolean> condition, long deadline) throws InterruptedException {
            Time.SYSTEM.waitObject(monitor, condition, deadline);
        }
    }

    private static final BrokerTopicStats STATISTICS = new BrokerTopicStats();

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        Scheduler scheduler = new KafkaScheduler(1);
        scheduler.startup();
        for (String line; (line = lines.readLine()) != null; ) {
            String[] words = line.split("\t");
            try {
                out.println(recovered(words[0], new File(words[1]), scheduler));
            } catch (Exception error) {
                out.println("refuse " + error.toString().replace('\n', ' '));
            }
        }
        scheduler.shutdown();
    }

    private static String recovered(String interval, File folder, Scheduler scheduler) throws Exception {
        LogConfig config = new LogConfig(Map.of(
            "index.interval.bytes", interval, "retention.ms", "-1", "segment.index.bytes", "1048576"));
        boolean isClean = false;
        UnifiedLog log = UnifiedLog.create(
            folder, config, 0, 0, scheduler, STATISTICS, new StoppedClock(), 900_000,
            new ProducerStateManagerConfig(Integer.MAX_VALUE, false), 600_000, new LogDirFailureChannel(1), isClean,
            Optional.of(Uuid.METADATA_TOPIC_ID));
        log.updateHighWatermark(log.logEndOffset());
        String answer = log.logEndOffset() + " " + log.lastStableOffset();
        log.close();
        return answer;
    }
}
