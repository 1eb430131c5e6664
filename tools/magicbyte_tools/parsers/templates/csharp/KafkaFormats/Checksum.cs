namespace KafkaFormats
{
    /// <summary>The checksums in Kafka's formats, and that of LZ4 frames.</summary>
    static class Checksum
    {
        public static readonly uint[] Crc32Table = Table(0xEDB88320);
        public static readonly uint[] Crc32CTable = Table(0x82F63B78);

        static uint[] Table(uint polynomial)
        {
            uint[] table = new uint[256];
            for (uint number = 0; number < 256; number++)
            {
                uint value = number;
                for (int bit = 0; bit < 8; bit++) value = value >> 1 ^ ((value & 1) != 0 ? polynomial : 0);
                table[number] = value;
            }
            return table;
        }

        public static uint Update(uint[] table, uint value, byte[] data, int start, int count)
        {
            for (int at = start; at < start + count; at++) value = value >> 8 ^ table[(value ^ data[at]) & 0xFF];
            return value;
        }

        static uint Rotate(uint value, int bits)
        {
            return value << bits | value >> 32 - bits;
        }

        static uint Word(byte[] data, int at)
        {
            return data[at] | (uint) data[at + 1] << 8 | (uint) data[at + 2] << 16 | (uint) data[at + 3] << 24;
        }

        public static uint XxHash32(byte[] data, int start, int count)
        {
            const uint p1 = 2654435761, p2 = 2246822519, p3 = 3266489917, p4 = 668265263, p5 = 374761393;
            int at = start, end = start + count;
            uint value = p5;
            unchecked
            {
                if (count >= 16)
                {
                    uint[] lanes = { p1 + p2, p2, 0, 0 - p1 };
                    for (; at + 16 <= end; at += 16)
                    {
                        for (int lane = 0; lane < 4; lane++)
                        {
                            lanes[lane] = Rotate(lanes[lane] + Word(data, at + 4 * lane) * p2, 13) * p1;
                        }
                    }
                    value = Rotate(lanes[0], 1) + Rotate(lanes[1], 7) + Rotate(lanes[2], 12) + Rotate(lanes[3], 18);
                }
                value += (uint) count;
                for (; at + 4 <= end; at += 4) value = Rotate(value + Word(data, at) * p3, 17) * p4;
                for (; at < end; at++) value = Rotate(value + data[at] * p5, 11) * p1;
                value = (value ^ value >> 15) * p2;
                value = (value ^ value >> 13) * p3;
                return value ^ value >> 16;
            }
        }
    }
}
