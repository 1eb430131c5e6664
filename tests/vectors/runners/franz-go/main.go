// Reads logs by franz-go, as its consumer processes a partition of a fetch response.
package main

import (
	"encoding/json"
	"math"

	"answers"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var timestampTypes = map[int8]string{-1: `null`, 0: `"CreateTime"`, 1: `"LogAppendTime"`}

func main() {
	answers.Serve(answers.InFetches(fetch), readFetched)
}

func fetch(log []byte, offset int64) (records []answers.Record, next int64, err error) {
	partition := kmsg.NewFetchResponseTopicPartition()
	partition.RecordBatches = log
	return processed(partition, offset, kgo.ReadUncommitted())
}

func readFetched(log []byte, offset int64, aborted []answers.AbortedTransaction) ([]answers.Record, error) {
	partition := kmsg.NewFetchResponseTopicPartition()
	partition.RecordBatches = log
	for _, transaction := range aborted {
		one := kmsg.NewFetchResponseTopicPartitionAbortedTransaction()
		one.ProducerID, one.FirstOffset = transaction.ProducerID, transaction.FirstOffset
		partition.AbortedTransactions = append(partition.AbortedTransactions, one)
	}
	records, _, err := processed(partition, offset, kgo.ReadCommitted())
	return records, err
}

func processed(
	partition kmsg.FetchResponseTopicPartition, offset int64, level kgo.IsolationLevel,
) (records []answers.Record, next int64, err error) {
	partition.HighWatermark = math.MaxInt64
	options := kgo.ProcessFetchPartitionOpts{Offset: offset, Topic: "t", IsolationLevel: level}
	fetched, next := kgo.ProcessFetchPartition(options, &partition, kgo.DefaultDecompressor(), nil)
	for _, record := range fetched.Records {
		records = append(records, row(record))
	}
	return records, next, fetched.Err
}

func row(record *kgo.Record) answers.Record {
	timestamp := int64(-1)
	if !record.Timestamp.IsZero() {
		timestamp = record.Timestamp.UnixMilli()
	}
	row := answers.NewRecord(record.Offset, timestamp, record.Key, record.Value)
	row.TimestampType = json.RawMessage(timestampTypes[record.Attrs.TimestampType()])
	for _, header := range record.Headers {
		row.AddHeader(header.Key, header.Value)
	}
	return row
}
