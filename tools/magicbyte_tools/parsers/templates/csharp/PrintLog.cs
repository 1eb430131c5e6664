// Print the entries and records of a log segment: PrintLog FILE.log
using System;
using System.Text;
using KafkaFormats;

static class PrintLog
{
    static string Text(byte[] data)
    {
        return data == null ? "null" : Encoding.UTF8.GetString(data);
    }

    static void Print(KafkaRecordBatch batch)
    {
        string compressed = batch.Payload == null ? ", compressed" : "";
        Console.WriteLine($"batch {batch.BaseOffset}: {batch.NumRecords} records{compressed}");
        if (batch.Payload == null)
        {
            // Decompress batch.CompressedPayload (batch.Attributes.Codec says how) and parse the
            // result with KafkaRecords.
            return;
        }
        bool appendTime =
            batch.Attributes.TimestampType == KafkaRecordBatch.TimestampTypes.LogAppendTime;
        foreach (KafkaRecord record in batch.Payload.Records)
        {
            KafkaRecord.RecordBody body = record.Body;
            long offset = batch.BaseOffset + body.OffsetDelta.Value;
            long timestamp = batch.BaseTimestamp + body.TimestampDelta.Value;
            if (appendTime) timestamp = batch.MaxTimestamp;
            string content = batch.Attributes.IsControl
                ? "control record"
                : Text(body.Key) + " " + Text(body.Value);
            Console.WriteLine($"  {offset} {timestamp} {content}");
        }
    }

    static void Print(KafkaMessage entry)
    {
        KafkaMessage.MessageBody message = entry.Message;
        if (message.Attributes.Codec != KafkaMessage.Codecs.None)
        {
            Console.WriteLine($"message {entry.Offset}: compressed"); // the value is a KafkaLog
            return;
        }
        string timestamp = message.Timestamp == null ? "null" : message.Timestamp.ToString();
        Console.WriteLine(
            $"message {entry.Offset}: {timestamp} {Text(message.Key)} {Text(message.Value)}");
    }

    static void Main(string[] arguments)
    {
        foreach (KafkaLog.Entry entry in KafkaLog.FromFile(arguments[0]).Entries)
        {
            if (entry.ZeroTail != null) Console.WriteLine($"{entry.ZeroTail.Length} zeros");
            else if (entry.Partial != null)
                Console.WriteLine($"{entry.Partial.Length} bytes of an entry that was cut off");
            else if (entry.Content is KafkaRecordBatch) Print((KafkaRecordBatch) entry.Content);
            else Print((KafkaMessage) entry.Content);
        }
    }
}
