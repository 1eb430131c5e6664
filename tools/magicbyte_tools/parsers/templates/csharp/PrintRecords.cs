// Print the records of log segments as lines of JSON: PrintRecords FILE.log...
// Without arguments, the names of files are read from standard input, and each file gives one line:
// {"records": [...], "problems": [...]}.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using KafkaFormats;

static class PrintRecords
{
    static string Quoted(string text)
    {
        if (text == null) return "null";
        StringBuilder quoted = new StringBuilder("\"");
        foreach (char each in text)
        {
            if (each == '"' || each == '\\') quoted.Append('\\').Append(each);
            else if (each < 0x20) quoted.Append($"\\u{(int) each:x4}");
            else quoted.Append(each);
        }
        return quoted.Append('"').ToString();
    }

    static string Hex(byte[] data)
    {
        return data == null ? "null" : Quoted(BitConverter.ToString(data).Replace("-", "").ToLowerInvariant());
    }

    static string Json(LogRecord record)
    {
        IEnumerable<string> headers = record.Headers.Select(each =>
            $"{{\"key\": {Hex(each.Key)}, \"value\": {Hex(each.Value)}}}");
        string control = ""; // record.Control has the rest
        if (record.IsControl) control = $", \"control_type\": {(short) (record.Key[2] << 8 | record.Key[3])}";
        return $"{{\"offset\": \"{record.Offset}\", \"timestamp\": {Quoted(record.Timestamp?.ToString())}, "
            + $"\"timestamp_type\": {Quoted(record.TimestampType)}, "
            + $"\"key\": {Hex(record.Key)}, \"value\": {Hex(record.Value)}, "
            + $"\"headers\": [{string.Join(", ", headers)}]{control}}}";
    }

    static List<LogEntry> Read(string name, Action<string> print)
    {
        List<LogEntry> damaged = new List<LogEntry>();
        foreach (LogEntry entry in new LogReader().Read(name))
        {
            foreach (LogRecord record in entry.Records) print(Json(record));
            if (entry.Kind == EntryKind.Damaged) damaged.Add(entry);
        }
        return damaged;
    }

    static string Answer(string name)
    {
        List<string> records = new List<string>();
        IEnumerable<string> problems = Read(name, records.Add).Select(entry =>
            $"{{\"position\": \"{entry.Position}\", \"message\": {Quoted(entry.Problem)}}}").ToList();
        return $"{{\"records\": [{string.Join(", ", records)}], \"problems\": [{string.Join(", ", problems)}]}}";
    }

    static int Main(string[] names)
    {
        int status = 0;
        using (TextWriter output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false)))
        {
            string line;
            while (names.Length == 0 && (line = Console.In.ReadLine()) != null) output.WriteLine(Answer(line));
            foreach (string name in names)
            {
                foreach (LogEntry entry in Read(name, output.WriteLine))
                {
                    Console.Error.WriteLine($"{name}: at byte {entry.Position}: {entry.Problem}");
                    status = 1;
                }
            }
        }
        return status;
    }
}
