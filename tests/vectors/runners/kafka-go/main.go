// Reads logs by segmentio/kafka-go, as Client.Fetch does.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"answers"

	"github.com/segmentio/kafka-go/protocol"
)

func main() {
	answers.Serve(read, nil)
}

// read asks again after the entries of each fetch: the client drops an error where it has read entries before it.
func read(log []byte) (records []answers.Record, err error) {
	for position := 0; position < len(log); {
		fetched, count, err := fetch(log[position:])
		records = append(records, fetched...)
		if err != nil || count == 0 {
			return records, err
		}
		for ; count > 0; count-- {
			entry, isWhole := answers.EntryAt(log, position)
			if !isWhole {
				return records, nil
			}
			position = entry.End
		}
		if _, isWhole := answers.EntryAt(log, position); !isWhole {
			return records, nil // a broker sends a cut entry again, whole
		}
	}
	return records, nil
}

// fetch returns the records of a fetch, and the number of its entries that the client read.
func fetch(log []byte) (records []answers.Record, count int, err error) {
	var set protocol.RecordSet
	size := binary.BigEndian.AppendUint32(nil, uint32(len(log)))
	if _, err := set.ReadFrom(bufio.NewReader(bytes.NewReader(append(size, log...)))); err != nil {
		return nil, 0, err
	}
	stream, isStream := set.Records.(*protocol.RecordStream)
	if !isStream {
		return nil, 0, nil
	}
	for _, entry := range stream.Records {
		if _, isControl := entry.(*protocol.ControlBatch); isControl {
			continue
		}
		rows, err := rowsOf(entry)
		records = append(records, rows...)
		if err != nil {
			return records, 0, err
		}
	}
	return records, len(stream.Records), nil
}

func rowsOf(entry protocol.RecordReader) (rows []answers.Record, err error) {
	for {
		record, err := entry.ReadRecord()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		key, err := protocol.ReadAll(record.Key)
		if err != nil {
			return nil, err
		}
		value, err := protocol.ReadAll(record.Value)
		if err != nil {
			return nil, err
		}
		timestamp := int64(-1)
		if !record.Time.IsZero() {
			timestamp = record.Time.UnixMilli()
		}
		row := answers.NewRecord(record.Offset, timestamp, key, value)
		for _, header := range record.Headers {
			row.AddHeader(header.Key, header.Value)
		}
		rows = append(rows, row)
	}
}
