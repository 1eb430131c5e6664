package kafkaformats;

import java.io.IOException;

/** Decompression by one of Kafka's codecs. */
@FunctionalInterface
public interface Decompressor {
    /**
     * Decompresses the payload of an entry.
     *
     * @param payload the compressed bytes
     * @param magic the format of the entry: 0, 1 or 2
     * @param limit the most bytes that the result may have
     * @return the decompressed bytes
     * @throws IOException where the payload is not valid or the result would be larger than the limit
     */
    byte[] decompress(byte[] payload, int magic, long limit) throws IOException;
}
