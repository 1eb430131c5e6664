package org.apache.kafka.streams.kstream.internals.foreignkeyjoin;

import java.util.HexFormat;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serdes;

/** Prints keys and values of foreign-key joins that Kafka Streams writes: name, bytes. */
public class StreamsJoins {
    static final long[] HASH = {0x0102030405060708L, -2L};

    static void print(String name, byte[] content) {
        System.out.println(name + "\t" + HexFormat.of().formatHex(content));
    }

    public static void main(String[] arguments) {
        CombinedKeySchema<String, Long> keys =
            new CombinedKeySchema<>(() -> "fk", Serdes.String(), () -> "pk", Serdes.Long());
        print("combined", keys.toBytes("f\u00e9", 7L, new RecordHeaders()).get());
        print("combined-empty", keys.toBytes("", -1L, new RecordHeaders()).get());
        SubscriptionWrapperSerde<Long> subscriptions = new SubscriptionWrapperSerde<>(() -> "pk", Serdes.Long());
        for (SubscriptionWrapper.Instruction instruction : SubscriptionWrapper.Instruction.values()) {
            for (byte version : new byte[] {SubscriptionWrapper.VERSION_0, SubscriptionWrapper.VERSION_1}) {
                for (long[] hash : new long[][] {HASH, null}) {
                    String name = instruction + " " + version + " " + (hash == null ? "none" : "hash");
                    print(name, subscriptions.serializer().serialize("t", new RecordHeaders(),
                        new SubscriptionWrapper<>(hash, instruction, 9L, version, 258)));
                }
            }
        }
        SubscriptionResponseWrapperSerde<String> responses = new SubscriptionResponseWrapperSerde<>(Serdes.String());
        for (long[] hash : new long[][] {HASH, null}) {
            for (String value : new String[] {"right", null}) {
                String name = "response " + value + " " + (hash == null ? "none" : "hash");
                print(name, responses.serializer().serialize("t", new RecordHeaders(), new SubscriptionResponseWrapper<>(hash, value, 3)));
            }
        }
    }
}
