// Package answers speaks the protocol of the vectors for a runner in Go: RUNNER FORMAT FILE..., or RUNNER --lines.
package answers

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
)

// Record is a record as the protocol prints it; a nil string is null. TimestampType is left out where it is nil,
// for clients that do not show it.
type Record struct {
	Offset        string          `json:"offset"`
	Timestamp     *string         `json:"timestamp"`
	TimestampType json.RawMessage `json:"timestamp_type,omitempty"`
	Key           *string         `json:"key"`
	Value         *string         `json:"value"`
	Headers       []Header        `json:"headers"`
}

// Header is a header of a record.
type Header struct {
	Key   string  `json:"key"`
	Value *string `json:"value"`
}

type answerLine struct {
	Records []Record `json:"records,omitzero"`
	Stopped bool     `json:"stopped,omitempty"`
	Error   *failure `json:"error"`
	Checks  []string `json:"checks"`
}

type failure struct {
	Message string `json:"message"`
}

// NewRecord returns a record without headers; a timestamp of -1 is null.
func NewRecord(offset, timestamp int64, key, value []byte) Record {
	record := Record{Offset: strconv.FormatInt(offset, 10), Key: Hex(key), Value: Hex(value), Headers: []Header{}}
	if timestamp != -1 {
		text := strconv.FormatInt(timestamp, 10)
		record.Timestamp = &text
	}
	return record
}

// Hex returns bytes as the protocol prints them; nil is null.
func Hex(data []byte) *string {
	if data == nil {
		return nil
	}
	text := hex.EncodeToString(data)
	return &text
}

// AddHeader appends a header; its key is the bytes of the string.
func (record *Record) AddHeader(key string, value []byte) {
	header := Header{Key: hex.EncodeToString([]byte(key)), Value: Hex(value)}
	record.Headers = append(record.Headers, header)
}

// Entry is the position and the fields that frame a log entry.
type Entry struct {
	End        int
	LastOffset int64
	Magic      int8
}

// EntryAt returns the entry at a position; false if not all of it is there.
func EntryAt(data []byte, position int) (Entry, bool) {
	if position+17 > len(data) {
		return Entry{}, false
	}
	entry := Entry{
		End:        position + 12 + int(int32(binary.BigEndian.Uint32(data[position+8:]))),
		LastOffset: int64(binary.BigEndian.Uint64(data[position:])),
		Magic:      int8(data[position+16]),
	}
	if entry.Magic >= 2 && position+27 <= len(data) {
		entry.LastOffset += int64(int32(binary.BigEndian.Uint32(data[position+23:])))
	}
	return entry, entry.End > position && entry.End <= len(data)
}

// Reader returns the records of a log, and the error that ended the reading.
type Reader func(log []byte) ([]Record, error)

// Fetch returns the records that a client delivers of the bytes of one fetch, and the offset it asks for next.
type Fetch func(log []byte, offset int64) (records []Record, next int64, err error)

// InFetches returns a reader that asks again after each fetch, as a consumer does, and gets the bytes from the entry
// with the next offset on, as a broker answers: clients keep an error back while they have records to deliver.
func InFetches(fetch Fetch) Reader {
	return func(log []byte) (records []Record, err error) {
		next := int64(math.MinInt64)
		for position, isLast := 0, false; !isLast; {
			var fetched []Record
			fetched, next, err = fetch(log[position:], next)
			records = append(records, fetched...)
			if err != nil {
				return records, err
			}
			isLast = true
			for entry, isWhole := EntryAt(log, position); isWhole && entry.LastOffset < next; {
				position, isLast = entry.End, false
				entry, isWhole = EntryAt(log, position)
			}
		}
		return records, nil
	}
}

// AbortedTransaction is an entry of the list in a fetch response.
type AbortedTransaction struct {
	ProducerID  int64 `json:"producer_id,string"`
	FirstOffset int64 `json:"first_offset,string"`
}

// FetchedReader returns the records that a read_committed consumer at an offset delivers of a fetch response.
type FetchedReader func(log []byte, offset int64, aborted []AbortedTransaction) ([]Record, error)

type request struct {
	Format, File string
	FetchOffset  int64                `json:"fetch_offset,string"`
	Aborted      []AbortedTransaction `json:"aborted_transactions"`
}

// Serve answers the cases that the command line or the standard input names. A client that has no reader of fetch
// responses gives nil for it.
func Serve(read Reader, readFetched FetchedReader) {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: runner FORMAT FILE... | --lines")
		os.Exit(2)
	}
	if os.Args[1] != "--lines" {
		var one request
		if settings := os.Getenv("CONFORMANCE_SETTINGS"); settings != "" {
			if err := json.Unmarshal([]byte(settings), &one); err != nil {
				panic(err)
			}
		}
		for _, file := range os.Args[2:] {
			one.Format, one.File = os.Args[1], file
			answer(read, readFetched, one)
		}
		return
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one request
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			panic(err)
		}
		answer(read, readFetched, one)
	}
}

func answer(read Reader, readFetched FetchedReader, one request) {
	isFetched := one.Format == "kafka_fetched" && readFetched != nil
	if one.Format != "kafka_log" && !isFetched {
		fmt.Println(`{"unsupported": "a client reads no such file"}`)
		return
	}
	log, err := os.ReadFile(one.File)
	if err != nil {
		panic(err)
	}
	var records []Record
	if isFetched {
		records, err = readFetched(log, one.FetchOffset, one.Aborted)
	} else {
		records, err = read(log)
	}
	result := answerLine{Records: records, Checks: []string{"grammar", "exact", "checksum", "codec"}}
	if records == nil && err == nil {
		result.Records = []Record{}
	}
	// Without a record no records are printed: some clients drop those before the fault with the whole fetch.
	if err != nil {
		result.Stopped, result.Error = true, &failure{err.Error()}
	}
	line, err := json.Marshal(result)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}
