import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericFixed;
import org.apache.avro.generic.IndexedRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;

/**
 * Reads values with Avro's own library. A line of stdin has a writer's schema and a reader's, in base64, and a value,
 * in hexadecimal digits; the line of the answer has the value as text, or the class of the exception after a "!".
 */
public class AvroValues {
    private static final HexFormat HEX = HexFormat.of();

    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split("\t", -1);
            out.println(answer(schema(parts[0]), schema(parts[1]), HEX.parseHex(parts[2])));
        }
        out.flush();
    }

    private static Schema schema(String text) {
        return new Schema.Parser().parse(new String(Base64.getDecoder().decode(text), StandardCharsets.UTF_8));
    }

    private static String answer(Schema writer, Schema reader, byte[] value) {
        try {
            BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(value, null);
            Object datum = new GenericDatumReader<>(writer, reader).read(null, decoder);
            return decoder.isEnd() ? text(datum, reader) : "!left over";
        } catch (Exception exception) {
            return "!" + exception.getClass().getSimpleName();
        }
    }

    private static String text(Object datum, Schema schema) {
        switch (schema.getType()) {
            case NULL: return "n";
            case BOOLEAN: return (Boolean) datum ? "t" : "f";
            case INT: case LONG: return "i" + datum;
            case FLOAT: return "F" + HEX.toHexDigits(Float.floatToIntBits((Float) datum));
            case DOUBLE: return "D" + HEX.toHexDigits(Double.doubleToLongBits((Double) datum));
            case BYTES: return "b" + hexadecimal((ByteBuffer) datum);
            case FIXED: return "b" + HEX.formatHex(((GenericFixed) datum).bytes());
            case STRING: return "s" + hexadecimal(datum);
            case ENUM: return "e" + datum;
            case ARRAY: return items((Collection<?>) datum, schema.getElementType());
            case MAP: return entries((Map<?, ?>) datum, schema.getValueType());
            case UNION: return branch(datum, schema);
            default: return fields((IndexedRecord) datum, schema);
        }
    }

    private static String hexadecimal(Object characters) {
        return HEX.formatHex(characters.toString().getBytes(StandardCharsets.UTF_8));
    }

    private static String hexadecimal(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return HEX.formatHex(bytes);
    }

    private static String items(Collection<?> items, Schema schema) {
        StringJoiner joined = new StringJoiner(",", "[", "]");
        for (Object item : items) joined.add(text(item, schema));
        return joined.toString();
    }

    private static String entries(Map<?, ?> entries, Schema schema) {
        Map<String, String> sorted = new TreeMap<>();
        for (Map.Entry<?, ?> entry : entries.entrySet()) {
            sorted.put(hexadecimal(entry.getKey()), text(entry.getValue(), schema));
        }
        StringJoiner joined = new StringJoiner(",", "{", "}");
        sorted.forEach((key, value) -> joined.add(key + ":" + value));
        return joined.toString();
    }

    private static String branch(Object datum, Schema union) {
        List<Schema> branches = union.getTypes();
        int index = GenericData.get().resolveUnion(union, datum);
        return "u" + index + ":" + text(datum, branches.get(index));
    }

    private static String fields(IndexedRecord record, Schema schema) {
        StringJoiner joined = new StringJoiner(",", "(", ")");
        for (Schema.Field field : schema.getFields()) joined.add(text(record.get(field.pos()), field.schema()));
        return joined.toString();
    }
}
