// Command print_log prints the entries and records of a log segment: print_log FILE.log
package main

import (
	"fmt"
	"log"
	"os"

	"github.com/kaitai-io/kaitai_struct_go_runtime/kaitai"

	"kafkaformats"
)

func text(data []byte) string {
	if data == nil {
		return "null"
	}
	return string(data)
}

func printBatch(batch *kafkaformats.KafkaRecordBatch) error {
	if batch.Payload == nil {
		// Decompress batch.CompressedPayload (batch.Attributes.Codec says how) and parse the
		// result with KafkaRecords.
		fmt.Printf("batch %d: %d records, compressed\n", batch.BaseOffset, batch.NumRecords)
		return nil
	}
	fmt.Printf("batch %d: %d records\n", batch.BaseOffset, batch.NumRecords)
	for _, record := range batch.Payload.Records {
		body := record.Body
		offsetDelta, err := body.OffsetDelta.Value()
		if err != nil {
			return err
		}
		timestampDelta, err := body.TimestampDelta.Value()
		if err != nil {
			return err
		}
		timestamp := batch.BaseTimestamp + timestampDelta
		appendTime := kafkaformats.KafkaRecordBatch_TimestampTypes__LogAppendTime
		if batch.Attributes.TimestampType == appendTime {
			timestamp = batch.MaxTimestamp
		}
		content := text(body.Key) + " " + text(body.Value)
		if batch.Attributes.IsControl {
			content = "control record"
		}
		fmt.Printf("  %d %d %s\n", batch.BaseOffset+int64(offsetDelta), timestamp, content)
	}
	return nil
}

func printMessage(entry *kafkaformats.KafkaMessage) {
	message := entry.Message
	if message.Attributes.Codec != kafkaformats.KafkaMessage_Codecs__None {
		fmt.Printf("message %d: compressed\n", entry.Offset) // decompressed, the value is a KafkaLog
		return
	}
	timestamp := "null" // where there is none, the field is 0
	if message.Magic > 0 {
		timestamp = fmt.Sprint(message.Timestamp)
	}
	fmt.Printf("message %d: %s %s %s\n", entry.Offset, timestamp, text(message.Key), text(message.Value))
}

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	segment := kafkaformats.NewKafkaLog()
	if err := segment.Read(kaitai.NewStream(file), nil, segment); err != nil {
		log.Fatal(err)
	}
	for _, entry := range segment.Entries {
		switch content := entry.Content.(type) {
		case *kafkaformats.KafkaRecordBatch:
			if err := printBatch(content); err != nil {
				log.Fatal(err)
			}
		case *kafkaformats.KafkaMessage:
			printMessage(content)
		default:
			if entry.ZeroTail != nil {
				fmt.Println(len(entry.ZeroTail), "zeros")
			} else {
				fmt.Println(len(entry.Partial), "bytes of an entry that was cut off")
			}
		}
	}
}
