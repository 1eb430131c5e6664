using System;
using System.Collections.Generic;
using System.IO;
using System.IO.Compression;
using System.Runtime.InteropServices;

namespace KafkaFormats
{
    /// <summary>
    /// Decompresses the payload of an entry of the given magic to at most <c>limit</c> bytes. Throws
    /// <see cref="InvalidDataException"/> where the payload is not valid or the result would be larger.
    /// </summary>
    public delegate byte[] Decompressor(byte[] payload, int magic, long limit);

    /// <summary>
    /// Decompression of what Kafka's producers and brokers compress: deflate is .NET's own; snappy, LZ4 and zstd are the
    /// system's C libraries.
    /// </summary>
    public static class Codecs
    {
        /// <summary>Returns the decompressor of each codec, by its number, in a dictionary that may be changed.</summary>
        public static Dictionary<int, Decompressor> All()
        {
            return new Dictionary<int, Decompressor>
            {
                { 1, Gunzip }, { 2, Unsnappy }, { 3, Unlz4 }, { 4, Unzstd },
            };
        }

        static InvalidDataException Refused(string found)
        {
            return new InvalidDataException(found);
        }

        static void Add(MemoryStream output, byte[] piece, int count, long limit)
        {
            if (output.Length + count > limit)
            {
                throw Refused($"more than {limit} bytes decompressed, which is the limit");
            }
            output.Write(piece, 0, count);
        }

        static bool StartsWith(byte[] data, int at, byte[] prefix)
        {
            for (int index = 0; index < prefix.Length; index++)
            {
                if (at + index >= data.Length || data[at + index] != prefix[index]) return false;
            }
            return true;
        }

        static uint Little(byte[] data, int at)
        {
            return data[at] | (uint) data[at + 1] << 8 | (uint) data[at + 2] << 16 | (uint) data[at + 3] << 24;
        }

        static int Big(byte[] data, int at)
        {
            return data[at] << 24 | data[at + 1] << 16 | data[at + 2] << 8 | data[at + 3];
        }

        static byte[] Slice(byte[] data, int start, int count)
        {
            byte[] slice = new byte[count];
            Buffer.BlockCopy(data, start, slice, 0, count);
            return slice;
        }

        /// <summary>Stream that hands out one byte at a time, so that a decompressor reads no byte behind its end.</summary>
        sealed class Trickle : MemoryStream
        {
            public Trickle(byte[] data, int start) : base(data, start, data.Length - start)
            {
            }

            public override int Read(byte[] buffer, int offset, int count)
            {
                return base.Read(buffer, offset, Math.Min(count, 1));
            }
        }

        static readonly byte[] Member = { 0x1f, 0x8b, 8 };

        /// <summary>Members that follow one another are one stream; other bytes behind a member are ignored.</summary>
        static byte[] Gunzip(byte[] payload, int magic, long limit)
        {
            MemoryStream output = new MemoryStream();
            int at = 0;
            do
            {
                at = GunzipMember(payload, at, output, limit);
            } while (payload.Length - at >= 19 && StartsWith(payload, at, Member));
            return output.ToArray();
        }

        static int GunzipMember(byte[] payload, int start, MemoryStream output, long limit)
        {
            int at = GzipHeaderEnd(payload, start);
            Trickle source = new Trickle(payload, at);
            byte[] piece = new byte[1 << 16];
            long before = output.Length;
            uint crc = 0xFFFFFFFF;
            using (DeflateStream inflater = new DeflateStream(source, CompressionMode.Decompress))
            {
                for (int count; (count = inflater.Read(piece, 0, piece.Length)) > 0;)
                {
                    Add(output, piece, count, limit);
                    crc = Checksum.Update(Checksum.Crc32Table, crc, piece, 0, count);
                }
                at += (int) source.Position;
            }
            if (payload.Length - at < 8) throw Refused("gzip: the payload ends inside a member");
            if (Little(payload, at) != ~crc || Little(payload, at + 4) != (uint) (output.Length - before))
            {
                throw Refused("gzip: wrong checksum or size");
            }
            return at + 8;
        }

        static int GzipHeaderEnd(byte[] data, int start)
        {
            if (data.Length - start < 18 || !StartsWith(data, start, Member))
            {
                throw Refused("gzip: this is not a gzip member");
            }
            int flags = data[start + 3];
            int at = start + 10;
            if ((flags & 4) != 0) at += 2 + data[at] + 256 * data[at + 1];
            foreach (int flag in new[] { 8, 16 })
            {
                if ((flags & flag) == 0) continue; // a name or a comment, which ends with a zero
                at = at < data.Length ? Array.IndexOf(data, (byte) 0, at) + 1 : 0;
                if (at == 0) throw Refused("gzip: the payload ends inside the header");
            }
            if ((flags & 2) != 0)
            {
                if (at + 2 > data.Length) throw Refused("gzip: the payload ends inside the header");
                uint crc = ~Checksum.Update(Checksum.Crc32Table, 0xFFFFFFFF, data, start, at - start);
                if ((crc & 0xFFFF) != (data[at] | (uint) data[at + 1] << 8)) throw Refused("gzip: wrong header checksum");
                at += 2;
            }
            if (at > data.Length) throw Refused("gzip: the payload ends inside the header");
            return at;
        }

        static readonly byte[] Xerial = { 0x82, (byte) 'S', (byte) 'N', (byte) 'A', (byte) 'P', (byte) 'P', (byte) 'Y', 0 };

        /// <summary>One raw block, or the chunks of xerial's snappy-java, which Java clients write.</summary>
        static byte[] Unsnappy(byte[] payload, int magic, long limit)
        {
            if (payload.Length < 16 || !StartsWith(payload, 0, Xerial)) return SnappyBlock(payload, limit);
            MemoryStream output = new MemoryStream();
            int at = 16;
            while (payload.Length - at >= 4)
            {
                if (payload.Length - at >= 16 && StartsWith(payload, at, Xerial))
                {
                    if (Big(payload, at + 8) < 1)
                    {
                        throw Refused("snappy: another stream of a version that does not exist");
                    }
                    at += 16;
                    continue;
                }
                int length = Big(payload, at);
                at += 4;
                if (length < 0 || length > payload.Length - at)
                {
                    throw Refused($"snappy: a chunk of {length} bytes; {payload.Length - at} are left");
                }
                byte[] content = SnappyBlock(Slice(payload, at, length), limit - output.Length);
                output.Write(content, 0, content.Length);
                at += length;
            }
            if (at != payload.Length) throw Refused("snappy: the payload ends inside the length of a chunk");
            return output.ToArray();
        }

        [DllImport("libsnappy.so.1")]
        static extern int snappy_uncompress(byte[] block, UIntPtr length, byte[] output, ref UIntPtr size);

        [DllImport("libsnappy.so.1")]
        static extern int snappy_uncompressed_length(byte[] block, UIntPtr length, out UIntPtr size);

        /// <summary>Compares the size that a block states with the limit and with what its bytes can hold, first.</summary>
        static byte[] SnappyBlock(byte[] block, long limit)
        {
            UIntPtr length = (UIntPtr) block.Length;
            if (snappy_uncompressed_length(block, length, out UIntPtr size) != 0)
            {
                throw Refused("snappy: the block states no size");
            }
            ulong stated = (ulong) size;
            if (stated > (ulong) limit || stated > 22 * (ulong) block.Length) // three bytes stand for 64 at most
            {
                throw Refused($"snappy: {block.Length} bytes that state {stated} decompressed; the limit is {limit}");
            }
            byte[] output = new byte[stated];
            if (snappy_uncompress(block, length, output, ref size) != 0) throw Refused("snappy: the block is not valid");
            return output;
        }

        [DllImport("liblz4.so.1")]
        static extern int LZ4_decompress_safe(byte[] block, byte[] output, int length, int capacity);

        /// <summary>
        /// The part of the LZ4 frame format that Kafka reads: one frame of independent blocks. Kafka wrote a wrong header
        /// checksum into messages of magic 0 (KAFKA-3160), so it is not looked at there; size and checksum of the
        /// content never are.
        /// </summary>
        static byte[] Unlz4(byte[] payload, int magic, long limit)
        {
            if (payload.Length < 7 || Little(payload, 0) != 0x184D2204) throw Refused("lz4: this is not an LZ4 frame");
            int flags = payload[4], descriptor = payload[5];
            if ((flags & 0xE3) != 0x60 || (descriptor & 0x8F) != 0 || descriptor >> 4 < 4)
            {
                throw Refused("lz4: a frame descriptor that Kafka does not read");
            }
            int most = 1 << (8 + 2 * (descriptor >> 4));
            int behind = (flags & 0x10) != 0 ? 4 : 0;
            int header = (flags & 0x08) != 0 ? 14 : 6;
            if (header >= payload.Length) throw Refused("lz4: the payload ends inside the header");
            if (magic > 0 && payload[header] != (byte) (Checksum.XxHash32(payload, 4, header - 4) >> 8))
            {
                throw Refused("lz4: wrong header checksum");
            }
            MemoryStream output = new MemoryStream();
            for (int at = header + 1; payload.Length - at >= 4;)
            {
                uint word = Little(payload, at);
                int length = (int) (word & 0x7FFFFFFF);
                at += 4;
                if (length == 0)
                {
                    if ((flags & 0x04) != 0 && payload.Length - at < 4)
                    {
                        throw Refused("lz4: the payload ends before the checksum of the content");
                    }
                    return output.ToArray();
                }
                if (length > most || length + behind > payload.Length - at)
                {
                    throw Refused($"lz4: a block of {length} bytes; {payload.Length - at} are left");
                }
                byte[] block = Slice(payload, at, length);
                at += length;
                if (behind > 0 && Little(payload, at) != Checksum.XxHash32(block, 0, length))
                {
                    throw Refused("lz4: wrong block checksum");
                }
                at += behind;
                if (word >> 31 == 0)
                {
                    byte[] content = new byte[Math.Min(most, 255L * length)];
                    length = LZ4_decompress_safe(block, content, length, content.Length);
                    if (length < 0) throw Refused("lz4: the block is not valid");
                    block = content;
                }
                if (length == 0) return output.ToArray(); // Kafka takes an empty block for the end
                Add(output, block, length, limit);
            }
            throw Refused("lz4: the payload has no end mark");
        }

        [StructLayout(LayoutKind.Sequential)]
        struct Window
        {
            public IntPtr Data;
            public UIntPtr Size;
            public UIntPtr Position;
        }

        [DllImport("libzstd.so.1")]
        static extern IntPtr ZSTD_createDStream();

        [DllImport("libzstd.so.1")]
        static extern UIntPtr ZSTD_freeDStream(IntPtr stream);

        [DllImport("libzstd.so.1")]
        static extern UIntPtr ZSTD_decompressStream(IntPtr stream, ref Window output, ref Window input);

        [DllImport("libzstd.so.1")]
        static extern uint ZSTD_isError(UIntPtr code);

        [DllImport("libzstd.so.1")]
        static extern IntPtr ZSTD_getErrorName(UIntPtr code);

        /// <summary>Frames that follow one another are one stream.</summary>
        static byte[] Unzstd(byte[] payload, int magic, long limit)
        {
            byte[] piece = new byte[1 << 17];
            GCHandle source = GCHandle.Alloc(payload, GCHandleType.Pinned);
            GCHandle target = GCHandle.Alloc(piece, GCHandleType.Pinned);
            IntPtr stream = ZSTD_createDStream();
            try
            {
                return ZstdFrames(stream, source.AddrOfPinnedObject(), payload.Length, target.AddrOfPinnedObject(), piece, limit);
            }
            finally
            {
                ZSTD_freeDStream(stream);
                target.Free();
                source.Free();
            }
        }

        static byte[] ZstdFrames(IntPtr stream, IntPtr source, int length, IntPtr target, byte[] piece, long limit)
        {
            MemoryStream output = new MemoryStream();
            Window input = new Window { Data = source, Size = (UIntPtr) length };
            ulong hint = 1;
            bool isFull = false;
            while ((ulong) input.Position < (ulong) length || isFull)
            {
                Window part = new Window { Data = target, Size = (UIntPtr) piece.Length };
                UIntPtr code = ZSTD_decompressStream(stream, ref part, ref input);
                if (ZSTD_isError(code) != 0)
                {
                    throw Refused("zstd: " + Marshal.PtrToStringAnsi(ZSTD_getErrorName(code)));
                }
                hint = (ulong) code;
                Add(output, piece, (int) part.Position, limit);
                isFull = hint != 0 && (ulong) part.Position == (ulong) piece.Length;
            }
            if (hint != 0) throw Refused("zstd: the payload ends inside a frame");
            return output.ToArray();
        }
    }
}
