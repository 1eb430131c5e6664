// Runs the vectors on franz-go: go test
package example

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"testing"

	vectors "kafkarecordvectors"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var known = map[string]string{
	"kafka_log/v2-lz4-end-mark-with-the-high-bit": "link to an issue",
	"kafka_log/v2-offset-deltas-out-of-order":     "link to an issue",
}

func TestSoundBatchesGiveTheirRecords(t *testing.T) {
	cases, err := vectors.Vectors("v2-read")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range cases {
		t.Run(v.ID, func(t *testing.T) {
			if why, isKnown := known[v.ID]; isKnown {
				t.Skip(why)
			}
			var expected []string
			for _, r := range v.Records {
				expected = append(expected, fmt.Sprint(r.Offset, text(r.Key), text(r.Value)))
			}
			if found, err := read(v.Data); err != nil || !slices.Equal(found, expected) {
				t.Errorf("%s expected %v, found %v, %v", v.Why, expected, found, err)
			}
		})
	}
}

func read(data []byte) (rows []string, err error) {
	partition := kmsg.NewFetchResponseTopicPartition()
	partition.HighWatermark, partition.RecordBatches = math.MaxInt64, data
	options := kgo.ProcessFetchPartitionOpts{Offset: math.MinInt64, Topic: "t"}
	fetched, _ := kgo.ProcessFetchPartition(options, &partition, kgo.DefaultDecompressor(), nil)
	for _, r := range fetched.Records {
		rows = append(rows, fmt.Sprint(fmt.Sprint(r.Offset), hexed(r.Key), hexed(r.Value)))
	}
	return rows, fetched.Err
}

func hexed(data []byte) string {
	if data == nil {
		return "null"
	}
	return hex.EncodeToString(data)
}

func text(value *string) string {
	if value == nil {
		return "null"
	}
	return *value
}
