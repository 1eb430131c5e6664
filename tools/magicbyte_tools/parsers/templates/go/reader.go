package kafkaformats

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/kaitai-io/kaitai_struct_go_runtime/kaitai"
)

// Kinds of entries.
const (
	Batch   = "batch"   // format v2
	Message = "message" // formats v0 and v1, a wrapper among them
	Damaged = "damaged" // Entry.Problem says why
	Cut     = "cut"     // the beginning of an entry, cut off by the end of the file
	Zeros   = "zeros"   // allocated by a broker, and not filled
)

// A Record is what a consumer gets, or a control record, which consumers skip.
type Record struct {
	Offset int64
	// Timestamp in milliseconds since the Unix epoch; nil where the record has none.
	Timestamp *int64
	// TimestampType is "CreateTime", "LogAppendTime", or "" in v0, which has none.
	TimestampType string
	// Key and Value are nil where they are null, and not nil where they are empty.
	Key, Value []byte
	Headers    []RecordHeader
	IsControl  bool
	// Control is the transaction marker or KRaft's control record; nil if its type is not known.
	Control *KafkaControlRecord
}

// A RecordHeader is a header of a record. A null Value is nil.
type RecordHeader struct {
	Key, Value []byte
}

// An Entry is a batch or a message, or bytes that are none. It has no records unless all of it is sound: half a batch
// is no batch.
type Entry struct {
	Position, Size int64
	Kind           string
	Batch          *KafkaRecordBatch
	Message        *KafkaMessage
	Records        []Record
	Problem        error
}

// A Reader reads the entries of a segment one at a time, and decompresses them.
//
// An entry that cannot be read is returned as Damaged, and the next one is looked for where its length says. Where
// the length itself cannot be right, the rest of the file is one damaged entry.
type Reader struct {
	// Decompressors are the functions to decompress with, by the number of the codec.
	Decompressors map[int]Decompressor
	// MaxEntryBytes is the largest entry as it is stored, MaxBatchBytes the largest payload, decompressed.
	MaxEntryBytes, MaxBatchBytes int64

	file           io.ReaderAt
	position, size int64
}

// NewReader returns a reader of the first size bytes of file.
func NewReader(file io.ReaderAt, size int64) *Reader {
	return &Reader{
		Decompressors: Decompressors(),
		MaxEntryBytes: 1 << 30,
		MaxBatchBytes: 256 << 20,
		file:          file,
		size:          size,
	}
}

// Next returns the next entry, or io.EOF after the last one. Any other error is one of the file.
func (reader *Reader) Next() (*Entry, error) {
	start, left := reader.position, reader.size-reader.position
	if left <= 0 {
		return nil, io.EOF
	}
	head := make([]byte, min(left, 17))
	if _, err := reader.file.ReadAt(head, start); err != nil && (err != io.EOF || left > 17) {
		return nil, err
	}
	length := int64(0)
	if left >= 12 {
		length = int64(int32(binary.BigEndian.Uint32(head[8:])))
	}
	rest := &Entry{Position: start, Size: left, Kind: Damaged}
	if length == 0 {
		zeros, err := reader.onlyZeros()
		if err != nil {
			return nil, err
		}
		if zeros {
			rest.Kind = Zeros
			return reader.ends(rest)
		}
	}
	if left >= 12 && length < 14 {
		rest.Problem = fmt.Errorf("an entry of %d bytes; expected 14 or more", length)
		return reader.ends(rest)
	}
	if left < 17 {
		rest.Kind = Cut
		return reader.ends(rest)
	}
	entry := &Entry{Position: start, Size: min(12+length, left), Kind: Damaged}
	reader.position += 12 + length
	switch magic := int8(head[16]); {
	case magic < 0 || magic > 2:
		entry.Problem = fmt.Errorf("magic %d; expected 0, 1 or 2", magic)
	case 12+length > left:
		entry.Kind = Cut
	case entry.Size > reader.MaxEntryBytes:
		entry.Problem = fmt.Errorf("an entry of %d bytes; the limit is %d", entry.Size, reader.MaxEntryBytes)
	default:
		data := make([]byte, entry.Size)
		if _, err := io.ReadFull(io.NewSectionReader(reader.file, start, entry.Size), data); err != nil {
			return nil, err
		}
		if entry.Problem = reader.decode(entry, data); entry.Problem != nil {
			entry.Kind, entry.Records = Damaged, nil
		}
	}
	return entry, nil
}

func (reader *Reader) ends(entry *Entry) (*Entry, error) {
	reader.position = reader.size
	return entry, nil
}

func (reader *Reader) onlyZeros() (bool, error) {
	section := io.NewSectionReader(reader.file, reader.position, reader.size-reader.position)
	piece := make([]byte, 1<<16)
	for {
		count, err := section.Read(piece)
		if len(bytes.TrimLeft(piece[:count], "\x00")) > 0 {
			return false, nil
		}
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
}

func (reader *Reader) decode(entry *Entry, data []byte) (err error) {
	if data[16] < 2 {
		entry.Kind = Message
		if entry.Message, err = readMessage(data); err != nil {
			return err
		}
		entry.Records, err = reader.messageRecords(entry.Message)
		return err
	}
	entry.Kind = Batch
	if len(data) < 21 {
		return fmt.Errorf("a batch of %d bytes; expected 61 or more", len(data))
	}
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	if err := verify(crc32.Checksum(data[21:], castagnoli), data[17:]); err != nil {
		return err
	}
	entry.Batch = NewKafkaRecordBatch()
	if err := entry.Batch.Read(kaitai.NewStream(bytes.NewReader(data)), nil, entry.Batch); err != nil {
		return err
	}
	entry.Records, err = reader.batchRecords(entry.Batch)
	return err
}

func verify(computed uint32, stored []byte) error {
	if found := binary.BigEndian.Uint32(stored); found != computed {
		return fmt.Errorf("stored checksum %08x, computed %08x", found, computed)
	}
	return nil
}

func (reader *Reader) decompress(codec int, magic int8, payload []byte) ([]byte, error) {
	decompress := reader.Decompressors[codec]
	if decompress == nil || codec == 4 && magic < 2 {
		return nil, fmt.Errorf("codec %d in magic %d; expected one that Kafka has there", codec, magic)
	}
	return decompress(payload, magic, reader.MaxBatchBytes)
}

func (reader *Reader) batchRecords(batch *KafkaRecordBatch) (records []Record, err error) {
	add := func(record *KafkaRecord) error {
		row, err := batchRecord(batch, record)
		records = append(records, row)
		return err
	}
	if batch.Payload != nil {
		for _, record := range batch.Payload.Records {
			if err := add(record); err != nil {
				return nil, err
			}
		}
		return records, nil
	}
	if batch.NumRecords == 0 {
		return nil, nil
	}
	payload, err := reader.decompress(int(batch.Attributes.Codec), 2, batch.CompressedPayload)
	if err != nil {
		return nil, err
	}
	stream := kaitai.NewStream(bytes.NewReader(payload))
	for count := int32(0); count < batch.NumRecords; count++ {
		record := NewKafkaRecord(batch.Attributes.IsControl)
		if err := record.Read(stream, nil, record); err != nil {
			return nil, err
		}
		if err := add(record); err != nil {
			return nil, err
		}
	}
	if end, err := stream.EOF(); err != nil || !end {
		return nil, fmt.Errorf("bytes behind the last of %d records", batch.NumRecords)
	}
	return records, nil
}

func batchRecord(batch *KafkaRecordBatch, record *KafkaRecord) (row Record, err error) {
	body, attributes := record.Body, batch.Attributes
	offsetDelta, err := body.OffsetDelta.Value()
	if err != nil {
		return row, err
	}
	timestampDelta, err := body.TimestampDelta.Value()
	if err != nil {
		return row, err
	}
	headers, err := body.NumHeaders.Value()
	if err != nil {
		return row, err
	}
	if end, err := body.IO_().EOF(); err != nil || !end || headers < 0 {
		return row, errors.New("a record that its fields do not fill")
	}
	if attributes.IsControl && (len(body.Key) < 4 || body.Key[0] > 127) {
		return row, errors.New("a control record whose key has no version and type")
	}
	row = Record{
		Offset:        batch.BaseOffset + int64(offsetDelta),
		Timestamp:     notMinus1(batch.BaseTimestamp + timestampDelta),
		TimestampType: "CreateTime",
		Key:           body.Key,
		Value:         body.Value,
		IsControl:     attributes.IsControl,
	}
	if attributes.TimestampType == KafkaRecordBatch_TimestampTypes__LogAppendTime {
		row.Timestamp, row.TimestampType = notMinus1(batch.MaxTimestamp), "LogAppendTime"
	}
	for _, header := range body.Headers {
		row.Headers = append(row.Headers, RecordHeader{header.Key, header.Value})
	}
	if row.IsControl {
		if control, err := body.ControlRecord(); err == nil {
			row.Control = control
		}
	}
	return row, nil
}

func readMessage(data []byte) (*KafkaMessage, error) {
	if err := verify(crc32.ChecksumIEEE(data[16:]), data[12:]); err != nil {
		return nil, err
	}
	message := NewKafkaMessage()
	return message, message.Read(kaitai.NewStream(bytes.NewReader(data)), nil, message)
}

func (reader *Reader) messageRecords(entry *KafkaMessage) ([]Record, error) {
	message := entry.Message
	codec := int(message.Attributes.Codec)
	if codec == 0 {
		return []Record{messageRecord(entry, entry, entry.Offset)}, nil
	}
	if message.Value == nil {
		return nil, errors.New("a wrapper message without a value")
	}
	payload, err := reader.decompress(codec, message.Magic, message.Value)
	if err != nil {
		return nil, err
	}
	inner, err := innerMessages(payload)
	if err != nil {
		return nil, err
	}
	base := int64(0)
	if message.Magic == 1 && entry.Offset != 0 { // offsets inside count from the first message
		last := inner[len(inner)-1].Offset
		if entry.Offset < last {
			return nil, fmt.Errorf("offset %d of a wrapper; in it is %d", entry.Offset, last)
		}
		base = entry.Offset - last
	}
	var records []Record
	for _, one := range inner {
		records = append(records, messageRecord(entry, one, base+one.Offset))
	}
	return records, nil
}

// innerMessages returns the messages in a wrapper; one that is cut off at the end is left out, as in Kafka.
func innerMessages(payload []byte) (messages []*KafkaMessage, err error) {
	for len(payload) >= 12 {
		length := int64(int32(binary.BigEndian.Uint32(payload[8:])))
		if length < 14 {
			return nil, fmt.Errorf("a message of %d bytes in a wrapper; expected 14 or more", length)
		}
		if length > int64(len(payload))-12 {
			break
		}
		message, err := readMessage(payload[:12+length])
		if err != nil {
			return nil, err
		}
		if message.Message.Attributes.Codec != KafkaMessage_Codecs__None {
			return nil, errors.New("a wrapper message in a wrapper message")
		}
		messages = append(messages, message)
		payload = payload[12+length:]
	}
	if messages == nil {
		return nil, errors.New("a wrapper message that holds no message")
	}
	return messages, nil
}

func messageRecord(wrapper, entry *KafkaMessage, offset int64) Record {
	outer, message := wrapper.Message, entry.Message
	row := Record{Offset: offset, Key: message.Key, Value: message.Value}
	appendTime := outer.Magic > 0 &&
		outer.Attributes.TimestampType == KafkaMessage_TimestampTypes__LogAppendTime
	switch {
	case outer.Magic == 0:
	case appendTime:
		row.TimestampType = "LogAppendTime"
	default:
		row.TimestampType = "CreateTime"
	}
	switch {
	case message.Magic == 0:
	case appendTime:
		row.Timestamp = notMinus1(outer.Timestamp)
	default:
		row.Timestamp = notMinus1(message.Timestamp)
	}
	return row
}

func notMinus1(timestamp int64) *int64 {
	if timestamp == -1 {
		return nil
	}
	return &timestamp
}
