// Reads logs by sarama, as its consumer decodes and parses a fetch response.
package main

import (
	"answers"

	"github.com/IBM/sarama"
)

func main() {
	answers.Serve(answers.InFetches(fetch))
}

func fetch(log []byte, offset int64) (records []answers.Record, next int64, err error) {
	messages, next, err := sarama.ConsumedMessages(log, offset)
	for _, message := range messages {
		records = append(records, row(message))
	}
	return records, next, err
}

func row(message *sarama.ConsumerMessage) answers.Record {
	timestamp := int64(-1)
	if !message.Timestamp.IsZero() {
		timestamp = message.Timestamp.UnixMilli()
	}
	row := answers.NewRecord(message.Offset, timestamp, message.Key, message.Value)
	for _, header := range message.Headers {
		row.AddHeader(string(header.Key), header.Value)
	}
	return row
}
