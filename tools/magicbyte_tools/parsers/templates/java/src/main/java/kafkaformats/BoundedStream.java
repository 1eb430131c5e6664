package kafkaformats;

import io.kaitai.struct.ByteBufferKaitaiStream;
import io.kaitai.struct.KaitaiStream;
import java.nio.ByteBuffer;

/** Stream over bytes in memory that compares a length with the bytes left before it reserves memory for it. */
final class BoundedStream extends ByteBufferKaitaiStream {
    private final ByteBuffer whole;

    BoundedStream(byte[] data) {
        this(ByteBuffer.wrap(data));
    }

    private BoundedStream(ByteBuffer whole) {
        super(whole);
        this.whole = whole.duplicate();
    }

    @Override
    public KaitaiStream substream(long length) {
        check(length);
        int start = pos();
        ByteBuffer part = whole.duplicate();
        part.position(start);
        part.limit(start + (int) length);
        seek(start + length);
        return new BoundedStream(part.slice());
    }

    @Override
    protected byte[] readBytesNotAligned(long length) {
        check(length);
        return super.readBytesNotAligned(length);
    }

    private void check(long length) {
        long left = size() - pos();
        if (length < 0 || length > left) {
            throw new IllegalArgumentException(length + " bytes are stated; " + left + " are left");
        }
    }
}
