using System.IO;
using Kaitai;

namespace KafkaFormats
{
    /// <summary>Reads bytes as the stream does, but compares their number with what is left before memory is reserved.</summary>
    static class Bounded
    {
        public static byte[] Read(KaitaiStream stream, long length)
        {
            long left = stream.Size - stream.Pos;
            if (length < 0 || length > left)
            {
                throw new EndOfStreamException($"{length} bytes are stated; {left} are left");
            }
            return stream.ReadBytes(length);
        }
    }
}
