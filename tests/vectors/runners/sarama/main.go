// Reads logs by sarama, as its consumer decodes and parses a fetch response.
package main

import (
	"answers"

	"github.com/IBM/sarama"
)

func main() {
	answers.Serve(answers.InFetches(fetch), readFetched)
}

func fetch(log []byte, offset int64) (records []answers.Record, next int64, err error) {
	messages, next, err := sarama.ConsumedMessages(log, offset, sarama.ReadUncommitted, nil)
	return rows(messages), next, err
}

func readFetched(log []byte, offset int64, aborted []answers.AbortedTransaction) ([]answers.Record, error) {
	var transactions []sarama.AbortedTransaction
	for _, one := range aborted {
		transactions = append(transactions, sarama.AbortedTransaction{ProducerID: one.ProducerID, FirstOffset: one.FirstOffset})
	}
	messages, _, err := sarama.ConsumedMessages(log, offset, sarama.ReadCommitted, transactions)
	return rows(messages), err
}

func rows(messages []*sarama.ConsumerMessage) (records []answers.Record) {
	for _, message := range messages {
		records = append(records, row(message))
	}
	return records
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
