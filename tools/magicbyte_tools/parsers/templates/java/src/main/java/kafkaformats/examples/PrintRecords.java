package kafkaformats.examples;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import kafkaformats.LogEntry;
import kafkaformats.LogReader;
import kafkaformats.LogRecord;

/**
 * Prints the records of log segments as lines of JSON: {@code PrintRecords FILE.log...}
 *
 * <p>Without arguments, the names of files are read from standard input, and each file gives one line: {@code
 * {"records": [...], "problems": [...]}}.
 */
public final class PrintRecords {
    private PrintRecords() {}

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char each : text.toCharArray()) {
            if (each == '"' || each == '\\') {
                quoted.append('\\').append(each);
            } else if (each < 0x20) {
                quoted.append(String.format("\\u%04x", (int) each));
            } else {
                quoted.append(each);
            }
        }
        return quoted.append('"').toString();
    }

    private static String hex(byte[] data) {
        if (data == null) {
            return "null";
        }
        StringBuilder text = new StringBuilder("\"");
        for (byte each : data) {
            text.append(Character.forDigit(each >> 4 & 15, 16));
            text.append(Character.forDigit(each & 15, 16));
        }
        return text.append('"').toString();
    }

    private static String header(Map.Entry<byte[], byte[]> header) {
        String value = hex(header.getValue());
        return "{\"key\": " + hex(header.getKey()) + ", \"value\": " + value + "}";
    }

    private static String json(LogRecord record) {
        String time = record.timestamp == null ? "null" : quoted(record.timestamp.toString());
        String type = record.timestampType == null ? "null" : quoted(record.timestampType);
        String headers =
                record.headers.stream().map(PrintRecords::header).collect(Collectors.joining(", "));
        String control = "";
        if (record.isControl) { // record.control has the rest
            boolean hasType = record.key != null && record.key.length >= 4;
            int kind = hasType ? ByteBuffer.wrap(record.key).getShort(2) : -1;
            control = ", \"control_type\": " + kind;
        }
        return "{\"offset\": \"" + record.offset
                + "\", \"timestamp\": " + time
                + ", \"timestamp_type\": " + type
                + ", \"key\": " + hex(record.key)
                + ", \"value\": " + hex(record.value)
                + ", \"headers\": [" + headers + "]"
                + control + "}";
    }

    private static List<LogEntry> read(String name, Consumer<String> print) throws IOException {
        List<LogEntry> damaged = new ArrayList<>();
        try (LogReader reader = new LogReader(Path.of(name))) {
            for (LogEntry entry : reader) {
                entry.records.forEach(record -> print.accept(json(record)));
                if (entry.kind == LogEntry.Kind.DAMAGED) {
                    damaged.add(entry);
                }
            }
        }
        return damaged;
    }

    private static String answer(String name) throws IOException {
        List<String> records = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        for (LogEntry entry : read(name, records::add)) {
            problems.add(
                    "{\"position\": \"" + entry.position
                            + "\", \"message\": " + quoted(entry.problem) + "}");
        }
        return "{\"records\": [" + String.join(", ", records)
                + "], \"problems\": [" + String.join(", ", problems) + "]}";
    }

    public static void main(String[] names) throws IOException {
        PrintStream output = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        int status = 0;
        if (names.length == 0) {
            BufferedReader input =
                    new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String name; (name = input.readLine()) != null; ) {
                output.println(answer(name));
            }
        }
        for (String name : names) {
            for (LogEntry entry : read(name, output::println)) {
                System.err.println(name + ": at byte " + entry.position + ": " + entry.problem);
                status = 1;
            }
        }
        output.flush();
        System.exit(status);
    }
}
