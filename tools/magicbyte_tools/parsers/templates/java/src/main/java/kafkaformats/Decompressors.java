package kafkaformats;

import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4SafeDecompressor;
import net.jpountz.xxhash.XXHash32;
import net.jpountz.xxhash.XXHashFactory;
import org.xerial.snappy.Snappy;

/** Decompression by the libraries that Kafka's own client uses. */
public final class Decompressors {
    private static final byte[] XERIAL = {(byte) 0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0};
    private static final int LZ4_MAGIC = 0x184D2204;

    private Decompressors() {}

    /** Returns the decompressor of each codec, by its number, in a map that may be changed. */
    public static Map<Integer, Decompressor> all() {
        Map<Integer, Decompressor> all = new HashMap<>();
        all.put(1, Decompressors::gunzip);
        all.put(2, Decompressors::unsnappy);
        all.put(3, Decompressors::unlz4);
        all.put(4, Decompressors::unzstd);
        return all;
    }

    static byte[] gunzip(byte[] payload, int magic, long limit) throws IOException {
        try (InputStream stream = new GZIPInputStream(new ByteArrayInputStream(payload))) {
            return readAll(stream, limit);
        }
    }

    static byte[] unzstd(byte[] payload, int magic, long limit) throws IOException {
        try (InputStream stream = new ZstdInputStreamNoFinalizer(new ByteArrayInputStream(payload))) {
            return readAll(stream, limit);
        }
    }

    private static byte[] readAll(InputStream stream, long limit) throws IOException {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        byte[] piece = new byte[1 << 16];
        for (int count; (count = stream.read(piece)) >= 0; ) {
            add(output, piece, count, limit);
        }
        return output.toByteArray();
    }

    private static void add(ByteArrayOutputStream output, byte[] piece, int count, long limit)
            throws IOException {
        if ((long) output.size() + count > limit) {
            throw new IOException("more than " + limit + " bytes decompressed, which is the limit");
        }
        output.write(piece, 0, count);
    }

    /** Decompresses one raw block, or the chunks of xerial's snappy-java, which Java clients write. */
    static byte[] unsnappy(byte[] payload, int magic, long limit) throws IOException {
        if (payload.length < 16 || !startsWithXerial(payload, 0)) {
            return snappyBlock(payload, limit);
        }
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        ByteBuffer rest = ByteBuffer.wrap(payload, 16, payload.length - 16);
        while (rest.remaining() >= 4) {
            if (rest.remaining() >= 16 && startsWithXerial(payload, rest.position())) {
                if (rest.getInt(rest.position() + 8) < 1) {
                    throw new IOException("snappy: another stream of a version that does not exist");
                }
                rest.position(rest.position() + 16);
                continue;
            }
            int length = rest.getInt();
            if (length < 0 || length > rest.remaining()) {
                String left = "; " + rest.remaining() + " are left";
                throw new IOException("snappy: a chunk of " + length + " bytes" + left);
            }
            byte[] block = new byte[length];
            rest.get(block);
            byte[] content = snappyBlock(block, limit - output.size());
            add(output, content, content.length, limit);
        }
        if (rest.hasRemaining()) {
            throw new IOException("snappy: the payload ends inside the length of a chunk");
        }
        return output.toByteArray();
    }

    private static boolean startsWithXerial(byte[] data, int at) {
        return Arrays.equals(data, at, at + XERIAL.length, XERIAL, 0, XERIAL.length);
    }

    /** Compares the size that a block states with the limit and with what its bytes can hold, then decompresses. */
    private static byte[] snappyBlock(byte[] block, long limit) throws IOException {
        long size = 0;
        for (int at = 0; at < Math.min(5, block.length); at++) {
            size |= (long) (block[at] & 0x7F) << (7 * at);
            if (block[at] >= 0) {
                break;
            }
        }
        if (size > limit || size > 22L * block.length) { // three bytes stand for 64 at most
            String found = block.length + " bytes that state " + size + " decompressed";
            throw new IOException("snappy: " + found + "; the limit is " + limit);
        }
        return Snappy.uncompress(block);
    }

    /**
     * Decompresses the part of the LZ4 frame format that Kafka reads: one frame of independent blocks. Kafka wrote a
     * wrong header checksum into messages of magic 0 (KAFKA-3160), so it is not looked at there; size and
     * checksum of the content never are.
     */
    static byte[] unlz4(byte[] payload, int magic, long limit) throws IOException {
        ByteBuffer rest = ByteBuffer.wrap(payload).order(ByteOrder.LITTLE_ENDIAN);
        if (payload.length < 7 || rest.getInt() != LZ4_MAGIC) {
            throw new IOException("lz4: this is not an LZ4 frame");
        }
        int flags = rest.get() & 0xFF;
        int descriptor = rest.get() & 0xFF;
        if ((flags & 0xE3) != 0x60 || (descriptor & 0x8F) != 0 || descriptor >> 4 < 4) {
            throw new IOException("lz4: a frame descriptor that Kafka does not read");
        }
        int most = 1 << (8 + 2 * (descriptor >> 4));
        boolean checked = (flags & 0x10) != 0;
        int header = (flags & 0x08) != 0 ? 14 : 6;
        if (header >= payload.length) {
            throw new IOException("lz4: the payload ends inside the header");
        }
        XXHash32 hash = XXHashFactory.fastestJavaInstance().hash32();
        if (magic > 0 && payload[header] != (byte) (hash.hash(payload, 4, header - 4, 0) >> 8)) {
            throw new IOException("lz4: wrong header checksum");
        }
        rest.position(header + 1);
        LZ4SafeDecompressor decompressor = LZ4Factory.fastestJavaInstance().safeDecompressor();
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        while (rest.remaining() >= 4) {
            int word = rest.getInt();
            int length = word & 0x7FFFFFFF;
            if (length == 0) {
                if ((flags & 0x04) != 0 && rest.remaining() < 4) {
                    throw new IOException("lz4: the payload ends before the content's checksum");
                }
                return output.toByteArray();
            }
            if (length > most || length > rest.remaining() - (checked ? 4 : 0)) {
                String left = "; " + rest.remaining() + " are left";
                throw new IOException("lz4: a block of " + length + " bytes" + left);
            }
            byte[] block = new byte[length];
            rest.get(block);
            if (checked && rest.getInt() != hash.hash(block, 0, length, 0)) {
                throw new IOException("lz4: wrong block checksum");
            }
            if (word >= 0) {
                int room = (int) Math.min(most, 255L * length);
                try {
                    block = decompressor.decompress(block, room);
                } catch (LZ4Exception error) {
                    throw new IOException("lz4: " + error.getMessage(), error);
                }
            }
            if (block.length == 0) { // Kafka takes an empty block for the end
                return output.toByteArray();
            }
            add(output, block, block.length, limit);
        }
        throw new IOException("lz4: the payload has no end mark");
    }
}
