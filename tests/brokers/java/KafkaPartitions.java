import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;

/**
 * Prints the partition to which Kafka's producer sends a record, for each key on stdin.
 * Input: the number of partitions, the number of keys, and each key after its length. All numbers are big-endian.
 */
public class KafkaPartitions {
    public static void main(String[] arguments) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
        int numPartitions = in.readInt();
        for (int left = in.readInt(); left > 0; left--) {
            System.out.println(BuiltInPartitioner.partitionForKey(in.readNBytes(in.readInt()), numPartitions));
        }
    }
}
